//! Runs the fragments of one band of rows, on one thread.

mod lockstep;

use std::array;
use std::ops::Range;
use std::slice;

use multiversion::multiversion;
use multiversion::target::match_target;

#[cfg(target_arch = "x86_64")]
use crate::draw::gras::quad::quads_at_once;
use crate::draw::gras::quad::{Occupied, Pack, QUADS, Quad, pack_quads, quad_order, quads};
#[cfg(target_arch = "x86_64")]
use crate::draw::gras::raster::signs_at_once;
use crate::draw::gras::raster::{Rect, Signs, signs};
use crate::draw::gras::setup::{Face, ScreenPrimitive};
use crate::draw::rb::color::{ColorOutput, Precision};
use crate::draw::rb::depth::{PackedTest, Words};
use crate::draw::rb::depth_target::DepthTarget;
use crate::draw::rb::fill::{Fill, fill_rectangle, fill_rows};
use crate::draw::rb::pixels::Pixels;
use crate::draw::rb::state::TestOrder;
use crate::draw::rb::surface::PixelRows;
use crate::draw::sp::launch::{WarpLanes, Worker};
use crate::draw::vpc::interpolate::{Floats, Source, WarpQuads, Weights};
use crate::draw::vpc::planes::FrameState;
use a4emu_shader::jit::{MAX_LOCKSTEP, WarpCost, prefetch};
use a4emu_shader::{Epilogue, Lanes, Number, Warp};

use super::known::KnownPixels;
use super::reasons::{COVERED, FAILED, KILLED, Reasons, WRITTEN};
use super::state::{Barycentrics, FragmentInputs};
use super::{Coloring, FragmentDraw};

/// A run of one band's fragments, in the order of the primitives.
pub struct BandRun<'p, 'b, 'w> {
    draw: &'p FragmentDraw<'p>,
    /// Source of the varyings.
    source: &'p Source<'p>,
    surfaces: &'p mut [PixelRows<'b>],
    worker: &'p mut Worker<'w>,
    /// The packed depth test, if the test is early and has a packed form.
    early: Option<(usize, PackedTest)>,
    /// The register of i and j, if fragments have no other input.
    perspective_alone: Option<u32>,
    /// The cost of a warp that can run in lockstep with others, with the register of i and j.
    together: Option<(WarpCost, u32)>,
    /// Whether only colour writes follow the shader ([`FragmentDraw::has_plain_colors`]).
    is_plain: bool,
    /// The epilogue that compiled code can do (colours to pixels), with its surface ([`FragmentDraw::epilogue`]).
    epilogue: Option<(Epilogue, usize)>,
    frames: &'p Frames,
    /// Quads that do not fill a warp yet, and room for more.
    queue: [Quad; 2 * QUADS],
    queued: usize,
    occupied: Occupied,
    samples: u64,
    /// Pixels whose colours are known, so that the shader does not run for them.
    known: KnownPixels,
    /// Columns that contain all pixels written since the last [`BandRun::forget_touched`].
    touched: Range<i32>,
}

/// An empty range of columns. Its union with other columns is the other columns.
const NO_COLUMNS: Range<i32> = Range { start: i32::MAX, end: i32::MIN };

