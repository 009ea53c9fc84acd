//! The memory that a shader sees: GPU memory, textures, and what belongs to its group or lanes.

use std::ops::Range;

use crate::budget::Work;
use crate::fault::{Client, Miss};
use crate::memory::Memory;
use a4emu_shader::jit::Texels;
use a4emu_shader::{
    Atomic, AtomicPlace, ImageAccess, ImageLayout, LANES, Lanes, Mask, MemoryAccess, Plain, Program, Query,
    Reach, Sample, Space, lanes_of,
};

use super::buffer::Buffer;
use super::log::{OutsideInputs, ShaderLog, ShaderWork};
use super::state::StageState;
use crate::draw::tpl1::{Answered, BoundBank, FILTERED, ForCode, TextureBank};

/// Bytes of work-group memory that a shader can have.
const GROUP_BYTES: usize = 64 << 10;
/// Bytes of private memory of a lane.
const PRIVATE_BYTES: usize = 16 << 10;
/// Accesses that one which finds nothing is charged for besides: it has to be noted.
const MISS: u64 = 16;
/// Texels of compressed blocks that a request decodes in a lane at most: two levels, the eight corners of a volume, the
/// largest blocks.
const MOST_DECODED: u64 = 2 * 8 * 12 * 12;

/// Units that so many requests for texels of a whole warp cost, of textures that are not compressed.
fn price_of_texels(requests: u64) -> u64 {
    requests.saturating_mul(LANES as u64 * FILTERED * Work::Texel.price())
}

/// Units that so many requests for texels of a whole warp cost at most, with the textures of a stage.
pub(super) fn most_for_texels(requests: u64, textures: &TextureBank) -> u64 {
    let decoded = requests.saturating_mul(LANES as u64 * MOST_DECODED * Work::Texel.price());
    price_of_texels(requests).saturating_add(if textures.is_compressed() { decoded } else { 0 })
}

/// Warps of a job from which on it pays to find out whether code can read textures itself.
const READS_ITSELF: u64 = 4;

/// GPU memory, as a worker may use it.
pub enum GpuMemory<'a> {
    /// Shared with other workers: stores are dropped. Texels are looked up once for all of them.
    ReadOnly(&'a Memory, &'a BoundBank<'a>),
    /// For one worker alone.
    ReadWrite(&'a mut Memory),
    /// For one worker alone, and thrown away with it: an [overlay](Memory::overlay).
    Overlay(Box<Memory>),
}

impl GpuMemory<'_> {
    /// To read from.
    pub fn get(&self) -> &Memory {
        match self {
            Self::ReadOnly(memory, _) => memory,
            Self::ReadWrite(memory) => memory,
            Self::Overlay(memory) => memory,
        }
    }

    /// To write to, if this worker may.
    fn get_mut(&mut self) -> Option<&mut Memory> {
        match self {
            Self::ReadOnly(..) => None,
            Self::ReadWrite(memory) => Some(memory),
            Self::Overlay(memory) => Some(memory),
        }
    }
}

/// How lanes share the inputs: each of them has a part, in which its addresses begin at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputParts {
    /// Lanes in a row that have the same part.
    pub lanes: usize,
    /// Bytes of a part.
    pub bytes: usize,
}

/// Memory of a warp that is not the GPU's.
#[derive(Clone, Debug, Default)]
pub struct OwnMemory {
    group: Vec<u8>,
    private: Vec<u8>,
    inputs: Vec<u8>,
    parts: Option<InputParts>,
}

/// The memory side of a shader's environment.
pub struct ShaderMemory<'a> {
    /// GPU memory.
    pub gpu: GpuMemory<'a>,
    stage: &'a StageState,
    /// Texture slots that were read, a bit each.
    pub(super) used_textures: u128,
    /// Work-group memory, as far as it was written.
    group: Vec<u8>,
    private: Vec<u8>,
    /// The vertices of the primitives that a hull or geometry shader works on, which ldlw reads: as
    /// long as there are primitives in it.
    pub inputs: Vec<u8>,
    /// How the lanes share those, if not all have all of them.
    pub parts: Option<InputParts>,
    /// What is to be reported.
    pub log: ShaderLog,
    /// What the job at hand took so far.
    pub(super) work: ShaderWork,
    /// Units of work that the job at hand may still cost.
    left: u64,
}

