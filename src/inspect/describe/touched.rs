//! Records what draws did to each pixel of a picture: the joined maps of single runs.

use std::sync::Arc;

use super::canvas::Attachment;
use super::draw::{Draw, Tile};
use a4emu_gpu::budget::Work;
use a4emu_gpu::draw::fs::reasons::{Plane, Reasons};
use a4emu_gpu::draw::gras::raster::Rect;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;

/// Maximum number of pixels of a map.
const MAX_PIXELS: u64 = 1 << 25;

impl Draw {
    /// A map that records what this run does to the pixels of `attachment` that it can change. None if it
    /// has no fragments, or if the budget is used up.
    pub fn map(&self, gpu: &mut Gpu, attachment: &Attachment, planes: &[Plane]) -> Option<Arc<Reasons>> {
        self.map_in(gpu, attachment, planes, None)
    }

    /// As [`Draw::map`]. The map `spare`, which has the same `planes`, is used again if it has the same pixels.
    pub fn map_in(
        &self,
        gpu: &mut Gpu,
        attachment: &Attachment,
        planes: &[Plane],
        spare: Option<Arc<Reasons>>,
    ) -> Option<Arc<Reasons>> {
        let area = attachment.area;
        let pixels = u64::from(area.width) * u64::from(area.height);
        if self.resolve.is_some() || pixels == 0 || pixels > MAX_PIXELS {
            return None;
        }
        let origin = self.map_origin();
        let [x0, y0] =
            [area.x.saturating_sub(origin[0]), area.y.saturating_sub(origin[1])].map(u32::cast_signed);
        let rect = Rect { x0, y0, x1: x0 + area.width as i32, y1: y0 + area.height as i32 };
        let mut spare = spare.filter(|spare| spare.area() == rect);
        let cleared = spare.as_ref().map_or(pixels, |spare| spare.touched_pixels());
        if !gpu.budget.take(Work::Copy16, cleared / 4 * (1 + planes.len() as u64)) {
            return None;
        }
        if let Some(map) = spare.as_mut().and_then(Arc::get_mut) {
            map.clear();
            return spare;
        }
        Some(Arc::new(Reasons::new(rect, planes)))
    }

    /// Position of the map's pixel 0, 0 in the picture. A restore draws its tile as if the tile began there.
    pub fn map_origin(&self) -> [u32; 2] {
        match (self.pass, self.tile) {
            (Some(Pass::Restore), Some(tile)) => [tile.x, tile.y],
            _ => [0; 2],
        }
    }
}

/// What happened to each pixel of a picture, row by row.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Touched {
    /// Columns and rows.
    pub size: [u32; 2],
    /// Reason bits of each pixel. See [`a4emu_gpu::draw::fs::reasons`].
    pub bits: Vec<u8>,
    /// Number of fragments that covered each pixel, if recorded.
    pub fragments: Vec<u32>,
    /// Cost of each pixel in parts of a warp instruction
    /// ([`COST_UNIT`](a4emu_gpu::draw::fs::reasons::COST_UNIT)), if recorded.
    pub cost: Vec<u64>,
}

impl Touched {
    /// A picture that no draw has touched.
    pub fn new(size: [u32; 2]) -> Self {
        let pixels = size[0] as usize * size[1] as usize;
        Self { size, bits: vec![0; pixels], fragments: vec![0; pixels], cost: vec![0; pixels] }
    }

    /// Adds the content of `map`, whose pixel 0, 0 is at `origin`. Pixels outside the picture are ignored.
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

    /// Clears the record of the pixels of `area`.
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
