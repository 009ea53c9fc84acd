//! The textures and samplers of a shader stage during a draw.
use std::borrow::Cow;
use std::sync::OnceLock;

use a4emu_decoder::guesses::Guess;

use super::descriptor::{self, Bytes, Texture, TextureError};
use super::guesses;
use super::nearest::ByteTexels;
use super::planar::Planar;
use super::query;
use super::sampler::{Border, Sampler};
use super::unit::Unit;
use crate::fault::{Client, Miss};
use crate::gpu::Model;
use crate::memory::Memory;
use a4emu_shader::jit::Texels;
use a4emu_shader::{LANES, Lanes, Mask, Plain, Program, Query, Sample, Slots, lanes_of};

/// Texels that a filter reads in a lane.
pub const FILTERED: u64 = 4;

/// Bytes that are copied in the time that it takes to read a texel.
const COPIED_PER_TEXEL: u64 = 64;

/// Texture slots that a bank keeps apart when it says which were used.
const SLOTS: usize = 128;

/// Descriptors of one stage, resolved. Holds no memory.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TextureBank {
    textures: Vec<Result<Texture, TextureError>>,
    samplers: Vec<Sampler>,
    /// What a slot without a descriptor is.
    unset: Sampler,
    border_misses: Vec<Miss>,
    /// Where border colours were read.
    border_places: Vec<(u32, u32)>,
}

/// A bank with the memory behind its textures, for draws that only read it.
/// Workers share it.
#[derive(Clone)]
pub struct BoundBank<'a> {
    bank: &'a TextureBank,
    memory: &'a Memory,
    slots: Vec<Slot<'a>>,
    /// For code that reads them itself.
    for_code: OnceLock<Option<ForCode<'a>>>,
}

/// Textures for the code of a program that reads them itself.
#[derive(Clone)]
pub struct ForCode<'a> {
    /// The number of that code.
    pub way: usize,
    /// Requests of the program.
    pub requests: u64,
    /// One for each of those that are in the code.
    pub texels: Vec<Texels<'a>>,
    /// The slots of these textures.
    pub used: Used,
}

/// What is looked up of a texture when it is first used.
#[derive(Clone, Default)]
struct Slot<'a> {
    bytes: OnceLock<Bytes<'a>>,
    /// For the common requests with the first sampler, whose number it is, that one asked with.
    common: OnceLock<Option<(u32, Planar<'a>)>>,
}

/// Texture slots that a request read, one bit each; merge with `|`. Hand the
/// sum of a draw to [`BoundBank::problems`].
pub type Used = u128;

/// What it took to answer a request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Answered {
    /// Textures that were used.
    pub used: Used,
    /// Texels that were read besides those of one filter in each lane: lanes that name different textures are answered one
    /// texture after the other, blocks are decoded as a whole, and what does not lie in one piece is copied before.
    pub more: u64,
}

/// What is to be reported about the textures that a draw used.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems {
    /// Slot and why it read as zero.
    pub unsupported: Vec<(usize, TextureError)>,
    /// What the capture does not hold.
    pub missing: Vec<Miss>,
}

impl TextureBank {
    /// Resolves the descriptors of a stage; border colours lie at `border_base`
    /// (TPL1_TP_xS_BORDER_COLOR_BASE_ADDR).
    pub fn new(
        textures: &[[u32; 8]],
        samplers: &[[u32; 2]],
        border_base: u32,
        model: Model,
        memory: &Memory,
    ) -> Self {
        let textures = textures.iter().map(|words| Texture::new(words, model)).collect();
        let mut bank = Self { textures, ..Self::default() };
        for (slot, words) in samplers.iter().enumerate() {
            bank.push_sampler(words, border_base, slot as u32, memory);
        }
        bank
    }

    fn push_sampler(&mut self, words: &[u32; 2], border_base: u32, slot: u32, memory: &Memory) {
        let sampler = Sampler::new(words, Border::default());
        if !sampler.uses_border() {
            self.samplers.push(sampler);
            return;
        }
        let (border, known) = Border::read(memory, border_base, slot);
        let address = Border::address(border_base, slot);
        self.border_places.push((address, Border::BYTES));
        if !known {
            self.border_misses.push(Miss { client: Client::BorderColor, address, len: Border::BYTES });
        }
        self.samplers.push(Sampler { border, ..sampler });
    }

    /// Where border colours were read: address and bytes.
    pub fn border_places(&self) -> &[(u32, u32)] {
        &self.border_places
    }

    /// Where the textures lie: the first byte of each, and one past its last.
    pub fn places(&self) -> impl Iterator<Item = (u64, u64)> {
        self.textures.iter().flatten().map(Texture::place)
    }

    /// Whether a texture has bytes in the buffer at this address, of so many bytes.
    pub fn reads(&self, (start, len): (u32, u32)) -> bool {
        let end = u64::from(start) + u64::from(len);
        self.places().any(|(from, to)| from < end && to > start.into())
    }

    /// What is read of the texture in one slot with the sampler in another, if that is nearest texels of four bytes.
    pub fn byte_texels(&self, texture: u32, sampler: u32) -> Option<ByteTexels> {
        ByteTexels::of(self.texture(texture)?, self.samplers.get(sampler as usize)?)
    }

    /// Views of the memory behind all textures.
    pub fn bind<'a>(&'a self, memory: &'a Memory) -> BoundBank<'a> {
        let slots = self.textures.iter().map(|_| Slot::default()).collect();
        BoundBank { bank: self, memory, slots, for_code: OnceLock::new() }
    }

