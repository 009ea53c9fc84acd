//! Interpolates varyings at the pixels of a warp: eight quads of one or more primitives.

use crate::draw::vpc::state::Interpolation;
use crate::draw::vpc::state::Replacement;
use multiversion::multiversion;
use multiversion::target::match_target;

use a4emu_shader::{LANES, Lanes};

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::planes::{FrameState, Interpolated, interpolate};
use super::state::MAX_VARYINGS;
use crate::draw::gras::affine::{Affine, Planes};
use crate::draw::gras::quad::{QUADS, Quad, Quads};
use crate::draw::gras::setup::{ScreenPrimitive, Sprite};
use crate::draw::vertices::Vertices;

/// A float per lane.
pub type Floats = [f32; LANES];

/// Source of the varyings of a draw.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// All primitives of the draw.
    pub primitives: &'a [ScreenPrimitive],
    /// All vertices of the draw.
    pub vertices: &'a Vertices,
    /// Interpolation modes by location.
    pub interpolation: &'a [Interpolation; MAX_VARYINGS],
    /// Replacement modes in point sprites, by location.
    pub replacement: &'a [Replacement; MAX_VARYINGS],
    /// Set of interpolated locations.
    pub interpolated: Interpolated,
}

/// The quads of a warp with their primitives.
pub struct WarpQuads<'a> {
    /// The quads, at least one.
    pub quads: Quads<'a>,
    pub(super) source: &'a Source<'a>,
    /// State of the frame of the current warp.
    pub(super) frame: Option<&'a FrameState>,
    /// Quads whose primitive differs from the previous one, one bit each. The first quad is set.
    starts: u32,
}

/// A run of quads of the same primitive, from the first quad up to the next run. Values of a run are written
/// to all quads from there on. Later runs overwrite theirs, so no end has to be checked.
pub(super) struct Run<'a> {
    /// The first quad.
    pub(super) first: usize,
    pub(super) primitive: &'a ScreenPrimitive,
}

/// One number per quad.
pub(super) type OfQuads = [f32; QUADS];

/// Positions and weights of a warp's pixels.
pub struct Weights {
    /// Window x of pixel centres.
    pub x: Floats,
    /// Window y of pixel centres.
    pub y: Floats,
    /// Window depth.
    pub z: Floats,
    /// 1 / w.
    pub inv_w: Floats,
    /// i and j with perspective.
    pub perspective: [Floats; 2],
    /// i and j linear on the screen.
    pub linear: [Floats; 2],
}

impl<'a> WarpQuads<'a> {
    /// Creates a warp of quads of `source`, at least one.
    pub fn new(quads: &'a [Quad], source: &'a Source<'a>) -> Self {
        let mut starts = 1;
        for (q, pair) in (1..).zip(quads.array_windows::<2>()) {
            starts |= u32::from(pair[0].primitive != pair[1].primitive) << q;
        }
        Self { quads: Quads::new(quads), source, frame: None, starts }
    }

    /// Creates a warp of the quads of the 8x4 block at `at`, all of one primitive of `source`.
    pub fn of_block(quads: &'a [Quad; QUADS], at: [i32; 2], source: &'a Source<'a>) -> Self {
        Self { quads: Quads::of_block(quads, at), source, frame: None, starts: 1 }
    }

    /// Sets the state of the warp's frame.
    pub fn set_frame(&mut self, frame: &'a FrameState) {
        self.frame = Some(frame);
    }

