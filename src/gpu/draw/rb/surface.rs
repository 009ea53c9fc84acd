//! Surfaces that a draw reads and writes: rows of pixels in tile memory or memory.

use std::ops::Range;

use a4emu_decoder::adreno::address::Address;

use crate::memory::{Lent, Memory};
use crate::pool::Pool;
use a4emu_shader::format::arrangement::Tiling;

use crate::draw::gras::quad::{QUADS, Quad};
use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::Cells;
use crate::draw::rb::tiled;

/// Location of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Location {
    /// Byte offset in tile memory.
    Gmem(u32),
    /// Address in memory.
    Memory(Address),
}

/// A surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Surface {
    /// Location of its first pixel.
    pub location: Location,
    /// Bytes from one row to the next.
    pub pitch: u32,
    /// Bytes of a pixel with all its samples, which follow each other (guess `sample-layout`).
    pub cpp: u32,
    /// Screen position of its first pixel.
    pub origin: [i32; 2],
    /// Bytes from one layer to the next.
    pub layer: u32,
    /// Order of its pixels.
    pub tiling: Tiling,
}

impl Surface {
    /// Returns layer `n`.
    pub fn at_layer(&self, n: u32, mem: &Memory) -> Self {
        let offset = self.layer.wrapping_mul(n);
        let location = match self.location {
            Location::Gmem(base) => Location::Gmem(base.wrapping_add(offset)),
            Location::Memory(base) => Location::Memory(mem.behind(base, offset.into())),
        };
        Self { location, ..*self }
    }

    /// Returns whether the surface has only one row of any length. The driver copies buffers by drawing to
    /// them with a pitch of 0 (fd_blitter, where piglit's vbo-subdata-many has it).
    fn is_one_row(&self) -> bool {
        self.pitch == 0
    }

    /// Returns the location of the pixel at screen position (x, y), if the surface has one there.
    pub fn pixel(&self, [x, y]: [i32; 2]) -> Option<Location> {
        let (x, y) = (u32::try_from(x - self.origin[0]).ok()?, u32::try_from(y - self.origin[1]).ok()?);
        x.checked_mul(self.cpp).filter(|at| *at < self.pitch || self.is_one_row() && y == 0)?;
        let offset = u32::try_from(self.tiling.offset([x, y], self.pitch, self.cpp)).ok()?;
        Some(match self.location {
            Location::Gmem(base) => Location::Gmem(base.checked_add(offset)?),
            Location::Memory(base) => Location::Memory(base + offset.into()),
        })
    }

    /// Returns the screen position of the pixel at `place`. It is the inverse of [`Surface::pixel`].
    pub fn position(&self, place: Location) -> Option<[i32; 2]> {
        let offset = match (self.location, place) {
            (Location::Gmem(base), Location::Gmem(at)) => at.checked_sub(base)?,
            (Location::Memory(base), Location::Memory(at)) => {
                at.get().checked_sub(base.get()).and_then(|offset| u32::try_from(offset).ok())?
            }
            _ => return None,
        };
        let [column, row] = self.tiling.pixel(offset, self.pitch, self.cpp)?;
        Some([self.origin[0] + column as i32, self.origin[1] + i32::try_from(row).ok()?])
    }

    /// Returns first address and length of the buffer in memory that contains its first pixel.
    pub fn buffer(&self, mem: &Memory) -> Option<(u32, u32)> {
        match self.location {
            Location::Gmem(_) => None,
            Location::Memory(base) => mem.narrow_buffer_at(base),
        }
    }

    /// Returns the bytes of the pixel at a screen position. Missing bytes are zero; a draw to that place
    /// reports them.
    pub fn read_pixel(&self, at: [i32; 2], gmem: &[u8], mem: &Memory) -> Vec<u8> {
        let mut bytes = vec![0; self.cpp as usize];
        match self.pixel(at) {
            Some(Location::Gmem(place)) => {
                if let Some(pixel) = gmem.get(place as usize..).and_then(|rest| rest.get(..bytes.len())) {
                    bytes.copy_from_slice(pixel);
                }
            }
            Some(Location::Memory(place)) => {
                let _ = mem.read(place, &mut bytes);
            }
            None => {}
        }
        bytes
    }
}

