//! A draw, hardware block by hardware block.
//!
//! [`run`] reads as the block diagram: registers become a [`gras::state::DrawState`], indices
//! become shaded vertices, these become primitives, and these become pixels. Each
//! stage takes values and returns values; only `run` touches the machine.
pub mod call;
pub mod cs;
pub mod ds;
pub mod front;
pub mod fs;
pub mod gras;
pub mod gs;
pub mod hs;
pub mod inspect;
pub mod pc;
pub mod pipeline;
pub mod primitive_cache;
pub mod rb;
pub mod sp;
pub mod tpl1;
pub mod vertices;
pub mod vfd;
pub mod vpc;

pub use call::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
pub use pipeline::{Pipeline, dispatch, run};
