//! `--max-work`, `--max-memory`, `--time-limit`: the limits of a run.

use std::path::Path;
use std::time::{Duration, Instant};

use a4emu_decoder::adreno::capture::{Foreign, ProcessPattern};
use a4emu_decoder::asm::Bounds;
use a4emu_gpu::budget::{self, Budget, Interrupt};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::gpu::Model;
use a4emu_gpu::memory::MAX_HELD;
use a4emu_gpu::playback::Playback;
use a4emu_shader::Jit;

/// Bytes that the memory limit grows by for each byte of a capture's file. Real captures compress less well.
const HELD_PER_BYTE: u64 = 16;

/// Lower bound of the output that a run may keep, in bytes. The usual limit is half of the memory limit.
const LEAST_ROOM: u64 = 16 << 20;

/// How much work a run may do. The default grows with the size of the capture.
#[derive(Clone, Debug, Default)]
pub struct WorkLimits {
    /// Units of work after which a run ends ([`Budget`]). The default is the argument of
    /// [`WorkLimits::budget`], plus an amount for what the capture holds.
    pub max_work: Option<u64>,
    /// Seconds after which a run ends. The place where it ends depends on the machine.
    pub time_limit: Option<u32>,
    /// Time at which a command of several runs ends. [`WorkLimits::begun`] sets it.
    pub deadline: Option<Instant>,
    /// Handle with which a caller of the library ends the run.
    pub interrupt: Option<Interrupt>,
}

impl WorkLimits {
    /// The limits of a command that begins now. One time limit covers all its runs.
    #[must_use]
    pub fn begun(&self) -> Self {
        let time = self.time_limit.map(|seconds| Duration::from_secs(seconds.into()));
        Self { deadline: time.and_then(|time| Instant::now().checked_add(time)), ..self.clone() }
    }

    /// The budget of a run. By default it has at least `least` units, however small the input is.
    pub fn budget(&self, least: u64) -> Budget {
        self.share(least, 1)
    }

    /// The budget of each of `runs` that follow each other: equal shares. So two runs that do the same work
    /// are cut off at the same place.
    fn share(&self, least: u64, runs: u32) -> Budget {
        let share = |units: u64| units / u64::from(runs);
        let budget = self.max_work.map_or(Budget::new(share(least)), |units| Budget::fixed(share(units)));
        let left = |deadline: Instant| deadline.saturating_duration_since(Instant::now());
        let time = self.time_limit.map(|seconds| Duration::from_secs(seconds.into()));
        let budget = match self.deadline.map(left).or(time) {
            Some(time) => budget.for_time(time / runs),
            None => budget,
        };
        match &self.interrupt {
            Some(interrupt) => budget.until(interrupt.clone()),
            None => budget,
        }
    }
}

/// How a run plays a capture, and its limits.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// The limit of work and time.
    pub work: WorkLimits,
    /// Limit of GPU memory in bytes; the output that is kept may have half as many. The default is 512 MiB,
    /// plus 16 bytes for each byte of the capture's file.
    pub max_memory: Option<u64>,
    /// The behaviour of the chip where a real board differs from OpenGL.
    pub model: Model,
    /// Which shaders are compiled. The output does not depend on it.
    pub jit: Jit,
    /// The process whose submits run; `None` runs all.
    pub process: Option<ProcessPattern>,
    /// Plays the commands of a capture of another generation (A3xx, A6xx ..) as A4xx commands.
    pub force: bool,
    /// The run is that of the reference model ([`Schedule::Reference`]), without the compiler unless [`Limits::jit`] is on.
    pub reference: bool,
}

impl Limits {
    /// The limits of a command of several runs that begins now.
    #[must_use]
    pub fn begun(&self) -> Self {
        Self { work: self.work.begun(), ..self.clone() }
    }

    /// Makes a chip that renders the capture file `capture` within these limits.
    pub fn playback(&self, capture: &Path) -> Playback {
        self.playback_of(capture, budget::BASE)
    }

    /// Makes a chip for a run of `capture` that may do at least `least` units of work.
    pub fn playback_of(&self, capture: &Path, least: u64) -> Playback {
        self.playback_within(self.work.budget(least), capture)
    }

    /// Makes a chip for one of `runs` of a command. The runs together stay within the limits.
    pub fn playback_of_many(&self, capture: &Path, runs: u32) -> Playback {
        self.playback_within(self.work.share(budget::BASE, runs), capture)
    }

    /// The budget of a user who steps through a shader after one of `runs`, without a time limit.
    pub fn of_steps(&self, runs: u32) -> Budget {
        WorkLimits { time_limit: None, deadline: None, ..self.work.clone() }.share(budget::BASE, runs)
    }

