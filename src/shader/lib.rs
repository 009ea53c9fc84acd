//! Execution of shaders, 32 lanes at a time.
//!
//! This crate knows nothing else of the emulator. Its parts are:
//!
//! - a [`Program`]: instruction words lowered once into steps. A step is a run
//!   of pure ALU operations on resolved register rows, and then one effect
//!   (branch, load, sample, kill, ...). Repeats are unrolled, modifiers are
//!   bit masks, constants and immediates are rows like registers.
//! - a [`Warp`]: the registers of 32 lanes, their control flow, and the
//!   constants they see. It is made for a program and reused for warp after
//!   warp of one draw.
//! - an [`Environment`]: memory, textures and varyings.
//! - a wave of an A6xx: warps whose lanes exchange values ([`turn`], [`exchange`]).
//!
//! ```text
//! let mut warp = Warp::new(&program, &constants);
//! warp.restart(&program, live, helpers);
//! *warp.full_mut(0) = ...;                     // inputs
//! match run(&program, &mut warp, &mut env) {   // again after Outcome::Barrier
//!     Outcome::Ended => warp.covered(), warp.full(4) ...,
//! ```
//!
//! A program that runs often is compiled ([`jit`]); [`run()`] then uses its code.
mod alu;
mod builder;
mod chosen;
mod count;
mod doubt;
mod doubted;
mod effect;
mod environment;
mod epilogue;
mod extra;
#[path = "jit/executable/float_control.rs"]
pub mod float_control;
mod flow;
pub mod format;
#[cfg(all(target_arch = "x86_64", target_os = "linux"))]
pub mod jit;
#[cfg(not(all(target_arch = "x86_64", target_os = "linux")))]
#[path = "jit/absent.rs"]
pub mod jit;
mod lanes;
mod limits;
mod liveness;
mod lower;
mod lowered;
mod merged;
mod ops;
mod perform;
mod preamble;
mod program;
mod reach;
mod reading;
mod rowmap;
mod rows;
mod run;
mod summary;
#[doc(hidden)]
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
pub(crate) mod tests;
mod texel;
mod warp;
mod wave;

pub use chosen::{Chooser, Chosen, Way};
pub use count::{Counting, InstructionCount, run_counting};
pub use doubt::Reach;
pub use environment::{Environment, Refused};
pub use epilogue::{AlphaFactor, Epilogue};
pub use lanes::{ALL, LANES, Lanes, Mask, lanes_of};
pub use lower::{Dialect, Granularity, Halves, SyncFlag};
pub use lowered::{BindlessKind, BindlessSlot, InstructionClass, Lowered, ProgramError};
pub use ops::{
    Atomic, AtomicOp, AtomicPlace, Few, ImageAccess, ImageLayout, Index, Lod, MemoryAccess, Number, Op,
    Plain, PlainLevel, Query, Question, Sample, SampleKind, Slots, Space, UniformLoad, Varying, Width,
};
pub use program::{Jit, Program, run, run_lockstep};
pub use reading::{ComponentSource, Reading, TexelExtent};
pub use run::{Outcome, ShaderFault, step};
pub use summary::Summary;
pub use texel::TexelProgram;
pub use warp::{INSTRUCTION_LIMIT, Killed, QuadRegisters, Warp};
pub use wave::{MAX_WARPS, Turn, WavePlace, exchange, turn};
