//! Compiled shaders.
//!
//! A [`Routine`] is a program cut into segments (`segment`), each of them planned as values (`plan`, with what
//! is read later from `live`), given registers (`emit`) and instructions (`select`, `assembler`, `machine`),
//! and placed behind the `wall`, where the only unsafe code is. What has no code runs in the interpreter's
//! loops, operation by operation; control flow and what the environment does are the interpreter's too. So
//! a warp goes from one to the other between any two steps, and the bits are the same.
mod assembler;
mod emit;
mod line;
mod listing;
mod live;
mod machine;
mod names;
mod plan;
mod segment;
mod select;
#[cfg(test)]
mod tests;
mod wall;

use super::alu;
use super::environment::Environment;
use super::lanes::{ALL, Lanes, Mask};
use super::program::Program;
use super::run::{Outcome, apply, step};
use super::warp::{Killed, Warp};
use line::Line;
use machine::Machine;
use segment::{Part, Segment};

/// What this computer runs of what code is made for, if anything.
pub fn target() -> Option<&'static str> {
    Machine::here().map(Machine::name)
}

pub use line::{TOGETHER, Toll};
pub use listing::listing;
pub use segment::refusal;
pub(crate) use wall::{Dwords, prefetch};

/// A compiled program.
pub struct Routine {
    /// By the step that they begin with.
    segments: Vec<Option<Segment>>,
    /// The way through all of them, if there is only one.
    line: Option<Line>,
}

impl Routine {
    /// The code of `program`; `None` when there is none for it, or for this computer.
    pub fn new(program: &Program) -> Option<Self> {
        Self::for_machine(program, Machine::here()?)
    }

    /// What a warp costs, where several can run side by side.
    pub fn toll(&self) -> Option<Toll> {
        self.line.as_ref()?.toll()
    }

    fn run_together(
        &self,
        program: &Program,
        warps: &mut [Warp],
        environment: &mut impl Environment,
    ) -> bool {
        let line = self.line.as_ref().filter(|line| line.toll().is_some());
        line.is_some_and(|line| line.take_together(program, self, warps, environment))
    }

    fn for_machine(program: &Program, machine: Machine) -> Option<Self> {
        let segments = segment::segments(program, machine, &mut |_| ());
        let line = Line::new(program, &segments);
        segments.iter().any(Option::is_some).then_some(Self { segments, line })
    }
}

/// As [`run`](super::run()), with the code of `routine` where it has any.
pub fn run(
    program: &Program,
    routine: &Routine,
    warp: &mut Warp,
    environment: &mut impl Environment,
) -> Outcome {
    if let Some(line) = &routine.line
        && warp.may_take(line)
        && let Some(outcome) = warp.take(line, program, routine, environment)
    {
        return outcome;
    }
    loop {
        let done = match warp.pause() {
            Some(outcome) => Some(outcome),
            None => match &routine.segments[warp.flow.step as usize] {
                Some(segment) if warp.may_run(program, segment, environment) => {
                    warp.run_segment(program, segment, environment)
                }
                _ => step(program, warp, environment),
            },
        };
        if let Some(outcome) = done {
            return outcome;
        }
    }
}

/// Runs all lanes of `warps`, which have begun with [`Warp::begin_together`], side by side to the end that each would
/// come to alone; what is interpolated is the same primitive for all. False, and nothing of that done, if it cannot be.
pub fn run_together(program: &Program, warps: &mut [Warp], environment: &mut impl Environment) -> bool {
    program.routine().is_some_and(|routine| routine.run_together(program, warps, environment))
}

impl Warp {
    /// Whether the whole segment can run at once; if so, what its code reads of the environment is in the frame.
    fn may_run(&mut self, program: &Program, segment: &Segment, environment: &mut impl Environment) -> bool {
        let mask = self.flow.executing() | self.idle;
        let has_code = |part: &Part| match part {
            Part::Native(native) => native.code(program, &segment.locations, mask).is_some(),
            Part::Loops(_) => true,
        };
        self.executed + segment.instructions <= self.limit
            && (mask == ALL || segment.parts.iter().all(has_code))
            && self.has_frame(segment, environment)
    }

    /// Makes the frame that the code of `segment` reads, if it can be had.
    #[inline]
    fn has_frame(&mut self, segment: &Segment, environment: &mut impl Environment) -> bool {
        if self.frame.len() < segment.frame {
            self.frame.resize(segment.frame, Lanes::ZERO);
        }
        let Segment { locations, .. } = segment;
        locations.is_empty()
            || environment.planes(locations, &mut self.frame[emit::SPILLS..][..3 * locations.len()])
    }

    fn run_segment(
        &mut self,
        program: &Program,
        segment: &Segment,
        environment: &mut impl Environment,
    ) -> Option<Outcome> {
        let executing = self.flow.executing();
        if self.on_kill == Killed::End {
            self.lane_instructions += segment.instructions * u64::from(executing.count_ones());
        }
        self.run_parts(program, segment, executing | self.idle);
        self.flow.step = segment.last;
        let last = &program.steps[segment.last as usize];
        apply(last, self, executing, environment).err().map(Outcome::from)
    }

    /// Runs the operations of `segment`, for which there is code, in the lanes of `mask`.
    #[inline]
    fn run_parts(&mut self, program: &Program, segment: &Segment, mask: Mask) {
        self.executed += segment.instructions;
        self.compiled += segment.compiled;
        for part in &segment.parts {
            match part {
                Part::Native(native) => {
                    let code = native.code(program, &segment.locations, mask);
                    code.expect("there is code").call(&mut self.rows, &mut self.frame, mask);
                }
                Part::Loops(range) => {
                    alu::run(&program.alus[range.start as usize..range.end as usize], &mut self.rows, mask);
                }
            }
        }
    }
}
