//! Bands of rows: how the pixels of a draw are shared out among threads.

use rayon::prelude::*;

use crate::memory::Memory;
use crate::shader::Warp;

use crate::draw::fs::{self, BandResult, Coloring, Frame};
use crate::draw::gras::raster::Rect;
use crate::draw::rb::surface::Plane;
use crate::draw::sp::memory::Port;

/// Rows of a band: the unit of work of a thread. Fixed, so that nothing depends on the
/// number of threads.
const BAND_ROWS: i32 = 32;

/// Pixels to shade below which a draw is not worth waking other threads.
const SMALL_DRAW: u64 = 1 << 13;

/// Pixels to fill that take as long as one to shade.
const FILLED_PER_SHADED: u64 = 16;

/// Some rows of a draw.
struct Band<'p> {
    area: Rect,
    planes: Vec<Plane<'p>>,
    /// Indices of the primitives that touch it, ascending.
    primitives: Vec<u32>,
}

/// Draws band by band; a shader that stores sees its fragments in primitive order instead.
pub fn draw(frame: &Frame<'_>, area: Rect, planes: Vec<Plane<'_>>, mem: &mut Memory) -> Vec<BandResult> {
    if frame.state.fragment.stage.stores() {
        let mut planes = planes;
        let all = 0..frame.primitives.len() as u32;
        let port = Port::Exclusive(mem);
        return vec![fs::shade(frame, area, &mut planes, port, &mut frame.warp(), all)];
    }
    let mem = &*mem;
    let work = |warp: &mut Warp, mut band: Band<'_>| {
        let primitives = band.primitives.into_iter();
        fs::shade(frame, band.area, &mut band.planes, Port::Shared(mem), warp, primitives)
    };
    let bands = split(frame, area, planes);
    if bands.len() == 1 || cost(frame, area) < SMALL_DRAW {
        let mut warp = frame.warp();
        return bands.into_iter().map(|band| work(&mut warp, band)).collect();
    }
    bands.into_par_iter().map_init(|| frame.warp(), work).collect()
}

/// How much there is to do, in pixels to shade.
fn cost(frame: &Frame<'_>, area: Rect) -> u64 {
    let pixels: u64 = frame.bounds.iter().map(|bounds| bounds.intersect(area).area()).sum();
    match frame.plan.color {
        Coloring::Shaded => pixels,
        Coloring::None | Coloring::Solid(_) => pixels / FILLED_PER_SHADED,
    }
}

/// Cuts the area into bands that start at multiples of [`BAND_ROWS`], each with its rows
/// of every plane and the primitives that touch it.
fn split<'p>(frame: &Frame<'_>, area: Rect, planes: Vec<Plane<'p>>) -> Vec<Band<'p>> {
    let first = area.y0.div_euclid(BAND_ROWS);
    let count = (area.y1 - 1).div_euclid(BAND_ROWS) - first + 1;
    let mut lists = vec![Vec::new(); count as usize];
    for (index, bounds) in frame.bounds.iter().enumerate() {
        let bounds = bounds.intersect(area);
        if bounds.is_empty() {
            continue;
        }
        let (from, to) = (bounds.y0.div_euclid(BAND_ROWS), (bounds.y1 - 1).div_euclid(BAND_ROWS));
        lists[(from - first) as usize..=(to - first) as usize].iter_mut().for_each(|l| l.push(index as u32));
    }
    let mut rest = planes;
    let mut bands = Vec::with_capacity(lists.len());
    for (i, primitives) in lists.into_iter().enumerate() {
        let end = (first + i as i32 + 1) * BAND_ROWS;
        let (planes, below): (Vec<_>, Vec<_>) = rest.into_iter().map(|plane| plane.split_above(end)).unzip();
        rest = below;
        let area = Rect { y0: area.y0.max(end - BAND_ROWS), y1: area.y1.min(end), ..area };
        bands.push(Band { area, planes, primitives });
    }
    bands
}
