//! Coverage of primitives, in blocks of 8x8 pixels.
//!
//! Positions are snapped to 1/256 pixel. A pixel is covered when its centre is inside,
//! or on a top or left edge (guess `fill-rule`; docs/hardware/registers.md, section 5).

use multiversion::multiversion;

/// Sub-pixel positions per pixel.
pub const SUBPIXELS: i64 = 256;

/// Pixels along a side of a block.
pub const BLOCK: i32 = 8;

/// A half-open rectangle of pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rect {
    /// First column.
    pub x0: i32,
    /// First row.
    pub y0: i32,
    /// One past the last column.
    pub x1: i32,
    /// One past the last row.
    pub y1: i32,
}

impl Rect {
    /// All pixels that the rasteriser can address.
    pub const ALL: Self = Self { x0: 0, y0: 0, x1: 1 << 15, y1: 1 << 15 };

    /// An empty rectangle. Its union with another rectangle is the other rectangle.
    pub const NOTHING: Self = Self { x0: i32::MAX, y0: i32::MAX, x1: i32::MIN, y1: i32::MIN };

    /// Returns the pixels in both.
    pub fn intersect(self, other: Self) -> Self {
        Self {
            x0: self.x0.max(other.x0),
            y0: self.y0.max(other.y0),
            x1: self.x1.min(other.x1),
            y1: self.y1.min(other.y1),
        }
    }

    /// Returns the smallest rectangle that contains both.
    pub fn union(self, other: Self) -> Self {
        Self {
            x0: self.x0.min(other.x0),
            y0: self.y0.min(other.y0),
            x1: self.x1.max(other.x1),
            y1: self.y1.max(other.y1),
        }
    }

    /// Returns the pixels in coordinates relative to `anchor`.
    pub fn seen_from(self, [x, y]: [i32; 2]) -> Self {
        Self { x0: self.x0 - x, y0: self.y0 - y, x1: self.x1 - x, y1: self.y1 - y }
    }

    /// Returns whether the rectangle is empty.
    pub fn is_empty(self) -> bool {
        self.x0 >= self.x1 || self.y0 >= self.y1
    }

    /// Returns whether it contains pixel (x, y).
    pub fn contains(self, [x, y]: [i32; 2]) -> bool {
        (self.x0..self.x1).contains(&x) && (self.y0..self.y1).contains(&y)
    }

    /// Returns the number of pixels.
    pub fn area(self) -> u64 {
        if self.is_empty() { 0 } else { (self.x1 - self.x0) as u64 * (self.y1 - self.y0) as u64 }
    }

    /// Returns the number of quads with a pixel of the rectangle. Quads are 2x2 pixels at even positions.
    pub fn quads(self) -> u64 {
        let touched = |from: i32, to: i32| u64::from((to + 1).div_euclid(2).abs_diff(from.div_euclid(2)));
        if self.is_empty() { 0 } else { touched(self.x0, self.x1) * touched(self.y0, self.y1) }
    }
}

/// A position in 1/256 pixel.
pub type Snapped = [i32; 2];

/// Snaps a window coordinate. Values outside the guard band are limited to it, and NaN becomes 0. Adding 1.5
/// * 2^52 leaves the integer in the low bits of an f64; a saturating conversion would not vectorise.
#[inline(always)]
pub fn snap(v: f32) -> i32 {
    let limit = crate::draw::gras::clip::GUARD_BAND * SUBPIXELS as f32;
    let near = (v * SUBPIXELS as f32).round_ties_even().clamp(-limit, limit);
    let whole = (f64::from(near) + 6_755_399_441_055_744.0).to_bits() as i32;
    if near.is_nan() { 0 } else { whole }
}

/// A half plane: covered where `256 * (a * x + b * y) + c >= 0` for pixel (x, y).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Edge {
    a: i32,
    b: i32,
    c: i64,
}

