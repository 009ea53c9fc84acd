//! A draw, stage by stage.
pub mod call;

pub use call::{DispatchCall, DrawCall, IndexSource};
