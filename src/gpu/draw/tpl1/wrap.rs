//! From a coordinate to texel positions along one axis.
//!
//! Formulas follow softpipe's, except that whole periods are taken off before
//! scaling, so that large coordinates stay exact and infinite ones finite. NaN
//! becomes position 0.
use super::sampler::Wrap;
use super::{Floats, Ints, simd};
use crate::gpu::Model;
use a4emu_shader::LANES;

/// The two texels on both sides of a position, and the weight of the second.
pub(super) struct Pair {
    pub near: Ints,
    pub far: Ints,
    pub weight: Floats,
}

/// How finely the place between two texels counts, and that between two levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Precision {
    /// Coordinates in texels are cut to 1/256, levels of detail rounded to that.
    Cut,
    /// As finely as the coordinates.
    Exact,
}

impl Precision {
    /// Guess `filter-precision` (docs/hardware/board-a420.md, B6): a texture drawn 1:1 with a linear filter does not come back on a
    /// board, as if a last bit below a texel's centre were 255/256 of it. How many bits are kept is not known;
    /// 8 are usual.
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
    /// Texels at this level.
    pub size: &'a Ints,
    /// Texel offset.
    pub offset: Option<&'a Ints>,
    /// Coordinates are texels, not 0 to 1.
    pub unnormalized: bool,
    /// Of the weight; which texel is nearest does not depend on it.
    pub precision: Precision,
}

simd! {
    /// The texel that a coordinate falls into. With borders -1 or `size` may
    /// come out, otherwise always a texel.
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
    /// The texels to blend between.
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

/// A whole number in -2^22..2^22 as an integer: that of a cast, which does not
/// become a vector because it has to mind the rest. Beyond, anything.
#[inline(always)]
pub(super) fn whole(value: f32) -> i32 {
    /// Its last mantissa bit is worth 1, and it can grow and shrink.
    const MAGIC: f32 = 12_582_912.0;
    (value + MAGIC).to_bits().wrapping_sub(MAGIC.to_bits()) as i32
}

/// Rounds down to steps of 1/256.
#[inline(always)]
fn cut(at: &mut Floats) {
    for i in 0..LANES {
        at[i] = cut_one(at[i]);
    }
}

/// A position rounded down to steps of 1/256.
#[inline(always)]
pub(super) fn cut_one(at: f32) -> f32 {
    (at * 256.0).floor() * (1.0 / 256.0)
}

/// Coordinates in texels, wrapped but for a texel at either end.
#[inline(always)]
fn positions(axis: &Axis<'_>) -> Floats {
    // In units of the size, or of texels; a period is then 1, or the size.
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

/// Brings texels that lie just outside where the mode wants them.
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

/// `low..=high`; NaN gives `low`.
#[inline(always)]
pub(super) fn clamp(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}

/// Fraction, in 0..=1; 0 for what has none.
#[inline(always)]
pub(super) fn period(value: f32) -> f32 {
    clamp(value - value.floor(), 0.0, 1.0)
}

/// Distance to the next lower even number, in 0..=2; 0 for what has none.
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

/// The texel at the edge for one beyond it.
#[inline(always)]
pub(super) fn at_edge(texel: i32, size: i32) -> i32 {
    texel.min(size - 1).max(0)
}

/// For texels in -1..=size.
#[inline(always)]
fn repeat_near(texel: &mut Ints, size: &Ints) {
    for i in 0..LANES {
        texel[i] = repeated(texel[i], size[i]);
    }
}

/// The texel at the other edge for one in -1..=size that is beyond one.
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

/// For texels in -1..=2 * size, where the second half runs backwards: what is mirrored is the texel's
/// number, so that of two neighbours the first one stays the first
/// (docs/hardware/board-a420.md, D1: a gather shows their order).
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
