//! One image of a texture, filtered: the taps around a position and their blend.
use a4emu_decoder::regs::enums::CompareFunc;

use super::cube;
use super::fetch::{Fetcher, Images, Texel, replace};
use super::sampler::{Filter, Wrap};
use super::wrap::{Axis, Pair};
use super::{Color, Floats, Ints};
use crate::shader::{LANES, Lanes};

/// Everything about a request that does not depend on the level.
pub(super) struct Footprint<'a> {
    /// s, t, r; r only of volumes.
    pub coords: &'a [Floats; 3],
    /// Slice for all but volumes: layer, or face + 6 * layer.
    pub layer: &'a Ints,
    pub offsets: [Option<&'a Ints>; 3],
    pub wrap: [Wrap; 3],
    pub unnormalized: bool,
    /// Whether r is an axis of its own.
    pub volume: bool,
    /// Whether texels beyond the edge of a face are those of its neighbour.
    pub seamless: bool,
    /// What to compare with, and how.
    pub compare: Option<(CompareFunc, &'a Floats)>,
    /// Lane bits that stand for texels outside, if there can be any.
    pub border: Option<[u32; 4]>,
    /// Components that are wanted: bit 0 is x.
    pub need: u32,
}

impl Footprint<'_> {
    #[inline(always)]
    pub fn filtered(&self, filter: Filter, fetcher: &mut Fetcher<'_>, images: &Images) -> Color {
        match filter {
            Filter::Nearest => self.nearest(fetcher, images),
            Filter::Linear => self.linear(fetcher, images),
        }
    }

    #[inline(always)]
    fn nearest(&self, fetcher: &mut Fetcher<'_>, images: &Images) -> Color {
        let x = self.axis(0, &images.width).nearest();
        let y = self.axis(1, &images.height).nearest();
        if self.volume {
            let z = self.axis(2, &images.depth).nearest();
            return self.tap(fetcher, images, &Texel { x: &x, y: &y, z: &z });
        }
        self.tap(fetcher, images, &Texel { x: &x, y: &y, z: self.layer })
    }

    #[inline(always)]
    fn linear(&self, fetcher: &mut Fetcher<'_>, images: &Images) -> Color {
        let (x, y) = self.pairs(images);
        if !self.volume {
            return self.plane(fetcher, images, &x, &y, self.layer);
        }
        let z = self.axis(2, &images.depth).linear();
        let near = self.plane(fetcher, images, &x, &y, &z.near);
        let far = self.plane(fetcher, images, &x, &y, &z.far);
        blend(&near, &far, &z.weight, self.need)
    }

    /// The four taps of the bilinear footprint, in the order of textureGather:
    /// (0,1), (1,1), (1,0), (0,0).
    pub fn corners(&self, fetcher: &mut Fetcher<'_>, images: &Images) -> [Color; 4] {
        let (x, y) = self.pairs(images);
        let taps = [(&x.near, &y.far), (&x.far, &y.far), (&x.far, &y.near), (&x.near, &y.near)];
        taps.map(|(x, y)| self.tap(fetcher, images, &Texel { x, y, z: self.layer }))
    }

    #[inline(always)]
    fn pairs(&self, images: &Images) -> (Pair, Pair) {
        (self.axis(0, &images.width).linear(), self.axis(1, &images.height).linear())
    }

    #[inline(always)]
    fn axis<'a>(&'a self, axis: usize, size: &'a Ints) -> Axis<'a> {
        Axis {
            wrap: self.wrap[axis],
            coord: &self.coords[axis],
            size,
            offset: self.offsets[axis],
            unnormalized: self.unnormalized,
        }
    }

    #[inline(always)]
    fn plane(&self, fetcher: &mut Fetcher<'_>, images: &Images, x: &Pair, y: &Pair, z: &Ints) -> Color {
        let top = self.row(fetcher, images, x, &y.near, z);
        let bottom = self.row(fetcher, images, x, &y.far, z);
        blend(&top, &bottom, &y.weight, self.need)
    }

    #[inline(always)]
    fn row(&self, fetcher: &mut Fetcher<'_>, images: &Images, x: &Pair, y: &Ints, z: &Ints) -> Color {
        let left = self.tap(fetcher, images, &Texel { x: &x.near, y, z });
        let right = self.tap(fetcher, images, &Texel { x: &x.far, y, z });
        blend(&left, &right, &x.weight, self.need)
    }

    /// One texel, as the filter sees it.
    #[inline(always)]
    fn tap(&self, fetcher: &mut Fetcher<'_>, images: &Images, at: &Texel<'_>) -> Color {
        if self.seamless {
            return self.cube_tap(fetcher, images, at);
        }
        let mut color = fetcher.texels(images, at);
        if let Some(border) = &self.border {
            replace(&mut color, &images.outside(at), border);
        }
        self.compared(color)
    }

    /// A texel that may lie on the next face; at a corner of the cube, where
    /// there is none, the mean of the three around it.
    #[inline(never)]
    fn cube_tap(&self, fetcher: &mut Fetcher<'_>, images: &Images, at: &Texel<'_>) -> Color {
        let [inner, across_x, across_y] = seam(images, at);
        let mut fetch = |(x, y, z): &(Ints, Ints, Ints)| {
            let color = fetcher.texels(images, &Texel { x, y, z });
            self.compared(color)
        };
        let mut color = fetch(&across_x);
        let corner = corners(images, at);
        if corner.nonzero() != 0 {
            mean(&mut color, [&fetch(&across_y), &fetch(&inner)], &corner);
        }
        color
    }

    #[inline(always)]
    fn compared(&self, color: Color) -> Color {
        match self.compare {
            None => color,
            Some((function, reference)) => compare(function, reference, &color),
        }
    }
}

