//! A virtual A4xx for programs that want a real driver: preloaded into a process, this
//! library makes one render node of driver `msm` appear, and runs what is submitted to it.
//!
//! The path of one submit: the program's `ioctl` arrives in [`ffi`]'s hooks, which know the
//! descriptor for one of ours ([`device::ioctl`]); [`dispatch`] finds who serves the number;
//! [`submit`] turns the program's tables into a job; on the [`ring`]'s thread the [`engine`]
//! runs it on the buffers' own memory, which is the [`arena`]'s; then its fence has signalled.
//!
//! Rules:
//! - `unsafe` is in [`ffi`] and nowhere else; that module says why.
//! - A descriptor of ours is a small memory file, known by its inode, so that `dup`, `fork`
//!   and passing it over a socket need no help.
//! - No file of ours is in the program's table of descriptors, but for those small ones.
//! - Hooks answer for other people's descriptors, paths and memory without a lock and without
//!   allocating ([`known`]): they may be called in a signal handler, or after a `vfork`.
//! - Nothing that a program does in good faith to descriptors and files of its own may
//!   change: every hook goes on to libc unless the file is ours.
//! - Elsewhere than on Linux there is no such node to pretend, and this crate is empty.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

pub mod arena;
pub mod clock;
pub mod device;
pub mod dispatch;
pub mod engine;
pub mod fence;
#[allow(unsafe_code, reason = "the wall: see its documentation")]
pub mod ffi;
pub mod file;
pub mod fork;
pub mod frames;
pub mod gaps;
pub mod gem;
pub mod ids;
pub mod known;
pub mod mappings;
pub mod param;
pub mod prime;
pub mod provide;
pub mod queue;
pub mod record;
pub mod refusal;
pub mod ring;
pub mod settings;
pub mod share;
pub mod submit;
pub mod sweep;
pub mod syncobj;
pub mod tree;
pub mod uapi;
pub mod version;

/// Ours alone: the program keeps libc's. Of a frame of small draws that took a tenth for lists which one thread makes and
/// another frees, and for memory that it gave back and that the kernel cleared for the next frame.
///
/// With debug assertions it is the system's, for which tests have one that counts what it is asked for.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