    /// Returns the primitive, if all quads have the same.
    #[inline(always)]
    pub(super) fn only(&self) -> Option<&'a ScreenPrimitive> {
        (self.starts == 1).then(|| self.primitive(&self.quads[0]))
    }

    /// Returns the runs of quads, at most eight.
    #[inline(always)]
    pub(super) fn runs(&self) -> impl Iterator<Item = Run<'a>> {
        let mut rest = self.starts;
        std::iter::from_fn(move || {
            let first = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(Run { first, primitive: self.primitive(&self.quads[first]) })
        })
    }

    /// Returns the primitive of `quad`.
    pub fn primitive(&self, quad: &Quad) -> &'a ScreenPrimitive {
        &self.source.primitives[quad.primitive as usize]
    }

    /// Returns positions and weights of all lanes.
    pub fn weights(&self) -> Weights {
        weights(self)
    }

    /// Computes only perspective i and j of all lanes.
    pub fn perspective(&self, out: &mut [Lanes; 2]) {
        perspective(self, out);
    }

    /// Returns positions and weights at points `by` pixels from the pixel centres.
    pub fn weights_beside(&self, by: &[Floats; 2]) -> Weights {
        let mut out = Weights::at_centres(&self.quads);
        for (at, by) in [&mut out.x, &mut out.y].into_iter().zip(by) {
            at.iter_mut().zip(by).for_each(|(at, by)| *at += by);
        }
        weigh_all(self, &mut out, numbers_of_lanes);
        out
    }

    /// Interpolates component `location` at weights `i`, `j`.
    pub fn varying(&self, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
        match self.source.interpolation.get(location) {
            Some(Interpolation::Flat) => self.provoking(location, out),
            Some(Interpolation::Zero) | None => *out = Lanes::ZERO,
            Some(Interpolation::One) => *out = Lanes::splat(1.0f32.to_bits()),
            Some(Interpolation::Smooth) => interpolate(self, location, i, j, out),
        }
        self.replace(location, out);
    }

    /// Returns component `location` of each lane's provoking vertex, bits unchanged.
    pub fn provoking(&self, location: usize, out: &mut Lanes) {
        for (lanes, quad) in out.chunks_exact_mut(4).zip(&*self.quads) {
            let row = self.source.vertices.varyings(self.primitive(quad).provoking);
            lanes.fill(row.get(location).copied().unwrap_or(0));
        }
    }

    /// Writes sprite coordinates to the lanes of points. S grows to the right, T down.
    pub fn replace(&self, location: usize, out: &mut Lanes) {
        let Some(mode @ (Replacement::S | Replacement::T | Replacement::OneMinusT)) =
            self.source.replacement.get(location)
        else {
            return;
        };
        for (lanes, quad) in out.chunks_exact_mut(4).zip(&*self.quads) {
            let Some(sprite) = self.primitive(quad).sprite else { continue };
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = sprite_coordinate(*mode, &sprite, quad, k).to_bits();
            }
        }
    }
}

fn sprite_coordinate(mode: Replacement, sprite: &Sprite, quad: &Quad, k: usize) -> f32 {
    let x = quad.x as f32 + 0.5 + (k & 1) as f32 - sprite.corner[0];
    let y = quad.y as f32 + 0.5 + (k >> 1) as f32 - sprite.corner[1];
    match mode {
        Replacement::S => x * sprite.inv_size,
        Replacement::T => y * sprite.inv_size,
        _ => 1.0 - y * sprite.inv_size,
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn weights(pieces: &WarpQuads<'_>) -> Weights {
    let mut out = Weights::at_centres(&pieces.quads);
    match_target! {
        "x86_64+avx512f+avx512dq" => weigh_all(pieces, &mut out, |pieces| avx512::numbers_of_lanes(pieces)),
        _ => weigh_all(pieces, &mut out, numbers_of_lanes),
    }
    out
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn perspective(pieces: &WarpQuads<'_>, out: &mut [Lanes; 2]) {
    let position = |(x, y): &(Floats, Floats), l: usize| [x[l], y[l]];
    match (pieces.quads.block(), pieces.only()) {
        (Some(at), Some(primitive)) => of_blocks(primitive, std::iter::once((at, out))),
        (None, Some(primitive)) => {
            let (planes, centres) = (primitive.planes, centres(&pieces.quads));
            perspective_by(|l| position(&centres, l), |_| planes, out);
        }
        (_, None) => {
            let numbers: [Floats; OF_WEIGHTS] = match_target! {
                "x86_64+avx512f+avx512dq" => avx512::numbers_of_lanes(pieces),
                _ => numbers_of_lanes(pieces),
            };
            let centres = centres(&pieces.quads);
            perspective_by(|l| position(&centres, l), |l| planes_of(in_lane(&numbers, l)), out);
        }
    }
}

/// Computes perspective i and j of several 8x4 blocks of a primitive. `out` has room for each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn perspective_of_blocks<'o>(
    primitive: &ScreenPrimitive,
    blocks: &[([i32; 2], u32)],
    out: impl Iterator<Item = &'o mut [Lanes; 2]>,
) {
    of_blocks(primitive, blocks.iter().map(|(at, _)| *at).zip(out));
}

#[inline(always)]
fn of_blocks<'o>(primitive: &ScreenPrimitive, blocks: impl Iterator<Item = ([i32; 2], &'o mut [Lanes; 2])>) {
    let planes = primitive.planes;
    let upright = planes.upright();
    for ([x, y], out) in blocks {
        let first = [x as f32 + 0.5, y as f32 + 0.5];
        let position = |l: usize| [first[0] + OF_BLOCK[0][l], first[1] + OF_BLOCK[1][l]];
        match upright {
            Some(upright) => upright_by(position, upright, out),
            None => perspective_by(position, |_| planes, out),
        }
    }
}