impl<'p, 'b, 'w> BandRun<'p, 'b, 'w> {
    /// Creates a run that has drawn nothing, with unknown frame contents.
    pub fn new(
        draw: &'p FragmentDraw<'p>,
        source: &'p Source<'p>,
        surfaces: &'p mut [PixelRows<'b>],
        worker: &'p mut Worker<'w>,
        frames: &'p Frames,
    ) -> Self {
        let depth = draw.state.targets.depth.filter(|_| draw.plan.order == TestOrder::Early);
        let perspective_alone = draw.state.fragment.inputs.perspective_alone();
        let together = perspective_alone.filter(|id| Warp::has_full(*id, 2) && draw.tap.is_none());
        let together = together.and_then(|id| Some((worker.lockstep_cost()?, id)));
        let is_plain = together.is_some() && draw.has_plain_colors();
        Self {
            draw,
            source,
            surfaces,
            early: depth.and_then(|depth| depth.packed()),
            perspective_alone,
            together,
            is_plain,
            epilogue: together.filter(|_| worker.is_compiled()).and_then(|_| draw.epilogue()),
            worker,
            frames,
            queue: [Quad::default(); 2 * QUADS],
            queued: 0,
            occupied: Occupied::default(),
            samples: 0,
            known: KnownPixels::default(),
            touched: NO_COLUMNS,
        }
    }

    /// Draws the primitives `order` (indices, ascending) within `area`. Returns the number of samples that
    /// passed.
    pub fn run(mut self, area: Rect, order: impl Iterator<Item = u32> + Clone) -> u64 {
        let is_shaded = self.draw.plan.color == Coloring::Shaded;
        let (mut coming, mut next) = (order.clone().skip(AHEAD), order.clone().skip(1));
        for index in order {
            if self.worker.is_stopped() {
                break;
            }
            if let Some(coming) = coming.next() {
                prefetch(slice::from_ref(&self.draw.primitives[coming as usize]));
            }
            if let Some(next) = next.next().filter(|_| is_shaded) {
                let vertices = self.draw.primitives[next as usize].vertices;
                vertices.into_iter().for_each(|v| prefetch(self.source.vertices.varyings(v)));
            }
            self.primitive(index, area);
        }
        self.flush();
        self.forget_touched();
        self.known.count(self.draw, self.worker);
        self.samples
    }

    /// Marks the cells of all written columns as unknown.
    fn forget_touched(&mut self) {
        let touched = std::mem::replace(&mut self.touched, NO_COLUMNS);
        let targets = &self.draw.state.targets;
        let depth = targets.depth.iter().flat_map(DepthTarget::written);
        for (surface, bits) in targets.color.iter().map(|target| (target.surface, u32::MAX)).chain(depth) {
            self.surfaces[surface].forget(touched.clone(), bits);
        }
    }

    fn primitive(&mut self, index: u32, area: Rect) {
        let primitive = &self.draw.primitives[index as usize];
        self.note(|reasons| reasons.outline(&primitive.shape, area));
        match self.draw.depth_fill(primitive) {
            Some(depth) => self.fill(primitive.shape.bounds.intersect(area), depth),
            None if primitive.shape.is_rectangle() && self.copies(primitive, area) => {}
            None => cover(self, index, primitive, area),
        }
    }

    /// Records pixel fates, if they are requested.
    #[inline(always)]
    fn note(&self, note: impl FnOnce(&Reasons)) {
        if let Some(reasons) = self.draw.reasons {
            note(reasons);
        }
    }

    /// Fills `area` with constant values.
    fn fill(&mut self, area: Rect, depth: [Option<Fill>; 2]) {
        self.forget_touched();
        self.samples += area.area();
        self.note(|reasons| reasons.rectangle(area, COVERED | WRITTEN));
        depth.into_iter().flatten().for_each(|fill| fill_rectangle(self.surfaces, area, fill));
        if let Coloring::Solid(words) = &self.draw.plan.color {
            self.known.rectangle(self.draw, area);
            for (target, &value) in self.draw.state.targets.color.iter().zip(words) {
                fill_rectangle(self.surfaces, area, Fill { surface: target.surface, value, mask: u32::MAX });
            }
        }
    }

    /// Copies texels to the pixels of a rectangle, if that gives the same result as shading.
    #[inline(never)]
    fn copies(&mut self, primitive: &ScreenPrimitive, area: Rect) -> bool {
        let area = primitive.shape.bounds.intersect(area);
        let Some(copy) = &self.draw.plan.copy else { return false };
        // With other primitives beside it, the quads of both could be in one warp.
        if area.is_empty() || self.draw.primitives.len() > 1 {
            return false;
        }
        let Some(bytes) = self.worker.memory.texture_bytes(copy.texture()) else { return false };
        let surface = &mut self.surfaces[copy.surface];
        let is_done = copy.copy((self.source, primitive, area), bytes, surface);
        if is_done {
            self.samples += area.area();
            self.known.rectangle(self.draw, area);
            self.touched = self.touched.start.min(area.x0)..self.touched.end.max(area.x1);
        }
        is_done
    }

    /// Draws the covered pixels of several 8x4 blocks, and removes the blocks from the list.
    #[inline(always)]
    fn halves(
        &mut self,
        index: u32,
        primitive: &ScreenPrimitive,
        halves: &mut Blocks8x4,
        (signs, pack): (impl Signs, impl Pack),
    ) {
        let early = self.draw.plan.order == TestOrder::Early;
        let (mut left, mut samples) = (0, 0);
        let mut touched = self.touched.clone();
        for k in 0..std::mem::take(&mut halves.count) {
            let (at, mask) = halves.all[k];
            touched = touched.start.min(at[0])..touched.end.max(at[0] + 8);
            self.note(|reasons| reasons.half_block(at, mask, COVERED));
            let passed = if early { self.test_early(signs, primitive, at, mask) } else { mask };
            halves.all[left] = (at, passed);
            left += usize::from(passed != 0);
            if early {
                self.note(|reasons| reasons.half_block(at, mask & !passed, FAILED));
                samples += u64::from(passed.count_ones());
            }
        }
        (self.samples, self.touched) = (self.samples + samples, touched);
        let mut blocks = 0;
        for k in 0..left {
            let (at, mask) = halves.all[k];
            if self.draw.plan.color != Coloring::Shaded {
                self.note(|reasons| reasons.half_block(at, mask, WRITTEN));
            }
            match &self.draw.plan.color {
                Coloring::None => {}
                Coloring::Solid(words) => {
                    self.known.half_block(self.draw, at, mask);
                    for (target, word) in self.draw.state.targets.color.iter().zip(words) {
                        fill_rows(&mut self.surfaces[target.surface], at, mask, *word);
                    }
                }
                Coloring::Shaded => {
                    let lanes = quad_order(mask);
                    self.flush_if_overlapping(index, at, mask, lanes);
                    if occupied(lanes) == EVERY_QUAD && !self.worker.stage.stores() {
                        halves.all[blocks] = (at, lanes);
                        blocks += 1;
                    } else {
                        self.enqueue(index, at, mask, lanes, pack);
                    }
                }
            }
        }
        if blocks > 0 {
            self.blocks(index, &halves.all[..blocks]);
        }
    }

    /// Tests the pixels of an 8x4 block early. Returns the pixels that pass.
    #[inline(always)]
    fn test_early(&mut self, signs: impl Signs, primitive: &ScreenPrimitive, at: [i32; 2], mask: u32) -> u32 {
        let short = match &self.early {
            Some((surface, test)) => test.test_rows(signs, &mut self.surfaces[*surface], primitive, at, mask),
            None => None,
        };
        match (short, &self.draw.state.targets.depth) {
            (Some(passed), _) => passed,
            (None, Some(depth)) => depth.test_early(self.surfaces, primitive, at, mask),
            (None, None) => mask,
        }
    }

    /// Flushes the queue if a quad of another primitive in it has one of these pixels. `rows` has the pixels
    /// row by row, `mask` four to a quad.
    #[inline(always)]
    fn flush_if_overlapping(&mut self, primitive: u32, at: [i32; 2], rows: u32, mask: u32) {
        if self.occupied.may_have(at, rows) && self.shares_pixels(primitive, at, mask) {
            self.flush();
        }
    }

    /// Queues the quads of an 8x4 block. Two quads of a warp must not share a pixel, or their order would be
    /// lost, so the caller calls [`Self::flush_if_overlapping`] first. `rows` has the pixels row by row, `mask` four to a
    /// quad.
    #[inline(always)]
    fn enqueue(&mut self, primitive: u32, at: [i32; 2], rows: u32, mask: u32, pack: impl Pack) {
        self.occupied.add(at, rows);
        let room = self.queue[self.queued..].first_chunk_mut().expect("it is emptied when it has as many");
        self.queued += pack(primitive, at, mask, room);
        if self.queued >= QUADS {
            self.flush();
            self.occupied.add(at, rows);
        }
    }

    /// Returns whether a quad of another primitive in the queue has one of these pixels.
    #[inline(never)]
    fn shares_pixels(&self, primitive: u32, at: [i32; 2], mask: u32) -> bool {
        let queue = &self.queue[..self.queued];
        queue.iter().any(|quad| quad.primitive != primitive && quad.touches(at, mask))
    }

    /// Shades several 8x4 blocks (masks four to a quad, with a pixel in every quad), one warp each. They
    /// share no pixels with the queue, so they may run after other quads of their primitive.
    #[inline(never)]
    fn blocks(&mut self, primitive: u32, blocks: &[([i32; 2], u32)]) {
        for blocks in blocks.chunks(MAX_LOCKSTEP) {
            if blocks.len() == 1 || !self.blocks_together(primitive, blocks) {
                blocks.iter().for_each(|(at, mask)| self.block(primitive, *at, *mask));
            }
        }
    }

    /// Shades one 8x4 block.
    #[inline(never)]
    fn block(&mut self, primitive: u32, at: [i32; 2], mask: u32) {
        if !self.worker.is_stopped() {
            let quads = quads(primitive, at, mask);
            let mut pieces = WarpQuads::of_block(&quads, at, self.source);
            pieces.set_frame(&self.frames.alone);
            self.warp(&pieces, WarpLanes { live: mask, helpers: !mask });
        }
    }

    /// Shades the quads in the queue, at most one warp of them.
    #[inline(never)]
    fn flush(&mut self) {
        let count = self.queued.min(QUADS);
        self.queued -= count;
        self.occupied = Occupied::default();
        let quads = *self.queue.first_chunk::<QUADS>().expect("there is room for more");
        self.queue.copy_within(QUADS.., 0);
        if count > 0 && !self.worker.is_stopped() {
            let quads = &quads[..count];
            let mut pieces = WarpQuads::new(quads, self.source);
            pieces.set_frame(&self.frames.lockstep);
            let lanes = lanes_of_quads(quads);
            if !self.quads_together(&pieces, lanes) {
                pieces.set_frame(&self.frames.alone);
                self.warp(&pieces, lanes);
            }
        }
    }

    fn warp(&mut self, pieces: &WarpQuads<'_>, lanes: WarpLanes) {
        let inputs = &self.draw.state.fragment.inputs;
        let weights = match self.perspective_alone {
            Some(id) => {
                let enter = |warp: &mut Warp, _: &mut _| match warp.full_pair_mut(id) {
                    Some(registers) => pieces.perspective(registers),
                    None => enter_ij(id, warp, &pieces.weights().perspective),
                };
                self.worker.start_given(id..id + 2, lanes, enter);
                None
            }
            None => {
                let weights = pieces.weights();
                let enter = |warp: &mut Warp, _: &mut _| enter(inputs, warp, pieces, &weights, lanes.live);
                self.worker.start(lanes, enter);
                Some(weights)
            }
        };
        match self.draw.finish_warp(self.worker, pieces, None) {
            true => self.merge(Ran::Alone, pieces, weights.as_ref(), lanes.live, None),
            false => {
                self.note(|reasons| reasons.spent(&pieces.quads, lanes.live, self.worker.warp.executed()));
            }
        }
    }

    /// Runs the steps after the shader for the `live` lanes: alpha test, late tests and colour writes. If the
    /// shader code already made pixels, stores them in surface `pixels`.
    #[inline(always)]
    fn merge(
        &mut self,
        ran: Ran,
        pieces: &WarpQuads<'_>,
        weights: Option<&Weights>,
        live: u32,
        pixels: Option<usize>,
    ) {
        let targets = &self.draw.state.targets;
        let warp = ran.warp(self.worker);
        let mut covered = warp.covered();
        self.note(|reasons| {
            reasons.spent(&pieces.quads, live, warp.executed());
            reasons.quads(&pieces.quads, live & !covered, KILLED);
        });
        if let Some(test) = targets.alpha_test {
            let mut widened = None;
            let alpha = colors(warp, &targets.outputs[0], &mut widened)[3];
            let passed = covered & test.passes(alpha);
            self.note(|reasons| reasons.quads(&pieces.quads, covered & !passed, KILLED));
            covered = passed;
        }
        if self.draw.plan.order == TestOrder::Late {
            let passed = self.late_test(ran, pieces, weights, covered);
            self.note(|reasons| reasons.quads(&pieces.quads, covered & !passed, FAILED));
            covered = passed;
            self.samples += u64::from(covered.count_ones());
        }
        if covered == 0 {
            return;
        }
        self.note(|reasons| reasons.quads(&pieces.quads, covered, WRITTEN));
        let (mut widened, mut widened_dual) = (None, None);
        let warp = ran.warp(self.worker);
        if let Some(surface) = pixels {
            return pieces.quads.store(&mut self.surfaces[surface], covered, warp.pixels());
        }
        for target in &targets.color {
            let surface = &mut self.surfaces[target.surface];
            let src = colors(warp, &target.output, &mut widened);
            if target.blend.is_some_and(|blend| blend.is_dual()) {
                let second = colors(warp, &targets.outputs[1], &mut widened_dual);
                target.write(surface, &pieces.quads, covered, &src, &second);
            } else {
                target.write(surface, &pieces.quads, covered, &src, &src);
            }
        }
    }

    fn late_test(
        &mut self,
        ran: Ran,
        pieces: &WarpQuads<'_>,
        weights: Option<&Weights>,
        covered: u32,
    ) -> u32 {
        let targets = &self.draw.state.targets;
        let Some(depth) = &targets.depth else { return covered };
        let z = match (targets.depth_output, weights) {
            (Some(id), _) => ran.warp(self.worker).full(id).floats(),
            (None, Some(weights)) => weights.z,
            (None, None) => pieces.weights().z,
        };
        test_quads(depth, self.surfaces, pieces, &z, covered)
    }
}

