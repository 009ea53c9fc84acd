//! Inspection of one warp of fragments before its first instruction, for a debugger.

use crate::draw::gras::quad::{quad_order, quads};
use crate::draw::gras::raster::{Rect, Shape};
use crate::draw::gras::samples::{Coverage, MAX_SAMPLES};
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::sp::environment::StageEnvironment;
use crate::draw::sp::launch::Worker;
use crate::draw::sp::memory::{GpuMemory, ShaderMemory};
use crate::draw::vpc::interpolate::{Source, WarpQuads};
use crate::fault::Fault;
use crate::memory::Memory;
use a4emu_shader::{LANES, Warp};

use super::FragmentDraw;
use super::band::{enter, lanes_of_quads};
use super::sampled::{any, enter_sampled};
use super::state::Rate;
use super::tap::{Caught, Fragment, Wanted};

/// Selects a warp of a draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhichWarp {
    /// The n-th 8x4 block that a primitive touches, counted over the draw.
    Warp(u32),
    /// The warp around a pixel.
    Pixel {
        /// Column and row.
        at: [i32; 2],
        /// Number of the primitive; otherwise the last one that covers the pixel.
        primitive: Option<u32>,
        /// Sample to select, if the shader runs for each; otherwise the first covered one.
        sample: Option<usize>,
    },
}

impl WhichWarp {
    /// Returns whether the warp can overlap `area`.
    pub fn is_inside(self, area: Rect) -> bool {
        match self {
            Self::Warp(_) => true,
            Self::Pixel { at, .. } => !area.intersect(pixel(at)).is_empty(),
        }
    }
}

/// Returns the pixel at (x, y) as a rectangle.
fn pixel([x, y]: [i32; 2]) -> Rect {
    Rect { x0: x, y0: y, x1: x + 1, y1: y + 1 }
}

/// The pixels of a warp: an 8x4 block of one primitive, or the quads that a draw with stores puts together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WarpPixels {
    /// Number of the primitive in the draw. With several, that of the selected fragment, or of the first
    /// quad.
    pub primitive: u32,
    /// Index of the primitive, or of a piece of it, after set-up.
    index: usize,
    /// The first pixel of each quad.
    quads: Vec<[i32; 2]>,
    /// Covered lanes of each sample, four to a quad.
    covered: Coverage<u32>,
    /// The shaded sample, if the shader runs for each sample.
    pub sample: Option<usize>,
    /// All primitives that cover the selected pixel.
    pub covering: Vec<u32>,
}

/// A primitive: its index after set-up, its number in the draw, and the first pixel of an 8x4 block that it
/// covers.
struct Piece(usize, u32, [i32; 2]);

impl WarpPixels {
    /// Returns the lane of the chosen pixel.
    pub fn lane_of(&self, chosen: WhichWarp) -> Option<usize> {
        match chosen {
            WhichWarp::Warp(_) => None,
            WhichWarp::Pixel { at, .. } => (0..LANES).find(|lane| self.pixel(*lane) == Some(at)),
        }
    }

    /// Returns the pixel of `lane`, if it has one.
    pub fn pixel(&self, lane: usize) -> Option<[i32; 2]> {
        let ([x, y], corner) = (self.quads.get(lane / 4)?, lane as i32 % 4);
        Some([x + corner % 2, y + corner / 2])
    }
}

