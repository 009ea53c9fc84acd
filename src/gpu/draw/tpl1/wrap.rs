//! Converts a coordinate to texel positions along one axis.
//!
//! The formulas are those of softpipe, but whole periods are subtracted before scaling. So large coordinates
//! stay exact and infinite ones become finite. NaN becomes position 0.
use super::sampler::Wrap;
use super::{Floats, Ints, simd};
use crate::machine::Model;
use a4emu_shader::LANES;

/// The two texels around a position, and the weight of the second.
pub(super) struct Pair {
    pub near: Ints,
    pub far: Ints,
    pub weight: Floats,
}

/// Precision of positions between texels, and of levels of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// Coordinates in texels are rounded down to 1/256, and levels of detail are rounded to 1/256.
    Cut,
    /// Full precision of the coordinates.
    Exact,
}

impl Precision {
    /// Guess `filter-precision` (docs/hardware/board-a420.md, B6): on a board, a texture drawn 1:1 with a
    /// linear filter changes, as if a last bit below a texel's centre were 255/256 of it. The number of kept
    /// bits is not known; 8 are usual.
    pub fn of(model: Model) -> Self {
        match model {
            Model::Board => Self::Cut,
            Model::StrictGl => Self::Exact,
        }
    }
}

/// One axis of a request, at one level.
pub(super) struct Axis<'a> {
    pub wrap: Wrap,
    pub coord: &'a Floats,
    /// Number of texels at this level.
    pub size: &'a Ints,
    /// Texel offset.
    pub offset: Option<&'a Ints>,
    /// Whether coordinates are texels instead of 0 to 1.
    pub unnormalized: bool,
    /// Precision of the weight. The nearest texel does not depend on it.
    pub precision: Precision,
}

simd! {
    /// Returns the texel of each coordinate. With borders, -1 or `size` are possible; otherwise the texel is
    /// valid.
    pub(super) fn nearest(axis: &Axis<'_>) -> Ints {
        let at = positions(axis);
        let mut texel = [0; LANES];
        for i in 0..LANES {
            texel[i] = whole(at[i].floor());
        }
        close(axis, &mut texel);
        texel
    }
}

simd! {
    /// Returns the two texels to blend, with the weight.
    pub(super) fn linear(axis: &Axis<'_>) -> Pair {
        let mut at = positions(axis);
        if axis.precision == Precision::Cut {
            cut(&mut at);
        }
        let mut pair = Pair { near: [0; LANES], far: [0; LANES], weight: [0.0; LANES] };
        for i in 0..LANES {
            let centre = at[i] - 0.5;
            let floor = centre.floor();
            pair.weight[i] = centre - floor;
            pair.near[i] = whole(floor);
            pair.far[i] = pair.near[i] + 1;
        }
        close(axis, &mut pair.near);
        close(axis, &mut pair.far);
        pair
    }
}

/// Converts a whole number in -2^22..2^22 to an integer. A cast would not vectorise, because it must handle
/// other values. Results outside the range are undefined.
#[inline(always)]
pub(super) fn whole(value: f32) -> i32 {
    /// A number whose last mantissa bit is worth 1, with room in both directions.
    const MAGIC: f32 = 12_582_912.0;
    (value + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()) as i32
}

/// Rounds positions down to steps of 1/256.
#[inline(always)]
fn cut(at: &mut Floats) {
    for i in 0..LANES {
        at[i] = cut_one(at[i]);
    }
}

/// Rounds a position down to steps of 1/256.
#[inline(always)]
pub(super) fn cut_one(at: f32) -> f32 {
    (at * 256.0).floor() * (1.0 / 256.0)
}