#[inline(always)]
fn perspective_by(
    position: impl Fn(usize) -> [f32; 2],
    planes: impl Fn(usize) -> Planes,
    [i, j]: &mut [Lanes; 2],
) {
    for l in 0..LANES {
        let [at_i, at_j] = planes(l).at(position(l)).perspective;
        (i.0[l], j.0[l]) = (at_i.to_bits(), at_j.to_bits());
    }
}

/// Computes perspective i and j of a primitive with constant 1/w.
#[inline(always)]
fn upright_by(position: impl Fn(usize) -> [f32; 2], planes: Upright, [i, j]: &mut [Lanes; 2]) {
    for l in 0..LANES {
        let [x, y] = position(l);
        let [at_i, at_j] = planes.at(x, y);
        (i.0[l], j.0[l]) = (at_i.to_bits(), at_j.to_bits());
    }
}

/// Offsets of the lanes of an 8x4 block from its first pixel, on both axes.
const OF_BLOCK: [Floats; 2] = {
    let mut out = [[0.0; LANES]; 2];
    let mut l = 0;
    while l < LANES {
        let (quad, corner) = (l / 4, l % 4);
        out[0][l] = (2 * (quad % 4) + corner % 2) as f32;
        out[1][l] = (2 * (quad / 4) + corner / 2) as f32;
        l += 1;
    }
    out
};

impl Weights {
    /// Returns these positions with the barycentrics of `other`.
    pub fn with_barycentrics(self, other: Self) -> Self {
        Self { perspective: other.perspective, linear: other.linear, ..self }
    }

    /// Returns positions of pixel centres, with zero weights.
    #[inline(always)]
    fn at_centres(quads: &[Quad]) -> Self {
        let zero = [0.0; LANES];
        let (x, y) = centres(quads);
        Self { x, y, z: zero, inv_w: zero, perspective: [zero; 2], linear: [zero; 2] }
    }
}

/// Returns window x and y of the pixels' centres.
#[inline(always)]
fn centres(quads: &[Quad]) -> (Floats, Floats) {
    let mut padded = [Quad::default(); QUADS];
    let all = match quads.as_array() {
        Some(all) => all,
        None => {
            padded.iter_mut().zip(quads).for_each(|(to, quad)| *to = *quad);
            &padded
        }
    };
    let (mut left, mut top) = ([0.0; QUADS], [0.0; QUADS]);
    for q in 0..QUADS {
        (left[q], top[q]) = (all[q].x as f32 + 0.5, all[q].y as f32 + 0.5);
    }
    let (mut x, mut y) = (to_lanes(left), to_lanes(top));
    for l in 0..LANES {
        x[l] += (l & 1) as f32;
        y[l] += (l >> 1 & 1) as f32;
    }
    (x, y)
}

