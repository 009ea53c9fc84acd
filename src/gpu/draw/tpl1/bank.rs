//! Textures and samplers of a shader stage during a draw.
use std::borrow::Cow;
use std::sync::OnceLock;

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::guesses::Guess;

use super::descriptor::{self, Texture, TextureError};
use super::guesses;
use super::nearest::ByteTexels;
use super::planar::Planar;
use super::query;
use super::sampler::{Border, BorderLayout, Sampler, SamplerState};
use super::unit::Unit;
use crate::budget::Work;
use crate::fault::{Client, Miss};
use crate::memory::Memory;
use a4emu_shader::jit::{Routine, Texels};
use a4emu_shader::{LANES, Lanes, Lowered, Mask, Plain, Query, Sample, Slots, lanes_of};

/// Number of texels that a filter reads per lane.
pub const FILTERED: u64 = 4;

/// How many blocks of 16 bytes are copied in the time of one that is copied to new memory, whose pages the system makes first.
/// Measure: `scripts/prices`.
const TO_NEW_MEMORY: u64 = 8;

/// Number of texture slots that a bank distinguishes in its list of used slots.
const SLOTS: usize = 128;

/// Textures and samplers of one stage. Contains addresses, no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextureBank {
    textures: Vec<Result<Texture, TextureError>>,
    samplers: Vec<Sampler>,
    /// Sampler of a slot without a descriptor.
    unset: Sampler,
    misses: Vec<Miss>,
    /// Memory ranges of the border colours and descriptors, and others that the bank was made from.
    places_read: Vec<(Address, u32)>,
}

/// A bank with the memory of its textures, for draws that only read memory. Workers share it.
#[derive(Clone)]
pub struct BoundBank<'a> {
    bank: &'a TextureBank,
    memory: &'a Memory,
    slots: Vec<Slot<'a>>,
    /// Data for compiled code that reads textures directly.
    for_code: OnceLock<Option<DirectReads<'a>>>,
}

/// Textures for compiled code that reads them directly.
#[derive(Clone)]
pub struct DirectReads<'a> {
    /// Number of the code variant.
    pub way: usize,
    /// Number of requests of the program.
    pub requests: u64,
    /// Texels of each request in the code.
    pub texels: Vec<Texels<'a>>,
    /// Slots of these textures.
    pub used: Used,
}

/// Data of a texture, cached at its first use.
#[derive(Clone, Default)]
struct Slot<'a> {
    bytes: OnceLock<Cow<'a, [u8]>>,
    missing: OnceLock<Option<Miss>>,
    /// Fast path of the texture with the sampler of its first request, and the number of this sampler.
    common: OnceLock<Option<(u32, Planar<'a>)>>,
}

/// Mask of the texture slots that a request read, one bit each; merge with `|`. Pass the sum of a draw to
/// [`TextureBank::unsupported`] and [`BoundBank::missing`].
pub type Used = u128;

/// Cost of a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Texture slots that were used.
    pub used: Used,
    /// Texels read in addition to one filter per lane. Lanes with different textures are processed one
    /// texture after the other, blocks are decoded completely, and memory that is not contiguous is copied
    /// first.
    pub more: u64,
}

impl TextureBank {
    /// Prepares the textures and samplers of a stage. Border colours are in an array of this layout at an address.
    pub fn new(
        textures: impl IntoIterator<Item = Result<Texture, TextureError>>,
        samplers: impl IntoIterator<Item = SamplerState>,
        borders: (BorderLayout, Address),
        memory: &Memory,
    ) -> Self {
        let mut bank = Self { textures: textures.into_iter().collect(), ..Self::default() };
        for (slot, state) in samplers.into_iter().enumerate() {
            bank.push_sampler(&state, borders, slot as u32, memory);
        }
        bank
    }

    /// Returns the bank, whose descriptors are in these ranges of memory: address and bytes.
    pub fn described(
        mut self,
        memory: &Memory,
        places: impl IntoIterator<Item = (Address, u32)> + Clone,
    ) -> Self {
        self.places_read.extend(places.clone());
        let missing = places.into_iter().filter(|(address, len)| memory.room(*address) < *len);
        let client = Client::Descriptors;
        self.misses.extend(missing.map(|(address, len)| Miss { client, address, len }));
        self
    }

