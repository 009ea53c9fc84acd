//! Decodes captures, packets, registers and shader instructions. Every function depends on its arguments
//! alone: machine state and time belong to the emulator (`a4emu`).
#![forbid(unsafe_code)]

#[macro_use]
pub mod bits;
pub mod a4xx;
pub mod adreno;
pub mod asm;
pub mod error;
pub mod generation;
pub mod guesses;
pub mod isa;
pub mod names;
pub mod similar;
