//! `--max-work`, `--max-memory`, `--time-limit`: what a run may cost.

use std::path::Path;
use std::time::{Duration, Instant};

use a4emu_decoder::asm::Bounds;
use a4emu_decoder::capture::Foreign;
use a4emu_gpu::budget::{self, Budget, Interrupt};
use a4emu_gpu::gpu::Model;
use a4emu_gpu::memory::MAX_HELD;
use a4emu_gpu::playback::Playback;
use a4emu_shader::Jit;

/// Bytes of memory that each byte of a capture's file adds to the limit: real ones pack less well.
const HELD_PER_BYTE: u64 = 16;

/// Bytes that any run may keep of what it shows; most may keep half as many as of GPU memory.
const LEAST_ROOM: u64 = 16 << 20;

/// How much a run may do; the default grows with what a capture holds.
#[derive(Clone, Debug, Default)]
pub struct WorkLimits {
    /// Units of work after which a run ends ([`Budget`]); by default what [`WorkLimits::budget`] is asked for, and more
    /// for what the capture holds.
    pub max_work: Option<u64>,
    /// Seconds after which a run ends; where that is depends on the machine.
    pub time_limit: Option<u32>,
    /// When a command of several runs has to end: set by [`WorkLimits::begun`].
    pub deadline: Option<Instant>,
    /// What a caller of the library ends the run with.
    pub interrupt: Option<Interrupt>,
}

impl WorkLimits {
    /// These limits of a command that begins now: the time of all its runs together is limited.
    #[must_use]
    pub fn begun(&self) -> Self {
        let time = self.time_limit.map(|seconds| Duration::from_secs(seconds.into()));
        Self { deadline: time.and_then(|time| Instant::now().checked_add(time)), ..self.clone() }
    }

    /// The work of a run that may do `least` units, however little the input holds.
    pub fn budget(&self, least: u64) -> Budget {
        self.share(least, 1)
    }

    /// The work of each of `runs` that follow each other: equal shares, so that runs of one capture that do the
    /// same are cut off at the same place.
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

/// How a run plays a capture, and its bounds.
#[derive(Clone, Debug, Default)]
pub struct Limits {
    /// How much it may do.
    pub work: WorkLimits,
    /// Bytes of GPU memory that are kept at a time, and twice the bytes kept of what is shown; by default 512 MiB, and 16
    /// for each byte of the capture's file.
    pub max_memory: Option<u64>,
    /// Whose behaviour the chip has where a real board does otherwise than OpenGL says.
    pub model: Model,
    /// Which shaders are compiled; it changes no byte of output.
    pub jit: Jit,
    /// The commands of a capture of another generation (A3xx, A6xx ..) are taken for an A4xx's.
    pub force: bool,
}

impl Limits {
    /// These limits of a command of several runs, which begins now.
    #[must_use]
    pub fn begun(&self) -> Self {
        Self { work: self.work.begun(), ..self.clone() }
    }

    /// A chip that plays the file `capture` within them and renders.
    pub fn playback(&self, capture: &Path) -> Playback {
        self.playback_of(capture, budget::BASE)
    }

    /// The same for a run that may do `least` units, however little the capture holds.
    pub fn playback_of(&self, capture: &Path, least: u64) -> Playback {
        self.playback_within(self.work.budget(least), capture)
    }

    /// The same for one of the `runs` of a command, which together are within them.
    pub fn playback_of_many(&self, capture: &Path, runs: u32) -> Playback {
        self.playback_within(self.work.share(budget::BASE, runs), capture)
    }

    /// The work of somebody who steps through a shader behind one of `runs`, however long that takes.
    pub fn of_steps(&self, runs: u32) -> Budget {
        WorkLimits { time_limit: None, deadline: None, ..self.work.clone() }.share(budget::BASE, runs)
    }

    /// What is done with a capture of another generation.
    pub fn foreign(&self) -> Foreign {
        if self.force { Foreign::Interpret } else { Foreign::PassOver }
    }

    fn playback_within(&self, budget: Budget, capture: &Path) -> Playback {
        let mut playback = Playback::default();
        playback.foreign = self.foreign();
        playback.gpu.model = self.model;
        playback.gpu.pipeline.programs.jit = self.jit;
        let file = std::fs::metadata(capture).map_or(0, |metadata| metadata.len());
        let memory = self.memory(file.saturating_mul(HELD_PER_BYTE));
        playback.gpu.mem.limit = memory;
        playback.gpu.budget = budget.with_room((memory / 2).max(LEAST_ROOM));
        playback
    }

    /// Bytes that may be held at a time, where an input asks for `more` than usual.
    pub fn memory(&self, more: u64) -> u64 {
        self.max_memory.unwrap_or(MAX_HELD.saturating_add(more))
    }
}

/// Bounds of an assembler.
#[derive(Clone, Copy, Debug, Default)]
pub struct StepLimit {
    /// Steps after which the assembler ends: a token or 16 bytes each. By default 64 Mi, and 16 for each byte of source.
    pub max_work: Option<u64>,
}

impl StepLimit {
    /// How far a source may go.
    pub fn bounds(self) -> Bounds {
        self.max_work.map_or_else(Bounds::default, Bounds::of_steps)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_gpu::budget::Work;

    #[test]
    fn memory_grows_with_the_file_unless_somebody_says_how_much() {
        let file = tempfile::NamedTempFile::new().unwrap();
        file.as_file().set_len(1000).unwrap();
        let limit = |max_memory| {
            let limits = Limits { max_memory, ..Limits::default() };
            limits.playback(file.path()).gpu.mem.limit
        };
        assert_eq!(limit(None), MAX_HELD + 1000 * HELD_PER_BYTE);
        assert_eq!(limit(Some(5)), 5);
        assert_eq!(Limits::default().memory(0), MAX_HELD);
    }

    /// What has begun ends by the clock, however many runs come.
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
    fn what_is_kept_is_half_of_the_memory() {
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
