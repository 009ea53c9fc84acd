//! RB, the render backend: depth, stencil, colours, surfaces.
//!
//! The path of a warp of shaded pixels (`fs` calls these):
//!
//! 1. [`state`] reads the registers of targets, tests, blending and copies.
//! 2. [`coverage`] selects the samples to write, [`alpha_test`] drops pixels by their alpha.
//! 3. [`depth`] tests depth and stencil; [`depth_target`] has the buffers.
//! 4. [`color`] puts colours into the format of the target, after [`blend`] and [`dither`].
//! 5. [`surface`] has the rows of a target, in tile memory or memory; [`pixels`] loads and stores them as words, [`fill`]
//!    writes one value to many, [`tiled`] copies tiled surfaces into row order and back.
//!
//! [`resolve`] copies tile memory to memory, and [`rendered`] lists the surfaces that were written. [`cells`] knows squares
//! of tile memory that have one value.
pub mod alpha_test;
pub mod blend;
pub mod cells;
pub mod color;
pub mod coverage;
pub mod depth;
pub mod depth_target;
pub mod dither;
pub mod fill;
pub mod pixels;
pub mod rendered;
pub mod resolve;
pub mod state;
pub mod surface;
pub mod tiled;
