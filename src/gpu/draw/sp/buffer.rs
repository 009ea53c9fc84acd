//! Storage buffers and images, as their descriptors describe them.

use a4emu_decoder::a4xx::enums::ColorSwap;
use a4emu_decoder::a4xx::regs::tex::{SSBO_1_0, SSBO_1_1};

use a4emu_shader::format::{Codec, Format, Transfer};
use a4emu_shader::{ImageAccess, ImageLayout, Lanes};

/// Contents of SSBO_1 for a storage buffer or image.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    /// Width, height and depth as in the fields.
    pub(super) size: [u32; 3],
    /// Number of elements of a buffer.
    elements: u32,
    /// Codec, if pixels can have this format.
    pub(super) codec: Option<Codec>,
}

impl Buffer {
    /// Decodes the two words of the descriptor.
    pub(super) fn new(words: [u32; 2]) -> Self {
        let (size_0, size_1) = (SSBO_1_0(words[0]), SSBO_1_1(words[1]));
        let format = Format::color(size_0.FMT());
        Self {
            size: [size_0.WIDTH(), size_1.HEIGHT(), size_1.DEPTH()],
            elements: size_0.elements(size_1),
            codec: format.and_then(|format| format.codec(ColorSwap::WZYX, Transfer::Linear)),
        }
    }

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
