//! Runs the fragments of one band for multisampled targets, on one thread.
//!
//! Coverage, tests and colours are per sample. The shader runs once per pixel, or once per sample.

use crate::draw::gras::quad::{QUADS, Quad, covered_quads, quad_order};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::{Coverage, MAX_SAMPLES, PARTS, SamplePosition, Samples};
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::rb::coverage::{alpha_samples, by_sample};
use crate::draw::rb::depth::Words;
use crate::draw::rb::fill::fill_rows;
use crate::draw::rb::pixels::Rows;
use crate::draw::rb::state::{Targets, TestOrder};
use crate::draw::rb::surface::PixelRows;
use crate::draw::sp::launch::Worker;
use crate::draw::vpc::interpolate::{Floats, WarpQuads, Weights};
use a4emu_shader::{LANES, Lanes, Warp};

use super::band::{colors, enter, lanes_of_quads, test_quads};
use super::known::KnownPixels;
use super::reasons::{COVERED, FAILED, KILLED, Reasons, WRITTEN};
use super::state::{Barycentrics, FragmentInputs, Rate, Spot};
use super::{Coloring, FragmentDraw};

/// A run of one band's fragments, in the order of the primitives.
pub struct SampledRun<'p, 'b, 'w> {
    draw: &'p FragmentDraw<'p>,
    surfaces: &'p mut [PixelRows<'b>],
    worker: &'p mut Worker<'w>,
    samples: Samples,
    queue: Vec<SampledQuad>,
    passed: u64,
    /// Pixels whose colours are known, so that the shader does not run for them.
    known: KnownPixels,
}

/// A quad with the pixels that have a covered sample, and the covered pixels of each sample.
#[derive(Clone, Copy)]
struct SampledQuad {
    quad: Quad,
    covered: Coverage<u32>,
}

