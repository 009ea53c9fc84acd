//! Copies of tile memory that wait behind the draws they copy.
//!
//! What a copy writes is shared out by rows, as bands share out tile memory: each [`Strip`] belongs to the band whose
//! rows go there. Tiles beside each other go to the same rows, out of the same band.

use crate::draw::gras::raster::Rect;
use crate::draw::rb::state::ResolveState;
use crate::draw::rb::surface::PixelRows;
use crate::format::arrangement::Tiling;
use crate::memory::{Lent, Memory};

use super::bands::BAND_ROWS;

/// A copy that waits.
pub struct Copy {
    /// What is copied where.
    pub state: ResolveState,
    /// The pixels, on the screen.
    pub area: Rect,
    /// Index of the surface that it copies from.
    pub surface: usize,
    /// Where its tile begins.
    pub anchor: [i32; 2],
    /// Index of where it goes.
    pub destination: usize,
}

/// Rows in memory of one band.
pub struct Strip<'p> {
    /// Number of the band, from where tiles begin.
    pub band: i32,
    destination: usize,
    /// First row, on the screen.
    y: i32,
    bytes: &'p mut [u8],
    /// Of the first pixel of rows.
    x: i32,
}

/// A surface in memory that copies go to.
struct Destination {
    base: u32,
    pitch: u32,
    cpp: u32,
    /// First address and length of its buffer.
    buffer: (u32, u32),
    /// What holds the areas of all copies to it.
    area: Rect,
    /// For every [`BAND_ROWS`] rows that are written, by number: the band that they come from.
    bands: Vec<(i32, i32)>,
}

impl Destination {
    /// Address of a pixel.
    fn address(&self, x: i32, y: i32) -> u32 {
        self.base.wrapping_add((u64::from(self.pitch) * y as u64 + u64::from(self.cpp) * x as u64) as u32)
    }

    /// Bytes from the first pixel of `area` to behind the last.
    fn len(&self, area: Rect) -> usize {
        let rows = (area.y1 - area.y0 - 1) as usize * self.pitch as usize;
        rows + (area.x1 - area.x0) as usize * self.cpp as usize
    }

    /// Address and length of what its area takes.
    fn place(&self) -> (u32, usize) {
        (self.address(self.area.x0, self.area.y0), self.len(self.area))
    }

    /// Whether it is the same surface as `new`, and no row comes from two bands.
    fn goes_with(&self, new: &Self) -> bool {
        let same = (self.base, self.pitch, self.cpp) == (new.base, new.pitch, new.cpp);
        let is_other = |(rows, band): &(i32, i32)| self.bands.iter().any(|(r, b)| r == rows && b != band);
        same && !new.bands.iter().any(is_other)
    }

    /// The rows of its bands; `bytes` begin with the first pixel of its area.
    fn strips<'p>(&self, destination: usize, bytes: &'p mut [u8], strips: &mut Vec<Strip<'p>>) {
        let Rect { x0: x, y0, y1, .. } = self.area;
        let (mut rest, mut y) = (bytes, y0);
        while y < y1 {
            let rows = y.div_euclid(BAND_ROWS);
            let end = ((rows + 1) * BAND_ROWS).min(y1);
            let len = ((end - y) as usize * self.pitch as usize).min(rest.len());
            let (bytes, below) = rest.split_at_mut(len);
            if let Some((_, band)) = self.bands.iter().find(|(r, _)| *r == rows) {
                strips.push(Strip { band: *band, destination, y, bytes, x });
            }
            (rest, y) = (below, end);
        }
    }
}

/// Where the copies that wait go.
#[derive(Default)]
pub struct Copies {
    destinations: Vec<Destination>,
}

impl Copies {
    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.destinations.is_empty()
    }

    /// First address and length of the buffers that are to be written.
    pub fn buffers(&self) -> impl Iterator<Item = (u32, u32)> {
        self.destinations.iter().map(|to| to.buffer)
    }

    /// Makes room for a copy of `area` out of the tile that begins at `anchor`; gives the number of where it goes.
    /// `None` when it cannot wait.
    pub fn take(
        &mut self,
        state: &ResolveState,
        area: Rect,
        anchor: [i32; 2],
        memory: &mut Memory,
    ) -> Option<usize> {
        let (base, pitch, cpp) = (state.base, state.pitch, state.cpp);
        let on_screen = !area.is_empty() && area.x0 >= 0 && area.y0 >= 0;
        let rows_are_apart = area.x1.unsigned_abs().checked_mul(cpp).is_some_and(|bytes| bytes <= pitch);
        if state.arrangement.tiling != Tiling::Linear || !on_screen || !rows_are_apart {
            return None;
        }
        let mut new = Destination {
            base,
            pitch,
            cpp,
            buffer: memory.buffer_at(base)?,
            area,
            bands: bands(area, anchor),
        };
        let known = self.destinations.iter().position(|known| known.buffer == new.buffer);
        if known.is_some_and(|index| !self.destinations[index].goes_with(&new)) {
            return None;
        }
        let (address, len) = new.place();
        if address < base || memory.buffer_at(address) != Some(new.buffer) {
            return None;
        }
        // What is in the way of a write shows now, and that the bytes change.
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

    /// The buffers of all destinations, which nobody else sees until they are given back; but for those that somebody
    /// has already.
    pub fn lend(&self, memory: &mut Memory) -> Vec<Lent> {
        self.destinations.iter().filter_map(|to| memory.lend_buffer(to.base)).collect()
    }

    /// What each band writes of what was lent.
    pub fn strips<'p>(&self, lent: &'p mut [Lent]) -> Vec<Strip<'p>> {
        let mut strips = Vec::new();
        for lent in lent {
            let is_it = |to: &Destination| to.buffer.0 == lent.base();
            if let Some(index) = self.destinations.iter().position(is_it) {
                let to = &self.destinations[index];
                // The last rows may be narrower than others, and the buffer end with them.
                let (address, len) = to.place();
                to.strips(index, lent.bytes_at(address, len), &mut strips);
            }
        }
        strips
    }
}

/// For every [`BAND_ROWS`] rows of `area`, by number: the band of the tile that begins at `anchor`.
fn bands(area: Rect, anchor: [i32; 2]) -> Vec<(i32, i32)> {
    let first = anchor[1].div_euclid(BAND_ROWS);
    let rows = area.y0.div_euclid(BAND_ROWS)..=(area.y1 - 1).div_euclid(BAND_ROWS);
    rows.map(|rows| (rows, rows - first)).collect()
}

impl Copy {
    /// Copies the rows of a band, whose area this is, to those of `strips` that are its own.
    pub fn rows(&self, band: Rect, from: &mut PixelRows<'_>, strips: &mut [Strip<'_>]) {
        let area = band.seen_from(self.anchor.map(|at| -at)).intersect(self.area);
        let (cpp, pitch) = (self.state.cpp as usize, self.state.pitch as usize);
        let width = (area.x1 - area.x0).max(0) as usize;
        let mut from = from.moved(self.anchor);
        for strip in strips.iter_mut().filter(|strip| strip.destination == self.destination) {
            let copier = self.state.copier();
            for y in area.y0.max(strip.y)..area.y1 {
                let at = (y - strip.y) as usize * pitch + (area.x0 - strip.x) as usize * cpp;
                let to = strip.bytes.get_mut(at..at + width * cpp);
                if let (Some(from), Some(to)) = (from.pixels(area.x0, y, width), to) {
                    copier.row([area.x0, y], from, to);
                }
            }
        }
    }
}
