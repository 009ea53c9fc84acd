//! The launcher: runs the warps of any stage within the budget.
//!
//! A stage divides its work into *jobs* (512 vertices, 32 rows of pixels, a workgroup, ...) and defines what
//! a [`Worker`] does for a job. Jobs run in *rounds* of [`ROUND`], on all threads. Jobs of a shader that stores
//! run one after the other. Each job of a round may cost an equal share of the remaining budget. After the
//! round, the work is charged in the order of the jobs. So the cut is the same for any number of threads: the
//! sizes of jobs and rounds are fixed.

use std::iter;
use std::ops::Range;
use std::sync::Arc;

use super::environment::StageEnvironment;
use super::log::ShaderLog;
use super::memory::{GpuMemory, ShaderMemory};
use super::sampling::most_for_texels;
use super::state::StageState;
use crate::budget::{Budget, Ends, Work};
use crate::draw::tpl1::{self, BoundBank, TextureBank, Used};
use crate::draw::vpc::interpolate::WarpQuads;
use crate::draw::work::{KnownRun, KnownWarps, ShaderWork};
use crate::memory::Memory;
use crate::parallel::{self, Helpers};
use a4emu_shader::jit::{WarpCost, WarpGroup};
use a4emu_shader::{
    Counting, Epilogue, InstructionCount, LANES, Mask, Outcome, Program, ShaderFault, Warp, run,
    run_counting, run_lockstep, step,
};

/// Number of jobs in a round.
const ROUND: usize = 32;

/// How many blocks of 16 bytes are copied in the time of a change to another warp, or of an exchange between those of a wave.
/// Measure: `scripts/prices`.
const TURN: u64 = 96;

/// Threads that run the jobs of a shader that does not store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Threads {
    /// All threads.
    All,
    /// This thread only. The work is so small that waking others costs more.
    This,
}

/// The lanes of a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpLanes {
    /// Lanes whose results count.
    pub live: Mask,
    /// Lanes that run only to give their neighbours derivatives.
    pub helpers: Mask,
}

impl WarpLanes {
    /// Returns the first `count` lanes as live lanes, without helpers.
    pub fn first(count: usize) -> Self {
        let live = if count >= LANES { Mask::MAX } else { (1 << count) - 1 };
        Self { live, helpers: 0 }
    }
}

/// Runs warps of one stage, job after job.
pub struct Worker<'a> {
    /// The stage.
    pub stage: &'a StageState,
    /// The current warp. (A stage with barriers between warps has more of them.)
    pub warp: Warp,
    /// Warps that run in lockstep. The list never shrinks.
    pub lockstep_warps: Vec<Warp>,
    /// Constants of the warps of the current workgroup.
    group_constants: Arc<[u32]>,
    /// Warps that have ended.
    ended: Vec<Warp>,
    /// Memory that the shader sees.
    pub memory: ShaderMemory<'a>,
    /// Work kind whose limit ended the job, if any.
    exhausted: Option<Work>,
    /// Signal that ends the job from outside.
    ends: Option<Ends>,
    /// Execution counts of each instruction in the current job, if enabled.
    counts: Vec<InstructionCount>,
}

impl<'a> Worker<'a> {
    /// Creates a worker with no limit except that of a single warp.
    pub fn new(stage: &'a StageState, gpu: GpuMemory<'a>) -> Self {
        let (warp, lockstep_warps, ended, counts) = Default::default();
        let (memory, group_constants) = (ShaderMemory::new(gpu, stage), stage.constants.clone());
        let (exhausted, ends) = (None, None);
        Self { stage, warp, lockstep_warps, group_constants, ended, memory, exhausted, ends, counts }
    }

    /// Makes jobs end as soon as the run is ended from outside.
    #[must_use]
    pub fn until(self, ends: &Option<Ends>) -> Self {
        Self { ends: ends.clone(), ..self }
    }

    /// Lets what follows cost `units`.
    pub fn allow(&mut self, units: u64) {
        self.memory.allow(units);
        self.exhausted = None;
    }

    /// Returns whether the budget has ended the job.
    pub fn is_cut(&self) -> bool {
        self.exhausted.is_some()
    }

    /// Returns whether the job has ended early: by a fault, or by its budget.
    pub fn is_stopped(&self) -> bool {
        self.memory.log.fault.is_some() || self.is_cut()
    }

