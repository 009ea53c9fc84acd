//! Execution of a warp.
use std::fmt;

use a4emu_decoder::isa::semantics::float_bits;

use super::alu::{self, Row};
use super::effect::{Axis, Condition, Effect, File, Gather, Region, Test, Vote};
use super::environment::{Environment, Refused};
use super::flow::{Fence, Next};
use super::lanes::{ALL, Lanes, Mask, lanes_of};
use super::lowered::{Lowered, Step};
use super::ops::Op;
use super::rowmap::{ADDRESS, REGISTERS};
use super::warp::{Killed, Warp};
use super::wave::exchange_alone;

/// Reason why [`run`](super::run()) returned. Small enough to be returned in registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every lane has ended.
    Ended,
    /// Every lane waits at a barrier or has ended. Call `run` again after the other warps of the group have
    /// reached it.
    Barrier,
    /// Other warps of the wave have to run first, or do the next effect together with this one ([`crate::turn`]).
    Wave,
    /// The warp cannot continue. The launcher records the fault and should skip the rest of the draw.
    Fault(Box<ShaderFault>),
}

impl From<ShaderFault> for Outcome {
    fn from(fault: ShaderFault) -> Self {
        Self::Fault(Box::new(fault))
    }
}

/// A fault, with the index of its instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderFault {
    /// The instruction limit was reached.
    Endless {
        /// Instructions executed.
        limit: u64,
    },
    /// Control went past the last instruction or before the first.
    OutOfProgram {
        /// Number of instructions of the program.
        at: u32,
    },
    /// More nested calls than the chip's branch stack holds, or a return
    /// without a call.
    CallStack {
        /// Index of the call or return.
        at: u32,
    },
    /// An instruction word that is not known.
    Invalid {
        /// Its index.
        at: u32,
    },
    /// An instruction that is known but unsupported.
    Unsupported {
        /// Its index.
        at: u32,
        /// Its name.
        what: &'static str,
    },
}

impl ShaderFault {
    /// A description of what is unsupported or unknown, as this may be no error of the program. `None` for
    /// errors of the program.
    pub fn refusal(&self) -> Option<String> {
        match self {
            Self::Invalid { at } => Some(format!("instruction {at}, a word that is not known to a4emu,")),
            Self::Unsupported { at, what } => Some(format!("instruction {at}, {what},")),
            Self::Endless { .. } | Self::OutOfProgram { .. } | Self::CallStack { .. } => None,
        }
    }
}

impl fmt::Display for ShaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endless { limit } => write!(f, "shader cut off after {limit} instructions"),
            Self::OutOfProgram { at } => write!(f, "control leaves the shader's {at} instructions"),
            Self::CallStack { at } => write!(f, "call stack broken at instruction {at}"),
            Self::Invalid { at } => write!(f, "instruction {at} is a word that is not known to a4emu"),
            Self::Unsupported { at, what } => write!(f, "instruction {at}: {what} is not supported"),
        }
    }
}

/// Runs one step of one group of lanes. In a program lowered for stepping, that is one instruction. Returns
/// `None` while there is more to run.
#[inline(always)]
pub fn step(program: &Lowered, warp: &mut Warp, environment: &mut impl Environment) -> Option<Outcome> {
    if let Err(outcome) = warp.settle() {
        return Some(outcome);
    }
    let step = &program.steps[warp.flow.step as usize];
    let executing = warp.flow.executing();
    warp.executed += u64::from(step.instructions);
    if warp.on_kill == Killed::End {
        warp.lane_instructions += u64::from(step.instructions) * u64::from(executing.count_ones());
    }
    if warp.executed > warp.limit {
        return Some(ShaderFault::Endless { limit: warp.limit }.into());
    }
    alu::run(&program.alus[step.first as usize..step.end as usize], &mut warp.rows, executing | warp.idle);
    apply(program, step, warp, executing, environment).err()
}

impl Step {
    /// The fault for `op`, which ends this step and which the environment does not support.
    pub(super) fn refused(&self, op: &Op<Row>) -> ShaderFault {
        ShaderFault::Unsupported { at: self.at, what: op.name() }
    }
}

/// Performs the effect of `step` of `program` and advances the control flow.
pub(super) fn apply(
    program: &Lowered,
    step: &Step,
    warp: &mut Warp,
    executing: Mask,
    environment: &mut impl Environment,
) -> Result<(), Outcome> {
    let at = step.at;
    match &step.effect {
        Effect::Continue => {}
        Effect::Doubt(doubt) => warp.doubt(doubt, executing, environment),
        Effect::End => {
            warp.flow.end(warp.flow.active);
            return Ok(());
        }
        Effect::Branch(branch) => {
            if branch.vote != Vote::Each {
                return warp.exchange(&step.effect);
            }
            warp.flow.branch(warp.holds(branch.condition) & executing, branch.target);
            return Ok(());
        }
        Effect::Call { target } => {
            warp.flow.call(executing).ok_or(ShaderFault::CallStack { at })?;
            warp.flow.branch(executing, *target);
            return Ok(());
        }
        Effect::Return => {
            warp.flow.ret(executing).ok_or(ShaderFault::CallStack { at })?;
            return Ok(());
        }
        Effect::Kill(condition) => warp.kill(warp.holds(*condition) & executing),
        Effect::Region(region) => warp.region(*region),
        Effect::Barrier => {
            warp.flow.wait();
            return Ok(());
        }
        Effect::Gather(gather) => warp.gather(gather, executing),
        Effect::Scatter { base, offset, src } => warp.scatter(*base, *offset, *src, executing),
        Effect::Constants(write) => warp
            .write_constants(program, write, executing, environment)
            .map_err(|Refused| ShaderFault::Unsupported { at, what: "a write of constants" })?,
        Effect::Broadcast { .. } | Effect::Exchange(_) => return warp.exchange(&step.effect),
        Effect::Derivative { axis, dst, src } => warp.derivative(*axis, *dst, *src, executing),
        Effect::Op(op, destination) => {
            warp.perform(op, *destination, executing, environment).map_err(|Refused| step.refused(op))?
        }
        Effect::LeftProgram => return Err(ShaderFault::OutOfProgram { at }.into()),
        Effect::Invalid => return Err(ShaderFault::Invalid { at }.into()),
        Effect::Unsupported(what) => return Err(ShaderFault::Unsupported { at, what }.into()),
    }
    warp.flow.step += 1;
    Ok(())
}

