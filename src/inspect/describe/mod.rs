//! What a draw is: its state, decoded, in the order of the pipeline. `show`, `diff` and the pages ask here.
//!
//! - [`Draw::of`] reads all that a draw or dispatch runs with out of a [`Gpu`](a4emu_gpu::gpu::Gpu), inherited state included.
//!   It changes nothing, so any [`Observer`](a4emu_gpu::cp::Observer) calls it from
//!   [`Observer::call`](a4emu_gpu::cp::Observer::call), where all state of the call is there and nothing of it has run:
//!
//!   ```text
//!   let mut shaders = Shaders::default();                    // one for a run: programs are looked through once
//!   fn call(&mut self, gpu: &Gpu, call: &Call) -> Flow {
//!       let draw = Draw::of(gpu, call, &mut self.shaders);
//!       for read in draw.reads(&gpu.mem) { hash(read.contents(&gpu.mem)) }
//!   ```
//! - A [`Draw`] serialises to the JSON of `show --draw` (docs/schema.md, `show --draw`). Names of registers' fields, formats and
//!   enumerators are the register database's. **Whatever is a GPU address is an [`Address`], under the key `address`**
//!   (the packet's own place: `packet`), and nothing else is: who compares two captures renames those.
//! - [`Draw::reads`] names the memory that the draw fetches: [`Read::what`] in the words of the model (`vertex input 0`,
//!   `indices`, `FS texture 2`), where it starts and how long it is.
//! - [`Shader`] has the words of a program, its text, and which constants, textures, samplers and buffers it names; a
//!   [`ShaderStage`] adds what these are for one draw. Equal programs are the same [`Arc`](std::sync::Arc).
//! - [`Key`] tells which runs are the same command: the runs of one packet for the tiles of a pass, also where the
//!   kernel was given the tiles in several submits.
//! - [`Frame`] is the table of `show`: a row for each command, its tiles folded, with what it cost.
//! - [`Texture::texels`] reads a layer of a level, as the texture unit does.
//! - [`canvas`] takes pictures: [`Attachment`](canvas::Attachment)s of a draw, copied out of tile memory or memory into a
//!   [`Canvas`](canvas::Canvas) that joins tiles ([`Snapshot`](canvas::Snapshot): all of a draw); two of them compare; each makes an [`Image`](canvas::Image).
//! - [`Following`] renders, and notes what all draws did to the pixels of the picture that is the last.
//! - [`Touched`] is what became of the pixels of a picture: [`Draw::map`]s of single runs, joined. [`Counts`] is how often
//!   instructions ran.
//! - [`mesh`] has the vertices of a draw as they are fetched and as they reach the rasteriser.
//!
//! Cost: [`Draw::of`] takes a few microseconds and some kilobytes; whoever keeps one for each draw of a run bounds how many.

pub mod canvas;
mod counts;
mod draw;
mod fetch;
mod following;
mod frame;
pub mod mesh;
mod name;
mod raster;
mod read;
mod run;
mod shader;
mod stage;
mod target;
mod texels;
mod texture;
mod touched;

pub use counts::{Counts, StageCounts};
pub use draw::{AlphaTest, Command, Draw, Key, Tile};
pub use fetch::{IndexBuffer, Indices, VertexInput};
pub use following::Following;
pub use frame::{Cost, Costed, Costing, Frame, MAX_ROWS, Row, RowShader, RowTarget, RowTexture, Rows};
pub use name::Address;
pub use raster::{Offset, Raster, Scissors};
pub use read::Read;
pub use run::{Capture, Look, Looking, RUNS, Runs, find};
pub use shader::{Shader, Shaders, Uses};
pub use stage::{Buffer, Constant, ShaderStage};
pub use target::{Blend, Depth, Equation, Place, Resolve, Stencil, StencilBuffer, StencilFace, Target};
pub use texels::{NoTexels, Texels};
pub use texture::{Sampler, Texture};
pub use touched::Touched;