/// Computes weights at the positions in `out`. `numbers` is a variant of [`numbers_of_lanes`].
#[inline(always)]
fn weigh_all(
    pieces: &WarpQuads<'_>,
    out: &mut Weights,
    numbers: impl Fn(&WarpQuads<'_>) -> [Floats; NUMBERS],
) {
    match pieces.only() {
        Some(primitive) => {
            let of_all = (primitive.planes, primitive.bias);
            weigh_by(out, |_| of_all);
        }
        None => {
            let numbers = numbers(pieces);
            let [bias] = of_lanes(pieces.runs(), |primitive| [primitive.bias]);
            weigh_by(out, |l| (planes_of(in_lane(&numbers, l)), bias[l]));
        }
    }
}

#[inline(always)]
fn weigh_by(out: &mut Weights, planes: impl Fn(usize) -> (Planes, f32)) {
    let Weights { x, y, z, inv_w, perspective: [pi, pj], linear: [i, j] } = out;
    for l in 0..LANES {
        let ((planes, bias), position) = (planes(l), [x[l], y[l]]);
        let at = planes.at(position);
        (z[l], inv_w[l]) = (planes.depth(bias, position), at.inv_w);
        ([pi[l], pj[l]], [i[l], j[l]]) = (at.perspective, at.linear);
    }
}

/// Weights at a position.
struct AtPosition {
    inv_w: f32,
    perspective: [f32; 2],
    linear: [f32; 2],
}

/// Planes of the weights of a primitive with the same 1/w at all vertices.
#[derive(Clone, Copy)]
struct Upright {
    base: [f32; 2],
    i: Affine,
    j: Affine,
    inv_w: f32,
    /// 1 / `inv_w`.
    w: f32,
}

impl Upright {
    /// Returns perspective i and j as [`Planes::at`] does.
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> [f32; 2] {
        let from = [x - self.base[0], y - self.base[1]];
        [&self.i, &self.j].map(|plane| on_plane(plane, from) * self.inv_w * self.w)
    }
}

#[inline(always)]
fn on_plane(of: &Affine, [dx, dy]: [f32; 2]) -> f32 {
    of.at + of.dx * dx + of.dy * dy
}

impl Planes {
    /// Computes all weights. The compiler drops unused ones after inlining.
    #[inline(always)]
    fn at(&self, [x, y]: [f32; 2]) -> AtPosition {
        let from = [x - self.base[0], y - self.base[1]];
        let (i, j) = (on_plane(&self.i, from), on_plane(&self.j, from));
        let [w0, w1, w2] = self.inv_w;
        let w = w0 + i * (w1 - w0) + j * (w2 - w0);
        let inv = 1.0 / w;
        AtPosition { inv_w: w, perspective: [i * w1 * inv, j * w2 * inv], linear: [i, j] }
    }

    /// Returns the constant-1/w form, if it gives the same bits. Finite i and j times 0 are zero, which
    /// changes no other number.
    #[inline(always)]
    fn upright(&self) -> Option<Upright> {
        // Values that cannot overflow: positions are below 2^16.
        const LARGE: f32 = 1e30;
        let Self { base, i, j, inv_w: [w0, w1, w2], .. } = *self;
        let numbers = [i.at, i.dx, i.dy, j.at, j.dx, j.dy, base[0], base[1]];
        let are_small = numbers.iter().all(|number| number.abs() < LARGE);
        let is_upright = w0 == w1 && w0 == w2 && w0 != 0.0 && w0.is_finite();
        (is_upright && are_small).then(|| Upright { base, i, j, inv_w: w0, w: 1.0 / w0 })
    }

    /// Computes depth by the expression of [`ScreenPrimitive::depth_at`], so that early and late tests agree.
    #[inline(always)]
    fn depth(&self, bias: f32, [x, y]: [f32; 2]) -> f32 {
        on_plane(&self.z, [x - self.origin[0], y - self.origin[1]]) + bias
    }
}

/// Number of floats in [`Planes`], and number of those that weights need.
const NUMBERS: usize = size_of::<Planes>() / size_of::<f32>();
const OF_WEIGHTS: usize = NUMBERS - 5;

/// Returns the first `N` numbers of the planes of several primitives, each in the lanes of its quads.
#[inline(always)]
fn numbers_of_lanes<const N: usize>(pieces: &WarpQuads<'_>) -> [Floats; N] {
    of_lanes(pieces.runs(), |primitive| {
        let numbers: &[f32; NUMBERS] = bytemuck::cast_ref(&primitive.planes);
        *numbers.first_chunk().expect("as many")
    })
}

/// Returns planes with these first numbers.
#[inline(always)]
fn planes_of<const N: usize>(numbers: [f32; N]) -> Planes {
    let mut all = [0.0; NUMBERS];
    all[..N].copy_from_slice(&numbers);
    bytemuck::cast(all)
}

/// Returns numbers of several primitives, each in the lanes of its quads.
#[inline(always)]
fn of_lanes<'a, const N: usize>(
    runs: impl Iterator<Item = Run<'a>>,
    numbers: impl Fn(&ScreenPrimitive) -> [f32; N],
) -> [Floats; N] {
    let mut of_quads = [[0.0; QUADS]; N];
    for run in runs {
        let numbers = numbers(run.primitive);
        for n in 0..N {
            from_quad(run.first, &mut of_quads[n], numbers[n]);
        }
    }
    let mut out = [[0.0; LANES]; N];
    for n in 0..N {
        out[n] = to_lanes(of_quads[n]);
    }
    out
}

