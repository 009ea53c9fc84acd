//! Straight-line programs. The segments and their last effects are determined once, not for every warp.
use super::super::alu::{self, Alu, Row};
use super::super::effect::Effect;
use super::super::environment::{Environment, Refused};
use super::super::lanes::{ALL, Lanes};
use super::super::lowered::Lowered;
use super::super::ops::{Op, Plain, Sample, Slots};
use super::super::run::{Outcome, apply};
use super::super::warp::{Killed, Warp};
use super::Routine;
use super::emit::SPILLS;
use super::segment::{Segment, SegmentPart};

/// Most warps in lockstep. More registers would not fit in the first-level cache.
pub const MAX_LOCKSTEP: usize = 4;

/// The path through a straight-line program.
pub struct Line {
    stretches: Vec<Stretch>,
    /// Number of its instructions.
    instructions: u64,
    /// Number of its compiled instructions.
    compiled: u64,
    /// Number of its samples. `None` if it has other effects, which prevent lockstep.
    requests: Option<u64>,
    /// Locations of its interpolated varyings.
    pub locations: Vec<u16>,
}

/// Cost of a warp on a line that only computes and samples.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpCost {
    /// Number of its instructions.
    pub instructions: u64,
    /// Number of its compiled instructions.
    pub compiled: u64,
    /// Number of its samples.
    pub requests: u64,
}

/// Steps up to one with an effect.
struct Stretch {
    first: u32,
    last: u32,
    /// The sample of the last step, if it is a common one.
    plain: Option<Plain<Row>>,
}

impl Line {
    /// The line of `program`, which is cut into `segments`. `None` if the program has branches or does not
    /// reach its end.
    pub fn new(program: &Lowered, segments: &[Option<Segment>]) -> Option<Self> {
        let (stretches, locations) = Default::default();
        let mut line = Self { stretches, instructions: 0, compiled: 0, requests: Some(0), locations };
        let mut first = 0;
        loop {
            let segment = segments.get(first as usize)?.as_ref();
            let last = segment.map_or(first, |segment| segment.last);
            let step = &program.steps[last as usize];
            line.instructions += segment.map_or(u64::from(step.instructions), |segment| segment.instructions);
            if let Some(segment) = segment {
                line.compiled += segment.compiled;
                line.locations.extend(&segment.locations);
            }
            line.stretches.push(Stretch { first, last, plain: step.effect.plain() });
            line.requests = match &step.effect {
                // The cost of samples with slots per lane is known only when they run.
                Effect::Op(Op::Sample(Sample { slots: Slots::Uniform { .. }, .. }), _) => {
                    line.requests.map(|requests| requests + 1)
                }
                Effect::Continue | Effect::End => line.requests,
                _ => None,
            };
            match step.effect {
                Effect::End => return Some(line),
                Effect::Continue
                | Effect::Gather(_)
                | Effect::Scatter { .. }
                | Effect::Derivative { .. }
                | Effect::Op(..) => first = last + 1,
                _ => return None,
            }
        }
    }
}

impl Line {
    /// The cost of a warp, if warps can run in lockstep.
    pub fn lockstep_cost(&self) -> Option<WarpCost> {
        let Self { instructions, compiled, requests, .. } = *self;
        Some(WarpCost { instructions, compiled, requests: requests? })
    }

    /// Whether its end is compiled.
    pub fn has_end(&self, segments: &[Option<Segment>]) -> bool {
        self.stretches.last().is_some_and(|stretch| segments[stretch.first as usize].is_some())
    }

    /// Number of its compiled instructions.
    pub fn compiled(&self) -> u64 {
        self.compiled
    }

