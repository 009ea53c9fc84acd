//! The common request in one go: a filtered planar texture of normalised texels that lie row by row.
//!
//! What comes out is what the general way ([`filter`](super::filter), [`wrap`](super::wrap),
//! [`fetch`](super::fetch)) makes of it, bit for bit: the expressions are the same, but each lane goes through all of
//! them before the next, and what all lanes have in common (the level, most of the time) is a number of its own, so
//! that what lies between stays in registers. Components are answered in the order of the swizzle, nothing is moved
//! afterwards.
use super::descriptor::{Component, Texture};
use super::fetch::{Images, gather_pairs, gather_texels, mix, mix_all};
use super::layout::Level;
use super::lod::{self, Common, Levels};
use super::sampler::{Edge, Filter, Sampler};
use super::wrap::{Precision, at_edge, clamp, cut_one, period, repeated, whole};
use super::{Floats, Ints, simd};
use crate::format::UnormField;
use crate::shader::{LANES, Lanes, Plain, PlainLevel};

/// A common request of a texture and a sampler that are common too.
pub(super) struct Planar<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    bytes: &'a [u8],
    request: &'a Plain<&'a Lanes>,
    edges: [Edge; 2],
    /// What is made of the texels.
    made: Made<'a>,
}

/// The components of an answer.
#[derive(Clone, Copy)]
struct Made<'a> {
    /// What each comes from.
    of: &'a [Component; 4],
    /// Those that are wanted: bit 0 is x.
    wanted: u8,
    /// Bytes of a texel.
    texel: u32,
}

/// The level that a lane reads.
#[derive(Clone, Copy)]
struct Extent {
    width: i32,
    height: i32,
    offset: u32,
    pitch: u32,
}

impl<'a> Planar<'a> {
    /// `request` of `texture` with `sampler`, if they are common ones.
    #[inline]
    pub fn new(
        texture: &'a Texture,
        sampler: &'a Sampler,
        bytes: &'a [u8],
        request: &'a Plain<&'a Lanes>,
    ) -> Option<Self> {
        let ((of, texel), edges) = (texture.unorm.as_ref()?, sampler.edges?);
        let made = Made { of, wanted: request.components, texel: *texel };
        Some(Self { texture, sampler, bytes, request, edges, made })
    }

    #[inline(always)]
    fn coords(&self) -> [&'a Floats; 2] {
        let [s, t] = self.request.coords;
        [bytemuck::cast_ref(&s.0), bytemuck::cast_ref(&t.0)]
    }

    /// Its answer.
    #[inline]
    pub fn answer(&self, out: &mut [Lanes; 4]) {
        let (sampler, levels) = (self.sampler, &self.texture.levels);
        if levels.len() == 1 && sampler.min == sampler.mag {
            // All levels come to the same.
            return self.of_one(sampler.min, &levels[0], out);
        }
        self.at_levels(out);
    }

    /// The same where it matters at which level.
    #[inline(never)]
    fn at_levels(&self, out: &mut [Lanes; 4]) {
        let (sampler, levels) = (self.sampler, &self.texture.levels);
        let size = [levels[0].width as f32, levels[0].height as f32];
        let (chosen, common) = match self.request.level {
            PlainLevel::Implicit => lod::implicit(self.coords(), size, sampler, levels.len()),
            PlainLevel::Explicit(level) => lod::explicit(level, sampler, levels.len()),
            PlainLevel::Zero => lod::zero(sampler, levels.len()),
        };
        self.of_levels(&chosen, &common, out);
    }

    fn of_levels(&self, levels: &Levels, common: &Common, out: &mut [Lanes; 4]) {
        let (min, mag) = (self.sampler.min, self.sampler.mag);
        match common.magnified {
            [_, true] => self.image(mag, &levels.near, common.near, out),
            [false, _] => self.image(min, &levels.near, common.near, out),
            _ if min == mag => self.image(min, &levels.near, common.near, out),
            _ => {
                let mut large = [Lanes::ZERO; 4];
                self.image(mag, &levels.near, common.near, &mut large);
                self.image(min, &levels.near, common.near, out);
                for c in self.made.components() {
                    (0..LANES).filter(|i| levels.magnified[*i] != 0).for_each(|i| out[c][i] = large[c][i]);
                }
            }
        }
        if common.blended {
            let mut far = [Lanes::ZERO; 4];
            self.image(min, &levels.far, common.far, &mut far);
            for c in self.made.components() {
                blend(&mut out[c].0, &far[c].0, &levels.weight);
            }
        }
    }

    /// One image, filtered: level `index` of each lane, all of them within `low..=high`.
    fn image(&self, filter: Filter, index: &Ints, [low, high]: [i32; 2], out: &mut [Lanes; 4]) {
        let levels = &self.texture.levels;
        match low == high {
            true => self.of_one(filter, &levels[low as usize], out),
            false => of_each(self, filter, &Images::of(levels, index, [low, high]), out),
        }
    }