impl Edge {
    /// Creates an edge of a polygon that is clockwise on the screen (y down).
    #[inline(always)]
    fn new(from: Snapped, to: Snapped) -> Self {
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let centre = SUBPIXELS / 2;
        let (ox, oy) = (centre - i64::from(from[0]), centre - i64::from(from[1]));
        let at_origin = i64::from(dx) * oy - i64::from(dy) * ox;
        let top_left = dy < 0 || (dy == 0 && dx > 0);
        Self { a: -dy, b: dx, c: at_origin - i64::from(!top_left) }
    }

    /// Returns the value in units of one pixel step. The floor division drops the sub-pixel fraction, and
    /// keeps the sign exact.
    #[inline(always)]
    fn at(&self, x: i32, y: i32) -> i64 {
        let c = self.c.div_euclid(SUBPIXELS);
        i64::from(self.a) * i64::from(x) + i64::from(self.b) * i64::from(y) + c
    }

    /// Returns the edge whose value at a pixel's centre is this edge's value at the point `by` sub-pixels
    /// from it.
    fn seen_from(&self, [x, y]: Snapped) -> Self {
        let c = self.c + i64::from(self.a) * i64::from(x) + i64::from(self.b) * i64::from(y);
        Self { c, ..*self }
    }
}

/// A function that returns the signs of 16 numbers, one bit each: [`signs`], or a faster variant for this
/// processor.
pub trait Signs: Copy + Fn(&[i32; 16]) -> u16 {}
impl<F: Copy + Fn(&[i32; 16]) -> u16> Signs for F {}

/// Returns the negative numbers, one bit each.
#[inline(always)]
pub fn signs(numbers: &[i32; 16]) -> u16 {
    numbers.iter().enumerate().fold(0, |all, (bit, number)| all | (number >> 31) as u32 & 1 << bit) as u16
}

/// Returns the negative numbers in one instruction, which the compiler does not generate from a loop.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512dq")]
#[inline]
pub(in crate::draw) fn signs_at_once(numbers: &[i32; 16]) -> u16 {
    std::arch::x86_64::_mm512_movepi32_mask(bytemuck::cast(*numbers))
}

/// Edges of a shape.
const EDGES: usize = 4;

/// State of a walk over blocks. Edges that the shape does not have contain every pixel.
#[derive(Clone, Copy)]
struct Walk {
    a: [i32; EDGES],
    b: [i32; EDGES],
    /// Values at the block's first pixel.
    at: [i64; EDGES],
    /// Added to these for the least and the greatest values in the block.
    least: [i64; EDGES],
    greatest: [i64; EDGES],
}

impl Walk {
    #[inline(always)]
    fn new(edges: &[Edge; EDGES], x: i32, y: i32) -> Self {
        let (numbers, values) = ([0; EDGES], [0; EDGES]);
        let mut walk = Self { a: numbers, b: numbers, at: values, least: values, greatest: values };
        for (e, edge) in edges.iter().enumerate() {
            let last = i64::from(BLOCK - 1);
            let (da, db) = (i64::from(edge.a) * last, i64::from(edge.b) * last);
            (walk.a[e], walk.b[e], walk.at[e]) = (edge.a, edge.b, edge.at(x, y));
            (walk.least[e], walk.greatest[e]) = (da.min(0) + db.min(0), da.max(0) + db.max(0));
        }
        walk
    }

    /// Moves to the next block, to the right or down.
    #[inline(always)]
    fn step(&mut self, slope: impl Fn(&Self) -> &[i32; EDGES]) {
        for e in 0..EDGES {
            self.at[e] += i64::from(slope(self)[e]) * i64::from(BLOCK);
        }
    }

    /// Returns the pixels of the block inside all edges. The sign bit of an OR tells whether one value is
    /// negative.
    #[inline(always)]
    fn covered(&self, signs: impl Signs) -> u64 {
        let (mut beyond, mut crossing) = (0, 0);
        for e in 0..EDGES {
            beyond |= self.at[e] + self.greatest[e];
            crossing |= self.at[e] + self.least[e];
        }
        match (beyond < 0, crossing < 0) {
            (true, _) => 0,
            (_, false) => u64::MAX,
            _ => self.inside(signs),
        }
    }

