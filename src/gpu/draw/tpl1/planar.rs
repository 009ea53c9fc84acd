//! The common request in one go: a filtered planar texture of normalised texels that lie row by row.
//!
//! What comes out is what the general way ([`filter`](super::filter), [`wrap`](super::wrap),
//! [`fetch`](super::fetch)) makes of it, bit for bit: the expressions are the same, but each lane goes through all of
//! them before the next, and what all lanes have in common (the level, most of the time) is a number of its own, so
//! that what lies between stays in registers. Components are answered in the order of the swizzle, nothing is moved
//! afterwards.
#[cfg(target_arch = "x86_64")]
mod avx512;

use multiversion::target::match_target;

use super::descriptor::{Component, Texture, Unorm};
use super::fetch::{Images, gather_texels, mix, mix_all};
use super::layout::Level;
use super::lod::{self, Detail, Which};
use super::sampler::{Edge, Filter, Sampler};
use super::wrap::{Precision, clamp, cut_one, period, whole};
use super::{Floats, Ints, simd};
use a4emu_shader::format::UnormField;
#[cfg(target_arch = "x86_64")]
use a4emu_shader::jit::{Dwords, Texels};
use a4emu_shader::{LANES, Lanes, Plain, PlainLevel};
#[cfg(target_arch = "x86_64")]
use a4emu_shader::{Part, Reading, TexelExtent};

/// A texture and a sampler that are common ones, for their common requests.
#[derive(Clone, Copy)]
pub(super) struct Planar<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    bytes: &'a [u8],
    /// What the texels are.
    unorm: &'a Unorm,
    edges: [Edge; 2],
    /// Whether all texels are in `bytes`.
    is_whole: bool,
    /// The texels, if all of them are dwords that are there.
    #[cfg(target_arch = "x86_64")]
    dwords: Option<Dwords<'a>>,
    /// How and where all requests read, if the limits leave no choice: all levels of detail come to the same.
    only: Option<(Filter, Extent)>,
}

/// One of its requests.
#[derive(Clone, Copy)]
struct Request<'a> {
    /// Where, in units of the texture's size.
    coords: [&'a Floats; 2],
    made: Made<'a>,
}

/// The components of an answer.
#[derive(Clone, Copy)]
struct Made<'a> {
    /// What the texels are.
    unorm: &'a Unorm,
    /// Those that are wanted: bit 0 is x.
    wanted: u8,
}

/// The level that a lane reads.
#[derive(Clone, Copy)]
struct Extent {
    width: i32,
    height: i32,
    offset: u32,
    pitch: u32,
}

impl Extent {
    fn of(level: &Level) -> Self {
        let Level { width, height, offset, pitch, .. } = *level;
        Self { width: width as i32, height: height as i32, offset, pitch }
    }
}

impl<'a> Planar<'a> {
    /// `texture` in `bytes`, read with `sampler`, if both are common ones.
    pub fn new(texture: &'a Texture, sampler: &'a Sampler, bytes: &'a [u8]) -> Option<Self> {
        let (unorm, edges) = (texture.unorm.as_ref()?, sampler.edges?);
        let is_whole = texture.bytes_spanned() <= bytes.len() as u64;
        let last = texture.levels.len() as u32 - 1;
        let [low, high] = sampler.reach.map(|level| level.min(last));
        let only = sampler.filter.filter(|_| low == high);
        let only = only.map(|filter| (filter, Extent::of(&texture.levels[low as usize])));
        #[cfg(target_arch = "x86_64")]
        let dwords = if unorm.of_bytes && is_whole { Dwords::new(bytes) } else { None };
        Some(Self {
            texture,
            sampler,
            bytes,
            unorm,
            edges,
            is_whole,
            #[cfg(target_arch = "x86_64")]
            dwords,
            only,
        })
    }

