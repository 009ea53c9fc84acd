//! An Adreno A4xx in software.

pub mod cp;
pub mod draw;
pub mod fault;
pub mod gpu;
pub mod memory;
pub mod regfile;
pub mod shader;
