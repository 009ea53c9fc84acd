//! Files by which `a4emu run` and the device that it starts a program with know of each other.
//!
//! The device (`src/drm`) lives in the processes of that program. [`folder`] is where all of them leave their files: a
//! [`report`] with a [`summary`] each, what one [`recording`] holds, and pictures through a pipe of [`frames`].

pub mod folder;
pub mod frames;
pub mod recording;
pub mod report;
pub mod summary;
