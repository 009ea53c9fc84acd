//! VPC, the varying and position cache: what goes from the last vertex stage to fragments and to memory.
pub mod feedback;
pub mod interpolate;
pub mod linkage;
pub mod planes;
pub mod ramp;
pub mod state;
