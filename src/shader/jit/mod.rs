//! Compiled shaders.
//!
//! A [`Routine`] is a program cut into segments (`segment`), each of them planned as values (`plan`, with what
//! is read later from `live`), given registers (`emit`) and instructions (`select`, `assembler`, `machine`),
//! and placed behind the `wall`, where the only unsafe code is. What has no code runs in the interpreter's
//! loops, operation by operation; control flow and what the environment does are the interpreter's too. So
//! a warp goes from one to the other between any two steps, and the bits are the same.
//!
//! Textures that are common enough are read in the code (`sample`), of programs without branches, for AVX-512, and colours
//! of common targets become pixels there (`pixel`). How that is done depends on the draw, so that there is such code for
//! several ways to read (`ways`) and to finish (`finished`).
mod assembler;
mod emit;
mod finished;
mod line;
mod listing;
mod live;
mod machine;
mod names;
mod pixel;
mod plan;
mod sample;
mod segment;
mod select;
#[cfg(test)]
mod tests;
mod wall;
mod ways;

use super::alu;
use super::environment::Environment;
use super::finish::Finish;
use super::lanes::{ALL, Lanes, Mask};
use super::program::Program;
use super::reading::Reading;
use super::run::{Outcome, apply, step};
use super::warp::{Killed, Warp};
use finished::EpilogueVariants;
use line::Line;
use machine::Machine;
use segment::{Part, Segment};
use ways::{Coded, SamplerVariants};

/// What this computer runs of what code is made for, if anything.
pub fn target() -> Option<&'static str> {
    Machine::here().map(Machine::name)
}

pub use super::finish::WarpGroup;
pub use line::{TOGETHER, WarpCost};
pub use listing::listing;
pub use segment::refusal;
pub use wall::Texels;
pub use wall::{Dwords, prefetch};

/// A compiled program.
pub struct Routine {
    machine: Machine,
    /// By the step that they begin with.
    segments: Vec<Option<Segment>>,
    /// The way through all of them, if there is only one.
    line: Option<Line>,
    /// The same with requests for texels in the code.
    ways: Option<SamplerVariants>,
    /// What is in the code beside operations.
    coded: Coded,
    /// The same with pixels instead of colours.
    finished: EpilogueVariants,
}

impl Routine {
    /// The code of `program`; `None` when there is none for it, or for this computer.
    pub fn new(program: &Program) -> Option<Self> {
        Self::for_machine(program, Machine::here()?)
    }

    /// What a warp costs, where several can run side by side.
    pub fn toll(&self) -> Option<WarpCost> {
        self.line.as_ref()?.toll()
    }

    /// Whether there may be code that makes pixels of colours.
    pub fn makes_pixels(&self) -> bool {
        self.machine == Machine::Avx512
    }

    /// Texture and sampler of each request for texels that can be in the code, if any can.
    pub fn requests(&self) -> Option<&[[u32; 2]]> {
        Some(&self.ways.as_ref()?.requests)
    }

    /// The number of the code of `program`, whose routine this is, that has those of these requests in it of which it is
    /// said how they are read; if there is such code.
    pub fn way(&self, program: &Program, readings: &[Option<Reading>]) -> Option<usize> {
        self.ways.as_ref()?.number(program, readings)
    }

    fn run_together(
        &self,
        program: &Program,
        warps: &mut [Warp],
        environment: &mut impl Environment,
        finish: Option<&Finish>,
    ) -> WarpGroup {
        let Some(line) = self.line.as_ref().filter(|line| line.toll().is_some()) else {
            return WarpGroup::Not;
        };
        let (line, code) = match self.way_here(program, environment) {
            Some(way) => {
                environment.sampled(warps.len() as u64 * u64::from(Mask::BITS));
                way
            }
            None if environment.has_planes(&line.locations) => (line, self),
            None => return WarpGroup::Not,
        };
        match finish.and_then(|finish| code.finished(program, finish, warps.len())) {
            Some((line, code)) => {
                line.take_together(program, code, warps, environment);
                WarpGroup::Pixels
            }
            None => {
                line.take_together(program, code, warps, environment);
                WarpGroup::Colors
            }
        }
    }

