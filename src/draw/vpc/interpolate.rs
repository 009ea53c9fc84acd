//! Varyings at the pixels of a warp: eight quads, perhaps of several primitives.

use a4emu_decoder::regs::enums::{IntpMode, ReplMode};
use multiversion::multiversion;

use crate::shader::{LANES, Lanes};

use super::state::MAX_VARYINGS;
use crate::draw::gras::affine::Affine;
use crate::draw::gras::quad::{QUADS, Quad};
use crate::draw::gras::setup::{ScreenPrimitive, Sprite};
use crate::draw::vertices::Vertices;

/// A float per lane.
pub type Floats = [f32; LANES];

/// Where the varyings of a draw come from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// All primitives of the draw.
    pub primitives: &'a [ScreenPrimitive],
    /// All vertices of the draw.
    pub vertices: &'a Vertices,
    /// By location.
    pub interpolation: &'a [IntpMode; MAX_VARYINGS],
    /// By location, in points.
    pub replacement: &'a [ReplMode; MAX_VARYINGS],
}

/// The quads of a warp with what they are pieces of.
pub struct WarpQuads<'a> {
    /// At most eight.
    pub quads: &'a [Quad],
    source: Source<'a>,
    /// Where the primitive changes; so many of them.
    runs: [Run<'a>; QUADS],
    count: usize,
}

/// A primitive of a warp: the quads from one on are pieces of it, up to the next run.
#[derive(Clone, Copy)]
struct Run<'a> {
    /// The first lane. What is computed for a run is for all lanes from there on: those of later runs are
    /// overwritten by them, so that nothing has to be cut off at an end.
    first: usize,
    primitive: &'a ScreenPrimitive,
    /// Varyings of its corners.
    corners: [&'a [u32]; 3],
}

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
    /// Pieces of primitives of `source`; there is at least one.
    pub fn new(quads: &'a [Quad], source: Source<'a>) -> Self {
        let run = |first: usize, quad: &Quad| {
            let primitive = &source.primitives[quad.primitive as usize];
            Run { first, primitive, corners: primitive.vertices.map(|v| source.vertices.varyings(v)) }
        };
        let mut out = Self { quads, source, runs: [run(0, &quads[0]); QUADS], count: 1 };
        for (q, pair) in quads.windows(2).enumerate() {
            if pair[0].primitive != pair[1].primitive {
                out.runs[out.count] = run(4 * (q + 1), &pair[1]);
                out.count += 1;
            }
        }
        out
    }

    fn runs(&self) -> &[Run<'a>] {
        &self.runs[..self.count]
    }

    /// What `quad` is a piece of.
    pub fn primitive(&self, quad: &Quad) -> &'a ScreenPrimitive {
        &self.source.primitives[quad.primitive as usize]
    }

    /// Positions and weights of all lanes.
    pub fn weights(&self) -> Weights {
        weights(self)
    }

    /// i and j with perspective of all lanes, alone.
    pub fn perspective(&self) -> [Floats; 2] {
        perspective(self)
    }

    /// The same `by` pixels from their centres.
    pub fn weights_beside(&self, by: &[Floats; 2]) -> Weights {
        let mut out = Weights::at_centres(self.quads);
        for (at, by) in [&mut out.x, &mut out.y].into_iter().zip(by) {
            at.iter_mut().zip(by).for_each(|(at, by)| *at += by);
        }
        weigh_all(self, &mut out);
        out
    }

    /// Component `location` at weights `i`, `j`.
    pub fn varying(&self, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
        match self.source.interpolation.get(location) {
            Some(IntpMode::FLAT) => self.provoking(location, out),
            Some(IntpMode::ZERO) | None => *out = Lanes::ZERO,
            Some(IntpMode::ONE) => *out = Lanes::splat(1.0f32.to_bits()),
            Some(IntpMode::SMOOTH | IntpMode::Other(_)) => interpolate(self.runs(), location, i, j, out),
        }
        self.replace(location, out);
    }

    /// For each location the numbers that its component is interpolated from, in all lanes: at vertex 0, and
    /// what vertices 1 and 2 differ from that by. False when not all are interpolated.
    pub fn planes(&self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        let Source { interpolation, replacement, .. } = self.source;
        let is_smooth = |location: &u16| {
            let (mode, by) =
                (interpolation.get(usize::from(*location)), replacement.get(usize::from(*location)));
            matches!(mode, Some(IntpMode::SMOOTH | IntpMode::Other(_)))
                && !matches!(by, Some(ReplMode::S | ReplMode::T | ReplMode::ONE_T))
        };
        if !locations.iter().all(is_smooth) {
            return false;
        }
        spread(self.runs(), locations, frame);
        true
    }

    /// Component `location` of each lane's provoking vertex, bits unchanged.
    pub fn provoking(&self, location: usize, out: &mut Lanes) {
        for (lanes, quad) in out.chunks_exact_mut(4).zip(self.quads) {
            let row = self.source.vertices.varyings(self.primitive(quad).provoking);
            lanes.fill(row.get(location).copied().unwrap_or(0));
        }
    }

    /// Sprite coordinates in the lanes of points. S grows to the right, T down.
    pub fn replace(&self, location: usize, out: &mut Lanes) {
        let Some(mode @ (ReplMode::S | ReplMode::T | ReplMode::ONE_T)) =
            self.source.replacement.get(location)
        else {
            return;
        };
        for (lanes, quad) in out.chunks_exact_mut(4).zip(self.quads) {
            let Some(sprite) = self.primitive(quad).sprite else { continue };
            for (k, lane) in lanes.iter_mut().enumerate() {
                *lane = sprite_coordinate(*mode, &sprite, quad, k).to_bits();
            }
        }
    }
}

