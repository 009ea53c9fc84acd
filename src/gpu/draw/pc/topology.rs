//! Converts vertex lists to the primitives of set-up: points, lines, triangles and rectangles.

use super::assembler::{Provoking, assemble};
use crate::draw::topology::Topology;
use crate::draw::vertices::RESTART;

/// A primitive in terms of vertex numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Primitive {
    /// One vertex.
    Point(u32),
    /// Two vertices in the order of drawing, and the provoking one.
    Line([u32; 2], u32),
    /// Three vertices in winding order, and the provoking one.
    Triangle([u32; 3], u32),
    /// Two opposite corners of an axis-aligned rectangle.
    Corners([u32; 2]),
    /// Three corners of an axis-aligned rectangle.
    Rectangle([u32; 3]),
}

/// Returns the primitives of `list`, in order. Lists restart at every [`RESTART`]; incomplete primitives are
/// dropped. Adjacent vertices are left out, because only a geometry shader uses them. Returns `None` for a
/// type that needs tessellation or does not exist.
pub fn primitives(topology: Topology, provoking: Provoking, list: &[u32]) -> Option<Vec<Primitive>> {
    // List entries that belong to one primitive only.
    let own = match topology {
        Topology::Lines | Topology::Rectangles => 2,
        Topology::Triangles => 3,
        Topology::LinesAdjacent => 4,
        Topology::TrianglesAdjacent => 6,
        _ => 1,
    };
    let mut out = Vec::with_capacity(list.len() / own + 1);
    for run in list.split(|v| *v == RESTART) {
        match topology {
            Topology::Rectangles => rectangles(run, &mut out),
            Topology::None => {}
            _ => assemble(topology, provoking, run, &mut |v, provoking| out.push(drawn(v, provoking)))?,
        }
    }
    Some(out)
}

/// Returns the drawn part of a primitive with adjacent vertices, with provoking corner `provoking`.
fn drawn(v: &[u32], provoking: usize) -> Primitive {
    let line = |a, b| Primitive::Line([a, b], [a, b][provoking]);
    let triangle = |v: [u32; 3]| Primitive::Triangle(v, v[provoking]);
    match *v {
        [a, b] | [_, a, b, _] => line(a, b),
        [a, b, c] | [a, _, b, _, c, _] => triangle([a, b, c]),
        _ => Primitive::Point(v[0]),
    }
}

/// Adds rectangles. The driver sends two opposite corners. A list whose length is odd contains triples.
fn rectangles(run: &[u32], out: &mut Vec<Primitive>) {
    if run.len().is_multiple_of(2) {
        out.extend(run.chunks_exact(2).map(|v| Primitive::Corners([v[0], v[1]])));
    } else {
        out.extend(run.chunks_exact(3).map(|v| Primitive::Rectangle([v[0], v[1], v[2]])));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(topology: Topology, list: &[u32]) -> Vec<Primitive> {
        primitives(topology, Provoking::Last, list).expect("a known type")
    }

    #[test]
    fn strips_keep_their_winding_and_provoking_vertex() {
        let got = of(Topology::TriangleStrip, &[0, 1, 2, 3]);
        assert_eq!(got, [Primitive::Triangle([0, 1, 2], 2), Primitive::Triangle([2, 1, 3], 3)]);
        let first = primitives(Topology::TriangleStrip, Provoking::First, &[0, 1, 2, 3]);
        assert_eq!(first.expect("known")[1], Primitive::Triangle([2, 1, 3], 1));
    }

    #[test]
    fn fans_turn_around_their_first_vertex() {
        let got = of(Topology::TriangleFan, &[7, 1, 2, 3]);
        assert_eq!(got, [Primitive::Triangle([7, 1, 2], 2), Primitive::Triangle([7, 2, 3], 3)]);
    }

    #[test]
    fn restart_ends_a_strip_and_a_loop() {
        let list = [0, 1, 2, RESTART, 5, 6];
        assert_eq!(of(Topology::TriangleStrip, &list), [Primitive::Triangle([0, 1, 2], 2)]);
        let lines = of(Topology::LineLoop, &list);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[2], Primitive::Line([2, 0], 0));
    }

    #[test]
    fn adjacent_vertices_are_left_out() {
        assert_eq!(of(Topology::LinesAdjacent, &[0, 1, 2, 3]), [Primitive::Line([1, 2], 2)]);
        let strip = of(Topology::TriangleStripAdjacent, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(strip, [Primitive::Triangle([0, 2, 4], 4), Primitive::Triangle([4, 2, 6], 6)]);
    }

    #[test]
    fn a_patch_is_no_primitive() {
        assert_eq!(primitives(Topology::Patches(3), Provoking::Last, &[0, 1, 2]), None);
    }
}
