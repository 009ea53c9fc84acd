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
use crate::draw::vs::VertexState;
use crate::gpu::{CONSTANTS, Gpu, INSTRUCTIONS, Stage, TEXTURES};
use crate::pass::Pass;

use super::super::{fragment_inputs, known_stage};
use super::{Draw, IbReplay, Made, TileBinding, are_unseen};

/// Bytes that are noted of a draw beside its primitives and the state of its stages: who has more attributes than most
/// shares them with others.
const BESIDE: usize = 512;

/// Different targets of the draws of a buffer. Each takes some 2 KB, and is looked for among the others.
const MAX_TARGETS: usize = 256;

/// A [`IbReplay`] while it is noted.
#[derive(Default)]
pub struct Recorder {
    rerun: IbReplay,
    /// Draws and dispatches that have come.
    calls: usize,
    /// What has been paid since the last draw.
    units: u64,
    /// Bytes that it may still have.
    room: usize,
    /// How much had been said before.
    troubles: u64,
    /// What is noted already, as draw after draw has the same: memory, where stages and programs are.
    memory: HashSet<(u32, u32)>,
    stages: HashSet<usize>,
    /// With the stage that runs them, and whether they are in its instruction store.
    programs: HashSet<(usize, usize, bool)>,
    /// The targets that were noted last, and how many registers had been written by then.
    last: Option<(Arc<Targets>, usize, usize)>,
}

/// Begins to note draws, if nobody looks at each of them: as many as have `room` bytes with their primitives.
pub fn begin(gpu: &mut Gpu, room: usize) -> bool {
    if !are_unseen(gpu) {
        return false;
    }
    let rerun = IbReplay { time: gpu.mem.now(), ..IbReplay::default() };
    let troubles = gpu.report.troubles.total();
    gpu.pipeline.noting = Some(Box::new(Recorder { rerun, room, troubles, ..Recorder::default() }));
    true
}

/// What was noted, and how much room is left. `None` if that is not all there was, or if something was said that is to
/// be said each time.
pub fn end(gpu: &mut Gpu) -> Option<(IbReplay, usize)> {
    let Recorder { mut rerun, calls, units, room, troubles, .. } = *gpu.pipeline.noting.take()?;
    rerun.rest = units;
    merge(&mut rerun.memory);
    let is_all = calls == rerun.draws.len() && troubles == gpu.report.troubles.total();
    is_all.then_some((rerun, room))
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
pub fn record_culled(
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

/// A draw is noted, if its primitives are known, or may be by the next tile.
pub fn note(
    gpu: &mut Gpu,
    call: &DrawCall,
    stages: &VertexStages,
    state: &DrawState,
    known: Option<&Arc<Primitives>>,
) {
    let Some(mut noting) = gpu.pipeline.noting.take() else { return };
    if call.pass == Pass::Gmem && stages.is_reusable() && state.fragment.stage.only_reads() {
        noting.add(gpu, call, &stages.vertex, state, known);
    }
    gpu.pipeline.noting = Some(noting);
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
            None => Made::Kept(gpu.pipeline.kept.slots.of(gpu.at.address), vertex.clone().into()),
        };
        let bytes =
            size_of::<Draw>() + BESIDE + known.map_or(size_of::<VertexState>(), |known| known.bytes());
        let Some(room) = self.room.checked_sub(bytes) else { return };
        let Some(targets) = self.targets(gpu, &state.targets) else { return };
        self.room = room;
        self.add_memory(sources(vertex));
        self.add_stage(gpu, &vertex.stage);
        self.add_stage(gpu, &state.fragment.stage);
        self.rerun.draws.push(Draw {
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
        self.rerun.memory.extend(new);
    }

    /// `state`, which was given last, is one of those.
    fn add_stage(&mut self, gpu: &mut Gpu, state: &Arc<StageState>) {
        let kept = &gpu.pipeline.kept.stages[state.stage as usize];
        let code = kept.as_ref().and_then(|kept| kept.last_place());
        self.add_memory(code.and_then(CodePlace::in_memory));
        let instructions = code.map_or(INSTRUCTIONS, CodePlace::in_store);
        // What has been noted once has nothing new: what was not taken by then was loaded.
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
            self.rerun.stages.push(state.clone());
        }
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
        let is_same = |known: &TileBinding| Arc::ptr_eq(&known.first, targets) && known.sources == sources;
        let all = &mut self.rerun.targets;
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_that_have_bytes_in_common_become_one() {
        let mut places = vec![
            (0x300, 0x10),
            (0x100, 0x40),
            (0x120, 8),
            (0x140, 4),
            (0x13f, 0x20),
            (0x100, 2),
            (u32::MAX, 9),
        ];
        merge(&mut places);
        assert_eq!(places, [(0x100, 0x5f), (0x300, 0x10), (u32::MAX, 9)]);
    }
}
