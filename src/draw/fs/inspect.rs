//! One warp of fragments before its first instruction, for a debugger.

use crate::draw::gras::quad::{halves, quad_order, quads};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::launch::Worker;
use crate::draw::sp::memory::GpuMemory;
use crate::fault::Fault;
use crate::memory::Memory;
use crate::shader::Warp;

use super::FragmentDraw;
use super::band::{enter, lanes_of_quads};

/// Which pixels of a draw somebody wants to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The n-th 8x4 pixels that a primitive touches, counted over the draw.
    Warp(u32),
    /// Those around this pixel, of the first primitive that covers it.
    Pixel([i32; 2]),
}

/// 8x4 pixels of one primitive: a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WarpPixels {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// The first pixel.
    pub at: [i32; 2],
    /// Covered lanes, four to a quad.
    pub lanes: u32,
}

impl WarpPixels {
    /// The pixel of `lane`.
    pub fn pixel(&self, lane: usize) -> [i32; 2] {
        let (quad, corner) = (lane as i32 / 4, lane as i32 % 4);
        [self.at[0] + 2 * (quad % 4) + corner % 2, self.at[1] + 2 * (quad / 4) + corner / 2]
    }
}

impl FragmentDraw<'_> {
    /// Hands over the warp of the chosen pixels of `area` with its inputs in place. Depth and
    /// stencil take no pixels away.
    ///
    /// # Errors
    /// A fault when the draw covers no such pixels.
    pub fn inspect(
        &self,
        area: Rect,
        chosen: Chosen,
        memory: &mut Memory,
        look: impl FnOnce(WarpPixels, Warp, StageEnvironment<'_, '_, '_>),
    ) -> Result<(), Fault> {
        let nothing = || Fault::Draw("no primitive covers such pixels".into());
        let pixels = find(self, area, chosen).ok_or_else(nothing)?;
        let quads = quads(pixels.primitive, pixels.at, pixels.lanes);
        let pieces = self.pieces(&quads);
        let mut worker = Worker::new(&self.state.fragment.stage, GpuMemory::ReadWrite(memory));
        let lanes = lanes_of_quads(&quads);
        worker.start(lanes, |warp, _| {
            enter(&self.state.fragment.inputs, warp, &pieces, &pieces.weights(), lanes.live);
        });
        let Worker { warp, mut memory, .. } = worker;
        look(pixels, warp, StageEnvironment { memory: &mut memory, quads: Some(&pieces) });
        Ok(())
    }
}

fn find(draw: &FragmentDraw<'_>, area: Rect, chosen: Chosen) -> Option<WarpPixels> {
    let (mut skip, place) = match chosen {
        Chosen::Warp(n) => (n, area),
        Chosen::Pixel([x, y]) => (0, area.intersect(Rect { x0: x, y0: y, x1: x + 1, y1: y + 1 })),
    };
    draw.primitives.iter().enumerate().find_map(|(index, primitive)| {
        let mut found = None;
        primitive.shape.cover(place, |x, y, mask| {
            for (at, _) in halves([x, y], mask) {
                match skip {
                    0 => found = found.or(Some(at)),
                    _ => skip -= 1,
                }
            }
        });
        found.map(|at| WarpPixels { primitive: index as u32, at, lanes: lanes(primitive, at, area) })
    })
}

/// The lanes of the 8x4 pixels at (x, y) that the primitive covers.
fn lanes(primitive: &ScreenPrimitive, [x, y]: [i32; 2], area: Rect) -> u32 {
    let mut lanes = 0;
    let group = Rect { x0: x, y0: y, x1: x + 8, y1: y + 4 };
    primitive.shape.cover(area.intersect(group), |x, y, mask| {
        halves([x, y], mask).for_each(|(_, mask)| lanes |= quad_order(mask));
    });
    lanes
}