    /// Returns the bank, which is another when these ranges of memory change: address and bytes.
    pub fn resting_on(mut self, places: impl IntoIterator<Item = (Address, u32)>) -> Self {
        self.places_read.extend(places);
        self
    }

    fn push_sampler(
        &mut self,
        state: &SamplerState,
        (layout, base): (BorderLayout, Address),
        slot: u32,
        memory: &Memory,
    ) {
        let sampler = Sampler::new(state, Border::default());
        if !sampler.uses_border() {
            self.samplers.push(sampler);
            return;
        }
        let slot = state.border_record.unwrap_or(slot);
        let (border, known) = layout.read(memory, base, slot);
        let address = layout.address(memory, base, slot);
        self.places_read.push((address, layout.bytes));
        if !known {
            let (client, len) = (Client::BorderColor, layout.bytes);
            self.misses.push(Miss { client, address, len });
        }
        self.samplers.push(Sampler { border, ..sampler });
    }

    /// Returns the memory ranges that the bank was made from, of border colours and descriptors: address and bytes.
    pub fn places_read(&self) -> &[(Address, u32)] {
        &self.places_read
    }

    /// Returns the memory ranges of the textures: the first byte of each, and one past its last.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.textures.iter().flatten().map(Texture::place)
    }

    /// Returns whether a texture overlaps the buffer (address and bytes).
    pub fn reads(&self, (start, len): (u32, u32)) -> bool {
        let end = u64::from(start) + u64::from(len);
        self.places().any(|(from, to)| from < end && to > start.into())
    }

    /// Returns the texels of one slot read with the sampler of another, if they are nearest texels of four
    /// bytes.
    pub fn byte_texels(&self, texture: u32, sampler: u32) -> Option<ByteTexels> {
        ByteTexels::of(self.texture(texture)?, self.samplers.get(sampler as usize)?)
    }

    /// Binds the memory of all textures.
    pub fn bind<'a>(&'a self, memory: &'a Memory) -> BoundBank<'a> {
        let slots = self.textures.iter().map(|_| Slot::default()).collect();
        BoundBank { bank: self, memory, slots, for_code: OnceLock::new() }
    }

    /// Returns how many bytes a bound bank copies, if all its textures are read: those that are not contiguous.
    pub fn bytes_copied(&self, memory: &Memory) -> u64 {
        self.textures.iter().flatten().map(|texture| texture.bytes_copied(memory)).sum()
    }

    /// Runs a request as [`BoundBank::sample`] does, for draws that write memory between requests. It reads
    /// the texture's memory anew each time.
    pub fn sample(
        &self,
        memory: &Memory,
        request: &Sample<&Lanes>,
        mask: Mask,
        out: &mut [Lanes; 4],
    ) -> Answered {
        self.sample_with(request, mask, out, |slot| match self.textures.get(slot) {
            Some(Ok(texture)) => texture.bytes(memory),
            _ => Cow::Borrowed(&[]),
        })
    }

    /// Runs getsize and related queries.
    pub fn query(&self, request: &Query<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Used {
        each_pair(&request.slots, mask, |_, slot, mask| {
            let answer = self
                .texture(slot)
                .map_or([Lanes::ZERO; 4], |texture| query::answer(texture, &request.question));
            merge(out, &answer, mask);
        })
    }

    /// Calls `note` with the guesses that a request rests on.
    pub fn guesses(&self, request: &Sample<&Lanes>, mask: Mask, mut note: impl FnMut(Guess)) {
        each_pair(&request.slots, mask, |sampler, slot, _| {
            let sampler = self.samplers.get(sampler as usize).unwrap_or(&self.unset);
            if let Some(texture) = self.texture(slot) {
                guesses::of(texture, sampler, request.kind).for_each(&mut note);
            }
        });
    }

    fn texture(&self, slot: u32) -> Option<&Texture> {
        self.textures.get(slot as usize)?.as_ref().ok()
    }

    fn sample_with<'m>(
        &self,
        request: &Sample<&Lanes>,
        mask: Mask,
        out: &mut [Lanes; 4],
        bytes: impl Fn(usize) -> Cow<'m, [u8]>,
    ) -> Answered {
        let (mut more, mut pairs) = (0, 0);
        let used = each_pair(&request.slots, mask, |sampler, slot, mask| {
            pairs += 1;
            if mask == Mask::MAX {
                more += self.answer(sampler, slot, request, &bytes, out);
                return;
            }
            let mut answer = [Lanes::ZERO; 4];
            more += self.answer(sampler, slot, request, &bytes, &mut answer);
            merge(out, &answer, mask);
        });
        let again: u64 = FILTERED * LANES as u64 * u64::saturating_sub(pairs, 1);
        Answered { used, more: more + again }
    }

    fn answer<'m>(
        &self,
        sampler: u32,
        slot: u32,
        request: &Sample<&Lanes>,
        bytes: &impl Fn(usize) -> Cow<'m, [u8]>,
        out: &mut [Lanes; 4],
    ) -> u64 {
        let sampler = self.samplers.get(sampler as usize).unwrap_or(&self.unset);
        let Some(texture) = self.texture(slot) else {
            *out = [Lanes::ZERO; 4];
            return 0;
        };
        let bytes = bytes(slot as usize);
        let decoded = Unit { texture, sampler, bytes: &bytes }.sample(request, out);
        match bytes {
            Cow::Borrowed(_) => decoded,
            Cow::Owned(copy) => decoded + copy_cost(copy.len() as u64) / Work::Texel.price(),
        }
    }

    /// Returns the slots of `used` whose textures read as zero, and why. They are in slot order.
    pub fn unsupported(&self, used: Used) -> impl Iterator<Item = (usize, TextureError)> {
        let errors = self.used(used).filter_map(|(slot, texture)| Some((slot, *texture.as_ref().err()?)));
        errors.filter(|(_, error)| *error != TextureError::Null)
    }

    /// Returns the misses of the texels of all textures.
    pub fn missing_texels(&self, memory: &Memory) -> impl Iterator<Item = Miss> {
        self.textures.iter().flatten().filter_map(|texture| texture.missing(memory))
    }

    /// Returns the misses of border colours and descriptors.
    pub fn missing_descriptors(&self) -> &[Miss] {
        &self.misses
    }

    fn used(&self, used: Used) -> impl Iterator<Item = (usize, &Result<Texture, TextureError>)> {
        self.textures.iter().take(SLOTS).enumerate().filter(move |(slot, _)| used >> slot & 1 != 0)
    }

    /// Returns whether any texture is compressed. The cost of a request is then not known in advance.
    pub fn is_compressed(&self) -> bool {
        self.textures
            .iter()
            .flatten()
            .any(|texture| matches!(texture.texels, descriptor::Texels::Block { .. }))
    }
}