/// The rows of a surface that one worker owns.
#[derive(Debug)]
pub struct PixelRows<'a> {
    bytes: &'a mut [u8],
    pitch: usize,
    cpp: usize,
    /// Bytes from one pixel to the next.
    step: usize,
    x0: i32,
    y0: i32,
    /// Known contents of its cells, or none. A function that writes pixels and does not set the contents must
    /// call [forget](PixelRows::forget).
    pub cells: Cells<'a>,
}

/// Rows of `C` pixels of four bytes.
pub struct Dwords<'a, const C: usize> {
    plane: &'a mut [u8],
    pitch: usize,
}

impl<const C: usize> Dwords<'_, C> {
    /// Returns row `row` of the block.
    #[inline(always)]
    pub fn row(&mut self, row: usize) -> &mut [[u8; 4]; C] {
        let rest = &mut self.plane[row * self.pitch..];
        rest.as_chunks_mut().0.first_chunk_mut().expect("dwords() has looked")
    }

    /// Loads all rows into `words`.
    #[inline(always)]
    pub fn load(&mut self, words: &mut [u32; 32]) {
        for (y, words) in words.as_chunks_mut::<C>().0.iter_mut().enumerate() {
            let row = self.row(y);
            for x in 0..C {
                words[x] = u32::from_le_bytes(row[x]);
            }
        }
    }

    /// Stores all rows from `words`.
    #[inline(always)]
    pub fn store(&mut self, words: &[u32; 32]) {
        for (y, words) in words.as_chunks::<C>().0.iter().enumerate() {
            let row = self.row(y);
            for x in 0..C {
                row[x] = words[x].to_le_bytes();
            }
        }
    }
}

/// Eight quads (2x2 pixels) of four bytes per pixel.
pub struct DwordQuads<'a> {
    plane: &'a mut [u8],
    pitch: usize,
    /// Byte offset of each quad.
    at: [usize; QUADS],
}

impl DwordQuads<'_> {
    /// Returns the two pixels of each row of quad `q`, the left one in the low half.
    #[inline(always)]
    pub fn pairs(&mut self, q: usize) -> [u64; 2] {
        let rows = self.rows(q);
        [rows.first_chunk(), rows.last_chunk()].map(|pair| u64::from_le_bytes(*pair.expect(LOOKED)))
    }

    /// Returns the bytes from the first pixel of quad `q` to the last.
    #[inline(always)]
    fn rows(&mut self, q: usize) -> &mut [u8] {
        &mut self.plane[self.at[q]..][..self.pitch + 8]
    }

    /// Loads the words of all pixels, four to a quad.
    #[inline(always)]
    pub fn load(&mut self) -> [u32; 4 * QUADS] {
        bytemuck::cast(std::array::from_fn::<_, QUADS, _>(|q| self.pairs(q)))
    }

    /// Stores the words of the pixels in `mask`.
    #[inline(always)]
    pub fn store(&mut self, mask: u32, words: &[u32; 4 * QUADS]) {
        // Quads without pixels in `mask` are not skipped, because the branches would be mispredicted.
        for (q, quad) in words.as_chunks::<4>().0.iter().enumerate() {
            let ([upper, lower], bits) = (bytemuck::cast(*quad), mask >> (4 * q));
            let rows = self.rows(q);
            store_pair(rows.first_chunk_mut().expect(LOOKED), upper, bits);
            store_pair(rows.last_chunk_mut().expect(LOOKED), lower, bits >> 2);
        }
    }
}

const LOOKED: &str = "dword_quads() has looked";

/// Stores the pixels of a pair that `bits` selects. Another quad may own the other pixel.
#[inline(always)]
fn store_pair(pair: &mut [u8; 8], new: u64, bits: u32) {
    const MASKS: [u64; 4] = [0, 0xffff_ffff, 0xffff_ffff << 32, u64::MAX];
    let (old, mask) = (u64::from_le_bytes(*pair), MASKS[bits as usize & 3]);
    *pair = (old & !mask | new & mask).to_le_bytes();
}

impl<'a> PixelRows<'a> {
    /// Creates rows from `bytes`, which start with the pixel at screen position `first`. A pitch of 0 means a
    /// single row; all other rows are outside.
    pub fn new(bytes: &'a mut [u8], pitch: u32, cpp: u32, first: [i32; 2]) -> Self {
        let (pitch, cpp) = (if pitch == 0 { bytes.len() } else { pitch as usize }, cpp as usize);
        let [x0, y0] = first;
        Self { bytes, pitch, cpp, step: cpp, x0, y0, cells: Cells::default() }
    }