    /// Tests each pixel of the block. Edges that cross the block have values of at most 32 bits in it; the
    /// other edges contain the whole block.
    #[inline(always)]
    fn inside(&self, signs: impl Signs) -> u64 {
        let [mut at, mut a, mut b] = [[0; EDGES]; 3];
        for e in 0..EDGES {
            let crosses = self.at[e] + self.least[e] < 0;
            let pick = |number: i32| if crosses { number } else { 0 };
            (at[e], a[e], b[e]) = (pick(self.at[e] as i32), pick(self.a[e]), pick(self.b[e]));
        }
        let mut all_outside = 0;
        for two_rows in 0..4 {
            let mut outside = [0; 2 * BLOCK as usize];
            for (l, outside) in outside.iter_mut().enumerate() {
                let (x, y) = (l as i32 % BLOCK, 2 * two_rows + l as i32 / BLOCK);
                for e in 0..EDGES {
                    let right = a[e].wrapping_mul(x).wrapping_add(b[e].wrapping_mul(y));
                    *outside |= at[e].wrapping_add(right);
                }
            }
            all_outside |= u64::from(signs(&outside)) << (16 * two_rows);
        }
        !all_outside
    }
}

/// A convex polygon of up to four edges within a rectangle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    edges: [Edge; EDGES],
    count: usize,
    /// Pixels that can be covered.
    pub bounds: Rect,
}

impl Shape {
    /// Creates the shape of all pixels of `bounds`.
    pub fn rectangle(bounds: Rect) -> Self {
        Self { edges: [Edge::default(); EDGES], count: 0, bounds }
    }

    /// Returns whether it covers all pixels of its bounds.
    pub fn is_rectangle(&self) -> bool {
        self.count == 0
    }

    /// Creates a polygon with these corners, at most [`EDGES`], clockwise on the screen. The number is a
    /// compile-time constant, because this is the fast path for all triangles.
    #[inline(always)]
    pub fn polygon<const N: usize>(corners: [Snapped; N]) -> Self {
        let mut edges = [Edge::default(); EDGES];
        for (number, from) in corners.into_iter().enumerate() {
            edges[number] = Edge::new(from, corners[(number + 1) % N]);
        }
        Self { edges, count: N, bounds: bounds_of(&corners) }
    }

    /// Creates the rectangle of the pixels whose centres are in the bounding box of `corners`.
    #[inline]
    pub fn between(corners: &[Snapped]) -> Self {
        Self::rectangle(bounds_of(corners))
    }

