//! Decodes captures, packets, registers and shader instructions. Every function depends on its arguments
//! alone: machine state and time belong to the emulator (`a4emu`).
//!
//! From the bytes of a capture to the meaning of a bit:
//!
//! 1. [`capture`] splits a file (`.rd`, `.rd.gz`, a kernel's devcoredump) into sections: buffers, submits, names.
//! 2. [`packet`] splits the dwords of a command buffer into packets. [`pm4`] has a row for each type-3 opcode: name,
//!    typed body, and the table of its dwords. [`load_state`] says what CP_LOAD_STATE4 loads, [`stage_words`] what shader
//!    stages pass to each other.
//! 3. [`regs`] has a row for each register, a file for each hardware block; [`bits`] has the macros that make types, getters
//!    and tables of such rows, and prints and parses values. Enumerations are in [`regs::enums`], descriptors in
//!    [`regs::tex`].
//! 4. [`isa`] has a row for each instruction of ir3 and of PicoGpu: bits, text, and the meaning for one lane.
//!
//! Beside that path: [`asm`] is the text form of whole captures, in both directions. [`guesses`] are the facts that no
//! source gives. [`names`] and [`similar`] find what users name. [`error`] has the errors of damaged input.
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