    /// Returns the bytes of a pixel.
    pub fn cpp(&self) -> usize {
        self.cpp
    }

    /// Returns the offset of the pixel (x, y), or `None` if it is left of the plane or above it.
    #[inline(always)]
    fn place(&self, x: i32, y: i32) -> Option<usize> {
        let (x, y) = (usize::try_from(x - self.x0).ok()?, usize::try_from(y - self.y0).ok()?);
        Some(y * self.pitch + x * self.step)
    }

    /// Returns `count` pixels from (x, y), if they are contiguous and all in the plane.
    pub fn pixels(&mut self, x: i32, y: i32, count: usize) -> Option<&mut [u8]> {
        let at = self.place(x, y)?;
        let side_by_side = count == 1 || self.step == self.cpp;
        self.bytes.get_mut(at..at + count * self.cpp).filter(|_| side_by_side)
    }

    /// Returns a block of `R` rows of `C` pixels of four bytes from (x, y), if its rows are contiguous and
    /// all in the plane.
    #[inline(always)]
    pub fn dwords<const C: usize, const R: usize>(&mut self, x: i32, y: i32) -> Option<Dwords<'_, C>> {
        let from = self.place(x, y)?;
        if (self.step, self.cpp) != (4, 4) || self.pitch < 4 * C {
            return None;
        }
        let plane = self.bytes.get_mut(from..from + (R - 1) * self.pitch + 4 * C)?;
        Some(Dwords { plane, pitch: self.pitch })
    }

    /// Returns the quads with pixels in `mask` (four to a quad), if all have four bytes per pixel, contiguous
    /// rows and are in the plane. Quads without such pixels may be anywhere.
    #[inline(always)]
    pub fn dword_quads(&mut self, quads: &[Quad], mask: u32) -> Option<DwordQuads<'_>> {
        if (self.step, self.cpp) != (4, 4) || self.pitch < 8 {
            return None;
        }
        let (mut at, mut last) = ([0; QUADS], 0);
        for (q, (at, quad)) in at.iter_mut().zip(quads).enumerate() {
            if mask >> (4 * q) & 15 != 0 {
                *at = self.place(quad.x, quad.y)?;
                last = last.max(*at);
            }
        }
        let are_inside = last.checked_add(self.pitch + 8)? <= self.bytes.len();
        are_inside.then_some(DwordQuads { plane: self.bytes, pitch: self.pitch, at })
    }

    /// Copies the pixels of `area` from rows of the same format.
    pub fn copy_from(&mut self, from: &mut PixelRows<'_>, area: Rect) {
        let width = (area.x1 - area.x0).max(0) as usize;
        for y in area.y0..area.y1 {
            if let (Some(to), Some(from)) = (self.pixels(area.x0, y, width), from.pixels(area.x0, y, width)) {
                to.copy_from_slice(from);
            }
        }
    }

    /// Returns all bytes of the rows.
    pub fn bytes(&self) -> &[u8] {
        self.bytes
    }

    /// Sets all bytes to zero.
    pub fn clear(self) {
        self.bytes.fill(0);
    }

    /// Moves the rows to the right and down on the screen.
    pub fn shift(&mut self, [x, y]: [i32; 2]) {
        (self.x0, self.y0) = (self.x0 + x, self.y0 + y);
    }

    /// Borrows the rows, moved to the right and down on the screen.
    pub fn moved(&mut self, [x, y]: [i32; 2]) -> PixelRows<'_> {
        let (x0, y0) = (self.x0 + x, self.y0 + y);
        PixelRows { bytes: self.bytes, x0, y0, cells: self.cells.lent(), ..*self }
    }

    /// Returns the cells that overlap these screen columns.
    pub fn cells_at(&self, columns: Range<i32>) -> Range<usize> {
        self.cells.touching(columns.start - self.x0..columns.end - self.x0)
    }

    /// Returns the common value of all pixels of cell `number`, if known.
    pub fn known(&self, number: i32) -> Option<u32> {
        self.cells.known.get(usize::try_from(number).ok()?)?.pixel()
    }

    /// Returns the pixels of cell `number` in screen coordinates.
    pub fn cell(&self, number: usize) -> Rect {
        let Range { start, end } = self.cells.columns_of(number);
        Rect { x0: self.x0 + start, y0: self.y0, x1: self.x0 + end, y1: self.y0 + self.cells.rows }
    }

    /// Marks `bits` as unknown in the cells that overlap these screen columns.
    pub fn forget(&mut self, columns: Range<i32>, bits: u32) {
        self.cells.forget(columns.start.saturating_sub(self.x0)..columns.end.saturating_sub(self.x0), bits);
    }

    /// Returns sample `index` of `count` of every pixel.
    pub fn sample(&mut self, index: usize, count: usize) -> PixelRows<'_> {
        let cpp = self.cpp / count;
        let from = (index * cpp).min(self.bytes.len());
        PixelRows { bytes: &mut self.bytes[from..], cpp, cells: Cells::default(), ..*self }
    }

    /// Splits off the rows above screen row `y`.
    pub fn split_above(self, y: i32) -> (Self, Self) {
        let rows = usize::try_from(y - self.y0).unwrap_or(0);
        let at = (rows * self.pitch).min(self.bytes.len());
        let (above, below) = self.bytes.split_at_mut(at);
        let (pitch, cpp, step, x0) = (self.pitch, self.cpp, self.step, self.x0);
        let part = |bytes, y0| Self { bytes, pitch, cpp, step, x0, y0, cells: Cells::default() };
        (part(above, self.y0), part(below, self.y0 + rows as i32))
    }
}

