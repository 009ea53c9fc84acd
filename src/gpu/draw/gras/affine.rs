//! Planes over the screen, and their slopes.

use bytemuck::{Pod, Zeroable};

/// A value that is linear over the screen: the value at the primitive's origin, and its slope per pixel.
///
/// Slopes are rounded once. All other arithmetic is binary32 (guess `plane-precision`: pixel centres on a
/// texel boundary or a clip plane show it). Both reference rasterisers use this form, but with an origin
/// outside the primitive. An origin inside keeps the precision of small primitives far from the corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Affine {
    /// Value at the origin.
    pub at: f32,
    /// Change per pixel to the right.
    pub dx: f32,
    /// Change per pixel down.
    pub dy: f32,
}

impl Affine {
    /// Returns the plane with `value` at the point `from`, relative to the origin.
    pub fn through(value: f32, from: [f32; 2], slope: Slope) -> Self {
        let [dx, dy] = slope.map(|d| d as f32);
        Self { at: value - (dx * from[0] + dy * from[1]), dx, dy }
    }
}

/// Planes of depth and weights of a primitive. The layout is sixteen consecutive numbers, so that code for
/// several primitives can load each into one vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Planes {
    /// Window position of the origin of `i` and `j`.
    pub base: [f32; 2],
    /// Weight of vertex 1, linear on the screen.
    pub i: Affine,
    /// Weight of vertex 2, linear on the screen.
    pub j: Affine,
    /// 1/w at the vertices.
    pub inv_w: [f32; 3],
    /// Window position of the origin of `z`: the first pixel's centre.
    pub origin: [f32; 2],
    /// Window depth.
    pub z: Affine,
}

/// Change per pixel to the right and down.
pub type Slope = [f64; 2];

/// Returns the slopes of the weights of vertex 1 and 2. `None` without an area.
pub fn barycentrics(p: [[f32; 2]; 3]) -> Option<[Slope; 2]> {
    let d = |a: usize| [f64::from(p[a][0]) - f64::from(p[0][0]), f64::from(p[a][1]) - f64::from(p[0][1])];
    let (u, v) = (d(1), d(2));
    let area = u[0] * v[1] - v[0] * u[1];
    (area != 0.0).then(|| [[v[1] / area, -v[0] / area], [-u[1] / area, u[0] / area]])
}

/// Returns the slope of a value that is `z` at the vertices.
pub fn depth_slope(z: [f32; 3], [i, j]: [Slope; 2]) -> Slope {
    let (d1, d2) = (f64::from(z[1] - z[0]), f64::from(z[2] - z[0]));
    [0, 1].map(|axis| i[axis] * d1 + j[axis] * d2)
}

/// Returns the slope of the fraction of the way from `a` to `b`.
pub fn along(a: [f32; 2], b: [f32; 2]) -> Slope {
    let (dx, dy) = (f64::from(b[0]) - f64::from(a[0]), f64::from(b[1]) - f64::from(a[1]));
    let square = dx * dx + dy * dy;
    let inv = if square == 0.0 { 0.0 } else { 1.0 / square };
    [dx * inv, dy * inv]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_rise_by_one_towards_their_vertex() {
        let [i, j] = barycentrics([[1.0, 2.0], [9.0, 4.0], [3.0, 12.0]]).expect("an area");
        let rise = |slope: Slope, x: f64, y: f64| slope[0] * x + slope[1] * y;
        assert!((rise(i, 8.0, 2.0) - 1.0).abs() < 1e-12 && rise(i, 2.0, 10.0).abs() < 1e-12);
        assert!((rise(j, 2.0, 10.0) - 1.0).abs() < 1e-12 && rise(j, 8.0, 2.0).abs() < 1e-12);
        assert_eq!(barycentrics([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]]), None);
        assert_eq!(along([1.0, 1.0], [1.0, 1.0]), [0.0, 0.0]);
    }

    #[test]
    fn a_plane_has_its_value_at_the_point() {
        let plane = Affine::through(7.0, [2.0, -1.0], [0.5, 0.25]);
        assert_eq!(plane, Affine { at: 6.25, dx: 0.5, dy: 0.25 });
    }
}
