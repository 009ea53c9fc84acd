//! Fragments of one band of rows: test early, gather quads, shade eight at a time, merge.

pub mod bands;

use crate::fault::Fault;
use crate::shader::{LANES, Lanes, Number, Outcome, Warp, run};

use crate::draw::gras::quad::{QUADS, Quad, covered_quads, halves, quad_order, quads};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::{Face, ScreenPrimitive};
use crate::draw::gras::state::{Barycentrics, DrawState, FragmentState};
use crate::draw::rb::color::{ColorOutput, Precision};
use crate::draw::rb::depth::{Words, compare_floats};
use crate::draw::rb::fill::{Fill, fill_rectangle, fill_rows};
use crate::draw::rb::pixels::{Quads, Rows};
use crate::draw::rb::state::TestOrder;
use crate::draw::rb::surface::Plane;
use crate::draw::sp::log::Reports;
use crate::draw::sp::memory::{Access, Port, StageEnvironment};
use crate::draw::vertices::Vertices;
use crate::draw::vpc::interpolate::{Source, WarpQuads, Weights, depth_rows};

/// Warp instructions that a draw may run in one band.
const MAX_INSTRUCTIONS: u64 = 1 << 28;

/// A draw ready for its bands.
pub struct Frame<'a> {
    /// Its state.
    pub state: &'a DrawState,
    /// Its vertices.
    pub vertices: &'a Vertices,
    /// Its primitives, in order.
    pub primitives: &'a [ScreenPrimitive],
    /// Of each of them.
    pub bounds: &'a [Rect],
    /// How fragments are handled.
    pub plan: Plan,
}

impl<'a> Frame<'a> {
    /// What the fragments of this draw run in.
    pub fn warp(&self) -> Warp {
        let stage = &self.state.fragment.stage;
        match self.plan.color {
            Coloring::Shaded => Warp::new(&stage.program, &stage.constants),
            Coloring::None | Coloring::Solid(_) => Warp::default(),
        }
    }

    /// What `quads` are pieces of.
    fn pieces<'q>(&self, quads: &'q [Quad]) -> WarpQuads<'q>
    where
        'a: 'q,
    {
        let FragmentState { interpolation, replacement, .. } = &self.state.fragment;
        let Frame { primitives, vertices, .. } = *self;
        WarpQuads::new(quads, Source { primitives, vertices, interpolation, replacement })
    }
}

/// What can be done without running the shader for every pixel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Plan {
    /// Depth and stencil before or after the shader.
    pub order: TestOrder,
    /// What covered pixels get.
    pub color: Coloring,
}

/// Where colours come from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Coloring {
    /// Nothing is written: the shader has no effect.
    None,
    /// All pixels get the same dword, one per target.
    Solid(Vec<u32>),
    /// The shader says.
    Shaded,
}

/// What a band reports.
#[derive(Default)]
pub struct BandResult {
    /// Samples that passed.
    pub samples: u64,
    /// What the shader reported.
    pub reports: Reports,
}

/// Draws the primitives `order` (indices, ascending) within `area`. `warp` is one of
/// [`Frame::warp`], and may have been used for other bands.
pub fn shade(
    frame: &Frame<'_>,
    area: Rect,
    planes: &mut [Plane<'_>],
    port: Port<'_>,
    warp: &mut Warp,
    order: impl Iterator<Item = u32>,
) -> BandResult {
    let mut band = Band::new(frame, planes, port, warp);
    for index in order {
        if band.access.reports.fault.is_some() {
            break;
        }
        band.draw(index, area);
    }
    band.flush();
    band.finish()
}

/// The colours that a shader without inputs gives every pixel: one run, all outputs.
pub fn run_once(state: &DrawState, port: Port<'_>) -> Option<Vec<[Words; 4]>> {
    let stage = &state.fragment.stage;
    let mut warp = Warp::new(&stage.program, &stage.constants);
    warp.restart(&stage.program, u32::MAX, 0);
    let mut access = Access::new(port, stage);
    let mut environment = StageEnvironment { access: &mut access, pieces: None };
    match run(&stage.program, &mut warp, &mut environment) {
        Outcome::Ended => {}
        Outcome::Barrier | Outcome::Fault(_) => return None,
    }
    let colors = |output| colors(&warp, output, &mut Default::default()).map(|words| *words);
    Some(state.targets.color.iter().map(|target| colors(&target.output)).collect())
}

/// Which pixels of a draw somebody wants to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// The n-th 8x4 pixels that a primitive touches, counted over the draw.
    Group(u32),
    /// Those around this pixel, of the first primitive that covers it.
    Pixel([i32; 2]),
}

