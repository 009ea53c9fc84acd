//! SP, the shader processor: programs, constants, what shaders see, and the launcher of all stages.
pub mod buffer;
pub mod catch;
pub mod environment;
pub mod kept;
pub mod launch;
pub mod log;
pub mod memory;
pub mod primitive_inputs;
pub mod programs;
pub mod spare;
pub mod state;