    /// The texels, where they can be filtered as dwords: weights have the fewer bits.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn dwords(&self, filter: Filter) -> Option<Dwords<'a>> {
        let is_cut = filter == Filter::Nearest || self.texture.precision == Precision::Cut;
        self.dwords.filter(|_| is_cut)
    }

    /// How compiled code reads it, if all requests read one level and it can; and that level.
    #[cfg(target_arch = "x86_64")]
    pub fn for_code(&self) -> Option<(Reading, Texels<'a>)> {
        let (filter, Extent { width, height, offset, pitch }) = self.only?;
        let (is_linear, dwords) = (filter == Filter::Linear, self.dwords(filter)?);
        let components = self.unorm.components.map(|component| match component {
            Component::Texels(field) => Part::Byte(field.byte().unwrap_or_default()),
            Component::Constant(bits) => Part::Constant(bits),
        });
        let repeats = self.edges.map(|edge| edge == Edge::Repeat);
        let reading = Reading { is_linear, repeats, components };
        let extent = TexelExtent::new([width as u32, height as u32], (offset / 4, pitch / 4), &reading);
        Some((reading, Texels::new(dwords, extent)))
    }

    /// The answer to `plain`.
    #[inline]
    pub fn answer(&self, plain: &Plain<&Lanes>, out: &mut [Lanes; 4]) {
        let [s, t] = plain.coords;
        let coords = [bytemuck::cast_ref(&s.0), bytemuck::cast_ref(&t.0)];
        let request = Request { coords, made: Made { unorm: self.unorm, wanted: plain.components } };
        match self.only {
            Some((filter, extent)) => of_one(self, &request, filter, extent, out),
            None => self.at_levels(&request, &plain.level, out),
        }
    }

    /// The same where it matters at which level.
    #[inline(never)]
    fn at_levels(&self, request: &Request<'_>, level: &PlainLevel<&Lanes>, out: &mut [Lanes; 4]) {
        let (sampler, levels) = (self.sampler, &self.texture.levels);
        let size = [levels[0].width as f32, levels[0].height as f32];
        let of = (sampler, self.texture.precision);
        let detail = match level {
            PlainLevel::Implicit => lod::implicit(request.coords, size, of, levels.len()),
            PlainLevel::Explicit(level) => lod::explicit(level, of, levels.len()),
            PlainLevel::Zero => lod::zero(of, levels.len()),
        };
        self.of_levels(request, &detail, out);
    }

    fn of_levels(&self, request: &Request<'_>, detail: &Detail, out: &mut [Lanes; 4]) {
        let (min, mag) = (self.sampler.min, self.sampler.mag);
        match detail.magnified {
            // Level 0, whatever the level of detail: it need not be waited for.
            [_, true] => return of_one(self, request, mag, Extent::of(&self.texture.levels[0]), out),
            [false, _] => self.image(request, min, detail, Which::Near, out),
            _ if min == mag => self.image(request, min, detail, Which::Near, out),
            _ => {
                let mut large = [Lanes::ZERO; 4];
                self.image(request, mag, detail, Which::Near, &mut large);
                self.image(request, min, detail, Which::Near, out);
                for c in request.made.components() {
                    (0..LANES).filter(|i| detail.is_magnified(*i)).for_each(|i| out[c][i] = large[c][i]);
                }
            }
        }
        if detail.blended {
            let mut far = [Lanes::ZERO; 4];
            self.image(request, min, detail, Which::Far, &mut far);
            blend(out, &far, detail, request.made.wanted);
        }
    }

    /// One image, filtered: for each lane the nearer or the farther of its levels, all of them within `low..=high`.
    fn image(
        &self,
        request: &Request<'_>,
        filter: Filter,
        detail: &Detail,
        which: Which,
        out: &mut [Lanes; 4],
    ) {
        let levels = &self.texture.levels;
        let [low, high] = match which {
            Which::Near => detail.near,
            Which::Far => detail.far,
        };
        match low == high {
            true => of_one(self, request, filter, Extent::of(&levels[low as usize]), out),
            false => {
                let numbers = lod::numbers(detail, which, self.sampler.mip);
                of_each(self, request, filter, &numbers, out);
            }
        }
    }

    /// The level that `image` says of each lane. Compiled into the callers, once for each kind of `image`.
    #[inline(always)]
    fn filtered(
        &self,
        request: &Request<'_>,
        filter: Filter,
        image: impl Fn(usize) -> Extent,
        out: &mut [Lanes; 4],
    ) {
        let (Self { edges, .. }, Request { coords, made }) = (self, request);
        match filter {
            Filter::Nearest => {
                let mut words = [0; LANES];
                self.nearest(*coords, *edges, image, &mut words);
                decoded(&words, made, out);
            }
            Filter::Linear => {
                let mut taps = Taps { words: [[0; LANES]; 4], x: [0.0; LANES], y: [0.0; LANES] };
                match self.texture.precision {
                    Precision::Cut => self.linear(*coords, *edges, cut_one, image, &mut taps),
                    Precision::Exact => self.linear(*coords, *edges, |at| at, image, &mut taps),
                }
                mixed(&taps, made, out);
            }
        }
    }

    /// The texel that each position falls into.
    #[inline(always)]
    fn nearest(
        &self,
        coords: [&Floats; 2],
        edges: [Edge; 2],
        image: impl Fn(usize) -> Extent,
        words: &mut [u32; LANES],
    ) {
        match edges {
            [Edge::Repeat, Edge::Repeat] => self.nearest_by::<Repeated, Repeated>(coords, image, words),
            [Edge::Repeat, Edge::Clamp] => self.nearest_by::<Repeated, Clamped>(coords, image, words),
            [Edge::Clamp, Edge::Repeat] => self.nearest_by::<Clamped, Repeated>(coords, image, words),
            [Edge::Clamp, Edge::Clamp] => self.nearest_by::<Clamped, Clamped>(coords, image, words),
        }
    }

    #[inline(always)]
    fn nearest_by<S: Wrapped, T: Wrapped>(
        &self,
        [s, t]: [&Floats; 2],
        image: impl Fn(usize) -> Extent,
        words: &mut [u32; LANES],
    ) {
        let texel = self.unorm.texel;
        let at = |i: usize| {
            let Extent { width, height, offset, pitch } = image(i);
            let x = S::high(whole(S::position(s[i], width).floor()), width) as u32;
            let y = T::high(whole(T::position(t[i], height).floor()), height) as u32;
            offset.wrapping_add(y.wrapping_mul(pitch)).wrapping_add(x.wrapping_mul(texel))
        };
        if let (4, true, Some(last)) = (texel, self.is_whole, last::<4>(self.bytes)) {
            for i in 0..LANES {
                words[i] = dword(self.bytes, at(i), last);
            }
            return;
        }
        let mut places = [0; LANES];
        for i in 0..LANES {
            places[i] = at(i);
        }
        texels(self.bytes, &places, texel, words);
    }

    /// The texels around each position.
    #[inline(always)]
    fn linear(
        &self,
        coords: [&Floats; 2],
        edges: [Edge; 2],
        precise: impl Fn(f32) -> f32,
        image: impl Fn(usize) -> Extent,
        taps: &mut Taps,
    ) {
        match edges {
            [Edge::Repeat, Edge::Repeat] => {
                self.linear_by::<Repeated, Repeated>(coords, precise, image, taps)
            }
            [Edge::Repeat, Edge::Clamp] => self.linear_by::<Repeated, Clamped>(coords, precise, image, taps),
            [Edge::Clamp, Edge::Repeat] => self.linear_by::<Clamped, Repeated>(coords, precise, image, taps),
            [Edge::Clamp, Edge::Clamp] => self.linear_by::<Clamped, Clamped>(coords, precise, image, taps),
        }
    }

    #[inline(always)]
    fn linear_by<S: Wrapped, T: Wrapped>(
        &self,
        [s, t]: [&Floats; 2],
        precise: impl Fn(f32) -> f32,
        image: impl Fn(usize) -> Extent,
        taps: &mut Taps,
    ) {
        let texel = self.unorm.texel;
        let tap = |i: usize| {
            let Extent { width, height, offset, pitch } = image(i);
            let (x, y) = (precise(S::position(s[i], width)) - 0.5, precise(T::position(t[i], height)) - 0.5);
            let (left, top) = (x.floor(), y.floor());
            let row = whole(top);
            let rows = [T::low(row, height), T::high(row + 1, height)];
            let rows = rows.map(|row| offset.wrapping_add((row as u32).wrapping_mul(pitch)));
            Tap { rows, column: whole(left), width, x: x - left, y: y - top }
        };
        if self.is_whole && taps.side_by_side(tap, texel, self.bytes) {
            return;
        }
        let mut places = [[0; LANES]; 4];
        for i in 0..LANES {
            let Tap { rows: [upper, lower], column, width, x, y } = tap(i);
            let [left, right] = [S::low(column, width), S::high(column + 1, width)]
                .map(|column| (column as u32).wrapping_mul(texel));
            (places[0][i], places[1][i]) = (upper.wrapping_add(left), upper.wrapping_add(right));
            (places[2][i], places[3][i]) = (lower.wrapping_add(left), lower.wrapping_add(right));
            (taps.x[i], taps.y[i]) = (x, y);
        }
        for (places, words) in places.iter().zip(&mut taps.words) {
            texels(self.bytes, places, texel, words);
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
        match self.unorm.components[c] {
            _ if self.wanted >> c & 1 == 0 => return None,
            Component::Constant(bits) => *out = Lanes::splat(bits),
            Component::Texels(field) => return Some(field),
        }
        None
    }
}

