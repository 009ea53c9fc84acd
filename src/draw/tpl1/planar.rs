//! The common request in one go: a filtered planar texture of normalised texels that lie row by row.
//!
//! What comes out is what the general way ([`filter`](super::filter), [`wrap`](super::wrap),
//! [`fetch`](super::fetch)) makes of it, bit for bit: the expressions are the same, but each lane goes through all of
//! them before the next, so that what lies between stays in registers.
use super::descriptor::{Texels, TextureKind};
use super::fetch::{Images, gather_pairs, gather_texels, mix};
use super::lod::{self, Levels};
use super::sampler::{Filter, Wrap};
use super::unit::Unit;
use super::wrap::{Precision, clamp, cut_one, period, whole};
use super::{Color, Floats, Ints, simd};
use crate::format::arrangement::Arrangement;
use crate::format::{Codec, UnormField};
use crate::shader::{ALL, LANES, Lanes, Lod, Number, Sample, SampleKind};

/// How texels beyond an edge are found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Edge {
    /// At the other one.
    Repeat,
    /// They are those at the edge.
    Clamp,
}

impl Edge {
    fn of(wrap: Wrap) -> Option<Self> {
        match wrap {
            Wrap::Repeat => Some(Self::Repeat),
            Wrap::ClampToEdge => Some(Self::Clamp),
            Wrap::MirrorRepeat | Wrap::ClampToBorder | Wrap::MirrorClamp => None,
        }
    }
}

/// A request that is a common one.
pub(super) struct Planar<'a> {
    unit: &'a Unit<'a>,
    codec: &'a Codec,
    fields: [Option<UnormField>; 4],
    coords: [&'a Floats; 2],
    edges: [Edge; 2],
    need: u32,
}

/// Texels to read: offsets of their first bytes, and what they weigh.
struct Taps {
    /// Upper left, upper right, lower left, lower right.
    at: [[u32; LANES]; 4],
    x: Floats,
    y: Floats,
    /// 0 if the right ones are all behind the left ones.
    apart: u32,
}

impl<'a> Planar<'a> {
    /// `request` of `unit`, if it is a common one.
    pub fn new(unit: &'a Unit<'a>, request: &Sample<&'a Lanes>, need: u32) -> Option<Self> {
        let (texture, sampler) = (unit.texture, unit.sampler);
        let plain = request.kind == SampleKind::Filter
            && request.number == Number::Float
            && request.layer.is_none()
            && request.reference.is_none()
            && request.projector.is_none()
            && request.offsets.is_none();
        let known = texture.kind == TextureKind::Planar
            && texture.arrangement == Arrangement::PLAIN
            && !sampler.unnormalized
            && matches!(request.lod, Lod::Implicit | Lod::Zero);
        let (true, true, Texels::Plain(codec)) = (plain, known, &texture.texels) else { return None };
        let [s, t, _] = sampler.wrap;
        let edges = [Edge::of(s)?, Edge::of(t)?];
        // A border there shows in no coordinate of two.
        let coords =
            [request.coords.first()?, request.coords.get(1)?].map(|lanes| bytemuck::cast_ref(&lanes.0));
        Some(Self { unit, codec, fields: texture.unorm?, coords, edges, need })
    }

    /// Its answer.
    pub fn answer(&self, request: &Sample<&Lanes>, out: &mut [Lanes; 4]) {
        let mut color = [[0; LANES]; 4];
        match self.levels(request.lod) {
            Some(levels) => self.of_levels(&levels, &mut color),
            None => {
                let images = Images::uniform(&self.unit.texture.levels[0]);
                self.image(self.unit.sampler.min, &images, &mut color);
            }
        }
        self.unit.finish(&color, request, out);
    }

    /// Levels to read, unless all of them come to the same.
    fn levels(&self, lod: Lod<&Lanes>) -> Option<Levels> {
        let (sampler, levels) = (self.unit.sampler, &self.unit.texture.levels);
        if levels.len() == 1 && sampler.min == sampler.mag {
            return None;
        }
        let size = [levels[0].width as f32, levels[0].height as f32];
        let lambda = match lod {
            Lod::Implicit => lod::of_quads(self.coords, size).map(|lod| lod + sampler.bias),
            _ => [0.0; LANES],
        };
        Some(lod::select(&lod::clamp(&lambda, sampler), sampler.mip, levels.len()))
    }

