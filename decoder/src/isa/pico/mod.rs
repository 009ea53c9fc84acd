//! PicoGpu: the ISA of a teaching GPU (github.com/DziubanMaciej/PicoGpu).
//!
//! Source: docs/hardware/picogpu.md, which rests on PicoGpu's sources and its page on shader programming
//! ("the page"). If they differ, the sources count. A program is a stream of dwords; an instruction is one
//! dword, followed by its immediates.
pub mod command;
mod error;
pub mod instr;
mod ops;
mod parse;
mod preamble;
mod shader;
mod token;

pub use error::{Error, Reason};
use instr::NAMES;
pub use instr::{Immediates, Instr, Mask, decode_program};
pub use ops::{Form, Op};
pub use preamble::corners;
pub use shader::{Io, Kind, Shader, assemble};

/// Number of threads that run together.
pub const LANES: usize = 32;
/// General purpose registers of a thread, of four components each.
pub const REGISTERS: u8 = 16;
/// Largest number of inputs of a shader, and also of outputs and of uniforms.
pub const MAX_IO: usize = 3;
/// Largest number of dwords in a program: StoreIsa's length has nine bits.
pub const MAX_DWORDS: usize = 511;