impl FragmentDraw<'_> {
    /// Passes the warp of the chosen pixels of `area`, with its inputs, to `look`. Depth and stencil tests do
    /// not run. `numbers` has the number in the draw of each primitive after set-up.
    ///
    /// # Errors
    /// A fault when the draw covers no such pixels.
    pub fn inspect(
        &self,
        area: Rect,
        chosen: WhichWarp,
        numbers: &[u32],
        memory: &mut Memory,
        look: impl FnOnce(WarpPixels, Warp, StageEnvironment<'_, '_, '_>),
    ) -> Result<(), Fault> {
        let pixels = match chosen {
            WhichWarp::Warp(number) => self.nth(area, number, numbers),
            WhichWarp::Pixel { at, primitive, .. } => self.around(area, at, primitive, numbers),
        }?;
        let pixels = self.of_sample(pixels, chosen)?;
        let quads = quads(pixels.index as u32, pixels.quads[0], any(pixels.covered));
        let source = self.source();
        let pieces = WarpQuads::new(&quads, &source);
        let mut worker = Worker::new(&self.state.fragment.stage, GpuMemory::ReadWrite(memory));
        let lanes = lanes_of_quads(&quads);
        let (inputs, samples) = (&self.state.fragment.inputs, &self.state.targets.samples);
        worker.start(lanes, |warp, _| match samples.count() {
            1 => enter(inputs, warp, &pieces, &pieces.weights(), lanes.live),
            _ => enter_sampled(inputs, warp, &pieces, samples, pixels.covered, pixels.sample),
        });
        let Worker { warp, mut memory, .. } = worker;
        look(pixels, warp, StageEnvironment { memory: &mut memory, quads: Some(&pieces) });
        Ok(())
    }

    /// Returns the request that finds the chosen warp while a draw with stores runs, and its pixels as far as
    /// known.
    ///
    /// # Errors
    /// A fault when the draw covers no such pixels.
    pub fn tap_for(
        &self,
        area: Rect,
        chosen: WhichWarp,
        numbers: &[u32],
    ) -> Result<(Option<WarpPixels>, Wanted), Fault> {
        let (at, primitive) = match chosen {
            WhichWarp::Warp(number) => return Ok((None, Wanted::Warp(number))),
            WhichWarp::Pixel { at, primitive, .. } => (at, primitive),
        };
        let pixels = self.of_sample(self.around(area, at, primitive, numbers)?, chosen)?;
        let vertices = self.primitives[pixels.index].vertices;
        let here = area.intersect(pixel(at));
        let is_like_it = |primitive: &&ScreenPrimitive| {
            let mut is_covered = false;
            self.cover(&primitive.shape, here, |_, _| is_covered = true);
            primitive.vertices == vertices && is_covered
        };
        let earlier = self.primitives[..pixels.index].iter().filter(is_like_it).count() as u32;
        let sample = pixels.sample;
        Ok((Some(pixels), Wanted::Fragment(Fragment { at, vertices, earlier, sample })))
    }

    /// Passes a caught warp to `look`. `known` has its pixels as far as they are known.
    pub fn inspect_caught(
        &self,
        known: Option<WarpPixels>,
        numbers: &[u32],
        caught: Caught,
        look: impl FnOnce(WarpPixels, Warp, StageEnvironment<'_, '_, '_>),
    ) {
        let Caught { warp, mut memory, own, quads, primitives, sample } = caught;
        let is_first =
            |one: &&ScreenPrimitive| primitives.first().is_some_and(|p| p.vertices == one.vertices);
        let index = self.primitives.iter().position(|one| is_first(&one)).unwrap_or(0);
        let pixels = WarpPixels {
            primitive: numbers.get(index).copied().unwrap_or(0),
            index,
            quads: quads.iter().map(|quad| [quad.x, quad.y]).collect(),
            covered: Coverage::default(),
            sample,
            covering: Vec::new(),
        };
        let pixels = match known {
            Some(known) => WarpPixels { quads: pixels.quads, ..known },
            None => pixels,
        };
        let source = Source { primitives: &primitives, ..self.source() };
        let pieces = WarpQuads::new(&quads, &source);
        let memory = GpuMemory::ReadWrite(&mut memory);
        let mut memory = ShaderMemory::with_own(memory, &self.state.fragment.stage, own);
        look(pixels, warp, StageEnvironment { memory: &mut memory, quads: Some(&pieces) });
    }

    /// Selects a sample of `pixels`, if the shader runs for each.
    fn of_sample(&self, pixels: WarpPixels, chosen: WhichWarp) -> Result<WarpPixels, Fault> {
        let lane = pixels.lane_of(chosen);
        let is_covered = |sample: usize| match lane {
            Some(lane) => pixels.covered[sample] & 1 << lane != 0,
            None => pixels.covered[sample] != 0,
        };
        let covered: Vec<usize> = (0..MAX_SAMPLES).filter(|sample| is_covered(*sample)).collect();
        let wanted = match chosen {
            WhichWarp::Pixel { sample, .. } => sample,
            WhichWarp::Warp(_) => None,
        };
        let targets = &self.state.targets;
        let each = self.state.fragment.inputs.rate() == Rate::Sample && targets.samples.count() > 1;
        let sample = match wanted {
            Some(_) if !each => return Err(Fault::Draw("its shader does not run for each sample".into())),
            Some(sample) if !covered.contains(&sample) => {
                return Err(Fault::Draw(format!("sample {sample} is not covered; these are: {covered:?}")));
            }
            Some(sample) => Some(sample),
            None => covered.first().copied().filter(|_| each),
        };
        let only = |index: usize| sample.is_none_or(|sample| sample == index);
        let covered = std::array::from_fn(|index| if only(index) { pixels.covered[index] } else { 0 });
        Ok(WarpPixels { covered, sample, ..pixels })
    }

    /// Calls `emit` with the first pixel of each 8x4 block of `area` in which `shape` covers unmasked
    /// samples, and with the covered lanes of each sample.
    fn cover(&self, shape: &Shape, area: Rect, mut emit: impl FnMut([i32; 2], Coverage<u32>)) {
        let targets = &self.state.targets;
        targets.samples.cover_halves(shape, area, |at, masks| {
            let lanes = targets.sample_control.masked(masks).map(quad_order);
            if any(lanes) != 0 {
                emit(at, lanes);
            }
        });
    }

    /// Returns the n-th warp in `area`, counted over all primitives.
    fn nth(&self, area: Rect, number: u32, numbers: &[u32]) -> Result<WarpPixels, Fault> {
        let mut count = 0;
        for (index, (primitive, of_draw)) in self.primitives.iter().zip(numbers).enumerate() {
            let mut found = None;
            self.cover(&primitive.shape, area, |at, _| {
                found = found.or((count == number).then_some(at));
                count += 1;
            });
            if let Some(at) = found {
                return Ok(self.warp_pixels(&Piece(index, *of_draw, at), area, Vec::new()));
            }
        }
        Err(Fault::Draw(format!("its fragments make {count} warps")))
    }

    /// Returns the warp with the pixel `at`, for the given primitive or the last one that covers it.
    fn around(
        &self,
        area: Rect,
        at: [i32; 2],
        primitive: Option<u32>,
        numbers: &[u32],
    ) -> Result<WarpPixels, Fault> {
        let [x, y] = at;
        let covers = |primitive: &ScreenPrimitive| {
            let mut corner = None;
            self.cover(&primitive.shape, area.intersect(pixel(at)), |at, _| corner = corner.or(Some(at)));
            corner
        };
        let found = self.primitives.iter().zip(numbers).enumerate();
        let found = found.filter_map(|(index, (one, number))| Some(Piece(index, *number, covers(one)?)));
        let found: Vec<Piece> = found.collect();
        let mut covering: Vec<u32> = found.iter().map(|Piece(_, number, _)| *number).collect();
        covering.dedup();
        let chosen = match primitive {
            Some(wanted) => found.iter().rfind(|Piece(_, number, _)| *number == wanted),
            None => found.last(),
        };
        match (chosen, primitive) {
            (Some(piece), _) => Ok(self.warp_pixels(piece, area, covering)),
            (None, Some(number)) if !covering.is_empty() => {
                let what = format!("primitive {number} does not cover pixel {x},{y}; these do: {covering:?}");
                Err(Fault::Draw(what))
            }
            (None, _) => Err(Fault::Draw(format!("no primitive covers pixel {x},{y}"))),
        }
    }

    /// Returns the 8x4 block of `piece`.
    fn warp_pixels(&self, piece: &Piece, area: Rect, covering: Vec<u32>) -> WarpPixels {
        let Piece(index, primitive, at) = *piece;
        let group = Rect { x0: at[0], y0: at[1], x1: at[0] + 8, y1: at[1] + 4 };
        let mut covered = Coverage::default();
        self.cover(&self.primitives[index].shape, area.intersect(group), |_, lanes| covered = lanes);
        let quads = quads(index as u32, at, 0).map(|quad| [quad.x, quad.y]).to_vec();
        WarpPixels { primitive, index, quads, covered, sample: None, covering }
    }
}
