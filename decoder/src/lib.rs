//! Decodes captures, packets, registers and shader instructions. Every function depends on its arguments
//! alone: machine state and time belong to the emulator (`a4emu`).
#![forbid(unsafe_code)]

#[macro_use]
pub mod bits;
pub mod asm;
pub mod capture;
pub mod error;
pub mod guesses;
pub mod isa;
pub mod load_state;
pub mod names;
pub mod packet;
pub mod pm4;
pub mod regs;
pub mod similar;
pub mod stage_words;
