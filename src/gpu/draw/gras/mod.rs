//! GRAS, the rasteriser: clip, viewport, set-up, pixels.
pub mod affine;
pub mod clip;
pub mod layers;
pub mod lines;
pub mod polygon_offset;
pub mod primitives;
pub mod quad;
pub mod raster;
#[cfg(target_arch = "x86_64")]
pub mod rows;
pub mod samples;
pub mod screen_vertex;
pub mod setup;
pub mod state;
pub mod viewport;
