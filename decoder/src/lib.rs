//! Pure functions of bits: what a capture, a packet, a register or a shader
//! instruction *says*. Nothing here holds machine state or time; the emulator
//! (`a4emu`) does.
#![forbid(unsafe_code)]

#[macro_use]
pub mod bits;
pub mod asm;
pub mod capture;
pub mod error;
pub mod guesses;
pub mod isa;
pub mod load_state;
pub mod packet;
pub mod pm4;
pub mod regs;
pub mod stage_words;
