//! SP, the shader processor: programs, constants, memory.
pub mod log;
pub mod memory;
pub mod primitive_inputs;
pub mod programs;
