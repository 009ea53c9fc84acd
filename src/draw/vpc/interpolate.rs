//! Varyings at the pixels of a warp: eight quads, perhaps of several primitives.

use a4emu_decoder::regs::enums::{IntpMode, ReplMode};
use multiversion::multiversion;

use crate::shader::{LANES, Lanes};

use super::state::MAX_VARYINGS;
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
    /// The primitive of all quads if it is the same one.
    common: Option<&'a ScreenPrimitive>,
    /// Varyings of the corners of each quad's primitive; of the first only if it is common.
    corners: [[&'a [u32]; 3]; QUADS],
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
    /// Pieces of primitives of `source`.
    pub fn new(quads: &'a [Quad], source: Source<'a>) -> Self {
        let primitive = |quad: &Quad| &source.primitives[quad.primitive as usize];
        let common = quads.first().filter(|first| quads.iter().all(|quad| quad.primitive == first.primitive));
        let mut corners = [[&[][..]; 3]; QUADS];
        for (q, quad) in (if common.is_some() { &quads[..1] } else { quads }).iter().enumerate() {
            // Neighbours are often of the same.
            corners[q] = match q.checked_sub(1).filter(|before| quads[*before].primitive == quad.primitive) {
                Some(before) => corners[before],
                None => primitive(quad).vertices.map(|v| source.vertices.varyings(v)),
            };
        }
        Self { quads, source, common: common.map(primitive), corners }
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
            Some(IntpMode::SMOOTH | IntpMode::Other(_)) => self.smooth(location, i, j, out),
        }
        self.replace(location, out);
    }

    fn smooth(&self, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
        if self.common.is_some() {
            return interpolate(&differences(&self.corners[0], location), i, j, out);
        }
        let mut corners = [[0.0; 3]; QUADS];
        for (corners, rows) in corners.iter_mut().zip(&self.corners) {
            *corners = differences(rows, location);
        }
        interpolate_quads(&corners, i, j, out);
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
        match self.common {
            Some(_) => spread(&self.corners[0], locations, frame),
            None => spread_quads(&self.corners, locations, frame),
        }
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

/// The value at vertex 0 and what vertices 1 and 2 differ from it by.
#[inline(always)]
fn differences(corners: &[&[u32]; 3], location: usize) -> [f32; 3] {
    let value = |k: usize| f32::from_bits(corners[k].get(location).copied().unwrap_or(0));
    [value(0), value(1) - value(0), value(2) - value(0)]
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
    // What nobody reads of the rest is not computed.
    let mut out = Weights::at_centres(pieces.quads);
    weigh_all(pieces, &mut out);
    out.perspective
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
        let mut out =
            Self { x: zero, y: zero, z: zero, inv_w: zero, perspective: [zero; 2], linear: [zero; 2] };
        for (q, quad) in quads.iter().enumerate() {
            let (left, top) = (quad.x as f32 + 0.5, quad.y as f32 + 0.5);
            out.x[4 * q..][..4].copy_from_slice(&[left, left + 1.0, left, left + 1.0]);
            out.y[4 * q..][..4].copy_from_slice(&[top, top, top + 1.0, top + 1.0]);
        }
        out
    }
}

/// Weights at the positions that `out` holds.
#[inline(always)]
fn weigh_all(pieces: &WarpQuads<'_>, out: &mut Weights) {
    match pieces.common {
        Some(primitive) => weigh(&planes(primitive), |value, _| *value, out),
        None => {
            let mut lanes = [[0.0; LANES]; PLANES];
            for (q, quad) in pieces.quads.iter().enumerate() {
                for (lanes, value) in lanes.iter_mut().zip(planes(pieces.primitive(quad))) {
                    lanes.as_chunks_mut().0[q] = [value; 4];
                }
            }
            weigh(&lanes, |lanes, l| lanes[l], out);
        }
    }
}

/// Numbers that say how depth and weights of a primitive change over the screen.
const PLANES: usize = 17;

/// Where i and j count from; both there and per pixel to the right and down; the same of depth; what is added
/// to that; 1/w at the vertices.
#[inline(always)]
fn planes(p: &ScreenPrimitive) -> [f32; PLANES] {
    let ([x, y], [zx, zy], [w0, w1, w2]) = (p.base, p.origin, p.inv_w);
    let [i, j, z] = [p.i, p.j, p.z];
    [x, y, i.at, i.dx, i.dy, j.at, j.dx, j.dy, zx, zy, z.at, z.dx, z.dy, p.bias, w0, w1, w2]
}

/// Weights of all lanes; `of` gives a number for a lane. Depth is the expression of
/// [`ScreenPrimitive::depth_at`], so that early and late tests agree.
#[inline(always)]
fn weigh<T>(planes: &[T; PLANES], of: impl Fn(&T, usize) -> f32, out: &mut Weights) {
    let [x, y, i, i_dx, i_dy, j, j_dx, j_dy, zx, zy, z, z_dx, z_dy, bias, w0, w1, w2] = planes;
    for l in 0..LANES {
        let (dx, dy) = (out.x[l] - of(x, l), out.y[l] - of(y, l));
        let plane = |at: &T, right: &T, down: &T| of(at, l) + of(right, l) * dx + of(down, l) * dy;
        let (i, j) = (plane(i, i_dx, i_dy), plane(j, j_dx, j_dy));
        let (w0, w1, w2) = (of(w0, l), of(w1, l), of(w2, l));
        let w = w0 + i * (w1 - w0) + j * (w2 - w0);
        let inv = 1.0 / w;
        let (zx, zy) = (out.x[l] - of(zx, l), out.y[l] - of(zy, l));
        out.z[l] = of(z, l) + of(z_dx, l) * zx + of(z_dy, l) * zy + of(bias, l);
        out.inv_w[l] = w;
        out.linear[0][l] = i;
        out.linear[1][l] = j;
        out.perspective[0][l] = i * w1 * inv;
        out.perspective[1][l] = j * w2 * inv;
    }
}

/// The numbers of one primitive, for all lanes.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn spread(corners: &[&[u32]; 3], locations: &[u16], frame: &mut [Lanes]) {
    for (location, rows) in locations.iter().zip(frame.as_chunks_mut::<3>().0) {
        let numbers = differences(corners, usize::from(*location));
        for (row, number) in rows.iter_mut().zip(numbers) {
            row.0 = [number.to_bits(); LANES];
        }
    }
}

