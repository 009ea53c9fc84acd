//! Resolve copies that are queued behind the draws they copy.
//!
//! The destination is divided like tile memory: each [`Strip`] belongs to a band of one or more tiles, so that different
//! threads can write them.
//!
//! Most frames copy to the same place as the frame before. The [`ResolveCache`] keeps the contents of uniform
//! cells of the destination. A cell with the same contents is not copied again, as long as no other write
//! changes the memory.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use a4emu_decoder::adreno::address::Address;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::{CELL, numbers};
use crate::draw::rb::state::ResolveState;
use crate::draw::rb::surface::PixelRows;
use crate::memory::{Lent, Memory};
use a4emu_shader::format::arrangement::Tiling;

use crate::draw::fs::bands::BAND_ROWS;
use crate::limits::{COPIES_PER_SURFACE, COPY_SURFACES};

/// A queued copy.
pub struct CopyJob {
    /// Source, destination and format.
    pub state: ResolveState,
    /// The pixels, in screen coordinates.
    pub area: Rect,
    /// Index of the surface that it copies from.
    pub surface: usize,
    /// Anchor of its tile.
    pub anchor: [i32; 2],
    /// The part of its destination.
    pub part: PartId,
    /// Known contents of the destination.
    pub known: Arc<ResolvedCells>,
}

/// Identifies the part of a destination that one tile writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartId {
    /// Number of the first job of the tile.
    pub tile: usize,
    /// Index of the destination.
    destination: usize,
}

/// Rows of a destination that one job writes.
pub struct Strip<'p> {
    destination: usize,
    /// The tile that writes it, by the number of its first job. `None` if other tiles of the same job write it too.
    tile: Option<usize>,
    /// First pixel, in screen coordinates.
    first: [i32; 2],
    /// Number of rows.
    count: i32,
    rows: StripRows<'p>,
}

/// The bytes of the rows of a strip.
enum StripRows<'p> {
    /// Whole rows, with the bytes from one to the next.
    Whole(&'p mut [u8], usize),
    /// Parts of rows.
    Parts(Vec<&'p mut [u8]>),
}

impl Strip<'_> {
    /// Returns `len` bytes at byte `at` of row `y`, if they are there.
    fn bytes(&mut self, y: i32, at: usize, len: usize) -> Option<&mut [u8]> {
        let row = usize::try_from(y - self.first[1]).ok()?;
        match &mut self.rows {
            StripRows::Whole(bytes, pitch) => bytes.get_mut(row * *pitch + at..)?.get_mut(..len),
            StripRows::Parts(rows) => rows.get_mut(row)?.get_mut(at..at + len),
        }
    }
}

/// Layout of a surface in memory, row by row.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Layout {
    base: Address,
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
    fn address(&self, x: i32, y: i32) -> Address {
        self.base + (u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * x as u64)
    }

    /// Returns the address of the first pixel of `area`, and the number of bytes up to the end of the last.
    fn place(&self, area: Rect) -> (Address, usize) {
        let rows = (area.y1 - area.y0 - 1) as usize * self.pitch as usize;
        (self.address(area.x0, area.y0), rows + (area.x1 - area.x0) as usize * self.cpp as usize)
    }
}

/// A surface in memory that copies write to.
struct Destination {
    layout: Layout,
    /// First address and length of its buffer.
    buffer: (u32, u32),
    /// Rectangle around all parts.
    area: Rect,
    /// The parts, which do not overlap.
    parts: Vec<Part>,
}

/// The part of a destination that one tile writes.
#[derive(Clone, Copy)]
struct Part {
    /// Number of the first job of the tile.
    tile: usize,
    area: Rect,
    /// Number of its first band in the tile, minus the number of that band on the screen.
    band_shift: i32,
}

impl Destination {
    /// Returns the area of the part of `new.tile` together with `new`, unless it would overlap the part of another tile.
    fn extended(&self, new: Part) -> Option<Rect> {
        let (same, others): (Vec<&Part>, Vec<&Part>) =
            self.parts.iter().partition(|part| part.tile == new.tile);
        let area = same.iter().fold(new.area, |all, part| all.union(part.area));
        others.iter().all(|part| part.area.intersect(area).is_empty()).then_some(area)
    }

    /// Adds `part`, in place of an earlier part of the same tile.
    fn add(&mut self, part: Part) {
        self.area = self.area.union(part.area);
        self.parts.retain(|other| other.tile != part.tile);
        self.parts.push(part);
    }

