//! Effects: what an instruction does besides computing. Control flow, and the operations of [`super::ops`].
//!
//! Every `match` on effects is without a wildcard, so that a new effect is a compile error wherever it must
//! be handled.
use std::ops::Range;

use a4emu_decoder::adreno::ir3::ShuffleMode;

use super::alu::Row;
use super::doubt::Doubt;
use super::ops::{ConstantWrite, Destination, Op, Plain};

/// The end of a step.
#[derive(Clone, Debug, PartialEq)]
pub enum Effect {
    /// No effect: the next step is a branch target.
    Continue,
    /// A check whether the next operation rests on a guess, or which register a0.x selects for it. Only in
    /// watched programs.
    Doubt(Box<Doubt>),
    /// end: the lanes are done.
    End,
    /// A branch of some lanes to another step.
    Branch(Branch),
    /// call: goes to a step, and returns to the step after this one.
    Call {
        /// The called step.
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
    /// Reads a register selected per lane.
    Gather(Gather),
    /// Writes a register selected per lane.
    Scatter {
        /// Row of index 0.
        base: Row,
        /// Offset that is added to a0.x.
        offset: i32,
        /// Row that holds the value.
        src: Row,
    },
    /// Copies the value of the lowest executing lane of the wave to all its lanes: the row is a register that they share.
    Broadcast {
        /// The row.
        row: Row,
    },
    /// Values of other lanes, or what is known of them.
    Exchange(Exchange),
    /// A write of constants.
    Constants(Box<ConstantWrite>),
    /// dsx, dsy and their fine forms.
    Derivative {
        /// The axis.
        axis: Axis,
        /// Destination row.
        dst: Row,
        /// Source row, f32 bits.
        src: Row,
    },
    /// An operation of the environment, and the destination of its result.
    Op(Op<Row>, Destination),
    /// Control left the program past its last instruction.
    LeftProgram,
    /// An invalid instruction.
    Invalid,
    /// A valid but unsupported instruction, with its name.
    Unsupported(&'static str),
}

impl Effect {
    /// Whether its results depend on lanes in other warps of the wave.
    pub fn is_of_wave(&self) -> bool {
        match self {
            Self::Branch(branch) => branch.vote.is_of_wave(),
            Self::Broadcast { .. } => true,
            Self::Exchange(exchange) => exchange.is_of_wave(),
            Self::Continue | Self::Doubt(_) | Self::End | Self::Call { .. } | Self::Return => false,
            Self::Kill(_) | Self::Region(_) | Self::Barrier | Self::Gather(_) | Self::Scatter { .. } => false,
            Self::Constants(_) | Self::Derivative { .. } | Self::Op(..) | Self::LeftProgram => false,
            Self::Invalid | Self::Unsupported(_) => false,
        }
    }

    /// The sample of the effect, if it is a common one.
    pub fn plain(&self) -> Option<Plain<Row>> {
        match self {
            Self::Op(Op::Sample(sample), _) => sample.plain(),
            _ => None,
        }
    }
}

/// A condition on predicate rows. A nonzero word is true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Condition {
    /// True in every lane.
    Always,
    /// One test holds.
    If(Test),
    /// Both tests hold.
    Both(Test, Test),
    /// At least one test holds.
    Either(Test, Test),
}

/// A predicate row, maybe inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Test {
    /// The row.
    pub row: Row,
    /// The value of the predicate for which the test holds.
    pub sense: bool,
}

/// The lanes that branch, when the condition holds in only some.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Vote {
    /// Each lane with the condition: br, jump.
    Each,
    /// All lanes, if the condition holds in one: bany.
    Any,
    /// All lanes, if the condition holds in all: ball.
    All,
    /// All lanes with the condition but the lowest one: getone. That lane goes on at the next instruction.
    AllButOne,
    /// All lanes with the condition but the lowest one of each warp: getone of a preamble, which each warp runs ([`crate::preamble`]).
    AllButOneOfWarp,
    /// The lanes of the first cluster that has executing ones, but the last of them: getlast.
    ClusterButLast,
}