    fn of_levels(&self, levels: &Levels, color: &mut Color) {
        let images = |index| Images::new(&self.unit.texture.levels, index);
        let (min, mag) = (self.unit.sampler.min, self.unit.sampler.mag);
        let near = images(&levels.near);
        match levels.magnified.nonzero() {
            ALL => self.image(mag, &near, color),
            some if min == mag || some == 0 => self.image(min, &near, color),
            _ => {
                let mut large = [[0; LANES]; 4];
                self.image(mag, &near, &mut large);
                self.image(min, &near, color);
                for (out, large) in color.iter_mut().zip(&large) {
                    (0..LANES)
                        .for_each(|i| out[i] = if levels.magnified[i] != 0 { large[i] } else { out[i] });
                }
            }
        }
        if levels.weight != [0.0; LANES] {
            let mut far = [[0; LANES]; 4];
            self.image(min, &images(&levels.far), &mut far);
            super::filter::blend(color, &far, &levels.weight, self.need);
        }
    }

    /// One image, filtered.
    fn image(&self, filter: Filter, images: &Images, color: &mut Color) {
        let (size, bytes) = (self.codec.bytes(), self.unit.bytes);
        match filter {
            Filter::Nearest => {
                let (at, mut words) = (nearest(self.coords, self.edges, size, images), [0; LANES]);
                gather_texels(self.codec, bytes, &at, &mut words);
                decode(&self.fields, self.need, &words, color);
            }
            Filter::Linear => {
                let taps = linear(self.coords, self.edges, self.unit.texture.precision, size, images);
                let mut words = [[0; LANES]; 4];
                gather_taps(self.codec, bytes, &taps, &mut words);
                mixed(&self.fields, self.need, &words, &taps, color);
            }
        }
        for (c, color) in color.iter_mut().enumerate() {
            if self.fields[c].is_none() {
                *color = [self.codec.absent(c); LANES];
            }
        }
    }
}

/// A coordinate in texels, wrapped but for a texel at either end.
#[inline(always)]
fn position(coord: f32, size: i32, edge: Edge) -> f32 {
    match edge {
        Edge::Repeat => period(coord) * size as f32,
        Edge::Clamp => clamp(coord * size as f32, 0.0, size as f32),
    }
}

/// The texel that one in -1..=size stands for.
#[inline(always)]
fn closed(texel: i32, size: i32, edge: Edge) -> i32 {
    match edge {
        Edge::Repeat => {
            let low = if texel < 0 { texel + size } else { texel };
            if low >= size { low - size } else { low }
        }
        Edge::Clamp => texel.min(size - 1).max(0),
    }
}

/// Where along one axis a linear filter reads: texels, and what the second weighs.
struct Around {
    near: [u32; LANES],
    far: [u32; LANES],
    weight: Floats,
}

/// The texels around each of `coord`. A loop for each kind of edge and precision: one that chooses in each lane would
/// not become vectors.
#[inline(always)]
fn around(coord: &Floats, size: &Ints, edge: Edge, precision: Precision) -> Around {
    match (edge, precision) {
        (Edge::Repeat, Precision::Cut) => around_by(coord, size, Edge::Repeat, cut_one),
        (Edge::Repeat, Precision::Exact) => around_by(coord, size, Edge::Repeat, |at| at),
        (Edge::Clamp, Precision::Cut) => around_by(coord, size, Edge::Clamp, cut_one),
        (Edge::Clamp, Precision::Exact) => around_by(coord, size, Edge::Clamp, |at| at),
    }
}

#[inline(always)]
fn around_by(coord: &Floats, size: &Ints, edge: Edge, precise: impl Fn(f32) -> f32) -> Around {
    let mut out = Around { near: [0; LANES], far: [0; LANES], weight: [0.0; LANES] };
    for i in 0..LANES {
        let centre = precise(position(coord[i], size[i], edge)) - 0.5;
        let floor = centre.floor();
        let near = whole(floor);
        out.near[i] = closed(near, size[i], edge) as u32;
        out.far[i] = closed(near + 1, size[i], edge) as u32;
        out.weight[i] = centre - floor;
    }
    out
}

