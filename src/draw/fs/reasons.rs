//! What became of the pixels that a draw covers, as bits of a map: for whoever shows a draw.

use std::sync::atomic::{AtomicU8, Ordering};

use crate::draw::gras::quad::Quad;
use crate::draw::gras::raster::Rect;

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

/// A byte of such bits for each pixel of a part of the screen. Threads add bits in any order: the
/// map is the same.
#[derive(Debug)]
pub struct Reasons {
    area: Rect,
    bits: Vec<AtomicU8>,
}

impl Reasons {
    /// Of no draw yet; what is outside of `area` is not noted.
    pub fn new(area: Rect) -> Self {
        let bits = vec![0; area.area() as usize].into_iter().map(AtomicU8::new).collect();
        Self { area, bits }
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

    fn pixel(&self, x: i32, y: i32, bits: u8) {
        let Rect { x0, y0, x1, y1 } = self.area;
        if (x0..x1).contains(&x) && (y0..y1).contains(&y) {
            let index = (y - y0) as usize * (x1 - x0) as usize + (x - x0) as usize;
            let before = self.bits[index].fetch_or(bits, Ordering::Relaxed);
            if bits & before & COVERED != 0 {
                self.bits[index].fetch_or(OVERDRAWN, Ordering::Relaxed);
            }
        }
    }

    /// All pixels of `area` have `bits`.
    pub(super) fn rectangle(&self, area: Rect, bits: u8) {
        let Rect { x0, y0, x1, y1 } = area.intersect(self.area);
        (y0..y1).for_each(|y| (x0..x1).for_each(|x| self.pixel(x, y, bits)));
    }

    /// Those of `mask` among the 8x4 at (x, y), row by row.
    pub(super) fn half_block(&self, [x, y]: [i32; 2], mask: u32, bits: u8) {
        let covered = (0..32).filter(|pixel| mask >> pixel & 1 != 0);
        covered.for_each(|pixel| self.pixel(x + pixel % 8, y + pixel / 8, bits));
    }

    /// Those of `lanes`, four to a quad.
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
        let reasons = Reasons::new(Rect { x0: 2, y0: 1, x1: 4, y1: 3 });
        reasons.half_block([0, 0], 1 << 10 | 1, COVERED);
        reasons.quads(&[Quad { x: 2, y: 2, mask: 15, primitive: 0 }], 2, COVERED | WRITTEN);
        reasons.rectangle(Rect { x0: 3, y0: 0, x1: 9, y1: 9 }, COVERED);
        let rows: Vec<Vec<u8>> = reasons.rows().collect();
        assert_eq!(rows, [[COVERED, COVERED], [0, COVERED | WRITTEN | OVERDRAWN]]);
    }
}
