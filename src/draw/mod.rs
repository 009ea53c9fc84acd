//! A draw, stage by stage.
//!
//! [`run`] reads as the block diagram: registers become a [`state::DrawState`], indices
//! become shaded vertices, these become primitives, and these become pixels. Each
//! stage takes values and returns values; only `run` touches the machine.
pub mod affine;
pub mod bands;
pub mod blend;
pub mod call;
pub mod clip;
pub mod compute;
pub mod depth;
pub mod depth_target;
pub mod feedback;
pub mod fetch;
pub mod fill;
pub mod fragment;
pub mod front;
pub mod geometry;
pub mod inspect;
pub mod interpolate;
pub mod layers;
pub mod lines;
pub mod local;
pub mod merge;
pub mod patch;
pub mod pipeline;
pub mod plane;
pub mod primitive;
pub mod program;
pub mod quad;
pub mod raster;
pub mod reports;
pub mod resolve;
pub mod reuse;
pub mod stage;
pub mod state;
pub mod surfaces;
pub mod targets;
pub mod tessellation;
pub mod tessellator;
pub mod texture;
pub mod topology;
pub mod vertex;
pub mod vertices;
pub mod view;
pub mod window;

pub use call::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
pub use pipeline::{Pipeline, dispatch, run};
