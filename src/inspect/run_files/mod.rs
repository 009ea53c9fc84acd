//! Files that connect `a4emu run` with the device that it starts a program with.
//!
//! The device (`src/drm`) runs inside the processes of that program. [`folder`] is where they leave their
//! files: a [`report`] with a [`summary`] each, a [`recording`], and a pipe for [`frames`]. The [`ledger`] says
//! what has to be there.

pub mod folder;
pub mod frames;
pub mod ledger;
pub mod recording;
pub mod report;
pub mod summary;
