//! VPC, the varying and position cache: passes outputs of the last vertex stage to fragments and to memory.
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod feedback;
pub mod interpolate;
pub mod linkage;
pub mod planes;
pub mod ramp;
pub mod state;