    /// Runs a warp of `lanes` to its end. Barriers do not wait, because all threads of the group are in this
    /// warp. `enter` writes its inputs to registers. Returns whether it finished.
    pub fn run(
        &mut self,
        lanes: WarpLanes,
        quads: Option<&WarpQuads<'_>>,
        enter: impl FnOnce(&mut Warp, &mut ShaderMemory<'a>),
    ) -> bool {
        self.start(lanes, enter);
        self.finish(quads)
    }

    /// Runs the started warp to its end, as [`Worker::run`] does.
    pub fn finish(&mut self, quads: Option<&WarpQuads<'_>>) -> bool {
        loop {
            match self.resume(quads) {
                Some(Outcome::Ended) => return true,
                Some(Outcome::Barrier) => {}
                Some(Outcome::Wave | Outcome::Fault(_)) | None => return false,
            }
        }
    }

    /// Runs the started warp to its end. After each step, calls `look` with the warp and the instruction.
    pub fn finish_stepwise(
        &mut self,
        quads: Option<&WarpQuads<'_>>,
        mut look: impl FnMut(&Warp, Option<u32>),
    ) -> bool {
        loop {
            let outcome = self.resume_by(quads, |program, warp, environment, _| {
                loop {
                    let next = warp.next_instruction(program).map(|(instruction, _)| instruction);
                    let outcome = step(program, warp, environment);
                    look(warp, next);
                    if let Some(outcome) = outcome {
                        return outcome;
                    }
                }
            });
            match outcome {
                Some(Outcome::Ended) => return true,
                Some(Outcome::Barrier) => {}
                Some(Outcome::Wave | Outcome::Fault(_)) | None => return false,
            }
        }
    }

    /// Returns the cost of a warp that can run in lockstep. `None` if single warps are observed.
    pub fn lockstep_cost(&self) -> Option<WarpCost> {
        self.stage.program.routine().filter(|_| !self.stage.is_observed())?.lockstep_cost()
    }

    /// Returns whether the program is compiled: only code converts colours to pixels.
    pub fn is_compiled(&self) -> bool {
        self.stage.program.routine().is_some()
    }

    /// Runs several warps of one straight-line program in lockstep, with the results and cost of running them
    /// in turn. The warps are in [`Worker::lockstep_warps`], one per mask of `live` lanes; the other lanes are
    /// helpers. `quads` belong to the one primitive of all warps, or to the only warp. `enter` writes all
    /// lanes of the full registers `given`. Does nothing where results could differ. The code may leave
    /// finished pixels, as `epilogue` describes.
    pub fn run_lockstep(
        &mut self,
        lockstep_cost: WarpCost,
        live: impl ExactSizeIterator<Item = Mask>,
        quads: &WarpQuads<'_>,
        given: Range<u32>,
        epilogue: Option<&Epilogue>,
        enter: impl FnOnce(&mut [Warp]),
    ) -> WarpGroup {
        let count = live.len();
        if self.memory.left() <= (count as u64).saturating_mul(price(lockstep_cost, &self.stage.textures))
            || self.ends.as_ref().is_some_and(Ends::are_reached)
        {
            return WarpGroup::Not;
        }
        while self.lockstep_warps.len() < count {
            self.lockstep_warps.push(self.stage.warp());
        }
        let warps = &mut self.lockstep_warps[..count];
        let program = &self.stage.program;
        let mut lanes = 0;
        for (warp, live) in warps.iter_mut().zip(live) {
            lanes += u64::from(live.count_ones());
            warp.begin_lockstep(given.clone(), program, live, lockstep_cost.instructions);
        }
        enter(warps);
        let mut environment = StageEnvironment { memory: &mut self.memory, quads: Some(quads) };
        let ran = run_lockstep(program, warps, &mut environment, epilogue);
        if ran == WarpGroup::Not {
            return ran;
        }
        self.memory.spend(Work::Warp, count as u64, |work| &mut work.warps);
        self.memory.work.lanes += lanes;
        let instructions = count as u64 * lockstep_cost.instructions;
        self.memory.spend(Work::WarpInstruction, instructions, |work| &mut work.instructions);
        self.memory.work.compiled += count as u64 * lockstep_cost.compiled;
        ran
    }

    /// Prepares a warp of the group that [`Worker::begin_group`] began. Reuses the memory of an ended warp.
    pub fn warp_of_group(
        &mut self,
        lanes: WarpLanes,
        enter: impl FnOnce(&mut Warp, &mut ShaderMemory<'a>),
    ) -> Warp {
        let program = &self.stage.program;
        self.warp = match self.ended.pop() {
            Some(mut warp) => {
                warp.set_constants(program, &self.group_constants);
                warp
            }
            None => Warp::with_constants(program, self.group_constants.clone()),
        };
        self.memory.spend_clearing((LANES * self.stage.program.rows()) as u64 / 4);
        self.start(lanes, enter);
        std::mem::take(&mut self.warp)
    }

    /// Begins a workgroup, whose constants `change` writes over those of the stage, if there are any.
    pub fn begin_group(&mut self, change: Option<impl FnOnce(&mut [u32])>) {
        if let Some(change) = change {
            change(Arc::make_mut(&mut self.group_constants));
        }
        self.memory.spend_clearing(self.stage.constants.len() as u64 / 4);
    }

    /// Keeps the memory of an ended warp for reuse by another of its size.
    pub fn reuse_warp(&mut self, warp: Warp) {
        self.ended.push(warp);
    }

    /// Prepares a warp before its first instruction.
    pub fn start(&mut self, lanes: WarpLanes, enter: impl FnOnce(&mut Warp, &mut ShaderMemory<'a>)) {
        self.start_given(0..0, lanes, enter);
    }

    /// Prepares a warp. `enter` writes all lanes of the full registers `given`, so they are not cleared.
    pub fn start_given(
        &mut self,
        given: Range<u32>,
        lanes: WarpLanes,
        enter: impl FnOnce(&mut Warp, &mut ShaderMemory<'a>),
    ) {
        self.memory.spend(Work::Warp, 1, |work| &mut work.warps);
        self.memory.work.lanes += u64::from(lanes.live.count_ones());
        if self.warp.limit == 0 {
            // Create the first warp here, because draws that only fill pixels need none.
            self.warp = self.stage.warp();
        }
        self.warp.restart_but(given, &self.stage.program, lanes.live, lanes.helpers);
        enter(&mut self.warp, &mut self.memory);
        if let Some(catch) = &self.stage.catch {
            catch.offer(&self.warp, &self.memory);
        }
    }

    /// Runs the warp until it ends, waits or faults. Returns `None` if the job's budget is exhausted or a
    /// catch took the warp.
    pub fn resume(&mut self, quads: Option<&WarpQuads<'_>>) -> Option<Outcome> {
        let counting = self.stage.counting;
        self.resume_by(quads, |program, warp, environment, counts| match counting {
            Counting::Off => run(program, warp, environment),
            Counting::On => {
                counts.resize(program.instructions(), InstructionCount::default());
                run_counting(program, warp, environment, counts)
            }
        })
    }

    /// Runs the warp with `go` until it ends, waits or faults.
    fn resume_by(
        &mut self,
        quads: Option<&WarpQuads<'_>>,
        go: impl FnOnce(
            &Program,
            &mut Warp,
            &mut StageEnvironment<'_, '_, 'a>,
            &mut Vec<InstructionCount>,
        ) -> Outcome,
    ) -> Option<Outcome> {
        let left = self.memory.left();
        if left == 0 || self.stage.is_caught() || self.ends.as_ref().is_some_and(Ends::are_reached) {
            self.exhausted = Some(Work::Warp);
            return None;
        }
        let (before, compiled) = (self.warp.executed(), self.warp.compiled);
        let allowed = before.saturating_add(left / Work::WarpInstruction.price());
        let most = self.stage.instruction_limit();
        self.warp.limit = most.min(allowed);
        let mut environment = StageEnvironment { memory: &mut self.memory, quads };
        let outcome = go(&self.stage.program, &mut self.warp, &mut environment, &mut self.counts);
        let executed = self.warp.executed() - before;
        self.memory.spend(Work::WarpInstruction, executed, |work| &mut work.instructions);
        self.memory.work.compiled += self.warp.compiled - compiled;
        if let Outcome::Fault(fault) = &outcome {
            match **fault {
                ShaderFault::Endless { limit } if limit < most => {
                    self.exhausted = Some(Work::WarpInstruction);
                    return None;
                }
                fault => self.memory.log.fault = Some(fault),
            }
        }
        Some(outcome)
    }

    /// Runs `work` without effects except its cost: reports are dropped, and stores go to a private overlay.
    pub fn dry_run<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let log = std::mem::take(&mut self.memory.log);
        let overlay =
            self.stage.stores().then(|| GpuMemory::Overlay(Box::new(self.memory.gpu.get().overlay())));
        let gpu = overlay.map(|overlay| std::mem::replace(&mut self.memory.gpu, overlay));
        let result = work(self);
        if let Some(gpu) = gpu {
            let overlay = std::mem::replace(&mut self.memory.gpu, gpu);
            self.memory.spend_clearing(overlay.get().overlay_cost());
        }
        self.memory.log = log;
        result
    }

    /// Counts the warps of `quads` quads with `lanes` covered pixels. They did not run, because each runs as `run` says.
    /// Returns their instructions.
    pub fn count_known(&mut self, run: &KnownRun, quads: u64, lanes: u64) -> u64 {
        let warps = quads.div_ceil(LANES as u64 / 4);
        let known = KnownWarps { warps, instructions: warps * run.instructions, lanes };
        self.memory.work.add(&ShaderWork { known, ..ShaderWork::default() });
        if !run.counts.is_empty() {
            let times = |one: &InstructionCount| InstructionCount {
                warps: one.warps * warps,
                lanes: one.warps * 4 * quads,
            };
            InstructionCount::merge(&mut self.counts, &run.counts.iter().map(times).collect::<Vec<_>>());
        }
        known.instructions
    }

    /// Charges a change to another warp, or an exchange between those of a wave.
    pub fn charge_turn(&mut self) {
        self.memory.spend_clearing(TURN);
    }

    /// Stops the job, because the wanted warp was caught.
    pub fn stop(&mut self) {
        self.exhausted = Some(Work::Warp);
    }

    /// Runs one job that may cost `share` units. Returns the result, the shader log, and the exhausted kind
    /// of work, if any.
    pub fn one_job<R>(
        &mut self,
        share: u64,
        work: impl FnOnce(&mut Self) -> R,
    ) -> (R, ShaderLog, Option<Work>) {
        self.memory.used_textures = 0;
        let Done { result, mut log, exhausted } = self.job((), share, |worker, ()| work(worker));
        if let GpuMemory::ReadOnly(_, bank) = &self.memory.gpu {
            note_textures(bank, self.memory.used_textures, self.stage, &mut log);
        }
        (result, log, exhausted)
    }

    /// Ends the worker, and keeps its warps for reuse. Returns the textures that were used.
    pub fn retire(mut self) -> u128 {
        self.leave_warp();
        self.memory.used_textures
    }

    fn leave_warp(&mut self) {
        if self.warp.limit != 0 {
            self.stage.spare.leave(std::mem::take(&mut self.warp));
        }
        if !self.lockstep_warps.is_empty() {
            self.stage.spare.leave_all(self.lockstep_warps.drain(..));
        }
    }

    /// Runs a job that may cost `share` units.
    pub(super) fn job<J, R>(&mut self, job: J, share: u64, work: impl FnOnce(&mut Self, J) -> R) -> Done<R> {
        self.memory.begin_job(share);
        let result = work(self, job);
        let mut log = std::mem::take(&mut self.memory.log);
        log.work = std::mem::take(&mut self.memory.work);
        self.stage.program.ran(log.work.warps);
        log.counts = std::mem::take(&mut self.counts);
        if !log.counts.is_empty() {
            log.work.classes = self.stage.program.classes_run(&log.counts);
        }
        Done { result, log, exhausted: self.exhausted.take() }
    }
}

/// Returns the maximum cost of a warp in units, with these textures.
fn price(WarpCost { instructions, requests, .. }: WarpCost, textures: &TextureBank) -> u64 {
    let warp = Work::Warp.price().saturating_add(instructions * Work::WarpInstruction.price());
    warp.saturating_add(most_for_texels(requests, textures))
}

/// A worker that keeps its warps for reuse when it is dropped.
struct PooledWorker<'a>(Worker<'a>);

impl Drop for PooledWorker<'_> {
    fn drop(&mut self) {
        self.0.leave_warp();
    }
}

/// Result of a job.
pub(super) struct Done<R> {
    result: R,
    pub(super) log: ShaderLog,
    exhausted: Option<Work>,
}

impl<R> Done<R> {
    /// Returns whether no later job runs.
    pub(super) fn ends(&self) -> bool {
        self.log.fault.is_some() || self.exhausted.is_some()
    }

