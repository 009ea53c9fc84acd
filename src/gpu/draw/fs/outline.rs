//! Finds the pixels on the edge of a primitive, for wireframe views.

use crate::draw::gras::raster::{BLOCK, Rect, Shape};

/// Calls `found` with each pixel of `area` that `shape` covers and that has an uncovered neighbour (left,
/// right, above, below). Cuts by the view volume or by `area` are not edges.
pub fn outline(shape: &Shape, area: Rect, mut found: impl FnMut(i32, i32)) {
    let inside = shape.bounds.intersect(area);
    if inside.is_empty() {
        return;
    }
    let covered = Covered::new(shape, inside);
    for y in inside.y0..inside.y1 {
        for x in inside.x0..inside.x1 {
            let neighbours = [[x - 1, y], [x + 1, y], [x, y - 1], [x, y + 1]];
            if covered.has([x, y]) && !neighbours.into_iter().all(|at| covered.has(at)) {
                found(x, y);
            }
        }
    }
}

/// Coverage of a shape in a rectangle and the pixels around it.
struct Covered {
    around: Rect,
    pixels: Vec<bool>,
}

impl Covered {
    fn new(shape: &Shape, inside: Rect) -> Self {
        let around = Rect { x0: inside.x0 - 1, y0: inside.y0 - 1, x1: inside.x1 + 1, y1: inside.y1 + 1 };
        let mut uncut = *shape;
        if !shape.is_rectangle() {
            // Use the edges of a polygon without its bounds, which may be clipped.
            uncut.bounds = around;
        }
        let mut covered = Self { around, pixels: vec![false; around.area() as usize] };
        uncut.cover(around, |x, y, mask| {
            for bit in (0..64).filter(|bit| mask >> bit & 1 != 0) {
                let index = covered.index([x + bit % BLOCK, y + bit / BLOCK]);
                covered.pixels[index] = true;
            }
        });
        covered
    }

    fn index(&self, [x, y]: [i32; 2]) -> usize {
        let Rect { x0, y0, x1, .. } = self.around;
        (y - y0) as usize * (x1 - x0) as usize + (x - x0) as usize
    }

    fn has(&self, at: [i32; 2]) -> bool {
        self.pixels[self.index(at)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Draws the outline of `shape` in `area`, one text line per row.
    fn drawn(shape: &Shape, area: Rect) -> String {
        let mut rows = vec![vec!['.'; (area.x1 - area.x0) as usize]; (area.y1 - area.y0) as usize];
        outline(shape, area, |x, y| rows[(y - area.y0) as usize][(x - area.x0) as usize] = '#');
        rows.into_iter().flat_map(|row| row.into_iter().chain(['\n'])).collect()
    }

    const SCREEN: Rect = Rect { x0: 0, y0: 0, x1: 8, y1: 6 };

    #[test]
    fn a_triangle_has_three_edges_wherever_blocks_end() {
        let triangle = Shape::polygon([[1280, 1280], [2816, 1280], [1280, 2816]]);
        let area = Rect { x0: 4, y0: 4, x1: 12, y1: 11 };
        let expected = "........\n.#####..\n.#..#...\n.#.#....\n.##.....\n.#......\n........\n";
        assert_eq!(drawn(&triangle, area), expected);
    }

    #[test]
    fn where_a_polygon_is_cut_there_is_no_edge() {
        let large = Shape::polygon([[-5120, 256], [5120, 256], [-5120, 10240]]);
        assert_eq!(
            drawn(&large.cut(SCREEN), SCREEN),
            format!("........\n########\n{}", "........\n".repeat(4))
        );
        let half = Rect { x1: 4, ..SCREEN };
        assert_eq!(drawn(&large, half), format!("....\n####\n{}", "....\n".repeat(4)));
    }

    #[test]
    fn a_rectangle_has_edges_where_it_ends() {
        let rectangle = Shape::rectangle(Rect { x0: 1, y0: 1, x1: 5, y1: 4 });
        assert_eq!(drawn(&rectangle, SCREEN), "........\n.####...\n.#..#...\n.####...\n........\n........\n");
    }
}
