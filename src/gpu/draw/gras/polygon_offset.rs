//! Polygon offset: changes the depth of a triangle to avoid depth conflicts with another.

use super::affine::Slope;

/// GL's polygon offset, in terms of window z.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PolygonOffset {
    /// Factor of the greatest slope.
    pub scale: f32,
    /// Constant offset, already in window z for unorm depth.
    pub units: f32,
    /// Whether `units` scale with the exponent of the primitive's greatest z (float depth).
    pub float_depth: Option<FloatDepth>,
    /// Limit of the offset; zero means no limit.
    pub clamp: f32,
}

/// Marker of a floating-point depth buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FloatDepth;

impl PolygonOffset {
    /// Returns the offset of a triangle with this slope of z. `top` is the greatest |z| of its vertices.
    pub(super) fn bias(&self, slope: Slope, top: f32) -> f32 {
        let slope = slope[0].abs().max(slope[1].abs()) as f32;
        let unit = match self.float_depth {
            None => 1.0,
            Some(FloatDepth) if top == 0.0 => 0.0,
            Some(FloatDepth) => (top.log2().floor() - 23.0).exp2(),
        };
        let bias = slope * self.scale + self.units * unit;
        match self.clamp {
            c if c > 0.0 => bias.min(c),
            c if c < 0.0 => bias.max(c),
            _ => bias,
        }
    }
}