impl<'p, 'b, 'w> SampledRun<'p, 'b, 'w> {
    /// Creates a run that has drawn nothing.
    pub fn new(
        draw: &'p FragmentDraw<'p>,
        surfaces: &'p mut [PixelRows<'b>],
        worker: &'p mut Worker<'w>,
    ) -> Self {
        let samples = draw.state.targets.samples;
        Self {
            draw,
            surfaces,
            worker,
            samples,
            queue: Vec::with_capacity(QUADS),
            passed: 0,
            known: KnownPixels::default(),
        }
    }

    /// Draws the primitives `order` (indices, ascending) within `area`. Returns the number of samples that
    /// passed.
    pub fn run(mut self, area: Rect, order: impl IntoIterator<Item = u32>) -> u64 {
        let draw = self.draw;
        for index in order {
            if self.worker.is_stopped() {
                break;
            }
            let primitive = &draw.primitives[index as usize];
            self.note(|reasons| reasons.outline(&primitive.shape, area));
            let samples = self.samples;
            samples.cover_halves(&primitive.shape, area, |at, masks| {
                self.half_block(index, primitive, at, masks);
            });
        }
        self.flush();
        self.surfaces.iter_mut().for_each(|rows| rows.forget(area.x0..area.x1, u32::MAX));
        self.known.count(self.draw, self.worker);
        self.passed
    }

    /// Records pixel fates, if they are requested.
    fn note(&self, note: impl FnOnce(&Reasons)) {
        if let Some(reasons) = self.draw.reasons {
            note(reasons);
        }
    }

    fn count(&mut self, masks: Coverage<u32>) {
        self.passed += masks.iter().map(|mask| u64::from(mask.count_ones())).sum::<u64>();
    }

    fn half_block(&mut self, index: u32, primitive: &ScreenPrimitive, at: [i32; 2], covered: Coverage<u32>) {
        let plan = self.draw.plan;
        self.note(|reasons| reasons.half_block(at, any(covered), COVERED));
        let mut masks = self.draw.state.targets.sample_control.masked(covered);
        if plan.order == TestOrder::Early {
            masks = self.early_test(primitive, at, masks);
            self.note(|reasons| reasons.half_block(at, any(covered) & !any(masks), FAILED));
            self.count(masks);
        }
        if plan.color != Coloring::Shaded {
            self.note(|reasons| reasons.half_block(at, any(masks), WRITTEN));
        }
        match &plan.color {
            Coloring::None => {}
            Coloring::Solid(words) => self.fill(at, masks, words),
            Coloring::Shaded => self.enqueue(index, at, masks.map(quad_order)),
        }
    }

    /// Returns sample `index` of all surfaces.
    fn sample(&mut self, index: usize) -> Vec<PixelRows<'_>> {
        let count = self.samples.count();
        self.surfaces.iter_mut().map(|rows| rows.sample(index, count)).collect()
    }

    fn early_test(
        &mut self,
        primitive: &ScreenPrimitive,
        at: [i32; 2],
        mut masks: Coverage<u32>,
    ) -> Coverage<u32> {
        let Some(depth) = &self.draw.state.targets.depth else { return masks };
        for (index, place) in Vec::from(self.samples.places()).into_iter().enumerate() {
            let beside = in_pixels(place);
            let step = |l: usize| [l as i32 % 8, l as i32 / 8];
            let z = std::array::from_fn(|l| primitive.depth_beside(at, step(l), beside));
            masks[index] = depth.test(&mut self.sample(index), &Rows(at), primitive.face, &z, masks[index]);
        }
        masks
    }

    fn fill(&mut self, at: [i32; 2], masks: Coverage<u32>, words: &[u32]) {
        let draw = self.draw;
        let shaded = match draw.state.fragment.inputs.rate() {
            Rate::Pixel => vec![any(masks)],
            Rate::Sample => masks[..self.samples.count()].to_vec(),
        };
        for mask in shaded {
            self.known.half_block(draw, at, mask);
        }
        for (index, mask) in masks.into_iter().enumerate().take(self.samples.count()) {
            let mut surfaces = self.sample(index);
            for (target, word) in draw.state.targets.color.iter().zip(words) {
                fill_rows(&mut surfaces[target.surface], at, mask, *word);
            }
        }
    }

    /// Queues quads of an 8x4 block. `masks` has the pixels in quad order. Two quads of a warp must not share
    /// a pixel, or their order would be lost.
    fn enqueue(&mut self, primitive: u32, at: [i32; 2], masks: Coverage<u32>) {
        let mask = any(masks);
        if self.queue.iter().any(|it| it.quad.primitive != primitive && it.quad.touches(at, mask)) {
            self.flush();
        }
        for quad in covered_quads(primitive, at, mask) {
            let first = 4 * ((quad.x - at[0]) / 2 + 4 * ((quad.y - at[1]) / 2));
            self.queue.push(SampledQuad { quad, covered: masks.map(|mask| mask >> first & 15) });
            if self.queue.len() == QUADS {
                self.flush();
            }
        }
    }

    /// Shades the quads in the queue.
    fn flush(&mut self) {
        let queue = std::mem::replace(&mut self.queue, Vec::with_capacity(QUADS));
        match self.draw.state.fragment.inputs.rate() {
            Rate::Pixel => self.warp(&queue, None),
            Rate::Sample => (0..self.samples.count()).for_each(|index| {
                let only = |it: &SampledQuad| {
                    let mut covered = [0; MAX_SAMPLES];
                    covered[index] = it.covered[index];
                    SampledQuad { quad: Quad { mask: covered[index], ..it.quad }, covered }
                };
                let quads = queue.iter().map(only).filter(|it| it.quad.mask != 0);
                self.warp(&quads.collect::<Vec<_>>(), Some(index));
            }),
        }
    }

    /// Shades `queue` for all samples, or for one.
    fn warp(&mut self, queue: &[SampledQuad], only: Option<usize>) {
        if queue.is_empty() || self.worker.is_stopped() {
            return;
        }
        let quads: Vec<Quad> = queue.iter().map(|it| it.quad).collect();
        let covered = lanes_of_samples(queue);
        let source = self.draw.source();
        let pieces = WarpQuads::new(&quads, &source);
        let lanes = lanes_of_quads(&quads);
        let inputs = &self.draw.state.fragment.inputs;
        let samples = self.samples;
        self.worker.start(lanes, |warp, _| {
            enter_sampled(inputs, warp, &pieces, &samples, covered, only);
        });
        let ended = self.draw.finish_warp(self.worker, &pieces, only);
        self.note(|reasons| reasons.spent(&quads, lanes.live, self.worker.warp.executed()));
        if ended {
            self.merge(&pieces, covered);
        }
    }

    /// Runs the steps after the shader: alpha test, late tests and colour writes.
    fn merge(&mut self, pieces: &WarpQuads<'_>, before: Coverage<u32>) {
        let draw = self.draw;
        let covered = kept(&draw.state.targets, &self.worker.warp, before);
        self.note(|reasons| reasons.quads(&pieces.quads, any(before) & !any(covered), KILLED));
        let late = draw.plan.order == TestOrder::Late;
        let masks = if late { self.late_test(pieces, covered) } else { covered };
        if late {
            self.note(|reasons| reasons.quads(&pieces.quads, any(covered) & !any(masks), FAILED));
            self.count(masks);
        }
        self.note(|reasons| reasons.quads(&pieces.quads, any(masks), WRITTEN));
        (0..self.samples.count()).for_each(|index| self.write(pieces, index, masks[index]));
    }

    fn late_test(&mut self, pieces: &WarpQuads<'_>, mut masks: Coverage<u32>) -> Coverage<u32> {
        let targets = &self.draw.state.targets;
        let Some(depth) = &targets.depth else { return masks };
        let output = targets.depth_output.map(|id| self.worker.warp.full(id).floats());
        let count = self.samples.count();
        for (index, mask) in masks.iter_mut().enumerate().take(count) {
            let z = output.unwrap_or_else(|| at_place(pieces, self.samples.places()[index]).z);
            *mask = test_quads(depth, &mut self.sample(index), pieces, &z, *mask);
        }
        masks
    }

    fn write(&mut self, pieces: &WarpQuads<'_>, index: usize, mask: u32) {
        if mask == 0 {
            return;
        }
        let (targets, count) = (&self.draw.state.targets, self.samples.count());
        let (mut widened, mut widened_dual) = Default::default();
        let dual = colors(&self.worker.warp, &targets.outputs[1], &mut widened_dual);
        for target in &targets.color {
            let src = colors(&self.worker.warp, &target.output, &mut widened);
            let mut surface = self.surfaces[target.surface].sample(index, count);
            target.write(&mut surface, &pieces.quads, mask, &src, &dual);
        }
    }
}