impl FragmentDraw<'_> {
    /// Returns the depth and stencil fills of a rectangle whose pixels all get the same values. Clears are
    /// such rectangles.
    fn depth_fill(&self, primitive: &ScreenPrimitive) -> Option<[Option<Fill>; 2]> {
        if self.plan.color == Coloring::Shaded || !primitive.shape.is_rectangle() {
            return None;
        }
        let Some(depth) = &self.state.targets.depth else { return Some([None; 2]) };
        let z = &primitive.planes.z;
        let flat = z.dx == 0.0 && z.dy == 0.0;
        let corner = primitive.shape.bounds;
        flat.then(|| depth.fill(primitive.face, primitive.depth_at([corner.x0, corner.y0], [0, 0])))?
    }

    /// Returns the pixels of the draw, and which bits of them it sets in which surface, if these do not depend on the
    /// contents before and the draw reads and writes no others. `None` unless it is a single rectangle.
    pub fn fills(&self) -> Option<(Rect, Vec<(usize, u32)>)> {
        let ([primitive], 1) = (self.primitives, self.state.targets.samples.count()) else { return None };
        let fills = match &self.plan.copy {
            Some(copy) if primitive.shape.is_rectangle() => vec![(copy.surface, u32::MAX)],
            _ => {
                let depth = self.depth_fill(primitive)?.into_iter().flatten();
                let color = self.state.targets.color.iter().map(|target| (target.surface, u32::MAX));
                depth.map(|fill| (fill.surface, fill.mask)).chain(color).collect()
            }
        };
        Some((primitive.shape.bounds, fills))
    }
}

