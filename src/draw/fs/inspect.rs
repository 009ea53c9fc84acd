//! One warp of fragments before its first instruction, for a debugger.

use crate::draw::gras::quad::{halves, quad_order, quads};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::launch::Worker;
use crate::draw::sp::memory::GpuMemory;
use crate::fault::Fault;
use crate::memory::Memory;
use crate::shader::{LANES, Warp};

use super::FragmentDraw;
use super::band::{enter, lanes_of_quads};

/// Which pixels of a draw somebody wants to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The n-th 8x4 pixels that a primitive touches, counted over the draw.
    Warp(u32),
    /// Those around a pixel.
    Pixel {
        /// Column and row.
        at: [i32; 2],
        /// Of this primitive; else of the last one that covers it.
        primitive: Option<u32>,
    },
}

impl Chosen {
    /// Whether such pixels can be in `area`.
    pub fn is_inside(self, area: Rect) -> bool {
        match self {
            Self::Warp(_) => true,
            Self::Pixel { at, .. } => !area.intersect(pixel(at)).is_empty(),
        }
    }
}

/// The pixel at (x, y).
fn pixel([x, y]: [i32; 2]) -> Rect {
    Rect { x0: x, y0: y, x1: x + 1, y1: y + 1 }
}

/// 8x4 pixels of one primitive: a warp.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpPixels {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// The first pixel.
    pub at: [i32; 2],
    /// Covered lanes, four to a quad.
    pub lanes: u32,
    /// All primitives that cover the pixel that was asked for.
    pub covering: Vec<u32>,
}

impl WarpPixels {
    /// The lane of the chosen pixel.
    pub fn lane_of(&self, chosen: Chosen) -> Option<usize> {
        match chosen {
            Chosen::Warp(_) => None,
            Chosen::Pixel { at, .. } => (0..LANES).find(|lane| self.pixel(*lane) == at),
        }
    }

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
        let pixels = match chosen {
            Chosen::Warp(number) => self.nth(area, number),
            Chosen::Pixel { at, primitive } => self.around(area, at, primitive),
        }?;
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

    /// The n-th warp in `area`, counted over all primitives.
    fn nth(&self, area: Rect, number: u32) -> Result<WarpPixels, Fault> {
        let mut count = 0;
        for (index, primitive) in self.primitives.iter().enumerate() {
            let mut found = None;
            primitive.shape.cover(area, |x, y, mask| {
                for (at, _) in halves([x, y], mask) {
                    found = found.or((count == number).then_some(at));
                    count += 1;
                }
            });
            if let Some(at) = found {
                return Ok(warp_pixels(primitive, index, at, area, Vec::new()));
            }
        }
        Err(Fault::Draw(format!("its fragments make {count} warps")))
    }

    /// The warp with the pixel `at`, of the primitive that is asked for or the last.
    fn around(&self, area: Rect, at: [i32; 2], primitive: Option<u32>) -> Result<WarpPixels, Fault> {
        let [x, y] = at;
        let covers = |primitive: &ScreenPrimitive| {
            let mut corner = None;
            primitive.shape.cover(area.intersect(pixel(at)), |x, y, mask| {
                halves([x, y], mask).for_each(|(at, _)| corner = corner.or(Some(at)));
            });
            corner
        };
        let found = self.primitives.iter().enumerate();
        let found: Vec<_> = found.filter_map(|(index, one)| Some((index, covers(one)?))).collect();
        let covering: Vec<u32> = found.iter().map(|(index, _)| *index as u32).collect();
        let chosen = match primitive {
            Some(number) => found.iter().find(|(index, _)| *index as u32 == number),
            None => found.last(),
        };
        match (chosen, primitive) {
            (Some(&(index, corner)), _) => {
                Ok(warp_pixels(&self.primitives[index], index, corner, area, covering))
            }
            (None, Some(number)) if !covering.is_empty() => {
                let what = format!("primitive {number} does not cover pixel {x},{y}; these do: {covering:?}");
                Err(Fault::Draw(what))
            }
            (None, _) => Err(Fault::Draw(format!("no primitive covers pixel {x},{y}"))),
        }
    }
}

/// The 8x4 pixels at `at` of a primitive.
fn warp_pixels(
    primitive: &ScreenPrimitive,
    index: usize,
    at: [i32; 2],
    area: Rect,
    covering: Vec<u32>,
) -> WarpPixels {
    WarpPixels { primitive: index as u32, at, lanes: lanes(primitive, at, area), covering }
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
