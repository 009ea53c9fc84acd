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

use a4emu_decoder::a6xx::enums::TileMode;
use a4emu_shader::format::arrangement::Tiling;

use crate::generation::Readers;

/// What dispatches of an A6xx are read with.
pub static READERS: Readers = Readers { dispatch: cs::dispatch, stage: &sp::READERS, draws: None };

/// Returns the order of texels, or blocks of a compressed format, with `bytes` bytes. `None` if it is not known. A surface with
/// UBWC holds them here as one without.
fn tiling(mode: TileMode, bytes: u32) -> Option<Tiling> {
    match mode {
        TileMode::TILE6_LINEAR => Some(Tiling::Linear),
        TileMode::TILE6_3 if matches!(bytes, 1 | 2 | 4 | 8 | 16) => {
            Some(Tiling::Macrotiles { cpp: bytes, all: true })
        }
        _ => None,
    }
}
