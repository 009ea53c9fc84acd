//! A program that goes straight from its first step to its end: where its segments lie, and what each of them ends
//! with, is found out once and not by every warp.
use super::super::alu::{self, Alu, Row};
use super::super::effect::Effect;
use super::super::environment::{Environment, Refused};
use super::super::lanes::{ALL, Lanes};
use super::super::ops::{Op, Plain, Sample, Slots};
use super::super::program::Program;
use super::super::run::{Outcome, apply};
use super::super::warp::{Killed, Warp};
use super::Routine;
use super::emit::SPILLS;
use super::segment::{Part, Segment};

/// Warps that run side by side at most: with more of them their registers leave the first cache.
pub const TOGETHER: usize = 4;

/// The way through a program that has only one.
pub struct Line {
    stretches: Vec<Stretch>,
    /// Instructions on it.
    instructions: u64,
    /// Those of them that are machine code.
    compiled: u64,
    /// Requests for texels on it; `None` if there is something else that a warp alone has to do.
    requests: Option<u64>,
    /// Locations of varyings that are interpolated on it.
    pub locations: Vec<u16>,
}

/// What a warp costs on its way through a line, by which nothing else is done than to compute, and to ask for texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpCost {
    /// Its instructions.
    pub instructions: u64,
    /// Those of them that are machine code.
    pub compiled: u64,
    /// Its requests for texels.
    pub requests: u64,
}

/// Steps up to one that has an effect.
struct Stretch {
    first: u32,
    last: u32,
    /// What the last one asks for, if that is the common request for texels.
    plain: Option<Plain<Row>>,
}

impl Line {
    /// The way through `program`, cut into `segments`; `None` if it has several, or none to its end.
    pub fn new(program: &Program, segments: &[Option<Segment>]) -> Option<Self> {
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
            line.stretches.push(Stretch { first, last, plain: plain(&step.effect) });
            line.requests = match &step.effect {
                // What it takes to ask for different textures in each lane is known when they are asked for.
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
    /// What a warp costs on it, if it does nothing that others would have to wait for.
    pub fn toll(&self) -> Option<WarpCost> {
        let Self { instructions, compiled, requests, .. } = *self;
        Some(WarpCost { instructions, compiled, requests: requests? })
    }

    /// Whether its end is in the code.
    pub fn has_end(&self, segments: &[Option<Segment>]) -> bool {
        self.stretches.last().is_some_and(|stretch| segments[stretch.first as usize].is_some())
    }

    /// Its instructions that are machine code.
    pub fn compiled(&self) -> u64 {
        self.compiled
    }

    /// Runs all lanes of `warps` side by side along the whole of it, which has a [`Line::toll`]: all of them along a
    /// stretch before the next. They have the same primitive, and so one frame, of which the first has the memory; all
    /// varyings are there.
    pub(super) fn take_together(
        &self,
        program: &Program,
        routine: &Routine,
        warps: &mut [Warp],
        environment: &mut impl Environment,
    ) {
        let Some((first, _)) = warps.split_first_mut() else { return };
        let mut frame = std::mem::take(&mut first.frame);
        for Stretch { first, last, plain } in &self.stretches {
            match &routine.segments[*first as usize] {
                Some(segment) => segment.run_together(program, warps, &mut frame, environment),
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
                    // It has texels for whoever asks.
                    let _ = warp.ask(op, *destination, ALL, environment);
                }
            }
        }
        warps[0].frame = frame;
    }
}

/// Runs `alus` in all lanes of `warps`, each of them in all before the next: so that the processor need not wait for one
/// to begin another.
fn loops_together(alus: &[Alu], warps: &mut [Warp]) {
    for alu in alus.chunks(1) {
        warps.iter_mut().for_each(|warp| alu::run(alu, &mut warp.rows, ALL));
    }
}

impl Segment {
    /// Runs its operations in all lanes of `warps`.
    fn run_together(
        &self,
        program: &Program,
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
                Part::Native(native) => {
                    let code = native.code(program, &self.locations, ALL).expect("all lanes have code");
                    let textures = environment.texels();
                    warps.iter_mut().for_each(|warp| code.call(&mut warp.rows, frame, ALL, textures));
                }
                Part::Loops(range) => {
                    loops_together(&program.alus[range.start as usize..range.end as usize], warps);
                }
            }
        }
    }
}

/// The request that an effect is, if it is the common one for texels.
pub fn plain(effect: &Effect) -> Option<Plain<Row>> {
    match effect {
        Effect::Op(Op::Sample(sample), _) => sample.plain(),
        _ => None,
    }
}

impl Warp {
    /// Whether all of the line can run: every lane takes part that has not ended before the first step, and nobody
    /// has to count single lanes.
    pub(super) fn may_take(&self, line: &Line) -> bool {
        let executing = self.flow.executing();
        (self.flow.step, self.executed, self.on_kill) == (0, 0, Killed::Help)
            && (executing != 0 && executing | self.idle == ALL)
            && line.instructions <= self.limit
    }

    /// Runs the line. `None` if it has to be left, at a step that is still to be executed.
    pub(super) fn take(
        &mut self,
        line: &Line,
        program: &Program,
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
                    asked.map_err(|Refused| step.refused(op))
                }
                (Effect::End, _) => {
                    // Nobody else is left: on a line lanes do not part.
                    self.flow.end(executing);
                    return Some(Outcome::Ended);
                }
                _ => apply(step, self, executing, environment),
            };
            if let Err(fault) = done {
                return Some(fault.into());
            }
        }
        None
    }
}
