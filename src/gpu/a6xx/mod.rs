//! The A6xx for dispatches: reads its registers, loaded state and descriptors into the neutral state of the blocks.
//!
//! Each file is called after the block whose state it makes; [`formats`] has the formats of texels, as rows. [`blit`] runs
//! copies between surfaces. Draws are not rendered yet: their readers would stand here, as those of [`crate::a4xx`] do.
pub mod blit;
pub mod cs;
pub mod formats;
pub mod registers;
pub mod sp;
pub mod tpl1;

use crate::generation::Readers;

/// What dispatches of an A6xx are read with.
pub static READERS: Readers = Readers { dispatch: cs::dispatch, stage: &sp::READERS, draws: None };
