//! PicoGpu's rasteriser (gpu/blocks/rasterizer.cpp). A pixel is hit if no two of the three edge functions at
//! its integer coordinates have opposite signs. Pixels on an edge are hit. A triangle without area hits
//! every pixel of its line. If its corners are one point or NaN, it hits every pixel of the target.
//!
//! PicoGpu tests all pixels; this code does not. An edge function is a product that changes with x minus one
//! that changes with y, and rounding is monotonic. So along a row or a column it never falls or never rises.
//! Its values at the corners of a rectangle bound those inside, and a rectangle on one side is decided as a
//! whole. If products overflow, a difference may be NaN. It still is negative at a corner if it is negative
//! inside, and also for positive.

/// Side of the squares whose pixels are tested one by one.
const LEAF: u32 = 8;

/// A rectangle of pixels from `x0`, `y0` to before `x1`, `y1`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Area {
    /// Left column.
    pub x0: u32,
    /// Top row.
    pub y0: u32,
    /// The column after the right one.
    pub x1: u32,
    /// The row after the bottom one.
    pub y1: u32,
}

impl Area {
    /// The pixels of the area, row by row.
    pub fn pixels(self) -> impl Iterator<Item = [u32; 2]> {
        (self.y0..self.y1).flat_map(move |y| (self.x0..self.x1).map(move |x| [x, y]))
    }

    /// Number of pixels.
    pub fn count(self) -> u64 {
        u64::from(self.x1 - self.x0) * u64::from(self.y1 - self.y0)
    }

    /// The part of `other` inside this area; `None` if there is none.
    fn cut(self, other: Self) -> Option<Self> {
        let (x1, y1) = (self.x1.min(other.x1), self.y1.min(other.y1));
        (other.x0 < x1 && other.y0 < y1).then_some(Self { x1, y1, ..other })
    }
}

/// How a triangle covers an area.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meets {
    /// The triangle hits no pixel.
    None,
    /// The triangle hits all pixels.
    All,
    /// Each pixel has to be tested ([`Triangle::hits`]).
    Some,
}

/// The corners of a triangle in pixels, after the division by w.
#[derive(Clone, Copy, Debug)]
pub struct Triangle {
    corners: [[f32; 2]; 3],
}

impl Triangle {
    /// Makes a triangle with these corners.
    pub fn new(corners: [[f32; 2]; 3]) -> Self {
        Self { corners }
    }

    /// The edge functions at a pixel, in PicoGpu's order of operations.
    fn edges(&self, [x, y]: [u32; 2]) -> [f32; 3] {
        let [a, b, c] = self.corners;
        let (x, y) = (x as f32, y as f32);
        [[a, b], [b, c], [c, a]].map(|[p, q]| (x - q[0]) * (p[1] - q[1]) - (p[0] - q[0]) * (y - q[1]))
    }

    /// Whether the triangle hits a pixel.
    pub fn hits(&self, pixel: [u32; 2]) -> bool {
        let edges = self.edges(pixel);
        !(edges.iter().any(|edge| *edge < 0.0) && edges.iter().any(|edge| *edge > 0.0))
    }

    /// Visits squares of `target` that together contain all hit pixels. Ends early if `visit` returns false.
    pub fn cover(&self, target: Area, mut visit: impl FnMut(Area, Meets) -> bool) {
        let side = target.x1.max(target.y1).next_power_of_two().max(LEAF);
        self.square(target, [0, 0], side, &mut visit);
    }

    fn square(
        &self,
        target: Area,
        [x0, y0]: [u32; 2],
        side: u32,
        visit: &mut impl FnMut(Area, Meets) -> bool,
    ) -> bool {
        let Some(area) = target.cut(Area { x0, y0, x1: x0 + side, y1: y0 + side }) else { return true };
        let meets = self.meets(area);
        if meets == Meets::Some && side > LEAF {
            let half = side / 2;
            let quarters = [[x0, y0], [x0 + half, y0], [x0, y0 + half], [x0 + half, y0 + half]];
            return quarters.into_iter().all(|at| self.square(target, at, half, visit));
        }
        visit(area, meets)
    }

    fn meets(&self, area: Area) -> Meets {
        let ends = |from: u32, to: u32| [from, to - 1];
        let [xs, ys] = [ends(area.x0, area.x1), ends(area.y0, area.y1)];
        let at = ys.map(|y| xs.map(|x| self.edges([x, y])));
        // For each sign: whether some edge function has it at any corner of the area, and whether one has it
        // at all corners.
        let sign = |is: fn(f32) -> bool| {
            let of_edge = |n: usize| at.as_flattened().iter().map(move |edges| is(edges[n]));
            ((0..3).any(|n| of_edge(n).any(|has| has)), (0..3).any(|n| of_edge(n).all(|has| has)))
        };
        match (sign(|edge| edge < 0.0), sign(|edge| edge > 0.0)) {
            ((_, true), (_, true)) => Meets::None,
            ((false, _), _) | (_, (false, _)) => Meets::All,
            _ => Meets::Some,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn is_covered_as_by_testing_all(corners: [[f32; 2]; 3], width: u32, height: u32) {
        let triangle = Triangle::new(corners);
        let target = Area { x0: 0, y0: 0, x1: width, y1: height };
        let mut hit = vec![0u8; (width * height) as usize];
        triangle.cover(target, |area, meets| {
            for [x, y] in area.pixels() {
                let is_hit = meets == Meets::All || meets == Meets::Some && triangle.hits([x, y]);
                hit[(y * width + x) as usize] += 1 + u8::from(is_hit);
            }
            true
        });
        for ([x, y], hit) in target.pixels().zip(hit) {
            assert_eq!(hit, 1 + u8::from(triangle.hits([x, y])), "{corners:?} at {x}, {y}");
        }
    }

    #[test]
    fn triangles_without_area_hit_their_line_and_points_hit_all() {
        let hits = |corners: [[f32; 2]; 3]| {
            let triangle = Triangle::new(corners);
            (0..8).flat_map(|y| (0..8).map(move |x| [x, y])).filter(|pixel| triangle.hits(*pixel)).count()
        };
        assert_eq!(hits([[2.0, 3.0], [4.0, 3.0], [3.0, 3.0]]), 8);
        assert_eq!(hits([[2.0, 3.5], [4.0, 3.5], [3.0, 3.5]]), 0);
        assert_eq!(hits([[2.5, 3.5]; 3]), 64);
        assert_eq!(hits([[f32::NAN, 0.0], [1.0, 0.0], [0.0, 1.0]]), 64);
        assert_eq!(hits([[1.0, 1.0], [3.0, 1.0], [1.0, 3.0]]), 6, "edges and corners count");
    }

    proptest! {
        #[test]
        fn whole_squares_are_decided_as_pixel_by_pixel(
            corners in prop::array::uniform3(prop::array::uniform2(prop_oneof![
                -20.0f32..60.0,
                (-10i8..50).prop_map(|n| f32::from(n) / 2.0),
                any::<f32>(),
                // Products overflow, and their differences are NaN.
                (prop::bool::ANY, 100i32..128).prop_map(|(minus, n)| if minus { -1.0 } else { 1.0 } * 2f32.powi(n)),
            ])),
            width in 1u32..40,
            height in 1u32..40,
        ) {
            is_covered_as_by_testing_all(corners, width, height);
        }
    }
}
