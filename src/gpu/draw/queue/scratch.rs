//! Scratch memory in which a band of tiles can run at the same time as other tiles.

use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::{Cells, UniformBits, numbers};
use crate::draw::rb::surface::{PixelRows, Surface};
use crate::machine::Gmem;

use super::uses::Uses;

/// Rows of all surfaces of a band, in place of tile memory.
#[derive(Default)]
pub(super) struct Scratch {
    bytes: Gmem,
    cells: Vec<UniformBits>,
}

/// Contents of a band of tile memory before the batch: the bytes of each surface, as far as they matter.
pub(super) type Before = Vec<Vec<u8>>;

impl Scratch {
    /// Returns rows for the pixels of `band` that `uses` touch. Their contents are undefined, except for those in
    /// `before`.
    pub(super) fn begin(
        &mut self,
        surfaces: &[Surface],
        uses: &Uses,
        band: Rect,
        before: Option<&Before>,
    ) -> Vec<PixelRows<'_>> {
        let room = |(index, surface): (usize, &Surface)| room(uses, band, index, surface);
        let bytes = surfaces.iter().enumerate().map(room).sum();
        if self.bytes.len() < bytes {
            self.bytes.resize(bytes);
        }
        if cfg!(debug_assertions) {
            self.bytes.fill(0xa5);
        }
        let mut at = 0;
        for (room, before) in surfaces.iter().enumerate().map(room).zip(before.into_iter().flatten()) {
            let len = room.min(before.len());
            self.bytes[at..at + len].copy_from_slice(&before[..len]);
            at += room;
        }
        self.rows(surfaces, uses, band)
    }

    /// Returns the rows that [`Scratch::begin`] returned for this band. Their cells are not known to be uniform.
    pub(super) fn rows(&mut self, surfaces: &[Surface], uses: &Uses, band: Rect) -> Vec<PixelRows<'_>> {
        let columns = numbers(0..band.x1).len();
        self.cells.clear();
        self.cells.resize(columns * surfaces.len(), UniformBits::default());
        let (mut rest, mut cells) = (&mut self.bytes[..], self.cells.chunks_mut(columns.max(1)));
        let mut rows = |(index, surface): (usize, &Surface)| {
            let (mine, behind) = std::mem::take(&mut rest).split_at_mut(room(uses, band, index, surface));
            rest = behind;
            let mut rows = PixelRows::new(mine, surface.pitch, surface.cpp, [surface.origin[0], band.y0]);
            let known = cells.next().unwrap_or_default();
            rows.cells = Cells { known, columns: band.x0..band.x1, rows: band.y1 - band.y0 };
            rows
        };
        surfaces.iter().enumerate().map(&mut rows).collect()
    }
}

/// Returns the bytes for the rows of a surface in `band`, if `uses` touch it there.
fn room(uses: &Uses, band: Rect, index: usize, surface: &Surface) -> usize {
    let is_touched = !uses.of(index).touched.intersect(band).is_empty();
    if is_touched { surface.pitch as usize * (band.y1 - band.y0) as usize } else { 0 }
}