/// A way of finding texels beyond an edge. A type for each: a loop that chooses in each lane would not become vectors.
trait Wrapped {
    /// A coordinate in texels, in `0..=size`.
    fn position(coord: f32, size: i32) -> f32;
    /// The texel that one in `-1..size` stands for.
    fn low(texel: i32, size: i32) -> i32;
    /// The texel that one in `0..=size` stands for.
    fn high(texel: i32, size: i32) -> i32;
}

struct Repeated;

impl Wrapped for Repeated {
    #[inline(always)]
    fn position(coord: f32, size: i32) -> f32 {
        period(coord) * size as f32
    }

    #[inline(always)]
    fn low(texel: i32, size: i32) -> i32 {
        // -1 is the highest of the unsigned numbers.
        (texel as u32).min(texel.wrapping_add(size) as u32) as i32
    }

    #[inline(always)]
    fn high(texel: i32, size: i32) -> i32 {
        (texel as u32).min(texel.wrapping_sub(size) as u32) as i32
    }
}

struct Clamped;

impl Wrapped for Clamped {
    #[inline(always)]
    fn position(coord: f32, size: i32) -> f32 {
        clamp(coord * size as f32, 0.0, size as f32)
    }

    #[inline(always)]
    fn low(texel: i32, _: i32) -> i32 {
        texel.max(0)
    }

