//! Runs a geometry shader in subwarps, with one invocation of a primitive per subwarp.

use std::iter::Peekable;
use std::ops::Range;

use crate::draw::stage_words::StageEntry;

use crate::draw::pc::assembler::PrimitiveList;
use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::sp::log::{OutsideInputs, ShaderLog};
use crate::draw::sp::memory::{InputParts, ShaderMemory};
use crate::draw::sp::primitive_inputs::InputLayout;
use crate::draw::vertices::Vertices;
use a4emu_shader::{LANES, Lanes, Mask, Warp};

use super::cost::Cost;
use super::dispatch::{Choice, SUBWARPS};
use super::emitted::Emitted;
use super::probe::{self, Excess};
use super::runs::{Made, Run};
use super::state::GeometryState;
use super::subwarps::{Invocation, Running, Subwarps};

/// The geometry stage of a draw.
pub struct GeometryDraw<'a> {
    /// State of the stage.
    pub state: &'a GeometryState,
    /// The input vertices.
    pub vertices: &'a Vertices,
    /// The input primitives.
    pub primitives: &'a PrimitiveList,
    /// Assignment of invocations to lanes.
    pub choice: Choice,
    /// Number of the draw, for fault messages.
    pub draw: u32,
    /// The primitive whose runs are noted.
    pub watched: Option<usize>,
}

/// Results of a batch of primitives.
#[derive(Default)]
pub struct Batch {
    /// Emitted vertices of all invocations.
    pub emitted: Emitted,
    /// Cost of the batch.
    pub cost: Cost,
    /// First excess of vertices, if any.
    pub excess: Option<Excess>,
    /// Runs for the watched primitive.
    pub runs: Vec<Run>,
}

/// A running batch.
struct BatchRun<'w, 'a, 'd> {
    draw: &'d GeometryDraw<'d>,
    layout: InputLayout,
    worker: &'w mut Worker<'a>,
    subwarps: Subwarps,
    /// Lanes used per subwarp.
    width: usize,
    /// Invocations that reached the vertex limit without a kill.
    full: Vec<Invocation>,
    /// First access outside the inputs, with its invocation and vertex.
    outside: Option<((usize, usize), OutsideInputs)>,
    /// Rows of the vertices of a warp.
    rows: Vec<u32>,
    batch: Batch,
}

impl GeometryDraw<'_> {
    /// Runs `primitives` of the draw.
    pub fn run_batch(&self, worker: &mut Worker<'_>, primitives: Range<usize>) -> Batch {
        let per = self.state.invocations;
        let invocations = primitives.flat_map(|primitive| (0..per).map(move |number| (primitive, number)));
        let invocations = invocations.enumerate();
        let invocations =
            invocations.map(|(index, (primitive, number))| Invocation { index, primitive, number });
        BatchRun::new(self, worker).run(invocations)
    }

    /// Returns the layout of primitives in the shader's inputs.
    pub(super) fn layout(&self) -> InputLayout {
        InputLayout::new(self.primitives.size, self.vertices.varying_components())
    }
}

impl<'w, 'a, 'd> BatchRun<'w, 'a, 'd> {
    fn new(draw: &'d GeometryDraw<'d>, worker: &'w mut Worker<'a>) -> Self {
        let layout = draw.layout();
        let slots = if draw.choice.mode.mixes_primitives() { draw.choice.subwarps } else { 1 };
        worker.memory.inputs = vec![0; slots * layout.stride()];
        let lanes = if slots == 1 { LANES } else { draw.choice.lanes };
        worker.memory.parts = Some(InputParts { lanes, bytes: layout.stride() });
        let (subwarps, width, full) = (Subwarps::new(draw.choice), draw.choice.lanes, Vec::new());
        let (rows, batch) = (vec![0; LANES * draw.state.stride()], Batch::default());
        Self { draw, layout, worker, subwarps, width, full, outside: None, rows, batch }
    }