impl<'a> ShaderMemory<'a> {
    /// For a stage.
    pub(super) fn new(gpu: GpuMemory<'a>, stage: &'a StageState) -> Self {
        let (group, private, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (used_textures, left) = (0, u64::MAX);
        let (parts, log, work) = Default::default();
        Self { gpu, stage, used_textures, group, private, inputs, parts, log, work, left }
    }

    /// Copies of the memory that is not the GPU's.
    pub(in crate::draw) fn own(&self) -> OwnMemory {
        let (group, private) = (self.group.clone(), self.private.clone());
        OwnMemory { group, private, inputs: self.inputs.clone(), parts: self.parts }
    }

    /// For a stage, with `own` memory besides the GPU's.
    pub fn with_own(gpu: GpuMemory<'a>, stage: &'a StageState, own: OwnMemory) -> Self {
        let OwnMemory { group, private, inputs, parts } = own;
        Self { group, private, inputs, parts, ..Self::new(gpu, stage) }
    }

    /// Forgets what earlier warps of the job left in private memory.
    pub(in crate::draw) fn clear_private(&mut self) {
        if !self.private.is_empty() {
            self.private.fill(0);
            self.spend_clearing(self.private.len() as u64 / 16);
        }
    }

    /// Forgets what earlier jobs left in memory that is not the GPU's.
    pub(super) fn begin_job(&mut self, allowance: u64) {
        self.left = allowance;
        self.clear_group();
        self.private.clear();
    }

    /// Units of work that the job may still cost.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Charges `count` of this `kind` of work, which `noted` counts.
    #[inline]
    pub(super) fn spend(&mut self, kind: Work, count: u64, noted: impl FnOnce(&mut ShaderWork) -> &mut u64) {
        *noted(&mut self.work) += count;
        self.left = self.left.saturating_sub(count.saturating_mul(kind.price()));
    }

    /// Charges what a texture request of so many lanes reads.
    #[inline]
    fn spend_texels(&mut self, lanes: u64) {
        let texels = FILTERED * lanes;
        self.spend(Work::Texel, texels, |work| &mut work.texels);
    }

    fn spend_accesses(&mut self, count: u64) {
        self.spend(Work::LaneAccess, count, |work| &mut work.accesses);
    }

    /// Charges the elements of an attribute that were looked up one by one, and those of them that are missing.
    pub fn spend_fetch(&mut self, [apart, missing]: [u64; 2]) {
        self.spend_accesses(apart + MISS * missing);
    }

    /// Charges so many blocks of 16 bytes that were cleared.
    pub(super) fn spend_clearing(&mut self, blocks: u64) {
        self.spend(Work::Copy16, blocks, |work| &mut work.cleared);
    }

    /// Samples a texture. A job that has used up its allowance reads zero: its warp ends soon.
    pub fn sample(&mut self, request: &Sample<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) {
        if self.left() == 0 {
            return out.fill(Lanes::ZERO);
        }
        self.spend_texels(mask.count_ones().into());
        let Answered { used, more } = match &self.gpu {
            GpuMemory::ReadOnly(_, bound) => bound.sample(request, mask, out),
            gpu => self.stage.textures.sample(gpu.get(), request, mask, out),
        };
        self.used_textures |= used;
        self.spend(Work::Texel, more, |work| &mut work.texels);
    }

    /// The same of a common request, if it can be had sooner. What is in `out` in other lanes is lost.
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

    /// What the code of the stage's program needs to read textures itself, if it can, and if all requests of a warp may
    /// be made.
    pub fn for_code(&self, program: &Program) -> Option<&ForCode<'a>> {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return None };
        let for_code = bound.for_code(program, self.work.warps >= READS_ITSELF)?;
        (self.left > price_of_texels(for_code.requests)).then_some(for_code)
    }

