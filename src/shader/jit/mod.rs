//! Compiled shaders.
//!
//! A [`Routine`] is a program cut into segments (`segment`). Each segment is planned as values (`plan`, with
//! the liveness from `live`). It gets registers (`emit`) and instructions (`select`, `assembler`, `machine`),
//! and is placed in executable memory (`executable`, the only unsafe code). Operations without code run in the
//! interpreter's loops. Control flow and operations of the environment also run in the interpreter. So a warp
//! can change between compiled code and interpreter at any step, and results are bit-identical.
//!
//! Common texture reads are part of the code (`sample`), in programs without branches. So is the conversion of
//! colours to pixels of common render targets (`pixel`). Both depend on the draw, so a program has variants of
//! its code, by texture reads (`sampler_variants`) and by conversion (`epilogue_variants`).
mod assembler;
mod coded;
mod emit;
mod epilogue_variants;
mod executable;
mod listing;
mod live;
mod machine;
mod names;
mod nodes;
mod pixel;
mod plan;
mod sample;
mod sampler_variants;
mod segment;
mod select;
mod straight_line;
#[cfg(test)]
mod tests;

use super::alu;
use super::environment::Environment;
use super::epilogue::Epilogue;
use super::lanes::{ALL, Lanes, Mask};
use super::lowered::Lowered;
use super::reading::Reading;
use super::run::{Outcome, apply, step};
use super::warp::{Killed, Warp};
use coded::Coded;
use epilogue_variants::EpilogueVariants;
use machine::Machine;
use sampler_variants::SamplerVariants;
use segment::{Segment, SegmentPart};
use straight_line::Line;

/// Name of the instruction set that code is compiled for on this computer. `None` if there is none.
pub fn target() -> Option<&'static str> {
    Machine::here().map(Machine::name)
}

pub use super::epilogue::{Vectors, WarpGroup};
pub use executable::Texels;
pub use executable::{Dwords, prefetch};
pub use listing::listing;
pub use segment::refusal;
pub use straight_line::{MAX_LOCKSTEP, WarpCost};

/// A compiled program.
pub struct Routine {
    machine: Machine,
    /// The segments, by their first step.
    segments: Vec<Option<Segment>>,
    /// The straight-line path through all segments, if the program has no branches.
    line: Option<Line>,
    /// Variants of the code with texture reads.
    ways: Option<SamplerVariants>,
    /// Texture reads and conversion in this code.
    coded: Coded,
    /// Variants of the code that store pixels instead of colours.
    finished: EpilogueVariants,
}

impl Routine {
    /// Compiles `program` for `vectors`. `None` if no part of it can be compiled, or not for this computer.
    pub fn new(program: &Lowered, vectors: Vectors) -> Option<Self> {
        let machine = match vectors {
            Vectors::Best => Machine::here(),
            Vectors::Avx2 => Machine::narrow(),
        };
        Self::for_machine(program, machine?)
    }

    /// The cost of a warp, if several warps can run in lockstep.
    pub fn lockstep_cost(&self) -> Option<WarpCost> {
        self.line.as_ref()?.lockstep_cost()
    }

    /// Texture and sampler slot of each sample that can be in the code, if there is one.
    pub fn requests(&self) -> Option<&[[u32; 2]]> {
        Some(&self.ways.as_ref()?.requests)
    }

    /// The number of the variant that does the samples with a given reading in the code. `None` if there is
    /// no such variant. `program` must be the program of this routine.
    pub fn way(&self, program: &Lowered, readings: &[Option<Reading>]) -> Option<usize> {
        self.ways.as_ref()?.number(program, readings)
    }