    /// How a capture of another generation is treated.
    pub fn foreign(&self) -> Foreign {
        if self.force { Foreign::Interpret } else { Foreign::PassOver }
    }

    /// The schedule of a run for which `preferred` is best.
    pub fn schedule(&self, preferred: Schedule) -> Schedule {
        if self.reference { Schedule::Reference } else { preferred }
    }

    fn playback_within(&self, budget: Budget, capture: &Path) -> Playback {
        let mut playback = Playback::default();
        playback.foreign = self.foreign();
        self.process.iter().for_each(|process| playback.play_only(process.clone()));
        playback.gpu.model = self.model;
        playback.gpu.pipeline.schedule = self.schedule(Schedule::default());
        playback.gpu.pipeline.programs.jit = match self.jit {
            Jit::Auto if self.reference => Jit::Off,
            jit => jit,
        };
        let file = std::fs::metadata(capture).map_or(0, |metadata| metadata.len());
        let memory = self.memory(file.saturating_mul(HELD_PER_BYTE));
        playback.gpu.memory_mut().limit = memory;
        playback.gpu.budget = budget.with_room((memory / 2).max(LEAST_ROOM));
        playback
    }

    /// Limit of memory in bytes, for an input that needs `more` than usual.
    pub fn memory(&self, more: u64) -> u64 {
        self.max_memory.unwrap_or(MAX_HELD.saturating_add(more))
    }
}

/// Limits of an assembler.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepLimit {
    /// Steps after which the assembler ends. A step is a token or 16 bytes. The default is 64 Mi, plus 16
    /// for each byte of source.
    pub max_work: Option<u64>,
}

impl StepLimit {
    /// The bounds for the assembler.
    pub fn bounds(self) -> Bounds {
        self.max_work.map_or_else(Bounds::default, Bounds::of_steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::budget::Work;

    #[test]
    fn memory_limit_grows_with_the_file_unless_given() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1000).unwrap();
        let limit = |max_memory| {
            let limits = Limits { max_memory, ..Limits::default() };
            limits.playback(file.path()).gpu.settle().memory().limit
        };
        assert_eq!(limit(None), MAX_HELD + 1000 * HELD_PER_BYTE);
        assert_eq!(limit(Some(5)), 5);
        assert_eq!(Limits::default().memory(0), MAX_HELD);
    }

    /// One clock limits all runs of a command, however many there are.
    #[test]
    fn a_command_of_several_runs_has_one_limit_of_time() {
        let limits =
            Limits { work: WorkLimits { time_limit: Some(0), ..WorkLimits::default() }, ..Limits::default() };
        let begun = limits.begun();
        for _ in 0..2 {
            assert!(begun.playback(Path::new("")).gpu.budget.ends().is_some_and(|ends| ends.are_reached()));
        }
        let open = Limits::default().begun();
        assert!(open.work.deadline.is_none() && open.playback(Path::new("")).gpu.budget.ends().is_none());
    }

    #[test]
    fn kept_output_may_use_half_of_the_memory_limit() {
        let room = |max_memory| {
            let budget = Limits { max_memory, ..Limits::default() }.playback(Path::new("")).gpu.budget;
            let mut bytes = 0;
            while budget.keep(1 << 20) {
                bytes += 1 << 20;
            }
            bytes
        };
        assert_eq!([room(None), room(Some(64 << 20)), room(Some(1))], [MAX_HELD / 2, 32 << 20, LEAST_ROOM]);
    }

    #[test]
    fn runs_of_one_command_share_what_they_may_do() {
        let share = |max_work, runs| {
            let work = WorkLimits { max_work, ..WorkLimits::default() };
            let budget =
                Limits { work, ..Limits::default() }.playback_of_many(Path::new(""), runs).gpu.budget;
            budget.share(Work::Copy16, 1)
        };
        assert_eq!([share(None, 1), share(None, 4)], [budget::BASE, budget::BASE / 4]);
        assert_eq!([share(Some(100), 1), share(Some(100), 4)], [100, 25]);
        let late = WorkLimits { time_limit: Some(0), ..WorkLimits::default() };
        assert!(!late.share(budget::BASE, 2).take(Work::Packet, 1));
    }

    #[test]
    fn a_source_has_the_steps_that_were_said_and_no_more() {
        assert_eq!(StepLimit { max_work: Some(9) }.bounds(), Bounds::of_steps(9));
        assert_eq!(StepLimit::default().bounds(), Bounds::default());
    }
}
