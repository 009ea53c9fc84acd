//! Storage buffers and images, as their descriptors describe them.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;
use a4emu_shader::format::Codec;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::{BindlessSlot, ImageAccess, ImageLayout, Lanes};

use crate::bindless::{BindlessBase, DescriptorWords};
use crate::draw::tpl1::{TextureBank, TextureError};
use crate::machine::Model;
use crate::memory::Memory;

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
        let element = self.codec.map_or(4, |codec| codec.bytes());
        let rest = u64::from(self.elements) * u64::from(element) / u64::from(request.width.bytes());
        rest.saturating_sub(index.into()) as usize
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
        let bytes = self.codec.map_or(4, |codec| codec.bytes());
        let element = u64::from(bytes);
        let offset = match (request.layout, request.dimensions) {
            (ImageLayout::Untyped, _) => {
                let offset = x * u64::from(request.width.bytes());
                (offset < u64::from(self.elements) * element).then_some(offset)?
            }
            _ if !self.contains(request, at) => return None,
            (ImageLayout::Typed, 1 | 4) => x * element,
            (ImageLayout::Typed, dimensions) => {
                let layer = if dimensions == 2 { 0 } else { z * u64::from(layer) };
                layer + tiling.offset([at[0], at[1]], pitch, bytes)
            }
        };
        Some(base.get() + offset)
    }
}

/// The descriptors of a stage that programs find in memory, on chips that have no store for them.
#[derive(Clone, Debug)]
pub struct DescriptorPlaces {
    /// The first descriptor of images and buffers, and how many there are.
    pub images: BindlessBase,
    /// Number of these descriptors.
    pub image_count: u32,
    /// Bindless bases.
    pub bases: [Option<BindlessBase>; 8],
    /// Loaded constant buffers: address and size.
    pub uniforms: Arc<[[u32; 2]]>,
    /// Address of the border colours of samplers.
    pub borders: Address,
    /// What the textures are sampled by.
    pub model: Model,
    /// Decodes a descriptor. Fails if what it describes cannot be accessed.
    pub decode: fn(&DescriptorWords) -> Result<Buffer, TextureError>,
    /// Reads pairs of a sampler and a texture at bindless bases. Those of pair n are in slot n of the bank.
    pub named: fn(&Self, &Memory, &[[BindlessSlot; 2]]) -> TextureBank,
}

/// The decoders are those of the chip.
impl PartialEq for DescriptorPlaces {
    fn eq(&self, other: &Self) -> bool {
        let parts = |it: &Self| (it.images, it.image_count, it.bases, it.borders, it.model);
        parts(self) == parts(other) && self.uniforms == other.uniforms
    }
}

impl DescriptorPlaces {
    /// Returns the buffer or image in `slot`, or behind a bindless base. `None` if there is none.
    pub(super) fn buffer(
        &self,
        memory: &Memory,
        base: Option<u8>,
        slot: u32,
    ) -> Option<Result<Buffer, TextureError>> {
        Some((self.decode)(&self.all(base, slot)?.words(memory, slot)?))
    }

    /// Returns the address of descriptor `slot`, or of the one behind a bindless base. `None` if there is none.
    pub(super) fn descriptor(&self, memory: &Memory, base: Option<u8>, slot: u32) -> Option<Address> {
        Some(self.all(base, slot)?.descriptor(memory, slot))
    }

    /// Returns the descriptors of the bindings, or those behind a bindless base.
    fn all(&self, base: Option<u8>, slot: u32) -> Option<BindlessBase> {
        match base {
            Some(base) => *self.bases.get(usize::from(base))?,
            None => Some(self.images).filter(|_| slot < self.image_count),
        }
    }

    /// Returns address and bytes of the uniform block in `slot`, or behind a bindless base.
    pub(super) fn uniform(&self, memory: &Memory, base: Option<u8>, slot: u32) -> Option<(Address, u64)> {
        let [low, high] = match base {
            Some(base) => {
                let words = (*self.bases.get(usize::from(base))?)?.words(memory, slot)?;
                [words[0], words[1]]
            }
            None => *self.uniforms.get(slot as usize)?,
        };
        // The upper bits are the size in vectors.
        Some((Address::wide(low, high & 0x1_ffff), 16 * u64::from(high >> 17)))
    }
}
