//! Draws, by hardware block.
//!
//! [`pipeline`] connects the blocks. It has the state of each made of registers
//! ([`generation`](crate::generation)); a block's `state.rs` says what that state is. Blocks take state and values, and
//! return values and log entries. The name of a folder is the prefix of its registers:
//!
//! - [`pc`]: primitive control: topology, restart, provoking vertex, tessellator;
//! - [`vfd`]: vertex fetch: indices, instances, attributes;
//! - [`sp`]: shader processor: programs, constants, the memory shaders see, the launcher of all stages;
//! - [`vs`], [`hs`], [`ds`], [`gs`], [`fs`], [`cs`]: the steps of each stage: inputs of a warp, and
//!   collection of its outputs;
//! - [`vpc`]: varyings, linkage, transform feedback;
//! - [`gras`]: rasteriser: clip, viewport, set-up, polygon offset, pixels, quads;
//! - [`rb`]: render backend: depth, stencil, alpha test, blending, targets, resolve;
//! - [`tpl1`]: texture unit: descriptors, samplers, border colours, fetch, filters.
pub mod call;
pub mod compare;
pub mod cs;
pub mod debugged;
pub mod ds;
pub mod fs;
pub mod gras;
pub mod gs;
pub mod hs;
pub mod inspection;
pub mod pc;
pub mod pipeline;
pub mod primitive_cache;
pub mod queue;
pub mod rb;
mod reads;
pub mod record;
#[cfg(test)]
mod refusals;
mod schedule;
pub mod sp;
pub mod stage_words;
mod state_cache;
pub mod stats;
pub mod stop;
pub mod topology;
pub mod tpl1;
pub mod vertex_stages;
pub mod vertices;
pub mod vfd;
pub mod vpc;
pub mod vs;
pub mod work;

pub use call::{DispatchCall, DrawCall, IndexSource, UncountedDraw};
pub use inspection::{Inspected, Inspection};
pub use pipeline::Pipeline;
pub(crate) use pipeline::sync::{finish, sync};
pub(crate) use pipeline::{dispatch, run};
pub(crate) use reads::MemoryRead;
pub use schedule::Schedule;
