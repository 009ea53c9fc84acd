//! Blending of 32 pixels at a time, in binary32.
//!
//! The equation gets sources and destinations of unorm and snorm targets limited to their range, as in GL.
//! Guess `blend-precision`.

use a4emu_shader::AlphaFactor;
use a4emu_shader::format::{Format, Layout, Type};

/// One component of 32 pixels.
pub type Channel = [f32; 32];

/// Red, green, blue, alpha of 32 pixels.
pub type Colors = [Channel; 4];

/// A factor of a blend equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlendFactor {
    /// 0.
    Zero,
    /// 1.
    One,
    /// Colour of the source.
    SrcColor,
    /// 1 less that.
    OneMinusSrcColor,
    /// Alpha of the source.
    SrcAlpha,
    /// 1 less that.
    OneMinusSrcAlpha,
    /// Colour of the destination.
    DstColor,
    /// 1 less that.
    OneMinusDstColor,
    /// Alpha of the destination.
    DstAlpha,
    /// 1 less that.
    OneMinusDstAlpha,
    /// The constant colour.
    ConstantColor,
    /// 1 less that.
    OneMinusConstantColor,
    /// Alpha of the constant colour.
    ConstantAlpha,
    /// 1 less that.
    OneMinusConstantAlpha,
    /// The lesser of the source's alpha and of 1 less the destination's; 1 for alpha.
    SrcAlphaSaturate,
    /// Colour of the second source.
    Src1Color,
    /// 1 less that.
    OneMinusSrc1Color,
    /// Alpha of the second source.
    Src1Alpha,
    /// 1 less that.
    OneMinusSrc1Alpha,
    /// A value without a meaning. It counts as 0, but the destination is still read.
    Unknown,
}

/// What a blend equation does with the products of source and destination.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BlendOp {
    /// Source plus destination.
    Add,
    /// Source less destination.
    Subtract,
    /// Destination less source.
    ReverseSubtract,
    /// The lesser one, without factors.
    Min,
    /// The greater one, without factors.
    Max,
    /// A value without a meaning. It counts as addition.
    Unknown,
}

/// A logic operation as a truth table: bit `2 * source + destination` is the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rop(pub u8);

impl Rop {
    /// The source.
    pub const COPY: Self = Self(0b1100);
}

/// One half (colour or alpha) of a blend equation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Equation {
    /// How to combine the products.
    pub op: BlendOp,
    /// Factor of the source.
    pub src: BlendFactor,
    /// Factor of the destination.
    pub dst: BlendFactor,
}

/// Blending of a target.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Blend {
    /// Equation of red, green and blue.
    pub rgb: Equation,
    /// Equation of alpha.
    pub alpha: Equation,
    /// The constant colour.
    pub constant: [f32; 4],
}

/// The copy of the blend constant that a target takes (docs/hardware/registers.md, section 6.2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConstantCopy {
    /// UINT of RB_BLEND_*: 255 is 1.
    Uint,
    /// SINT of RB_BLEND_*: 127 is 1.
    Sint,
    /// FLOAT of RB_BLEND_*: binary16.
    Half,
    /// RB_BLEND_*_F32.
    F32,
}

impl ConstantCopy {
    /// Returns the copy that a target of `format` takes. The first and the last are known, others are the
    /// guess `blend-constant`.
    pub const fn of(format: Format) -> Self {
        match (format.ty, widest(format)) {
            (Type::Unorm, ..=8) => Self::Uint,
            (Type::Snorm, ..=8) => Self::Sint,
            (_, ..=16) => Self::Half,
            _ => Self::F32,
        }
    }

    /// Returns whether no source says which copy a target of `format` takes.
    pub const fn is_guess(format: Format) -> bool {
        match format.ty {
            Type::Float => widest(format) < 16,
            _ => widest(format) != 8,
        }
    }
}

/// Returns the bits of the widest component.
const fn widest(format: Format) -> u32 {
    let Layout::Fields { widths: [x, y, z, w], .. } = format.layout else { return 8 };
    let (xy, zw) = (if x > y { x } else { y }, if z > w { z } else { w });
    if xy > zw { xy } else { zw }
}

impl Equation {
    /// Returns whether a factor is the constant: its colour, its alpha.
    pub fn uses_constant(&self) -> [bool; 2] {
        use BlendFactor::*;
        let any = |of: [BlendFactor; 2]| of.contains(&self.src) || of.contains(&self.dst);
        [any([ConstantColor, OneMinusConstantColor]), any([ConstantAlpha, OneMinusConstantAlpha])]
    }