    fn run(mut self, invocations: impl Iterator<Item = Invocation>) -> Batch {
        let mut invocations = invocations.peekable();
        loop {
            self.fill(&mut invocations);
            if self.subwarps.is_empty() {
                break;
            }
            let counts = self.run_warp();
            if self.worker.is_stopped() {
                break;
            }
            self.draw.state.export(&self.worker.warp, &mut self.rows);
            let makes = self.makes();
            (0..SUBWARPS).for_each(|subwarp| self.harvest(subwarp, counts[subwarp], makes));
        }
        self.worker.memory.log.outside_inputs.extend(self.outside.map(|(_, outside)| outside));
        let probed = probe::run(self.draw, &self.full, self.worker);
        self.batch.excess = probed.excess;
        self.batch.cost.probes += probed.warps;
        self.batch
    }

    /// Assigns invocations to free subwarps, and writes their primitives to the inputs.
    fn fill(&mut self, invocations: &mut Peekable<impl Iterator<Item = Invocation>>) {
        let mut begun = [None; SUBWARPS];
        self.subwarps.fill(invocations, |subwarp, invocation| begun[subwarp] = Some(invocation));
        for (subwarp, invocation) in begun.iter().enumerate() {
            let Some(invocation) = invocation else { continue };
            let Invocation { index, primitive, number } = *invocation;
            debug_assert_eq!(index, self.batch.emitted.invocations.len());
            self.batch.emitted.invocations.push([primitive as u32, number]);
            let stride = self.layout.stride();
            let place = &mut self.worker.memory.inputs[self.subwarps.slot(subwarp) * stride..][..stride];
            self.layout.fill(place, self.draw.vertices, self.draw.primitives.primitive(invocation.primitive));
        }
    }

    /// Runs the next vertices of every subwarp. Returns how many lanes of each ran.
    ///
    /// Lanes after a kill would not run on the chip, so their effects must not be visible. If the warp has
    /// something to report, it runs again with only the lanes that count. If it faults, it runs again with
    /// one lane per subwarp, and so do later warps. (A shader that stores always has one lane.)
    fn run_warp(&mut self) -> [usize; SUBWARPS] {
        let earlier = std::mem::take(&mut self.worker.memory.log);
        let mut counts = self.subwarps.each(|_, running| self.left(running).min(self.width));
        let mut log = self.launch(&counts);
        if log.fault.is_some() && self.width > 1 {
            self.width = 1;
            counts = counts.map(|count| count.min(1));
            log = self.launch(&counts);
        }
        let real = self.subwarps.each(|subwarp, _| self.real(subwarp, counts[subwarp]));
        if !log.is_quiet() && log.fault.is_none() && real != counts {
            counts = real;
            log = self.launch(&counts);
        }
        self.keep_first_outside(std::mem::take(&mut log.outside_inputs), real);
        self.worker.memory.log = earlier;
        self.worker.memory.log.append(log);
        counts
    }

    /// Keeps the access outside the inputs with the lowest invocation and vertex among lanes that count. So
    /// the report does not depend on the assignment to warps.
    fn keep_first_outside(&mut self, outside: Vec<OutsideInputs>, real: [usize; SUBWARPS]) {
        for outside in outside {
            let (subwarp, k) = self.subwarps.subwarp_of(outside.lane);
            let Some(running) = self.subwarps.get(subwarp).filter(|_| k < real[subwarp]) else { continue };
            let place = (running.invocation.index, running.next as usize + k);
            if self.outside.is_none_or(|(first, _)| place < first) {
                self.outside = Some((place, outside));
            }
        }
    }

    /// Returns the number of vertices that an invocation may still emit.
    fn left(&self, running: &Running) -> usize {
        (self.draw.state.max_vertices - running.next) as usize
    }

    /// Returns the lanes of a subwarp up to the first that killed, among `count` lanes that ran.
    fn real(&self, subwarp: usize, count: usize) -> usize {
        let killed = self.worker.warp.killed() >> self.subwarps.first_lane(subwarp).min(LANES - 1);
        count.min(killed.trailing_zeros() as usize + 1)
    }

    fn lane(&self, subwarp: usize, k: usize) -> usize {
        self.subwarps.first_lane(subwarp) + k
    }

    fn is_killed(&self, lane: usize) -> bool {
        self.worker.warp.killed() & (1 << lane) != 0
    }

