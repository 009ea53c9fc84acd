//! Storage buffers and images, as their descriptors describe them.

use a4emu_shader::format::Codec;
use a4emu_shader::{ImageAccess, ImageLayout, Lanes};

/// A storage buffer or image, apart from its address.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Width, height and depth as in the fields.
    pub size: [u32; 3],
    /// Number of elements of a buffer.
    pub elements: u32,
    /// Codec, if pixels can have this format.
    pub codec: Option<Codec>,
}

impl Buffer {
    /// Returns whether `position` lies inside. A buffer image has its size in the same fields as a buffer.
    pub(super) fn contains(&self, request: &ImageAccess<&Lanes>, lane: usize) -> bool {
        let at = request.position.map(|p| p[lane]);
        let [width, height, depth] = self.size;
        match (request.layout, request.dimensions) {
            (ImageLayout::Untyped, _) | (_, 1) => at[0] < self.elements,
            (ImageLayout::Typed, 2) => at[0] < width && at[1] < height,
            (ImageLayout::Typed, _) => at[0] < width && at[1] < height && at[2] < depth.max(1),
        }
    }
}