    /// Divides `bytes`, which begin with the first pixel of its area, into strips. `job` returns the number of the job
    /// that runs a band of a tile, if there is one. Returns each strip with that number.
    fn strips<'p>(
        &self,
        destination: usize,
        bytes: &'p mut [u8],
        job: &impl Fn(usize, i32) -> Option<usize>,
        strips: &mut Vec<(usize, Strip<'p>)>,
    ) {
        let Rect { x0: left, y0, y1, .. } = self.area;
        let pitch = self.layout.pitch as usize;
        let mut parts = self.parts.clone();
        parts.sort_unstable_by_key(|part| part.area.x0);
        let (mut rest, mut top) = (bytes, y0);
        while top < y1 {
            let number = top.div_euclid(BAND_ROWS);
            let end = ((number + 1) * BAND_ROWS).min(y1);
            let len = ((end - top) as usize * pitch).min(rest.len());
            let (bytes, below) = rest.split_at_mut(len);
            let here = parts.iter().filter(|part| part.area.y0 < end && part.area.y1 > top);
            let here: Vec<(usize, Part)> =
                here.filter_map(|part| Some((job(part.tile, number + part.band_shift)?, *part))).collect();
            if let Some((job, _)) = here.first() {
                if here.iter().all(|(other, _)| other == job) {
                    let rows = StripRows::Whole(bytes, pitch);
                    let strip = Strip { destination, tile: None, first: [left, top], count: end - top, rows };
                    strips.push((*job, strip));
                } else {
                    let parts: Vec<Rect> = here.iter().map(|(_, part)| part.area).collect();
                    let rows = self.rows_of(&parts, top..end, bytes);
                    strips.extend(here.iter().zip(rows).map(|((job, part), rows)| {
                        let (first, count) = ([part.area.x0, part.area.y0.max(top)], rows.len() as i32);
                        let rows = StripRows::Parts(rows);
                        (*job, Strip { destination, tile: Some(part.tile), first, count, rows })
                    }));
                }
            }
            (rest, top) = (below, end);
        }
    }

    /// Divides the rows `ys`, whose bytes begin with the first column of the area, among `parts`, which are in order of
    /// their first columns. Returns the bytes of each row of each part.
    fn rows_of<'p>(&self, parts: &[Rect], ys: Range<i32>, bytes: &'p mut [u8]) -> Vec<Vec<&'p mut [u8]>> {
        let cpp = self.layout.cpp as usize;
        let mut all: Vec<Vec<&mut [u8]>> = parts.iter().map(|_| Vec::new()).collect();
        for (y, row) in ys.zip(bytes.chunks_mut(self.layout.pitch as usize)) {
            let (mut row, mut x) = (row, self.area.x0);
            for (area, rows) in parts.iter().zip(&mut all) {
                if (area.y0..area.y1).contains(&y) {
                    let skipped = ((area.x0 - x) as usize * cpp).min(row.len());
                    let from_here = row.split_at_mut(skipped).1;
                    let len = ((area.x1 - area.x0) as usize * cpp).min(from_here.len());
                    let (mine, behind) = from_here.split_at_mut(len);
                    rows.push(mine);
                    (row, x) = (behind, area.x1);
                }
            }
        }
        all
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

    /// Adds a copy of `area` from the tile that starts at `anchor` and whose first job has the number `tile`. Returns
    /// the part that it writes, or `None` when the copy cannot be queued.
    pub fn take(
        &mut self,
        state: &ResolveState,
        area: Rect,
        (tile, anchor): (usize, [i32; 2]),
        memory: &mut Memory,
    ) -> Option<PartId> {
        let layout = Layout::of(state);
        let Layout { base, pitch, cpp } = layout;
        let on_screen = !area.is_empty() && area.x0 >= 0 && area.y0 >= 0;
        let rows_are_apart = area.x1.unsigned_abs().checked_mul(cpp).is_some_and(|bytes| bytes <= pitch);
        if state.arrangement.tiling != Tiling::Linear || !on_screen || !rows_are_apart {
            return None;
        }
        let buffer = memory.narrow_buffer_at(base)?;
        let known = self.destinations.iter().position(|known| known.buffer == buffer);
        if known.is_some_and(|index| self.destinations[index].layout != layout) {
            return None;
        }
        let (address, len) = layout.place(area);
        if memory.narrow_buffer_at(address) != Some(buffer) {
            return None;
        }
        let mut part = Part { tile, area, band_shift: -anchor[1].div_euclid(BAND_ROWS) };
        if let Some(index) = known {
            part.area = self.destinations[index].extended(part)?;
        }
        // Check now that the write can succeed, and mark the bytes as changed.
        memory.prepare(address.narrow()?, len)?;
        let destination = known.unwrap_or(self.destinations.len());
        match self.destinations.get_mut(destination) {
            Some(known) => known.add(part),
            None => self.destinations.push(Destination { layout, buffer, area, parts: vec![part] }),
        }
        Some(PartId { tile, destination })
    }

    /// Takes the buffers of all destinations out of memory until they are given back. Skips buffers that are
    /// already lent.
    pub fn lend(&self, memory: &mut Memory) -> Vec<Lent> {
        self.destinations.iter().filter_map(|to| memory.lend_buffer(to.layout.base.narrow()?)).collect()
    }

    /// Divides the lent buffers into strips. `job` returns the number of the job that runs a band of a tile, which is
    /// given by the number of its first job in the batch, if there is one. Returns each strip with the number of its job.
    pub fn strips<'p>(
        &self,
        lent: &'p mut [Lent],
        job: impl Fn(usize, i32) -> Option<usize>,
    ) -> Vec<(usize, Strip<'p>)> {
        let mut strips = Vec::new();
        for lent in lent {
            let is_it = |to: &Destination| lent.base() == to.buffer.0.into();
            if let Some(index) = self.destinations.iter().position(is_it) {
                let to = &self.destinations[index];
                // The last rows may be narrower, and the buffer may end with them.
                let (address, len) = to.layout.place(to.area);
                let Some(address) = address.narrow() else { continue };
                to.strips(index, lent.bytes_at(address, len), &job, &mut strips);
            }
        }
        strips
    }
}

