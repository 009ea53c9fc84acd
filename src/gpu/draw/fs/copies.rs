//! Resolve copies that are queued behind the draws they copy.
//!
//! Destination rows are divided like bands of tile memory: each [`Strip`] belongs to the band that is its
//! source. Adjacent tiles write the same rows, from the same band.
//!
//! Most frames copy to the same place as the frame before. The [`ResolveCache`] keeps the contents of uniform
//! cells of the destination. A cell with the same contents is not copied again, as long as no other write
//! changes the memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::{CELL, numbers};
use crate::draw::rb::state::ResolveState;
use crate::draw::rb::surface::PixelRows;
use crate::memory::{Lent, Memory};
use a4emu_shader::format::arrangement::Tiling;

use super::bands::BAND_ROWS;

/// A queued copy.
pub struct Copy {
    /// Source, destination and format.
    pub state: ResolveState,
    /// The pixels, in screen coordinates.
    pub area: Rect,
    /// Index of the surface that it copies from.
    pub surface: usize,
    /// Anchor of its tile.
    pub anchor: [i32; 2],
    /// Index of its destination.
    pub destination: usize,
    /// Known contents of the destination.
    pub left: Arc<ResolvedCells>,
}

/// Destination rows of one band.
pub struct Strip<'p> {
    /// Number of the band, relative to the tile.
    pub band: i32,
    destination: usize,
    /// First row, in screen coordinates.
    y: i32,
    bytes: &'p mut [u8],
    /// Column of the first pixel of the rows.
    x: i32,
}

/// Layout of a surface in memory, row by row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    base: u32,
    pitch: u32,
    cpp: u32,
}

impl Layout {
    /// Returns the layout of the surface that `state` copies to.
    fn of(state: &ResolveState) -> Self {
        let ResolveState { base, pitch, cpp, .. } = *state;
        Self { base, pitch, cpp }
    }

    /// Returns the address of a pixel.
    fn address(&self, x: i32, y: i32) -> u32 {
        self.base.wrapping_add((u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * x as u64) as u32)
    }

    /// Returns the address of the first pixel of `area`, and the number of bytes up to the end of the last.
    fn place(&self, area: Rect) -> (u32, usize) {
        let rows = (area.y1 - area.y0 - 1) as usize * self.pitch as usize;
        (self.address(area.x0, area.y0), rows + (area.x1 - area.x0) as usize * self.cpp as usize)
    }
}

/// A surface in memory that copies write to.
struct Destination {
    layout: Layout,
    /// First address and length of its buffer.
    buffer: (u32, u32),
    /// Rectangle around the areas of all copies to it.
    area: Rect,
    /// Pairs of destination rows, by number in units of [`BAND_ROWS`], and their source band.
    bands: Vec<(i32, i32)>,
}

impl Destination {
    /// Returns whether it is the same surface as `new`, and no row comes from two bands.
    fn goes_with(&self, new: &Self) -> bool {
        let is_other = |(rows, band): &(i32, i32)| self.bands.iter().any(|(r, b)| r == rows && b != band);
        self.layout == new.layout && !new.bands.iter().any(is_other)
    }

    /// Divides `bytes` into strips. They begin with the first pixel of its area.
    fn strips<'p>(&self, destination: usize, bytes: &'p mut [u8], strips: &mut Vec<Strip<'p>>) {
        let Rect { x0: x, y0, y1, .. } = self.area;
        let (mut rest, mut y) = (bytes, y0);
        while y < y1 {
            let rows = y.div_euclid(BAND_ROWS);
            let end = ((rows + 1) * BAND_ROWS).min(y1);
            let len = ((end - y) as usize * self.layout.pitch as usize).min(rest.len());
            let (bytes, below) = rest.split_at_mut(len);
            if let Some((_, band)) = self.bands.iter().find(|(r, _)| *r == rows) {
                strips.push(Strip { band: *band, destination, y, bytes, x });
            }
            (rest, y) = (below, end);
        }
    }
}

/// Destinations of the queued copies.
#[derive(Default)]
pub struct Copies {
    destinations: Vec<Destination>,
}