    /// Equation that returns the source unchanged.
    const COPY: Self = Self { op: BlendOp::Add, src: BlendFactor::One, dst: BlendFactor::Zero };
}

impl Blend {
    /// Returns whether the result is always the source.
    pub fn is_copy(&self) -> bool {
        self.rgb == Equation::COPY && self.alpha == Equation::COPY
    }

    /// Returns whether the equations use each component of the constant.
    pub fn uses_constant(&self) -> [bool; 4] {
        let ([color, alpha], [color_of_alpha, alpha_of_alpha]) =
            (self.rgb.uses_constant(), self.alpha.uses_constant());
        [color, color, color, alpha || color_of_alpha || alpha_of_alpha]
    }

    /// Returns the blended colours without limits. `src1` is the second colour output (dual source).
    #[inline(always)]
    pub fn apply(&self, src: &Colors, src1: &Colors, dst: &Colors) -> Colors {
        let inputs = Inputs { src, src1, dst, constant: &self.constant };
        let mut out = [[0.0; 32]; 4];
        for c in 0..4 {
            let equation = if c == 3 { self.alpha } else { self.rgb };
            let s = inputs.factor(equation.src, c);
            let d = inputs.factor(equation.dst, c);
            combine(equation.op, &src[c], &dst[c], &s, &d, &mut out[c]);
        }
        out
    }

    /// Returns the factors of source and destination. `None` unless they are the same for all components and
    /// depend only on source alpha, and the operation is addition.
    pub fn by_alpha(&self) -> Option<[AlphaFactor; 2]> {
        let Equation { op: BlendOp::Add, src, dst } = self.rgb else { return None };
        let of = |factor| match factor {
            BlendFactor::Zero => Some(AlphaFactor { one: 0.0, alpha: 0.0 }),
            BlendFactor::One => Some(AlphaFactor { one: 1.0, alpha: 0.0 }),
            BlendFactor::SrcAlpha => Some(AlphaFactor { one: 0.0, alpha: 1.0 }),
            BlendFactor::OneMinusSrcAlpha => Some(AlphaFactor { one: 1.0, alpha: -1.0 }),
            _ => None,
        };
        (self.rgb == self.alpha).then_some([of(src)?, of(dst)?])
    }

    /// Returns whether a factor uses the second colour output.
    pub fn is_dual(&self) -> bool {
        let dual = |factor| {
            matches!(
                factor,
                BlendFactor::Src1Color
                    | BlendFactor::OneMinusSrc1Color
                    | BlendFactor::Src1Alpha
                    | BlendFactor::OneMinusSrc1Alpha
            )
        };
        [self.rgb.src, self.rgb.dst, self.alpha.src, self.alpha.dst].into_iter().any(dual)
    }
}

struct Inputs<'a> {
    src: &'a Colors,
    src1: &'a Colors,
    dst: &'a Colors,
    constant: &'a [f32; 4],
}

impl Inputs<'_> {
    /// Returns the factor of component `c`.
    #[inline(always)]
    fn factor(&self, factor: BlendFactor, c: usize) -> Channel {
        match factor {
            BlendFactor::Zero | BlendFactor::Unknown => [0.0; 32],
            BlendFactor::One => [1.0; 32],
            BlendFactor::SrcColor => self.src[c],
            BlendFactor::OneMinusSrcColor => complement(&self.src[c]),
            BlendFactor::SrcAlpha => self.src[3],
            BlendFactor::OneMinusSrcAlpha => complement(&self.src[3]),
            BlendFactor::DstColor => self.dst[c],
            BlendFactor::OneMinusDstColor => complement(&self.dst[c]),
            BlendFactor::DstAlpha => self.dst[3],
            BlendFactor::OneMinusDstAlpha => complement(&self.dst[3]),
            BlendFactor::ConstantColor => [self.constant[c]; 32],
            BlendFactor::OneMinusConstantColor => [1.0 - self.constant[c]; 32],
            BlendFactor::ConstantAlpha => [self.constant[3]; 32],
            BlendFactor::OneMinusConstantAlpha => [1.0 - self.constant[3]; 32],
            BlendFactor::SrcAlphaSaturate if c == 3 => [1.0; 32],
            BlendFactor::SrcAlphaSaturate => each(|i| self.src[3][i].min(1.0 - self.dst[3][i])),
            BlendFactor::Src1Color => self.src1[c],
            BlendFactor::OneMinusSrc1Color => complement(&self.src1[c]),
            BlendFactor::Src1Alpha => self.src1[3],
            BlendFactor::OneMinusSrc1Alpha => complement(&self.src1[3]),
        }
    }
}

