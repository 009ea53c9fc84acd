//! What `a4emu run` and the device that it starts a program with share. The device (`src/drm`) runs inside the
//! processes of that program, and links nothing of the command line.
//!
//! [`folder`] is where processes leave their files: a [`report`] with a [`summary`] each, a [`recording`], and a pipe
//! for [`frames`]. The [`ledger`] says what has to be there. [`owner`] has the names of temporary files. Messages go
//! to [`stderr`], where [`text`] is escaped.

#![deny(unsafe_code)]
#[cfg(target_os = "linux")]
pub mod folder;
#[cfg(target_os = "linux")]
pub mod frames;
#[cfg(target_os = "linux")]
pub mod ledger;
pub mod owner;
#[cfg(target_os = "linux")]
pub mod recording;
#[cfg(target_os = "linux")]
pub mod report;
pub mod stderr;
#[cfg(target_os = "linux")]
pub mod summary;
pub mod text;