fn sprite_coordinate(mode: ReplMode, sprite: &Sprite, quad: &Quad, k: usize) -> f32 {
    let x = quad.x as f32 + 0.5 + (k & 1) as f32 - sprite.corner[0];
    let y = quad.y as f32 + 0.5 + (k >> 1) as f32 - sprite.corner[1];
    match mode {
        ReplMode::S => x * sprite.inv_size,
        ReplMode::T => y * sprite.inv_size,
        _ => 1.0 - y * sprite.inv_size,
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn weights(pieces: &WarpQuads<'_>) -> Weights {
    let mut out = Weights::at_centres(pieces.quads);
    weigh_all(pieces, &mut out);
    out
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn perspective(pieces: &WarpQuads<'_>) -> [Floats; 2] {
    let (x, y) = centres(pieces.quads);
    let mut out = [[0.0; LANES]; 2];
    for run in pieces.runs() {
        let (planes, mut i, mut j) = (run.planes(), [0.0; LANES], [0.0; LANES]);
        for l in 0..LANES {
            [i[l], j[l]] = planes.at(x[l], y[l]).perspective;
        }
        from_lane(run.first, &mut out[0], &i);
        from_lane(run.first, &mut out[1], &j);
    }
    out
}

/// Takes what is `new` in the lanes from `first` on.
#[inline(always)]
fn from_lane<T: Copy>(first: usize, out: &mut [T; LANES], new: &[T; LANES]) {
    if first == 0 {
        *out = *new;
        return;
    }
    for l in 0..LANES {
        out[l] = if l < first { out[l] } else { new[l] };
    }
}

impl Weights {
    /// These positions with the barycentrics of `other`.
    pub fn with_barycentrics(self, other: Self) -> Self {
        Self { perspective: other.perspective, linear: other.linear, ..self }
    }

    /// Positions alone.
    #[inline(always)]
    fn at_centres(quads: &[Quad]) -> Self {
        let zero = [0.0; LANES];
        let (x, y) = centres(quads);
        Self { x, y, z: zero, inv_w: zero, perspective: [zero; 2], linear: [zero; 2] }
    }
}

/// Window x and y of the pixels' centres.
#[inline(always)]
fn centres(quads: &[Quad]) -> (Floats, Floats) {
    let (mut x, mut y) = ([0.0; LANES], [0.0; LANES]);
    for (q, quad) in quads.iter().enumerate() {
        let (left, top) = (quad.x as f32 + 0.5, quad.y as f32 + 0.5);
        x[4 * q..][..4].copy_from_slice(&[left, left + 1.0, left, left + 1.0]);
        y[4 * q..][..4].copy_from_slice(&[top, top, top + 1.0, top + 1.0]);
    }
    (x, y)
}

/// Weights at the positions that `out` holds.
#[inline(always)]
fn weigh_all(pieces: &WarpQuads<'_>, out: &mut Weights) {
    for run in pieces.runs() {
        let planes = run.planes();
        let mut all = [[0.0; LANES]; 6];
        let [z, inv_w, pi, pj, i, j] = &mut all;
        for l in 0..LANES {
            let at = planes.at(out.x[l], out.y[l]);
            (z[l], inv_w[l]) = (at.z, at.inv_w);
            ([pi[l], pj[l]], [i[l], j[l]]) = (at.perspective, at.linear);
        }
        let ([i, j], [pi, pj]) = (&mut out.linear, &mut out.perspective);
        let rows = [&mut out.z, &mut out.inv_w, pi, pj, i, j];
        rows.into_iter().zip(&all).for_each(|(out, new)| from_lane(run.first, out, new));
    }
}

/// Depth and weights at a position.
struct AtPosition {
    z: f32,
    inv_w: f32,
    perspective: [f32; 2],
    linear: [f32; 2],
}

/// How depth and weights of a primitive change over the screen: numbers of its own, which stay in registers.
struct Planes {
    base: [f32; 2],
    origin: [f32; 2],
    i: Affine,
    j: Affine,
    z: Affine,
    bias: f32,
    inv_w: [f32; 3],
}

impl Planes {
    /// Depth is the expression of [`ScreenPrimitive::depth_at`], so that early and late tests agree. What
    /// nobody reads of the rest is not computed.
    #[inline(always)]
    fn at(&self, x: f32, y: f32) -> AtPosition {
        let (dx, dy) = (x - self.base[0], y - self.base[1]);
        let plane = |of: &Affine, dx, dy| of.at + of.dx * dx + of.dy * dy;
        let (i, j) = (plane(&self.i, dx, dy), plane(&self.j, dx, dy));
        let [w0, w1, w2] = self.inv_w;
        let w = w0 + i * (w1 - w0) + j * (w2 - w0);
        let inv = 1.0 / w;
        let z = plane(&self.z, x - self.origin[0], y - self.origin[1]) + self.bias;
        AtPosition { z, inv_w: w, perspective: [i * w1 * inv, j * w2 * inv], linear: [i, j] }
    }
}

impl Run<'_> {
    #[inline(always)]
    fn planes(&self) -> Planes {
        let ScreenPrimitive { base, origin, i, j, z, bias, inv_w, .. } = *self.primitive;
        Planes { base, origin, i, j, z, bias, inv_w }
    }

    /// Component `location`: the value at vertex 0 and what vertices 1 and 2 differ from it by.
    #[inline(always)]
    fn differences(&self, location: usize) -> [f32; 3] {
        let value = |k: usize| f32::from_bits(self.corners[k].get(location).copied().unwrap_or(0));
        [value(0), value(1) - value(0), value(2) - value(0)]
    }
}

/// The numbers of the runs' primitives, in the lanes of each.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn spread(runs: &[Run<'_>], locations: &[u16], frame: &mut [Lanes]) {
    for (location, rows) in locations.iter().zip(frame.as_chunks_mut::<3>().0) {
        for run in runs {
            for (row, number) in rows.iter_mut().zip(run.differences(usize::from(*location))) {
                from_lane(run.first, &mut row.0, &[number.to_bits(); LANES]);
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn interpolate(runs: &[Run<'_>], location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
    for run in runs {
        let [v0, d1, d2] = run.differences(location);
        let mut all = [0; LANES];
        for (l, value) in all.iter_mut().enumerate() {
            *value = (v0 + (f32::from_bits(i.0[l]) * d1 + f32::from_bits(j.0[l]) * d2)).to_bits();
        }
        from_lane(run.first, &mut out.0, &all);
    }
}
