//! VPC, the varying and position cache: passes outputs of the last vertex stage to fragments and to memory.
//!
//! 1. [`state`] reads the registers: which outputs are varyings, how each is interpolated, point sprites, stream-out.
//! 2. [`linkage`] copies the registers of the last vertex stage to a row for each vertex.
//! 3. [`planes`] makes the numbers that a primitive is interpolated with: the value at vertex 0, and two differences.
//! 4. [`interpolate`] gives the varyings of a warp of quads: perspective, linear, flat, and the coordinate of a point sprite.
//!    [`ramp`] does it for varyings that are linear over the primitive.
//!
//! [`feedback`] writes vertices to memory (transform feedback).
#[cfg(target_arch = "x86_64")]
mod avx512;
pub mod feedback;
pub mod interpolate;
pub mod linkage;
pub mod planes;
pub mod ramp;
pub mod state;
