//! Lines as parallelograms: GL's aliased lines of any width.
//!
//! The width of a line counts along its minor axis. Its ends are moved so that a strip of one-pixel lines
//! follows the diamond-exit rule: each pixel once. Rule: GL specification, "basic line segment
//! rasterization"; guess `line-shape`.

use crate::draw::gras::raster::{Shape, Snapped, snap};

/// Major and minor coordinate of an end of a line.
#[derive(Clone, Copy)]
struct End {
    major: f32,
    minor: f32,
}

impl End {
    /// Returns the offset of the position from its pixel's centre.
    fn off_centre(self) -> [f32; 2] {
        [self.major, self.minor].map(|v| v - v.floor() - 0.5)
    }

    fn in_diamond(self) -> bool {
        let [a, b] = self.off_centre();
        a.abs() + b.abs() < 0.5
    }
}

/// Extent of a diamond from the pixel centre along the minor axis. A line through the corner, on the border
/// of two rows, belongs to one of the rows, so it must count as crossing the diamond there.
const CORNER: f32 = 0.5;

/// Returns the shape of a line from `from` to `to` in window coordinates, `width` pixels wide. `None` for a
/// line without length.
pub fn line(from: [f32; 2], to: [f32; 2], width: f32) -> Option<Shape> {
    let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
    if !(dx.is_finite() && dy.is_finite()) || (dx == 0.0 && dy == 0.0) {
        return None;
    }
    let x_major = dx.abs() >= dy.abs();
    let end = |p: [f32; 2]| {
        if x_major { End { major: p[0], minor: p[1] } } else { End { major: p[1], minor: p[0] } }
    };
    let slope = if x_major { dy / dx } else { dx / dy };
    let along = if x_major { dx } else { dy };
    let (from, to) = ends(end(from), end(to), along.signum(), slope);
    let (first, last) = if along > 0.0 { (from, to) } else { (to, from) };
    Some(parallelogram(first, last, width.round().max(1.0), x_major))
}

/// Moves both ends along the line to the pixel boundaries that the diamond-exit rule gives.
///
/// A pixel is drawn if the line leaves its diamond. The first pixel counts if the line starts in or before
/// its diamond; the last one only if the line ends after its diamond.
fn ends(from: End, to: End, direction: f32, slope: f32) -> (End, End) {
    let draw_first = from.in_diamond() || before_diamond(from, direction, slope);
    let draw_last = !to.in_diamond() && past_diamond(to, direction, slope);
    (edge_of_pixel(from, direction, slope, !draw_first), edge_of_pixel(to, direction, slope, draw_last))
}

/// Returns whether a line that starts at `at`, outside the diamond, crosses it later.
fn before_diamond(at: End, direction: f32, slope: f32) -> bool {
    let [major, minor] = at.off_centre();
    major * direction < 0.0 && (minor - major * slope).abs() <= CORNER
}

/// Returns whether a line that ends at `at`, outside the diamond, has crossed it.
fn past_diamond(at: End, direction: f32, slope: f32) -> bool {
    let [major, minor] = at.off_centre();
    major * direction > 0.0 && (minor - major * slope).abs() <= CORNER
}

/// Returns the point of the line at the boundary of its pixel: the boundary in the line's direction if
/// `beyond`, else the one against it.
fn edge_of_pixel(at: End, direction: f32, slope: f32, beyond: bool) -> End {
    let forward = if beyond { direction } else { -direction };
    let major = at.major.floor() + if forward > 0.0 { 1.0 } else { 0.0 };
    End { major, minor: at.minor + (major - at.major) * slope }
}

/// Returns the shape with clockwise corners on the screen. `first.major <= last.major`.
fn parallelogram(first: End, last: End, width: f32, x_major: bool) -> Shape {
    let half = width / 2.0;
    let corner = |end: End, side: f32| -> Snapped {
        let minor = end.minor + side;
        if x_major { [end.major, minor].map(snap) } else { [minor, end.major].map(snap) }
    };
    let (a, b) = (corner(first, -half), corner(last, -half));
    let (c, d) = (corner(last, half), corner(first, half));
    Shape::polygon(if x_major { [a, b, c, d] } else { [a, d, c, b] })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::raster::Rect;

    fn pixels(from: [f32; 2], to: [f32; 2], width: f32) -> Vec<(i32, i32)> {
        let mut out = Vec::new();
        let Some(shape) = line(from, to, width) else { return out };
        shape.cover(Rect { x0: 0, y0: 0, x1: 64, y1: 64 }, |x, y, mask| {
            out.extend((0..64).filter(|b| mask & (1u64 << b) != 0).map(|b| (x + b % 8, y + b / 8)));
        });
        out.sort_unstable();
        out
    }

    #[test]
    fn the_last_pixel_of_a_line_belongs_to_the_next_one() {
        assert_eq!(pixels([2.5, 3.5], [5.5, 3.5], 1.0), [(2, 3), (3, 3), (4, 3)]);
        assert_eq!(pixels([5.5, 3.5], [2.5, 3.5], 1.0), [(3, 3), (4, 3), (5, 3)]);
        assert_eq!(pixels([2.5, 3.5], [2.5, 6.5], 1.0), [(2, 3), (2, 4), (2, 5)]);
    }

    #[test]
    fn a_line_on_the_border_of_two_rows_begins_with_its_first_pixel() {
        // A line clipped at the edge of the window starts like this.
        let row: Vec<_> = (0..6).map(|x| (x, 3)).collect();
        assert_eq!(pixels([0.0, 4.0], [6.0, 4.0], 1.0), row);
        assert_eq!(pixels([6.0, 4.0], [0.0, 4.0], 1.0), row);
    }

    #[test]
    fn a_strip_draws_each_pixel_once() {
        let mut all = pixels([2.5, 2.5], [20.3, 9.1], 1.0);
        all.extend(pixels([20.3, 9.1], [40.5, 4.5], 1.0));
        let count = all.len();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), count);
        assert_eq!(count, 38);
    }

    #[test]
    fn width_counts_along_the_minor_axis() {
        assert_eq!(pixels([2.5, 10.5], [12.5, 10.5], 5.0).len(), 50);
        assert_eq!(pixels([10.5, 2.5], [10.5, 12.5], 4.0).len(), 40);
    }

    #[test]
    fn a_line_without_length_or_with_nan_has_no_pixels() {
        assert!(line([1.0, 1.0], [1.0, 1.0], 1.0).is_none());
        assert!(line([f32::NAN, 1.0], [1.0, 1.0], 1.0).is_none());
    }
}