/// Returns the bytes of a surface that contain the rows of `area`, from the surface's start.
pub fn extent(surface: &Surface, area: Rect) -> Range<u64> {
    let row = |y: i32| u64::try_from(y - surface.origin[1]).unwrap_or(0) * u64::from(surface.pitch);
    let used = u64::try_from(area.x1 - surface.origin[0]).unwrap_or(0) * u64::from(surface.cpp);
    row(area.y0)..(row(area.y1 - 1) + used.max(1))
}

/// Returns the pixels for which some surface has memory. Drawing outside of them has no effect, even within
/// the scissor. Without surfaces, samples are still counted.
pub fn reachable(surfaces: &[Surface], gmem_bytes: usize, mem: &Memory) -> Rect {
    let extent = |surface: &Surface| {
        let room = match surface.location {
            Location::Gmem(base) => (gmem_bytes as u64).saturating_sub(base.into()),
            Location::Memory(base) => mem.room(base).into(),
        };
        let side = |pixels: u64| pixels.min(Rect::ALL.x1 as u64) as i32;
        let cpp = u64::from(surface.cpp.max(1));
        let (columns, rows) = match u64::from(surface.pitch) {
            0 => (room / cpp, 1),
            pitch => (pitch / cpp, room.div_ceil(pitch)),
        };
        let (columns, rows) = (side(columns), side(rows));
        let [x0, y0] = surface.origin;
        Rect { x0, y0, x1: x0 + columns, y1: y0 + rows }
    };
    surfaces.iter().map(extent).reduce(Rect::union).unwrap_or(Rect::ALL)
}

/// Returns the maximum number of 16-byte blocks that are copied in and out to draw in `area`.
pub fn copied(surfaces: &[Surface], area: Rect) -> u64 {
    let bytes = |surface: &Surface| match surface.location {
        Location::Gmem(_) => 0,
        Location::Memory(_) => {
            let range = extent(surface, area);
            // Tiled surfaces are copied pixel by pixel.
            (range.end - range.start) * if surface.tiling == Tiling::Linear { 1 } else { 8 }
        }
    };
    surfaces.iter().map(bytes).sum::<u64>() / 8
}

/// A part of a surface that lies outside all memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Outside {
    /// Index of the surface.
    pub surface: usize,
    /// Address of the first byte.
    pub address: Address,
    /// Number of bytes.
    pub len: u32,
}

/// Whether a draw reads the buffers that contain its surfaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reads {
    /// The draw may read them.
    Surfaces,
    /// The draw does not read them, so it can own them while it runs.
    Elsewhere,
}

