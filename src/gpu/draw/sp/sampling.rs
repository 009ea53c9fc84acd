//! Texture requests and queries of a shader.

use crate::budget::Work;
use a4emu_shader::jit::{Routine, Texels};
use a4emu_shader::{BindlessSlot, LANES, Lanes, Lowered, Mask, Plain, Query, Reach, Sample, Slots};

use super::memory::{GpuMemory, ShaderMemory};
use super::named::NamedTextures;
use crate::draw::tpl1::{Answered, DirectReads, FILTERED, TextureBank};
use crate::limits::DIRECT_READ_WARPS;

/// Accesses charged for a texture and its sampler that registers name: they are prepared for each request.
const NAMED: u64 = 32;
/// Maximum number of texels of compressed blocks that a request decodes in a lane: two levels, the eight
/// corners of a volume, the largest blocks.
const MOST_DECODED: u64 = 2 * 8 * 12 * 12;

/// Returns the units that texel requests of a whole warp cost, for textures that are not compressed.
fn price_of_texels(requests: u64) -> u64 {
    requests.saturating_mul(LANES as u64 * FILTERED * Work::Texel.price())
}

/// Returns the maximum units that texel requests of a whole warp cost, with the textures of a stage.
pub(super) fn most_for_texels(requests: u64, textures: &TextureBank) -> u64 {
    let decoded = requests.saturating_mul(LANES as u64 * MOST_DECODED * Work::Texel.price());
    price_of_texels(requests).saturating_add(if textures.is_compressed() { decoded } else { 0 })
}

impl<'a> ShaderMemory<'a> {
    /// Charges the texels that a request of `lanes` lanes reads.
    #[inline]
    fn spend_texels(&mut self, lanes: u64) {
        let texels = FILTERED * lanes;
        self.spend(Work::Texel, texels, |work| &mut work.texels);
    }

    /// Samples a texture. A job without budget reads zero, as its warp ends soon.
    pub fn sample(&mut self, request: &Sample<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) {
        if self.left() == 0 {
            return out.fill(Lanes::ZERO);
        }
        self.spend_texels(mask.count_ones().into());
        self.give_up_journal();
        let more = match self.named(&request.slots, mask) {
            Some(named) => {
                let request = Sample { slots: named.slots(), ..*request };
                let Answered { more, .. } = named.bank.sample(self.gpu.get(), &request, mask, out);
                self.log.missing.extend(named.bank.missing_texels(self.gpu.get()));
                more
            }
            None => {
                let Answered { used, more } = match &self.gpu {
                    GpuMemory::ReadOnly(_, bound) => bound.sample(request, mask, out),
                    gpu => self.stage.textures.sample(gpu.get(), request, mask, out),
                };
                self.used_textures |= used;
                more
            }
        };
        self.spend(Work::Texel, more, |work| &mut work.texels);
    }

    /// Returns the textures and samplers that the lanes of a request name at bindless bases, if it does so. Charges for them, and
    /// notes why some of them read as zero.
    fn named(&mut self, slots: &Slots<&Lanes>, mask: Mask) -> Option<NamedTextures> {
        let places = self.stage.descriptors.as_ref()?;
        let named = NamedTextures::of(slots, mask, places, self.gpu.get())?;
        for slot in named.pairs.as_flattened() {
            self.note_descriptor(places, Some(slot.base), slot.descriptor);
        }
        self.spend_accesses(NAMED * named.pairs.len() as u64);
        self.log.missing.extend(named.bank.missing_descriptors().iter().copied());
        for (BindlessSlot { base, descriptor, .. }, error) in named.unsupported() {
            let stage = self.stage.stage;
            self.log.refuse(format!("{stage:?} texture {descriptor} of base {base}: {error}"));
        }
        Some(named)
    }

    /// Samples a texture by a fast path for common requests. Returns false if there is none. Other lanes of
    /// `out` are overwritten.
    #[inline]
    pub fn filter(&mut self, request: &Plain<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> bool {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return false };
        if self.left() == 0 {
            return false;
        }
        let Some(used) = bound.filter(request, out) else { return false };
        self.spend_texels(mask.count_ones().into());
        self.used_textures |= used;
        true
    }

    /// Returns the data that compiled code needs to read textures directly. `None` if it cannot, or if the
    /// budget does not cover all requests of a warp.
    pub fn for_code(&self, routine: &Routine, program: &Lowered) -> Option<&DirectReads<'a>> {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return None };
        let for_code = match self.work.warps >= DIRECT_READ_WARPS {
            true => bound.for_code(routine, program)?,
            false => bound.known_for_code()?,
        };
        (self.left() > price_of_texels(for_code.requests)).then_some(for_code)
    }

    /// Charges the requests of the compiled code, for `lanes` lanes.
    pub fn sampled(&mut self, lanes: u64) {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return };
        let Some(DirectReads { texels, used, .. }) = bound.known_for_code() else { return };
        self.used_textures |= used;
        self.spend_texels(texels.len() as u64 * lanes);
    }

    /// Returns the textures of the compiled code.
    pub fn texels(&self) -> &[Texels<'a>] {
        match &self.gpu {
            GpuMemory::ReadOnly(_, bound) => bound.known_for_code().map_or(&[], |for_code| &for_code.texels),
            GpuMemory::ReadWrite(_) | GpuMemory::Overlay(_) | GpuMemory::Journaled(..) => &[],
        }
    }

    /// Returns the bytes of the texture in a slot from its base on, if memory does not change.
    pub fn texture_bytes(&mut self, slot: u32) -> Option<&[u8]> {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return None };
        let (bytes, used) = bound.texture_bytes(slot)?;
        self.used_textures |= used;
        Some(bytes)
    }

    /// Runs getsize and related queries.
    pub fn query(&mut self, request: &Query<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) {
        match self.named(&request.slots, mask) {
            Some(named) => {
                let request = Query { slots: named.slots(), ..*request };
                named.bank.query(&request, mask, out);
            }
            None => self.used_textures |= self.stage.textures.query(request, mask, out),
        }
    }

    /// Records the guesses that a texture request rests on. Its result reaches `reach`.
    pub(super) fn note_guesses(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        let places = self.stage.descriptors.as_ref();
        let named = places.and_then(|places| NamedTextures::of(&sample.slots, mask, places, self.gpu.get()));
        let (textures, slots) = match &named {
            Some(named) => (&named.bank, named.slots()),
            None => (&*self.stage.textures, sample.slots),
        };
        let rests = self.log.rests.get_or_insert_default();
        textures.guesses(&Sample { slots, ..*sample }, mask, |guess| rests.add(guess, reach));
    }
}
