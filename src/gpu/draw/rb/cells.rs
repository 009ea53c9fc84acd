//! Squares of a surface in tile memory all of whose pixels are the same, as far as that is known: what a clear leaves
//! where nothing is drawn.
//!
//! That is most of many frames. Where it is known, pixels need not be cleared to what they are, nor copied to memory
//! that has them already.

use std::ops::Range;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::Surface;

/// Pixels on each side of a cell. Cells count from where the tile begins.
pub const CELL: i32 = 32;

/// What all pixels of a cell have in common, as far as it is known: their bytes are a number, of at most four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Common {
    /// Bits that are known to be the same.
    pub bits: u32,
    /// What these are.
    pub value: u32,
}

impl Common {
    /// What all pixels are, if all bits of that are known.
    pub fn pixel(self) -> Option<u32> {
        (self.bits == u32::MAX).then_some(self.value)
    }
}

/// The cells of some surfaces of a tile, within an area of it.
#[derive(Clone, Debug, Default)]
pub struct UniformTiles {
    surfaces: Vec<Surface>,
    area: Option<Rect>,
    /// Row by row; in each those of one surface after the other, from left to right.
    all: Vec<Common>,
}

impl UniformTiles {
    /// The cells of `surfaces`, none of which overlap in `area`. What these are known to be stays known, if they were
    /// of the same before: others may have had the same bytes.
    #[must_use]
    pub fn of(self, surfaces: &[Surface], area: Rect) -> Self {
        if self.surfaces == surfaces && self.area == Some(area) {
            return self;
        }
        let count = numbers(area.y0..area.y1).len() * numbers(0..area.x1).len() * surfaces.len();
        Self { surfaces: surfaces.to_vec(), area: Some(area), all: vec![Common::default(); count] }
    }

    /// Row by row from the top: the cells of each surface.
    pub fn rows(&mut self) -> impl Iterator<Item = impl Iterator<Item = Cells<'_>>> {
        let area = self.area.unwrap_or(Rect::NOTHING);
        let columns = numbers(0..area.x1).len().max(1);
        let rows = self.all.chunks_mut((columns * self.surfaces.len()).max(1));
        rows.zip(numbers(area.y0..area.y1)).map(move |(row, number)| {
            let (top, end) = ((number * CELL).max(area.y0), ((number + 1) * CELL).min(area.y1));
            row.chunks_mut(columns).map(move |known| Cells {
                known,
                columns: area.x0..area.x1,
                rows: end - top,
            })
        })
    }
}

/// Numbers of the cells that have some of these pixels.
pub fn numbers(pixels: Range<i32>) -> Range<i32> {
    match pixels.is_empty() {
        true => 0..0,
        false => pixels.start.div_euclid(CELL)..(pixels.end - 1).div_euclid(CELL) + 1,
    }
}

/// A row of cells of a surface, from its first column on.
#[derive(Debug, Default)]
pub struct Cells<'a> {
    /// From left to right.
    pub known: &'a mut [Common],
    /// Columns of the surface that they are of.
    pub columns: Range<i32>,
    /// Rows that they are of.
    pub rows: i32,
}

impl Cells<'_> {
    /// The same for a while.
    pub fn lent(&mut self) -> Cells<'_> {
        Cells { known: self.known, columns: self.columns.clone(), rows: self.rows }
    }

    /// The cells that have some of these columns.
    pub fn touching(&self, columns: Range<i32>) -> Range<usize> {
        let Range { start, end } = numbers(columns);
        let count = self.known.len();
        let inside = |number: i32| usize::try_from(number).unwrap_or(0).min(count);
        inside(start)..inside(end)
    }

    /// The columns of cell `number`.
    pub fn columns_of(&self, number: usize) -> Range<i32> {
        let first = number as i32 * CELL;
        first.max(self.columns.start)..(first + CELL).min(self.columns.end)
    }

    /// These bits are not known any more of the cells that have some of these columns.
    pub fn forget(&mut self, columns: Range<i32>, bits: u32) {
        let touching = self.touching(columns);
        self.known[touching].iter_mut().for_each(|known| known.bits &= !bits);
    }
}
