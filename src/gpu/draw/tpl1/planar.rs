//! Fast path of common requests: filters a planar texture of normalised texels in row order.
//!
//! Results are equal to those of the general path ([`filter`](super::filter), [`wrap`](super::wrap),
//! [`fetch`](super::fetch)), bit for bit. The expressions are the same, but each lane runs all of them before
//! the next lane. Values that all lanes share (usually the level) are single numbers, so intermediate results
//! stay in registers. Components are produced in swizzle order and need no later move.
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
#[cfg(target_arch = "x86_64")]
use a4emu_shader::{ComponentSource, Reading, TexelExtent};
use a4emu_shader::{LANES, Lanes, Plain, PlainLevel};

/// A texture and a sampler on the fast path.
#[derive(Clone, Copy)]
pub(super) struct Planar<'a> {
    texture: &'a Texture,
    sampler: &'a Sampler,
    bytes: &'a [u8],
    /// Texel description.
    unorm: &'a Unorm,
    edges: [Edge; 2],
    /// Whether `bytes` contain all texels.
    is_whole: bool,
    /// The texels as dwords, if all of them are four-byte texels within `bytes`.
    #[cfg(target_arch = "x86_64")]
    dwords: Option<Dwords<'a>>,
    /// Filter and level of all requests, if the sampler's limits allow only one.
    only: Option<(Filter, Extent)>,
}

/// A request on the fast path.
#[derive(Clone, Copy)]
struct Request<'a> {
    /// Coordinates in units of the texture's size.
    coords: [&'a Floats; 2],
    made: Made<'a>,
}

/// Components of a result.
#[derive(Clone, Copy)]
struct Made<'a> {
    /// Texel description.
    unorm: &'a Unorm,
    /// Requested components: bit 0 is x.
    wanted: u8,
}

/// Level that a lane reads.
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
    /// Returns the fast path of `texture` in `bytes` with `sampler`, if both allow it.
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

    /// Returns the texels for filters on dwords, which need weights of few bits.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    fn dwords(&self, filter: Filter) -> Option<Dwords<'a>> {
        let is_cut = filter == Filter::Nearest || self.texture.precision == Precision::Cut;
        self.dwords.filter(|_| is_cut)
    }

    /// Returns how compiled code can read the texture, with its level, if all requests read one level.
    #[cfg(target_arch = "x86_64")]
    pub fn for_code(&self) -> Option<(Reading, Texels<'a>)> {
        let (filter, Extent { width, height, offset, pitch }) = self.only?;
        let (is_linear, dwords) = (filter == Filter::Linear, self.dwords(filter)?);
        let components = self.unorm.components.map(|component| match component {
            Component::Texels(field) => ComponentSource::Byte(field.byte().unwrap_or_default()),
            Component::Constant(bits) => ComponentSource::Constant(bits),
        });
        let repeats = self.edges.map(|edge| edge == Edge::Repeat);
        let reading = Reading { is_linear, repeats, components };
        let extent = TexelExtent::new([width as u32, height as u32], (offset / 4, pitch / 4), &reading);
        Some((reading, Texels::new(dwords, extent)))
    }

    /// Runs the request `plain`.
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

    /// Runs a request when several levels are possible.
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
            // The level is always 0, so do not wait for the level of detail.
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

    /// Filters one image: the near or the far level of each lane.
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

    /// Filters with the level `image(lane)` of each lane. Inlined into each caller, once per kind of `image`.
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

    /// Reads the texel at each position.
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

    /// Reads the texels around each position.
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
    /// Returns the requested components.
    fn components(&self) -> impl Iterator<Item = usize> {
        let wanted = self.wanted;
        (0..4).filter(move |c| wanted >> c & 1 != 0)
    }

    /// Returns the texel field of component `c`, if requested. Writes a constant component directly.
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

/// A wrap mode. One type per mode, because a branch in each lane would prevent vectorisation.
trait Wrapped {
    /// Returns a coordinate in texels, in `0..=size`.
    fn position(coord: f32, size: i32) -> f32;
    /// Wraps a texel in `-1..size`.
    fn low(texel: i32, size: i32) -> i32;
    /// Wraps a texel in `0..=size`.
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
        // As an unsigned number, -1 is the maximum.
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
    /// Filters with the same level for all lanes.
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
    /// Filters with the levels of these numbers.
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
    /// Offsets of the two rows, the upper first.
    rows: [u32; 2],
    /// Number of the left column, before wrapping.
    column: i32,
    /// Number of columns.
    width: i32,
    /// Weight of the right texels.
    x: f32,
    /// Weight of the lower texels.
    y: f32,
}

/// The texels around each position, with their weights.
struct Taps {
    /// Texels: left before right, upper before lower.
    words: [[u32; LANES]; 4],
    x: Floats,
    y: Floats,
}

impl Taps {
    /// Reads all texels. Returns false if some are outside `bytes`, or if wrapping separates left and right
    /// texels.
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

    /// Reads all texels. `pair` reads the texel at an offset and the one after it.
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
        // A separate loop: if the compiler uses no gathers for it, the other loop is still vectorised.
        for i in 0..LANES {
            [upper_left[i], upper_right[i]] = pair(above[i]);
            [lower_left[i], lower_right[i]] = pair(below[i]);
        }
        apart == 0
    }
}

/// Returns the offset of the last `N` bytes. Call it directly before the read: otherwise the compiler does
/// not know that [`dword`] stays within `bytes`, and generates no gather.
#[inline(always)]
fn last<const N: usize>(bytes: &[u8]) -> Option<u32> {
    let last = bytes.len().checked_sub(N)?;
    if last > i32::MAX as usize {
        return None;
    }
    Some(last as u32)
}

/// Returns the dword at an offset of at most `last`, the offset of the last dword. A loop of it becomes a
/// gather.
#[inline(always)]
fn dword(bytes: &[u8], at: u32, last: u32) -> u32 {
    let first = (at & i32::MAX as u32).min(last) as usize;
    bytes[first..].first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

simd! {
    /// Calls [`gather_texels`], for uncommon cases.
    fn texels(bytes: &[u8], at: &[u32; LANES], size: u32, words: &mut [u32; LANES]) {
        gather_texels(size, bytes, at, words);
    }
}

/// Decodes the components of texels.
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

/// Decodes and mixes the components of four texels.
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
