//! Bands of rows: how the pixels of a draw are shared out among threads.

use crate::budget::Budget;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::PixelRows;
use crate::draw::sp::launch::{Launched, Threads, Worker, launch};
use crate::draw::vpc::planes::FrameState;
use crate::memory::Memory;

use super::band::BandRun;
use super::sampled::SampledRun;
use super::{Coloring, FragmentDraw, Plan};

/// Rows of a band, which is a job. Fixed, so that nothing depends on the number of threads.
pub(super) const BAND_ROWS: i32 = 32;

/// Pixels to shade below which a draw is not worth waking other threads.
pub(super) const SMALL_DRAW: u64 = 1 << 13;

/// Pixels to fill that take as long as one to shade.
const FILLED_PER_SHADED: u64 = 16;

/// Pixels to shade that take as long as it takes to begin with a primitive.
const SHADED_PER_PRIMITIVE: u64 = 16;

/// Some rows of a draw, or of several, and what touches them.
pub(super) struct Band<'p, T> {
    pub area: Rect,
    pub surfaces: Vec<PixelRows<'p>>,
    pub entries: Vec<T>,
}

impl FragmentDraw<'_> {
    /// Draws within `area`, band by band; a shader that stores sees its fragments in primitive order
    /// instead. Gives the samples that passed in each band.
    pub fn shade(
        &self,
        area: Rect,
        surfaces: Vec<PixelRows<'_>>,
        memory: &mut Memory,
        budget: &mut Budget,
    ) -> Launched<u64> {
        let stage = &self.state.fragment.stage;
        let bands = match stage.stores() {
            true => {
                let entries = (0..self.primitives.len() as u32).collect();
                vec![Band { area, surfaces, entries }]
            }
            false => cut(area, surfaces, self.bounds.iter().map(|bounds| bounds.intersect(area)).zip(0..)),
        };
        let threads = if self.cost(area) < SMALL_DRAW { Threads::This } else { Threads::All };
        let draw = |worker: &mut Worker<'_>, mut band: Band<'_, u32>| {
            self.band(&mut band.surfaces, worker, band.area, band.entries)
        };
        launch(stage, memory, budget, threads, bands.into_iter(), draw)
    }

    /// Draws the primitives `order` (indices, ascending) within `area`. Gives the samples that passed.
    pub(super) fn band(
        &self,
        surfaces: &mut [PixelRows<'_>],
        worker: &mut Worker<'_>,
        area: Rect,
        order: impl IntoIterator<Item = u32>,
    ) -> u64 {
        match self.state.targets.samples.count() {
            1 => {
                let (source, frame) = (self.source(), FrameState::default());
                BandRun::new(self, &source, surfaces, worker, &frame).run(area, order)
            }
            _ => SampledRun::new(self, surfaces, worker).run(area, order),
        }
    }

    /// How much there is to do, in pixels to shade.
    fn cost(&self, area: Rect) -> u64 {
        Visible::of(self.bounds, area).map_or(0, |visible| self.plan.cost(&visible))
    }
}

/// What a draw can change.
#[derive(Clone, Copy)]
pub struct Visible {
    /// What holds all of it.
    pub area: Rect,
    /// Primitives.
    pub primitives: u64,
    /// Pixels of all their bounds.
    pub pixels: u64,
}

impl Visible {
    /// Of primitives with these `bounds`, of which no more than what is `inside` can be seen. `None` when there is
    /// nothing.
    pub fn of(bounds: &[Rect], inside: Rect) -> Option<Self> {
        let mut visible = Self { area: Rect::NOTHING, primitives: 0, pixels: 0 };
        for bounds in bounds {
            let touched = bounds.intersect(inside);
            if !touched.is_empty() {
                visible.area = visible.area.union(touched);
                visible.primitives += 1;
                visible.pixels += touched.area();
            }
        }
        (visible.primitives > 0).then_some(visible)
    }
}

impl Plan {
    /// How much there is to do, in pixels to shade.
    pub(super) fn cost(&self, visible: &Visible) -> u64 {
        let pixels = match self.color {
            Coloring::Shaded => visible.pixels,
            Coloring::None | Coloring::Solid(_) => visible.pixels / FILLED_PER_SHADED,
        };
        pixels + visible.primitives * SHADED_PER_PRIMITIVE
    }
}

/// Cuts `area` into bands that start at multiples of [`BAND_ROWS`], each with its rows of every surface
/// and, in their order, those of `entries` whose rectangle touches it.
pub(super) fn cut<'p, T: Copy>(
    area: Rect,
    surfaces: Vec<PixelRows<'p>>,
    entries: impl Iterator<Item = (Rect, T)>,
) -> Vec<Band<'p, T>> {
    let first = area.y0.div_euclid(BAND_ROWS);
    let number = |y: i32| (y.div_euclid(BAND_ROWS) - first) as usize;
    let mut lists = vec![Vec::new(); number(area.y1 - 1) + 1];
    for (bounds, entry) in entries.filter(|(bounds, _)| !bounds.is_empty()) {
        let touched = number(bounds.y0)..=number(bounds.y1 - 1);
        lists[touched].iter_mut().for_each(|list| list.push(entry));
    }
    let mut rest = surfaces;
    let mut bands = Vec::with_capacity(lists.len());
    for (i, entries) in lists.into_iter().enumerate() {
        let end = (first + i as i32 + 1) * BAND_ROWS;
        let split = rest.into_iter().map(|surface| surface.split_above(end));
        let (surfaces, below): (Vec<_>, Vec<_>) = split.unzip();
        rest = below;
        let area = Rect { y0: area.y0.max(end - BAND_ROWS), y1: area.y1.min(end), ..area };
        bands.push(Band { area, surfaces, entries });
    }
    bands
}
