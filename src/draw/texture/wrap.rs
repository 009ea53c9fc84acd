//! From a coordinate to texel positions along one axis.
//!
//! Formulas follow softpipe's, except that whole periods are taken off before
//! scaling, so that large coordinates stay exact and infinite ones finite. NaN
//! becomes position 0.
use super::sampler::Wrap;
use super::{Floats, Ints};
use crate::shader::LANES;

/// The two texels on both sides of a position, and the weight of the second.
pub(super) struct Pair {
    pub near: Ints,
    pub far: Ints,
    pub weight: Floats,
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
}

impl Axis<'_> {
    /// The texel that a coordinate falls into. With borders -1 or `size` may
    /// come out, otherwise always a texel.
    #[inline(always)]
    pub fn nearest(&self) -> Ints {
        let at = self.positions();
        let mut texel = [0; LANES];
        for i in 0..LANES {
            texel[i] = at[i].floor() as i32;
        }
        self.close(texel)
    }

    /// The texels to blend between.
    #[inline(always)]
    pub fn linear(&self) -> Pair {
        let at = self.positions();
        let (mut near, mut far, mut weight) = ([0; LANES], [0; LANES], [0.0; LANES]);
        for i in 0..LANES {
            let centre = at[i] - 0.5;
            let floor = centre.floor();
            weight[i] = centre - floor;
            near[i] = floor as i32;
            far[i] = near[i] + 1;
        }
        Pair { near: self.close(near), far: self.close(far), weight }
    }

    /// Coordinates in texels, wrapped but for a texel at either end.
    #[inline(always)]
    fn positions(&self) -> Floats {
        let mut at = [0.0; LANES];
        for i in 0..LANES {
            let size = self.size[i] as f32;
            let scale = if self.unnormalized { 1.0 } else { size };
            let offset = self.offset.map_or(0, |offset| offset[i]) as f32;
            let coord = self.coord[i];
            at[i] = match self.wrap {
                Wrap::Repeat => period(coord * (scale / size)) * size,
                Wrap::MirrorRepeat => mirror(coord * (scale / size) + offset / size) * size,
                Wrap::ClampToEdge => clamp(coord * scale + offset, 0.0, size),
                Wrap::ClampToBorder => clamp(coord * scale + offset, -1.0, size + 1.0),
                Wrap::MirrorClamp => clamp((coord * scale + offset).abs(), 0.0, size),
            };
        }
        at
    }

    /// Brings texels that lie just outside where the mode wants them.
    #[inline(always)]
    fn close(&self, texel: Ints) -> Ints {
        match (self.wrap, self.offset) {
            (Wrap::ClampToBorder, _) => texel,
            (Wrap::Repeat, Some(offset)) => repeat_far(&texel, offset, self.size),
            (Wrap::Repeat, None) => repeat_near(&texel, self.size),
            (Wrap::ClampToEdge | Wrap::MirrorRepeat | Wrap::MirrorClamp, _) => {
                clamp_to_edge(&texel, self.size)
            }
        }
    }
}

/// `low..=high`; NaN gives `low`.
#[inline(always)]
fn clamp(value: f32, low: f32, high: f32) -> f32 {
    let value = if value > low { value } else { low };
    if value < high { value } else { high }
}

/// Fraction, in 0..=1; 0 for what has none.
#[inline(always)]
fn period(value: f32) -> f32 {
    clamp(value - value.floor(), 0.0, 1.0)
}

/// Distance to the nearest even number.
#[inline(always)]
fn mirror(value: f32) -> f32 {
    let within = clamp(value - 2.0 * (value * 0.5).floor(), 0.0, 2.0);
    if within > 1.0 { 2.0 - within } else { within }
}

#[inline(always)]
fn clamp_to_edge(texel: &Ints, size: &Ints) -> Ints {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = texel[i].min(size[i] - 1).max(0);
    }
    out
}

/// For texels in -1..=size.
#[inline(always)]
fn repeat_near(texel: &Ints, size: &Ints) -> Ints {
    let mut out = [0; LANES];
    for i in 0..LANES {
        let low = if texel[i] < 0 { texel[i] + size[i] } else { texel[i] };
        out[i] = if low >= size[i] { low - size[i] } else { low };
    }
    out
}

#[inline(always)]
fn repeat_far(texel: &Ints, offset: &Ints, size: &Ints) -> Ints {
    let mut out = [0; LANES];
    for i in 0..LANES {
        out[i] = texel[i].wrapping_add(offset[i]).rem_euclid(size[i]);
    }
    out
}