/// 8x4 pixels of one primitive: a warp.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Group {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// The first pixel.
    pub at: [i32; 2],
    /// Covered lanes, four to a quad.
    pub lanes: u32,
}

impl Group {
    /// The pixel of `lane`.
    pub fn pixel(&self, lane: usize) -> [i32; 2] {
        let (quad, corner) = (lane as i32 / 4, lane as i32 % 4);
        [self.at[0] + 2 * (quad % 4) + corner % 2, self.at[1] + 2 * (quad / 4) + corner / 2]
    }
}

/// Hands over the warp of the chosen pixels of `area` with its inputs in place. Depth and
/// stencil take no pixels away.
///
/// # Errors
/// A fault when the draw covers no such pixels.
pub fn launch(
    frame: &Frame<'_>,
    area: Rect,
    chosen: Chosen,
    port: Port<'_>,
    look: impl FnOnce(Group, Warp, StageEnvironment<'_, '_, '_>),
) -> Result<(), Fault> {
    let nothing = || Fault::Draw("no primitive covers such pixels".into());
    let group = find(frame, area, chosen).ok_or_else(nothing)?;
    let quads = quads(group.primitive, group.at, group.lanes);
    let stage = &frame.state.fragment.stage;
    let mut warp = Warp::new(&stage.program, &stage.constants);
    let mut band = Band::new(frame, &mut [], port, &mut warp);
    let pieces = frame.pieces(&quads);
    band.launch(&pieces, &pieces.weights());
    let mut access = band.access;
    look(group, warp, StageEnvironment { access: &mut access, pieces: Some(&pieces) });
    Ok(())
}

fn find(frame: &Frame<'_>, area: Rect, chosen: Chosen) -> Option<Group> {
    let (mut skip, place) = match chosen {
        Chosen::Group(n) => (n, area),
        Chosen::Pixel([x, y]) => (0, area.intersect(Rect { x0: x, y0: y, x1: x + 1, y1: y + 1 })),
    };
    frame.primitives.iter().enumerate().find_map(|(index, primitive)| {
        let mut found = None;
        primitive.shape.cover(place, |x, y, mask| {
            for (at, _) in halves([x, y], mask) {
                match skip {
                    0 => found = found.or(Some(at)),
                    _ => skip -= 1,
                }
            }
        });
        found.map(|at| Group { primitive: index as u32, at, lanes: lanes(primitive, at, area) })
    })
}

/// The lanes of the 8x4 pixels at (x, y) that the primitive covers.
fn lanes(primitive: &ScreenPrimitive, [x, y]: [i32; 2], area: Rect) -> u32 {
    let mut lanes = 0;
    let group = Rect { x0: x, y0: y, x1: x + 8, y1: y + 4 };
    primitive.shape.cover(area.intersect(group), |x, y, mask| {
        halves([x, y], mask).for_each(|(_, mask)| lanes |= quad_order(mask));
    });
    lanes
}

struct Band<'a, 'p, 'b> {
    frame: &'a Frame<'a>,
    planes: &'p mut [Plane<'b>],
    warp: &'p mut Warp,
    access: Access<'a>,
    queue: [Quad; QUADS],
    queued: usize,
    samples: u64,
}

