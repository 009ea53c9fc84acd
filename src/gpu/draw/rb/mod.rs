//! RB, the render backend: depth, stencil, colours, surfaces.
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
