//! GRAS, the rasteriser: clip, viewport, set-up, pixels.
//!
//! 1. [`state`] reads the registers of clipping, viewports, set-up and scissors.
//! 2. [`clip`] cuts a primitive at the planes of the view volume, [`screen_vertex`] and [`viewport`] transform its vertices
//!    to the window, [`layers`] selects the layer of the target.
//! 3. [`setup`] culls, and makes [`primitives`]: edges, and planes of depth and barycentrics ([`affine`]), with
//!    [`polygon_offset`]. [`lines`] makes parallelograms of lines.
//! 4. [`raster`] finds the pixels that a primitive covers, in blocks of 8x8; [`samples`] has the places of samples. What is
//!    covered goes on as [`quad`]s of 2x2 pixels.
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
