//! An Adreno A4xx in software: it reads the command stream that a real driver wrote, and does what
//! the chip would do.
//!
//! Two crates: [`a4emu_decoder`] holds pure functions of bits, this one holds state and time. A
//! capture is played by [`playback`] into a [`Gpu`](gpu::Gpu), which owns everything by value:
//! registers ([`regfile`]), memory ([`memory`]), what CP_LOAD_STATE loaded, tile memory, and the
//! [`Report`](fault::Report) of what went wrong. Whoever wants to see something of it is an
//! [`Observer`](cp::Observer); [`inspect`] says what a draw runs with. `examples/render_frame.rs` renders a frame,
//! `examples/depth_test_off.rs` looks at registers before each draw.
//!
//! # The path of a packet
//!
//! 1. The capture's bytes become [`Section`](a4emu_decoder::capture::Section)s
//!    ([`a4emu_decoder::capture`]): buffers, which [`Playback`](playback::Playback) puts into
//!    memory, and submits, which start the command processor ([`cp`]) at an address.
//! 2. The dwords there become [`Packet`](a4emu_decoder::packet::Packet)s, borrowed, one at a time. A
//!    type-0 packet writes registers; a type-3 packet gets a typed body
//!    ([`Pm4`](a4emu_decoder::pm4::Pm4)) from its row in `decoder/src/pm4/rows.rs`.
//! 3. `cp/command.rs` matches on the body: calls of other buffers push a stream, CP_LOAD_STATE4 fills
//!    the state of a stage, stores go to memory, a draw or a dispatch becomes a
//!    [`Call`](cp::Call), which an [`Engine`](cp::Engine) runs: it renders, or leaves draws out.
//! 4. Observers see the packet, each register and each store as it happens, and the call before it
//!    runs.
//!
//! # The path of a register write
//!
//! 1. A register is one row in `decoder/src/regs/BLOCK.rs`. The row makes a type with a getter for
//!    each field, the text of the decoder, and the name in golden files.
//! 2. The write lands in the [`RegFile`](regfile::RegFile), a plain array that also knows which
//!    registers have been written at all. The few writes that do something at once (a store through
//!    CP_ME_NRT_DATA, say) are the table in `cp/effects.rs`.
//! 3. A draw reads registers in one place only: the snapshot at its start turns them into values,
//!    and all later steps take those. Whoever looks for the meaning of a register goes to the
//!    snapshot of its block.
//!
//! # The path of a pixel
//!
//! [`draw`] is the pipeline. Its files carry the names of the hardware's blocks:
//!
//! 1. *PC, VFD*: indices are fetched and cut at restarts; vertices are fetched and converted by
//!    [`format`](mod@format).
//! 2. *SP*: the vertex shader runs, 32 vertices in a warp; then hull, tessellator and domain, and
//!    geometry shaders, if they are on.
//! 3. *PC, GRAS*: vertices become primitives, are clipped, projected and set up.
//! 4. *GRAS*: the rasteriser finds covered pixels, in quads of 2x2; eight quads fill a warp.
//! 5. *VPC, SP, TPL1*: varyings are interpolated and the fragment shader runs; it samples textures.
//! 6. *RB*: alpha test, stencil, depth, blend and write mask merge the colours into tile memory, or
//!    into memory in bypass mode.
//! 7. *RB*: a resolve copies tile memory to memory, from where the surface's picture is taken.
//!
//! # The path of a shader word
//!
//! 1. An instruction is 64 bits, and one row in `decoder/src/isa/ir3/`: decoder, assembler,
//!    disassembler and the meaning for one lane come from it.
//! 2. When a draw needs a program, [`shader`] decodes its words once and lowers them to steps:
//!    repeats unrolled, operands resolved to rows of 32 lanes.
//! 3. Steps run over a warp, under a mask of lanes that control flow narrows and widens. What leaves
//!    the lanes (memory, textures, constants) is asked of an environment that the pipeline gives.
//! 4. Each operation's loop over lanes is held to the decoder's scalar function bit for bit.
//!
//! # What goes wrong
//!
//! All that can go wrong is a [`Trouble`](fault::Trouble) with a severity: a
//! [`Fault`](fault::Fault) is the program's, [`Missing`](fault::Missing) memory the capture's, and
//! what is not supported, or cut off by a limit of ours ([`budget`]), is ours. All are recorded with
//! their [`Place`](fault::Place); none panics.
//!
//! # What is asked of a capture
//!
//! A capture is an [`inspect::Capture`] (a file, or bytes), a run has its bounds from [`limits::Limits`], where another thread
//! may end it ([`budget::Interrupt`]). [`decode`] puts packets out as text or JSON, [`pixel::ask`] has the history of pixels, [`diff::compare`] what
//! changed, [`validate::Watch`] what the chip would not forgive, [`inspect::Rows`] the table of commands with their cost; [`edit`]
//! runs draws with other registers; [`asm`] and [`disasm`] are the text form. `python/` is these and nothing else.
//!
//! Modules that are not listed here belong to the `a4emu` command and are no public interface: those
//! that its tests and the virtual device (`src/drm`) use are hidden, the others private.

#![deny(unsafe_code)]
pub mod asm;
pub mod coverage;
pub mod decode;
pub mod diff;
pub mod disasm;
pub mod edit;
pub mod golden;
pub mod inspect;
pub mod limits;
pub mod options;
pub mod pixel;
pub mod register_names;
pub mod selection;
pub mod status;
pub mod validate;

mod bisect;
mod companion;
mod explain;
mod info;
mod named;
mod reduce;
mod replay;
mod serve;
mod show;
mod trace;

#[doc(hidden)]
pub mod check;
#[doc(hidden)]
pub mod cli;
#[doc(hidden)]
pub mod corpus;
#[doc(hidden)]
pub mod debug;
#[doc(hidden)]
pub mod export;
#[doc(hidden)]
pub mod folders;
#[doc(hidden)]
pub mod out_file;
#[doc(hidden)]
pub mod pico;
#[doc(hidden)]
pub mod progress;
#[doc(hidden)]
pub mod report;
#[doc(hidden)]
#[cfg(target_os = "linux")]
pub mod run;
#[doc(hidden)]
pub mod shard;
#[doc(hidden)]
pub mod terminal;