impl Copies {
    /// Returns whether no copy is queued.
    pub fn is_empty(&self) -> bool {
        self.destinations.is_empty()
    }

    /// Returns first address and length of the buffers to be written.
    pub fn buffers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.destinations.iter().map(|to| to.buffer)
    }

    /// Adds a copy of `area` from the tile that begins at `anchor`. Returns the index of its destination, or
    /// `None` when the copy cannot be queued.
    pub fn take(
        &mut self,
        state: &ResolveState,
        area: Rect,
        anchor: [i32; 2],
        memory: &mut Memory,
    ) -> Option<usize> {
        let layout = Layout::of(state);
        let Layout { base, pitch, cpp } = layout;
        let on_screen = !area.is_empty() && area.x0 >= 0 && area.y0 >= 0;
        let rows_are_apart = area.x1.unsigned_abs().checked_mul(cpp).is_some_and(|bytes| bytes <= pitch);
        if state.arrangement.tiling != Tiling::Linear || !on_screen || !rows_are_apart {
            return None;
        }
        let mut new =
            Destination { layout, buffer: memory.buffer_at(base)?, area, bands: bands(area, anchor) };
        let known = self.destinations.iter().position(|known| known.buffer == new.buffer);
        if known.is_some_and(|index| !self.destinations[index].goes_with(&new)) {
            return None;
        }
        let (address, len) = layout.place(area);
        if address < base || memory.buffer_at(address) != Some(new.buffer) {
            return None;
        }
        // Check now that the write can succeed, and mark the bytes as changed.
        memory.prepare(address, len)?;
        let Some(index) = known else {
            self.destinations.push(new);
            return Some(self.destinations.len() - 1);
        };
        let known = &mut self.destinations[index];
        new.bands.retain(|band| !known.bands.contains(band));
        known.bands.append(&mut new.bands);
        known.area = known.area.union(area);
        Some(index)
    }

    /// Takes the buffers of all destinations out of memory until they are given back. Skips buffers that are
    /// already lent.
    pub fn lend(&self, memory: &mut Memory) -> Vec<Lent> {
        self.destinations.iter().filter_map(|to| memory.lend_buffer(to.layout.base)).collect()
    }

    /// Divides the lent buffers into strips, one for each band that writes to them.
    pub fn strips<'p>(&self, lent: &'p mut [Lent]) -> Vec<Strip<'p>> {
        let mut strips = Vec::new();
        for lent in lent {
            let is_it = |to: &Destination| to.buffer.0 == lent.base();
            if let Some(index) = self.destinations.iter().position(is_it) {
                let to = &self.destinations[index];
                // The last rows may be narrower, and the buffer may end with them.
                let (address, len) = to.layout.place(to.area);
                to.strips(index, lent.bytes_at(address, len), &mut strips);
            }
        }
        strips
    }
}

/// Known contents of memory after resolve copies.
#[derive(Default)]
pub struct ResolveCache(Vec<ResolvedSurface>);

/// Maximum number of cached surfaces.
const MOST_SURFACES: usize = 16;

/// Maximum number of cached copies per surface.
const MOST_COPIES: usize = 256;

/// A surface in memory that copies wrote to.
struct ResolvedSurface {
    layout: Layout,
    /// Rectangle around the areas of all copies.
    area: Rect,
    /// Time when memory was last prepared for a copy.
    time: u64,
    /// Copies that do not overlap each other.
    copies: Vec<ResolvedCopy>,
}

struct ResolvedCopy {
    area: Rect,
    /// Anchor of its tile.
    anchor: [i32; 2],
    cells: Arc<ResolvedCells>,
}

/// Known contents of each destination cell of a copy. Only copies change it, one after the other.
pub struct ResolvedCells {
    /// Column and row of the first cell.
    first: [i32; 2],
    columns: i32,
    /// Pixel value of each cell, row by row, or [`NOT_KNOWN`].
    cells: Vec<AtomicU64>,
}

const NOT_KNOWN: u64 = u64::MAX;