    #[inline(always)]
    fn high(texel: i32, size: i32) -> i32 {
        texel.min(size - 1)
    }
}

simd! {
    /// The same level for all lanes.
    fn of_one(
        planar: &Planar<'_>,
        request: &Request<'_>,
        filter: Filter,
        extent: Extent,
        out: &mut [Lanes; 4],
    ) {
        match_target! {
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => {
                if avx512::of_one(planar, request, filter, extent, out) {
                    return;
                }
            }
            _ => (),
        }
        planar.filtered(request, filter, |_| extent, out);
    }
}

simd! {
    /// The levels with these numbers.
    fn of_each(
        planar: &Planar<'_>,
        request: &Request<'_>,
        filter: Filter,
        numbers: &Ints,
        out: &mut [Lanes; 4],
    ) {
        match_target! {
            "x86_64+avx512f+avx512bw+avx512dq+avx512vl+fma" => {
                if avx512::of_each(planar, request, filter, numbers, out) {
                    return;
                }
            }
            _ => (),
        }
        let images = Images::of(&planar.texture.levels, numbers);
        planar.filtered(request, filter, |lane| of_lane(&images, lane), out);
    }
}

simd! {
    /// Mixes the components of `far` in `wanted` into `near`.
    fn blend(near: &mut [Lanes; 4], far: &[Lanes; 4], detail: &Detail, wanted: u8) {
        let mut weight = [0.0; LANES];
        for i in 0..LANES {
            weight[i] = detail.weight(i);
        }
        for c in 0..4 {
            if wanted >> c & 1 != 0 {
                mix_all(&mut near[c].0, &far[c].0, &weight);
            }
        }
    }
}

#[inline(always)]
fn of_lane(images: &Images, lane: usize) -> Extent {
    let (width, height) = (images.width[lane], images.height[lane]);
    Extent { width, height, offset: images.row(lane, 0), pitch: images.pitch(lane) }
}

/// The four texels around a position.
struct Tap {
    /// Offsets of the rows that they are in, the upper first.
    rows: [u32; 2],
    /// Number of the left column, before it is wrapped.
    column: i32,
    /// Columns that there are.
    width: i32,
    /// Weight of the right ones.
    x: f32,
    /// Of the lower ones.
    y: f32,
}

/// The texels around each position, and what they weigh.
struct Taps {
    /// Left before right, upper before lower.
    words: [[u32; LANES]; 4],
    x: Floats,
    y: Floats,
}

