//! Decodes captures, packets, registers and shader instructions. Every function depends on its arguments
//! alone: machine state and time belong to the emulator (`a4emu`).
//!
//! [`adreno`] has what generations of the chip share, [`a4xx`] and [`a6xx`] the tables of one. A [`generation`] is what
//! readers of streams take, so that they work on any. From the bytes of a capture to the meaning of a bit:
//!
//! 1. [`adreno::capture`] splits a file (`.rd`, `.rd.gz`, a kernel's devcoredump) into sections: buffers, submits, names.
//! 2. [`adreno::packet`] splits the dwords of a command buffer into packets. [`a4xx::pm4`] has a row for each opcode: name,
//!    typed body, and the table of its dwords. [`a4xx::load_state`] says what CP_LOAD_STATE4 loads, [`a4xx::stage_words`]
//!    what shader stages pass to each other.
//! 3. [`a4xx::regs`] has a row for each register, a file for each hardware block; [`bits`] has the macros that make types,
//!    getters and tables of such rows, and prints and parses values. Enumerations are in [`a4xx::enums`], descriptors in
//!    [`a4xx::regs::tex`].
//! 4. [`adreno::ir3`] and [`isa::pico`] have a row for each instruction: bits, text, and the meaning for one lane.
//!
//! Beside that path: [`asm`] is the text form of whole captures, in both directions. [`guesses`] are the facts that no
//! source gives. [`names`] and [`similar`] find what users name. [`error`] has the errors of damaged input.
#![forbid(unsafe_code)]

#[macro_use]
pub mod bits;
pub mod a4xx;
pub mod a6xx;
pub mod adreno;
pub mod asm;
pub mod error;
pub mod generation;
pub mod guesses;
pub mod isa;
pub mod names;
pub mod similar;