#[inline(always)]
fn complement(v: &Channel) -> Channel {
    each(|i| 1.0 - v[i])
}

#[inline(always)]
fn each(pixel: impl Fn(usize) -> f32) -> Channel {
    let mut out = [0.0; 32];
    (0..32).for_each(|i| out[i] = pixel(i));
    out
}

#[inline(always)]
fn combine(op: BlendOp, src: &Channel, dst: &Channel, s: &Channel, d: &Channel, out: &mut Channel) {
    match op {
        BlendOp::Add | BlendOp::Unknown => {
            (0..32).for_each(|i| out[i] = src[i] * s[i] + dst[i] * d[i]);
        }
        BlendOp::Subtract => (0..32).for_each(|i| out[i] = src[i] * s[i] - dst[i] * d[i]),
        BlendOp::ReverseSubtract => (0..32).for_each(|i| out[i] = dst[i] * d[i] - src[i] * s[i]),
        BlendOp::Min => (0..32).for_each(|i| out[i] = src[i].min(dst[i])),
        BlendOp::Max => (0..32).for_each(|i| out[i] = src[i].max(dst[i])),
    }
}

/// Limits all components to `min..=max`; NaN becomes `min`.
#[inline(always)]
pub fn limit(colors: &mut Colors, min: f32, max: f32) {
    for channel in colors {
        for v in channel {
            *v = v.max(min).min(max);
        }
    }
}

/// Applies a logic operation to every bit.
pub fn rop(Rop(table): Rop, s: u128, d: u128) -> u128 {
    let term = |bit: u32, v: u128| if table & (1 << bit) != 0 { v } else { 0 };
    term(0, !s & !d) | term(1, !s & d) | term(2, s & !d) | term(3, s & d)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn colors(c: [f32; 4]) -> Colors {
        c.map(|v| [v; 32])
    }

    fn one(rgb: Equation, src: [f32; 4], dst: [f32; 4]) -> [f32; 4] {
        let blend = Blend { rgb, alpha: Equation::COPY, constant: [0.25, 0.5, 0.75, 1.0] };
        blend.apply(&colors(src), &colors([0.5; 4]), &colors(dst)).map(|c| c[7])
    }

    #[test]
    fn alpha_blending() {
        let rgb =
            Equation { op: BlendOp::Add, src: BlendFactor::SrcAlpha, dst: BlendFactor::OneMinusSrcAlpha };
        let got = one(rgb, [1.0, 0.5, 0.0, 0.25], [0.0, 0.5, 1.0, 1.0]);
        assert_eq!(got, [0.25, 0.5, 0.75, 0.25]);
    }

    #[test]
    fn equations_and_factors() {
        let f =
            |op, src, dst| one(Equation { op, src, dst }, [0.5, 0.25, 1.0, 0.5], [1.0, 0.5, 0.25, 0.25])[0];
        use BlendFactor as F;
        use BlendOp as O;
        assert_eq!(f(O::Subtract, F::One, F::One), -0.5);
        assert_eq!(f(O::ReverseSubtract, F::One, F::One), 0.5);
        assert_eq!(f(O::Min, F::Zero, F::Zero), 0.5);
        assert_eq!(f(O::Max, F::Zero, F::Zero), 1.0);
        let plus = |src| f(O::Add, src, F::Zero);
        assert_eq!(plus(F::ConstantColor), 0.125);
        assert_eq!(plus(F::OneMinusConstantAlpha), 0.0);
        assert_eq!(plus(F::SrcAlphaSaturate), 0.25);
        assert_eq!(plus(F::DstAlpha), 0.125);
        assert_eq!(plus(F::Src1Color), 0.25);
    }

    #[test]
    fn limits_take_nan_down() {
        let mut c = colors([f32::NAN, -1.0, 2.0, 0.5]);
        limit(&mut c, 0.0, 1.0);
        assert_eq!(c.map(|c| c[0]), [0.0, 0.0, 1.0, 0.5]);
    }

    #[test]
    fn logic_operations_are_truth_tables() {
        let (s, d) = (0b1100, 0b1010);
        assert_eq!(rop(Rop(0b0110), s, d) & 15, 0b0110);
        assert_eq!(rop(Rop::COPY, s, d) & 15, s);
        assert_eq!(rop(Rop(0b1010), s, d) & 15, d);
        assert_eq!(rop(Rop(0b0010), s, d) & 15, 0b0010);
        assert_eq!(rop(Rop(0b1111), s, d), u128::MAX);
    }
}