/// Returns the numbers of a lane.
#[inline(always)]
fn in_lane<const N: usize>(numbers: &[Floats; N], lane: usize) -> [f32; N] {
    let mut out = [0.0; N];
    for n in 0..N {
        out[n] = numbers[n][lane];
    }
    out
}

/// Writes `number` to the quads from `first` on.
#[inline(always)]
pub(super) fn from_quad(first: usize, out: &mut OfQuads, number: f32) {
    for (q, out) in out.iter_mut().enumerate() {
        *out = if q < first { *out } else { number };
    }
}

/// Copies the value of each quad to its lanes.
#[inline(always)]
pub(super) fn to_lanes<T: Copy + Default>(of_quads: [T; QUADS]) -> [T; LANES] {
    let mut out = [T::default(); LANES];
    for (lanes, of_quad) in out.as_chunks_mut::<4>().0.iter_mut().zip(of_quads) {
        *lanes = [of_quad; 4];
    }
    out
}

#[cfg(test)]
pub(in crate::draw) mod tests {
    use super::*;
    use crate::draw::gras::quad::quads;
    use crate::draw::gras::raster::{Rect, Shape};
    use crate::draw::gras::setup::Face;

    /// Returns a triangle in perspective.
    pub fn primitive() -> ScreenPrimitive {
        let plane = |at, dx, dy| Affine { at, dx, dy };
        ScreenPrimitive {
            shape: Shape::rectangle(Rect { x0: 0, y0: 0, x1: 64, y1: 64 }),
            face: Face::Front,
            sprite: None,
            vertices: [0, 1, 2],
            provoking: 0,
            planes: Planes {
                base: [3.5, 5.5],
                i: plane(0.1, 0.013, 0.007),
                j: plane(0.2, -0.003, 0.011),
                inv_w: [0.7, 1.3, 0.45],
                origin: [0.5, 0.5],
                z: plane(0.25, 0.01, -0.003),
            },
            bias: 0.0,
        }
    }

