//! Errors in a program text, with their positions.
use std::fmt;

use super::{MAX_DWORDS, MAX_IO};

/// An error in a program text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Error {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// The rule that is broken.
    pub reason: Reason,
}

/// The rule that a program breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Reason {
    UnknownCharacter(char),
    UnknownWord(String),
    Expected { wanted: &'static str, found: String },
    NoDirective,
    DirectiveAfterInstruction,
    NoInstruction,
    DuplicateComponent,
    ComponentOrder(&'static str),
    Twice { what: &'static str, register: u8 },
    PositionIsColor(u8),
    TooMany(&'static str),
    NoKind,
    SecondKind,
    SecondUndefinedRegs,
    NoInput,
    NeedsOne { kind: &'static str, what: &'static str },
    FirstSize { kind: &'static str, what: &'static str },
    OneColor,
    TooLong,
    // Warnings: PicoGpu's assembler accepts them.
    NumberRange(String),
    TwoTokens { name: String, rest: String },
    Unordered(&'static str),
    InputAndUniform(u8),
    InputOverwritten(u8),
    MultiplyAdd,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.reason)
    }
}

impl std::error::Error for Error {}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnknownCharacter(c) => write!(f, "unexpected character {c:?}"),
            Self::UnknownWord(word) => write!(f, "unknown instruction or directive `{word}`"),
            Self::NumberRange(text) => write!(f, "{text} does not fit 32 bits and becomes another number"),
            Self::TwoTokens { name, rest } => {
                write!(f, "{name}{rest} is read as {name} and {rest}: registers are r0 to r15")
            }
            Self::Expected { wanted, found } => write!(f, "expected {wanted}, found {found}"),
            Self::NoDirective => write!(f, "a program begins with its directives"),
            Self::DirectiveAfterInstruction => write!(f, "all directives come before the first instruction"),
            Self::NoInstruction => write!(f, "a program has at least one instruction"),
            Self::DuplicateComponent => write!(f, "a component can be used only once in a mask"),
            Self::ComponentOrder(what) => {
                write!(f, "components of an {what} are x, xy, xyz or xyzw")
            }
            Self::Unordered(what) => {
                write!(f, "the order of components of an {what} has no effect: write x, xy, xyz or xyzw")
            }
            Self::Twice { what, register } => write!(f, "r{register} is in more than one {what} directive"),
            Self::InputAndUniform(register) => {
                write!(f, "r{register} is both an input and a uniform: the uniform overwrites the input")
            }
            Self::InputOverwritten(register) => {
                write!(f, "r{register} is an input and is overwritten, which PicoGpu's documents forbid")
            }
            Self::PositionIsColor(register) => {
                write!(f, "r{register} is the position, which a fragment shader cannot put out as its colour")
            }
            Self::MultiplyAdd => {
                write!(
                    f,
                    "fmad has the opcode of fcross2 in PicoGpu's assembler, and does not multiply and add"
                )
            }
            Self::TooMany(what) => write!(f, "too many {what} directives: {MAX_IO} at most"),
            Self::NoKind => write!(f, "one of #vertexShader and #fragmentShader must be given"),
            Self::SecondKind => write!(f, "the type of the shader is given twice"),
            Self::SecondUndefinedRegs => write!(f, "#undefinedRegs is given twice"),
            Self::NoInput => write!(f, "a vertex shader has at least one input"),
            Self::NeedsOne { kind, what } => write!(f, "a {kind} shader has at least one {what}"),
            Self::FirstSize { kind, what } => {
                write!(f, "the first {what} of a {kind} shader is its position, of four components")
            }
            Self::OneColor => {
                write!(f, "a fragment shader has exactly one output, a colour of four components")
            }
            Self::TooLong => {
                write!(f, "the program ends here at the latest: it takes {MAX_DWORDS} dwords at most")
            }
        }
    }
}