    /// As [`BoundBank::sample`], for draws that write memory between requests:
    /// looks the texels up anew each time.
    pub fn sample(
        &self,
        memory: &Memory,
        request: &Sample<&Lanes>,
        mask: Mask,
        out: &mut [Lanes; 4],
    ) -> Answered {
        self.sample_with(request, mask, out, |slot| match self.textures.get(slot) {
            Some(Ok(texture)) => texture.bytes(memory).bytes,
            _ => Cow::Borrowed(&[]),
        })
    }

    /// getsize and its relatives.
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
            Cow::Owned(copy) => decoded + copy.len() as u64 / COPIED_PER_TEXEL,
        }
    }

    /// Whether any of its textures is compressed: what a request then costs is not known before.
    pub fn is_compressed(&self) -> bool {
        self.textures
            .iter()
            .flatten()
            .any(|texture| matches!(texture.texels, descriptor::Texels::Block { .. }))
    }
}

impl<'a> BoundBank<'a> {
    /// Answers a texture request in the lanes of its mask.
    pub fn sample(&self, request: &Sample<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Answered {
        self.bank.sample_with(request, mask, out, |slot| {
            Cow::Borrowed(self.bytes(slot).map_or(&[][..], |it| &it.bytes))
        })
    }

    /// As [`BoundBank::sample`] in all lanes, of a common request; `None`, and nothing done, if its texture or
    /// sampler is not.
    #[inline]
    pub fn filter(&self, request: &Plain<&Lanes>, out: &mut [Lanes; 4]) -> Option<Used> {
        let Plain { texture, sampler, .. } = *request;
        match self.slots.get(texture as usize)?.common.get_or_init(|| self.common(texture, sampler)) {
            Some((of, planar)) if *of == sampler => planar.answer(request, out),
            _ => self.planar(texture, sampler)?.answer(request, out),
        }
        Some(bit(texture))
    }

    /// What the code of `program`, which is that of the stage, needs to read textures itself, if it can read some that the
    /// program asks for. That is found out when it `pays` to; before, it is `None`.
    pub fn for_code(&self, program: &Program, pays: bool) -> Option<&ForCode<'a>> {
        match pays {
            true => self.for_code.get_or_init(|| self.make_for_code(program)).as_ref(),
            false => self.known_for_code(),
        }
    }

    /// The same, as far as it has been found out.
    pub fn known_for_code(&self) -> Option<&ForCode<'a>> {
        self.for_code.get()?.as_ref()
    }

    #[cfg(target_arch = "x86_64")]
    fn make_for_code(&self, program: &Program) -> Option<ForCode<'a>> {
        let routine = program.routine()?;
        let (mut readings, mut texels, mut used) = (Vec::new(), Vec::new(), 0);
        for [texture, sampler] in routine.requests()? {
            let found = self.common(*texture, *sampler).and_then(|(_, planar)| planar.for_code());
            readings.push(found.map(|(reading, _)| reading));
            if let Some((_, of_request)) = found {
                texels.push(of_request);
                used |= bit(*texture);
            }
        }
        let (way, requests) = (routine.way(program, &readings)?, routine.toll()?.requests);
        Some(ForCode { way, requests, texels, used })
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn make_for_code(&self, _: &Program) -> Option<ForCode<'a>> {
        None
    }

    /// What is kept of a texture for common requests: memory has to have all of it in one piece.
    fn common(&self, texture: u32, sampler: u32) -> Option<(u32, Planar<'a>)> {
        let Cow::Borrowed(bytes) = self.bytes(texture as usize)?.bytes else { return None };
        let planar =
            Planar::new(self.bank.texture(texture)?, self.bank.samplers.get(sampler as usize)?, bytes)?;
        Some((sampler, planar))
    }

    /// The texture in one slot, read with the sampler in another, if both are common.
    fn planar(&self, texture: u32, sampler: u32) -> Option<Planar<'_>> {
        let (bytes, sampler) = (self.bytes(texture as usize)?, self.bank.samplers.get(sampler as usize)?);
        Planar::new(self.bank.texture(texture)?, sampler, &bytes.bytes)
    }

    /// What memory has of the texture in a slot, from its base on, for whoever reads it without a request.
    pub fn texture_bytes(&self, slot: u32) -> Option<(&[u8], Used)> {
        Some((&self.bytes(slot as usize)?.bytes, bit(slot)))
    }

    fn bytes(&self, slot: usize) -> Option<&Bytes<'a>> {
        let texture = self.bank.texture(slot as u32)?;
        Some(self.slots.get(slot)?.bytes.get_or_init(|| texture.bytes(self.memory)))
    }

    /// getsize and its relatives.
    pub fn query(&self, request: &Query<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Used {
        self.bank.query(request, mask, out)
    }

    /// What was wrong with the slots in `used`, in the order of the slots.
    pub fn problems(&self, used: Used) -> Problems {
        let mut problems = Problems::default();
        for slot in (0..SLOTS.min(self.slots.len())).filter(|slot| used >> slot & 1 != 0) {
            problems.missing.extend(self.bytes(slot).and_then(|bytes| bytes.missing));
            if let Err(error) = self.bank.textures[slot] {
                problems.unsupported.push((slot, error));
            }
        }
        if used != 0 {
            problems.missing.extend(&self.bank.border_misses);
        }
        problems
    }
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