    /// Tests perspective and constant 1/w, inside and outside the range of the short form.
    #[test]
    fn a_block_has_the_weights_of_its_quads() {
        has_the_weights_of_its_quads(primitive());
        let far = Affine { at: 1e38, dx: 1e37, dy: -3e36 };
        for inv_w in [0.7, -2.0, 1.0, 1e-30, 0.0, -0.0, f32::INFINITY, f32::NAN] {
            let upright = Planes { inv_w: [inv_w; 3], ..primitive().planes };
            let is_short = inv_w.is_finite() && inv_w != 0.0;
            assert_eq!(upright.upright().is_some(), is_short, "{inv_w}");
            for planes in [Planes { i: far, ..upright }, Planes { j: far, ..upright }, upright] {
                has_the_weights_of_its_quads(ScreenPrimitive { planes, ..primitive() });
            }
        }
    }

    /// Tests warps with quads of different primitives.
    #[test]
    fn each_quad_has_the_weights_of_its_own_primitive() {
        let aslant = primitive();
        let j = Affine { at: -0.3, dx: 0.02, dy: 0.005 };
        let planes = Planes { j, inv_w: [0.3, 0.4, 2.5], base: [7.5, 0.5], ..aslant.planes };
        let primitives = [aslant.clone(), ScreenPrimitive { planes, bias: 0.25, ..aslant }];
        with_source(&primitives, |source| {
            let all = quads(0, [40, 20], u32::MAX);
            for of in [[0, 1, 0, 1, 1, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 1], [1, 0, 0, 0, 0, 0, 0, 0]] {
                let mut mixed = all;
                mixed.iter_mut().zip(of).for_each(|(quad, primitive)| quad.primitive = primitive);
                for count in [8, 5] {
                    let pieces = WarpQuads::new(&mixed[..count], source);
                    let (mut found, weights) = ([Lanes::ZERO; 2], pieces.weights());
                    pieces.perspective(&mut found);
                    for lane in 0..4 * count {
                        let position = [weights.x[lane], weights.y[lane]];
                        let ScreenPrimitive { planes, bias, .. } = &primitives[of[lane / 4] as usize];
                        let at = planes.at(position);
                        assert_eq!(
                            found.map(|row| f32::from_bits(row[lane])),
                            at.perspective,
                            "{of:?} {lane}"
                        );
                        assert_eq!(weights.perspective.map(|row| row[lane]), at.perspective, "{of:?} {lane}");
                        assert_eq!(weights.z[lane], planes.depth(*bias, position), "{of:?} {lane}");
                    }
                }
            }
        });
    }

    fn with_source(primitives: &[ScreenPrimitive], test: impl FnOnce(&Source<'_>)) {
        let vertices = Vertices::new(0, 3);
        let (interpolation, replacement) =
            ([Interpolation::Smooth; MAX_VARYINGS], [Replacement::None; MAX_VARYINGS]);
        test(&Source {
            primitives,
            vertices: &vertices,
            interpolation: &interpolation,
            replacement: &replacement,
            interpolated: Interpolated::ALL,
        });
    }

    fn has_the_weights_of_its_quads(primitive: ScreenPrimitive) {
        let primitives = [primitive];
        with_source(&primitives, |source| has_the_weights_of_quads(&primitives[0], source));
    }

    fn has_the_weights_of_quads(primitive: &ScreenPrimitive, source: &Source<'_>) {
        let quads = quads(0, [40, 20], u32::MAX);
        let [mut by_quads, mut by_block] = [[Lanes::ZERO; 2]; 2];
        WarpQuads::new(&quads, source).perspective(&mut by_quads);
        WarpQuads::of_block(&quads, [40, 20], source).perspective(&mut by_block);
        let weights = WarpQuads::new(&quads, source).weights().perspective;
        // NaN bits may differ, because programs see the canonical NaN.
        let plain = |bits: u32| if f32::from_bits(bits).is_nan() { f32::NAN.to_bits() } else { bits };
        let of_weights = weights.map(|floats| Lanes::from(floats).map(plain));
        assert_eq!(by_block.map(|lanes| lanes.map(plain)), of_weights);
        let mut of_two = [[Lanes::ZERO; 2]; 2];
        let blocks = [([40, 20], 0), ([48, 20], 0)];
        perspective_of_blocks(primitive, &blocks, of_two.iter_mut());
        assert_eq!(of_two[0], by_block);
    }
}