    /// The same level for all lanes.
    fn of_one(&self, filter: Filter, level: &Level, out: &mut [Lanes; 4]) {
        let Level { width, height, offset, pitch, .. } = *level;
        of_one(self, filter, Extent { width: width as i32, height: height as i32, offset, pitch }, out);
    }

    /// The level that `image` says of each lane. Compiled into the callers, once for each kind of `image`.
    #[inline(always)]
    fn filtered(&self, filter: Filter, image: impl Fn(usize) -> Extent, out: &mut [Lanes; 4]) {
        let (Self { edges, made, bytes, .. }, coords) = (self, self.coords());
        match filter {
            Filter::Nearest => decoded(&nearest(coords, *edges, made.texel, image), made, bytes, out),
            Filter::Linear => {
                let precision = self.texture.precision;
                mixed(&linear(coords, *edges, precision, made.texel, image), made, bytes, out);
            }
        }
    }
}

impl Made<'_> {
    /// Those that are wanted.
    fn components(&self) -> impl Iterator<Item = usize> {
        let wanted = self.wanted;
        (0..4).filter(move |c| wanted >> c & 1 != 0)
    }

    /// The part of the texels that component `c` is made of, if it is wanted and made of any. A constant is made here.
    #[inline(always)]
    fn part(&self, c: usize, out: &mut Lanes) -> Option<UnormField> {
        match self.of[c] {
            _ if self.wanted >> c & 1 == 0 => return None,
            Component::Constant(bits) => *out = Lanes::splat(bits),
            Component::Texels(field) => return Some(field),
        }
        None
    }
}

/// A way of finding texels beyond an edge. A type for each: a loop that chooses in each lane would not become vectors.
trait Wrapped {
    /// A coordinate in texels, wrapped but for a texel at either end.
    fn position(coord: f32, size: i32) -> f32;
    /// The texel that one in -1..=size stands for.
    fn closed(texel: i32, size: i32) -> i32;
}

struct Repeated;

impl Wrapped for Repeated {
    #[inline(always)]
    fn position(coord: f32, size: i32) -> f32 {
        period(coord) * size as f32
    }

    #[inline(always)]
    fn closed(texel: i32, size: i32) -> i32 {
        repeated(texel, size)
    }
}

struct Clamped;

impl Wrapped for Clamped {
    #[inline(always)]
    fn position(coord: f32, size: i32) -> f32 {
        clamp(coord * size as f32, 0.0, size as f32)
    }

    #[inline(always)]
    fn closed(texel: i32, size: i32) -> i32 {
        at_edge(texel, size)
    }
}

simd! {
    fn of_one(planar: &Planar<'_>, filter: Filter, extent: Extent, out: &mut [Lanes; 4]) {
        planar.filtered(filter, |_| extent, out);
    }
}

simd! {
    fn of_each(planar: &Planar<'_>, filter: Filter, images: &Images, out: &mut [Lanes; 4]) {
        planar.filtered(filter, |lane| of_lane(images, lane), out);
    }
}

simd! {
    /// Mixes `far` into `near`.
    fn blend(near: &mut [u32; LANES], far: &[u32; LANES], weight: &Floats) {
        mix_all(near, far, weight);
    }
}

#[inline(always)]
fn of_lane(images: &Images, lane: usize) -> Extent {
    let (width, height) = (images.width[lane], images.height[lane]);
    Extent { width, height, offset: images.row(lane, 0), pitch: images.pitch(lane) }
}

/// Offset of the texel that each position falls into.
#[inline(always)]
fn nearest(
    coords: [&Floats; 2],
    edges: [Edge; 2],
    texel: u32,
    image: impl Fn(usize) -> Extent,
) -> [u32; LANES] {
    match edges {
        [Edge::Repeat, Edge::Repeat] => nearest_by::<Repeated, Repeated>(coords, texel, image),
        [Edge::Repeat, Edge::Clamp] => nearest_by::<Repeated, Clamped>(coords, texel, image),
        [Edge::Clamp, Edge::Repeat] => nearest_by::<Clamped, Repeated>(coords, texel, image),
        [Edge::Clamp, Edge::Clamp] => nearest_by::<Clamped, Clamped>(coords, texel, image),
    }
}

#[inline(always)]
fn nearest_by<S: Wrapped, T: Wrapped>(
    [s, t]: [&Floats; 2],
    texel: u32,
    image: impl Fn(usize) -> Extent,
) -> [u32; LANES] {
    let mut at = [0; LANES];
    for i in 0..LANES {
        let Extent { width, height, offset, pitch } = image(i);
        let x = S::closed(whole(S::position(s[i], width).floor()), width) as u32;
        let y = T::closed(whole(T::position(t[i], height).floor()), height) as u32;
        at[i] = offset.wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x.wrapping_mul(texel));
    }
    at
}

