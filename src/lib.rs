//! An Adreno A4xx in software.
//!
//! The path of one packet: a capture's bytes become sections
//! ([`a4emu_decoder::capture`]), the sections of one submit become buffers, the
//! dwords of a command buffer become packets ([`a4emu_decoder::packet`]), and a
//! packet is executed by the one command processor ([`cp`]), which [`decode`], [`replay`]
//! and the other commands watch.

pub mod asm;
pub mod budget;
pub mod check;
pub mod cp;
pub mod debug;
pub mod decode;
pub mod diff;
pub mod disasm;
pub mod draw;
pub mod fault;
pub mod folders;
pub mod format;
pub mod golden;
pub mod gpu;
pub mod info;
pub mod memory;
pub mod options;
pub mod out_file;
pub mod output;
pub mod pass;
pub mod pico;
pub mod playback;
pub mod progress;
pub mod regfile;
pub mod replay;
pub mod run;
pub mod selection;
pub mod shader;
pub mod status;
pub mod trace;
