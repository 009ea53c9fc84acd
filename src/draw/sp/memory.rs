//! A shader stage of a draw: program, constants, descriptors, and the memory it sees.

use std::sync::Arc;

use a4emu_decoder::regs::tex::{SSBO_1_0, SSBO_1_1};
use a4emu_decoder::regs::tpl1::*;

use crate::fault::{Client, Fault, Miss};
use crate::format::{Codec, Format, Transfer};
use crate::gpu::{Gpu, SsboState, Stage};
use crate::memory::Memory;
use crate::shader::{
    Atomic, AtomicPlace, Environment, ImageAccess, ImageLayout, Lanes, Mask, MemoryAccess, Op, Outcome,
    Program, Refused, Sample, ShaderFault, Space, Summary, Varying, Warp, lanes_of, run,
};

use crate::draw::sp::log::{Reports, Stray};
use crate::draw::sp::programs::Loaded;
use crate::draw::tpl1::{BoundBank, TextureBank};
use crate::draw::vpc::interpolate::WarpQuads;

/// First vec4 of the constant file that mirrors SSBO descriptors.
const SSBO_MIRROR: usize = 448;

/// Bytes of work-group and of per-lane memory that a shader can have.
const LOCAL_BYTES: usize = 64 << 10;
/// Bytes of private memory of a lane.
const PRIVATE_BYTES: usize = 16 << 10;

/// What a stage runs with, the same for all of a draw.
pub struct StageState {
    /// Which stage.
    pub stage: Stage,
    /// The program.
    pub program: Arc<Program>,
    /// What the program can do.
    pub summary: Summary,
    /// Textures and samplers.
    pub textures: TextureBank,
    /// The constant file, with the SSBO mirror in place.
    pub constants: Vec<u32>,
    /// Storage buffers and images.
    pub buffers: Vec<Buffer>,
}

/// What SSBO_1 says about a storage buffer or image.
#[derive(Clone, Copy, Debug)]
pub struct Buffer {
    size: (SSBO_1_0, SSBO_1_1),
    codec: Option<Codec>,
}

impl StageState {
    /// Takes the program, constants and descriptors of `stage`.
    ///
    /// # Errors
    /// A fault when there is no program.
    pub fn snapshot(gpu: &mut Gpu, stage: Stage) -> Result<Self, Fault> {
        let Loaded { program, summary } = crate::draw::sp::programs::load(gpu, stage)?;
        let ssbo = gpu.loaded.ssbo(stage);
        let mut constants = bytemuck::cast_slice(&gpu.loaded.stage(stage).constants).to_vec();
        mirror(ssbo, &mut constants);
        let buffers = ssbo.sizes.iter().map(|words| Buffer::new(*words)).collect();
        let textures = if summary.samples { textures(gpu, stage) } else { TextureBank::default() };
        Ok(Self { stage, program, summary, textures, constants, buffers })
    }

    /// Whether it writes memory, so that warps must run in order.
    pub fn stores(&self) -> bool {
        self.summary.stores
    }

    /// Whether its results depend on memory other than attributes.
    pub fn reads_memory(&self) -> bool {
        self.summary.loads || self.summary.samples || self.summary.stores
    }

    /// Whether it discards lanes.
    pub fn kills(&self) -> bool {
        self.summary.kills
    }

    /// Whether its outputs are the same whenever its input registers are.
    pub fn is_uniform(&self) -> bool {
        !self.summary.varies && !self.summary.stores && !self.summary.kills
    }
}

/// The textures of a stage, without the empty slots at the end.
fn textures(gpu: &Gpu, stage: Stage) -> TextureBank {
    let border = match stage {
        Stage::VS => gpu.regs.get::<TPL1_TP_VS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::HS => gpu.regs.get::<TPL1_TP_HS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::DS => gpu.regs.get::<TPL1_TP_DS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::GS => gpu.regs.get::<TPL1_TP_GS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::FS => gpu.regs.get::<TPL1_TP_FS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::CS => gpu.regs.get::<TPL1_TP_CS_BORDER_COLOR_BASE_ADDR>().VALUE(),
    };
    let loaded = gpu.loaded.stage(stage);
    let textures = loaded.textures.iter().rposition(|d| *d != [0; 8]).map_or(0, |last| last + 1);
    let samplers = loaded.samplers.iter().rposition(|d| *d != [0; 2]).map_or(0, |last| last + 1);
    TextureBank::new(&loaded.textures[..textures], &loaded.samplers[..samplers], border, &gpu.mem)
}

/// Constants from c448 on read the SSBO descriptors (ir3-isa page, section 9.3).
fn mirror(ssbo: &SsboState, constants: &mut Vec<u32>) {
    let used = ssbo.descriptors.iter().rposition(|d| *d != [0; 4]).map_or(0, |last| last + 1);
    let end = 4 * (SSBO_MIRROR + used);
    if used > 0 && constants.len() < end {
        constants.resize(end, 0);
    }
    for (i, descriptor) in ssbo.descriptors[..used].iter().enumerate() {
        constants[4 * (SSBO_MIRROR + i)..][..4].copy_from_slice(descriptor);
    }
}