impl Vote {
    /// Whether it chooses a lane by its number.
    pub fn elects(self) -> bool {
        match self {
            Self::Each | Self::Any | Self::All => false,
            Self::AllButOne | Self::AllButOneOfWarp | Self::ClusterButLast => true,
        }
    }

    /// Whether lanes in other warps of the wave have a say.
    pub fn is_of_wave(self) -> bool {
        match self {
            Self::Each | Self::AllButOneOfWarp => false,
            Self::Any | Self::All | Self::AllButOne | Self::ClusterButLast => true,
        }
    }
}

/// A conditional or unconditional branch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Branch {
    /// Condition per lane.
    pub condition: Condition,
    /// The lanes that branch.
    pub vote: Vote,
    /// Target step.
    pub target: u32,
}

/// Predicated regions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Region {
    /// predt, predf: from here on only lanes in which the test holds execute.
    Begin(Test),
    /// (jp) in a region: tests again.
    Again(Test),
    /// prede: all lanes execute again.
    End,
}

/// A source operand relative to a0.x.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gather {
    /// Destination row.
    pub dst: Row,
    /// The indexed file.
    pub file: File,
    /// Offset that is added to a0.x.
    pub offset: i32,
}

/// A file that a0.x can index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum File {
    /// Full or half registers, with the row of index 0.
    Registers(Row),
    /// The constant file.
    Constants,
}

/// A copy of values between lanes, and what a lane can learn of its wave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exchange {
    /// shfl: the value of another lane of the wave.
    Shuffle {
        /// Which lane.
        mode: ShuffleMode,
        /// Destination row.
        dst: Row,
        /// Row that the values are in.
        src: Row,
        /// Row of the mask or distance.
        by: Row,
    },
    /// quad_shuffle: the value of another lane of the quad.
    Quad {
        /// Which lane.
        lane: QuadLane,
        /// Destination row.
        dst: Row,
        /// Row that the values are in.
        src: Row,
    },
    /// brcst.active: the last executing lane in the lower half of each cluster gives its value to the upper half.
    Cluster {
        /// Lanes of a cluster: 2, 4, 8 or 16.
        size: u8,
        /// Destination row.
        dst: Row,
        /// Row that the values are in.
        src: Row,
    },
    /// movmsk: which lanes of the wave execute, one bit each.
    Executing {
        /// Destination row of the first 32 lanes. The rows of the others follow.
        dst: Row,
        /// Number of rows, 1 to 4.
        rows: u8,
    },
    /// getfiberid: the number of the lane in the wave.
    Number {
        /// Destination row.
        dst: Row,
    },
}

impl Exchange {
    fn is_of_wave(&self) -> bool {
        match self {
            Self::Shuffle { .. } | Self::Executing { .. } => true,
            // Quads and clusters lie in one warp.
            Self::Quad { .. } | Self::Cluster { .. } | Self::Number { .. } => false,
        }
    }

    /// Calls `read` with every row that it reads.
    pub fn visit_reads(&self, read: impl FnMut(Row)) {
        match self {
            // Lanes that take no value keep what they have.
            Self::Shuffle { dst, src, by, .. } => [*dst, *src, *by].into_iter().for_each(read),
            Self::Quad { lane: QuadLane::Named(by), dst, src } => {
                [*dst, *src, *by].into_iter().for_each(read)
            }
            Self::Quad { lane: QuadLane::Across(_), dst, src } => [*dst, *src].into_iter().for_each(read),
            Self::Cluster { dst, src, .. } => [*dst, *src].into_iter().for_each(read),
            Self::Executing { .. } | Self::Number { .. } => {}
        }
    }

    /// The rows that it writes.
    pub fn written(&self) -> Range<Row> {
        match self {
            Self::Shuffle { dst, .. } | Self::Quad { dst, .. } => *dst..*dst + 1,
            Self::Cluster { dst, .. } | Self::Number { dst } => *dst..*dst + 1,
            Self::Executing { dst, rows } => *dst..*dst + Row::from(*rows),
        }
    }
}

/// Which lane of a quad.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum QuadLane {
    /// That with the number in this row.
    Named(Row),
    /// That with the lane's own number exclusive-or these bits.
    Across(u8),
}

/// Axis and precision of a derivative.
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