/// Returns coordinates in texels, wrapped except for one texel at either end.
#[inline(always)]
fn positions(axis: &Axis<'_>) -> Floats {
    // Coordinates are in units of the size (period 1), or in texels (period `size`).
    let (size, coord) = (axis.size, axis.coord);
    let offset = |i: usize| axis.offset.map_or(0.0, |offset| offset[i] as f32);
    let texels = |i: usize| {
        let scale = if axis.unnormalized { 1.0 } else { size[i] as f32 };
        coord[i] * scale + offset(i)
    };
    let periods = |i: usize| {
        let scale = if axis.unnormalized { size[i] as f32 } else { 1.0 };
        coord[i] / scale
    };
    match (axis.wrap, axis.unnormalized) {
        (Wrap::Repeat, false) => each(|i| period(coord[i]) * size[i] as f32),
        (Wrap::Repeat, true) => each(|i| period(periods(i)) * size[i] as f32),
        (Wrap::MirrorRepeat, _) => each(|i| two_periods(periods(i)) * size[i] as f32),
        (Wrap::ClampToEdge, _) => each(|i| clamp(texels(i), 0.0, size[i] as f32)),
        (Wrap::ClampToBorder, _) => each(|i| clamp(texels(i), -1.0, size[i] as f32 + 1.0)),
        (Wrap::MirrorClamp, _) => each(|i| clamp(texels(i).abs(), 0.0, size[i] as f32)),
    }
}

#[inline(always)]
fn each(lane: impl Fn(usize) -> f32) -> Floats {
    let mut out = [0.0; LANES];
    for i in 0..LANES {
        out[i] = lane(i);
    }
    out
}

/// Wraps texels that are just outside, according to the mode.
#[inline(always)]
fn close(axis: &Axis<'_>, texel: &mut Ints) {
    match (axis.wrap, axis.offset) {
        (Wrap::ClampToBorder, _) => {}
        (Wrap::Repeat, Some(offset)) => repeat_far(texel, offset, axis.size),
        (Wrap::Repeat, None) => repeat_near(texel, axis.size),
        (Wrap::MirrorRepeat, Some(offset)) => mirror_far(texel, offset, axis.size),
        (Wrap::MirrorRepeat, None) => mirror_near(texel, axis.size),
        (Wrap::ClampToEdge | Wrap::MirrorClamp, _) => clamp_to_edge(texel, axis.size),
    }
}

/// Limits a value to `low..=high`. NaN becomes `low`.
#[inline(always)]
pub(super) fn clamp(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}

/// Returns the fraction, in 0..=1; 0 if there is none.
#[inline(always)]
pub(super) fn period(value: f32) -> f32 {
    clamp(value - value.floor(), 0.0, 1.0)
}

/// Returns the distance to the next lower even number, in 0..=2; 0 if there is none.
#[inline(always)]
fn two_periods(value: f32) -> f32 {
    clamp(value - 2.0 * (value * 0.5).floor(), 0.0, 2.0)
}

#[inline(always)]
fn clamp_to_edge(texel: &mut Ints, size: &Ints) {
    for i in 0..LANES {
        texel[i] = at_edge(texel[i], size[i]);
    }
}

/// Limits a texel to the edges.
#[inline(always)]
pub(super) fn at_edge(texel: i32, size: i32) -> i32 {
    texel.min(size - 1).max(0)
}

/// Wraps texels in -1..=size.
#[inline(always)]
fn repeat_near(texel: &mut Ints, size: &Ints) {
    for i in 0..LANES {
        texel[i] = repeated(texel[i], size[i]);
    }
}

/// Wraps a texel in -1..=size to the opposite edge.
#[inline(always)]
pub(super) fn repeated(texel: i32, size: i32) -> i32 {
    let low = if texel < 0 { texel + size } else { texel };
    if low >= size { low - size } else { low }
}

#[inline(always)]
fn repeat_far(texel: &mut Ints, offset: &Ints, size: &Ints) {
    for i in 0..LANES {
        texel[i] = texel[i].wrapping_add(offset[i]).rem_euclid(size[i]);
    }
}

/// Mirrors texels in -1..=2 * size. In the second half, the texel's number is mirrored, not the position. So
/// the order of two neighbours stays the same (docs/hardware/board-a420.md, D1: a gather shows their order).
#[inline(always)]
fn mirror_near(texel: &mut Ints, size: &Ints) {
    for i in 0..LANES {
        let back = size[i].wrapping_mul(2).wrapping_sub(1).wrapping_sub(texel[i]);
        texel[i] = texel[i].min(back).max(0);
    }
}

#[inline(always)]
fn mirror_far(texel: &mut Ints, offset: &Ints, size: &Ints) {
    for i in 0..LANES {
        texel[i] = texel[i].wrapping_add(offset[i]).rem_euclid(size[i].wrapping_mul(2).max(1));
    }
    mirror_near(texel, size);
}
