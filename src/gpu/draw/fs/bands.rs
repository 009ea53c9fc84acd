//! Bands of rows: divides the pixels of a draw among threads.

use multiversion::multiversion;

use crate::budget::Budget;
use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::{CELL, numbers};
use crate::draw::rb::surface::PixelRows;
use crate::draw::sp::launch::{Launched, Threads, Worker, launch};
use crate::limits::{FILLED_PER_SHADED, RECTS_TOGETHER, SHADED_PER_PRIMITIVE, SMALL_DRAW};
use crate::memory::Memory;

use super::band::{BandRun, Frames};
use super::sampled::SampledRun;
use super::{Coloring, FragmentDraw, Plan};

/// Rows of a band. A band is one job and one row of cells. The size is fixed, so that results do not depend
/// on the number of threads.
pub const BAND_ROWS: i32 = CELL;

/// A band of rows, and what touches it.
pub struct Band<'p, 'l, T> {
    /// Its pixels.
    pub area: Rect,
    /// Its rows of every surface.
    pub surfaces: Vec<PixelRows<'p>>,
    /// What touches it.
    pub list: &'l List<T>,
}

impl FragmentDraw<'_> {
    /// Draws within `area`, band by band. A shader that stores gets its fragments in primitive order instead.
    /// Returns the number of samples that passed in each band.
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

    /// Draws the primitives `order` (indices, ascending) within `area`. Returns the number of samples that
    /// passed.
    pub fn band(
        &self,
        surfaces: &mut [PixelRows<'_>],
        worker: &mut Worker<'_>,
        area: Rect,
        order: impl Iterator<Item = u32> + Clone,
    ) -> u64 {
        match self.state.targets.samples.count() {
            1 => {
                let (source, frames) = (self.source(), Frames::default());
                BandRun::new(self, &source, surfaces, worker, &frames).run(area, order)
            }
            _ => SampledRun::new(self, surfaces, worker).run(area, order),
        }
    }

    /// Returns the cost within `area`, in pixels to shade.
    fn cost(&self, area: Rect) -> u64 {
        Visible::of(self.bounds, area).map_or(0, |visible| self.plan.cost(&visible))
    }
}

/// The part of the screen that a draw can change.
#[derive(Clone, Copy)]
pub struct Visible {
    /// Rectangle around all of it.
    pub area: Rect,
    /// Number of primitives.
    pub primitives: u64,
    /// Sum of the pixels of their bounds.
    pub pixels: u64,
}

impl Visible {
    /// Computes the part of primitives with these `bounds` that is `inside`. `None` if it is empty.
    pub fn of(bounds: &[Rect], inside: Rect) -> Option<Self> {
        let visible = visible(bounds, inside);
        (visible.primitives > 0).then_some(visible)
    }
}

/// Has no branches, because it reads all primitives of a draw for each tile.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn visible(bounds: &[Rect], inside: Rect) -> Visible {
    let (mut area, mut primitives, mut pixels) = (Rect::NOTHING, 0, 0);
    for bounds in bounds {
        let touched = bounds.intersect(inside);
        let is_seen = !touched.is_empty();
        area = area.union(if is_seen { touched } else { Rect::NOTHING });
        primitives += u64::from(is_seen);
        pixels += touched.area();
    }
    Visible { area, primitives, pixels }
}

/// Calls `f` with the index of each rectangle of `bounds` that overlaps `area`, and with the overlap.
pub fn each_touching(bounds: &[Rect], area: Rect, mut f: impl FnMut(u32, Rect)) {
    for (first, bounds) in (0..).step_by(RECTS_TOGETHER).zip(bounds.chunks(RECTS_TOGETHER)) {
        let mut rest = touching(bounds, area);
        while rest != 0 {
            let number = rest.trailing_zeros();
            rest &= rest - 1;
            f(first + number, bounds[number as usize].intersect(area));
        }
    }
}

/// Returns which of up to [`RECTS_TOGETHER`] rectangles overlap `area`, one bit each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn touching(bounds: &[Rect], area: Rect) -> u64 {
    let mut are = [0; RECTS_TOGETHER];
    for (is, bounds) in are.iter_mut().zip(bounds) {
        *is = i32::from(!bounds.intersect(area).is_empty());
    }
    are.iter().enumerate().fold(0, |all, (bit, is)| all | (*is as u64) << bit)
}

