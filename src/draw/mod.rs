//! A draw, stage by stage.
pub mod call;
pub mod texture;

pub use call::{DispatchCall, DrawCall, IndexSource};