    /// Returns whether the job did not depend on how many units it may cost, if that is `share` or more.
    pub(super) fn fits(&self, share: u64) -> bool {
        self.exhausted.is_none() && self.log.work.units() < share
    }
}

/// Results of a launch, in the order of its jobs.
#[derive(Default)]
pub struct Launched<R> {
    /// Results of the jobs. After a fault or a cut there are fewer results than jobs.
    pub results: Vec<R>,
    /// Log of the shader.
    pub log: ShaderLog,
}

impl<R> Launched<R> {
    /// Adds the result of the next job, and charges its cost.
    pub(super) fn add(&mut self, done: Done<R>, budget: &mut Budget) {
        done.log.work.settle(budget);
        if let Some(work) = done.exhausted {
            budget.exhaust(work);
        }
        self.log.append(done.log);
        self.results.push(done.result);
    }

    /// Returns whether no later job runs.
    pub(super) fn is_over(&self, budget: &Budget) -> bool {
        self.log.fault.is_some() || budget.cut().is_some()
    }
}

/// Runs `work` for each of `jobs` on workers of `stage`, until one faults or the budget is used up.
pub fn launch<J: Send, R: Send>(
    stage: &StageState,
    memory: &mut Memory,
    budget: &mut Budget,
    threads: Threads,
    jobs: impl Iterator<Item = J>,
    work: impl Fn(&mut Worker<'_>, J) -> R + Sync,
) -> Launched<R> {
    if !stage.only_reads() {
        let mut launched = Launched { results: Vec::new(), log: ShaderLog::default() };
        let used = in_order(stage, memory, budget, jobs, &work, &mut launched);
        note_textures(&stage.textures.bind(memory), used, stage, &mut launched.log);
        return launched;
    }
    launch_reading(stage, memory, budget, threads, jobs, work)
}

/// Runs `work` for each of `jobs`, for a stage that [only reads](StageState::only_reads).
pub fn launch_reading<J: Send, R: Send>(
    stage: &StageState,
    memory: &Memory,
    budget: &mut Budget,
    threads: Threads,
    jobs: impl Iterator<Item = J>,
    work: impl Fn(&mut Worker<'_>, J) -> R + Sync,
) -> Launched<R> {
    let mut launched = Launched { results: Vec::new(), log: ShaderLog::default() };
    budget.settle(Work::Copy16, tpl1::copy_cost(stage.textures.bytes_copied(memory)));
    let bank = stage.textures.bind(memory);
    let gpu = || GpuMemory::ReadOnly(memory, &bank);
    let used = side_by_side(stage, gpu, budget, threads, jobs, work, &mut launched);
    note_textures(&bank, used, stage, &mut launched.log);
    launched
}

/// Runs one job after the other, with exclusive access to memory. Returns the textures that were used.
pub(super) fn in_order<J, R>(
    stage: &StageState,
    memory: &mut Memory,
    budget: &mut Budget,
    jobs: impl IntoIterator<Item = J>,
    work: &impl Fn(&mut Worker<'_>, J) -> R,
    launched: &mut Launched<R>,
) -> u128 {
    let mut worker = Worker::new(stage, GpuMemory::ReadWrite(memory)).until(&budget.ends());
    for job in jobs {
        let share = budget.share(Work::Copy16, 1);
        launched.add(worker.job(job, share, work), budget);
        if launched.is_over(budget) {
            break;
        }
    }
    worker.retire()
}

/// Runs the jobs in rounds. Returns the textures that were used.
fn side_by_side<'a, J: Send, R: Send>(
    stage: &'a StageState,
    gpu: impl Fn() -> GpuMemory<'a> + Sync,
    budget: &mut Budget,
    threads: Threads,
    jobs: impl Iterator<Item = J>,
    work: impl Fn(&mut Worker<'_>, J) -> R + Sync,
    launched: &mut Launched<R>,
) -> u128 {
    let mut jobs = jobs.peekable();
    let mut mine: Option<Worker<'a>> = None;
    let mut used = 0;
    let ends = budget.ends();
    let worker = || Worker::new(stage, gpu()).until(&ends);
    let job = |worker: &mut Worker<'a>, job: J, share: u64| {
        worker.memory.used_textures = 0;
        (worker.job(job, share, &work), worker.memory.used_textures)
    };
    while !launched.is_over(budget) {
        let Some(next) = jobs.next() else { break };
        if jobs.peek().is_none() {
            // Most draws have one job, which needs no lists.
            let share = budget.share(Work::Copy16, 1);
            let (done, textures) = job(mine.get_or_insert_with(worker), next, share);
            used |= textures;
            launched.add(done, budget);
            break;
        }
        let round: Vec<J> = iter::once(next).chain(jobs.by_ref()).take(ROUND).collect();
        let share = budget.share(Work::Copy16, round.len());
        let done: Vec<_> = match threads {
            Threads::This => {
                let mine = mine.get_or_insert_with(worker);
                round.into_iter().map(|next| job(mine, next, share)).collect()
            }
            Threads::All => parallel::each_with(
                round,
                Helpers::TakeLast,
                || PooledWorker(worker()),
                |hand, next| job(&mut hand.0, next, share),
            ),
        };
        for (done, textures) in done {
            used |= textures;
            launched.add(done, budget);
        }
    }
    mine.map(Worker::retire);
    used
}

/// Records problems with the textures that were used.
pub(super) fn note_textures(bank: &BoundBank<'_>, used: Used, stage: &StageState, log: &mut ShaderLog) {
    if used == 0 {
        return;
    }
    log.missing.extend(bank.missing(used));
    for (slot, error) in stage.textures.unsupported(used) {
        log.refuse(format!("{:?} texture {slot}: {error}", stage.stage));
    }
}

#[cfg(test)]
mod tests {

    use crate::draw::vpc::state::Interpolation;
    use crate::draw::vpc::state::Replacement;

    use super::*;
    use crate::draw::gras::quad::quads;
    use crate::draw::vertices::Vertices;
    use crate::draw::vpc::interpolate::Source;
    use crate::draw::vpc::interpolate::tests::primitive;
    use crate::draw::vpc::planes::Interpolated;
    use crate::draw::vpc::state::MAX_VARYINGS;
    use a4emu_shader::jit::Routine;
    use a4emu_shader::{Jit, Lanes, Summary};

    fn stage(text: &str, stores: bool) -> StageState {
        StageState { summary: Summary { stores, ..Summary::default() }, ..StageState::of(text) }
    }

    /// Returns the warps that each job ran, their work, and the cut. Job `i` asks for `wanted[i]` warps.
    fn run(
        stage: &StageState,
        wanted: &[u32],
        units: u64,
        threads: usize,
    ) -> (Vec<u32>, ShaderWork, Option<Work>) {
        let mut budget = Budget::new(units);
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let job = |worker: &mut Worker<'_>, wanted: u32| {
            (0..wanted).take_while(|_| worker.run(WarpLanes::first(LANES), None, |_, _| ())).count() as u32
        };
        let launched = pool.install(|| {
            let jobs = wanted.iter().copied();
            launch(stage, &mut Memory::new(), &mut budget, Threads::All, jobs, job)
        });
        assert_eq!(launched.log.fault, None);
        (launched.results, launched.log.work, budget.cut())
    }

    /// Cost of a warp of `end`.
    const WARP: u64 = Work::Warp.price() + Work::WarpInstruction.price();

    #[test]
    fn all_runs_when_the_budget_is_large_enough() {
        // Numbers of jobs: one, a full round and one more, and more than two rounds.
        for (jobs, stores) in [1, ROUND + 1, 70].into_iter().flat_map(|jobs| [(jobs, false), (jobs, true)]) {
            let (wanted, warps) = (vec![3; jobs], 3 * jobs as u64);
            let (ran, work, cut) = run(&stage("end\n", stores), &wanted, 64 * warps * WARP, 2);
            assert_eq!((ran, work.warps, cut), (wanted, warps, None), "{stores}");
        }
    }

    #[test]
    fn the_cut_is_the_same_for_any_number_of_threads() {
        let wanted: Vec<u32> = (0..200).map(|i| i % 7 * 10).collect();
        for (stores, units) in [(false, 3000 * WARP), (true, 3000 * WARP), (false, 40 * WARP)] {
            let stage = stage("end\n", stores);
            let one = run(&stage, &wanted, units, 1);
            assert!(one.2.is_some() && one.0.len() < wanted.len(), "it is cut: {:?}", one.2);
            for threads in [2, 5] {
                assert_eq!(run(&stage, &wanted, units, threads), one, "{threads} threads");
            }
        }
    }

    #[test]
    fn no_more_is_done_than_the_budget_holds_and_a_warp_for_each_job() {
        for stores in [false, true] {
            let (_, work, cut) = run(&stage("end\n", stores), &[1 << 20; 40], 1000 * WARP, 5);
            assert_eq!(cut, Some(Work::Warp));
            assert!((1000..=1000 + ROUND as u64).contains(&work.warps), "{} warps", work.warps);
        }
    }

    #[test]
    fn a_warp_without_end_is_cut_within_the_budget() {
        let units = 5000 * Work::WarpInstruction.price();
        let (ran, work, cut) = run(&stage("loop:\njump #loop\nend\n", true), &[1, 1], units, 1);
        assert_eq!((ran, cut), (vec![0], Some(Work::WarpInstruction)));
        assert!(work.instructions <= 5001, "{}", work.instructions);
    }

    /// Runs four warps in a job with this budget. Returns the work, whether they ran in lockstep, and the
    /// results.
    fn side_by_side_for(stage: &StageState, units: u64) -> (ShaderWork, bool, Vec<Lanes>) {
        let (primitives, vertices) = ([primitive()], Vertices::new(0, 3));
        let (interpolation, replacement) =
            ([Interpolation::Smooth; MAX_VARYINGS], [Replacement::None; MAX_VARYINGS]);
        let interpolated = Interpolated::ALL;
        let source = Source {
            primitives: &primitives,
            vertices: &vertices,
            interpolation: &interpolation,
            replacement: &replacement,
            interpolated,
        };
        let quads = quads(0, [0, 0], u32::MAX);
        let quads = WarpQuads::new(&quads, &source);
        let mut memory = Memory::new();
        let mut worker = Worker::new(stage, GpuMemory::ReadWrite(&mut memory));
        let enter = |warp: &mut Warp, n: usize| {
            (0..2).for_each(|id| *warp.full_mut(id) = Lanes([(n as f32 + 1.5).to_bits(); LANES]));
        };
        let ((ran, found), log, _) = worker.one_job(units, |worker| {
            let lockstep_cost = worker.lockstep_cost().expect("it goes straight on");
            let ran =
                worker.run_lockstep(lockstep_cost, [Mask::MAX; 4].into_iter(), &quads, 0..2, None, |warps| {
                    warps.iter_mut().enumerate().for_each(|(n, warp)| enter(warp, n));
                });
            let mut found: Vec<Lanes> = worker.lockstep_warps.iter().map(|warp| *warp.full(6)).collect();
            if ran == WarpGroup::Not {
                found = (0..4)
                    .map(|n| {
                        worker.run(WarpLanes::first(LANES), Some(&quads), |warp, _| enter(warp, n));
                        *worker.warp.full(6)
                    })
                    .collect();
            }
            (ran, found)
        });
        (log.work, ran != WarpGroup::Not, found)
    }

    #[test]
    fn warps_run_side_by_side_where_all_of_them_are_paid_for() {
        let stage =
            stage("add.f r1.x, r0.x, c0.x\nmul.f r1.y, r1.x, r0.y\nadd.f r1.z, r1.x, r1.y\nend\n", false);
        stage.program.prepare(Jit::On);
        if stage.program.routine().is_none() {
            return;
        }
        let lockstep_cost =
            stage.program.routine().and_then(Routine::lockstep_cost).expect("it goes straight on");
        assert_eq!(lockstep_cost.requests, 0);
        let cost = 4 * price(lockstep_cost, &stage.textures);
        let (work, ran, found) = side_by_side_for(&stage, cost + 1);
        assert!(ran && work.warps == 4 && work.units() == cost);
        let (alone, ran, found_alone) = side_by_side_for(&stage, cost);
        assert!(!ran, "the last would use up what there is");
        assert_eq!((alone, found_alone), (work, found));
    }

    #[test]
    fn no_job_runs_after_a_fault() {
        let stage = stage("loop:\njump #loop\nend\n", true);
        let mut budget = Budget::new(u64::MAX);
        let job = |worker: &mut Worker<'_>, _| worker.run(WarpLanes::first(LANES), None, |_, _| ());
        let launched = launch(&stage, &mut Memory::new(), &mut budget, Threads::All, 0..3, job);
        assert_eq!((launched.results, launched.log.work.warps), (vec![false], 1));
        assert!(launched.log.fault.is_some());
    }
}
