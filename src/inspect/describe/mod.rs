//! Describes a draw: its decoded state, in the order of the pipeline. `show`, `diff` and the pages use it.
//!
//! - [`Draw::of`] reads the state of a draw or dispatch from a [`Gpu`](a4emu_gpu::gpu::Gpu), with inherited
//!   state. It changes nothing. So any [`Observer`](a4emu_gpu::cp::Observer) calls it from
//!   [`Observer::call`](a4emu_gpu::cp::Observer::call): there the state is complete, and the call has not
//!   run:
//!
//!   ```text
//!   let mut shaders = Shaders::default();                    // one for a run: a cache of programs
//!   fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
//!       let gpu = gpu.sync();
//!       let draw = Draw::of(gpu, call, &mut self.shaders);
//!       for read in draw.reads(gpu.memory()) { hash(read.contents(gpu.memory())) }
//!   ```
//! - A [`Draw`] serialises to the JSON of `show --draw` (docs/schema.md, `show --draw`). Names of registers'
//!   fields, formats and enumerators come from the register database. **Every GPU address is an [`Address`]
//!   under the key `address`** (the packet's own place: `packet`), and no other value is. So a comparison of
//!   two captures can rename addresses.
//! - [`Draw::reads`] lists the memory that the draw fetches: a name, the address and the length.
//!   [`Read::what`] is the name, such as `vertex input 0`, `indices` or `FS texture 2`.
//! - [`Shader`] has the words of a program, its text, and the constants, textures, samplers and buffers it
//!   names. A [`ShaderStage`] adds the values of these for one draw. Equal programs share one
//!   [`Arc`](std::sync::Arc).
//! - [`Key`] identifies a command: the runs of one packet for the tiles of a pass, also in several submits.
//! - [`Frame`] is the table of `show`: a row for each command, with all its tiles and its cost.
//! - [`Texture::texels`] reads a layer of a level, as the texture unit does.
//! - [`canvas`] makes pictures. An [`Attachment`](canvas::Attachment) of a draw is copied from GMEM or
//!   memory into a [`Canvas`](canvas::Canvas), which joins tiles. A [`Snapshot`](canvas::Snapshot) holds all
//!   attachments of a draw. Two of either can be compared, and a canvas makes an [`Image`](canvas::Image).
//! - [`Following`] renders, and records what all draws did to the pixels of the last picture.
//! - [`Touched`] records what happened to the pixels of a picture: the joined [`Draw::map`]s of single runs.
//!   [`Counts`] counts how often instructions ran.
//! - [`mesh`] has the vertices of a draw before and after the vertex stages, and [`stages`] what these pass on.
//!
//! Cost: [`Draw::of`] takes a few microseconds and some kilobytes. A caller that keeps one for each draw has
//! to limit their number.

pub(crate) mod a6xx;
mod blits;
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
mod stage;
pub mod stages;
mod target;
mod tessellation;
mod texels;
mod texture;
mod touched;
mod users;
mod written;

pub use a4emu_rules::number::{Number, NumberUse};
pub use a4emu_rules::shader::{Shader, Shaders, Uses};
pub use blits::{Blit, BlitSurface};
pub use counts::{Counts, StageCounts};
pub use draw::{AlphaTest, Command, Draw, Key, Tile};
pub use fetch::{IndexBuffer, Indices, VertexInput};
pub use following::Following;
pub use frame::{Cost, Costed, Costing, Frame, MAX_ROWS, Row, RowShader, RowTarget, RowTexture, Rows};
pub use name::{Address, packet_name};
pub use raster::{Offset, Raster, Scissors};
pub use read::Read;
pub use run::{Capture, Look, Looking, RUNS, Runs, find};
pub use stage::{Buffer, Constant, ShaderStage};
pub use target::{
    Blend, Depth, Equation, Resolve, Stencil, StencilBuffer, StencilFace, SurfacePlace, Target,
};
pub use tessellation::{PatchFactors, Tessellation};
pub use texels::{Channels, NoTexels, Part, Range, Texels};
pub use texture::{Sampler, Texture};
pub use touched::Touched;
pub use users::{Access, Use, Users, UsingCalls, UsingPackets};
pub use written::{PacketStores, Storing, Word, Written, WrittenBy};