/// States of the warp frames of a worker, shared by warps that use the same frame one after the other.
#[derive(Debug, Default)]
pub struct Frames {
    /// Frame of the warp that runs alone.
    alone: FrameState,
    /// Frame of warps that run in lockstep.
    lockstep: FrameState,
}

/// Selects one of a worker's warps.
#[derive(Clone, Copy)]
enum Ran {
    /// The warp that runs alone.
    Alone,
    /// The warp with this number among those that run in lockstep.
    Lockstep(usize),
}

impl Ran {
    fn warp<'w>(self, worker: &'w Worker<'_>) -> &'w Warp {
        match self {
            Self::Alone => &worker.warp,
            Self::Lockstep(number) => &worker.lockstep_warps[number],
        }
    }
}

/// Several 8x4 blocks of a primitive: first pixel and covered pixels (row by row) of each. Each step runs for
/// all blocks before the next step, so that the processor can overlap their work.
#[derive(Clone, Copy, Default)]
struct Blocks8x4 {
    all: [([i32; 2], u32); HALVES],
    count: usize,
}

/// How many primitives ahead to prefetch.
const AHEAD: usize = 3;

/// Maximum number of 8x4 blocks handled together.
const HALVES: usize = 16;

impl Blocks8x4 {
    /// Adds a block, if any pixel of it is covered.
    #[inline(always)]
    fn push(&mut self, at: [i32; 2], mask: u32) {
        self.all[self.count] = (at, mask);
        self.count += usize::from(mask != 0);
    }
}

