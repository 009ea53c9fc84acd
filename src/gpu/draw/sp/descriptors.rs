//! Where the descriptors of a stage are, on chips whose programs find them in memory.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;
use a4emu_shader::BindlessSlot;

use super::buffer::Buffer;
use crate::bindless::{BindlessBase, DescriptorWords};
use crate::draw::tpl1::{TextureBank, TextureError};
use crate::machine::Model;
use crate::memory::Memory;

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
