//! Counts the pixels of a band whose colours are known, so that the shader does not run for them.

use crate::draw::gras::quad::quad_order;
use crate::draw::gras::raster::Rect;
use crate::draw::sp::launch::Worker;

use super::FragmentDraw;
use super::band::occupied;

/// The pixels of one draw in a band whose colours are known.
#[derive(Default)]
pub(super) struct KnownPixels {
    quads: u64,
    pixels: u64,
    /// First pixel and mask of 8x4 blocks, listed only if costs of pixels are recorded.
    blocks: Vec<([i32; 2], u32)>,
}

impl KnownPixels {
    /// Adds the pixels of an 8x4 block, row by row in `mask`.
    #[inline]
    pub fn half_block(&mut self, draw: &FragmentDraw<'_>, at: [i32; 2], mask: u32) {
        self.quads += u64::from(occupied(quad_order(mask)).count_ones());
        self.pixels += u64::from(mask.count_ones());
        if draw.reasons.is_some() {
            self.blocks.push((at, mask));
        }
    }

    /// Adds the pixels of a rectangle.
    pub fn rectangle(&mut self, draw: &FragmentDraw<'_>, area: Rect) {
        self.quads += area.quads();
        self.pixels += area.area();
        if draw.reasons.is_some() {
            let columns = || (area.x0..area.x1).step_by(8);
            let row = |y: i32| columns().map(move |x| ([x, y], (1 << (area.x1 - x).min(8)) - 1));
            self.blocks.extend((area.y0..area.y1).flat_map(row));
        }
    }

    /// Counts the warps that shade these pixels.
    pub fn count(self, draw: &FragmentDraw<'_>, worker: &mut Worker<'_>) {
        let instructions = worker.count_known(&draw.plan.known, self.quads, self.pixels);
        if let Some(reasons) = draw.reasons {
            reasons.spent_known(&self.blocks, self.pixels, instructions);
        }
    }
}