/// Calls `work` with one plane per surface, which contains the rows of `area`. Some surfaces get a copy from
/// `pool` lists, which is stored afterwards in the order of `surfaces`: those that overlap another in tile
/// memory, and those in a buffer that the draw reads or that contains another surface.
pub fn with_rows<R>(
    surfaces: &[Surface],
    area: Rect,
    gmem: &mut [u8],
    mem: &mut Memory,
    (reads, spare): (Reads, &Pool<u8>),
    work: impl FnOnce(Vec<PixelRows<'_>>, &mut Memory) -> R,
) -> (R, Vec<Outside>) {
    let mut outside = Vec::new();
    let mut lent = match reads {
        Reads::Elsewhere => lend(surfaces, area, mem),
        Reads::Surfaces => surfaces.iter().map(|_| None).collect(),
    };
    let mut copies = copy_in(surfaces, &lent, area, gmem, mem, spare, &mut outside);
    let result = {
        let in_place = split_gmem(surfaces, area, gmem);
        let planes = surfaces.iter().zip(in_place).zip(&mut copies).zip(&mut lent);
        let planes = planes.map(|(((surface, in_place), copy), lent)| {
            let first = [surface.origin[0], area.y0];
            let bytes = in_place.or(lent.as_mut().map(Lent::bytes)).unwrap_or(copy.as_mut_slice());
            PixelRows::new(bytes, surface.pitch, surface.cpp, first)
        });
        work(planes.collect(), mem)
    };
    lent.into_iter().flatten().for_each(|lent| mem.give_back(lent));
    copy_out(surfaces, area, &copies, gmem, mem);
    copies.into_iter().for_each(|copy| spare.leave(copy));
    (result, outside)
}

/// Lends the rows of `area` of surfaces in memory, if each lies in a buffer without another surface.
fn lend(surfaces: &[Surface], area: Rect, mem: &mut Memory) -> Vec<Option<Lent>> {
    let buffers: Vec<_> = surfaces.iter().map(|surface| surface.buffer(mem)).collect();
    let mut rows = |(surface, buffer): (&Surface, &Option<(u32, u32)>)| {
        let Location::Memory(base) = surface.location else { return None };
        if surface.tiling != Tiling::Linear {
            return None;
        }
        let alone = buffers.iter().filter(|other| *other == buffer).count() == 1;
        let range = extent(surface, area);
        let address = (base + range.start).narrow()?;
        let is_whole = mem.narrow_buffer_at(address) == *buffer
            && u64::from(mem.room(address)) >= range.end - range.start;
        (alone && is_whole).then(|| mem.lend(address, (range.end - range.start) as usize)).flatten()
    };
    surfaces.iter().zip(&buffers).map(&mut rows).collect()
}

/// Returns the rows of `area` of surfaces that are all [in place](in_place).
pub fn rows_in_place<'a>(surfaces: &[Surface], area: Rect, gmem: &'a mut [u8]) -> Vec<PixelRows<'a>> {
    let bytes = split_gmem(surfaces, area, gmem).into_iter().map(Option::unwrap_or_default);
    let rows = surfaces.iter().zip(bytes).map(|(surface, bytes)| {
        PixelRows::new(bytes, surface.pitch, surface.cpp, [surface.origin[0], area.y0])
    });
    rows.collect()
}

/// Returns whether a surface is drawn in place: it is in tile memory and overlaps no other.
pub fn in_place(surfaces: &[Surface], area: Rect, index: usize) -> bool {
    let range = |s: &Surface| match s.location {
        Location::Gmem(base) => {
            Some((u64::from(base) + extent(s, area).start, u64::from(base) + extent(s, area).end))
        }
        Location::Memory(_) => None,
    };
    let Some((start, end)) = range(&surfaces[index]) else { return false };
    surfaces
        .iter()
        .enumerate()
        .filter(|(i, _)| *i != index)
        .all(|(_, other)| range(other).is_none_or(|(from, to)| to <= start || end <= from))
}

fn copy_in(
    surfaces: &[Surface],
    lent: &[Option<Lent>],
    area: Rect,
    gmem: &[u8],
    mem: &Memory,
    spare: &Pool<u8>,
    outside: &mut Vec<Outside>,
) -> Vec<Vec<u8>> {
    let copy = |(index, surface): (usize, &Surface)| {
        if lent[index].is_some() || in_place(surfaces, area, index) {
            return Vec::new();
        }
        let range = extent(surface, area);
        let wanted = range.end - range.start;
        match surface.location {
            Location::Gmem(base) => {
                let from = (u64::from(base) + range.start).min(gmem.len() as u64) as usize;
                let len = wanted.min((gmem.len() - from) as u64) as usize;
                gmem[from..from + len].to_vec()
            }
            Location::Memory(base) if surface.tiling != Tiling::Linear => {
                let (rows, whole) = tiled::rows(surface, base, area, mem);
                if !whole {
                    let len = u32::try_from(wanted).unwrap_or(u32::MAX);
                    outside.push(Outside { surface: index, address: base, len });
                }
                rows
            }
            Location::Memory(base) => {
                let address = mem.behind(base, range.start);
                let room = mem.room(address);
                if u64::from(room) < wanted {
                    let len = u32::try_from(wanted).unwrap_or(u32::MAX);
                    outside.push(Outside { surface: index, address, len });
                }
                let mut bytes = spare.take(wanted.min(u64::from(room)) as usize, 0);
                let _known_or_zero = mem.read(address, &mut bytes);
                bytes
            }
        }
    };
    surfaces.iter().enumerate().map(copy).collect()
}

