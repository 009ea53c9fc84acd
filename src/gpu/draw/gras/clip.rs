//! Clipping in homogeneous space, before the perspective division.
//!
//! Near, far and the guard band are real planes. The scissor cuts at the sides of the view volume, which
//! gives the same pixels for triangles. Points and lines are wider than their clipped vertices: see
//! [`Sides`].

use crate::draw::vertices::Vertices;

/// Geometry with window coordinates beyond this (pixels) is clipped. The limit is wider than any surface, and
/// small enough for integer edge functions. The chip's guard band is not documented, and pixels do not show
/// it.
pub const GUARD_BAND: f32 = 32768.0;

/// Minimum w of a vertex in front of the eye.
const EPSILON: f32 = 1e-30;

/// A half space. Positions with `dot(plane, position) >= 0` are inside.
pub type PixelRows = [f32; 4];

/// The planes that primitives of a draw are clipped against.
#[derive(Clone, Debug, PartialEq)]
pub struct ClipVolume {
    planes: [PixelRows; MOST_PLANES],
    /// Number of planes.
    count: usize,
    /// Number of planes that clip triangles: all except the sides. They come first.
    solid: usize,
}

/// Maximum number of planes: in front of the eye, near, far, the guard band, and the sides.
const MOST_PLANES: usize = 11;

/// Selects how the sides of the view volume cut points and lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    /// Pixels outside are cut, as for triangles.
    Pixels,
    /// Points with their centre outside are dropped. Lines are cut where their axis leaves the volume. The
    /// remaining primitive keeps its width, and may extend beyond the sides.
    Axes,
}

/// Selects the clipped ends of the depth range, and the position of the near plane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DepthClip {
    /// Clip at the near plane.
    pub near: bool,
    /// Clip at the far plane.
    pub far: bool,
    /// The near plane is z = 0 instead of z = -w.
    pub zero_to_one: bool,
}

/// Viewport transform: window = ndc * scale + offset.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Viewport {
    /// x, y, z.
    pub scale: [f32; 3],
    /// x, y, z.
    pub offset: [f32; 3],
}

impl ClipVolume {
    /// Creates the volume for a draw.
    pub fn new(depth: DepthClip, viewport: &Viewport) -> Self {
        let mut volume = Self { planes: [[0.0; 4]; MOST_PLANES], count: 0, solid: 0 };
        volume.add([0.0, 0.0, 0.0, 1.0]);
        if depth.near {
            volume.add([0.0, 0.0, 1.0, if depth.zero_to_one { 0.0 } else { 1.0 }]);
        }
        if depth.far {
            volume.add([0.0, 0.0, -1.0, 1.0]);
        }
        for axis in 0..2 {
            for sign in [1.0, -1.0] {
                let mut plane = [0.0; 4];
                plane[axis] = sign * viewport.scale[axis];
                plane[3] = GUARD_BAND + sign * viewport.offset[axis];
                volume.add(plane);
            }
        }
        volume.solid = volume.count;
        for axis in 0..2 {
            for sign in [1.0, -1.0] {
                let mut plane = [0.0, 0.0, 0.0, 1.0];
                plane[axis] = sign;
                volume.add(plane);
            }
        }
        volume
    }

    fn add(&mut self, plane: PixelRows) {
        self.planes[self.count] = plane;
        self.count += 1;
    }

    /// Returns whether a position is between the sides.
    pub fn is_between_sides(&self, position: [f32; 4]) -> bool {
        (self.solid..self.count).all(|side| self.distance(side, position) >= 0.0)
    }

    /// Returns the outcodes of `N` positions, given by component. Bit i means outside plane i.
    #[inline(always)]
    pub fn outcodes<const N: usize>(&self, p: &[[f32; N]; 4]) -> [u32; N] {
        let mut codes = [0; N];
        for i in 0..self.solid {
            for l in 0..N {
                let inside = self.distance(i, [p[0][l], p[1][l], p[2][l], p[3][l]]) >= 0.0;
                codes[l] |= u32::from(!inside) << i;
            }
        }
        codes
    }

