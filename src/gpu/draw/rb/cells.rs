//! Cells: squares of a surface in tile memory whose pixels are known to be equal, for example after a clear.
//!
//! Many frames consist mostly of such cells. A cell with known contents need not be cleared to the same
//! value, nor copied to memory that already has it.

use std::ops::Range;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::Surface;

/// Pixels on each side of a cell. Cells are numbered from the start of the tile.
pub const CELL: i32 = 32;

/// Known common bits of all pixels of a cell. A pixel has at most four bytes, read as one number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UniformBits {
    /// Mask of the known bits.
    pub bits: u32,
    /// Values of the known bits.
    pub value: u32,
}

impl UniformBits {
    /// Returns the value of all pixels, if every bit is known.
    pub fn pixel(self) -> Option<u32> {
        (self.bits == u32::MAX).then_some(self.value)
    }
}

/// Cells of the surfaces of a tile within an area.
#[derive(Clone, Debug, Default)]
pub struct UniformTiles {
    surfaces: Vec<Surface>,
    area: Option<Rect>,
    /// All cells, row by row. Each row has the cells of one surface after the other, from left to right.
    all: Vec<UniformBits>,
}

impl UniformTiles {
    /// Returns the cells of `surfaces`, which do not overlap in `area`. Known contents are kept only for the
    /// same surfaces and area; other surfaces may have overwritten the bytes.
    #[must_use]
    pub fn of(self, surfaces: &[Surface], area: Rect) -> Self {
        if self.surfaces == surfaces && self.area == Some(area) {
            return self;
        }
        let count = numbers(area.y0..area.y1).len() * numbers(0..area.x1).len() * surfaces.len();
        Self { surfaces: surfaces.to_vec(), area: Some(area), all: vec![UniformBits::default(); count] }
    }

    /// Returns the cells of each surface, row by row from the top.
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

/// Returns the numbers of the cells that overlap a range of pixels.
pub fn numbers(pixels: Range<i32>) -> Range<i32> {
    match pixels.is_empty() {
        true => 0..0,
        false => pixels.start.div_euclid(CELL)..(pixels.end - 1).div_euclid(CELL) + 1,
    }
}

/// A row of cells of a surface, from the first column on.
#[derive(Debug, Default)]
pub struct Cells<'a> {
    /// Known contents, from left to right.
    pub known: &'a mut [UniformBits],
    /// Columns of the surface that the cells cover.
    pub columns: Range<i32>,
    /// Number of pixel rows that the cells cover.
    pub rows: i32,
}

impl Cells<'_> {
    /// Borrows the cells again.
    pub fn lent(&mut self) -> Cells<'_> {
        Cells { known: self.known, columns: self.columns.clone(), rows: self.rows }
    }

    /// Returns the cells that overlap `columns`.
    pub fn touching(&self, columns: Range<i32>) -> Range<usize> {
        let Range { start, end } = numbers(columns);
        let count = self.known.len();
        let inside = |number: i32| usize::try_from(number).unwrap_or(0).min(count);
        inside(start)..inside(end)
    }

    /// Returns the columns of cell `number`.
    pub fn columns_of(&self, number: usize) -> Range<i32> {
        let first = number as i32 * CELL;
        first.max(self.columns.start)..(first + CELL).min(self.columns.end)
    }

    /// Marks `bits` as unknown in the cells that overlap `columns`.
    pub fn forget(&mut self, columns: Range<i32>, bits: u32) {
        let touching = self.touching(columns);
        self.known[touching].iter_mut().for_each(|known| known.bits &= !bits);
    }
}
