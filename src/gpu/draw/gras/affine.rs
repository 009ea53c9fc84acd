//! Planes over the screen, and how steep they are.

use bytemuck::{Pod, Zeroable};

/// A value that changes evenly over the screen: at the primitive's origin, and per pixel.
///
/// Slopes are rounded once, all else is evaluated in binary32 (guess `plane-precision`: pixel
/// centres that fall on a texel boundary or a clip plane show it). This
/// is the form that both reference rasterisers use, but for an origin within the
/// primitive, which keeps the digits of small primitives far from the corner.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Affine {
    /// At the origin.
    pub at: f32,
    /// Change per pixel to the right.
    pub dx: f32,
    /// Change per pixel down.
    pub dy: f32,
}

impl Affine {
    /// The plane that has `value` at the point `from` the origin.
    pub fn through(value: f32, from: [f32; 2], slope: Slope) -> Self {
        let [dx, dy] = slope.map(|d| d as f32);
        Self { at: value - (dx * from[0] + dy * from[1]), dx, dy }
    }
}

/// How depth and weights of a primitive change over the screen. These are sixteen numbers one after the other, so that
/// whoever wants those of several primitives at once has each of them in a vector.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct Planes {
    /// Window position that `i` and `j` count from.
    pub base: [f32; 2],
    /// Weight of vertex 1, linear on the screen.
    pub i: Affine,
    /// Weight of vertex 2, linear on the screen.
    pub j: Affine,
    /// 1/w at the vertices.
    pub inv_w: [f32; 3],
    /// Window position that `z` counts from: the first pixel's centre.
    pub origin: [f32; 2],
    /// Window depth.
    pub z: Affine,
}

/// Change per pixel to the right and down.
pub type Slope = [f64; 2];

/// How the weights of vertex 1 and 2 change over the screen. `None` without an area.
pub fn barycentrics(p: [[f32; 2]; 3]) -> Option<[Slope; 2]> {
    let d = |a: usize| [f64::from(p[a][0]) - f64::from(p[0][0]), f64::from(p[a][1]) - f64::from(p[0][1])];
    let (u, v) = (d(1), d(2));
    let area = u[0] * v[1] - v[0] * u[1];
    (area != 0.0).then(|| [[v[1] / area, -v[0] / area], [-u[1] / area, u[0] / area]])
}

/// How a value that is `z` at the vertices changes over the screen.
pub fn depth_slope(z: [f32; 3], [i, j]: [Slope; 2]) -> Slope {
    let (d1, d2) = (f64::from(z[1] - z[0]), f64::from(z[2] - z[0]));
    [0, 1].map(|axis| i[axis] * d1 + j[axis] * d2)
}

/// How the fraction of the way from `a` to `b` changes over the screen.
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