/// Draws a primitive in `area`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+popcnt", "x86_64+avx2+popcnt"))]
fn cover(run: &mut BandRun<'_, '_, '_>, index: u32, primitive: &ScreenPrimitive, area: Rect) {
    let mut halves = Blocks8x4::default();
    let emit = |x, y, mask| {
        halves.push([x, y], mask as u32);
        halves.push([x, y + 4], (mask >> 32) as u32);
        if halves.count > HALVES - 2 {
            draw_halves(run, index, primitive, &mut halves);
        }
    };
    match_target! {
        "x86_64+avx512f+avx512dq" => primitive.shape.cover_by(|numbers: &[i32; 16]| signs_at_once(numbers), area, emit),
        _ => primitive.shape.cover(area, emit),
    }
    draw_halves(run, index, primitive, &mut halves);
}

/// Draws the blocks, compiled for the widest vectors.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+popcnt", "x86_64+avx2+popcnt"))]
fn draw_halves(
    run: &mut BandRun<'_, '_, '_>,
    index: u32,
    primitive: &ScreenPrimitive,
    halves: &mut Blocks8x4,
) {
    match_target! {
        "x86_64+avx512f+avx512dq" => run.halves(
            index,
            primitive,
            halves,
            (
                |numbers: &[i32; 16]| signs_at_once(numbers),
                |primitive, at, mask, out: &mut _| quads_at_once(primitive, at, mask, out),
            ),
        ),
        _ => run.halves(index, primitive, halves, (signs, pack_quads)),
    }
}