impl Buffer {
    fn new(words: [u32; 2]) -> Self {
        let size = (SSBO_1_0(words[0]), SSBO_1_1(words[1]));
        let codec = Format::color(size.0.FMT())
            .and_then(|format| format.codec(a4emu_decoder::regs::enums::ColorSwap::WZYX, Transfer::Linear));
        Self { size, codec }
    }

    /// Elements of a buffer: 32 bits in two halves.
    fn elements(&self) -> u32 {
        self.size.0.WIDTH() | self.size.1.HEIGHT() << 16
    }

    /// Whether `position` lies inside. A buffer image says its size like a buffer.
    fn contains(&self, request: &ImageAccess<&Lanes>, lane: usize) -> bool {
        let at = request.position.map(|p| p[lane]);
        match (request.layout, request.dimensions) {
            (ImageLayout::Untyped, _) | (_, 1) => at[0] < self.elements(),
            (ImageLayout::Typed, 2) => at[0] < self.size.0.WIDTH() && at[1] < self.size.1.HEIGHT(),
            (ImageLayout::Typed, _) => {
                at[0] < self.size.0.WIDTH()
                    && at[1] < self.size.1.HEIGHT()
                    && at[2] < self.size.1.DEPTH().max(1)
            }
        }
    }
}

/// Memory, shared with other workers or for this one alone.
pub enum Port<'a> {
    /// Loads only: stores are dropped.
    Shared(&'a Memory),
    /// Loads and stores.
    Exclusive(&'a mut Memory),
}

impl Port<'_> {
    /// To read from.
    pub fn memory(&self) -> &Memory {
        match self {
            Self::Shared(memory) => memory,
            Self::Exclusive(memory) => memory,
        }
    }
}

/// The memory side of a shader's environment.
pub struct Access<'a> {
    /// GPU memory.
    pub port: Port<'a>,
    stage: &'a StageState,
    /// Texels, looked up once: only while nobody writes.
    bound: Option<BoundBank<'a>>,
    used: u128,
    local: Vec<u8>,
    private: Vec<u8>,
    /// The local vertex buffer, which ldlw reads: as long as there are primitives in it.
    pub vertices: Vec<u8>,
    /// What is to be reported.
    pub reports: Reports,
}

impl<'a> Access<'a> {
    /// For a stage.
    pub fn new(port: Port<'a>, stage: &'a StageState) -> Self {
        let bound = match &port {
            Port::Shared(memory) => Some(stage.textures.bind(memory)),
            Port::Exclusive(_) => None,
        };
        let (local, private, vertices) = (Vec::new(), Vec::new(), Vec::new());
        Self { port, stage, bound, used: 0, local, private, vertices, reports: Reports::default() }
    }

    /// Runs a warp of the stage to its end, and counts it. At barriers it goes on: what the
    /// invocations of a patch wait for is in the same warp. Gives why it gave up, if it did.
    pub fn run(&mut self, warp: &mut Warp, pieces: Option<&WarpQuads<'_>>) -> Option<ShaderFault> {
        let program = &self.stage.program;
        let mut environment = StageEnvironment { access: self, pieces };
        let fault = loop {
            match run(program, warp, &mut environment) {
                Outcome::Ended => break None,
                Outcome::Barrier => {}
                Outcome::Fault(fault) => break Some(fault),
            }
        };
        self.reports.warps += 1;
        self.reports.instructions += warp.executed();
        fault
    }

    /// What was reported, textures included.
    pub fn finish(mut self) -> Reports {
        let stage = self.stage;
        let bound = self.bound.take();
        let problems = match (&bound, self.used) {
            (_, 0) => return self.reports,
            (Some(bound), used) => bound.problems(used),
            (None, used) => stage.textures.bind(self.port.memory()).problems(used),
        };
        self.reports.misses.extend(problems.missing);
        for (slot, error) in problems.unsupported {
            self.reports.unsupported.push(format!("{:?} texture {slot}: {error}", stage.stage));
        }
        self.reports
    }

    fn sample(&mut self, request: &Sample<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) {
        self.used |= match &self.bound {
            Some(bound) => bound.sample(request, mask, out),
            None => self.stage.textures.sample(self.port.memory(), request, mask, out),
        };
    }

    /// Forgets work-group memory: a new group begins.
    pub fn clear_local(&mut self) {
        self.local.fill(0);
    }

