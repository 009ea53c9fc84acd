//! Recording of the draws of an indirect buffer while they run.

use std::sync::Arc;

use hashbrown::HashSet;

use crate::budget::Work;
use crate::draw::call::DrawCall;
use crate::draw::fs::DrawState;
use crate::draw::fs::state::FragmentState;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::primitive_cache::sources;
use crate::draw::rb::state::Targets;
use crate::draw::sp::stage_cache::Lower;
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::VertexState;
use crate::gpu::Gpu;
use crate::machine::{CONSTANTS, INSTRUCTIONS, Stage, TEXTURES};
use crate::memo::MemoryInputs;
use crate::pass::Pass;

use super::super::observation::Observation;
use super::super::snapshot::{fragment_inputs, known_stage};
use super::{Draw, IbReplay, Made, TileBinding};

/// Bytes that count per draw in addition to its primitives and stages. A draw with many attributes usually
/// shares them with other draws.
const BESIDE: usize = 512;

/// Maximum number of different targets in one recording. Each takes some 2 KB, and the search is linear.
const MAX_TARGETS: usize = 256;

/// An [`IbReplay`] during recording.
#[derive(Default)]
pub struct Recorder {
    recording: IbReplay,
    /// Number of draws and dispatches seen so far.
    calls: usize,
    /// Budget units paid since the last draw.
    units: u64,
    /// Remaining bytes for the recording.
    room: usize,
    /// Number of reported faults before the recording.
    troubles: u64,
    /// Memory, stages and programs already recorded. They speed up the check, because many draws share them.
    memory: HashSet<(u32, u32)>,
    stages: HashSet<usize>,
    /// Each program with the stage that runs it, and whether it lies in its instruction store.
    programs: HashSet<(usize, usize, bool)>,
    /// Last recorded targets, the count of register writes at that time, and their number in the list.
    last: Option<(Arc<Targets>, usize, usize)>,
}

/// Starts a recording of at most `room` bytes, unless a tool observes single draws. Returns whether it
/// started.
pub fn begin(gpu: &mut Gpu, room: usize) -> bool {
    if !Observation::allows_deferral(gpu) {
        return false;
    }
    let memory = MemoryInputs::new(&gpu.mem, Vec::new());
    let recording = IbReplay { memory, ..IbReplay::default() };
    let troubles = gpu.report.troubles.total();
    gpu.pipeline.recorder = Some(Box::new(Recorder { recording, room, troubles, ..Recorder::default() }));
    true
}

/// Ends the recording and returns it with the remaining room. Returns `None` if a draw was not recorded, or
/// if a fault was reported, because a replay would not report it again.
pub fn end(gpu: &mut Gpu) -> Option<(IbReplay, usize)> {
    let Recorder { mut recording, calls, units, room, troubles, .. } = *gpu.pipeline.recorder.take()?;
    recording.rest = units;
    recording.memory.merge();
    let is_all = calls == recording.draws.len() && troubles == gpu.report.troubles.total();
    is_all.then_some((recording, room))
}

/// Adds a cost that the budget paid to the recording of the next draw.
pub fn pay(gpu: &mut Gpu, work: Work, count: u64) {
    if let Some(recorder) = &mut gpu.pipeline.recorder {
        recorder.units += count * work.price();
    }
}

/// Records that the packets load `len` bytes at `address`.
pub fn note_memory(gpu: &mut Gpu, address: u32, len: u32) {
    if let Some(recorder) = &mut gpu.pipeline.recorder {
        recorder.add_memory([(address, len)]);
    }
}

/// Counts a draw or dispatch. `end` compares this count with the number of recorded draws.
pub fn note_call(gpu: &mut Gpu) {
    if let Some(recorder) = &mut gpu.pipeline.recorder {
        recorder.calls += 1;
    }
}

/// Records a draw that changes nothing in this tile.
pub fn record_culled(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: &VertexStages,
    known: &Arc<Primitives>,
    (primitive, targets): (&Arc<PrimitiveState>, &Arc<Targets>),
) {
    if gpu.pipeline.recorder.is_none() {
        return;
    }
    let inputs = fragment_inputs(gpu);
    // A missing shader is reported, and a new one lowered, when a part of the draw is visible.
    if let Ok(stage) = known_stage(gpu, Stage::FS, Lower::Never) {
        let (primitive, targets) = (primitive.clone(), targets.clone());
        let state = DrawState { primitive, fragment: FragmentState { stage, inputs }, targets };
        note(gpu, call, stages, &state, Some(known));
    }
}

