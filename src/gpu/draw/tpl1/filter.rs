//! Filters one image of a texture: blends the texels around a position.
use crate::draw::compare::Compare;

use super::cube;
use super::fetch::{Fetcher, Images, Texel, mix_all, replace};
use super::sampler::{Filter, Wrap};
use super::wrap::{self, Axis, Pair, Precision};
use super::{Color, Floats, Ints, simd};
use a4emu_shader::{LANES, Lanes};

/// Parts of a request that do not depend on the level.
pub(super) struct Footprint<'a> {
    /// s, t, r. r is used only for volumes.
    pub coords: [&'a Floats; 3],
    /// Slice for all types except volumes: layer, or face + 6 * layer.
    pub layer: &'a Ints,
    pub offsets: [Option<&'a Ints>; 3],
    pub wrap: [Wrap; 3],
    pub unnormalized: bool,
    /// Precision of positions between texels.
    pub precision: Precision,
    /// Whether r is a separate axis.
    pub volume: bool,
    /// Whether texels beyond the edge of a face come from the adjacent face.
    pub seamless: bool,
    /// Comparison function and reference.
    pub compare: Option<(Compare, &'a Floats)>,
    /// Border colour as lane bits, if texels outside are possible.
    pub border: Option<[u32; 4]>,
    /// Required components: bit 0 is x.
    pub need: u32,
}

impl Footprint<'_> {
    /// Filters one image. Components that are not required stay unchanged in `out`.
    pub fn filtered(&self, filter: Filter, fetcher: &mut Fetcher<'_>, images: &Images, out: &mut Color) {
        match filter {
            Filter::Nearest => self.nearest(fetcher, images, out),
            Filter::Linear => self.linear(fetcher, images, out),
        }
    }

    fn nearest(&self, fetcher: &mut Fetcher<'_>, images: &Images, out: &mut Color) {
        let x = wrap::nearest(&self.axis(0, &images.width));
        let y = wrap::nearest(&self.axis(1, &images.height));
        let z = self.volume.then(|| wrap::nearest(&self.axis(2, &images.depth)));
        let z = z.as_ref().unwrap_or(self.layer);
        self.tap(fetcher, images, &Texel { x: &x, y: &y, z }, out);
    }

    fn linear(&self, fetcher: &mut Fetcher<'_>, images: &Images, out: &mut Color) {
        let pairs = &self.pairs(images);
        if !self.volume {
            return self.plane(fetcher, images, pairs, self.layer, out);
        }
        let z = wrap::linear(&self.axis(2, &images.depth));
        let mut far = [[0; LANES]; 4];
        self.plane(fetcher, images, pairs, &z.near, out);
        self.plane(fetcher, images, pairs, &z.far, &mut far);
        blend(out, &far, &z.weight, self.need);
    }

    /// Returns the four texels of the bilinear footprint, in the order of textureGather: (0,1), (1,1), (1,0),
    /// (0,0).
    pub fn corners(&self, fetcher: &mut Fetcher<'_>, images: &Images) -> [Color; 4] {
        let [x, y] = self.pairs(images);
        let taps = [(&x.near, &y.far), (&x.far, &y.far), (&x.far, &y.near), (&x.near, &y.near)];
        let mut out = [[[0; LANES]; 4]; 4];
        for (out, (x, y)) in out.iter_mut().zip(taps) {
            self.tap(fetcher, images, &Texel { x, y, z: self.layer }, out);
        }
        out
    }

    fn pairs(&self, images: &Images) -> [Pair; 2] {
        [wrap::linear(&self.axis(0, &images.width)), wrap::linear(&self.axis(1, &images.height))]
    }

    fn axis<'a>(&'a self, axis: usize, size: &'a Ints) -> Axis<'a> {
        Axis {
            wrap: self.wrap[axis],
            coord: self.coords[axis],
            size,
            offset: self.offsets[axis],
            unnormalized: self.unnormalized,
            precision: self.precision,
        }
    }

    fn plane(
        &self,
        fetcher: &mut Fetcher<'_>,
        images: &Images,
        pairs: &[Pair; 2],
        z: &Ints,
        out: &mut Color,
    ) {
        let [x, y] = pairs.each_ref();
        let plain = !self.seamless && self.compare.is_none() && self.border.is_none();
        if let (true, Some(codec)) = (plain, fetcher.codec()) {
            return fetcher.bilinear(codec, images, [x, y], z, out);
        }
        let mut bottom = [[0; LANES]; 4];
        self.row(fetcher, images, x, (&y.near, z), out);
        self.row(fetcher, images, x, (&y.far, z), &mut bottom);
        blend(out, &bottom, &y.weight, self.need);
    }

    fn row(
        &self,
        fetcher: &mut Fetcher<'_>,
        images: &Images,
        x: &Pair,
        (y, z): (&Ints, &Ints),
        out: &mut Color,
    ) {
        let mut right = [[0; LANES]; 4];
        self.tap(fetcher, images, &Texel { x: &x.near, y, z }, out);
        self.tap(fetcher, images, &Texel { x: &x.far, y, z }, &mut right);
        blend(out, &right, &x.weight, self.need);
    }

    /// Reads one texel, with border and comparison.
    fn tap(&self, fetcher: &mut Fetcher<'_>, images: &Images, at: &Texel<'_>, out: &mut Color) {
        if self.seamless {
            return self.cube_tap(fetcher, images, at, out);
        }
        fetcher.texels(images, at, out);
        if let Some(border) = &self.border {
            replace(out, &images.outside(at), border);
        }
        self.compared(out);
    }

    /// Reads a texel that may be on an adjacent face. At a corner of the cube, where no face is adjacent, the
    /// result is the mean of the three texels around it.
    fn cube_tap(&self, fetcher: &mut Fetcher<'_>, images: &Images, at: &Texel<'_>, out: &mut Color) {
        if images.outside(at).nonzero() == 0 {
            fetcher.texels(images, at, out);
            return self.compared(out);
        }
        let [inner, across_x, across_y] = seam(images, at);
        let mut fetch = |(x, y, z): &Position, out: &mut Color| {
            fetcher.texels(images, &Texel { x, y, z }, out);
            self.compared(out);
        };
        fetch(&across_x, out);
        let corner = corners(images, at);
        if corner.nonzero() != 0 {
            let mut others = [[[0; LANES]; 4]; 2];
            fetch(&across_y, &mut others[0]);
            fetch(&inner, &mut others[1]);
            mean(out, &others, &corner);
        }
    }

    fn compared(&self, color: &mut Color) {
        if let Some((function, reference)) = self.compare {
            compare(function, reference, color);
        }
    }
}

/// A texel position per lane.
type Position = (Ints, Ints, Ints);

/// Returns three positions: `at` clamped to its face, with only x allowed beyond the edge, and with only y.
/// Lanes beyond in one direction only use that step in both.
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

/// Returns the lanes that are beyond a corner of their face.
fn corners(images: &Images, at: &Texel<'_>) -> Lanes {
    let off = |at: i32, size: i32| at < 0 || at >= size;
    Lanes(std::array::from_fn(|i| u32::from(off(at.x[i], images.width[i]) && off(at.y[i], images.height[i]))))
}

fn mean(color: &mut Color, others: &[Color; 2], lanes: &Lanes) {
    for (c, out) in color.iter_mut().enumerate() {
        for i in (0..LANES).filter(|&i| lanes[i] != 0) {
            let sum =
                f32::from_bits(out[i]) + f32::from_bits(others[0][c][i]) + f32::from_bits(others[1][c][i]);
            out[i] = (sum / 3.0).to_bits();
        }
    }
}

simd! {
    /// Mixes the components of `b` in `need` into `a`.
    pub(super) fn blend(a: &mut Color, b: &Color, weight: &Floats, need: u32) {
        for c in 0..4 {
            if need >> c & 1 != 0 {
                mix_all(&mut a[c], &b[c], weight);
            }
        }
    }
}

/// Sets x, y and z to 1 where the comparison of reference and texel passes, else to 0.
fn compare(function: Compare, reference: &Floats, color: &mut Color) {
    let mut out = [0; LANES];
    for i in 0..LANES {
        let pass = passes(function, reference[i], f32::from_bits(color[0][i]));
        out[i] = if pass { 1f32.to_bits() } else { 0 };
    }
    *color = [out, out, out, [1f32.to_bits(); LANES]];
}

fn passes(function: Compare, reference: f32, texel: f32) -> bool {
    match function {
        Compare::Never => false,
        Compare::Less => reference < texel,
        Compare::Equal => reference == texel,
        Compare::LessEqual => reference <= texel,
        Compare::Greater => reference > texel,
        Compare::NotEqual => reference != texel,
        Compare::GreaterEqual => reference >= texel,
        Compare::Always => true,
    }
}
