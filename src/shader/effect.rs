//! What an instruction does besides computing: control flow, and what [`super::ops`] lists.
//!
//! Every list of these is matched without a wildcard, so that a new effect is
//! a compile error wherever it has to be handled.
use super::alu::Row;
use super::doubt::Doubt;
use super::ops::{Destination, Op};

/// What ends a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// Nothing: the next step is a branch target.
    Continue,
    /// Nothing: what comes next may rest on a guess, or a0.x chooses for it. Only programs that are watched have these.
    Doubt(Box<Doubt>),
    /// end: the lanes are done.
    End,
    /// Lanes may go to another step.
    Branch(Branch),
    /// call: go to a step, return behind this one.
    Call {
        /// Step to go to.
        target: u32,
    },
    /// ret.
    Return,
    /// kill: lanes where the condition holds become helpers.
    Kill(Condition),
    /// predt, predf, prede, and a (jp) between them.
    Region(Region),
    /// Work-group barrier.
    Barrier,
    /// A register chosen per lane.
    Gather(Gather),
    /// Write a register chosen per lane.
    Scatter {
        /// Row of index 0.
        base: Row,
        /// Index beside a0.x.
        offset: i32,
        /// Row that holds the value.
        src: Row,
    },
    /// dsx, dsy and their fine forms.
    Derivative {
        /// Along which axis.
        axis: Axis,
        /// Row that is written.
        dst: Row,
        /// Row that is read, f32 bits.
        src: Row,
    },
    /// What the environment does, and where its answer goes.
    Op(Op<Row>, Destination),
    /// Behind the last instruction.
    LeftProgram,
    /// Not a valid instruction.
    Invalid,
    /// A valid one that is not supported: its name.
    Unsupported(&'static str),
}

/// Rows whose words, not zero, mean true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// Every lane.
    Always,
    /// One predicate.
    If(Test),
    /// Both.
    Both(Test, Test),
    /// At least one.
    Either(Test, Test),
}

/// A predicate row, perhaps inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The row.
    pub row: Row,
    /// What the row must be for the test to hold.
    pub sense: bool,
}

/// Who goes when only some lanes meet a branch's condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Each lane for itself: br, jump.
    Each,
    /// All if any: bany.
    Any,
    /// All if all: ball.
    All,
    /// Only the lowest: getone.
    One,
}

/// A conditional or unconditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Condition per lane.
    pub condition: Condition,
    /// How lanes are counted.
    pub vote: Vote,
    /// Step to go to.
    pub target: u32,
}

/// Predicated regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// predt, predf: from here only lanes in which the test holds run.
    Begin(Test),
    /// (jp) in a region: the same test again.
    Again(Test),
    /// prede: everybody runs again.
    End,
}

/// From where a relative source is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Row that is written.
    pub dst: Row,
    /// What is indexed.
    pub file: File,
    /// Index beside a0.x.
    pub offset: i32,
}

/// What a0.x can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Full or half registers: the row of index 0.
    Registers(Row),
    /// The constant file.
    Constants,
}

/// Axis and step of a derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// One value per quad, along x in the top row.
    X,
    /// One value per quad, along y in the left column.
    Y,
    /// One value per row of the quad.
    FineX,
    /// One value per column of the quad.
    FineY,
}