/// Records a draw, if its primitives are known or can be known by the next tile.
pub fn note(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: &VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) {
    let Some(mut recorder) = gpu.pipeline.recorder.take() else { return };
    if call.pass == Pass::Gmem && stages.is_reusable() && state.fragment.stage.only_reads() {
        recorder.add(gpu, call, &stages.vertex, state, known);
    }
    gpu.pipeline.recorder = Some(recorder);
}

impl Recorder {
    fn add(
        &mut self,
        gpu: &mut Gpu,
        call: &DrawCall,
        vertex: &VertexState,
        state: &DrawState,
        known: Option<&Arc<Primitives>>,
    ) {
        let made = match known {
            Some(known) => Made::Known(known.clone()),
            None => Made::Cached(gpu.pipeline.states.slots.of(gpu.at.address), vertex.clone().into()),
        };
        let bytes =
            size_of::<Draw>() + BESIDE + known.map_or(size_of::<VertexState>(), |known| known.bytes());
        let Some(room) = self.room.checked_sub(bytes) else { return };
        let Some(targets) = self.targets(gpu, &state.targets) else { return };
        self.room = room;
        self.add_memory(sources(vertex));
        self.add_stage(gpu, &vertex.stage);
        self.add_stage(gpu, &state.fragment.stage);
        self.recording.draws.push(Draw {
            address: gpu.at.address,
            call: call.clone(),
            primitive: state.primitive.clone(),
            fragment: state.fragment.clone(),
            targets,
            made,
            units: std::mem::take(&mut self.units),
        });
    }

    fn add_memory(&mut self, places: impl IntoIterator<Item = (u32, u32)>) {
        let new = places.into_iter().filter(|place| self.memory.insert(*place));
        new.for_each(|place| self.recording.memory.add(place));
    }

    /// Records `state`, the last one that its stage returned.
    fn add_stage(&mut self, gpu: &mut Gpu, state: &Arc<StageState>) {
        let kept = &gpu.pipeline.states.stages[state.stage as usize];
        let code = kept.as_ref().and_then(|kept| kept.last_place());
        self.add_memory(code.and_then(CodePlace::in_memory));
        let instructions = code.map_or(INSTRUCTIONS, CodePlace::in_store);
        // A known program takes nothing new: anything that it did not take then was loaded by this buffer.
        let program = (state.stage as usize, Arc::as_ptr(&state.program).addr(), instructions > 0);
        if self.programs.insert(program) {
            let textures = if state.summary.samples { TEXTURES } else { 0 };
            match state.program.constants() {
                Some(scalars) => gpu.loaded.note_taken(state.stage, scalars, textures, instructions),
                None => gpu.loaded.note_taken(state.stage, 0..4 * CONSTANTS, textures, instructions),
            }
        }
        if self.stages.insert(Arc::as_ptr(state).addr()) {
            self.room = self.room.saturating_sub(size_of::<StageState>() + size_of_val(&*state.constants));
            self.add_memory(state.textures.border_places().iter().copied());
            self.recording.stages.push(state.clone());
        }
    }

    /// Returns the index of the targets that were made last. Adds them if they are new.
    fn targets(&mut self, gpu: &Gpu, targets: &Arc<Targets>) -> Option<usize> {
        let written = gpu.regs.written_since();
        if let Some((last, count, number)) = &self.last
            && Arc::ptr_eq(last, targets)
            && *count == written
        {
            return Some(*number);
        }
        let sources = gpu.regs.sources(gpu.pipeline.states.targets.last_seen()?);
        let is_same = |known: &TileBinding| Arc::ptr_eq(&known.first, targets) && known.sources == sources;
        let all = &mut self.recording.targets;
        let number = match all.iter().position(is_same) {
            Some(number) => number,
            None if all.len() >= MAX_TARGETS => return None,
            None => {
                all.push(TileBinding { first: targets.clone(), sources, now: targets.clone() });
                all.len() - 1
            }
        };
        self.last = Some((targets.clone(), written, number));
        Some(number)
    }
}
