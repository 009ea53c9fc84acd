//! The fragments of one band of rows, on one thread.

mod together;

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
use a4emu_shader::jit::{TOGETHER, WarpCost, prefetch};
use a4emu_shader::{Finish, Lanes, Number, Warp};

use super::reasons::{COVERED, FAILED, KILLED, Reasons, WRITTEN};
use super::state::{Barycentrics, FragmentInputs};
use super::{Coloring, FragmentDraw};

/// The fragments of one band, in the order of the primitives.
pub struct BandRun<'p, 'b, 'w> {
    draw: &'p FragmentDraw<'p>,
    /// Where varyings come from.
    source: &'p Source<'p>,
    surfaces: &'p mut [PixelRows<'b>],
    worker: &'p mut Worker<'w>,
    /// The short form of the depth test, if it comes early and has one.
    early: Option<(usize, PackedTest)>,
    /// The register of i and j, if fragments start with nothing else.
    perspective_alone: Option<u32>,
    /// What a warp costs where several can run side by side, with that register.
    together: Option<(WarpCost, u32)>,
    /// Whether nothing comes after the shader but colours ([`FragmentDraw::has_plain_colors`]).
    is_plain: bool,
    /// How code makes pixels of colours, if it can, and their surface ([`FragmentDraw::finish`]).
    finish: Option<(Finish, usize)>,
    frames: &'p Frames,
    /// Those of less than a warp, and room for more.
    queue: [Quad; 2 * QUADS],
    queued: usize,
    occupied: Occupied,
    samples: u64,
    /// What holds the columns of all pixels that may have been written and were not yet said to be.
    touched: Range<i32>,
}

/// No columns; with others they are those.
const NO_COLUMNS: Range<i32> = Range { start: i32::MAX, end: i32::MIN };