/// Texels to read, and what they weigh.
struct Taps {
    /// Offsets of the first bytes of the upper left ones.
    upper: [u32; LANES],
    /// Of the lower left ones.
    lower: [u32; LANES],
    /// From there to those to the right.
    right: [u32; LANES],
    x: Floats,
    y: Floats,
    /// Whether the right ones all lie behind the left ones.
    side_by_side: bool,
}

/// The texels around each position.
#[inline(always)]
fn linear(
    coords: [&Floats; 2],
    edges: [Edge; 2],
    precision: Precision,
    texel: u32,
    image: impl Fn(usize) -> Extent,
) -> Taps {
    match precision {
        Precision::Cut => linear_of(coords, edges, texel, cut_one, image),
        Precision::Exact => linear_of(coords, edges, texel, |at| at, image),
    }
}

#[inline(always)]
fn linear_of(
    coords: [&Floats; 2],
    edges: [Edge; 2],
    texel: u32,
    precise: impl Fn(f32) -> f32,
    image: impl Fn(usize) -> Extent,
) -> Taps {
    match edges {
        [Edge::Repeat, Edge::Repeat] => linear_by::<Repeated, Repeated>(coords, texel, precise, image),
        [Edge::Repeat, Edge::Clamp] => linear_by::<Repeated, Clamped>(coords, texel, precise, image),
        [Edge::Clamp, Edge::Repeat] => linear_by::<Clamped, Repeated>(coords, texel, precise, image),
        [Edge::Clamp, Edge::Clamp] => linear_by::<Clamped, Clamped>(coords, texel, precise, image),
    }
}

#[inline(always)]
fn linear_by<S: Wrapped, T: Wrapped>(
    [s, t]: [&Floats; 2],
    texel: u32,
    precise: impl Fn(f32) -> f32,
    image: impl Fn(usize) -> Extent,
) -> Taps {
    let (zero, weights) = ([0; LANES], [0.0; LANES]);
    let mut taps =
        Taps { upper: zero, lower: zero, right: zero, x: weights, y: weights, side_by_side: false };
    let mut apart = 0;
    for i in 0..LANES {
        let Extent { width, height, offset, pitch } = image(i);
        let (x, y) = (precise(S::position(s[i], width)) - 0.5, precise(T::position(t[i], height)) - 0.5);
        let (left, top) = (x.floor(), y.floor());
        let (column, row) = (whole(left), whole(top));
        let (near, far) = (S::closed(column, width) as u32, S::closed(column + 1, width) as u32);
        let (upper, lower) = (T::closed(row, height) as u32, T::closed(row + 1, height) as u32);
        let first = offset.wrapping_add(near.wrapping_mul(texel));
        taps.upper[i] = first.wrapping_add(upper.wrapping_mul(pitch));
        taps.lower[i] = first.wrapping_add(lower.wrapping_mul(pitch));
        taps.right[i] = far.wrapping_sub(near).wrapping_mul(texel);
        (taps.x[i], taps.y[i]) = (x - left, y - top);
        apart |= far ^ (near + 1);
    }
    taps.side_by_side = apart == 0 && texel == 4;
    taps
}

/// The components of the texels at these offsets.
#[inline(always)]
fn decoded(at: &[u32; LANES], made: &Made<'_>, bytes: &[u8], out: &mut [Lanes; 4]) {
    let mut words = [0; LANES];
    gather_texels(made.texel, bytes, at, &mut words);
    for (c, out) in out.iter_mut().enumerate() {
        let Some(field) = made.part(c, out) else { continue };
        for i in 0..LANES {
            out.0[i] = field.decode(words[i]).to_bits();
        }
    }
}

/// The components of four texels, mixed.
#[inline(always)]
fn mixed(taps: &Taps, made: &Made<'_>, bytes: &[u8], out: &mut [Lanes; 4]) {
    let mut words = [[0; LANES]; 4];
    let [upper_left, upper_right, lower_left, lower_right] = &mut words;
    for (at, left, right) in [(&taps.upper, upper_left, upper_right), (&taps.lower, lower_left, lower_right)]
    {
        if !(taps.side_by_side && gather_pairs(bytes, at, left, right)) {
            let mut beside = [0; LANES];
            (0..LANES).for_each(|i| beside[i] = at[i].wrapping_add(taps.right[i]));
            gather_texels(made.texel, bytes, at, left);
            gather_texels(made.texel, bytes, &beside, right);
        }
    }
    for (c, out) in out.iter_mut().enumerate() {
        let Some(field) = made.part(c, out) else { continue };
        for i in 0..LANES {
            let [a, b, c, d] = [words[0][i], words[1][i], words[2][i], words[3][i]];
            let top = mix(field.decode(a), field.decode(b), taps.x[i]);
            let bottom = mix(field.decode(c), field.decode(d), taps.x[i]);
            out.0[i] = mix(top, bottom, taps.y[i]).to_bits();
        }
    }
}