    /// Returns the distance from plane `i`. The first plane (w) has a small offset from the eye.
    #[inline(always)]
    fn distance(&self, i: usize, p: [f32; 4]) -> f32 {
        let plane = &self.planes[i];
        let dot = plane[0] * p[0] + plane[1] * p[1] + plane[2] * p[2] + plane[3] * p[3];
        if i == 0 { dot - EPSILON } else { dot }
    }

    /// Clips the convex `polygon`. New vertices are added to `vertices`. A result of fewer than three
    /// vertices is empty.
    pub fn polygon(&self, vertices: &mut Vertices, polygon: &[u32]) -> Vec<u32> {
        let mut inside = polygon.to_vec();
        for plane in 0..self.solid {
            inside = self.cut(plane, vertices, &inside);
        }
        inside
    }

    /// Clips `polygon` against one plane, by Sutherland and Hodgman's algorithm.
    fn cut(&self, plane: usize, vertices: &mut Vertices, polygon: &[u32]) -> Vec<u32> {
        let mut out = Vec::with_capacity(polygon.len() + 1);
        for (i, &to) in polygon.iter().enumerate() {
            let from = polygon[(i + polygon.len() - 1) % polygon.len()];
            let crossing = self.crossing(plane, vertices, from, to);
            out.extend(crossing);
            if self.distance(plane, vertices.position(to)) >= 0.0 {
                out.push(to);
            }
        }
        out
    }

    /// Returns the vertex where the line from `from` to `to` crosses the plane, if it does. The computation
    /// always starts inside, so that neighbours agree. Starting far outside would lose precision of the near
    /// vertex (docs/hardware/board-a420.md, D6).
    fn crossing(&self, plane: usize, vertices: &mut Vertices, from: u32, to: u32) -> Option<u32> {
        let a = self.distance(plane, vertices.position(from));
        let b = self.distance(plane, vertices.position(to));
        if (a >= 0.0) == (b >= 0.0) || a.is_nan() || b.is_nan() {
            return None;
        }
        let (inn, out, a, b) = if a < 0.0 { (to, from, b, a) } else { (from, to, a, b) };
        let new = vertices.push_between(inn, out, a / (a - b));
        if plane == 0 {
            vertices.set_w(new, EPSILON);
        }
        Some(new)
    }

