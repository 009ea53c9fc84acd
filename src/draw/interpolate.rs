//! Varyings at the pixels of a warp: eight quads, perhaps of several primitives.

use a4emu_decoder::regs::enums::{IntpMode, ReplMode};
use multiversion::multiversion;

use crate::shader::{LANES, Lanes};

use super::primitive::{ScreenPrimitive, Sprite};
use super::quad::Quad;
use super::state::MAX_VARYINGS;
use super::vertices::Vertices;

/// A float per lane.
pub type Floats = [f32; LANES];

/// The quads of a warp with what they are pieces of.
pub struct WarpQuads<'a> {
    /// At most eight.
    pub quads: &'a [Quad],
    /// All primitives of the draw.
    pub primitives: &'a [ScreenPrimitive],
    /// All vertices of the draw.
    pub vertices: &'a Vertices,
    /// By location.
    pub interpolation: &'a [IntpMode; MAX_VARYINGS],
    /// By location, in points.
    pub replacement: &'a [ReplMode; MAX_VARYINGS],
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
    /// The primitive of every lane's quad if it is the same one.
    fn common(&self) -> Option<&'a ScreenPrimitive> {
        let first = self.quads.first()?.primitive;
        self.quads.iter().all(|quad| quad.primitive == first).then(|| &self.primitives[first as usize])
    }

    fn primitive(&self, quad: &Quad) -> &'a ScreenPrimitive {
        &self.primitives[quad.primitive as usize]
    }

    /// Positions and weights of all lanes.
    pub fn weights(&self) -> Weights {
        let mut x = [0.0; LANES];
        let mut y = [0.0; LANES];
        for (q, quad) in self.quads.iter().enumerate() {
            let (left, top) = (quad.x as f32 + 0.5, quad.y as f32 + 0.5);
            x[4 * q..][..4].copy_from_slice(&[left, left + 1.0, left, left + 1.0]);
            y[4 * q..][..4].copy_from_slice(&[top, top, top + 1.0, top + 1.0]);
        }
        let per_lane = |f: &dyn Fn(&ScreenPrimitive) -> f32| self.spread(f);
        let wide = |f: &dyn Fn(&ScreenPrimitive) -> f64| self.spread(f);
        let planes = Planes {
            origin: [per_lane(&|p| p.origin[0]), per_lane(&|p| p.origin[1])],
            z: [per_lane(&|p| p.z.at), per_lane(&|p| p.z.dx), per_lane(&|p| p.z.dy)],
            i: [wide(&|p| p.i.dx), wide(&|p| p.i.dy)],
            j: [wide(&|p| p.j.dx), wide(&|p| p.j.dy)],
            inv_w: [per_lane(&|p| p.inv_w[0]), per_lane(&|p| p.inv_w[1]), per_lane(&|p| p.inv_w[2])],
        };
        weigh(&planes, x, y)
    }

    /// A value of each lane's primitive.
    fn spread<T: Copy + Default>(&self, f: &dyn Fn(&ScreenPrimitive) -> T) -> [T; LANES] {
        if let Some(primitive) = self.common() {
            return [f(primitive); LANES];
        }
        let mut out = [T::default(); LANES];
        for (lanes, quad) in out.chunks_exact_mut(4).zip(self.quads) {
            lanes.fill(f(self.primitive(quad)));
        }
        out
    }

    /// Component `location` at weights `i`, `j`.
    pub fn varying(&self, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
        match self.interpolation.get(location) {
            Some(IntpMode::FLAT) => self.provoking(location, out),
            Some(IntpMode::ZERO) | None => *out = Lanes::ZERO,
            Some(IntpMode::ONE) => *out = Lanes::splat(1.0f32.to_bits()),
            Some(IntpMode::SMOOTH | IntpMode::Other(_)) => self.smooth(location, i, j, out),
        }
        self.replace(location, out);
    }

    fn smooth(&self, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
        let value = |p: &ScreenPrimitive, k: usize| {
            f32::from_bits(self.vertices.varyings(p.vertices[k]).get(location).copied().unwrap_or(0))
        };
        if let Some(p) = self.common() {
            let v = [0, 1, 2].map(|k| value(p, k));
            return interpolate(&[v[0]; LANES], &[v[1] - v[0]; LANES], &[v[2] - v[0]; LANES], i, j, out);
        }
        let mut v = [[0.0; LANES]; 3];
        for (q, quad) in self.quads.iter().enumerate() {
            let p = self.primitive(quad);
            let corner = [0, 1, 2].map(|k| value(p, k));
            v[0][4 * q..][..4].fill(corner[0]);
            v[1][4 * q..][..4].fill(corner[1] - corner[0]);
            v[2][4 * q..][..4].fill(corner[2] - corner[0]);
        }
        interpolate(&v[0], &v[1], &v[2], i, j, out);
    }

    /// Component `location` of each lane's provoking vertex, bits unchanged.
    pub fn provoking(&self, location: usize, out: &mut Lanes) {
        for (lanes, quad) in out.chunks_exact_mut(4).zip(self.quads) {
            let row = self.vertices.varyings(self.primitive(quad).provoking);
            lanes.fill(row.get(location).copied().unwrap_or(0));
        }
    }

    /// Sprite coordinates in the lanes of points. S grows to the right, T down.
    pub fn replace(&self, location: usize, out: &mut Lanes) {
        let Some(mode @ (ReplMode::S | ReplMode::T | ReplMode::ONE_T)) = self.replacement.get(location)
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

/// The planes of every lane's primitive.
struct Planes {
    origin: [Floats; 2],
    z: [Floats; 3],
    i: [[f64; LANES]; 2],
    j: [[f64; LANES]; 2],
    inv_w: [Floats; 3],
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn weigh(planes: &Planes, x: Floats, y: Floats) -> Weights {
    let zero = [0.0; LANES];
    let mut out = Weights { x, y, z: zero, inv_w: zero, perspective: [zero; 2], linear: [zero; 2] };
    for l in 0..LANES {
        let (dx, dy) = (x[l] - planes.origin[0][l], y[l] - planes.origin[1][l]);
        let wide_x = f64::from(x[l]) - f64::from(planes.origin[0][l]);
        let wide_y = f64::from(y[l]) - f64::from(planes.origin[1][l]);
        let i = (planes.i[0][l] * wide_x + planes.i[1][l] * wide_y) as f32;
        let j = (planes.j[0][l] * wide_x + planes.j[1][l] * wide_y) as f32;
        let [w0, w1, w2] = [planes.inv_w[0][l], planes.inv_w[1][l], planes.inv_w[2][l]];
        let w = w0 + i * (w1 - w0) + j * (w2 - w0);
        let inv = 1.0 / w;
        out.z[l] = planes.z[0][l] + planes.z[1][l] * dx + planes.z[2][l] * dy;
        out.inv_w[l] = w;
        out.linear[0][l] = i;
        out.linear[1][l] = j;
        out.perspective[0][l] = i * w1 * inv;
        out.perspective[1][l] = j * w2 * inv;
    }
    out
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn interpolate(v0: &Floats, d1: &Floats, d2: &Floats, i: &Lanes, j: &Lanes, out: &mut Lanes) {
    for l in 0..LANES {
        let value = v0[l] + f32::from_bits(i.0[l]) * d1[l] + f32::from_bits(j.0[l]) * d2[l];
        out.0[l] = value.to_bits();
    }
}

/// Window depth of the 8x4 pixels at (x, y), row by row.
pub fn depth_rows(primitive: &ScreenPrimitive, [x, y]: [i32; 2]) -> Floats {
    let origin = [x as f32 + 0.5, y as f32 + 0.5];
    rows(primitive, origin)
}

/// The same expression as in `weigh`, so that early and late tests agree.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn rows(primitive: &ScreenPrimitive, first: [f32; 2]) -> Floats {
    let mut out = [0.0; LANES];
    let z = &primitive.z;
    for (l, out) in out.iter_mut().enumerate() {
        let dx = first[0] + (l % 8) as f32 - primitive.origin[0];
        let dy = first[1] + (l / 8) as f32 - primitive.origin[1];
        *out = z.at + z.dx * dx + z.dy * dy;
    }
    out
}