impl<'a> BoundBank<'a> {
    /// Runs a texture request in the lanes of its mask.
    pub fn sample(&self, request: &Sample<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Answered {
        self.bank.sample_with(request, mask, out, |slot| {
            Cow::Borrowed(self.bytes(slot).map_or(&[][..], |bytes| bytes))
        })
    }

    /// Runs a common request as [`BoundBank::sample`] does, in all lanes. Returns `None` and does nothing if
    /// its texture or sampler has no fast path.
    #[inline]
    pub fn filter(&self, request: &Plain<&Lanes>, out: &mut [Lanes; 4]) -> Option<Used> {
        let Plain { texture, sampler, .. } = *request;
        match self.slots.get(texture as usize)?.common.get_or_init(|| self.common(texture, sampler)) {
            Some((of, planar)) if *of == sampler => planar.answer(request, out),
            _ => self.planar(texture, sampler)?.answer(request, out),
        }
        Some(bit(texture))
    }

    /// Returns the data that the compiled code of the stage's `program` needs to read textures directly, if
    /// it can. The first call prepares it.
    pub fn for_code(&self, routine: &Routine, program: &Lowered) -> Option<&DirectReads<'a>> {
        self.for_code.get_or_init(|| self.make_for_code(routine, program)).as_ref()
    }

