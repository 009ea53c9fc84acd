//! Bands of rows: how the pixels of a draw are shared out among threads.

use multiversion::multiversion;

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
pub(super) struct Band<'p, 'l, T> {
    pub area: Rect,
    pub surfaces: Vec<PixelRows<'p>>,
    pub list: &'l List<T>,
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
        if stage.stores() {
            let all = |worker: &mut Worker<'_>, mut surfaces: Vec<PixelRows<'_>>| {
                self.band(&mut surfaces, worker, area, 0..self.primitives.len() as u32)
            };
            return launch(stage, memory, budget, Threads::This, [surfaces].into_iter(), all);
        }
        let mut lists = Lists::new(area);
        each_touching(self.bounds, area, |number, touched| lists.add(touched, number, self.plan.each()));
        let threads = if self.cost(area) < SMALL_DRAW { Threads::This } else { Threads::All };
        let draw = |worker: &mut Worker<'_>, mut band: Band<'_, '_, u32>| {
            self.band(&mut band.surfaces, worker, band.area, band.list.entries.iter().copied())
        };
        launch(stage, memory, budget, threads, lists.cut(surfaces), draw)
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
        let visible = visible(bounds, inside);
        (visible.primitives > 0).then_some(visible)
    }
}

/// A loop without branches, because it sees all primitives of a draw for each tile.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn visible(bounds: &[Rect], inside: Rect) -> Visible {
    let Rect { mut x0, mut y0, mut x1, mut y1 } = Rect::NOTHING;
    let (mut primitives, mut pixels) = (0u32, 0);
    for bounds in bounds {
        let touched = bounds.intersect(inside);
        let is_seen = (touched.x0 < touched.x1) & (touched.y0 < touched.y1);
        let of = |from: i32, to: i32| if is_seen { to.wrapping_sub(from) as u32 } else { 0 };
        x0 = x0.min(if is_seen { touched.x0 } else { Rect::NOTHING.x0 });
        y0 = y0.min(if is_seen { touched.y0 } else { Rect::NOTHING.y0 });
        x1 = x1.max(if is_seen { touched.x1 } else { Rect::NOTHING.x1 });
        y1 = y1.max(if is_seen { touched.y1 } else { Rect::NOTHING.y1 });
        primitives += u32::from(is_seen);
        pixels += u64::from(of(touched.x0, touched.x1)) * u64::from(of(touched.y0, touched.y1));
    }
    Visible { area: Rect { x0, y0, x1, y1 }, primitives: primitives.into(), pixels }
}

/// Calls `f` with the number of each of `bounds` that has pixels of `area`, and with these.
pub(super) fn each_touching(bounds: &[Rect], area: Rect, mut f: impl FnMut(u32, Rect)) {
    for (first, bounds) in (0..).step_by(RECTS).zip(bounds.chunks(RECTS)) {
        let mut rest = touching(bounds, area);
        while rest != 0 {
            let number = rest.trailing_zeros();
            rest &= rest - 1;
            f(first + number, bounds[number as usize].intersect(area));
        }
    }
}

/// Rectangles that are looked at together.
const RECTS: usize = 64;

/// Which of up to [`RECTS`] rectangles have pixels of `area`, a bit each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn touching(bounds: &[Rect], area: Rect) -> u64 {
    let mut are = [0; RECTS];
    for (is, bounds) in are.iter_mut().zip(bounds) {
        *is = i32::from(!bounds.intersect(area).is_empty());
    }
    are.iter().enumerate().fold(0, |all, (bit, is)| all | (*is as u64) << bit)
}

impl Plan {
    /// How much there is to do, in pixels to shade.
    pub(super) fn cost(&self, visible: &Visible) -> u64 {
        visible.pixels / self.each() as u64 + visible.primitives * SHADED_PER_PRIMITIVE
    }

    /// What is done with each pixel.
    pub(super) fn each(&self) -> Each {
        match self.color {
            Coloring::Shaded => Each::Shaded,
            Coloring::None | Coloring::Solid(_) => Each::Filled,
        }
    }
}

/// What touches each band of an area, in its order, and how much there is to do.
pub(super) struct Lists<T> {
    area: Rect,
    /// Number of the first band.
    first: i32,
    bands: Vec<List<T>>,
}

/// What touches a band.
pub(super) struct List<T> {
    pub entries: Vec<T>,
    /// How much there is to do, in pixels to shade.
    pub cost: u64,
}

/// Pixels to a pixel that is shaded, of what somebody does with them.
#[derive(Clone, Copy)]
pub(super) enum Each {
    Shaded = 1,
    Filled = FILLED_PER_SHADED as isize,
}

impl<T: Copy> Lists<T> {
    /// Of the bands of `area`, which start at multiples of [`BAND_ROWS`]. Nothing touches them yet.
    pub fn new(area: Rect) -> Self {
        let first = area.y0.div_euclid(BAND_ROWS);
        let count = (area.y1 - 1).div_euclid(BAND_ROWS) - first + 1;
        let bands = (0..count).map(|_| List { entries: Vec::new(), cost: 0 }).collect();
        Self { area, first, bands }
    }

    /// Adds `entry` to the bands that `bounds` touch, if they are not empty.
    #[inline]
    pub fn add(&mut self, bounds: Rect, entry: T, each: Each) {
        if bounds.is_empty() {
            return;
        }
        let number = |y: i32| (y.div_euclid(BAND_ROWS) - self.first) as usize;
        let touched = number(bounds.y0)..=number(bounds.y1 - 1);
        let of_each = bounds.area() / each as u64 / (touched.end() - touched.start() + 1) as u64;
        for band in &mut self.bands[touched] {
            band.entries.push(entry);
            band.cost += of_each + SHADED_PER_PRIMITIVE;
        }
    }

    /// The bands, each with its rows of every surface.
    pub fn cut<'p>(&self, surfaces: Vec<PixelRows<'p>>) -> impl Iterator<Item = Band<'p, '_, T>> {
        let mut rest = surfaces;
        (self.first + 1..).zip(&self.bands).map(move |(next, list)| {
            let end = next * BAND_ROWS;
            let split = std::mem::take(&mut rest).into_iter().map(|surface| surface.split_above(end));
            let (surfaces, below): (Vec<_>, Vec<_>) = split.unzip();
            rest = below;
            let area = Rect { y0: self.area.y0.max(end - BAND_ROWS), y1: self.area.y1.min(end), ..self.area };
            Band { area, surfaces, list }
        })
    }
}