impl<'a, 'p, 'b> Band<'a, 'p, 'b> {
    fn new(frame: &'a Frame<'a>, planes: &'p mut [Plane<'b>], port: Port<'a>, warp: &'p mut Warp) -> Self {
        Self {
            frame,
            planes,
            warp,
            access: Access::new(port, &frame.state.fragment.stage),
            queue: [Quad::default(); QUADS],
            queued: 0,
            samples: 0,
        }
    }

    fn finish(self) -> BandResult {
        BandResult { samples: self.samples, reports: self.access.finish() }
    }

    fn draw(&mut self, index: u32, area: Rect) {
        let primitive = &self.frame.primitives[index as usize];
        match self.depth_fill(primitive) {
            Some(depth) => self.fill(primitive.shape.bounds.intersect(area), depth),
            None => primitive.shape.cover(area, |x, y, mask| self.block(index, primitive, [x, y], mask)),
        }
    }

    /// What happens to the depth and stencil of a rectangle all of whose pixels get the
    /// same, whatever they hold; that is what clears are.
    fn depth_fill(&self, primitive: &ScreenPrimitive) -> Option<[Option<Fill>; 2]> {
        if self.frame.plan.color == Coloring::Shaded || !primitive.shape.is_rectangle() {
            return None;
        }
        let Some(depth) = &self.frame.state.targets.depth else { return Some([None; 2]) };
        let flat = primitive.z.dx == 0.0 && primitive.z.dy == 0.0;
        let corner = primitive.shape.bounds;
        flat.then(|| depth.fill(primitive.face, depth_rows(primitive, [corner.x0, corner.y0])[0]))?
    }

    /// Fills `area` with what its pixels get.
    fn fill(&mut self, area: Rect, depth: [Option<Fill>; 2]) {
        self.samples += area.area();
        depth.into_iter().flatten().for_each(|fill| fill_rectangle(self.planes, area, fill));
        if let Coloring::Solid(words) = &self.frame.plan.color {
            for (target, &value) in self.frame.state.targets.color.iter().zip(words) {
                fill_rectangle(self.planes, area, Fill { plane: target.plane, value, mask: u32::MAX });
            }
        }
    }

    /// The covered pixels of an 8x8 block.
    fn block(&mut self, index: u32, primitive: &ScreenPrimitive, [x, y]: [i32; 2], mask: u64) {
        for (at, mask) in halves([x, y], mask) {
            self.half_block(index, primitive, at, mask);
        }
    }

    fn half_block(&mut self, index: u32, primitive: &ScreenPrimitive, at: [i32; 2], mut mask: u32) {
        if self.frame.plan.order == TestOrder::Early {
            if let Some(depth) = &self.frame.state.targets.depth {
                let z = depth_rows(primitive, at);
                mask = depth.test(self.planes, &Rows(at), primitive.face, &z, mask);
            }
            self.samples += u64::from(mask.count_ones());
        }
        match &self.frame.plan.color {
            Coloring::None => {}
            Coloring::Solid(words) => {
                for (target, word) in self.frame.state.targets.color.iter().zip(words) {
                    fill_rows(&mut self.planes[target.plane], at, mask, *word);
                }
            }
            Coloring::Shaded => self.enqueue(index, at, quad_order(mask)),
        }
    }

    /// Queues quads of 8x4 pixels. Two quads of a warp must not share a pixel, or their
    /// order would be lost.
    fn enqueue(&mut self, primitive: u32, at: [i32; 2], mask: u32) {
        let queue = &self.queue[..self.queued];
        if queue.iter().any(|quad| quad.primitive != primitive && quad.touches(at, mask)) {
            self.flush();
        }
        for quad in covered_quads(primitive, at, mask) {
            self.queue[self.queued] = quad;
            self.queued += 1;
            if self.queued == QUADS {
                self.flush();
            }
        }
    }

    /// Shades the quads in the queue.
    fn flush(&mut self) {
        let count = std::mem::take(&mut self.queued);
        if count > 0 && self.access.reports.fault.is_none() {
            let quads = self.queue;
            self.warp(&quads[..count]);
        }
    }

    fn warp(&mut self, quads: &[Quad]) {
        let pieces = self.frame.pieces(quads);
        let weights = pieces.weights();
        self.launch(&pieces, &weights);
        if let Some(fault) = self.run(&pieces) {
            self.access.reports.fault = Some(fault);
            return;
        }
        let covered = self.warp.covered();
        self.merge(&pieces, &weights, covered);
    }

    fn run(&mut self, pieces: &WarpQuads<'_>) -> Option<Fault> {
        let fault = self.access.run(self.warp, Some(pieces));
        self.access.reports.enforce(MAX_INSTRUCTIONS);
        fault.map(|fault| Fault::Shader(format!("fragment {fault}")))
    }

    /// Starts the warp with its inputs in place.
    fn launch(&mut self, pieces: &WarpQuads<'_>, weights: &Weights) {
        let quads = pieces.quads;
        let live = quads.iter().enumerate().fold(0, |mask, (q, quad)| mask | quad.mask << (4 * q));
        let all = if quads.len() == QUADS { u32::MAX } else { (1 << (4 * quads.len())) - 1 };
        self.warp.restart(&self.frame.state.fragment.stage.program, live, all & !live);
        self.inputs(pieces, weights, live);
    }

    /// Puts what the fragment starts with into registers.
    fn inputs(&mut self, pieces: &WarpQuads<'_>, weights: &Weights, live: u32) {
        let fragment = &self.frame.state.fragment;
        for (id, kind) in &fragment.ij {
            let pair = match kind {
                Barycentrics::Perspective => &weights.perspective,
                Barycentrics::Linear => &weights.linear,
            };
            *self.warp.full_mut(*id) = Lanes::from(pair[0]);
            *self.warp.full_mut(id + 1) = Lanes::from(pair[1]);
        }
        if let Some(id) = fragment.xy {
            *self.warp.full_mut(id) = Lanes(weights.x.map(|x| (x * 16.0) as u32));
            *self.warp.full_mut(id + 1) = Lanes(weights.y.map(|y| (y * 16.0) as u32));
        }
        if let Some(id) = fragment.zw {
            *self.warp.full_mut(id) = Lanes::from(weights.z);
            *self.warp.full_mut(id + 1) = Lanes::from(weights.inv_w);
        }
        if let Some(id) = fragment.face {
            let lanes = self.warp.half_mut(id);
            for (lanes, quad) in lanes.chunks_exact_mut(4).zip(pieces.quads) {
                let back = pieces.primitive(quad).face == Face::Back;
                lanes.fill(if back { 0xffff } else { 0 });
            }
        }
        if let Some(id) = fragment.sample_id {
            *self.warp.half_mut(id) = Lanes::ZERO;
        }
        if let Some(id) = fragment.sample_mask {
            *self.warp.full_mut(id) = Lanes(std::array::from_fn(|lane| (live >> lane) & 1));
        }
    }

    /// What comes after the shader: alpha test, late tests, colours.
    fn merge(&mut self, pieces: &WarpQuads<'_>, weights: &Weights, mut covered: u32) {
        let targets = &self.frame.state.targets;
        if let Some((func, reference)) = targets.alpha_test {
            let mut widened = Default::default();
            let alpha = colors(self.warp, &targets.outputs[0], &mut widened)[3];
            covered &= (0..LANES).fold(0, |mask, lane| {
                let passes = compare_floats(func, f32::from_bits(alpha[lane]), reference);
                mask | u32::from(passes) << lane
            });
        }
        if self.frame.plan.order == TestOrder::Late {
            covered = self.late_test(pieces, weights, covered);
            self.samples += u64::from(covered.count_ones());
        }
        if covered == 0 {
            return;
        }
        let (mut widened, mut widened_dual) = Default::default();
        let dual = colors(self.warp, &targets.outputs[1], &mut widened_dual);
        for target in &targets.color {
            let src = colors(self.warp, &target.output, &mut widened);
            target.write(&mut self.planes[target.plane], pieces.quads, covered, src, dual);
        }
    }

    fn late_test(&mut self, pieces: &WarpQuads<'_>, weights: &Weights, covered: u32) -> u32 {
        let targets = &self.frame.state.targets;
        let Some(depth) = &targets.depth else { return covered };
        let z = targets.depth_output.map_or(weights.z, |id| self.warp.full(id).floats());
        let mut passed = 0;
        for face in [Face::Front, Face::Back] {
            let mask = pieces.quads.iter().enumerate().fold(0u32, |mask, (q, quad)| {
                let same = pieces.primitive(quad).face == face;
                if same { mask | 15 << (4 * q) } else { mask }
            });
            if mask & covered != 0 {
                passed |= depth.test(self.planes, &Quads(pieces.quads), face, &z, mask & covered);
            }
        }
        passed
    }
}

/// Four registers as 32-bit colours; those of the half file are `widened` first.
fn colors<'a>(warp: &'a Warp, output: &ColorOutput, widened: &'a mut [Words; 4]) -> [&'a Words; 4] {
    let half = |c: usize| &warp.half(output.regid + c as u32).0;
    let widen: fn(u32) -> u32 = match (output.precision, output.number) {
        (Precision::Full, _) => return std::array::from_fn(|c| &warp.full(output.regid + c as u32).0),
        (Precision::Half, Number::Uint) => return std::array::from_fn(half),
        (Precision::Half, Number::Float) => |h| half::f16::from_bits(h as u16).to_f32().to_bits(),
        (Precision::Half, Number::Sint) => |h| h as u16 as i16 as u32,
    };
    for (c, words) in widened.iter_mut().enumerate() {
        *words = half(c).map(widen);
    }
    widened.each_ref()
}
