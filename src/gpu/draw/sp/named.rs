//! Textures and samplers that registers name at bindless bases. Which ones is known only when a request runs.

use a4emu_shader::{BindlessKind, BindlessSlot, Lanes, Mask, Slots, lanes_of};

use super::descriptors::DescriptorPlaces;
use crate::draw::tpl1::{TextureBank, TextureError, Used};
use crate::memory::Memory;

/// The textures and samplers of one request.
pub struct NamedTextures {
    /// The textures and samplers: those of pair n in `pairs` are in slot n.
    pub bank: TextureBank,
    /// The slot of each lane.
    slots: Lanes,
    /// The descriptors of each slot: the sampler's and the texture's.
    pub pairs: Vec<[BindlessSlot; 2]>,
}

impl NamedTextures {
    /// Reads the descriptors that the lanes of `mask` name. `None` if the request names slots of the bindings.
    pub fn of(slots: &Slots<&Lanes>, mask: Mask, places: &DescriptorPlaces, memory: &Memory) -> Option<Self> {
        let Slots::Bindless { bases: [of_samplers, of_textures], .. } = *slots else { return None };
        let (mut pairs, mut of_lanes) = (Vec::new(), Lanes::ZERO);
        for lane in lanes_of(mask) {
            let (sampler, texture) = slots.of(lane);
            let pair = [
                BindlessSlot { kind: BindlessKind::Sampler, base: of_samplers, descriptor: sampler },
                BindlessSlot { kind: BindlessKind::Texture, base: of_textures, descriptor: texture },
            ];
            let known = pairs.iter().position(|known| *known == pair);
            of_lanes[lane] = known.unwrap_or(pairs.len()) as u32;
            if known.is_none() {
                pairs.push(pair);
            }
        }
        Some(Self { bank: (places.named)(places, memory, &pairs), slots: of_lanes, pairs })
    }

    /// The slots of the request in the bank.
    pub fn slots(&self) -> Slots<&Lanes> {
        match self.pairs.len() {
            1 => Slots::Uniform { sampler: 0, texture: 0 },
            _ => Slots::PerLane { sampler: &self.slots, texture: &self.slots },
        }
    }

    /// The textures that read as zero, and why.
    pub fn unsupported(&self) -> impl Iterator<Item = (BindlessSlot, TextureError)> {
        self.bank.unsupported(Used::MAX).map(|(slot, error)| (self.pairs[slot][1], error))
    }
}
