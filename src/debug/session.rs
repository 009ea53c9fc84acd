//! A warp that steps forward and back, one instruction at a time.
//!
//! A step back runs forward from a checkpoint. The [`Recorder`] performs each memory operation only once, so
//! a repeated stretch runs identically.

use std::collections::BTreeSet;
use std::io;

use super::recorder::Recorder;
use super::scalar::Scalar;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_shader::{Environment, Mask, Outcome, Program, ShaderFault, Warp, lanes_of, step};
use a4emu_support::status::{Failure, Status};

/// Cost of a step, in copied blocks of 16 bytes (a rough value): the recorded result and a part of a
/// checkpoint.
const STEP: u64 = 150;

/// Maximum number of checkpoints. If there would be more, every second one is dropped.
const MAX_CHECKPOINTS: usize = 256;

/// An instruction of the program for the display.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Its text.
    pub text: String,
    /// Whether execution stops here without a breakpoint.
    pub trap: bool,
    /// Line of the source that it comes from, from 1.
    pub source: Option<u32>,
}

/// A watched value of one lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Watch {
    /// The lane.
    pub lane: usize,
    /// The register or constant.
    pub scalar: Scalar,
}

/// The reason why the warp has stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// The requested number of instructions has run.
    Step,
    /// The warp is at a breakpoint, or at an instruction that traps.
    Breakpoint,
    /// A watched value has changed. When stepping back: it is about to change.
    Watch(Watch),
    /// The warp is at the first position that can be restored.
    Start,
    /// The program has ended or cannot continue.
    End(Outcome),
}

/// A position from which execution can be repeated.
struct Checkpoint {
    position: u64,
    answers: usize,
    warp: Warp,
}

/// A warp in the debugger.
pub struct Session<'a> {
    program: &'a Program,
    lines: &'a [Line],
    warp: Warp,
    recorder: Recorder<'a>,
    /// Number of executed instructions.
    position: u64,
    /// Greatest position so far.
    frontier: u64,
    checkpoints: Vec<Checkpoint>,
    interval: u64,
    end: Option<Outcome>,
    /// Budget of all steps, forward and back.
    budget: Budget,
    /// Instructions to stop at.
    pub breakpoints: BTreeSet<u32>,
    /// Values at whose change to stop.
    pub watches: BTreeSet<Watch>,
}

