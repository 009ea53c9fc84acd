//! Memory that a shader sees: GPU memory, textures, and memory of its group or lanes.

use std::ops::Range;

use a4emu_decoder::adreno::address::Address;

use crate::budget::Work;
use crate::fault::{Client, Miss};
use crate::machine::Stage;
use crate::memory::{Memory, little_endian};
use a4emu_shader::{
    Atomic, AtomicPlace, ImageAccess, ImageLayout, LANES, Lanes, Mask, MemoryAccess, Space, UniformLoad,
    Width, lanes_of,
};

use super::buffer::Buffer;
use super::descriptors::DescriptorPlaces;
use super::journal::Journal;
use super::load::{self, FoundBuffers};
use super::log::{OutsideInputs, ShaderLog};
use super::state::StageState;
use super::stores::{LaneStore, LaneStores};
use crate::draw::tpl1::BoundBank;
use crate::draw::work::ShaderWork;

/// Maximum size of workgroup memory in bytes.
const GROUP_BYTES: usize = 64 << 10;
/// Size of private memory of a lane in bytes, on chips whose registers do not say it.
pub const PRIVATE_BYTES: usize = 16 << 10;
/// Extra accesses charged for a read of missing memory, for its log entry.
const MISS: u64 = 16;
/// Access of a worker to GPU memory.
pub enum GpuMemory<'a> {
    /// Shared with other workers. Stores are dropped. Textures are bound once for all workers.
    ReadOnly(&'a Memory, &'a BoundBank<'a>),
    /// Exclusive to one worker.
    ReadWrite(&'a mut Memory),
    /// Exclusive to one worker and discarded after it: an [overlay](Memory::overlay).
    Overlay(Box<Memory>),
    /// Shared with other workers. Stores go to the journal.
    Journaled(&'a Memory, Box<Journal>),
}

impl GpuMemory<'_> {
    /// Returns the memory for reads.
    pub fn get(&self) -> &Memory {
        match self {
            Self::ReadOnly(memory, _) => memory,
            Self::ReadWrite(memory) => memory,
            Self::Overlay(memory) => memory,
            Self::Journaled(memory, _) => memory,
        }
    }

    /// Notes a read of `len` bytes, if that matters.
    fn note_read(&mut self, address: u64, len: usize) {
        if let Self::Journaled(memory, journal) = self {
            journal.note_read(memory, address, len);
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
    pub(super) stage: &'a StageState,
    /// Texture slots that were read, one bit each.
    pub(super) used_textures: u128,
    /// Workgroup memory, empty until the first store.
    group: Vec<u8>,
    private: Vec<u8>,
    /// Vertices of the primitives of a hull or geometry shader, which ldlw reads. Empty without primitives.
    pub inputs: Vec<u8>,
    /// Division of the inputs among lanes, unless every lane has all of them.
    pub parts: Option<InputParts>,
    /// The stores of each lane to GPU memory, if they are recorded.
    pub stores: Option<LaneStores>,
    /// Log of reports.
    pub log: ShaderLog,
    /// Work of the current job so far.
    pub(super) work: ShaderWork,
    /// Remaining budget units of the current job.
    left: u64,
    /// Descriptors in memory that were read: bindless base and slot of each.
    described: Vec<(DescriptorKey, Option<Buffer>)>,
    /// Buffers that loads found.
    found: FoundBuffers,
    /// Whether the log has the buffers that are used.
    notes_buffers: bool,
}

/// The bindless base and the slot of a descriptor.
type DescriptorKey = (Option<u8>, u32);

/// Most descriptors whose contents are kept.
const DESCRIBED: usize = 64;

impl<'a> ShaderMemory<'a> {
    /// Creates memory for a stage.
    pub(super) fn new(gpu: GpuMemory<'a>, stage: &'a StageState) -> Self {
        let (group, private, inputs) = (Vec::new(), Vec::new(), Vec::new());
        let (used_textures, left) = (0, u64::MAX);
        let (parts, stores, log, work, described, found) = Default::default();
        let notes_buffers = matches!(stage.stage, Stage::HS | Stage::DS);
        Self {
            gpu,
            stage,
            used_textures,
            group,
            private,
            inputs,
            parts,
            stores,
            log,
            work,
            left,
            described,
            found,
            notes_buffers,
        }
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

    /// Exchanges the private memory with that of another warp of the group.
    pub(in crate::draw) fn swap_private(&mut self, other: &mut Vec<u8>) {
        std::mem::swap(&mut self.private, other);
    }

    /// Returns the index of a lane's private byte.
    fn private_at(&self, lane: usize, address: u32) -> usize {
        let size = self.stage.private_bytes;
        lane * size + address as usize % size
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
        self.group.clear();
        self.private.clear();
    }

    /// Lets the rest of the job cost `units`.
    pub(super) fn allow(&mut self, units: u64) {
        self.left = units;
    }

    /// Returns the journal.
    pub(super) fn journal(&mut self) -> Option<&mut Journal> {
        match &mut self.gpu {
            GpuMemory::Journaled(_, journal) => Some(journal),
            GpuMemory::ReadOnly(..) | GpuMemory::ReadWrite(_) | GpuMemory::Overlay(_) => None,
        }
    }

    /// Returns the journal, and begins another, which has to note each descriptor itself.
    pub(super) fn take_journal(&mut self) -> Journal {
        self.described.clear();
        self.journal().map(std::mem::take).unwrap_or_default()
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

    pub(super) fn spend_accesses(&mut self, count: u64) {
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

    /// Charges an access of the lanes of `mask`. Returns false if the budget is used up.
    fn charge(&mut self, mask: Mask) -> bool {
        let allowed = self.left() > 0;
        self.spend_accesses(u64::from(mask.count_ones()));
        allowed
    }

    /// Runs ldg, ldl and ldp.
    pub fn load(&mut self, request: &MemoryAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        if request.space == Space::Global
            && let Some(base) = self.load_from_buffer(request, mask, out)
        {
            if self.notes_buffers {
                self.log.buffers.note_read_of(base);
            }
            return self.journal().into_iter().for_each(|journal| journal.note_read_of(base));
        }
        if (request.space, request.width) == (Space::Stage, Width::Word)
            && load::load_inputs(&self.inputs, self.parts, request, mask, out)
        {
            return;
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

    /// Runs a load from global memory, if all lanes of `mask` read the same buffer. Returns its base address. Returns `None`,
    /// and does nothing, if they do not. Other lanes of `out` are overwritten.
    fn load_from_buffer(
        &mut self,
        request: &MemoryAccess<&Lanes>,
        mask: Mask,
        out: &mut [Lanes],
    ) -> Option<u64> {
        let first = request.address(mask.trailing_zeros() as usize % LANES);
        let buffer = self.found.at(self.gpu.get(), first)?;
        load::load(buffer, request, mask, out).then_some(buffer.0)
    }

    /// Runs stg, stl and stp.
    pub fn store(&mut self, request: &MemoryAccess<&Lanes>, mask: Mask, values: &[&Lanes]) {
        if !self.charge(mask) {
            return;
        }
        if request.space == Space::Global
            && let Some(stores) = &mut self.stores
        {
            for lane in lanes_of(mask) {
                let mut words = [0; 4];
                words.iter_mut().zip(values).for_each(|(word, row)| *word = row[lane]);
                let address = Address::new(request.address(lane));
                stores.add(LaneStore { lane, address, values: words, count: values.len() });
            }
        }
        let width = request.width.bytes() as usize;
        let size = width * values.len();
        // Bytes of lanes whose places follow each other are stored together.
        let (mut run, mut len, mut start, mut first) = ([0; 16 * LANES], 0, 0u64, 0);
        for lane in lanes_of(mask) {
            let address = request.address(lane);
            let follows = request.space == Space::Global && address == start.wrapping_add(len as u64);
            if len > 0 && !follows {
                self.write(request.space, first, start, &run[..len]);
                len = 0;
            }
            if len == 0 {
                (start, first) = (address, lane);
            }
            for (to, row) in run[len..len + size].chunks_exact_mut(width).zip(values) {
                to.copy_from_slice(&row[lane].to_le_bytes()[..width]);
            }
            len += size;
        }
        if len > 0 {
            self.write(request.space, first, start, &run[..len]);
        }
    }

    fn read(&mut self, space: Space, lane: usize, address: u64, out: &mut [u8]) {
        // Addresses of the other spaces have 32 bits.
        let within = address as u32;
        match space {
            Space::Global => self.read_global(Client::Global, address, out),
            Space::Local => read_array(&self.group, within as usize, out),
            Space::Stage => {
                let part = self.part(lane);
                self.note_outside(lane, within, out.len(), part.len());
                read_array(&self.inputs[part], within as usize, out);
            }
            Space::Private => read_array(&self.private, self.private_at(lane, within), out),
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

    /// Makes the stores of a journal count for nothing, and ends the job: it has to run in order.
    pub(super) fn give_up_journal(&mut self) {
        if let GpuMemory::Journaled(_, journal) = &mut self.gpu {
            journal.give_up();
            self.left = 0;
        }
    }

    fn read_global(&mut self, client: Client, address: u64, out: &mut [u8]) {
        self.gpu.note_read(address, out.len());
        if self.notes_buffers {
            self.log.buffers.note_read(self.gpu.get(), address, out.len());
        }
        let address = Address::new(address);
        if !self.gpu.get().read(address, out) {
            self.spend_accesses(MISS);
            self.log.missing.note(Miss { client, address, len: out.len() as u32 });
        }
    }

    fn write(&mut self, space: Space, lane: usize, address: u64, bytes: &[u8]) {
        let within = address as u32;
        match space {
            Space::Global => self.write_global(address, bytes),
            Space::Local => {
                let cleared = write_array(&mut self.group, GROUP_BYTES, within as usize, bytes);
                self.spend_clearing(cleared);
            }
            Space::Stage => {
                let part = self.part(lane);
                self.note_outside(lane, within, bytes.len(), part.len());
                write_inside(&mut self.inputs[part], within as usize, bytes);
            }
            Space::Private => {
                let (limit, at) = (self.stage.private_bytes * LANES, self.private_at(lane, within));
                let cleared = write_array(&mut self.private, limit, at, bytes);
                self.spend_clearing(cleared);
            }
        }
    }

    fn write_global(&mut self, address: u64, bytes: &[u8]) {
        if self.notes_buffers {
            self.log.buffers.note_store(self.gpu.get(), address, bytes.len());
        }
        match &mut self.gpu {
            GpuMemory::ReadOnly(..) => {}
            GpuMemory::ReadWrite(memory) => self.log.store(memory, address, bytes),
            GpuMemory::Overlay(memory) => self.log.store(memory, address, bytes),
            GpuMemory::Journaled(memory, journal) => journal.store(memory, address, bytes),
        }
    }

    /// Notes a read of descriptor `slot`, or of the one behind a bindless base.
    pub(super) fn note_descriptor(&mut self, places: &DescriptorPlaces, base: Option<u8>, slot: u32) {
        if let Some(address) = places.descriptor(self.gpu.get(), base, slot) {
            self.gpu.note_read(address.get(), 1);
        }
    }

    /// Returns the buffer or image in `slot`, or behind a bindless base. The access pays for it: which descriptors are known
    /// already depends on the worker.
    fn described(&mut self, base: Option<u8>, slot: u32) -> Option<Buffer> {
        let Some(places) = &self.stage.descriptors else {
            return self.stage.buffers.get(slot as usize).copied();
        };
        let key = (base, slot);
        if let Some((_, buffer)) = self.described.iter().find(|(known, _)| *known == key) {
            return *buffer;
        }
        let buffer = match places.buffer(self.gpu.get(), base, slot) {
            Some(Err(error)) => {
                self.log.refuse(format!("{:?} image {slot}: {error}", self.stage.stage));
                None
            }
            buffer => buffer.and_then(Result::ok),
        };
        self.note_descriptor(places, base, slot);
        if self.described.len() == DESCRIBED {
            self.described.clear();
        }
        self.described.push((key, buffer));
        buffer
    }

    /// Returns the buffer of an access, and the address of its element, if that lies inside.
    fn buffer(&mut self, request: &ImageAccess<&Lanes>, lane: usize) -> Option<(Buffer, u64)> {
        let buffer = self.described(request.base, request.slot[lane])?;
        Some((buffer, buffer.address(request, lane)?))
    }

    /// Runs ldc. Vectors outside the block read zero.
    pub fn uniform_load(&mut self, request: &UniformLoad<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        let Some(places) = &self.stage.descriptors else { return out.fill(Lanes::ZERO) };
        let mut known: Option<(u32, Option<(Address, u64)>)> = None;
        for lane in lanes_of(mask) {
            let slot = request.block[lane];
            let block = match known {
                Some((of, block)) if of == slot => block,
                _ => {
                    self.note_descriptor(places, request.base, slot);
                    places.uniform(self.gpu.get(), request.base, slot)
                }
            };
            known = Some((slot, block));
            let mut bytes = [0; 16];
            let at = 16 * u64::from(request.vector[lane]) + 4 * u64::from(request.component);
            if let Some((start, size)) = block
                && at < size
            {
                let address = self.gpu.get().behind(start, at).get();
                self.read_global(Client::Constants, address, &mut bytes[..4 * out.len().min(4)]);
            }
            for (row, word) in out.iter_mut().zip(bytes.chunks_exact(4)) {
                row[lane] = u32::from_le_bytes(std::array::from_fn(|byte| word[byte]));
            }
        }
    }

    /// Runs ldgb. Lanes outside the buffer read zero.
    pub fn image_load(&mut self, request: &ImageAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        for lane in lanes_of(mask) {
            let mut bytes = [0; 16];
            let described = self.described(request.base, request.slot[lane]);
            let address = described.and_then(|buffer| buffer.address(request, lane));
            // Outside of an image that has a place, components that its format lacks are 1 as well (dEQP-VK.robustness).
            let known = described.filter(|buffer| buffer.place.is_some() || address.is_some());
            let codec =
                known.and_then(|buffer| buffer.codec).filter(|_| request.layout == ImageLayout::Typed);
            let width = request.width.bytes() as usize;
            let components = known.map_or(0, |buffer| buffer.components(request, lane)).min(out.len().min(4));
            let len = codec.as_ref().map_or(width * components, |codec| codec.bytes() as usize);
            if let Some(address) = address {
                self.read_global(Client::Ssbo, address, &mut bytes[..len]);
            }
            let values = match codec {
                Some(codec) => codec.decode(codec.load(&bytes)),
                None => std::array::from_fn(|i| little_endian(&bytes[width * i..][..width])),
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
            let Some((buffer, address)) = self.buffer(request, lane) else { continue };
            let lanes: [u32; 4] = std::array::from_fn(|i| values.get(i).map_or(0, |row| row[lane]));
            let mut bytes = [0; 16];
            let len = match (request.layout, buffer.codec) {
                (ImageLayout::Typed, Some(codec)) => {
                    codec.store(codec.encode(lanes), &mut bytes);
                    codec.bytes() as usize
                }
                _ => {
                    let width = request.width.bytes() as usize;
                    bytes
                        .chunks_exact_mut(width)
                        .zip(lanes)
                        .for_each(|(to, v)| to.copy_from_slice(&v.to_le_bytes()[..width]));
                    width * buffer.components(request, lane).min(values.len().min(4))
                }
            };
            self.write_global(address, &bytes[..len]);
        }
    }

    /// Runs resinfo.
    pub fn image_size(
        &mut self,
        (base, slot): (Option<u8>, &Lanes),
        dimensions: u8,
        mask: Mask,
        out: &mut [Lanes; 4],
    ) {
        if !self.charge(mask) {
            return out.fill(Lanes::ZERO);
        }
        for lane in lanes_of(mask) {
            let Some(buffer) = self.described(base, slot[lane]) else { continue };
            let size = match buffer.place {
                Some(_) if dimensions == 1 || dimensions == 4 => [buffer.elements, 1, 1],
                _ => buffer.size,
            };
            out.iter_mut().zip(size).for_each(|(row, size)| row[lane] = size);
        }
    }

    /// Runs atomic.*, lane by lane.
    pub fn atomic(&mut self, request: &Atomic<&Lanes>, mask: Mask, old: &mut Lanes) {
        if !self.charge(mask) {
            return *old = Lanes::ZERO;
        }
        if !matches!(request.place, AtomicPlace::Local(_)) {
            self.give_up_journal();
        }
        match &request.place {
            AtomicPlace::Local(address) => {
                for lane in lanes_of(mask) {
                    let mut bytes = [0; 4];
                    self.read(Space::Local, lane, address[lane].into(), &mut bytes);
                    old[lane] = u32::from_le_bytes(bytes);
                    let new = request.apply(lane, old[lane]);
                    self.write(Space::Local, lane, address[lane].into(), &new.to_le_bytes());
                }
            }
            AtomicPlace::Global([low, high]) => {
                for lane in lanes_of(mask) {
                    let address = u64::from(high[lane]) << 32 | u64::from(low[lane]);
                    self.atomic_at(Client::Global, address, request, lane, old);
                }
            }
            AtomicPlace::Image(image) => {
                for lane in lanes_of(mask) {
                    old[lane] = 0;
                    if let Some((_, address)) = self.buffer(image, lane) {
                        self.atomic_at(Client::Ssbo, address, request, lane, old);
                    }
                }
            }
        }
    }

    /// Runs an atomic of one lane on the dword at `address`.
    fn atomic_at(
        &mut self,
        client: Client,
        address: u64,
        request: &Atomic<&Lanes>,
        lane: usize,
        old: &mut Lanes,
    ) {
        let mut bytes = [0; 4];
        self.read_global(client, address, &mut bytes);
        old[lane] = u32::from_le_bytes(bytes);
        let new = request.apply(lane, old[lane]);
        self.write_global(address, &new.to_le_bytes());
    }
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