impl Plan {
    /// Returns the cost of the visible part, in pixels to shade.
    pub fn cost(&self, visible: &Visible) -> u64 {
        visible.pixels / self.each() as u64 + visible.primitives * SHADED_PER_PRIMITIVE
    }

    /// Returns the work per pixel.
    pub fn each(&self) -> Each {
        match (&self.color, &self.copy) {
            (Coloring::Shaded, None) => Each::Shaded,
            (Coloring::None | Coloring::Solid(_), _) | (_, Some(_)) => Each::Filled,
        }
    }
}

/// Entries that touch each band of an area, in order, with the cost of each band.
pub struct Lists<T> {
    area: Rect,
    /// Number of the first band.
    first: i32,
    bands: Vec<List<T>>,
}

/// Entries that touch one band.
pub struct List<T> {
    /// In order.
    pub entries: Vec<T>,
    /// Cost of the band, in pixels to shade.
    pub cost: u64,
}

/// Work per pixel. The value is the number of pixels that take as long as one shaded pixel.
#[derive(Clone, Copy)]
pub enum Each {
    /// The shader runs.
    Shaded = 1,
    /// Filled or copied.
    Filled = FILLED_PER_SHADED as isize,
}

impl<T: Copy> Lists<T> {
    /// Creates empty lists for the bands of `area`, which start at multiples of [`BAND_ROWS`].
    pub fn new(area: Rect) -> Self {
        let first = area.y0.div_euclid(BAND_ROWS);
        let count = (area.y1 - 1).div_euclid(BAND_ROWS) - first + 1;
        let bands = (0..count).map(|_| List { entries: Vec::new(), cost: 0 }).collect();
        Self { area, first, bands }
    }

    /// Adds `entry` to the bands that `bounds` touch, unless `bounds` is empty.
    #[inline]
    pub fn add(&mut self, bounds: Rect, entry: T, each: Each) {
        if bounds.is_empty() {
            return;
        }
        let number = |y: i32| (y.div_euclid(BAND_ROWS) - self.first) as usize;
        let touched = number(bounds.y0)..=number(bounds.y1 - 1);
        let shaded = match each {
            Each::Shaded => bounds.area(),
            Each::Filled => bounds.area() / FILLED_PER_SHADED,
        };
        // Most entries touch one band, and a division takes longer than the rest.
        let of_each = match (touched.end() - touched.start() + 1) as u64 {
            1 => shaded,
            bands => shaded / bands,
        };
        for band in &mut self.bands[touched] {
            band.entries.push(entry);
            band.cost += of_each + SHADED_PER_PRIMITIVE;
        }
    }

    /// Appends the entries of `more`, which has the same area, band by band.
    pub fn followed_by(mut self, more: Self) -> Self {
        for (band, mut more) in self.bands.iter_mut().zip(more.bands) {
            band.cost += more.cost;
            match band.entries.is_empty() {
                true => band.entries = more.entries,
                false => band.entries.append(&mut more.entries),
            }
        }
        self
    }

    /// Returns the bands, each with its rows of every surface.
    pub fn cut<'p>(&self, surfaces: Vec<PixelRows<'p>>) -> impl Iterator<Item = Band<'p, '_, T>> {
        let rows = cut_rows(self.area, surfaces);
        rows.zip(&self.bands).map(|((area, surfaces), list)| Band { area, surfaces, list })
    }

    /// Returns the entries of each band.
    pub fn bands(&self) -> impl Iterator<Item = &List<T>> {
        self.bands.iter()
    }

    /// Returns the entries that touch band `number`. `None` if no entry can.
    pub fn band(&self, number: i32) -> Option<&List<T>> {
        self.bands.get(usize::try_from(number - self.first).ok()?)
    }
}