impl Warp {
    /// Makes sure that a group of lanes runs. Otherwise returns the reason.
    #[inline(always)]
    fn settle(&mut self) -> Result<(), Outcome> {
        if self.flow.active != 0 && self.flow.step < self.flow.meet {
            return Ok(());
        }
        match self.flow.schedule() {
            Next::Run => Ok(()),
            Next::Fence => Err(Outcome::Wave),
            Next::Barrier => Err(Outcome::Barrier),
            Next::Ended => Err(Outcome::Ended),
        }
    }

    /// The reason why no lane can run: the warp has ended, or it waited at a barrier, which this call ends.
    pub fn pause(&mut self) -> Option<Outcome> {
        self.settle().err()
    }

    /// Index of the next instruction (the last one of its step), and the lanes that will execute it. `None`
    /// if the warp has ended or waits.
    pub fn next_instruction(&mut self, program: &Lowered) -> Option<(u32, Mask)> {
        self.settle().ok()?;
        Some((program.steps[self.flow.step as usize].at, self.flow.executing()))
    }

    /// The lanes in which `condition` holds.
    pub(super) fn holds(&self, condition: Condition) -> Mask {
        let test = |test: Test| match test.sense {
            true => self.row(test.row).nonzero(),
            false => !self.row(test.row).nonzero(),
        };
        match condition {
            Condition::Always => ALL,
            Condition::If(a) => test(a),
            Condition::Both(a, b) => test(a) & test(b),
            Condition::Either(a, b) => test(a) | test(b),
        }
    }

    /// Does `effect`, which may ask other lanes, or makes the warp stand at it until its wave does it.
    fn exchange(&mut self, effect: &Effect) -> Result<(), Outcome> {
        if self.wave.joined && effect.is_of_wave() {
            self.stands = true;
            self.flow.set_fence(Fence::CLOSED);
            return Err(Outcome::Wave);
        }
        exchange_alone(effect, self);
        Ok(())
    }

    /// Makes helpers of `lanes`, or ends them. If no lane's outputs count any more, the warp ends.
    fn kill(&mut self, lanes: Mask) {
        self.killed |= lanes & self.live;
        match self.on_kill {
            Killed::End => self.flow.end(lanes),
            Killed::Help if lanes != 0 && self.covered() == 0 => self.flow.restart(0),
            Killed::Help => {}
        }
    }

    fn region(&mut self, region: Region) {
        match region {
            Region::Begin(test) => self.flow.enter_region(self.holds(Condition::If(test))),
            Region::Again(test) => self.flow.renew_region(self.holds(Condition::If(test))),
            Region::End => self.flow.leave_region(),
        }
    }

    /// Reads a register or constant selected by a0.x. An index out of range reads 0 (guess
    /// `relative-outside`).
    fn gather(&mut self, gather: &Gather, mask: Mask) {
        let address = *self.row(ADDRESS);
        let value = std::array::from_fn(|lane| {
            let index = (address[lane] as i32).wrapping_add(gather.offset);
            match gather.file {
                File::Constants => usize::try_from(index).ok().and_then(|i| self.constants().get(i).copied()),
                File::Registers(base) => indexed(base, index).map(|row| self.row(row)[lane]),
            }
            .unwrap_or(0)
        });
        self.write(gather.dst, &Lanes(value), mask);
    }

    /// Writes a register selected by a0.x. A write out of range is dropped (guess `relative-outside`).
    fn scatter(&mut self, base: Row, offset: i32, src: Row, mask: Mask) {
        let (address, value) = (*self.row(ADDRESS), *self.row(src));
        for lane in lanes_of(mask) {
            let index = (address[lane] as i32).wrapping_add(offset);
            if let Some(row) = indexed(base, index) {
                self.rows[row as usize][lane] = value[lane];
            }
        }
    }

    fn derivative(&mut self, axis: Axis, dst: Row, src: Row, mask: Mask) {
        let value = self.row(src).floats();
        let (from, to): ([usize; 4], [usize; 4]) = match axis {
            Axis::X | Axis::FineX => ([0, 0, 2, 2], [1, 1, 3, 3]),
            Axis::Y | Axis::FineY => ([0, 1, 0, 1], [2, 3, 2, 3]),
        };
        let result = std::array::from_fn(|lane| {
            let (quad, corner) = (lane & !3, lane & 3);
            value[quad + to[corner]] - value[quad + from[corner]]
        });
        self.write(dst, &Lanes(result.map(float_bits)), mask);
    }
}

/// The row of register `index` in the file at row `base`. `None` if it is out of range.
pub(super) fn indexed(base: Row, index: i32) -> Option<Row> {
    let index = Row::try_from(index).ok().filter(|&index| index < REGISTERS)?;
    Some(base + index)
}