/// A texel position per lane.
type Position = (Ints, Ints, Ints);

/// Positions of `at` clamped to its face, with only x allowed over the edge and
/// with only y. Lanes off in one direction alone get that step in both.
fn seam(images: &Images, at: &Texel<'_>) -> [Position; 3] {
    let mut out = [([0; LANES], [0; LANES], [0; LANES]); 3];
    for i in 0..LANES {
        let (size, layer) = (images.width[i], at.z[i]);
        let (x, y) = (at.x[i], at.y[i]);
        let (inner_x, inner_y) = (x.clamp(0, size - 1), y.clamp(0, size - 1));
        let (off_x, off_y) = (inner_x != x, inner_y != y);
        let step = |x: i32, y: i32| match (x, y) == (inner_x, inner_y) {
            true => (x, y, layer),
            false => {
                let (x, y, face) = cube::across(layer.rem_euclid(6), x, y, size);
                (x, y, layer - layer.rem_euclid(6) + face)
            }
        };
        let places = match (off_x, off_y) {
            (true, true) => [(inner_x, inner_y, layer), step(x, inner_y), step(inner_x, y)],
            _ => [step(x, y); 3],
        };
        for (out, place) in out.iter_mut().zip(places) {
            (out.0[i], out.1[i], out.2[i]) = place;
        }
    }
    out
}

/// The lanes that lie beyond a corner of their face.
fn corners(images: &Images, at: &Texel<'_>) -> Lanes {
    let off = |at: i32, size: i32| at < 0 || at >= size;
    Lanes(std::array::from_fn(|i| u32::from(off(at.x[i], images.width[i]) && off(at.y[i], images.height[i]))))
}

fn mean(color: &mut Color, others: [&Color; 2], lanes: &Lanes) {
    for (c, out) in color.iter_mut().enumerate() {
        for i in (0..LANES).filter(|&i| lanes[i] != 0) {
            let sum =
                f32::from_bits(out[i]) + f32::from_bits(others[0][c][i]) + f32::from_bits(others[1][c][i]);
            out[i] = (sum / 3.0).to_bits();
        }
    }
}

/// `a + w * (b - a)`.
#[inline(always)]
pub(super) fn blend(a: &Color, b: &Color, weight: &Floats, need: u32) -> Color {
    let mut out = [[0; LANES]; 4];
    for c in 0..4 {
        if need >> c & 1 == 0 {
            continue;
        }
        for i in 0..LANES {
            let (a, b) = (f32::from_bits(a[c][i]), f32::from_bits(b[c][i]));
            out[c][i] = (a + weight[i] * (b - a)).to_bits();
        }
    }
    out
}

/// 1 where reference FUNC texel, else 0, in x, y and z.
fn compare(function: CompareFunc, reference: &Floats, color: &Color) -> Color {
    let mut out = [0; LANES];
    for i in 0..LANES {
        let pass = passes(function, reference[i], f32::from_bits(color[0][i]));
        out[i] = f32::from(u8::from(pass)).to_bits();
    }
    [out, out, out, [1f32.to_bits(); LANES]]
}

fn passes(function: CompareFunc, reference: f32, texel: f32) -> bool {
    match function {
        CompareFunc::FUNC_NEVER | CompareFunc::Other(_) => false,
        CompareFunc::FUNC_LESS => reference < texel,
        CompareFunc::FUNC_EQUAL => reference == texel,
        CompareFunc::FUNC_LEQUAL => reference <= texel,
        CompareFunc::FUNC_GREATER => reference > texel,
        CompareFunc::FUNC_NOTEQUAL => reference != texel,
        CompareFunc::FUNC_GEQUAL => reference >= texel,
        CompareFunc::FUNC_ALWAYS => true,
    }
}
