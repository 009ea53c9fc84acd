//! What draws did to each pixel of a picture: the maps of single runs, joined.

use std::sync::Arc;

use super::canvas::Attachment;
use super::draw::{Draw, Tile};
use a4emu_gpu::budget::Work;
use a4emu_gpu::draw::fs::reasons::{Plane, Reasons};
use a4emu_gpu::draw::gras::raster::Rect;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;

/// Pixels of a map at most.
const MAX_PIXELS: u64 = 1 << 25;

impl Draw {
    /// A map for what becomes of the pixels of `attachment`, which the run of this draw can change; nothing where it
    /// has no fragments, or the budget does not pay for it.
    pub fn map(&self, gpu: &mut Gpu, attachment: &Attachment, planes: &[Plane]) -> Option<Arc<Reasons>> {
        let area = attachment.area;
        let pixels = u64::from(area.width) * u64::from(area.height);
        if self.resolve.is_some() || pixels == 0 || pixels > MAX_PIXELS {
            return None;
        }
        let origin = self.map_origin();
        let [x0, y0] =
            [area.x.saturating_sub(origin[0]), area.y.saturating_sub(origin[1])].map(u32::cast_signed);
        let rect = Rect { x0, y0, x1: x0 + area.width as i32, y1: y0 + area.height as i32 };
        let units = pixels / 4 * (1 + planes.len() as u64);
        gpu.budget.take(Work::Copy16, units).then(|| Arc::new(Reasons::new(rect, planes)))
    }

    /// Where pixel 0, 0 of a map of this draw is in the picture: a restore draws its tile as if that began there.
    pub fn map_origin(&self) -> [u32; 2] {
        match (self.pass, self.tile) {
            (Some(Pass::Restore), Some(tile)) => [tile.x, tile.y],
            _ => [0; 2],
        }
    }
}

/// What became of each pixel of a picture, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Columns and rows.
    pub size: [u32; 2],
    /// What happened: see [`a4emu_gpu::draw::fs::reasons`].
    pub bits: Vec<u8>,
    /// How many fragments covered it, if that was noted.
    pub fragments: Vec<u32>,
    /// What they cost, in parts of a warp instruction ([`COST_UNIT`](a4emu_gpu::draw::fs::reasons::COST_UNIT)), if that was noted.
    pub cost: Vec<u64>,
}

impl Touched {
    /// A picture that nothing has touched.
    pub fn new(size: [u32; 2]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        Self { size, bits: vec![0; pixels], fragments: vec![0; pixels], cost: vec![0; pixels] }
    }

    /// Adds what `map` holds, whose pixel 0, 0 is at `origin`; what lies outside is left out.
    pub fn add(&mut self, map: &Reasons, origin: [u32; 2]) {
        let area = map.area();
        let columns = i64::from(area.x0)..i64::from(area.x1);
        let pixels = (i64::from(area.y0)..).flat_map(|y| columns.clone().map(move |x| [x, y]));
        let mut bits = map.rows().flatten();
        let (mut fragments, mut cost) = (map.fragments(), map.cost());
        for ([x, y], bits) in pixels.zip(&mut bits) {
            let (count, spent) = (fragments.next().unwrap_or(0), cost.next().unwrap_or(0));
            if bits != 0
                && let Some(index) = self.index(x + i64::from(origin[0]), y + i64::from(origin[1]))
            {
                self.bits[index] |= bits;
                self.fragments[index] = self.fragments[index].saturating_add(count);
                self.cost[index] = self.cost[index].saturating_add(spent);
            }
        }
    }

    /// Forgets what became of the pixels of `area`.
    pub fn clear(&mut self, area: Tile) {
        let [x, y, width, height] = [area.x, area.y, area.width, area.height].map(i64::from);
        for [x, y] in (y..y + height).flat_map(|y| (x..x + width).map(move |x| [x, y])) {
            if let Some(index) = self.index(x, y) {
                (self.bits[index], self.fragments[index], self.cost[index]) = (0, 0, 0);
            }
        }
    }

    fn index(&self, x: i64, y: i64) -> Option<usize> {
        let [width, height] = self.size.map(i64::from);
        let is_inside = (0..width).contains(&x) && (0..height).contains(&y);
        is_inside.then(|| usize::try_from(y * width + x).ok()).flatten()
    }
}