    /// Charges the requests that are in the code, for so many lanes.
    pub fn sampled(&mut self, lanes: u64) {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return };
        let Some(ForCode { texels, used, .. }) = bound.known_for_code() else { return };
        self.used_textures |= used;
        self.spend_texels(texels.len() as u64 * lanes);
    }

    /// The textures of that code.
    pub fn texels(&self) -> &[Texels<'a>] {
        match &self.gpu {
            GpuMemory::ReadOnly(_, bound) => bound.known_for_code().map_or(&[], |for_code| &for_code.texels),
            GpuMemory::ReadWrite(_) | GpuMemory::Overlay(_) => &[],
        }
    }

    /// What memory has of the texture in a slot, from its base on, if it stays as it is.
    pub fn texture_bytes(&mut self, slot: u32) -> Option<&[u8]> {
        let GpuMemory::ReadOnly(_, bound) = &self.gpu else { return None };
        let (bytes, used) = bound.texture_bytes(slot)?;
        self.used_textures |= used;
        Some(bytes)
    }

    /// getsize and its relatives.
    pub fn query(&mut self, request: &Query<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) {
        self.used_textures |= self.stage.textures.query(request, mask, out);
    }

    /// Charges an access of the lanes of `mask`, if that is allowed.
    fn charge(&mut self, mask: Mask) -> bool {
        let allowed = self.left() > 0;
        self.spend_accesses(u64::from(mask.count_ones()));
        allowed
    }

    /// Forgets work-group memory: a new group begins.
    pub fn clear_group(&mut self) {
        self.spend_clearing(self.group.len() as u64 / 16);
        self.group.fill(0);
    }

    /// ldg, ldl, ldp.
    pub fn load(&mut self, request: &MemoryAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        let width = request.width.bytes() as usize;
        let mut bytes = [0; 16];
        let mut previous = None;
        for lane in lanes_of(mask) {
            let address = request.address(lane);
            let place = (address, self.whose(request.space, lane));
            if previous != Some(place) {
                self.read(request.space, lane, address, &mut bytes[..width * out.len()]);
                previous = Some(place);
            }
            for (row, value) in out.iter_mut().zip(bytes.chunks_exact(width)) {
                let mut word = [0; 4];
                word[..width].copy_from_slice(value);
                row[lane] = u32::from_le_bytes(word);
            }
        }
    }

    /// stg, stl, stp.
    pub fn store(&mut self, request: &MemoryAccess<&Lanes>, mask: Mask, values: &[&Lanes]) {
        if !self.charge(mask) {
            return;
        }
        let width = request.width.bytes() as usize;
        for lane in lanes_of(mask) {
            let mut bytes = [0; 16];
            for (to, row) in bytes.chunks_exact_mut(width).zip(values) {
                to.copy_from_slice(&row[lane].to_le_bytes()[..width]);
            }
            self.write(request.space, lane, request.address(lane), &bytes[..width * values.len()]);
        }
    }

    fn read(&mut self, space: Space, lane: usize, address: u32, out: &mut [u8]) {
        match space {
            Space::Global => self.read_global(Client::Global, address, out),
            Space::Local => read_array(&self.group, address as usize, out),
            Space::Stage => {
                let part = self.part(lane);
                self.note_outside(lane, address, out.len(), part.len());
                read_array(&self.inputs[part], address as usize, out);
            }
            Space::Private => read_array(&self.private, private_at(lane, address), out),
        }
    }

    /// What tells the memory of a lane in `space` from that of others at the same address.
    fn whose(&self, space: Space, lane: usize) -> usize {
        match space {
            Space::Global | Space::Local => 0,
            Space::Stage => self.part(lane).start,
            Space::Private => lane,
        }
    }

    /// Where a lane's part of the inputs is.
    fn part(&self, lane: usize) -> Range<usize> {
        let all = self.inputs.len();
        match self.parts {
            None => 0..all,
            Some(InputParts { lanes, bytes }) => {
                let start = (lane / lanes * bytes).min(all);
                start..(start + bytes).min(all)
            }
        }
    }

    /// Notes an access outside a lane's inputs, which are so long. It reads zero, and writes nothing (guess
    /// `inputs-outside`).
    fn note_outside(&mut self, lane: usize, address: u32, len: usize, size: usize) {
        let inside = address as usize + len <= size;
        let noted = &mut self.log.outside_inputs;
        if !inside && noted.iter().all(|outside| outside.lane != lane) {
            noted.push(OutsideInputs { stage: self.stage.stage, lane, address, len, size });
        }
    }

    /// Notes the guesses that a texture request rests on, whose answer reaches this.
    pub(super) fn note_guesses(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        let Self { stage, log, .. } = self;
        let rests = log.rests.get_or_insert_default();
        stage.textures.guesses(sample, mask, |guess| rests.add(guess, reach));
    }

    fn read_global(&mut self, client: Client, address: u32, out: &mut [u8]) {
        if !self.gpu.get().read(address, out) {
            self.spend_accesses(MISS);
            self.log.missing.note(Miss { client, address, len: out.len() as u32 });
        }
    }

    fn write(&mut self, space: Space, lane: usize, address: u32, bytes: &[u8]) {
        match space {
            Space::Global => self.write_global(address, bytes),
            Space::Local => {
                let cleared = write_array(&mut self.group, GROUP_BYTES, address as usize, bytes);
                self.spend_clearing(cleared);
            }
            Space::Stage => {
                let part = self.part(lane);
                self.note_outside(lane, address, bytes.len(), part.len());
                write_inside(&mut self.inputs[part], address as usize, bytes);
            }
            Space::Private => {
                let limit = PRIVATE_BYTES * LANES;
                let cleared = write_array(&mut self.private, limit, private_at(lane, address), bytes);
                self.spend_clearing(cleared);
            }
        }
    }

    fn write_global(&mut self, address: u32, bytes: &[u8]) {
        if let Some(memory) = self.gpu.get_mut()
            && !memory.write(address, bytes)
        {
            self.log.lose(address - address % crate::memory::PAGE);
        }
    }

    fn buffer(&self, request: &ImageAccess<&Lanes>, lane: usize) -> Option<Buffer> {
        let buffer = self.stage.buffers.get(request.slot[lane] as usize)?;
        buffer.contains(request, lane).then_some(*buffer)
    }

    /// ldgb. Outside the buffer reads zero.
    pub fn image_load(&mut self, request: &ImageAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        for lane in lanes_of(mask) {
            let mut bytes = [0; 16];
            let buffer = self.buffer(request, lane);
            let codec = buffer.and_then(|b| b.codec).filter(|_| request.layout == ImageLayout::Typed);
            let len = codec.as_ref().map_or(4 * out.len().min(4), |codec| codec.bytes() as usize);
            if buffer.is_some() {
                self.read_global(Client::Ssbo, request.address[lane], &mut bytes[..len]);
            }
            let values = match codec {
                Some(codec) => codec.decode(codec.load(&bytes)),
                None => {
                    std::array::from_fn(|i| u32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k])))
                }
            };
            out.iter_mut().zip(values).for_each(|(row, value)| row[lane] = value);
        }
    }

    /// stgb, stib. Outside the buffer stores nothing.
    pub fn image_store(&mut self, request: &ImageAccess<&Lanes>, mask: Mask, values: &[&Lanes]) {
        if !self.charge(mask) {
            return;
        }
        for lane in lanes_of(mask) {
            let Some(buffer) = self.buffer(request, lane) else { continue };
            let lanes: [u32; 4] = std::array::from_fn(|i| values.get(i).map_or(0, |row| row[lane]));
            let mut bytes = [0; 16];
            let len = match (request.layout, buffer.codec) {
                (ImageLayout::Typed, Some(codec)) => {
                    codec.store(codec.encode(lanes), &mut bytes);
                    codec.bytes() as usize
                }
                _ => {
                    bytes
                        .chunks_exact_mut(4)
                        .zip(lanes)
                        .for_each(|(to, v)| to.copy_from_slice(&v.to_le_bytes()));
                    4 * values.len().min(4)
                }
            };
            self.write_global(request.address[lane], &bytes[..len]);
        }
    }

    /// resinfo.
    pub fn image_size(&self, slot: &Lanes, mask: Mask, out: &mut [Lanes; 4]) {
        for lane in lanes_of(mask) {
            let Some(buffer) = self.stage.buffers.get(slot[lane] as usize) else { continue };
            out.iter_mut().zip(buffer.size).for_each(|(row, size)| row[lane] = size);
        }
    }

    /// atomic.*, lane by lane.
    pub fn atomic(&mut self, request: &Atomic<&Lanes>, mask: Mask, old: &mut Lanes) {
        if !self.charge(mask) {
            return *old = Lanes::ZERO;
        }
        match &request.place {
            AtomicPlace::Local(address) => {
                for lane in lanes_of(mask) {
                    let mut bytes = [0; 4];
                    self.read(Space::Local, lane, address[lane], &mut bytes);
                    old[lane] = u32::from_le_bytes(bytes);
                    let new = request.apply(lane, old[lane]);
                    self.write(Space::Local, lane, address[lane], &new.to_le_bytes());
                }
            }
            AtomicPlace::Image(image) => {
                for lane in lanes_of(mask) {
                    old[lane] = 0;
                    if self.buffer(image, lane).is_none() {
                        continue;
                    }
                    let mut bytes = [0; 4];
                    self.read_global(Client::Ssbo, image.address[lane], &mut bytes);
                    old[lane] = u32::from_le_bytes(bytes);
                    let new = request.apply(lane, old[lane]);
                    self.write_global(image.address[lane], &new.to_le_bytes());
                }
            }
        }
    }
}

/// Where a lane's private byte lies.
fn private_at(lane: usize, address: u32) -> usize {
    lane * PRIVATE_BYTES + (address as usize % PRIVATE_BYTES)
}

/// Bytes from `at`; what was never written is zero.
fn read_array(array: &[u8], at: usize, out: &mut [u8]) {
    for (i, byte) in out.iter_mut().enumerate() {
        *byte = array.get(at.wrapping_add(i)).copied().unwrap_or(0);
    }
}

/// Stores within the first `limit` bytes; the array grows to that at the first store. Gives the
/// blocks of 16 bytes that were cleared for it.
fn write_array(array: &mut Vec<u8>, limit: usize, at: usize, bytes: &[u8]) -> u64 {
    let grown = limit.saturating_sub(array.len());
    if grown > 0 {
        array.resize(limit, 0);
    }
    write_inside(array, at, bytes);
    grown as u64 / 16
}

/// Stores what is all within the array.
fn write_inside(array: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(to) = at.checked_add(bytes.len()).and_then(|end| array.get_mut(at..end)) {
        to.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests;