    /// The same way through code that finishes so, if there is such code for so many warps more.
    fn finished(&self, program: &Program, finish: &Finish, warps: usize) -> Option<(&Line, &Self)> {
        self.makes_pixels().then(|| self.finished.get(program, finish, &self.coded, warps))?
    }

    /// Whether the end of its only way is in the code.
    fn has_end(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.has_end(&self.segments))
    }

    /// Calls `look` with what is in each code that it has beside that for all draws.
    fn each_variant(&self, look: &mut dyn FnMut(&Coded)) {
        let ways = self.ways.iter().flat_map(SamplerVariants::all);
        for routine in self.finished.all().chain(ways) {
            look(&routine.coded);
            routine.each_variant(look);
        }
    }

    /// The line of the way that reads textures as they are here, and the code, if all varyings of it are here.
    fn way_here(&self, program: &Program, environment: &mut impl Environment) -> Option<(&Line, &Self)> {
        let way = self.ways.as_ref()?.get(environment.way(program)?)?;
        let line = way.line.as_ref()?;
        let are_there = line.locations.is_empty() || environment.has_planes(&line.locations);
        are_there.then_some((line, way))
    }

    fn for_machine(program: &Program, machine: Machine) -> Option<Self> {
        let routine = Self::cut(program, machine, Coded::default());
        let ways = routine
            .line
            .as_ref()
            .and_then(|line| line.toll())
            .and_then(|_| SamplerVariants::new(program, machine));
        let has_code = ways.is_some() || routine.segments.iter().any(Option::is_some);
        has_code.then_some(Self { ways, ..routine })
    }

    /// With this in the code as well.
    fn with(program: &Program, machine: Machine, coded: Coded) -> Option<Self> {
        let routine = Self::cut(program, machine, coded);
        routine.segments.iter().any(Option::is_some).then_some(routine)
    }

    fn cut(program: &Program, machine: Machine, coded: Coded) -> Self {
        let segments = segment::segments(program, machine, &coded, &mut |_| ());
        let line = Line::new(program, &segments);
        Self { machine, segments, line, coded, ways: None, finished: EpilogueVariants::default() }
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
    {
        let (taken, code) = match routine.way_here(program, environment) {
            Some(way) => {
                environment.sampled(warp.flow.executing().count_ones().into());
                way
            }
            None => (line, routine),
        };
        if let Some(outcome) = warp.take(taken, program, code, environment) {
            // Which warps had requests in their code is not the same in every run; what is counted is.
            warp.compiled = line.compiled();
            return outcome;
        }
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
/// come to alone; what is interpolated is the same primitive for all. Where there is code that makes pixels of colours as
/// `finish` says, that is all that they leave.
pub fn run_together(
    program: &Program,
    warps: &mut [Warp],
    environment: &mut impl Environment,
    finish: Option<&Finish>,
) -> WarpGroup {
    program
        .routine()
        .map_or(WarpGroup::Not, |routine| routine.run_together(program, warps, environment, finish))
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
        self.run_parts(program, segment, executing | self.idle, environment);
        self.flow.step = segment.last;
        let last = &program.steps[segment.last as usize];
        apply(last, self, executing, environment).err().map(Outcome::from)
    }

    /// Runs the operations of `segment`, for which there is code, in the lanes of `mask`.
    #[inline]
    fn run_parts(
        &mut self,
        program: &Program,
        segment: &Segment,
        mask: Mask,
        environment: &impl Environment,
    ) {
        self.executed += segment.instructions;
        self.compiled += segment.compiled;
        for part in &segment.parts {
            match part {
                Part::Native(native) => {
                    let code = native.code(program, &segment.locations, mask);
                    code.expect("there is code").call(
                        &mut self.rows,
                        &mut self.frame,
                        mask,
                        environment.texels(),
                    );
                }
                Part::Loops(range) => {
                    alu::run(&program.alus[range.start as usize..range.end as usize], &mut self.rows, mask);
                }
            }
        }
    }
}