    /// Clips a line. `sides` selects whether the sides cut it.
    pub fn line(&self, vertices: &mut Vertices, line: [u32; 2], sides: Sides) -> Option<[u32; 2]> {
        let planes = if sides == Sides::Axes { self.count } else { self.solid };
        let ends = line.map(|v| vertices.position(v));
        if (0..planes).all(|plane| ends.iter().all(|end| self.distance(plane, *end) >= 0.0)) {
            return Some(line);
        }
        let [mut a, mut b] = line;
        for plane in 0..planes {
            let inside = |v| self.distance(plane, vertices.position(v)) >= 0.0;
            match (inside(a), inside(b)) {
                (true, true) => {}
                (false, false) => return None,
                (true, false) => b = self.crossing(plane, vertices, a, b)?,
                (false, true) => a = self.crossing(plane, vertices, a, b)?,
            }
        }
        Some([a, b])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn volume(zero_to_one: bool) -> ClipVolume {
        let viewport = Viewport { scale: [64.0, 64.0, 0.5], offset: [64.0, 64.0, 0.5] };
        ClipVolume::new(DepthClip { near: true, far: true, zero_to_one }, &viewport)
    }

    fn vertices(positions: &[[f32; 4]]) -> Vertices {
        let mut all = Vertices::new(1, 0);
        for (i, p) in positions.iter().enumerate() {
            let mut row: Vec<u32> = p.iter().map(|v| v.to_bits()).collect();
            row.extend([0, (i as f32).to_bits()]);
            all.push(&row);
        }
        all
    }

    /// Tests both ends outside.
    #[test]
    fn a_line_is_cut_where_it_leaves() {
        let mut v = vertices(&[[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, -3.0, 1.0], [0.5, 0.0, 0.0, 1.0]]);
        let mut line =
            |ends| volume(false).line(&mut v, ends, Sides::Pixels).expect("a part of it is inside");
        assert_eq!(line([0, 2]), [0, 2], "all of it is inside");
        let [from, to] = line([0, 1]);
        assert!(from == 0 && to >= 3, "{from} {to}");
        let [from, to] = line([1, 0]);
        assert!(from >= 3 && to == 0, "{from} {to}");
    }

    #[test]
    fn a_triangle_through_the_near_plane_becomes_a_quadrilateral() {
        let mut v = vertices(&[[0.0, 0.0, -3.0, 1.0], [1.0, 0.0, 1.0, 1.0], [-1.0, 0.0, 1.0, 1.0]]);
        let got = volume(false).polygon(&mut v, &[0, 1, 2]);
        assert_eq!(got.len(), 4);
        for &i in &got {
            let p = v.position(i);
            assert!(p[2] >= -p[3] - 1e-6, "{p:?}");
        }
        let cut = got.iter().find(|i| **i >= 3).expect("a new vertex");
        let varying = f32::from_bits(v.varyings(*cut)[0]);
        assert!((varying - 0.5).abs() < 1e-6 || (varying - 1.0).abs() < 1e-6, "{varying}");
    }

    #[test]
    fn the_near_plane_moves_with_the_depth_range() {
        let p = [0.0, 0.0, -0.5, 1.0];
        assert_eq!(volume(false).outcodes(&p.map(|v| [v])), [0]);
        assert_ne!(volume(true).outcodes(&p.map(|v| [v])), [0]);
    }

    #[test]
    fn vertices_behind_the_eye_and_nans_are_outside() {
        assert_ne!(volume(false).outcodes(&[0.0, 0.0, 0.0, -1.0].map(|v| [v])), [0]);
        assert_ne!(volume(false).outcodes(&[f32::NAN, 0.0, 0.0, 1.0].map(|v| [v])), [0]);
        let mut v = vertices(&[[f32::NAN; 4]; 3]);
        assert!(volume(false).polygon(&mut v, &[0, 1, 2]).is_empty());
    }

    #[test]
    fn a_line_is_cut_at_both_ends() {
        let mut v = vertices(&[[0.0, 0.0, -2.0, 1.0], [0.0, 0.0, 2.0, 1.0]]);
        let [a, b] = volume(false).line(&mut v, [0, 1], Sides::Axes).expect("its middle is inside");
        assert_eq!((v.position(a)[2], v.position(b)[2]), (-1.0, 1.0));
        let mut out = vertices(&[[0.0, 0.0, 2.0, 1.0], [0.0, 0.0, 3.0, 1.0]]);
        assert_eq!(volume(false).line(&mut out, [0, 1], Sides::Pixels), None);
    }

    #[test]
    fn sides_cut_the_axis_of_a_line_if_asked_to() {
        let mut v = vertices(&[[-3.0, 0.5, 0.0, 1.0], [1.0, 0.5, 0.0, 1.0]]);
        let [a, b] = volume(false).line(&mut v, [0, 1], Sides::Axes).expect("half of it");
        assert_eq!((v.position(a), b), ([-1.0, 0.5, 0.0, 1.0], 1));
        assert_eq!(volume(false).line(&mut v, [0, 1], Sides::Pixels), Some([0, 1]));
        let mut above = vertices(&[[-1.0, 1.01, 0.0, 1.0], [1.0, 1.01, 0.0, 1.0]]);
        assert_eq!(volume(false).line(&mut above, [0, 1], Sides::Axes), None);
    }

    #[test]
    fn a_far_vertex_does_not_cost_the_digits_of_a_near_one() {
        let mut v = vertices(&[[0.125, 0.25, 0.0, 1.0], [1e9, -1e9, 1e10, 1.0], [0.25, 0.125, 0.0, 1.0]]);
        let cut = volume(false).polygon(&mut v, &[0, 1, 2]);
        let made: Vec<[f32; 4]> = cut.iter().filter(|i| **i > 2).map(|i| v.position(*i)).collect();
        assert_eq!(made.len(), 2);
        let near = |p: &[f32; 4]| (p[0] - 0.225).abs() < 1e-6 && (p[1] - 0.15).abs() < 1e-6;
        assert!(made.iter().any(near), "a tenth of the way in both: {made:?}");
    }
}
