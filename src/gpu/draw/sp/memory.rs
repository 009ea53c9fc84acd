//! Memory that a shader sees: GPU memory, textures, and memory of its group or lanes.

use std::ops::Range;

use crate::budget::Work;
use crate::fault::{Client, Miss};
use crate::memory::Memory;
use a4emu_shader::jit::{Routine, Texels};
use a4emu_shader::{
    Atomic, AtomicPlace, ImageAccess, ImageLayout, LANES, Lanes, Lowered, Mask, MemoryAccess, Plain, Query,
    Reach, Sample, Space, lanes_of,
};

use super::buffer::Buffer;
use super::log::{OutsideInputs, ShaderLog};
use super::state::StageState;
use crate::draw::tpl1::{Answered, BoundBank, DirectReads, FILTERED, TextureBank};
use crate::draw::work::ShaderWork;
use crate::limits::DIRECT_READ_WARPS;

/// Maximum size of workgroup memory in bytes.
const GROUP_BYTES: usize = 64 << 10;
/// Size of private memory of a lane in bytes.
const PRIVATE_BYTES: usize = 16 << 10;
/// Extra accesses charged for a read of missing memory, for its log entry.
const MISS: u64 = 16;
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

/// Access of a worker to GPU memory.
pub enum GpuMemory<'a> {
    /// Shared with other workers. Stores are dropped. Textures are bound once for all workers.
    ReadOnly(&'a Memory, &'a BoundBank<'a>),
    /// Exclusive to one worker.
    ReadWrite(&'a mut Memory),
    /// Exclusive to one worker and discarded after it: an [overlay](Memory::overlay).
    Overlay(Box<Memory>),
}

impl GpuMemory<'_> {
    /// Returns the memory for reads.
    pub fn get(&self) -> &Memory {
        match self {
            Self::ReadOnly(memory, _) => memory,
            Self::ReadWrite(memory) => memory,
            Self::Overlay(memory) => memory,
        }
    }

    /// Returns the memory for writes, if this worker may write.
    fn get_mut(&mut self) -> Option<&mut Memory> {
        match self {
            Self::ReadOnly(..) => None,
            Self::ReadWrite(memory) => Some(memory),
            Self::Overlay(memory) => Some(memory),
        }
    }
}

/// Division of the inputs among lanes. Addresses in each part begin at 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputParts {
    /// Number of consecutive lanes that share a part.
    pub lanes: usize,
    /// Size of a part in bytes.
    pub bytes: usize,
}

/// Memory of a warp apart from GPU memory.
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
    /// Texture slots that were read, one bit each.
    pub(super) used_textures: u128,
    /// Workgroup memory, empty until the first store.
    group: Vec<u8>,
    private: Vec<u8>,
    /// Vertices of the primitives of a hull or geometry shader, which ldlw reads. Empty without primitives.
    pub inputs: Vec<u8>,
    /// Division of the inputs among lanes, unless every lane has all of them.
    pub parts: Option<InputParts>,
    /// Log of reports.
    pub log: ShaderLog,
    /// Work of the current job so far.
    pub(super) work: ShaderWork,
    /// Remaining budget units of the current job.
    left: u64,
}

impl<'a> ShaderMemory<'a> {
    /// Creates memory for a stage.
    pub(super) fn new(gpu: GpuMemory<'a>, stage: &'a StageState) -> Self {
        let (group, private, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (used_textures, left) = (0, u64::MAX);
        let (parts, log, work) = Default::default();
        Self { gpu, stage, used_textures, group, private, inputs, parts, log, work, left }
    }

    /// Returns copies of the memory apart from GPU memory.
    pub(in crate::draw) fn own(&self) -> OwnMemory {
        let (group, private) = (self.group.clone(), self.private.clone());
        OwnMemory { group, private, inputs: self.inputs.clone(), parts: self.parts }
    }

    /// Creates memory for a stage, with `own` memory.
    pub fn with_own(gpu: GpuMemory<'a>, stage: &'a StageState, own: OwnMemory) -> Self {
        let OwnMemory { group, private, inputs, parts } = own;
        Self { group, private, inputs, parts, ..Self::new(gpu, stage) }
    }

    /// Clears private memory that earlier warps of the job wrote.
    pub(in crate::draw) fn clear_private(&mut self) {
        if !self.private.is_empty() {
            self.private.fill(0);
            self.spend_clearing(self.private.len() as u64 / 16);
        }
    }

    /// Begins a job with an allowance of budget units, and clears all memory apart from GPU memory and
    /// inputs.
    pub(super) fn begin_job(&mut self, allowance: u64) {
        self.left = allowance;
        self.clear_group();
        self.private.clear();
    }

    /// Returns the remaining budget units of the job.
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Charges `count` units of this `kind` of work to the counter `noted`.
    #[inline]
    pub(super) fn spend(&mut self, kind: Work, count: u64, noted: impl FnOnce(&mut ShaderWork) -> &mut u64) {
        *noted(&mut self.work) += count;
        self.left = self.left.saturating_sub(count.saturating_mul(kind.price()));
    }

    /// Charges the texels that a request of `lanes` lanes reads.
    #[inline]
    fn spend_texels(&mut self, lanes: u64) {
        let texels = FILTERED * lanes;
        self.spend(Work::Texel, texels, |work| &mut work.texels);
    }

    fn spend_accesses(&mut self, count: u64) {
        self.spend(Work::LaneAccess, count, |work| &mut work.accesses);
    }

    /// Charges attribute elements that were fetched one by one, and missing ones.
    pub fn spend_fetch(&mut self, [apart, missing]: [u64; 2]) {
        self.spend_accesses(apart + MISS * missing);
    }

    /// Charges the clearing of blocks of 16 bytes.
    pub(super) fn spend_clearing(&mut self, blocks: u64) {
        self.spend(Work::Copy16, blocks, |work| &mut work.cleared);
    }

    /// Samples a texture. A job without budget reads zero, as its warp ends soon.
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
        (self.left > price_of_texels(for_code.requests)).then_some(for_code)
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
            GpuMemory::ReadWrite(_) | GpuMemory::Overlay(_) => &[],
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
        self.used_textures |= self.stage.textures.query(request, mask, out);
    }