    /// Runs all lanes of `warps` in lockstep along the line, which must have a [`Line::lockstep_cost`]: each stretch
    /// in all warps before the next. All warps have the same primitive and share the frame of the first. The
    /// environment must have planes for all varyings.
    pub(super) fn take_lockstep(
        &self,
        program: &Lowered,
        routine: &Routine,
        warps: &mut [Warp],
        environment: &mut impl Environment,
    ) {
        let Some((first, _)) = warps.split_first_mut() else { return };
        let mut frame = std::mem::take(&mut first.frame);
        for Stretch { first, last, plain } in &self.stretches {
            match &routine.segments[*first as usize] {
                Some(segment) => segment.run_lockstep(program, warps, &mut frame, environment),
                None => {
                    let step = &program.steps[*first as usize];
                    loops_together(&program.alus[step.first as usize..step.end as usize], warps);
                }
            }
            let Effect::Op(op, destination) = &program.steps[*last as usize].effect else { continue };
            for warp in &mut *warps {
                let filtered =
                    plain.as_ref().is_some_and(|plain| warp.filter(plain, *destination, ALL, environment));
                if !filtered {
                    // Samples are always supported.
                    let _ = warp.ask(op, *destination, ALL, environment);
                }
            }
        }
        warps[0].frame = frame;
    }
}

/// Runs each of `alus` in all lanes of all `warps` before the next one. The warps are independent, so the
/// processor can overlap their work.
fn loops_together(alus: &[Alu], warps: &mut [Warp]) {
    for alu in alus.chunks(1) {
        warps.iter_mut().for_each(|warp| alu::run(alu, &mut warp.rows, ALL));
    }
}

impl Segment {
    /// Runs its operations in all lanes of `warps`.
    fn run_lockstep(
        &self,
        program: &Lowered,
        warps: &mut [Warp],
        frame: &mut Vec<Lanes>,
        environment: &mut impl Environment,
    ) {
        if frame.len() < self.frame {
            frame.resize(self.frame, Lanes::ZERO);
        }
        if !self.locations.is_empty() {
            environment.planes(&self.locations, &mut frame[SPILLS..][..3 * self.locations.len()]);
        }
        for part in &self.parts {
            match part {
                SegmentPart::Native(native) => {
                    let code = native.code(program, &self.locations, ALL).expect("all lanes have code");
                    let textures = environment.texels();
                    warps.iter_mut().for_each(|warp| code.call(&mut warp.rows, frame, ALL, textures));
                }
                SegmentPart::Loops(range) => {
                    loops_together(&program.alus[range.start as usize..range.end as usize], warps);
                }
            }
        }
    }
}

impl Warp {
    /// Whether the whole line can run: all started lanes execute from the first step on, and lanes are not
    /// counted.
    pub(super) fn may_take(&self, line: &Line) -> bool {
        let executing = self.flow.executing();
        (self.flow.step, self.executed, self.on_kill) == (0, 0, Killed::Help)
            && (executing != 0 && executing | self.idle == ALL)
            && line.instructions <= self.limit
    }

    /// Runs the line. `None` if it had to stop, at a step that has not run yet.
    pub(super) fn take(
        &mut self,
        line: &Line,
        program: &Lowered,
        routine: &Routine,
        environment: &mut impl Environment,
    ) -> Option<Outcome> {
        let executing = self.flow.executing();
        for Stretch { first, last, plain } in &line.stretches {
            self.flow.step = *first;
            match &routine.segments[*first as usize] {
                Some(segment) if self.has_frame(segment, environment) => {
                    self.run_parts(program, segment, ALL, environment);
                }
                Some(_) => return None,
                None => {
                    let step = &program.steps[*first as usize];
                    self.executed += u64::from(step.instructions);
                    let alus = &program.alus[step.first as usize..step.end as usize];
                    alu::run(alus, &mut self.rows, ALL);
                }
            }
            self.flow.step = *last;
            let step = &program.steps[*last as usize];
            let done = match (&step.effect, plain) {
                (Effect::Op(op, destination), Some(plain)) => {
                    if self.filter(plain, *destination, executing, environment) {
                        continue;
                    }
                    let asked = self.ask(op, *destination, executing, environment);
                    asked.map_err(|Refused| step.refused(op).into())
                }
                (Effect::End, _) => {
                    // No other lane remains, as lanes do not diverge on a line.
                    self.flow.end(executing);
                    return Some(Outcome::Ended);
                }
                _ => apply(program, step, self, executing, environment),
            };
            if let Err(outcome) = done {
                return Some(outcome);
            }
        }
        None
    }
}