impl<'p, 'b, 'w> BandRun<'p, 'b, 'w> {
    /// Nothing drawn yet; of the frames nothing is known.
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
        let together = together.and_then(|id| Some((worker.toll()?, id)));
        let is_plain = together.is_some() && draw.has_plain_colors();
        Self {
            draw,
            source,
            surfaces,
            early: depth.and_then(|depth| depth.packed()),
            perspective_alone,
            together,
            is_plain,
            finish: together.filter(|_| worker.makes_pixels()).and_then(|_| draw.finish()),
            worker,
            frames,
            queue: [Quad::default(); 2 * QUADS],
            queued: 0,
            occupied: Occupied::default(),
            samples: 0,
            touched: NO_COLUMNS,
        }
    }

    /// Draws the primitives `order` (indices, ascending) within `area`. Gives the samples that passed.
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
        self.samples
    }

    /// Of what has been drawn to nothing is known any more.
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
        match self.depth_fill(primitive) {
            Some(depth) => self.fill(primitive.shape.bounds.intersect(area), depth),
            None if primitive.shape.is_rectangle() && self.copies(primitive, area) => {}
            None => cover(self, index, primitive, area),
        }
    }

    /// What happens to the depth and stencil of a rectangle all of whose pixels get the
    /// same, whatever they hold; that is what clears are.
    fn depth_fill(&self, primitive: &ScreenPrimitive) -> Option<[Option<Fill>; 2]> {
        if self.draw.plan.color == Coloring::Shaded || !primitive.shape.is_rectangle() {
            return None;
        }
        let Some(depth) = &self.draw.state.targets.depth else { return Some([None; 2]) };
        let z = &primitive.planes.z;
        let flat = z.dx == 0.0 && z.dy == 0.0;
        let corner = primitive.shape.bounds;
        flat.then(|| depth.fill(primitive.face, primitive.depth_at([corner.x0, corner.y0], [0, 0])))?
    }

    /// Notes what becomes of pixels, where somebody wants to know.
    #[inline(always)]
    fn note(&self, note: impl FnOnce(&Reasons)) {
        if let Some(reasons) = self.draw.reasons {
            note(reasons);
        }
    }

    /// Fills `area` with what its pixels get.
    fn fill(&mut self, area: Rect, depth: [Option<Fill>; 2]) {
        self.forget_touched();
        self.samples += area.area();
        self.note(|reasons| reasons.rectangle(area, COVERED | WRITTEN));
        depth.into_iter().flatten().for_each(|fill| fill_rectangle(self.surfaces, area, fill));
        if let Coloring::Solid(words) = &self.draw.plan.color {
            for (target, &value) in self.draw.state.targets.color.iter().zip(words) {
                fill_rectangle(self.surfaces, area, Fill { surface: target.surface, value, mask: u32::MAX });
            }
        }
    }

    /// Copies texels to the pixels of a rectangle, if that is the same as to shade them.
    #[inline(never)]
    fn copies(&mut self, primitive: &ScreenPrimitive, area: Rect) -> bool {
        let area = primitive.shape.bounds.intersect(area);
        let Some(copy) = &self.draw.plan.copy else { return false };
        if area.is_empty() {
            return false;
        }
        self.flush();
        let Some(bytes) = self.worker.memory.texture_bytes(copy.texture()) else { return false };
        let surface = &mut self.surfaces[copy.surface];
        let is_done = copy.copy((self.source, primitive, area), bytes, surface);
        if is_done {
            self.samples += area.area();
            self.touched = self.touched.start.min(area.x0)..self.touched.end.max(area.x1);
        }
        is_done
    }

    /// Draws what is covered of some times 8x4 pixels, and takes them out of the list.
    #[inline(always)]
    fn halves(
        &mut self,
        index: u32,
        primitive: &ScreenPrimitive,
        halves: &mut Halves,
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
                    for (target, word) in self.draw.state.targets.color.iter().zip(words) {
                        fill_rows(&mut self.surfaces[target.surface], at, mask, *word);
                    }
                }
                Coloring::Shaded => {
                    let lanes = quad_order(mask);
                    self.make_way(index, at, mask, lanes);
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

    /// Those of 8x4 pixels that pass.
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

    /// Shades what is in the queue if a quad of another primitive has one of these pixels, row by row and four to a
    /// quad.
    #[inline(always)]
    fn make_way(&mut self, primitive: u32, at: [i32; 2], rows: u32, mask: u32) {
        if self.occupied.may_have(at, rows) && self.shares_pixels(primitive, at, mask) {
            self.flush();
        }
    }

    /// Queues quads of 8x4 pixels, of which no quad of another primitive in the queue has one: two quads of a warp must
    /// not share a pixel, or their order would be lost. The pixels are given row by row and four to a quad.
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

    /// Whether a quad of another primitive in the queue has one of these pixels.
    #[inline(never)]
    fn shares_pixels(&self, primitive: u32, at: [i32; 2], mask: u32) -> bool {
        let queue = &self.queue[..self.queued];
        queue.iter().any(|quad| quad.primitive != primitive && quad.touches(at, mask))
    }

    /// Shades some times 8x4 pixels (four to a quad, and some in every quad), each a warp of its own. They share none, so
    /// that they may come behind what else there is of their primitive.
    #[inline(never)]
    fn blocks(&mut self, primitive: u32, blocks: &[([i32; 2], u32)]) {
        for blocks in blocks.chunks(TOGETHER) {
            if blocks.len() == 1 || !self.blocks_together(primitive, blocks) {
                blocks.iter().for_each(|(at, mask)| self.block(primitive, *at, *mask));
            }
        }
    }

    /// Shades 8x4 pixels.
    #[inline(never)]
    fn block(&mut self, primitive: u32, at: [i32; 2], mask: u32) {
        if !self.worker.is_stopped() {
            let quads = quads(primitive, at, mask);
            let mut pieces = WarpQuads::of_block(&quads, at, self.source);
            pieces.set_frame(&self.frames.alone);
            self.warp(&pieces, WarpLanes { live: mask, helpers: !mask });
        }
    }

    /// Shades the quads in the queue, as many as a warp has.
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
            pieces.set_frame(&self.frames.beside);
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

    /// What comes after the shader, of which these lanes were live: alpha test, late tests, and colours; or pixels, for this
    /// surface, if it has left those.
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

/// What is known of the frames of a worker's warps, of whatever runs one after the other.
#[derive(Debug, Default)]
pub struct Frames {
    /// Of the warp that runs alone.
    alone: FrameState,
    /// Of those that run side by side.
    beside: FrameState,
}

/// Which of a worker's warps.
#[derive(Clone, Copy)]
enum Ran {
    /// The one that runs alone.
    Alone,
    /// The one with this number, of those side by side.
    Beside(usize),
}

impl Ran {
    fn warp<'w>(self, worker: &'w Worker<'_>) -> &'w Warp {
        match self {
            Self::Alone => &worker.warp,
            Self::Beside(number) => &worker.beside[number],
        }
    }
}

/// Some times 8x4 pixels of a primitive, each with its first pixel and what is covered of it, row by row. Each step is
/// done for all of them before the next, so that the processor need not wait for one to begin another.
#[derive(Clone, Copy, Default)]
struct Halves {
    all: [([i32; 2], u32); HALVES],
    count: usize,
}

/// How many primitives before one is drawn it is fetched.
const AHEAD: usize = 3;

/// Times 8x4 pixels that are handled together.
const HALVES: usize = 16;

impl Halves {
    /// Adds one, if anything of it is covered.
    #[inline(always)]
    fn push(&mut self, at: [i32; 2], mask: u32) {
        self.all[self.count] = (at, mask);
        self.count += usize::from(mask != 0);
    }
}

/// Draws a primitive in `area`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+popcnt", "x86_64+avx2+popcnt"))]
fn cover(run: &mut BandRun<'_, '_, '_>, index: u32, primitive: &ScreenPrimitive, area: Rect) {
    let mut halves = Halves::default();
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

/// All steps of these pixels, compiled for the widest vectors.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl+popcnt", "x86_64+avx2+popcnt"))]
fn draw_halves(run: &mut BandRun<'_, '_, '_>, index: u32, primitive: &ScreenPrimitive, halves: &mut Halves) {
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

/// Tests the `covered` lanes of a warp, whose quads may show either face.
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
fn occupied(mask: u32) -> u32 {
    let pairs = mask | mask >> 1;
    (pairs | pairs >> 2) & EVERY_QUAD
}

/// The lanes of a warp of these quads: those outside the primitive help.
pub fn lanes_of_quads(quads: &[Quad]) -> WarpLanes {
    let mut live = 0;
    for (q, quad) in quads.iter().enumerate() {
        live |= quad.mask << (4 * q);
    }
    let all = WarpLanes::first(4 * quads.len()).live;
    WarpLanes { live, helpers: all & !live }
}

/// Puts what the fragment starts with into registers.
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

/// Four registers as 32-bit colours; those of the half file are `widened` first.
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
