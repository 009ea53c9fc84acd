//! Instruction sets: one module per machine.
pub mod ir3;
pub mod pico;
pub mod semantics;