    /// Creates the bounding box of `corners` as a polygon, which may end within a pixel.
    pub fn upright(corners: &[Snapped]) -> Self {
        let [x0, y0, x1, y1] = extremes(corners);
        Self::polygon([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    }

    /// Returns the shape whose coverage at a pixel's centre is this shape's coverage at the point `by`
    /// sub-pixels from it. A rectangle is not changed.
    pub fn seen_from(&self, by: Snapped) -> Self {
        Self { edges: self.edges.map(|edge| edge.seen_from(by)), ..*self }
    }

    /// Returns the shape cut to `clip`.
    pub fn cut(mut self, clip: Rect) -> Self {
        self.bounds = self.bounds.intersect(clip);
        self
    }

    /// Calls `emit` with first pixel and coverage of each block of `clip` with covered pixels, row by row.
    /// Bit `8 * y + x` of the mask is pixel (x, y).
    #[inline(always)]
    pub fn cover(&self, clip: Rect, emit: impl FnMut(i32, i32, u64)) {
        self.cover_by(signs, clip, emit);
    }

    /// Calls `emit` as [`Self::cover`] does. `signs` may be faster than [`signs`].
    #[inline(always)]
    pub fn cover_by(&self, signs: impl Signs, clip: Rect, mut emit: impl FnMut(i32, i32, u64)) {
        let area = self.bounds.intersect(clip);
        if area.is_empty() {
            return;
        }
        let [left, top] = first_block(area, clip);
        let mut row = Walk::new(&self.edges, left, top);
        for y in (top..area.y1).step_by(BLOCK as usize) {
            let mut walk = row;
            for x in (left..area.x1).step_by(BLOCK as usize) {
                let mask = walk.covered(signs) & rect_mask(area, x, y);
                if mask != 0 {
                    emit(x, y, mask);
                }
                walk.step(|walk| &walk.a);
            }
            row.step(|walk| &walk.b);
        }
    }

    /// Returns the covered pixels of `area` in the block at (x, y).
    pub fn block(&self, area: Rect, x: i32, y: i32) -> u64 {
        block(&self.edges, x, y) & rect_mask(self.bounds.intersect(area), x, y)
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn block(edges: &[Edge; EDGES], x: i32, y: i32) -> u64 {
    Walk::new(edges, x, y).covered(signs)
}

/// Side of an area that counts as small. Blocks that start at its corner need fewer blocks.
const SMALL: i32 = 2 * BLOCK;

/// Returns the first block of `area`, a part of `clip`. Blocks of a large area are aligned to the screen.
/// Blocks of a small area start at a quad of its corner, and stay within `clip` if possible.
#[inline(always)]
fn first_block(area: Rect, clip: Rect) -> [i32; 2] {
    let first = |from: i32, to: i32, least: i32, end: i32| {
        let blocks = (to - (from & -2) + BLOCK - 1) & -BLOCK;
        (from & -2).min((end.saturating_add(1) & -2) - blocks).max((least & -2).min(from & -2))
    };
    if area.x1 - area.x0 > SMALL || area.y1 - area.y0 > SMALL {
        return [area.x0 & -BLOCK, area.y0 & -BLOCK];
    }
    [first(area.x0, area.x1, clip.x0, clip.x1), first(area.y0, area.y1, clip.y0, clip.y1)]
}

/// Returns the pixels of the block at (x, y) that lie in `rect`.
#[inline(always)]
fn rect_mask(rect: Rect, x: i32, y: i32) -> u64 {
    let columns = span(rect.x0 - x, rect.x1 - x) * 0x0101_0101_0101_0101;
    let (top, bottom) = ((rect.y0 - y).clamp(0, 8), (rect.y1 - y).clamp(0, 8));
    if top >= bottom {
        return 0;
    }
    columns & (u64::MAX >> (8 * (8 - (bottom - top))) << (8 * top))
}

/// Returns bits `from..to` of eight, both limited to 0..=8.
#[inline(always)]
fn span(from: i32, to: i32) -> u64 {
    let (from, to) = (from.clamp(0, 8), to.clamp(0, 8));
    if from >= to { 0 } else { (0xff >> (8 - (to - from))) << from }
}

/// Returns the pixels whose centres can be inside the corners' bounding box. The box is half open, so a
/// centre on the right or lower side is outside.
#[inline(always)]
fn bounds_of(corners: &[Snapped]) -> Rect {
    let [x0, y0, x1, y1] = extremes(corners).map(|v| (v + 127).div_euclid(256));
    Rect { x0, y0, x1, y1 }
}

/// Returns least x and y, and greatest x and y.
#[inline(always)]
pub fn extremes(corners: &[Snapped]) -> [i32; 4] {
    let [x, y] = corners.first().copied().unwrap_or_default();
    corners
        .iter()
        .fold([x, y, x, y], |[x0, y0, x1, y1], [x, y]| [x0.min(*x), y0.min(*y), x1.max(*x), y1.max(*y)])
}

/// Returns twice the area of a triangle, in squared sub-pixels. Positive means clockwise on the screen.
pub fn signed_area(p: [Snapped; 3]) -> i64 {
    let d = |a: Snapped, b: Snapped| [i64::from(b[0] - a[0]), i64::from(b[1] - a[1])];
    let (u, v) = (d(p[0], p[1]), d(p[0], p[2]));
    u[0] * v[1] - v[0] * u[1]
}

#[cfg(test)]
mod tests {
    use multiversion::target::match_target;

    use super::*;

    /// Returns the covered pixels, for comparison.
    fn pixels(shape: &Shape, clip: Rect) -> Vec<(i32, i32)> {
        let mut out = Vec::new();
        shape.cover(clip, |x, y, mask| {
            for bit in 0..64 {
                if mask & (1u64 << bit) != 0 {
                    out.push((x + bit % 8, y + bit / 8));
                }
            }
        });
        out.sort_unstable();
        out
    }

    fn triangle(p: [[f32; 2]; 3]) -> Shape {
        Shape::polygon(p.map(|p| p.map(snap)))
    }

    #[test]
    fn two_triangles_cover_a_square_once() {
        let clip = Rect { x0: 0, y0: 0, x1: 64, y1: 64 };
        let mut all = pixels(&triangle([[3.5, 2.5], [20.5, 2.5], [3.5, 30.5]]), clip);
        all.extend(pixels(&triangle([[20.5, 2.5], [20.5, 30.5], [3.5, 30.5]]), clip));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(count, all.len(), "a pixel on the shared edge is drawn once");
        assert_eq!(count, 17 * 28, "top and left edges are in, right and bottom are out");
        assert_eq!(all.first(), Some(&(3, 2)));
        assert_eq!(all.last(), Some(&(19, 29)));
    }

    #[test]
    fn coverage_is_that_of_the_exact_edge_function() {
        let p = [[1.3, 0.2], [40.9, 17.7], [9.1, 50.6]];
        let clip = Rect { x0: 2, y0: 3, x1: 35, y1: 49 };
        let s = p.map(|p| p.map(snap));
        let got = pixels(&Shape::polygon(s), clip);
        let mut want = Vec::new();
        for x in clip.x0..clip.x1 {
            for y in clip.y0..clip.y1 {
                let centre = [x * 256 + 128, y * 256 + 128];
                if (0..3).all(|i| signed_area([s[i], s[(i + 1) % 3], centre]) > 0) {
                    want.push((x, y));
                }
            }
        }
        assert_eq!(got, want);
    }

    /// Compares triangles of all sizes, whole and cut, with the block of each pixel.
    #[test]
    fn small_areas_are_covered_like_large_ones_and_in_few_blocks() {
        let mut seed = 5u32;
        let mut random = |below: i32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((seed >> 8) % below as u32) as i32
        };
        let (mut covered, mut small) = (0, 0);
        for size in [3, 7, 15, 16, 17, 40] {
            for _ in 0..200 {
                let corner = [random(70) - 8, random(70) - 8];
                let mut point = || [0, 1].map(|axis| 256 * corner[axis] + random(256 * size));
                let mut corners = [point(), point(), point()];
                if signed_area(corners) < 0 {
                    corners.swap(0, 1);
                }
                let shape = Shape::polygon(corners);
                let clip = Rect { x0: random(9), y0: 2 * random(5), x1: 40 + random(9), y1: 48 };
                let area = shape.bounds.intersect(clip);
                let mut want = Vec::new();
                for (x, y) in (clip.y0..clip.y1).flat_map(|y| (clip.x0..clip.x1).map(move |x| (x, y))) {
                    let (left, top) = (x & -BLOCK, y & -BLOCK);
                    let bit = 8 * (y - top) + x - left;
                    want.extend((shape.block(clip, left, top) >> bit & 1 != 0).then_some((x, y)));
                }
                want.sort_unstable();
                assert_eq!(pixels(&shape, clip), want, "{corners:?} {clip:?}");
                covered += want.len();
                let is_small = area.x1 - area.x0 <= SMALL && area.y1 - area.y0 <= SMALL;
                let mut blocks = 0;
                shape.cover(clip, |x, y, _| {
                    blocks += 1;
                    assert!(x % 2 == 0 && y % 2 == 0, "quads are where they are");
                    let is_inside = y >= clip.y0 && y + BLOCK <= clip.y1 && x + BLOCK <= clip.x1 + 1;
                    assert!(!is_small || is_inside, "({x}, {y}) in {clip:?}");
                });
                let fits = area.x1 - (area.x0 & -2) <= BLOCK && area.y1 - (area.y0 & -2) <= BLOCK;
                small += usize::from(fits && blocks == 1);
                assert!(!fits || blocks <= 1, "{area:?}");
            }
        }
        assert!(covered > 9_000 && small > 150, "{covered} {small}");
    }

    /// A triangle over half of the drawable area. Along its long side, values of the other edges need more
    /// than 32 bits.
    #[test]
    fn edges_far_from_a_block_do_not_wrap_around_in_it() {
        let s = [[-8_388_608, -8_388_608], [8_388_608, -8_388_000], [-8_388_000, 8_388_608]];
        let (mut covered, mut looked_at) = (0, 0);
        for x0 in (-32_000..32_000).step_by(1_601) {
            for y0 in [-20_000 - x0 / 4, -20 - x0, 4_000 - x0, 20_000] {
                let clip = Rect { x0, y0, x1: x0 + 24, y1: y0 + 24 };
                let mut want = Vec::new();
                for (x, y) in (x0..clip.x1).flat_map(|x| (y0..clip.y1).map(move |y| (x, y))) {
                    let centre = [x * 256 + 128, y * 256 + 128];
                    if (0..3).all(|i| signed_area([s[i], s[(i + 1) % 3], centre]) > 0) {
                        want.push((x, y));
                    }
                }
                assert!(pixels(&Shape::polygon(s), clip) == want, "{clip:?}");
                (covered, looked_at) = (covered + want.len(), looked_at + 24 * 24);
            }
        }
        assert!((looked_at / 4..looked_at / 2).contains(&covered), "{covered} of {looked_at}");
    }

    #[test]
    fn rectangles_are_cut_to_the_clip() {
        let shape = Shape::between(&[[10.0, 20.0].map(snap), [2.0, 4.0].map(snap)]);
        assert_eq!(shape.bounds, Rect { x0: 2, y0: 4, x1: 10, y1: 20 });
        let clip = Rect { x0: 5, y0: 0, x1: 7, y1: 6 };
        assert_eq!(pixels(&shape, clip), [(5, 4), (5, 5), (6, 4), (6, 5)]);
    }

    #[test]
    fn positions_outside_the_guard_band_do_not_overflow() {
        let far = 1e30;
        let shape = triangle([[-far, -far], [far, -far], [0.0, far]]);
        let clip = Rect { x0: 0, y0: 0, x1: 8, y1: 8 };
        assert_eq!(pixels(&shape, clip).len(), 64);
        assert!(pixels(&triangle([[f32::NAN; 2]; 3]), clip).is_empty());
    }

    #[test]
    fn clockwise_on_the_screen_is_positive() {
        assert!(signed_area([[0, 0], [256, 0], [0, 256]]) > 0);
        assert!(signed_area([[0, 0], [0, 256], [256, 0]]) < 0);
    }

    /// Returns [`signs`] by the fastest variant for this processor.
    #[multiversion(targets("x86_64+avx512f+avx512dq"))]
    fn quickest(numbers: &[i32; 16]) -> u16 {
        match_target! {
            "x86_64+avx512f+avx512dq" => signs_at_once(numbers),
            _ => signs(numbers),
        }
    }

    #[test]
    fn signs_are_those_of_the_numbers() {
        for mask in (0..=u16::MAX).step_by(257).chain([1, 0x8000, 0x7fff]) {
            let numbers = std::array::from_fn(|l| {
                [i32::MAX - l as i32, i32::MIN + l as i32][usize::from(mask >> l & 1)]
            });
            assert_eq!((signs(&numbers), quickest(&numbers)), (mask, mask));
            let small = numbers.map(|number| if number < 0 { -1 } else { 0 });
            assert_eq!((signs(&small), quickest(&small)), (mask, mask));
        }
    }
}