fn copy_out(surfaces: &[Surface], area: Rect, copies: &[Vec<u8>], gmem: &mut [u8], mem: &mut Memory) {
    for (surface, bytes) in surfaces.iter().zip(copies).filter(|(_, copy)| !copy.is_empty()) {
        let start = extent(surface, area).start;
        match surface.location {
            Location::Gmem(base) => {
                let at = (u64::from(base) + start).min(gmem.len() as u64) as usize;
                let len = bytes.len().min(gmem.len() - at);
                gmem[at..at + len].copy_from_slice(&bytes[..len]);
            }
            Location::Memory(base) if surface.tiling != Tiling::Linear => {
                tiled::store(surface, base, area, bytes, mem);
            }
            Location::Memory(base) => {
                let address = mem.behind(base, start);
                let len = bytes.len().min(mem.room(address) as usize);
                let stored = mem.write(address, &bytes[..len]);
                debug_assert!(stored, "room was asked for");
            }
        }
    }
}

/// Returns the bytes of every surface that is drawn in place.
fn split_gmem<'a>(surfaces: &[Surface], area: Rect, gmem: &'a mut [u8]) -> Vec<Option<&'a mut [u8]>> {
    let mut order: Vec<(u64, usize)> = Vec::new();
    for (index, surface) in surfaces.iter().enumerate() {
        if let (Location::Gmem(base), true) = (surface.location, in_place(surfaces, area, index)) {
            order.push((u64::from(base) + extent(surface, area).start, index));
        }
    }
    order.sort_unstable();
    let mut out: Vec<Option<&mut [u8]>> = surfaces.iter().map(|_| None).collect();
    let (mut rest, mut at) = (gmem, 0u64);
    for (start, index) in order {
        let range = extent(&surfaces[index], area);
        let skip = (start - at).min(rest.len() as u64) as usize;
        let len = (range.end - range.start).min((rest.len() - skip) as u64) as usize;
        let (mine, behind) = rest[skip..].split_at_mut(len);
        out[index] = Some(mine);
        (rest, at) = (behind, start + len as u64);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x0: 4, y0: 6, x1: 8, y1: 8 };

    fn surface(location: Location) -> Surface {
        Surface { location, pitch: 16, cpp: 2, origin: [2, 4], layer: 0, tiling: Tiling::Linear }
    }

    fn write_one(planes: Vec<PixelRows<'_>>, value: u8) {
        for mut plane in planes {
            plane.pixels(4, 6, 1).expect("in the plane").fill(value);
        }
    }

    #[test]
    fn a_pitch_of_nothing_is_that_of_one_row() {
        let mut mem = Memory::new();
        mem.announce(0x1000, 64, Some(&[1; 64]));
        let surface = Surface { pitch: 0, ..surface(Location::Memory(Address::new(0x1000))) };
        assert_eq!(reachable(&[surface], 0, &mem), Rect { x0: 2, y0: 4, x1: 34, y1: 5 });
        assert_eq!(surface.pixel([9, 4]), Some(Location::Memory(Address::new(0x100e))));
        assert_eq!(surface.pixel([9, 5]), None);
        let area = Rect { x0: 6, y0: 4, x1: 9, y1: 5 };
        let fill = |mut planes: Vec<PixelRows<'_>>, _: &mut Memory| {
            planes[0].pixels(6, 4, 3).expect("in the row").fill(7);
            assert!(planes[0].pixels(6, 5, 1).is_none(), "no row is in the same place");
        };
        with_rows(&[surface], area, &mut [], &mut mem, (Reads::Elsewhere, &Pool::default()), fill);
        assert_eq!(mem.slice(0x1006, 10), Some(&[1, 1, 7, 7, 7, 7, 7, 7, 1, 1][..]));
    }

    #[test]
    fn tile_memory_is_written_in_place() {
        let mut gmem = vec![0; 256];
        let ((), outside) = with_rows(
            &[surface(Location::Gmem(100)), surface(Location::Gmem(8))],
            AREA,
            &mut gmem,
            &mut Memory::new(),
            (Reads::Elsewhere, &Pool::default()),
            |planes, _| write_one(planes, 7),
        );
        assert!(outside.is_empty());
        let at = 2 * 16 + 2 * 2;
        assert_eq!(gmem.iter().filter(|b| **b != 0).count(), 4);
        assert_eq!((gmem[100 + at], gmem[8 + at + 1]), (7, 7));
    }

    #[test]
    fn memory_holds_what_was_drawn_after_the_work() {
        for reads in [Reads::Surfaces, Reads::Elsewhere] {
            let mut mem = Memory::new();
            mem.announce(0x1000, 64, Some(&[1; 64]));
            let surfaces = [surface(Location::Memory(Address::new(0x1000)))];
            let before = mem.now();
            let look = |planes: Vec<PixelRows<'_>>, mem: &mut Memory| {
                let seen = mem.slice(0x1000, 64).map(<[u8]>::to_vec);
                write_one(planes, 9);
                seen
            };
            let (seen, outside) =
                with_rows(&surfaces, AREA, &mut [], &mut mem, (reads, &Pool::default()), look);
            assert_eq!(seen, (reads == Reads::Surfaces).then(|| vec![1; 64]), "{reads:?}");
            assert!(outside.is_empty());
            let bytes = mem.slice(0x1000, 64).expect("announced");
            assert_eq!(bytes.iter().filter(|b| **b == 9).count(), 2);
            assert!(!mem.is_unchanged(0x1000, 64, before));
        }
    }

    #[test]
    fn surfaces_of_one_buffer_and_those_that_leave_it_are_drawn_in_copies() {
        let mut mem = Memory::new();
        mem.announce(0x1000, 128, Some(&[1; 128]));
        mem.announce(0x2000, 32, Some(&[1; 32]));
        let surfaces = [0x1000, 0x1040, 0x2000].map(|base| surface(Location::Memory(Address::new(base))));
        let (held, outside) = with_rows(
            &surfaces,
            AREA,
            &mut [],
            &mut mem,
            (Reads::Elsewhere, &Pool::default()),
            |planes, mem| {
                let held = [0x1000, 0x1040, 0x2000].map(|base| mem.slice(base, 32).is_some());
                planes.into_iter().take(2).for_each(|plane| write_one(vec![plane], 9));
                held
            },
        );
        assert_eq!((held, outside.len()), ([true; 3], 1));
        let all = mem.slice(0x1000, 128).expect("announced");
        assert_eq!(all.iter().filter(|b| **b == 9).count(), 4);
    }

    #[test]
    fn overlapping_and_outside_surfaces_do_not_panic() {
        let mut gmem = vec![0; 64];
        let surfaces =
            [surface(Location::Gmem(0)), surface(Location::Gmem(4)), surface(Location::Gmem(0xffff_f000))];
        let count = with_rows(
            &surfaces,
            AREA,
            &mut gmem,
            &mut Memory::new(),
            (Reads::Surfaces, &Pool::default()),
            |planes, _| planes.len(),
        )
        .0;
        assert_eq!(count, 3);
        let far = [surface(Location::Memory(Address::new(0xdead_0000)))];
        let (_, outside) = with_rows(
            &far,
            AREA,
            &mut gmem,
            &mut Memory::new(),
            (Reads::Elsewhere, &Pool::default()),
            |_, _| (),
        );
        assert_eq!(outside.len(), 1);
    }

    #[test]
    fn bands_are_disjoint_rows() {
        let mut bytes = [0u8; 64];
        let plane = PixelRows::new(&mut bytes, 16, 4, [0, 8]);
        let (mut above, mut below) = plane.split_above(10);
        assert!(above.pixels(0, 9, 4).is_some() && above.pixels(0, 10, 1).is_none());
        assert!(below.pixels(0, 10, 4).is_some() && below.pixels(0, 9, 1).is_none());
    }
}