impl ResolveCache {
    /// Drops the cache entry of the destination of `state` if another write has changed its memory.
    pub fn look(&mut self, state: &ResolveState, memory: &Memory) {
        let layout = Layout::of(state);
        self.0.retain(|surface| surface.layout != layout || surface.is_unchanged(memory));
    }

    /// Returns the known contents at the destination of a copy, after memory was prepared for it at `time`.
    pub fn take(
        &mut self,
        state: &ResolveState,
        area: Rect,
        anchor: [i32; 2],
        time: u64,
    ) -> Arc<ResolvedCells> {
        let layout = Layout::of(state);
        let mut surface = match self.0.iter().position(|surface| surface.layout == layout) {
            Some(index) => self.0.remove(index),
            None => ResolvedSurface { layout, area, time, copies: Vec::new() },
        };
        if self.0.len() >= MOST_SURFACES {
            self.0.remove(0);
        }
        surface.time = time;
        surface.area = surface.area.union(area);
        let cells = surface.copy(area, anchor);
        self.0.push(surface);
        cells
    }
}

impl ResolvedSurface {
    fn is_unchanged(&self, memory: &Memory) -> bool {
        let (address, len) = self.layout.place(self.area);
        u32::try_from(len).is_ok_and(|len| memory.is_unchanged(address, len, self.time))
    }

    /// Returns the cells of the same copy, or new unknown cells.
    fn copy(&mut self, area: Rect, anchor: [i32; 2]) -> Arc<ResolvedCells> {
        if let Some(same) = self.copies.iter().find(|copy| (copy.area, copy.anchor) == (area, anchor)) {
            return same.cells.clone();
        }
        self.copies.retain(|copy| copy.area.intersect(area).is_empty());
        if self.copies.len() >= MOST_COPIES {
            self.copies.clear();
        }
        let cells = Arc::new(ResolvedCells::of(area.seen_from(anchor)));
        self.copies.push(ResolvedCopy { area, anchor, cells: cells.clone() });
        cells
    }
}

impl ResolvedCells {
    /// Creates unknown cells for `area`, in tile coordinates.
    fn of(area: Rect) -> Self {
        let (x, y) = (numbers(area.x0..area.x1), numbers(area.y0..area.y1));
        let cells = (0..x.len() * y.len()).map(|_| AtomicU64::new(NOT_KNOWN));
        Self { first: [x.start, y.start], columns: x.len() as i32, cells: cells.collect() }
    }

    fn cell(&self, [column, row]: [i32; 2]) -> Option<&AtomicU64> {
        let (column, row) = (column - self.first[0], row - self.first[1]);
        (0..self.columns).contains(&column).then(|| self.cells.get((row * self.columns + column) as usize))?
    }

    /// Returns whether a cell of the destination already has the contents `now`.
    fn has(&self, cell: [i32; 2], now: Option<u32>) -> bool {
        let there = self.cell(cell).map(|there| there.load(Ordering::Relaxed));
        now.is_some_and(|now| there == Some(now.into()))
    }

    /// Sets the contents of a cell of the destination.
    fn note(&self, cell: [i32; 2], now: Option<u32>) {
        self.cell(cell).into_iter().for_each(|there| {
            there.store(now.map_or(NOT_KNOWN, u64::from), Ordering::Relaxed);
        });
    }
}

/// Returns the source band of each row group of `area`, for the tile that begins at `anchor`.
fn bands(area: Rect, anchor: [i32; 2]) -> Vec<(i32, i32)> {
    let first = anchor[1].div_euclid(BAND_ROWS);
    let rows = area.y0.div_euclid(BAND_ROWS)..=(area.y1 - 1).div_euclid(BAND_ROWS);
    rows.map(|rows| (rows, rows - first)).collect()
}