impl<'a> Session<'a> {
    /// Makes a session of `warp` of `program`. The warp is restarted and has its inputs; `lines` has one
    /// entry per instruction.
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
        session.end = session.pause();
        session.keep();
        session
    }

    /// Limits all steps of the session to `budget`.
    #[must_use]
    pub fn within(self, budget: Budget) -> Self {
        Self { budget, ..self }
    }

    /// Charges the reading of a command and the `bytes` of its answer.
    ///
    /// # Errors
    /// The call fails if the budget is used up.
    pub fn pay_command(&mut self, bytes: u64) -> io::Result<()> {
        if self.budget.take(Work::Text16, 1 + bytes / 16) {
            return Ok(());
        }
        let message = self.budget.refusal().unwrap_or_default();
        Err(io::Error::other(Failure { status: Status::Unsupported, message }))
    }

    /// The program's instructions.
    pub fn lines(&self) -> &'a [Line] {
        self.lines
    }

    /// The current state of the warp.
    pub fn warp(&self) -> &Warp {
        &self.warp
    }

    /// The program.
    pub fn program(&self) -> &'a Program {
        self.program
    }

    /// The reason why the warp cannot continue.
    pub fn end(&self) -> Option<&Outcome> {
        self.end.as_ref()
    }

    /// Number of executed instructions.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// The first position that the session can go back to.
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

    /// The memory or texture access of `lane` by the last instruction, as text.
    pub fn access(&self, lane: usize) -> Option<String> {
        self.recorder.last.as_ref()?.text(lane)
    }

    /// The `len` bytes of global memory at `address`, each `None` where it is not known. Stores of the warp are in them up
    /// to the furthest position that the session has reached: a step back does not take them back.
    pub fn memory(&self, address: u64, len: usize) -> Vec<Option<u8>> {
        self.budget.observe(Work::Copy16, len as u64);
        (0..len as u64).map(|at| self.recorder.peek(address.checked_add(at)?)).collect()
    }

    /// The value of `scalar` in `lane`.
    pub fn value(&self, scalar: Scalar, lane: usize) -> u32 {
        scalar.read(&self.warp, lane)
    }

    /// Initial values of the registers that the program reads before it writes them.
    pub fn inputs(&self, lane: usize) -> Vec<(Scalar, u32)> {
        let Some(first) = self.checkpoints.first().filter(|first| first.position == 0) else {
            return Vec::new();
        };
        let scalars = self.program.inputs().map(Scalar::Full);
        scalars.map(|scalar| (scalar, scalar.read(&first.warp, lane))).collect()
    }

    /// Executes one instruction. Returns false at the end, or if the budget is used up.
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
        if matches!(outcome, None | Some(Outcome::Wave)) {
            outcome = self.pause();
        }
        if outcome == Some(Outcome::Barrier) {
            if self.position > self.frontier {
                self.recorder.barrier();
            }
            outcome = self.pause();
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

    /// The reason why no lane can run. Before, other warps of the wave run until this one can go on. They cannot go back, and so
    /// this one cannot either.
    fn pause(&mut self) -> Option<Outcome> {
        let outcome = self.warp.pause();
        if outcome != Some(Outcome::Wave) {
            return outcome;
        }
        self.recorder.wave(&mut self.warp);
        self.forget();
        self.warp.pause()
    }

    /// Makes this place the first that the session can go back to.
    fn forget(&mut self) {
        self.recorder.forget();
        self.checkpoints.clear();
        self.keep();
    }

    /// Runs until `lane` has executed an instruction, or until a stop.
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

    /// Runs until a stop.
    pub fn run(&mut self) -> Stopped {
        loop {
            if let Some(stopped) = self.forward_to_stop() {
                return stopped;
            }
        }
    }

    /// Executes up to `count` instructions.
    pub fn advance(&mut self, count: u64) -> Stopped {
        let mut left = count;
        while left > 0 && self.forward() {
            left -= 1;
        }
        self.end.clone().map_or(Stopped::Step, Stopped::End)
    }

    /// Executes one instruction. Returns the reason if execution stops here.
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

    /// A watch whose value has changed.
    fn changed(&self, before: &[u32]) -> Option<Watch> {
        let pairs = self.watches.iter().zip(before);
        pairs.into_iter().find(|(watch, old)| self.value(watch.scalar, watch.lane) != **old).map(|(w, _)| *w)
    }

    fn is_at_breakpoint(&mut self) -> bool {
        self.next().is_some_and(|(at, _)| {
            self.breakpoints.contains(&at) || self.lines.get(at as usize).is_some_and(|line| line.trap)
        })
    }

    /// Goes back by up to `count` instructions.
    pub fn back(&mut self, count: u64) -> Stopped {
        self.go_to(self.position.saturating_sub(count));
        if self.position == self.first_position() { Stopped::Start } else { Stopped::Step }
    }

    /// Goes back to just before the last instruction that `lane` executed.
    pub fn back_in(&mut self, lane: usize) -> Stopped {
        self.rewind(|session| {
            let mine = session.next().is_some_and(|(_, lanes)| lanes >> lane & 1 != 0);
            mine.then_some(Stopped::Step)
        })
    }

    /// Goes back until a stop: before a breakpoint's instruction, or before a watched value changed.
    pub fn run_back(&mut self) -> Stopped {
        self.rewind(|session| session.is_at_breakpoint().then_some(Stopped::Breakpoint))
    }

    /// Goes back to the last earlier position where `stop` returns a reason or a watched value changes; or
    /// to the first.
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

    /// Goes to the state after `position` instructions, or to the nearest possible one.
    fn go_to(&mut self, position: u64) {
        let position = position.max(self.first_position());
        // Start from an earlier checkpoint, so that the last instruction runs again and its access is
        // recorded.
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
            self.forget();
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

    /// The lanes that started.
    pub fn lanes(&self) -> impl Iterator<Item = usize> + use<> {
        lanes_of(self.warp.started())
    }
}