    /// Runs the program in the first `counts` lanes of the subwarps. Returns the log.
    fn launch(&mut self, counts: &[usize; SUBWARPS]) -> ShaderLog {
        let lanes = |(subwarp, count): (usize, &usize)| ((1u64 << count) - 1) << self.lane(subwarp, 0);
        let live = counts.iter().enumerate().filter(|(_, count)| **count > 0).map(lanes).sum::<u64>() as u32;
        let (entry, ids) = self.entry();
        let state = self.draw.state;
        let enter = |warp: &mut Warp, memory: &mut ShaderMemory<'_>| {
            // Contents left by earlier warps would depend on the assignment to warps.
            memory.clear_private();
            state.enter(warp, &entry, &ids);
        };
        self.worker.run(WarpLanes { live, helpers: 0 }, None, enter);
        let cost = &mut self.batch.cost;
        cost.warps += 1;
        cost.lanes += u64::from(live.count_ones());
        cost.instructions += self.worker.warp.executed();
        cost.lane_instructions += self.worker.warp.lane_instructions;
        cost.spills += u64::from(self.draw.choice.spills);
        std::mem::take(&mut self.worker.memory.log)
    }

    /// Returns entry words and primitive ids of the lanes. Inputs of each lane begin at its address 0, so
    /// that the shader cannot see the assignment to warps.
    fn entry(&self) -> (Lanes, Lanes) {
        let (mut entry, mut ids) = (Lanes::ZERO, Lanes::ZERO);
        let lanes = self.draw.choice.lanes;
        let places = entry.chunks_exact_mut(lanes).zip(ids.chunks_exact_mut(lanes));
        for (subwarp, (entry, ids)) in places.take(self.draw.choice.subwarps).enumerate() {
            let Some(Running { invocation, next }) = self.subwarps.get(subwarp) else { continue };
            for (vertex, entry) in (next..).zip(entry) {
                *entry = (self.draw.state.entry.word)(StageEntry {
                    slot: 0,
                    invocation: invocation.number,
                    vertex,
                });
            }
            ids.fill(self.draw.primitives.ids[invocation.primitive]);
        }
        (entry, ids)
    }

    /// Returns the lanes that make a vertex if they ran.
    fn makes(&self) -> Mask {
        !self.worker.warp.killed() | self.draw.state.positioned(&self.worker.warp)
    }

    /// Notes the run of `lane`, which has just been collected.
    fn note(&mut self, running: &Running, lane: usize, makes: bool) {
        let (_, k) = self.subwarps.subwarp_of(lane);
        let Running { invocation, next } = *running;
        let state = self.draw.state;
        let row = &self.rows[lane * state.stride()..][..state.stride()];
        self.batch.runs.push(Run {
            invocation: invocation.number,
            vertex: next + k as u32,
            warp: self.batch.cost.warps - 1,
            lane,
            kills: self.is_killed(lane),
            made: makes.then(|| Made::new(row, state.word(&self.worker.warp, lane))),
        });
    }

    /// Collects the vertices of a subwarp of which `count` lanes ran. `makes` has the lanes that make one if they ran.
    fn harvest(&mut self, subwarp: usize, count: usize, makes: Mask) {
        let Some(running) = self.subwarps.get(subwarp) else { return };
        let real = self.real(subwarp, count);
        let first = self.lane(subwarp, 0);
        let (state, warp) = (self.draw.state, &self.worker.warp);
        // Only the last of them can have killed, so those that make a vertex are the first.
        let made = (first..first + real).take_while(|lane| makes >> lane & 1 != 0).count();
        let rows = &self.rows[first * state.stride()..][..made * state.stride()];
        let words = (first..first + made).map(|lane| state.word(warp, lane));
        self.batch.emitted.add(running.invocation.index, rows, words);
        self.batch.cost.runs += real as u64;
        self.batch.cost.vertices += made as u64;
        if self.draw.watched == Some(running.invocation.primitive) {
            (first..first + real).for_each(|lane| self.note(&running, lane, lane < first + made));
        }
        let killed = real > 0 && self.is_killed(first + real - 1);
        let next = Running { next: running.next + real as u32, ..running };
        let full = self.left(&next) == 0;
        if full && !killed {
            self.full.push(running.invocation);
        }
        self.subwarps.put(subwarp, (!killed && !full).then_some(next));
    }
}
