//! A warp that goes forward and back, an instruction at a time.
//!
//! Going back is going forward again from a checkpoint: the machine around the warp is asked once
//! ([`Recorder`]), so that a stretch that runs again does exactly what it did.

use std::collections::BTreeSet;

use super::recorder::Recorder;
use super::scalar::Scalar;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_shader::{Environment, Mask, Outcome, Program, ShaderFault, Warp, lanes_of, step};

/// 16 bytes that a step copies, about: what the machine answered, and its part of a checkpoint.
const STEP: u64 = 150;

/// Checkpoints that are kept; where there would be more, every second goes.
const MAX_CHECKPOINTS: usize = 256;

/// What is known about one instruction of the source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// What is shown.
    pub text: String,
    /// Does execution stop here by itself?
    pub trap: bool,
    /// Line of the source that it comes from, from 1.
    pub source: Option<u32>,
}

/// A value that is watched: in one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watch {
    /// Whose.
    pub lane: usize,
    /// What.
    pub scalar: Scalar,
}

/// Why the warp stands where it stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It was to go so far.
    Step,
    /// A breakpoint, or an instruction that is one.
    Breakpoint,
    /// A watched value has changed, or is about to when it goes back.
    Watch(Watch),
    /// The first instruction of which something is known.
    Start,
    /// The end of the program, or where it cannot go on.
    End(Outcome),
}

/// Where to go on from.
struct Checkpoint {
    position: u64,
    answers: usize,
    warp: Warp,
}

/// A warp under the debugger.
pub struct Session<'a> {
    program: &'a Program,
    lines: &'a [Line],
    warp: Warp,
    recorder: Recorder<'a>,
    /// Instructions executed.
    position: u64,
    /// The most that they ever were.
    frontier: u64,
    checkpoints: Vec<Checkpoint>,
    interval: u64,
    end: Option<Outcome>,
    /// Of all steps, forward and back.
    budget: Budget,
    /// Instructions to stop at.
    pub breakpoints: BTreeSet<u32>,
    /// Values to stop at the change of.
    pub watches: BTreeSet<Watch>,
}

impl<'a> Session<'a> {
    /// `warp` of `program`, restarted and with its inputs in place; `lines` has one entry per instruction.
    pub fn new(
        program: &'a Program,
        lines: &'a [Line],
        warp: Warp,
        machine: &'a mut dyn Environment,
    ) -> Self {
        let mut session = Self {
            program,
            lines,
            warp,
            recorder: Recorder::new(machine),
            position: 0,
            frontier: 0,
            checkpoints: Vec::new(),
            interval: 16,
            end: None,
            budget: Budget::default(),
            breakpoints: BTreeSet::new(),
            watches: BTreeSet::new(),
        };
        session.end = session.warp.pause();
        session.keep();
        session
    }