/// Tests the `covered` lanes of a warp, whose quads may show either face. Returns the lanes that pass.
pub fn test_quads(
    depth: &DepthTarget,
    surfaces: &mut [PixelRows<'_>],
    pieces: &WarpQuads<'_>,
    z: &[f32; 32],
    covered: u32,
) -> u32 {
    let mut passed = 0;
    for face in [Face::Front, Face::Back] {
        let mask = pieces.quads.iter().enumerate().fold(0u32, |mask, (q, quad)| {
            let same = pieces.primitive(quad).face == face;
            if same { mask | 15 << (4 * q) } else { mask }
        });
        if mask & covered != 0 {
            passed |= depth.test(surfaces, &pieces.quads, face, z, mask & covered);
        }
    }
    passed
}

/// The first lane of each quad.
const EVERY_QUAD: u32 = 0x1111_1111;

/// The first lane of each quad that has pixels of `mask`, four to a quad.
pub(super) fn occupied(mask: u32) -> u32 {
    let pairs = mask | mask >> 1;
    (pairs | pairs >> 2) & EVERY_QUAD
}

/// Returns the lanes of a warp of these quads. Lanes outside the primitive are helpers.
pub fn lanes_of_quads(quads: &[Quad]) -> WarpLanes {
    let mut live = 0;
    for (q, quad) in quads.iter().enumerate() {
        live |= quad.mask << (4 * q);
    }
    let all = WarpLanes::first(4 * quads.len()).live;
    WarpLanes { live, helpers: all & !live }
}

/// Writes the fragment inputs to registers.
pub fn enter(inputs: &FragmentInputs, warp: &mut Warp, pieces: &WarpQuads<'_>, weights: &Weights, live: u32) {
    for (id, kind) in &inputs.ij {
        let pair = match kind {
            Barycentrics::Perspective => &weights.perspective,
            Barycentrics::Linear => &weights.linear,
        };
        enter_ij(*id, warp, pair);
    }
    if let Some(id) = inputs.xy {
        *warp.full_mut(id) = Lanes(weights.x.map(|x| (x * 16.0) as u32));
        *warp.full_mut(id + 1) = Lanes(weights.y.map(|y| (y * 16.0) as u32));
    }
    if let Some(id) = inputs.zw {
        *warp.full_mut(id) = Lanes::from(weights.z);
        *warp.full_mut(id + 1) = Lanes::from(weights.inv_w);
    }
    if let Some(id) = inputs.face {
        let lanes = warp.half_mut(id);
        for (lanes, quad) in lanes.chunks_exact_mut(4).zip(&*pieces.quads) {
            let back = pieces.primitive(quad).face == Face::Back;
            lanes.fill(if back { 0xffff } else { 0 });
        }
    }
    if let Some(id) = inputs.sample_id {
        *warp.half_mut(id) = Lanes::ZERO;
    }
    if let Some(id) = inputs.sample_mask {
        *warp.full_mut(id) = Lanes(array::from_fn(|lane| (live >> lane) & 1));
    }
}

fn enter_ij(id: u32, warp: &mut Warp, [i, j]: &[Floats; 2]) {
    *warp.full_mut(id) = Lanes::from(*i);
    *warp.full_mut(id + 1) = Lanes::from(*j);
}

/// Returns four registers as 32-bit colours. Half registers are converted in `widened` first.
#[inline(always)]
pub fn colors<'a>(
    warp: &'a Warp,
    output: &ColorOutput,
    widened: &'a mut Option<[Words; 4]>,
) -> [&'a Words; 4] {
    match output.precision {
        Precision::Full => warp.four(output.regid).map(|lanes| &lanes.0),
        Precision::Half => half_colors(warp, output, widened),
    }
}

#[inline(never)]
fn half_colors<'a>(
    warp: &'a Warp,
    output: &ColorOutput,
    widened: &'a mut Option<[Words; 4]>,
) -> [&'a Words; 4] {
    let half = |c: usize| &warp.half(output.regid + c as u32).0;
    let widen: fn(u32) -> u32 = match output.number {
        Number::Uint => return array::from_fn(half),
        Number::Float => |h| half::f16::from_bits(h as u16).to_f32().to_bits(),
        Number::Sint => |h| h as u16 as i16 as u32,
    };
    widened.insert(array::from_fn(|c| half(c).map(widen))).each_ref()
}