    /// Returns the data for compiled code, if it has been prepared.
    pub fn known_for_code(&self) -> Option<&DirectReads<'a>> {
        self.for_code.get()?.as_ref()
    }

    #[cfg(target_arch = "x86_64")]
    fn make_for_code(&self, routine: &Routine, program: &Lowered) -> Option<DirectReads<'a>> {
        let (mut readings, mut texels, mut used) = (Vec::new(), Vec::new(), 0);
        for [texture, sampler] in routine.requests()? {
            let found = self.common(*texture, *sampler).and_then(|(_, planar)| planar.for_code());
            readings.push(found.map(|(reading, _)| reading));
            if let Some((_, of_request)) = found {
                texels.push(of_request);
                used |= bit(*texture);
            }
        }
        let (way, requests) = (routine.way(program, &readings)?, routine.lockstep_cost()?.requests);
        Some(DirectReads { way, requests, texels, used })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn make_for_code(&self, _: &Routine, _: &Lowered) -> Option<DirectReads<'a>> {
        None
    }

    /// Returns the fast path to cache for a texture. Its memory must be contiguous.
    fn common(&self, texture: u32, sampler: u32) -> Option<(u32, Planar<'a>)> {
        let Cow::Borrowed(bytes) = *self.bytes(texture as usize)? else { return None };
        let planar =
            Planar::new(self.bank.texture(texture)?, self.bank.samplers.get(sampler as usize)?, bytes)?;
        Some((sampler, planar))
    }

    /// Returns the fast path of a texture and a sampler, if both have one.
    fn planar(&self, texture: u32, sampler: u32) -> Option<Planar<'_>> {
        let (bytes, sampler) = (self.bytes(texture as usize)?, self.bank.samplers.get(sampler as usize)?);
        Planar::new(self.bank.texture(texture)?, sampler, bytes)
    }

    /// Returns the bytes of the texture in a slot from its base on, for reads without a request.
    pub fn texture_bytes(&self, slot: u32) -> Option<(&[u8], Used)> {
        Some((self.bytes(slot as usize)?, bit(slot)))
    }

    fn bytes(&self, slot: usize) -> Option<&Cow<'a, [u8]>> {
        let texture = self.bank.texture(slot as u32)?;
        Some(self.slots.get(slot)?.bytes.get_or_init(|| texture.bytes(self.memory)))
    }

    /// Runs getsize and related queries.
    pub fn query(&self, request: &Query<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Used {
        self.bank.query(request, mask, out)
    }

    /// Returns the misses of the slots in `used`: those of texels, then those of descriptors and border colours.
    pub fn missing(&self, used: Used) -> impl Iterator<Item = Miss> {
        let texels = self.bank.used(used).filter_map(|(slot, texture)| {
            let texture = texture.as_ref().ok()?;
            *self.slots[slot].missing.get_or_init(|| texture.missing(self.memory))
        });
        texels.chain(self.bank.misses.iter().copied().filter(move |_| used != 0))
    }
}

/// Returns the cost of copying so many bytes of textures, in blocks of 16 bytes ([`Work::Copy16`]).
pub fn copy_cost(bytes: u64) -> u64 {
    bytes / 16 * TO_NEW_MEMORY
}

/// Calls `run(sampler, texture, mask)` once for every pair of slots among the lanes.
fn each_pair(slots: &Slots<&Lanes>, mask: Mask, mut run: impl FnMut(u32, u32, Mask)) -> Used {
    if let Slots::Uniform { sampler, texture } = *slots {
        run(sampler, texture, mask);
        return bit(texture);
    }
    let (mut rest, mut used) = (mask, 0);
    while rest != 0 {
        let pair = slots.of(rest.trailing_zeros() as usize);
        let same =
            lanes_of(rest).filter(|&lane| slots.of(lane) == pair).fold(0, |same, lane| same | 1 << lane);
        run(pair.0, pair.1, same);
        used |= bit(pair.1);
        rest &= !same;
    }
    used
}

fn bit(slot: u32) -> Used {
    if (slot as usize) < SLOTS { 1 << slot } else { 0 }
}

fn merge(out: &mut [Lanes; 4], answer: &[Lanes; 4], mask: Mask) {
    out.iter_mut().zip(answer).for_each(|(out, answer)| out.merge(answer, mask));
}
