//! SP, the shader processor: programs, constants, shader environment, and the launcher of all stages.
pub mod buffer;
pub mod catch;
pub mod environment;
pub mod launch;
pub mod log;
pub mod memory;
pub mod primitive_inputs;
pub mod programs;
pub mod spare;
pub mod stage_cache;
pub mod state;