    /// Charges an access of the lanes of `mask`. Returns false if the budget is used up.
    fn charge(&mut self, mask: Mask) -> bool {
        let allowed = self.left() > 0;
        self.spend_accesses(u64::from(mask.count_ones()));
        allowed
    }

    /// Clears workgroup memory for a new group.
    pub fn clear_group(&mut self) {
        self.spend_clearing(self.group.len() as u64 / 16);
        self.group.fill(0);
    }

    /// Runs ldg, ldl and ldp.
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

    /// Runs stg, stl and stp.
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

    /// Returns a number that differs between lanes with different memory at the same address in `space`.
    fn whose(&self, space: Space, lane: usize) -> usize {
        match space {
            Space::Global | Space::Local => 0,
            Space::Stage => self.part(lane).start,
            Space::Private => lane,
        }
    }

    /// Returns the range of a lane's part of the inputs.
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

    /// Records an access outside a lane's inputs of `size` bytes. It reads zero, and writes nothing (guess
    /// `inputs-outside`).
    fn note_outside(&mut self, lane: usize, address: u32, len: usize, size: usize) {
        let inside = address as usize + len <= size;
        let noted = &mut self.log.outside_inputs;
        if !inside && noted.iter().all(|outside| outside.lane != lane) {
            noted.push(OutsideInputs { stage: self.stage.stage, lane, address, len, size });
        }
    }

    /// Records the guesses that a texture request rests on. Its result reaches `reach`.
    pub(super) fn note_guesses(&mut self, sample: &Sample<&Lanes>, mask: Mask, reach: Reach) {
        let Self { stage, log, .. } = self;
        let rests = log.rests.get_or_insert_default();
        stage.textures.guesses(sample, mask, |guess| rests.add(guess, reach));
    }

    fn read_global(&mut self, client: Client, address: u32, out: &mut [u8]) {
        if !self.gpu.get().read(address, out) {
            self.spend_accesses(MISS);
            self.log.missing.note(Miss { client, address: address.into(), len: out.len() as u32 });
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

    /// Runs ldgb. Lanes outside the buffer read zero.
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

    /// Runs stgb and stib. Lanes outside the buffer store nothing.
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

    /// Runs resinfo.
    pub fn image_size(&self, slot: &Lanes, mask: Mask, out: &mut [Lanes; 4]) {
        for lane in lanes_of(mask) {
            let Some(buffer) = self.stage.buffers.get(slot[lane] as usize) else { continue };
            out.iter_mut().zip(buffer.size).for_each(|(row, size)| row[lane] = size);
        }
    }

    /// Runs atomic.*, lane by lane.
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

/// Returns the index of a lane's private byte.
fn private_at(lane: usize, address: u32) -> usize {
    lane * PRIVATE_BYTES + (address as usize % PRIVATE_BYTES)
}

/// Reads bytes from `at`. Bytes that were never written are zero.
fn read_array(array: &[u8], at: usize, out: &mut [u8]) {
    for (i, byte) in out.iter_mut().enumerate() {
        *byte = array.get(at.wrapping_add(i)).copied().unwrap_or(0);
    }
}

/// Stores bytes within the first `limit` bytes. The first store grows the array to the limit. Returns the
/// number of cleared blocks of 16 bytes.
fn write_array(array: &mut Vec<u8>, limit: usize, at: usize, bytes: &[u8]) -> u64 {
    let grown = limit.saturating_sub(array.len());
    if grown > 0 {
        array.resize(limit, 0);
    }
    write_inside(array, at, bytes);
    grown as u64 / 16
}

/// Stores bytes if they are all within the array.
fn write_inside(array: &mut [u8], at: usize, bytes: &[u8]) {
    if let Some(to) = at.checked_add(bytes.len()).and_then(|end| array.get_mut(at..end)) {
        to.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests;
