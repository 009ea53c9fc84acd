//! Instruction sets: one module per machine.
pub mod pico;
pub mod semantics;
