//! A map of the fates of pixels that a draw covers, as bits, with fragment counts and costs, for inspection
//! tools.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::draw::gras::quad::Quad;
use crate::draw::gras::raster::{Rect, Shape};
use a4emu_shader::{LANES, Mask, lanes_of};

use super::outline::outline;

/// A primitive covers the pixel.
pub const COVERED: u8 = 1;
/// A fragment failed the depth or the stencil test.
pub const FAILED: u8 = 2;
/// The shader, its sample mask, alpha to coverage or the alpha test dropped a fragment.
pub const KILLED: u8 = 4;
/// A fragment passed all tests. It is written as far as the masks allow.
pub const WRITTEN: u8 = 8;
/// More than one primitive covers the pixel.
pub const OVERDRAWN: u8 = 16;
/// The pixel is on the edge of a primitive. Recorded only with [`Plane::Edges`].
pub const EDGE: u8 = 32;
/// A culled primitive would cover the pixel. Recorded only with [`Plane::Unseen`].
pub const CULLED: u8 = 64;
/// A primitive covers the pixel, which is outside of the scissors. Recorded only with [`Plane::Unseen`].
pub const SCISSORED: u8 = 128;

/// Units of the cost of a pixel per warp instruction. A warp with all lanes covered costs each of its pixels
/// one unit per instruction.
pub const COST_UNIT: u64 = LANES as u64;

/// Records that are made only on request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// The edges of primitives, as a bit.
    Edges,
    /// How many fragments cover each pixel.
    Fragments,
    /// Cost of the fragment shader for each pixel.
    Cost,
    /// Where culling and the scissors let no fragments through, as bits.
    Unseen,
}

/// One byte of bits for each pixel of a part of the screen. Threads add bits in any order, with the same
/// result.
#[derive(Debug)]
pub struct Reasons {
    area: Rect,
    bits: Vec<AtomicU8>,
    /// Whether a row has anything recorded. Most draws touch few rows.
    touched: Vec<AtomicBool>,
    /// Fragment counts, empty unless requested.
    fragments: Vec<AtomicU32>,
    /// Costs in [`COST_UNIT`] parts of warp instructions, empty unless requested.
    cost: Vec<AtomicU64>,
    outlines: bool,
    unseen: bool,
}

impl Reasons {
    /// Creates an empty map with `planes`. Pixels outside of `area` are not recorded.
    pub fn new(area: Rect, planes: &[Plane]) -> Self {
        let pixels = area.area() as usize;
        let size = |plane| if planes.contains(&plane) { pixels } else { 0 };
        Self {
            area,
            touched: std::iter::repeat_with(AtomicBool::default)
                .take((area.y1 - area.y0).max(0) as usize)
                .collect(),
            bits: std::iter::repeat_with(AtomicU8::default).take(pixels).collect(),
            fragments: std::iter::repeat_with(AtomicU32::default).take(size(Plane::Fragments)).collect(),
            cost: std::iter::repeat_with(AtomicU64::default).take(size(Plane::Cost)).collect(),
            outlines: planes.contains(&Plane::Edges),
            unseen: planes.contains(&Plane::Unseen),
        }
    }

    /// Returns whether pixels without fragments are requested.
    pub fn has_unseen(&self) -> bool {
        self.unseen
    }

    /// Returns the part of the screen.
    pub fn area(&self) -> Rect {
        self.area
    }

    /// Empties the map, for another draw.
    pub fn clear(&mut self) {
        let Range { start, end } = self.pixels_of(self.touched());
        self.bits[start..end].fill_with(AtomicU8::default);
        let part = end - start;
        self.fragments.iter_mut().skip(start).take(part).for_each(|count| *count.get_mut() = 0);
        self.cost.iter_mut().skip(start).take(part).for_each(|cost| *cost.get_mut() = 0);
        self.touched.fill_with(AtomicBool::default);
    }

    /// Returns the rows that have anything recorded, from the first to the last.
    pub fn touched(&self) -> Range<usize> {
        let is_touched = |row: &AtomicBool| row.load(Ordering::Relaxed);
        let first = self.touched.iter().position(is_touched).unwrap_or(0);
        first..self.touched.iter().rposition(is_touched).map_or(first, |last| last + 1)
    }

    /// Returns the number of pixels of the rows that have anything recorded.
    pub fn touched_pixels(&self) -> u64 {
        (self.touched().len() * self.width()) as u64
    }

    fn width(&self) -> usize {
        (self.area.x1 - self.area.x0).max(0) as usize
    }