/// Divides the rows of surfaces within `area` into bands. Returns the area of each band, with its rows.
pub fn cut_rows(
    area: Rect,
    surfaces: Vec<PixelRows<'_>>,
) -> impl Iterator<Item = (Rect, Vec<PixelRows<'_>>)> {
    let mut rest = surfaces;
    numbers(area.y0..area.y1).map(move |number| {
        let end = (number + 1) * BAND_ROWS;
        let split = std::mem::take(&mut rest).into_iter().map(|surface| surface.split_above(end));
        let (surfaces, below): (Vec<_>, Vec<_>) = split.unzip();
        rest = below;
        (Rect { y0: area.y0.max(end - BAND_ROWS), y1: area.y1.min(end), ..area }, surfaces)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const AREA: Rect = Rect { x0: -16, y0: -40, x1: 100, y1: 90 };

    /// Returns rectangles in and around the area, some of them empty.
    fn rectangles(count: usize) -> Vec<Rect> {
        let mut seed = 7u32;
        let mut number = |from: i32, to: i32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            from + ((seed >> 8) % (to - from) as u32) as i32
        };
        let mut rectangle = |_| {
            let (x0, y0) = (number(-60, 140), number(-80, 130));
            Rect { x0, y0, x1: x0 + number(-3, 50), y1: y0 + number(-3, 90) }
        };
        let mut all: Vec<Rect> = (0..count).map(&mut rectangle).collect();
        all[0] = Rect::NOTHING;
        all
    }

    /// Returns the rectangles that overlap the area, with the overlap.
    fn seen(all: &[Rect]) -> Vec<(u32, Rect)> {
        let inside = (0..).zip(all).map(|(number, bounds)| (number, bounds.intersect(AREA)));
        inside.filter(|(_, inside)| !inside.is_empty()).collect()
    }

    #[test]
    fn visible_primitives_are_those_that_touch_the_area() {
        for count in [1, 63, 64, 65, 300] {
            let all = rectangles(count);
            let want = seen(&all);
            let mut got = Vec::new();
            each_touching(&all, AREA, |number, inside| got.push((number, inside)));
            assert_eq!(got, want, "{count}");
            let Some(visible) = Visible::of(&all, AREA) else {
                assert!(want.is_empty(), "{count}");
                continue;
            };
            assert_eq!(visible.primitives, want.len() as u64);
            assert_eq!(visible.pixels, want.iter().map(|(_, inside)| inside.area()).sum::<u64>());
            let union = want.iter().fold(Rect::NOTHING, |all, (_, inside)| all.union(*inside));
            assert_eq!(visible.area, union);
        }
        assert!(Visible::of(&[Rect::NOTHING, AREA], Rect::NOTHING).is_none());
        // Rectangles that overlap the area only in columns or only in rows do not count.
        let seen = Rect { x0: 10, y0: 10, x1: 12, y1: 12 };
        let (below, beside) = (Rect { y0: 200, y1: 210, ..AREA }, Rect { x0: 200, x1: 210, ..AREA });
        assert_eq!(Visible::of(&[below, seen, beside], AREA).map(|visible| visible.area), Some(seen));
    }

    #[test]
    fn bands_list_what_touches_them_in_its_order() {
        let all = seen(&rectangles(300));
        let mut lists = Lists::new(AREA);
        all.iter().for_each(|(number, inside)| lists.add(*inside, *number, Each::Shaded));
        lists.add(Rect::NOTHING, 1000, Each::Shaded);
        let bands: Vec<Band<'_, '_, u32>> = lists.cut(Vec::new()).collect();
        let rows: Vec<[i32; 2]> = bands.iter().map(|band| [band.area.y0, band.area.y1]).collect();
        assert_eq!(rows, [[-40, -32], [-32, 0], [0, 32], [32, 64], [64, 90]]);
        for band in bands {
            let touching = all.iter().filter(|(_, inside)| !inside.intersect(band.area).is_empty());
            let want: Vec<u32> = touching.map(|(number, _)| *number).collect();
            assert_eq!(band.list.entries, want);
        }
    }

    #[test]
    fn a_band_costs_what_is_drawn_in_it() {
        let cost = |bounds: Rect, each: Each| {
            let mut lists = Lists::new(Rect { x0: 0, y0: 0, x1: 64, y1: 96 });
            lists.add(bounds, (), each);
            lists.cut(Vec::new()).map(|band| band.list.cost).collect::<Vec<u64>>()
        };
        let of_two = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };
        let [begun, pixels] = [SHADED_PER_PRIMITIVE, 64 * BAND_ROWS as u64];
        assert_eq!(cost(of_two, Each::Shaded), [begun + pixels, begun + pixels, 0]);
        let of_one = Rect { y0: 40, y1: 50, ..of_two };
        assert_eq!(cost(of_one, Each::Shaded), [0, begun + 640, 0]);
        let filled = begun + pixels / FILLED_PER_SHADED;
        assert_eq!(cost(of_two, Each::Filled), [filled, filled, 0]);
    }
}
