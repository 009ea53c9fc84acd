//! What became of the pixels that a draw covers, as bits of a map, with how many fragments there were and what they
//! cost: for whoever shows a draw.

use std::sync::atomic::{AtomicU8, AtomicU32, AtomicU64, Ordering};

use crate::draw::gras::quad::Quad;
use crate::draw::gras::raster::{Rect, Shape};
use a4emu_shader::{LANES, Mask, lanes_of};

use super::outline::outline;

/// A primitive covers the pixel.
pub const COVERED: u8 = 1;
/// One failed the depth or the stencil test.
pub const FAILED: u8 = 2;
/// One was killed by the shader, or failed the alpha test.
pub const KILLED: u8 = 4;
/// One passed everything, so that it is written as far as masks let it.
pub const WRITTEN: u8 = 8;
/// More than one primitive covers it.
pub const OVERDRAWN: u8 = 16;
/// It is on the edge of a primitive; noted for whoever asks for [`Plane::Edges`].
pub const EDGE: u8 = 32;

/// What the cost of a pixel is counted in: parts of a warp instruction. A warp with all lanes covered spends as
/// many on each of its pixels as it runs instructions.
pub const COST_UNIT: u64 = LANES as u64;

/// What is noted only for whoever asks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Plane {
    /// The edges of primitives, as a bit.
    Edges,
    /// How many fragments cover each pixel.
    Fragments,
    /// What the fragment shader spent on each pixel.
    Cost,
}

/// A byte of such bits for each pixel of a part of the screen. Threads add bits in any order: the
/// map is the same.
#[derive(Debug)]
pub struct Reasons {
    area: Rect,
    bits: Vec<AtomicU8>,
    /// Empty where nobody asks; so is `cost`.
    fragments: Vec<AtomicU32>,
    /// In parts of warp instructions: [`COST_UNIT`].
    cost: Vec<AtomicU64>,
    outlines: bool,
}

impl Reasons {
    /// Of no draw yet, with `planes`; what is outside of `area` is not noted.
    pub fn new(area: Rect, planes: &[Plane]) -> Self {
        let pixels = area.area() as usize;
        let size = |plane| if planes.contains(&plane) { pixels } else { 0 };
        Self {
            area,
            bits: std::iter::repeat_with(AtomicU8::default).take(pixels).collect(),
            fragments: std::iter::repeat_with(AtomicU32::default).take(size(Plane::Fragments)).collect(),
            cost: std::iter::repeat_with(AtomicU64::default).take(size(Plane::Cost)).collect(),
            outlines: planes.contains(&Plane::Edges),
        }
    }

    /// The part of the screen.
    pub fn area(&self) -> Rect {
        self.area
    }

    /// Row by row.
    pub fn rows(&self) -> impl Iterator<Item = Vec<u8>> {
        let width = (self.area.x1 - self.area.x0).max(1) as usize;
        let row = |row: &[AtomicU8]| row.iter().map(|bits| bits.load(Ordering::Relaxed)).collect();
        self.bits.chunks_exact(width).map(row)
    }

    /// How many fragments cover each pixel, row by row, if that was asked for.
    pub fn fragments(&self) -> impl Iterator<Item = u32> {
        self.fragments.iter().map(|count| count.load(Ordering::Relaxed))
    }

    /// What each pixel cost, in parts of a warp instruction ([`COST_UNIT`]), row by row, if that was asked for.
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

    /// All pixels of `area` have `bits`.
    #[cold]
    pub(super) fn rectangle(&self, area: Rect, bits: u8) {
        let Rect { x0, y0, x1, y1 } = area.intersect(self.area);
        (y0..y1).for_each(|y| (x0..x1).for_each(|x| self.pixel(x, y, bits)));
    }

    /// Those of `mask` among the 8x4 at (x, y), row by row.
    #[cold]
    pub(super) fn half_block(&self, [x, y]: [i32; 2], mask: u32, bits: u8) {
        let covered = (0..32).filter(|pixel| mask >> pixel & 1 != 0);
        covered.for_each(|pixel| self.pixel(x + pixel % 8, y + pixel / 8, bits));
    }

    /// The pixels of `shape` in `area` beside which it covers none, if somebody asks for them.
    #[cold]
    pub(super) fn outline(&self, shape: &Shape, area: Rect) {
        if self.outlines {
            outline(shape, area, |x, y| self.pixel(x, y, EDGE));
        }
    }

    /// A warp of `quads` has run so many instructions: the pixels of its `live` lanes share them. What is
    /// left over goes to the first, so that the sum over all pixels is what was run.
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
            }
        }
    }

    /// Those of `lanes`, four to a quad.
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
    fn the_pixels_of_a_warp_share_what_it_spent() {
        let reasons = Reasons::new(Rect { x0: 0, y0: 0, x1: 4, y1: 2 }, &[Plane::Cost]);
        let quads = [Quad { x: 0, y: 0, mask: 15, primitive: 0 }, Quad { x: 2, y: 0, mask: 8, primitive: 0 }];
        reasons.spent(&quads, 0x8f, 2);
        reasons.spent(&quads, 0, 9);
        assert_eq!(reasons.cost().collect::<Vec<_>>(), [13, 13, 0, 0, 13, 13, 0, 12]);
    }

    #[test]
    fn edges_are_noted_for_who_asks() {
        let area = Rect { x0: 0, y0: 0, x1: 4, y1: 3 };
        let [asked, not] = [&[Plane::Edges][..], &[]].map(|planes| Reasons::new(area, planes));
        let shape = Shape::rectangle(area);
        [&asked, &not].into_iter().for_each(|reasons| reasons.outline(&shape, area));
        assert!(not.rows().flatten().all(|bits| bits == 0));
        let rows: Vec<Vec<u8>> = asked.rows().collect();
        assert_eq!(rows, [[EDGE; 4], [EDGE, 0, 0, EDGE], [EDGE; 4]]);
    }
}
