//! The observer that makes records of a replay.

use std::collections::BTreeMap;

use a4emu_decoder::adreno::load_state::{Pipe, StateKind};

use super::hash::hash_words;
use super::{LoadRecord, Record, State, StateHash};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::draw::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::regfile::RegSet;
use a4emu_gpu::settled::Running;

/// A receiver of records.
pub trait Sink {
    /// Takes the next record of a replay on `gpu`.
    fn record(&mut self, gpu: &Gpu, record: Record);
}

impl Sink for State {
    fn record(&mut self, gpu: &Gpu, record: Record) {
        self.chip = gpu.chip;
        if gpu.budget.keep(record.bytes()) {
            self.records.push(record);
        }
    }
}

impl Record {
    /// Rough size in memory, in bytes.
    fn bytes(&self) -> u64 {
        let loads = self.loads.len() * (size_of::<LoadRecord>() + 32);
        (size_of::<Self>() + self.call.len() + 8 * self.registers.len() + loads) as u64
    }

    /// Charges the cost of hashing the loads and of writing the lines.
    fn pay(&self, budget: &Budget) {
        let (registers, loads) = (self.registers.len() as u64, self.loads.len() as u64);
        budget.observe(Work::Text16, 12 + 5 * registers + 4 * loads);
        budget.observe(Work::Copy16, HASHED * loads);
    }
}

/// Hashed bytes of loaded state per load, in blocks of 16 bytes (a rough value).
const HASHED: u64 = 1 << 11;

/// An observer that turns a replay into [`Record`]s and passes each to a sink.
pub struct Recorder<S> {
    sink: S,
    /// Values at the last record; `None` for unwritten registers.
    before: Vec<Option<u32>>,
    /// Registers written since the last record.
    touched: RegSet,
    loads: BTreeMap<(String, u32), LoadRecord>,
    hash: StateHash,
}

impl<S: Sink> Recorder<S> {
    /// Makes a recorder that passes each record to `sink`.
    pub fn new(sink: S) -> Self {
        Self {
            sink,
            before: Vec::new(),
            touched: RegSet::default(),
            loads: BTreeMap::new(),
            hash: StateHash::default(),
        }
    }

    /// Adds the record of all writes after the last draw. Returns the sink.
    pub fn end(mut self, gpu: &Gpu) -> S {
        let (number, frame_draw, submit) = (gpu.at.draws, gpu.at.frame_draw, gpu.at.submit);
        self.record(gpu, Record { number, frame_draw, submit, call: "end".to_owned(), ..Record::default() });
        self.sink
    }

    /// Completes `record` with the current state.
    fn record(&mut self, gpu: &Gpu, mut record: Record) {
        self.before.resize(gpu.regs.count(), None);
        for offset in std::mem::take(&mut self.touched).iter() {
            let (old, new) = (self.before[offset as usize], gpu.regs.read(offset));
            record.written += 1;
            if old != Some(new) {
                self.hash.register(offset, old, new);
                self.before[offset as usize] = Some(new);
                record.registers.push((offset, new));
            }
        }
        record.loads = std::mem::take(&mut self.loads).into_values().collect();
        record.hash = self.hash.finish(gpu);
        record.pay(&gpu.budget);
        self.sink.record(gpu, record);
    }
}

impl<S: Sink> Observer for Recorder<S> {
    fn register(&mut self, _: &mut Running<'_>, offset: u32, _: Option<u32>) {
        self.touched.insert(offset);
    }

    fn load(&mut self, _: &mut Running<'_>, load: Load<'_>) {
        self.hash.loaded(load.kind);
        let kind = kind_name(load.kind);
        let (first, dwords) = (load.first, load.data.len() as u32);
        let hash = hash_words(load.data.iter().copied());
        self.loads.insert((kind.clone(), first), LoadRecord { kind, first, dwords, hash });
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let record = Record {
            number: call.number(),
            frame_draw: call.frame_draw(),
            submit: call.submit(),
            call: call_text(call),
            ..Record::default()
        };
        self.record(gpu, record);
        Flow::Continue
    }
}

/// A description of the call: pass, primitive, counts and indices, or the groups of a dispatch; of a blit, its pass and packet.
pub fn call_text(call: &Call) -> String {
    match call {
        Call::Draw(call) => draw_text(call),
        Call::Dispatch(call) => dispatch_text(call),
        Call::Uncounted(UncountedDraw { packet, pass, .. }) => format!("{pass} {packet}"),
        Call::Blit(call) => {
            call.pass.map_or_else(|| call.name().to_owned(), |pass| format!("{pass} {}", call.name()))
        }
    }
}

fn draw_text(call: &DrawCall) -> String {
    let primitive = format!("{:?}", call.topology);
    let primitive = primitive.strip_prefix("DI_PT_").unwrap_or(&primitive);
    let mut text = format!("{} {primitive} count {} instances {}", call.pass, call.count, call.instances);
    text += &match &call.indices {
        IndexSource::Auto => " auto".to_owned(),
        IndexSource::Immediate(indices) => format!(" inline {}", indices.len()),
        IndexSource::Memory { base, size, width, first } => {
            format!(" indices {base} bytes {size} width {width} first {first}")
        }
    };
    if let (Some(vertex), Some(instance)) = (call.base_vertex, call.first_instance) {
        text += &format!(" base {} instance {instance}", vertex.cast_signed());
    }
    text
}

fn dispatch_text(call: &DispatchCall) -> String {
    let [x, y, z] = call.groups;
    let local = call.local_size.map_or(String::new(), |[x, y, z]| format!(" local {x} {y} {z}"));
    format!("compute groups {x} {y} {z}{local}")
}

/// The name of the state that a load fills.
pub fn kind_name(kind: StateKind) -> String {
    let pipe = |pipe: Pipe| if pipe == Pipe::Compute { "CS" } else { "3D" };
    match kind {
        StateKind::Instructions(stage) => format!("{stage:?} instructions"),
        StateKind::Constants(stage) => format!("{stage:?} constants"),
        StateKind::SharedConstants(of) => format!("{} shared constants", pipe(of)),
        StateKind::Samplers(stage) => format!("{stage:?} samplers"),
        StateKind::Textures(stage) => format!("{stage:?} textures"),
        StateKind::Ubos(stage) => format!("{stage:?} ubos"),
        StateKind::SsboDescriptors(of) => format!("{} ssbos", pipe(of)),
        StateKind::SsboSizes(of) => format!("{} ssbo-sizes", pipe(of)),
        StateKind::SsboAddresses(of) => format!("{} ssbo-addresses", pipe(of)),
        StateKind::Unknown => "unknown state".to_owned(),
    }
}
