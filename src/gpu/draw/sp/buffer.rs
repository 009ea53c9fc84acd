//! Storage buffers and images, as their descriptors describe them.

use a4emu_decoder::adreno::address::Address;
use a4emu_shader::format::Codec;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::{ImageAccess, ImageLayout, Lanes};

/// A storage buffer or image.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Buffer {
    /// Width, height and depth as in the fields.
    pub size: [u32; 3],
    /// Number of elements of a buffer.
    pub elements: u32,
    /// Codec, if pixels can have this format.
    pub codec: Option<Codec>,
    /// Where it is, if programs do not compute the addresses themselves.
    pub place: Option<Place>,
}

/// The place of a buffer or image in memory.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Address of the first element.
    pub base: Address,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Bytes from one slice or layer to the next.
    pub layer: u32,
    /// Order of texels.
    pub tiling: Tiling,
}

impl Buffer {
    /// Returns the address of the element of `request`, if it lies inside.
    pub(super) fn address(&self, request: &ImageAccess<&Lanes>, lane: usize) -> Option<u64> {
        let mut at = request.position.map(|p| p[lane]);
        at[0] = at[0].wrapping_add(request.offset.into());
        match (self.place, request.address) {
            (_, Some(address)) => self.contains(request, at).then(|| address[lane].into()),
            (Some(place), None) => self.placed(place, request, at),
            (None, None) => None,
        }
    }

    /// Returns how many components of `request` lie inside, if its element does. A chip that computes the addresses itself tests
    /// each component of a buffer (dEQP-VK.robustness.robustness2, which an A630 passes).
    pub(super) fn components(&self, request: &ImageAccess<&Lanes>, lane: usize) -> usize {
        if self.place.is_none() || request.layout == ImageLayout::Typed {
            return usize::MAX;
        }
        let index = request.position[0][lane].wrapping_add(request.offset.into());
        (self.bytes() / u64::from(request.width.bytes())).saturating_sub(index.into()) as usize
    }

    /// Size of an element.
    fn element_bytes(&self) -> u32 {
        self.codec.map_or(4, |codec| codec.bytes())
    }

    /// Size of a buffer.
    fn bytes(&self) -> u64 {
        u64::from(self.elements) * u64::from(self.element_bytes())
    }

    /// Returns whether `at` lies inside. A buffer image has its size in the same fields as a buffer.
    fn contains(&self, request: &ImageAccess<&Lanes>, at: [u32; 3]) -> bool {
        let [width, height, depth] = self.size;
        match (request.layout, request.dimensions) {
            (ImageLayout::Untyped, _) | (_, 1) => at[0] < self.elements,
            (ImageLayout::Typed, 2) => at[0] < width && at[1] < height,
            (ImageLayout::Typed, _) => at[0] < width && at[1] < height && at[2] < depth.max(1),
        }
    }

    /// Returns the address of the element at `at`, if it lies inside.
    fn placed(&self, place: Place, request: &ImageAccess<&Lanes>, at: [u32; 3]) -> Option<u64> {
        let Place { base, pitch, layer, tiling } = place;
        let [x, _, z] = at.map(u64::from);
        let element = u64::from(self.element_bytes());
        let offset = match (request.layout, request.dimensions) {
            (ImageLayout::Untyped, _) => {
                let offset = x * u64::from(request.width.bytes());
                (offset < self.bytes()).then_some(offset)?
            }
            _ if !self.contains(request, at) => return None,
            (ImageLayout::Typed, 1 | 4) => x * element,
            (ImageLayout::Typed, dimensions) => {
                let layer = if dimensions == 2 { 0 } else { z * u64::from(layer) };
                layer + tiling.offset([at[0], at[1]], pitch, self.element_bytes())
            }
        };
        Some(base.get() + offset)
    }
}