    pub(super) fn run_lockstep(
        &self,
        program: &Lowered,
        warps: &mut [Warp],
        environment: &mut impl Environment,
        epilogue: Option<&Epilogue>,
    ) -> WarpGroup {
        let Some(line) = self.line.as_ref().filter(|line| line.lockstep_cost().is_some()) else {
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
        match epilogue.and_then(|epilogue| code.finished(program, epilogue, warps.len())) {
            Some((line, code)) => {
                line.take_lockstep(program, code, warps, environment);
                WarpGroup::Pixels
            }
            None => {
                line.take_lockstep(program, code, warps, environment);
                WarpGroup::Colors
            }
        }
    }

    /// The line and the routine of the variant that ends with `epilogue`, if it exists. Counts `warps` more
    /// warps for the decision to compile it.
    fn finished(&self, program: &Lowered, epilogue: &Epilogue, warps: usize) -> Option<(&Line, &Self)> {
        self.finished.get(program, epilogue, (self.machine, &self.coded), warps)
    }

    /// Whether the end of its line is compiled.
    fn has_end(&self) -> bool {
        self.line.as_ref().is_some_and(|line| line.has_end(&self.segments))
    }

    /// Calls `look` with the texture reads and conversion of each variant.
    fn each_variant(&self, look: &mut dyn FnMut(&Coded)) {
        let ways = self.ways.iter().flat_map(SamplerVariants::all);
        for routine in self.finished.all().chain(ways) {
            look(&routine.coded);
            routine.each_variant(look);
        }
    }

    /// The line and the routine of the variant for the current textures, if the environment has planes for
    /// all its varyings.
    fn way_here(&self, program: &Lowered, environment: &mut impl Environment) -> Option<(&Line, &Self)> {
        let way = self.ways.as_ref()?.get(environment.way(self, program)?)?;
        let line = way.line.as_ref()?;
        let are_there = line.locations.is_empty() || environment.has_planes(&line.locations);
        are_there.then_some((line, way))
    }

    fn for_machine(program: &Lowered, machine: Machine) -> Option<Self> {
        let routine = Self::cut(program, machine, Coded::default());
        let ways = routine
            .line
            .as_ref()
            .and_then(|line| line.lockstep_cost())
            .and_then(|_| SamplerVariants::new(program, machine));
        let has_code = ways.is_some() || routine.segments.iter().any(Option::is_some);
        has_code.then_some(Self { ways, ..routine })
    }

    /// Compiles `program` with texture reads and conversion as in `coded`.
    fn with(program: &Lowered, machine: Machine, coded: Coded) -> Option<Self> {
        let routine = Self::cut(program, machine, coded);
        routine.segments.iter().any(Option::is_some).then_some(routine)
    }

    fn cut(program: &Lowered, machine: Machine, coded: Coded) -> Self {
        let segments = segment::segments(program, machine, &coded, &mut |_| ());
        let line = Line::new(program, &segments);
        Self { machine, segments, line, coded, ways: None, finished: EpilogueVariants::default() }
    }
}

/// Like [`run`](super::run()), with the code of `routine` where there is some.
pub fn run(
    program: &Lowered,
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
            // The variant can differ from run to run. The statistics must not.
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

impl Warp {
    /// Whether the whole segment can run at once. If so, stores the planes that its code reads in the frame.
    fn may_run(&mut self, program: &Lowered, segment: &Segment, environment: &mut impl Environment) -> bool {
        let mask = self.flow.executing() | self.idle;
        let has_code = |part: &SegmentPart| match part {
            SegmentPart::Native(native) => native.code(program, &segment.locations, mask).is_some(),
            SegmentPart::Loops(_) => true,
        };
        self.executed + segment.instructions <= self.limit
            && (mask == ALL || segment.parts.iter().all(has_code))
            && self.has_frame(segment, environment)
    }

    /// Fills the frame that the code of `segment` reads. Returns false if the environment has no planes for
    /// it.
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
        program: &Lowered,
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
        apply(program, last, self, executing, environment).err()
    }

    /// Runs the compiled and interpreted operations of `segment` in the lanes of `mask`.
    #[inline]
    fn run_parts(
        &mut self,
        program: &Lowered,
        segment: &Segment,
        mask: Mask,
        environment: &impl Environment,
    ) {
        self.executed += segment.instructions;
        self.compiled += segment.compiled;
        for part in &segment.parts {
            match part {
                SegmentPart::Native(native) => {
                    let code = native.code(program, &segment.locations, mask);
                    code.expect("there is code").call(
                        &mut self.rows,
                        &mut self.frame,
                        mask,
                        environment.texels(),
                    );
                }
                SegmentPart::Loops(range) => {
                    alu::run(&program.alus[range.start as usize..range.end as usize], &mut self.rows, mask);
                }
            }
        }
    }
}