    /// Returns the indices of the pixels of `rows`.
    fn pixels_of(&self, Range { start, end }: Range<usize>) -> Range<usize> {
        start * self.width()..end * self.width()
    }

    /// Returns the bits of the pixels of `rows`, row by row.
    pub fn bits_of(&self, rows: Range<usize>) -> Vec<u8> {
        self.bits[self.pixels_of(rows)].iter().map(|bits| bits.load(Ordering::Relaxed)).collect()
    }

    /// Returns the costs of the pixels of `rows`, row by row; empty unless requested.
    pub fn cost_of(&self, rows: Range<usize>) -> Vec<u64> {
        let costs = self.cost.get(self.pixels_of(rows)).unwrap_or_default();
        costs.iter().map(|cost| cost.load(Ordering::Relaxed)).collect()
    }

    /// Returns the bits of the pixels, row by row.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u8>> {
        let width = (self.area.x1 - self.area.x0).max(1) as usize;
        let row = |row: &[AtomicU8]| row.iter().map(|bits| bits.load(Ordering::Relaxed)).collect();
        self.bits.chunks_exact(width).map(row)
    }

    /// Returns the number of fragments of each pixel, row by row, if requested.
    pub fn fragments(&self) -> impl Iterator<Item = u32> {
        self.fragments.iter().map(|count| count.load(Ordering::Relaxed))
    }

    /// Returns the cost of each pixel in [`COST_UNIT`] parts of a warp instruction, row by row, if requested.
    pub fn cost(&self) -> impl Iterator<Item = u64> {
        self.cost.iter().map(|cost| cost.load(Ordering::Relaxed))
    }

    fn index(&self, x: i32, y: i32) -> Option<usize> {
        let Rect { x0, y0, x1, .. } = self.area;
        let width = (x1 - x0) as usize;
        self.area.contains([x, y]).then(|| (y - y0) as usize * width + (x - x0) as usize)
    }

    fn pixel(&self, x: i32, y: i32, bits: u8) {
        let Some(index) = self.index(x, y) else { return };
        self.touched[(y - self.area.y0) as usize].store(true, Ordering::Relaxed);
        let before = self.bits[index].fetch_or(bits, Ordering::Relaxed);
        if bits & before & COVERED != 0 {
            self.bits[index].fetch_or(OVERDRAWN, Ordering::Relaxed);
        }
        if bits & COVERED != 0
            && let Some(count) = self.fragments.get(index)
        {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Adds `bits` to all pixels of `area`.
    #[cold]
    pub(super) fn rectangle(&self, area: Rect, bits: u8) {
        let Rect { x0, y0, x1, y1 } = area.intersect(self.area);
        (y0..y1).for_each(|y| (x0..x1).for_each(|x| self.pixel(x, y, bits)));
    }

    /// Adds `bits` to the pixels of `mask` in the 8x4 block at (x, y), row by row.
    #[cold]
    pub(super) fn half_block(&self, [x, y]: [i32; 2], mask: u32, bits: u8) {
        let covered = (0..32).filter(|pixel| mask >> pixel & 1 != 0);
        covered.for_each(|pixel| self.pixel(x + pixel % 8, y + pixel / 8, bits));
    }

    /// Marks the edge pixels of `shape` in `area`, if requested.
    #[cold]
    pub(super) fn outline(&self, shape: &Shape, area: Rect) {
        if self.outlines {
            outline(shape, area, |x, y| self.pixel(x, y, EDGE));
        }
    }

    /// Divides the instructions of a warp of `quads` among the pixels of its `live` lanes. The first pixel
    /// gets the remainder, so that the sum is exact.
    #[cold]
    pub(super) fn spent(&self, quads: &[Quad], live: Mask, instructions: u64) {
        let lanes = u64::from(live.count_ones());
        if self.cost.is_empty() || lanes == 0 {
            return;
        }
        let (each, rest) = (instructions * COST_UNIT / lanes, instructions * COST_UNIT % lanes);
        for (lane, number) in lanes_of(live).zip(0..) {
            let (quad, corner) = (&quads[lane / 4], lane as i32 % 4);
            if let Some(index) = self.index(quad.x + corner % 2, quad.y + corner / 2) {
                self.cost[index].fetch_add(each + u64::from(number < rest), Ordering::Relaxed);
                self.touched[index / self.width()].store(true, Ordering::Relaxed);
            }
        }
    }

    /// Divides the instructions of warps among their `count` pixels, those of `blocks`: first pixel and mask of 8x4
    /// blocks, row by row.
    #[cold]
    pub(super) fn spent_known(&self, blocks: &[([i32; 2], u32)], count: u64, instructions: u64) {
        if self.cost.is_empty() || count == 0 {
            return;
        }
        let (each, rest) = (instructions * COST_UNIT / count, instructions * COST_UNIT % count);
        let pixels = blocks.iter().flat_map(|([x, y], mask)| {
            lanes_of(*mask).map(move |pixel| (x + pixel as i32 % 8, y + pixel as i32 / 8))
        });
        for ((x, y), number) in pixels.zip(0..) {
            if let Some(index) = self.index(x, y) {
                self.cost[index].fetch_add(each + u64::from(number < rest), Ordering::Relaxed);
                self.touched[index / self.width()].store(true, Ordering::Relaxed);
            }
        }
    }

    /// Adds `bits` to the pixels of `lanes`, four to a quad.
    #[cold]
    pub(super) fn quads(&self, quads: &[Quad], lanes: u32, bits: u8) {
        for (quad, first) in quads.iter().zip((0..).step_by(4)) {
            let covered = (0..4).filter(|lane| lanes >> (first + lane) & 1 != 0);
            covered.for_each(|lane| self.pixel(quad.x + lane % 2, quad.y + lane / 2, bits));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pixels_land_where_they_are_and_those_outside_nowhere() {
        let reasons = Reasons::new(Rect { x0: 2, y0: 1, x1: 4, y1: 3 }, &[Plane::Fragments]);
        reasons.half_block([0, 0], 1 << 10 | 1, COVERED);
        reasons.quads(&[Quad { x: 2, y: 2, mask: 15, primitive: 0 }], 2, COVERED | WRITTEN);
        reasons.rectangle(Rect { x0: 3, y0: 0, x1: 9, y1: 9 }, COVERED);
        let rows: Vec<Vec<u8>> = reasons.rows().collect();
        assert_eq!(rows, [[COVERED, COVERED], [0, COVERED | WRITTEN | OVERDRAWN]]);
        assert_eq!(reasons.fragments().collect::<Vec<_>>(), [1, 1, 0, 2]);
        assert_eq!(reasons.cost().count(), 0);
    }

    #[test]
    fn a_cleared_map_is_as_new() {
        let area = Rect { x0: 2, y0: 1, x1: 6, y1: 9 };
        let mut reasons = Reasons::new(area, &[Plane::Fragments, Plane::Cost]);
        assert!(reasons.touched().is_empty());
        reasons.quads(&[Quad { x: 2, y: 2, mask: 15, primitive: 0 }], 2, COVERED);
        reasons.spent(&[Quad { x: 4, y: 6, mask: 15, primitive: 0 }], 8, 3);
        assert_eq!(reasons.touched(), 1..7);
        assert_eq!(reasons.bits_of(1..2), [0, COVERED, 0, 0]);
        assert_eq!(reasons.cost_of(6..7), [0, 0, 0, 96]);
        reasons.clear();
        assert!(reasons.touched().is_empty() && reasons.rows().flatten().all(|bits| bits == 0));
        assert!(reasons.fragments().all(|count| count == 0) && reasons.cost().all(|cost| cost == 0));
    }

    #[test]
    fn the_pixels_of_a_warp_share_what_it_spent() {
        let reasons = Reasons::new(Rect { x0: 0, y0: 0, x1: 4, y1: 2 }, &[Plane::Cost]);
        let quads = [Quad { x: 0, y: 0, mask: 15, primitive: 0 }, Quad { x: 2, y: 0, mask: 8, primitive: 0 }];
        reasons.spent(&quads, 0x8f, 2);
        reasons.spent(&quads, 0, 9);
        assert_eq!(reasons.cost().collect::<Vec<_>>(), [13, 13, 0, 0, 13, 13, 0, 12]);
    }

    #[test]
    fn edges_are_recorded_only_on_request() {
        let area = Rect { x0: 0, y0: 0, x1: 4, y1: 3 };
        let [asked, not] = [&[Plane::Edges][..], &[]].map(|planes| Reasons::new(area, planes));
        let shape = Shape::rectangle(area);
        [&asked, &not].into_iter().for_each(|reasons| reasons.outline(&shape, area));
        assert!(not.rows().flatten().all(|bits| bits == 0));
        let rows: Vec<Vec<u8>> = asked.rows().collect();
        assert_eq!(rows, [[EDGE; 4], [EDGE, 0, 0, EDGE], [EDGE; 4]]);
    }
}