/// Known contents of memory after resolve copies.
#[derive(Default)]
pub struct ResolveCache(Vec<ResolvedSurface>);

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
        if self.0.len() >= COPY_SURFACES {
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
        if self.copies.len() >= COPIES_PER_SURFACE {
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

impl CopyJob {
    /// Copies the rows of `band` to its own strips. Skips cells that already have the same contents.
    pub fn rows(&self, band: Rect, from: &mut PixelRows<'_>, strips: &mut [Strip<'_>]) {
        let area = band.seen_from(self.anchor.map(|at| -at)).intersect(self.area);
        let [left, row] = [self.anchor[0], band.y0.div_euclid(CELL)];
        let cells = numbers(area.x0 - left..area.x1 - left);
        // With several samples, uniform samples need not give a uniform result, so the cell is unknown.
        let known = |from: &PixelRows<'_>, number| from.known(number).filter(|_| self.state.samples == 1);
        let mut from = from.moved(self.anchor);
        for strip in strips.iter_mut().filter(|strip| strip.destination == self.part.destination) {
            let [_, top] = strip.first;
            let area = Rect { y0: area.y0.max(top), y1: area.y1.min(top + strip.count), ..area };
            if area.is_empty() || strip.tile.is_some_and(|tile| tile != self.part.tile) {
                continue;
            }
            let (mut x, mut are_there) = (area.x0, true);
            for number in cells.clone() {
                if self.known.has([number, row], known(&from, number)) {
                    let cell = left + number * CELL;
                    are_there &= self.pixels(Rect { x0: x, x1: cell, ..area }, &mut from, strip);
                    x = cell + CELL;
                }
            }
            are_there &= self.pixels(Rect { x0: x, ..area }, &mut from, strip);
            for number in cells.clone() {
                self.known.note([number, row], known(&from, number).filter(|_| are_there));
            }
        }
    }

    /// Copies the pixels of `area`. Returns whether there was room for all of them.
    fn pixels(&self, area: Rect, from: &mut PixelRows<'_>, strip: &mut Strip<'_>) -> bool {
        let cpp = self.state.cpp as usize;
        let Ok(width @ 1..) = usize::try_from(area.x1 - area.x0) else { return true };
        let copier = self.state.copier();
        let at = (area.x0 - strip.first[0]) as usize * cpp;
        let mut are_there = true;
        for y in area.y0..area.y1 {
            match (from.pixels(area.x0, y, width), strip.bytes(y, at, width * cpp)) {
                (Some(from), Some(to)) => copier.row([area.x0, y], from, to),
                _ => are_there = false,
            }
        }
        are_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::rb::cells::{Cells, UniformBits};
    use crate::draw::rb::rendered::{Content, Named};
    use a4emu_shader::format::arrangement::Arrangement;
    use a4emu_shader::format::{Format, Layout, Swap, Type};

    /// Pixels of four bytes, to rows of 512 bytes.
    fn state(samples: u32) -> ResolveState {
        ResolveState {
            origin: [0, 0],
            gmem_base: 0,
            gmem_pitch: 256,
            base: Address::new(0x1000),
            pitch: 512,
            cpp: 4,
            samples,
            format: Named { name: "a format", value: Format { layout: Layout::array(4, 8), ty: Type::Uint } },
            swap: Swap::WZYX,
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
    fn taken(left: &mut ResolveCache, memory: &mut Memory, samples: u32) -> (CopyJob, Copies) {
        let (state, mut copies) = (state(samples), Copies::default());
        left.look(&state, memory);
        let part = copies.take(&state, AREA, (0, ANCHOR), memory).expect("it can wait");
        let known = left.take(&state, AREA, ANCHOR, memory.now());
        (CopyJob { state, area: AREA, surface: 0, anchor: ANCHOR, part, known }, copies)
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
        let strips = copies.strips(&mut lent, |_, band| Some(band as usize));
        let (jobs, mut strips): (Vec<usize>, Vec<Strip<'_>>) = strips.into_iter().unzip();
        assert_eq!(jobs, [0, 1]);
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
    fn copies_skip_cells_that_memory_already_has() {
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
            left.take(&ResolveState { base: Address::new(base << 16), ..state(1) }, AREA, ANCHOR, 0);
        }
        assert_eq!(left.0.len(), COPY_SURFACES);
        for y in 0..1000 {
            left.take(&state(1), Rect { y0: y, y1: y + 1, ..AREA }, ANCHOR, 0);
        }
        assert_eq!(left.0.len(), COPY_SURFACES);
        assert!(left.0.iter().all(|surface| surface.copies.len() <= COPIES_PER_SURFACE));
        assert!(left.0[COPY_SURFACES - 1].copies.len() > 1);
    }

    #[test]
    fn jobs_write_the_rows_of_their_tiles() {
        let mut memory = Memory::new();
        memory.announce(0x1000, 512 * 64, Some(&[0; 512 * 64]));
        // Two tiles, one beside the other. The left one is as high as the second band of the right one.
        let tiles = [(0, Rect { x0: 0, y0: 32, x1: 64, y1: 50 }, [0, 32]), (3, AREA, ANCHOR)];
        for (jobs, count) in [([5, 5, 5], 2), ([5, 6, 7], 3)] {
            let mut copies = Copies::default();
            let parts = tiles.map(|(tile, area, anchor)| {
                copies.take(&state(1), area, (tile, anchor), &mut memory).expect("it can wait")
            });
            assert!(copies.take(&state(1), AREA, (9, ANCHOR), &mut memory).is_none(), "it overlaps");
            let job = |tile, band| {
                Some(match (tile, band) {
                    (0, 0) => jobs[0],
                    (3, band @ 0..2) => jobs[1 + band as usize],
                    other => unreachable!("{other:?}"),
                })
            };
            let mut lent = copies.lend(&mut memory);
            let mut strips = copies.strips(&mut lent, job);
            assert_eq!(strips.len(), count, "{jobs:?}");
            for ((_, area, anchor), part) in tiles.into_iter().zip(parts) {
                let known = Arc::new(ResolvedCells::of(area.seen_from(anchor)));
                let copy = CopyJob { state: state(1), area, surface: 0, anchor, part, known };
                for band in 0..2 {
                    let rows = Rect { x0: 0, y0: band * CELL, x1: 64, y1: (band + 1) * CELL };
                    let owner = jobs[(part.tile / 3) + band as usize];
                    let mut own: Vec<Strip<'_>> = Vec::new();
                    while let Some(at) = strips.iter().position(|(job, _)| *job == owner) {
                        own.push(strips.swap_remove(at).1);
                    }
                    let pixel = [1 + part.tile as u8, band as u8, 0, 0];
                    let mut bytes = pixel.repeat(64 * 32);
                    let mut rows_of_tile = PixelRows::new(&mut bytes, 256, 4, [0, band * CELL]);
                    copy.rows(rows, &mut rows_of_tile, &mut own);
                    strips.extend(own.into_iter().map(|strip| (owner, strip)));
                }
            }
            drop(strips);
            lent.into_iter().for_each(|lent| memory.give_back(lent));
            let pixel = |x: u32, y: u32| memory.slice(0x1000 + 512 * y + 4 * x, 2).map(<[u8]>::to_vec);
            for y in 0..64 {
                for x in 0..128 {
                    let want = match (x, y) {
                        (0..64, 32..50) => [1, 0],
                        (64..120, 0..40) => [4, (y / 32) as u8],
                        _ => [0, 0],
                    };
                    assert_eq!(pixel(x, y), Some(want.to_vec()), "{x}, {y}, {jobs:?}");
                }
            }
        }
    }
}