/// Returns the lanes of `covered` that remain after kills, alpha test and the shader's sample mask.
pub(super) fn kept(targets: &Targets, warp: &Warp, covered: Coverage<u32>) -> Coverage<u32> {
    let mut widened = Default::default();
    let alpha = colors(warp, &targets.outputs[0], &mut widened)[3];
    let passed = targets.alpha_test.map_or(u32::MAX, |test| test.passes(alpha));
    let mut masks = covered.map(|mask| mask & warp.covered() & passed);
    let (control, count) = (&targets.sample_control, targets.samples.count());
    let from_alpha = control.alpha.map(|_| alpha.map(|alpha| alpha_samples(f32::from_bits(alpha), count)));
    let output = control.output.map(|id| warp.full(id).0);
    for words in [from_alpha, output].into_iter().flatten() {
        masks.iter_mut().zip(by_sample(&words)).for_each(|(mask, kept)| *mask &= kept);
    }
    masks
}

/// Returns the lanes with any covered sample.
pub(super) fn any(masks: Coverage<u32>) -> u32 {
    masks.into_iter().fold(0, |all, mask| all | mask)
}

/// Returns the covered lanes of a warp, by sample.
fn lanes_of_samples(quads: &[SampledQuad]) -> Coverage<u32> {
    std::array::from_fn(|index| {
        let lanes = quads.iter().zip((0..).step_by(4));
        lanes.fold(0, |lanes, (it, first)| lanes | it.covered[index] << first)
    })
}

/// Converts the place of a sample to pixels.
fn in_pixels(place: SamplePosition) -> [f32; 2] {
    place.map(|at| at as f32 / PARTS as f32)
}

/// Returns positions and weights at a place in each pixel.
pub(super) fn at_place(pieces: &WarpQuads<'_>, place: SamplePosition) -> Weights {
    pieces.weights_beside(&in_pixels(place).map(|by| [by; LANES]))
}

/// Writes fragment inputs to registers. `covered` has their samples; `only` is the shaded sample if the
/// shader runs per sample.
pub(super) fn enter_sampled(
    inputs: &FragmentInputs,
    warp: &mut Warp,
    pieces: &WarpQuads<'_>,
    samples: &Samples,
    covered: Coverage<u32>,
    only: Option<usize>,
) {
    let weights = only.map_or_else(
        || pieces.weights(),
        |index| at_place(pieces, samples.places()[index]).with_barycentrics(pieces.weights()),
    );
    enter(inputs, warp, pieces, &weights, any(covered));
    let spots = [
        (Spot::Centroid, Some(pieces.weights_beside(&centroids(samples, covered)))),
        (Spot::Sample, only.map(|index| at_place(pieces, samples.places()[index]))),
    ];
    for (spot, weights) in spots.iter().filter_map(|(spot, weights)| Some((spot, weights.as_ref()?))) {
        for (id, kind, _) in inputs.beside.iter().filter(|(_, _, at)| at == spot) {
            let pair = match kind {
                Barycentrics::Perspective => &weights.perspective,
                Barycentrics::Linear => &weights.linear,
            };
            *warp.full_mut(*id) = Lanes::from(pair[0]);
            *warp.full_mut(id + 1) = Lanes::from(pair[1]);
        }
    }
    if let (Some(index), Some(id)) = (only, inputs.sample_id) {
        *warp.half_mut(id) = Lanes::splat(index as u32);
    }
    if let Some(id) = inputs.sample_mask {
        *warp.full_mut(id) = Lanes(words_of_lanes(covered));
    }
}

/// Returns a word per lane with one bit for every covered sample.
fn words_of_lanes(covered: Coverage<u32>) -> Words {
    std::array::from_fn(|lane| {
        covered.iter().enumerate().fold(0, |word, (index, mask)| word | (mask >> lane & 1) << index)
    })
}

/// Returns the offsets of the centroid from the pixel centre per lane: zero if all or no samples are covered,
/// else the place of the first covered sample (guess `centroid-place`).
fn centroids(samples: &Samples, covered: Coverage<u32>) -> [Floats; 2] {
    let mut out = [[0.0; LANES]; 2];
    for lane in 0..LANES {
        let mask = |index: &usize| covered[*index] >> lane & 1 != 0;
        let first =
            (0..samples.count()).find(mask).filter(|_| !(0..samples.count()).all(|index| mask(&index)));
        if let Some(index) = first {
            let place = in_pixels(samples.places()[index]);
            out.iter_mut().zip(place).for_each(|(out, by)| out[lane] = by);
        }
    }
    out
}
