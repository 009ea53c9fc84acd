//! A program that goes straight from its first step to its end: where its segments lie, and what each of them ends
//! with, is found out once and not by every warp.
use super::super::alu::{self, Row};
use super::super::effect::Effect;
use super::super::environment::{Environment, Refused};
use super::super::lanes::ALL;
use super::super::ops::{Op, Plain};
use super::super::program::Program;
use super::super::run::{Outcome, apply};
use super::super::warp::{Killed, Warp};
use super::Routine;
use super::segment::Segment;

/// The way through a program that has only one.
pub struct Line {
    stretches: Vec<Stretch>,
    /// Instructions on it.
    instructions: u64,
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
        let mut line = Self { stretches: Vec::new(), instructions: 0 };
        let mut first = 0;
        loop {
            let segment = segments.get(first as usize)?.as_ref();
            let last = segment.map_or(first, |segment| segment.last);
            let step = &program.steps[last as usize];
            line.instructions += segment.map_or(u64::from(step.instructions), |segment| segment.instructions);
            line.stretches.push(Stretch { first, last, plain: plain(&step.effect) });
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

fn plain(effect: &Effect) -> Option<Plain<Row>> {
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
                    self.run_parts(program, segment, ALL);
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