/// The numbers of each quad's primitive.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn spread_quads(corners: &[[&[u32]; 3]; QUADS], locations: &[u16], frame: &mut [Lanes]) {
    for (location, rows) in locations.iter().zip(frame.as_chunks_mut::<3>().0) {
        for (q, corners) in corners.iter().enumerate() {
            let numbers = differences(corners, usize::from(*location));
            for (row, number) in rows.iter_mut().zip(numbers) {
                row.0.as_chunks_mut::<4>().0[q] = [number.to_bits(); 4];
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn interpolate(corners: &[f32; 3], i: &Lanes, j: &Lanes, out: &mut Lanes) {
    mix::<LANES>(corners, 0, i, j, out);
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn interpolate_quads(corners: &[[f32; 3]; QUADS], i: &Lanes, j: &Lanes, out: &mut Lanes) {
    corners.iter().enumerate().for_each(|(q, corners)| mix::<4>(corners, 4 * q, i, j, out));
}

/// The values of the `N` lanes from `first` on.
#[inline(always)]
fn mix<const N: usize>([v0, d1, d2]: &[f32; 3], first: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
    for l in first..first + N {
        let value = v0 + (f32::from_bits(i.0[l]) * d1 + f32::from_bits(j.0[l]) * d2);
        out.0[l] = value.to_bits();
    }
}
