//! The A4xx in software: the effect of a command stream on registers and memory, and its draws.
//!
//! The path of a command stream:
//!
//! 1. [`playback`] takes the sections of a capture: buffers go into [`memory`], submits start the command processor.
//! 2. [`cp`] executes packets. It writes registers ([`regfile`]), loads shader state ([`machine`]), and calls an
//!    [`Engine`](cp::Engine) for draws and dispatches, which are in the [`pass`] of the driver that they belong to.
//! 3. [`draw`] is the pipeline, by hardware block: `vfd` fetches vertices, `vs`, `hs`, `ds`, `gs`, `fs` and `cs` run shader
//!    stages on `sp`, `pc` makes primitives and tessellates, `gras` clips and rasterises, `vpc` interpolates, `tpl1` samples
//!    textures, `rb` tests, blends and copies. Its `pipeline` calls them in order; its `queue` holds draws and copies that
//!    run later, on many threads.
//! 4. [`generation`] has the readers of registers that make the state of the blocks: those of the A4xx are in [`a4xx`].
//! 5. [`settled`] is the access from outside to what queued work may still change: memory, tile memory, counters.
//!    [`picture`] makes a picture of a surface.
//!
//! [`gpu::Gpu`] owns all of a run: the [`Machine`](machine::Machine), which is the state of the chip and knows nothing of
//! what changes it, the command processor and the pipeline. [`memo`] is what caches of state depend on.
//!
//! What bounds and reports a run: [`budget`] (work, memory, time), [`fault`] (all that can go wrong, with a severity),
//! [`fidelity`] (guesses that a run rests on), [`work_trace`] (what threads do, over time),
//! [`ambient`] (what outside of the emulator could affect a result).
//!
//! This crate reads no arguments, and uses no terminal and no file that a user named. The caller gives the names of options
//! that messages have ([`Budget::naming`](budget::Budget::naming)).

#![deny(unsafe_code)]

pub mod a4xx;
pub mod a6xx;
pub mod ambient;
mod bindless;
pub mod budget;
pub mod cp;
pub mod draw;
pub mod fault;
pub mod fidelity;
pub mod generation;
pub mod gpu;
mod limits;
pub mod machine;
pub mod memory;
pub mod pass;
pub mod picture;
pub mod playback;
pub mod regfile;
pub mod settled;
pub mod span;
pub mod work_trace;

pub mod memo;
mod parallel;
mod pool;