    /// ldg, ldl, ldp.
    pub fn load(&mut self, request: &MemoryAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
        let width = request.width.bytes() as usize;
        let mut bytes = [0; 16];
        let mut previous = None;
        for lane in lanes_of(mask) {
            let address = request.address(lane);
            if previous != Some(address) || request.space == Space::Private {
                self.read(request.space, lane, address, &mut bytes[..width * out.len()]);
                previous = Some(address);
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
            Space::Local => read_array(&self.local, address as usize, out),
            Space::Stage => {
                self.note_stray(lane, address, out.len());
                read_array(&self.vertices, address as usize, out);
            }
            Space::Private => read_array(&self.private, private_at(lane, address), out),
        }
    }

    /// Notes an access that the local vertex buffer does not hold. It reads zero (guess:
    /// what lies there on the chip is whatever was there before).
    fn note_stray(&mut self, lane: usize, address: u32, len: usize) {
        let size = self.vertices.len();
        let inside = address as usize + len <= size;
        if !inside && self.reports.strays.iter().all(|stray| stray.lane != lane) {
            self.reports.strays.push(Stray { stage: self.stage.stage, lane, address, len, size });
        }
    }

    fn read_global(&mut self, client: Client, address: u32, out: &mut [u8]) {
        if !self.port.memory().read(address, out) {
            self.reports.misses.push(Miss { client, address, len: out.len() as u32 });
        }
    }

    fn write(&mut self, space: Space, lane: usize, address: u32, bytes: &[u8]) {
        match space {
            Space::Global => self.write_global(address, bytes),
            Space::Local => write_array(&mut self.local, LOCAL_BYTES, address as usize, bytes),
            Space::Stage => {
                self.note_stray(lane, address, bytes.len());
                write_array(&mut self.vertices, 0, address as usize, bytes);
            }
            Space::Private => {
                let limit = PRIVATE_BYTES * crate::shader::LANES;
                write_array(&mut self.private, limit, private_at(lane, address), bytes);
            }
        }
    }

    fn write_global(&mut self, address: u32, bytes: &[u8]) {
        if let Port::Exclusive(memory) = &mut self.port
            && !memory.write(address, bytes)
            && self.reports.lost.len() < 64
        {
            self.reports.lost.push(address - address % crate::memory::PAGE);
        }
    }

    fn buffer(&self, request: &ImageAccess<&Lanes>, lane: usize) -> Option<Buffer> {
        let buffer = self.stage.buffers.get(request.slot[lane] as usize)?;
        buffer.contains(request, lane).then_some(*buffer)
    }

    /// ldgb. Outside the buffer reads zero.
    pub fn image_load(&mut self, request: &ImageAccess<&Lanes>, mask: Mask, out: &mut [Lanes]) {
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
            out[0][lane] = buffer.size.0.WIDTH();
            out[1][lane] = buffer.size.1.HEIGHT();
            out[2][lane] = buffer.size.1.DEPTH();
        }
    }

    /// atomic.*, lane by lane.
    pub fn atomic(&mut self, request: &Atomic<&Lanes>, mask: Mask, old: &mut Lanes) {
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

/// What a shader of any stage sees. Fragments have pieces of primitives as well.
pub struct StageEnvironment<'e, 'q, 'a> {
    /// Memory and textures.
    pub access: &'e mut Access<'a>,
    /// Where varyings come from.
    pub pieces: Option<&'e WarpQuads<'q>>,
}

impl Environment for StageEnvironment<'_, '_, '_> {
    fn perform(&mut self, op: &Op<&Lanes>, mask: Mask, out: &mut [Lanes; 4]) -> Result<(), Refused> {
        let access = &mut *self.access;
        match op {
            Op::Load { from, components } => access.load(from, mask, &mut out[..*components]),
            Op::Store { to, data } => access.store(to, mask, data),
            Op::ImageLoad { from, components } => access.image_load(from, mask, &mut out[..*components]),
            Op::ImageStore { to, data } => access.image_store(to, mask, data),
            Op::ImageSize { slot } => access.image_size(slot, mask, out),
            Op::Atomic(atomic) => access.atomic(atomic, mask, &mut out[0]),
            Op::Sample(sample) => access.sample(sample, mask, out),
            Op::Query(query) => access.used |= access.stage.textures.query(query, mask, out),
            Op::Varying(varying) => interpolate(self.pieces.ok_or(Refused)?, varying, mask, &mut out[0]),
            Op::FlatVarying { location, components } => {
                let pieces = self.pieces.ok_or(Refused)?;
                for (c, row) in out[..*components].iter_mut().enumerate() {
                    pieces.provoking(*location as usize + c, row);
                    pieces.replace(*location as usize + c, row);
                }
            }
        }
        Ok(())
    }
}

/// bary.f.
fn interpolate(pieces: &WarpQuads<'_>, varying: &Varying<&Lanes>, mask: Mask, out: &mut Lanes) {
    let location = varying.location[0];
    if varying.location.iter().all(|l| *l == location) {
        return pieces.varying(location as usize, varying.i, varying.j, out);
    }
    for lane in lanes_of(mask) {
        let mut all = Lanes::ZERO;
        pieces.varying(varying.location[lane] as usize, varying.i, varying.j, &mut all);
        out[lane] = all[lane];
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

/// Stores within the first `limit` bytes; the array grows to that at the first store.
fn write_array(array: &mut Vec<u8>, limit: usize, at: usize, bytes: &[u8]) {
    if array.len() < limit {
        array.resize(limit, 0);
    }
    if let Some(to) = at.checked_add(bytes.len()).and_then(|end| array.get_mut(at..end)) {
        to.copy_from_slice(bytes);
    }
}

#[cfg(test)]
mod tests;
