//! A virtual A4xx for programs that need a real driver. This library is preloaded into a process. It
//! provides one render node of driver `msm` and runs the submits to it.
//!
//! The path of one submit: the program's `ioctl` arrives in the hooks of [`ffi`], which recognise the
//! descriptor ([`node::ioctl`]). [`dispatch`] finds the handler of the number. [`submit`] turns the
//! program's tables into a job. It waits in the [`ring`]. The [`gpu_thread`] runs it with the [`engine`],
//! directly on the memory of the buffers, which is in the [`arena`]. Then its fence signals.
//!
//! State lies below what works on it: [`bo`], [`mod@file`] and [`ring`] hold what programs have made, [`device`] holds
//! that with its lock, and ioctls, threads and forks take the device. [`node`] is what hooks ask.
//!
//! Rules:
//! - `unsafe` is only in [`ffi`]; that module gives the reasons.
//! - A descriptor of the device is a small memory file, identified by its inode. So `dup`, `fork` and
//!   passing it over a socket work without help.
//! - The program's table of descriptors holds no other files of the device.
//! - Hooks decide about foreign descriptors, paths and memory without a lock and without allocating
//!   ([`known`]). They may be called in a signal handler, or after a `vfork`.
//! - Calls on the program's own descriptors and files must not change: every hook calls libc unless the file
//!   belongs to the device.
//! - On other systems than Linux there is no such node, and this crate is empty.

#![cfg(target_os = "linux")]
#![deny(unsafe_code)]

pub mod arena;
pub mod bo;
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
pub mod gpu_thread;
pub mod ids;
pub mod kgsl;
pub mod known;
pub mod ledger;
pub mod mappings;
pub mod node;
pub mod param;
pub mod prime;
pub mod provide;
pub mod queue;
pub mod record;
pub mod refusal;
pub mod replica;
pub mod ring;
pub mod settings;
pub mod share;
pub mod submit;
pub mod sweep;
pub mod syncobj;
pub mod tree;
pub mod uapi;
pub mod version;

/// The allocator of this library only; the program keeps libc's. In a frame of small draws, libc's took a
/// tenth of the time: for lists that one thread makes and another frees, and for memory that it returned and
/// the kernel cleared for the next frame.
///
/// With debug assertions the system's allocator is used, since tests replace it by one that counts requests.
#[cfg(all(target_arch = "x86_64", not(debug_assertions)))]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;