    /// The same, which may go no further than `budget` allows.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// The program's instructions.
    pub fn lines(&self) -> &'a [Line] {
        self.lines
    }

    /// The warp as it is.
    pub fn warp(&self) -> &Warp {
        &self.warp
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// Why it cannot go on.
    pub fn end(&self) -> Option<&Outcome> {
        self.end.as_ref()
    }

    /// Instructions executed so far.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Instructions behind which it cannot go back.
    pub fn first_position(&self) -> u64 {
        self.checkpoints.first().map_or(self.position, |first| first.position)
    }

    /// The instruction that runs next, and the lanes that will execute it.
    #[expect(clippy::should_implement_trait, reason = "it goes nowhere: it is what would run")]
    pub fn next(&mut self) -> Option<(u32, Mask)> {
        match self.end {
            Some(_) => None,
            None => self.warp.next_instruction(self.program),
        }
    }

    /// What the last instruction asked of the machine for `lane`.
    pub fn access(&self, lane: usize) -> Option<String> {
        self.recorder.last.as_ref()?.text(lane)
    }

    /// The value of `scalar` in `lane`.
    pub fn value(&self, scalar: Scalar, lane: usize) -> u32 {
        scalar.read(&self.warp, lane)
    }

    /// The values of registers that the program reads before it writes them, at the first instruction.
    pub fn inputs(&self, lane: usize) -> Vec<(Scalar, u32)> {
        let Some(first) = self.checkpoints.first().filter(|first| first.position == 0) else {
            return Vec::new();
        };
        let scalars = self.program.inputs().map(Scalar::Full);
        scalars.map(|scalar| (scalar, scalar.read(&first.warp, lane))).collect()
    }

    /// One instruction. False at the end, or where no more work is allowed.
    pub fn forward(&mut self) -> bool {
        if self.end.is_some() {
            return false;
        }
        if !self.budget.take(Work::WarpInstruction, 1) || !self.budget.take(Work::Copy16, STEP) {
            self.end = Some(ShaderFault::Endless { limit: self.position }.into());
            return false;
        }
        self.recorder.last = None;
        let mut outcome = step(self.program, &mut self.warp, &mut self.recorder);
        self.position += 1;
        if outcome.is_none() {
            outcome = self.warp.pause();
        }
        if outcome == Some(Outcome::Barrier) {
            if self.position > self.frontier {
                self.recorder.barrier();
            }
            outcome = self.warp.pause();
        }
        self.end = outcome;
        if self.position > self.frontier {
            self.frontier = self.position;
            if self.end.is_none() {
                self.keep_now_and_then();
            }
        }
        true
    }

    /// Forward until `lane` has executed an instruction, or something stops it.
    pub fn forward_in(&mut self, lane: usize) -> Stopped {
        loop {
            let is_mine = self.next().is_some_and(|(_, lanes)| lanes >> lane & 1 != 0);
            if let Some(stopped) = self.forward_to_stop() {
                return stopped;
            }
            if is_mine {
                return Stopped::Step;
            }
        }
    }

    /// Forward until something stops it.
    pub fn run(&mut self) -> Stopped {
        loop {
            if let Some(stopped) = self.forward_to_stop() {
                return stopped;
            }
        }
    }

    /// Up to `count` instructions.
    pub fn advance(&mut self, count: u64) -> Stopped {
        let mut left = count;
        while left > 0 && self.forward() {
            left -= 1;
        }
        self.end.clone().map_or(Stopped::Step, Stopped::End)
    }

    /// One instruction; says if it stops here.
    fn forward_to_stop(&mut self) -> Option<Stopped> {
        let before = self.watched();
        self.forward();
        if let Some(outcome) = &self.end {
            return Some(Stopped::End(outcome.clone()));
        }
        let changed = self.changed(&before).map(Stopped::Watch);
        changed.or_else(|| self.is_at_breakpoint().then_some(Stopped::Breakpoint))
    }

    /// The watched values.
    fn watched(&self) -> Vec<u32> {
        self.watches.iter().map(|watch| self.value(watch.scalar, watch.lane)).collect()
    }

    /// A watch whose value is not as it was.
    fn changed(&self, before: &[u32]) -> Option<Watch> {
        let pairs = self.watches.iter().zip(before);
        pairs.into_iter().find(|(watch, old)| self.value(watch.scalar, watch.lane) != **old).map(|(w, _)| *w)
    }

    fn is_at_breakpoint(&mut self) -> bool {
        self.next().is_some_and(|(at, _)| {
            self.breakpoints.contains(&at) || self.lines.get(at as usize).is_some_and(|line| line.trap)
        })
    }

    /// Back by up to `count` instructions.
    pub fn back(&mut self, count: u64) -> Stopped {
        self.go_to(self.position.saturating_sub(count));
        if self.position == self.first_position() { Stopped::Start } else { Stopped::Step }
    }

    /// Back to where `lane` is about to execute the instruction that it executed last.
    pub fn back_in(&mut self, lane: usize) -> Stopped {
        self.rewind(|session| {
            let mine = session.next().is_some_and(|(_, lanes)| lanes >> lane & 1 != 0);
            mine.then_some(Stopped::Step)
        })
    }

    /// Back until something stops it: before a breakpoint's instruction, or before a watched value changed.
    pub fn run_back(&mut self) -> Stopped {
        self.rewind(|session| session.is_at_breakpoint().then_some(Stopped::Breakpoint))
    }

    /// Back to the last earlier position that `stop` or a watch names, or else to the first.
    fn rewind(&mut self, mut stop: impl FnMut(&mut Self) -> Option<Stopped>) -> Stopped {
        let mut limit = self.position;
        while limit > self.first_position() {
            let start = self.checkpoint_before(limit);
            let mut found = None;
            self.go_to(start);
            while self.position < limit {
                let (here, before) = (self.position, self.watched());
                let wanted = stop(self);
                if !self.forward() {
                    break;
                }
                let wanted = wanted.or_else(|| self.changed(&before).map(Stopped::Watch));
                found = wanted.map(|why| (here, why)).or(found);
            }
            if let Some((position, why)) = found {
                self.go_to(position);
                return why;
            }
            limit = start;
        }
        self.go_to(self.first_position());
        Stopped::Start
    }

    /// The position of the last checkpoint before `position`.
    fn checkpoint_before(&self, position: u64) -> u64 {
        let earlier = self.checkpoints.iter().rev().map(|checkpoint| checkpoint.position);
        earlier.into_iter().find(|at| *at < position).unwrap_or_else(|| self.first_position())
    }

    /// To where `position` instructions have been executed, or as near as can be.
    fn go_to(&mut self, position: u64) {
        let position = position.max(self.first_position());
        // From one before, so that the instruction that led there is seen to run.
        let index = self.checkpoints.partition_point(|checkpoint| checkpoint.position < position);
        let Some(checkpoint) = self.checkpoints.get(index.saturating_sub(1)) else { return };
        self.warp = checkpoint.warp.clone();
        self.position = checkpoint.position;
        self.recorder.rewind(checkpoint.answers);
        self.end = self.warp.pause();
        while self.position < position && self.forward() {}
    }

    fn keep_now_and_then(&mut self) {
        if self.recorder.is_full() {
            self.recorder.forget();
            self.checkpoints.clear();
            self.keep();
        }
        if self.checkpoints.last().is_some_and(|last| self.position - last.position >= self.interval) {
            self.keep();
        }
    }

    /// Makes a checkpoint here.
    fn keep(&mut self) {
        if self.checkpoints.len() >= MAX_CHECKPOINTS {
            let mut keep = false;
            self.checkpoints.retain(|_| {
                keep = !keep;
                keep
            });
            self.interval *= 2;
        }
        let (position, answers) = (self.position, self.recorder.position());
        self.checkpoints.push(Checkpoint { position, answers, warp: self.warp.clone() });
    }

    /// Lanes that started.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        lanes_of(self.warp.started())
    }
}
