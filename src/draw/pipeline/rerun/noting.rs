//! What draws of a buffer are made of, noted while they run.

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
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::vertex_stages::VertexStages;
use crate::gpu::{Gpu, Stage};
use crate::pass::Pass;

use super::super::{fragment_inputs, known_stage};
use super::{Draw, DrawnTo, Rerun, are_unseen};

/// A [`Rerun`] while it is noted.
#[derive(Default)]
pub struct Noting {
    rerun: Rerun,
    /// Draws and dispatches that have come.
    calls: usize,
    /// What has been paid since the last draw.
    units: u64,
    /// Bytes that it may still have.
    room: usize,
    /// How much had been said before.
    troubles: u64,
    /// What is noted already: draw after draw has the same.
    memory: HashSet<(u32, u32)>,
    stages: HashSet<(usize, CodePlace)>,
    /// The targets that were noted last, and how many registers had been written by then.
    last: Option<(Arc<Targets>, usize, usize)>,
}

/// Begins to note draws, if nobody looks at each of them: as many as have `room` bytes with their primitives.
pub fn begin(gpu: &mut Gpu, room: usize) -> bool {
    if !are_unseen(gpu) {
        return false;
    }
    let rerun = Rerun { time: gpu.mem.now(), ..Rerun::default() };
    let troubles = gpu.report.troubles.total();
    gpu.pipeline.noting = Some(Box::new(Noting { rerun, room, troubles, ..Noting::default() }));
    true
}

/// What was noted. `None` if that is not all there was, or if something was said that is to be said each time.
pub fn end(gpu: &mut Gpu) -> Option<Rerun> {
    let Noting { mut rerun, calls, units, troubles, .. } = *gpu.pipeline.noting.take()?;
    rerun.rest = units;
    merge(&mut rerun.memory);
    let is_all = calls == rerun.draws.len() && troubles == gpu.report.troubles.total();
    is_all.then_some(rerun)
}

/// The same places, those together that have bytes in common.
fn merge(places: &mut Vec<(u32, u32)>) {
    places.sort_unstable();
    places.dedup_by(|(address, len), (first, all)| {
        let (end, more) = (first.saturating_add(*all), address.saturating_add(*len));
        let overlaps = *address < end;
        if overlaps {
            *all = end.max(more) - *first;
        }
        overlaps
    });
}

/// So much has been paid for what comes with the next draw.
pub fn pay(gpu: &mut Gpu, work: Work, count: u64) {
    if let Some(noting) = &mut gpu.pipeline.noting {
        noting.units += count * work.price();
    }
}

/// The `len` bytes at `address` are loaded.
pub fn note_memory(gpu: &mut Gpu, address: u32, len: u32) {
    if let Some(noting) = &mut gpu.pipeline.noting {
        noting.add_memory([(address, len)]);
    }
}

/// A draw or a dispatch comes: if it is not noted, there is more than that.
pub fn note_call(gpu: &mut Gpu) {
    if let Some(noting) = &mut gpu.pipeline.noting {
        noting.calls += 1;
    }
}

/// A draw is noted of which nothing is in sight in this tile.
pub fn note_hidden(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: &VertexStages,
    known: &Arc<Primitives>,
    (primitive, targets): (&Arc<PrimitiveState>, &Arc<Targets>),
) {
    if gpu.pipeline.noting.is_none() {
        return;
    }
    let inputs = fragment_inputs(gpu);
    // That there is no shader is said as soon as something of it is in sight.
    if let Ok(stage) = known_stage(gpu, Stage::FS) {
        let (primitive, targets) = (primitive.clone(), targets.clone());
        let state = DrawState { primitive, fragment: FragmentState { stage, inputs }, targets };
        note(gpu, call, stages, &state, Some(known));
    }
}

/// A draw is noted, if its primitives are known.
pub fn note(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: &VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) {
    let waits = |stage: &StageState| stage.only_reads();
    let Some(mut noting) = gpu.pipeline.noting.take() else { return };
    if let Some(known) = known.filter(|_| call.pass == Pass::Gmem && waits(&state.fragment.stage)) {
        noting.add(gpu, call, stages, state, known);
    }
    gpu.pipeline.noting = Some(noting);
}

impl Noting {
    fn add(
        &mut self,
        gpu: &Gpu,
        call: &DrawCall,
        stages: &VertexStages,
        state: &DrawState,
        made: &Arc<Primitives>,
    ) {
        let Some(room) = self.room.checked_sub(size_of::<Draw>() + made.bytes()) else { return };
        self.room = room;
        let code = [Stage::VS, Stage::FS].map(|stage| {
            let kept = gpu.pipeline.kept.stages[stage as usize].as_ref();
            kept.and_then(|kept| kept.last_place())
        });
        let [Some(vertex), Some(fragment)] = code else { return };
        let Some(targets) = self.targets(gpu, &state.targets) else { return };
        self.add_memory(sources(&stages.vertex));
        self.add_stage(0, &stages.vertex.stage, vertex);
        self.add_stage(1, &state.fragment.stage, fragment);
        self.rerun.draws.push(Draw {
            address: gpu.at.address,
            call: call.clone(),
            primitive: state.primitive.clone(),
            fragment: state.fragment.clone(),
            targets,
            made: made.clone(),
            units: std::mem::take(&mut self.units),
        });
    }

    fn add_memory(&mut self, places: impl IntoIterator<Item = (u32, u32)>) {
        let new = places.into_iter().filter(|place| self.memory.insert(*place));
        self.rerun.memory.extend(new);
    }

    /// The state of the stage of this number is one of those, with its program at `code`.
    fn add_stage(&mut self, number: usize, stage: &Arc<StageState>, code: CodePlace) {
        if !self.stages.insert((Arc::as_ptr(stage).addr(), code)) {
            return;
        }
        if let CodePlace::Memory(address, instructions) = code {
            self.add_memory([(address, instructions * 8)]);
        }
        self.add_memory(stage.textures.border_places().iter().copied());
        let extent = &mut self.rerun.extents[number];
        *extent = extent.union(stage.extent(code));
        self.rerun.stages.push(stage.clone());
    }

    /// The number of the targets that were made last.
    fn targets(&mut self, gpu: &Gpu, targets: &Arc<Targets>) -> Option<usize> {
        let written = gpu.regs.written_since();
        if let Some((last, count, number)) = &self.last
            && Arc::ptr_eq(last, targets)
            && *count == written
        {
            return Some(*number);
        }
        let sources = gpu.regs.sources(gpu.pipeline.kept.targets.last_seen()?);
        let is_same = |known: &DrawnTo| Arc::ptr_eq(&known.first, targets) && known.sources == sources;
        let all = &mut self.rerun.targets;
        let number = all.iter().position(is_same).unwrap_or_else(|| {
            all.push(DrawnTo { first: targets.clone(), sources, now: targets.clone() });
            all.len() - 1
        });
        self.last = Some((targets.clone(), written, number));
        Some(number)
    }
}