simd! {
    /// Offset of the texel that each position falls into.
    fn nearest(coords: [&Floats; 2], edges: [Edge; 2], texel: u32, images: &Images) -> [u32; LANES] {
        let x = within(coords[0], &images.width, edges[0]);
        let y = within(coords[1], &images.height, edges[1]);
        let mut at = [0; LANES];
        for i in 0..LANES {
            at[i] = images.row(i, y[i]).wrapping_add(x[i].wrapping_mul(texel));
        }
        at
    }
}

/// The texel that each of `coord` falls into.
#[inline(always)]
fn within(coord: &Floats, size: &Ints, edge: Edge) -> [u32; LANES] {
    match edge {
        Edge::Repeat => within_by(coord, size, Edge::Repeat),
        Edge::Clamp => within_by(coord, size, Edge::Clamp),
    }
}

#[inline(always)]
fn within_by(coord: &Floats, size: &Ints, edge: Edge) -> [u32; LANES] {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = closed(whole(position(coord[i], size[i], edge).floor()), size[i], edge) as u32;
    }
    out
}

simd! {
    /// The texels around each position.
    fn linear(
        coords: [&Floats; 2],
        edges: [Edge; 2],
        precision: Precision,
        texel: u32,
        images: &Images,
    ) -> Taps {
        let x = around(coords[0], &images.width, edges[0], precision);
        let y = around(coords[1], &images.height, edges[1], precision);
        let mut taps = Taps { at: [[0; LANES]; 4], x: x.weight, y: y.weight, apart: 0 };
        let mut apart = 0;
        for i in 0..LANES {
            let (upper, lower) = (images.row(i, y.near[i]), images.row(i, y.far[i]));
            let (left, right) = (x.near[i].wrapping_mul(texel), x.far[i].wrapping_mul(texel));
            taps.at[0][i] = upper.wrapping_add(left);
            taps.at[1][i] = upper.wrapping_add(right);
            taps.at[2][i] = lower.wrapping_add(left);
            taps.at[3][i] = lower.wrapping_add(right);
            apart |= x.far[i] ^ (x.near[i] + 1);
        }
        taps.apart = apart;
        taps
    }
}

/// The words of four texels.
fn gather_taps(codec: &Codec, bytes: &[u8], taps: &Taps, words: &mut [[u32; LANES]; 4]) {
    let side_by_side = codec.bytes() == 4 && taps.apart == 0;
    let [upper_left, upper_right, lower_left, lower_right] = words;
    for (at, [left, right]) in [(0, [upper_left, upper_right]), (2, [lower_left, lower_right])] {
        if !(side_by_side && gather_pairs(bytes, &taps.at[at], left, right)) {
            gather_texels(codec, bytes, &taps.at[at], left);
            gather_texels(codec, bytes, &taps.at[at + 1], right);
        }
    }
}

simd! {
    fn decode(fields: &[Option<UnormField>; 4], need: u32, words: &[u32; LANES], out: &mut Color) {
        for (c, out) in out.iter_mut().enumerate() {
            let Some(field) = fields[c].filter(|_| need >> c & 1 != 0) else { continue };
            for i in 0..LANES {
                out[i] = field.decode(words[i]).to_bits();
            }
        }
    }
}

simd! {
    fn mixed(
        fields: &[Option<UnormField>; 4],
        need: u32,
        words: &[[u32; LANES]; 4],
        taps: &Taps,
        out: &mut Color,
    ) {
        for (c, out) in out.iter_mut().enumerate() {
            let Some(field) = fields[c].filter(|_| need >> c & 1 != 0) else { continue };
            for i in 0..LANES {
                let [a, b, c, d] = [words[0][i], words[1][i], words[2][i], words[3][i]];
                let top = mix(field.decode(a), field.decode(b), taps.x[i]);
                let bottom = mix(field.decode(c), field.decode(d), taps.x[i]);
                out[i] = mix(top, bottom, taps.y[i]).to_bits();
            }
        }
    }
}