impl Taps {
    /// Reads them, if all are in `bytes` and the right ones behind the left ones. False if not.
    #[inline(always)]
    fn side_by_side(&mut self, tap: impl Fn(usize) -> Tap, texel: u32, bytes: &[u8]) -> bool {
        match texel {
            4 => last::<8>(bytes).is_some_and(|last| {
                self.pairs(tap, texel, |at| [dword(bytes, at, last), dword(&bytes[4..], at, last)])
            }),
            2 => last::<4>(bytes).is_some_and(|last| {
                self.pairs(tap, texel, |at| {
                    let both = dword(bytes, at, last);
                    [both, both >> 16]
                })
            }),
            _ => false,
        }
    }

    /// The same, where `pair` reads the texel at an offset and the one behind it.
    #[inline(always)]
    fn pairs(&mut self, tap: impl Fn(usize) -> Tap, texel: u32, pair: impl Fn(u32) -> [u32; 2]) -> bool {
        let Self { words: [upper_left, upper_right, lower_left, lower_right], x, y } = self;
        let (mut above, mut below, mut apart) = ([0; LANES], [0; LANES], 0);
        for i in 0..LANES {
            let Tap { rows: [upper, lower], column, width, x: right, y: down } = tap(i);
            let left = (column as u32).wrapping_mul(texel);
            (above[i], below[i]) = (upper.wrapping_add(left), lower.wrapping_add(left));
            (x[i], y[i]) = (right, down);
            apart |= u32::from(column as u32 >= (width - 1) as u32);
        }
        // A loop of its own: not always the compiler makes gathers of it, and with them go the vectors of the rest.
        for i in 0..LANES {
            [upper_left[i], upper_right[i]] = pair(above[i]);
            [lower_left[i], lower_right[i]] = pair(below[i]);
        }
        apart == 0
    }
}

/// Where the last `N` bytes are. Asked right before they are read: behind a tuple of several the compiler no longer
/// knows that [`dword`] stays within `bytes`, and makes no gather of it.
#[inline(always)]
fn last<const N: usize>(bytes: &[u8]) -> Option<u32> {
    let last = bytes.len().checked_sub(N)?;
    if last > i32::MAX as usize {
        return None;
    }
    Some(last as u32)
}

/// The four bytes at an offset that is no higher than `last`, where the last four are: a loop of it becomes a gather.
#[inline(always)]
fn dword(bytes: &[u8], at: u32, last: u32) -> u32 {
    let first = (at & i32::MAX as u32).min(last) as usize;
    bytes[first..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

simd! {
    /// [`gather_texels`], for all that is not common.
    fn texels(bytes: &[u8], at: &[u32; LANES], size: u32, words: &mut [u32; LANES]) {
        gather_texels(size, bytes, at, words);
    }
}

/// The components of these texels.
#[inline(always)]
fn decoded(words: &[u32; LANES], made: &Made<'_>, out: &mut [Lanes; 4]) {
    for (c, out) in out.iter_mut().enumerate() {
        match made.part(c, out) {
            Some(field) if field.is_wide() => decoded_by(|word| field.decode_wide(word), words, out),
            Some(field) => decoded_by(|word| field.decode(word), words, out),
            None => {}
        }
    }
}

#[inline(always)]
fn decoded_by(decode: impl Fn(u32) -> f32, words: &[u32; LANES], out: &mut Lanes) {
    for i in 0..LANES {
        out.0[i] = decode(words[i]).to_bits();
    }
}

/// The components of four texels, mixed.
#[inline(always)]
fn mixed(taps: &Taps, made: &Made<'_>, out: &mut [Lanes; 4]) {
    for (c, out) in out.iter_mut().enumerate() {
        match made.part(c, out) {
            Some(field) if field.is_wide() => mixed_by(|word| field.decode_wide(word), taps, out),
            Some(field) => mixed_by(|word| field.decode(word), taps, out),
            None => {}
        }
    }
}

#[inline(always)]
fn mixed_by(decode: impl Fn(u32) -> f32, taps: &Taps, out: &mut Lanes) {
    let Taps { words, x, y } = taps;
    for i in 0..LANES {
        let [a, b, c, d] = [words[0][i], words[1][i], words[2][i], words[3][i]];
        let top = mix(decode(a), decode(b), x[i]);
        let bottom = mix(decode(c), decode(d), x[i]);
        out.0[i] = mix(top, bottom, y[i]).to_bits();
    }
}