impl Copy {
    /// Copies the rows of `band` to its own strips. Skips cells that already have the same contents.
    pub fn rows(&self, band: Rect, from: &mut PixelRows<'_>, strips: &mut [Strip<'_>]) {
        let area = band.seen_from(self.anchor.map(|at| -at)).intersect(self.area);
        let [left, row] = [self.anchor[0], band.y0.div_euclid(CELL)];
        let cells = numbers(area.x0 - left..area.x1 - left);
        // With several samples, uniform samples need not give a uniform result, so the cell is unknown.
        let known = |from: &PixelRows<'_>, number| from.known(number).filter(|_| self.state.samples == 1);
        let mut from = from.moved(self.anchor);
        for strip in strips.iter_mut().filter(|strip| strip.destination == self.destination) {
            let area = Rect { y0: area.y0.max(strip.y), ..area };
            let (mut x, mut are_there) = (area.x0, true);
            for number in cells.clone() {
                if self.left.has([number, row], known(&from, number)) {
                    let cell = left + number * CELL;
                    are_there &= self.pixels(Rect { x0: x, x1: cell, ..area }, &mut from, strip);
                    x = cell + CELL;
                }
            }
            are_there &= self.pixels(Rect { x0: x, ..area }, &mut from, strip);
            for number in cells.clone() {
                self.left.note([number, row], known(&from, number).filter(|_| are_there));
            }
        }
    }

    /// Copies the pixels of `area`. Returns whether there was room for all of them.
    fn pixels(&self, area: Rect, from: &mut PixelRows<'_>, strip: &mut Strip<'_>) -> bool {
        let (cpp, pitch) = (self.state.cpp as usize, self.state.pitch as usize);
        let Ok(width @ 1..) = usize::try_from(area.x1 - area.x0) else { return true };
        let copier = self.state.copier();
        let mut are_there = true;
        for y in area.y0..area.y1 {
            let at = (y - strip.y) as usize * pitch + (area.x0 - strip.x) as usize * cpp;
            match (from.pixels(area.x0, y, width), strip.bytes.get_mut(at..at + width * cpp)) {
                (Some(from), Some(to)) => copier.row([area.x0, y], from, to),
                _ => are_there = false,
            }
        }
        are_there
    }
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::regs::enums::{ColorFmt, ColorSwap};

    use super::*;
    use crate::draw::rb::cells::{Cells, UniformBits};
    use crate::draw::rb::rendered::Content;
    use a4emu_shader::format::arrangement::Arrangement;

    /// Pixels of four bytes, to rows of 512 bytes.
    fn state(samples: u32) -> ResolveState {
        ResolveState {
            origin: [0, 0],
            gmem_base: 0,
            gmem_pitch: 256,
            base: 0x1000,
            pitch: 512,
            cpp: 4,
            samples,
            format: ColorFmt::RB4_R8G8B8A8_UINT,
            swap: ColorSwap::WZYX,
            arrangement: Arrangement::PLAIN,
            dither: None,
            content: Content::Color,
            size: [128, 64],
        }
    }

    /// The tile on the right: two by two cells, narrower at the right end.
    const AREA: Rect = Rect { x0: 64, y0: 0, x1: 120, y1: 40 };
    const ANCHOR: [i32; 2] = [64, 0];

    /// Creates a copy to `memory` and its entry in the cache.
    fn taken(left: &mut ResolveCache, memory: &mut Memory, samples: u32) -> (Copy, Copies) {
        let (state, mut copies) = (state(samples), Copies::default());
        left.look(&state, memory);
        let destination = copies.take(&state, AREA, ANCHOR, memory).expect("it can wait");
        let left = left.take(&state, AREA, ANCHOR, memory.now());
        (Copy { state, area: AREA, surface: 0, anchor: ANCHOR, destination, left }, copies)
    }

    /// Copies a tile whose pixels are all `pixel`. `known` tells which cells are known to be uniform, row by
    /// row. Returns the first pixel of each cell that was written. Does not change memory.
    fn written(
        left: &mut ResolveCache,
        memory: &mut Memory,
        pixel: u32,
        known: [[bool; 2]; 2],
        samples: u32,
    ) -> Vec<[u32; 2]> {
        const NOTHING: u32 = 0x7777_7777;
        let (copy, copies) = taken(left, memory, samples);
        let mut lent = copies.lend(memory);
        lent[0].bytes_at(0x1000, 512 * 64).as_chunks_mut().0.fill(NOTHING.to_le_bytes());
        let mut strips = copies.strips(&mut lent);
        assert_eq!(strips.len(), 2);
        for (band, known) in [(0, known[0]), (1, known[1])] {
            let mut bytes: Vec<u8> = pixel.to_le_bytes().repeat(64 * 32 * samples as usize);
            let mut common =
                known.map(|is| UniformBits { bits: if is { u32::MAX } else { 0 }, value: pixel });
            let mut rows = PixelRows::new(&mut bytes, 256 * samples, 4 * samples, [0, band * CELL]);
            rows.cells = Cells { known: &mut common, columns: 0..56, rows: 32 };
            copy.rows(
                Rect { x0: 0, y0: band * CELL, x1: 56, y1: 40.min((band + 1) * CELL) },
                &mut rows,
                &mut strips[band as usize..][..1],
            );
        }
        drop(strips);
        lent.into_iter().for_each(|lent| memory.give_back(lent));
        let at = |[x, y]: [u32; 2]| memory.slice(0x1000 + 512 * y + 4 * x, 4).map(|bytes| bytes.to_vec());
        let cells = [[64, 0], [96, 0], [64, 32], [96, 32]].into_iter();
        cells.filter(|cell| at(*cell).is_some_and(|bytes| bytes == pixel.to_le_bytes())).collect()
    }

    #[test]
    fn what_is_there_is_not_copied_again() {
        let (mut left, mut memory) = (ResolveCache::default(), Memory::new());
        memory.announce(0x1000, 512 * 64, Some(&[1; 512 * 64]));
        let all = vec![[64, 0], [96, 0], [64, 32], [96, 32]];
        let known = [[true, true], [false, true]];
        assert_eq!(written(&mut left, &mut memory, 5, known, 1), all, "nobody knows what is there");
        assert_eq!(written(&mut left, &mut memory, 5, known, 1), [[64, 32]]);
        // Different contents from those in memory.
        assert_eq!(written(&mut left, &mut memory, 6, known, 1), all);
        assert_eq!(written(&mut left, &mut memory, 6, [[false; 2]; 2], 1), all);
        assert_eq!(written(&mut left, &mut memory, 0, [[true; 2]; 2], 1), all);
        assert_eq!(written(&mut left, &mut memory, 6, [[false; 2]; 2], 1), all);
        assert_eq!(
            written(&mut left, &mut memory, 6, known, 1),
            all,
            "what is not known now is not known then"
        );
        assert_eq!(written(&mut left, &mut memory, 6, known, 1), [[64, 32]]);
        // Another write changes a byte far from the cells, in the rows of the tile.
        assert!(memory.write(0x1000 + 512 * 39 + 4 * 70, &[1]));
        assert_eq!(written(&mut left, &mut memory, 6, known, 1), all);
        // Another copy overlaps a part of the area.
        let other = Rect { x0: 100, x1: 128, ..AREA };
        left.take(&state(1), other, ANCHOR, memory.now());
        assert_eq!(written(&mut left, &mut memory, 6, known, 1), all);
    }

    #[test]
    fn pixels_of_several_samples_are_copied_every_time() {
        let (mut left, mut memory) = (ResolveCache::default(), Memory::new());
        memory.announce(0x1000, 512 * 64, Some(&[1; 512 * 64]));
        for _ in 0..2 {
            assert_eq!(written(&mut left, &mut memory, 5, [[true; 2]; 2], 2).len(), 4);
        }
    }

    #[test]
    fn no_more_is_known_than_there_is_room_for() {
        let mut left = ResolveCache::default();
        for base in 0..100 {
            left.take(&ResolveState { base: base << 16, ..state(1) }, AREA, ANCHOR, 0);
        }
        assert_eq!(left.0.len(), MOST_SURFACES);
        for y in 0..1000 {
            left.take(&state(1), Rect { y0: y, y1: y + 1, ..AREA }, ANCHOR, 0);
        }
        assert_eq!(left.0.len(), MOST_SURFACES);
        assert!(left.0.iter().all(|surface| surface.copies.len() <= MOST_COPIES));
        assert!(left.0[MOST_SURFACES - 1].copies.len() > 1);
    }
}
