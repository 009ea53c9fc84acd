//! The primitive assembler: selects the vertices of each primitive of a list, including adjacent ones.
//!
//! [`assemble`] feeds set-up ([`super::topology`]) and, with [`PrimitiveList`], hull and geometry shaders.

use crate::draw::topology::Topology;

use crate::draw::vertices::RESTART;

/// Selects the vertex of a primitive that provides flat varyings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provoking {
    /// The first.
    First,
    /// The last.
    Last,
}

impl Provoking {
    /// Returns its index among `corners` corners in list order.
    pub fn corner(self, corners: usize) -> usize {
        match self {
            Self::First => 0,
            Self::Last => corners - 1,
        }
    }
}

/// Calls `emit` for every primitive of a list without restarts, in drawing order, with its vertices and the
/// index of its provoking corner. Adjacent vertices are in OpenGL order: around a line, and after each corner
/// of a triangle. Returns `None` for types without such primitives.
pub fn assemble(
    topology: Topology,
    provoking: Provoking,
    run: &[u32],
    emit: &mut impl FnMut(&[u32], usize),
) -> Option<()> {
    let (line, triangle) = (provoking.corner(2), provoking.corner(3));
    match topology {
        Topology::Points | Topology::SizedPoints => run.chunks(1).for_each(|v| emit(v, 0)),
        Topology::Lines => run.chunks_exact(2).for_each(|v| emit(v, line)),
        Topology::LinesAdjacent => run.chunks_exact(4).for_each(|v| emit(v, line)),
        Topology::LineStrip => run.windows(2).for_each(|v| emit(v, line)),
        Topology::LineStripAdjacent => run.windows(4).for_each(|v| emit(v, line)),
        Topology::LineLoop => {
            run.windows(2).for_each(|v| emit(v, line));
            if let [first, .., last] = run {
                emit(&[*last, *first], line);
            }
        }
        Topology::Triangles => run.chunks_exact(3).for_each(|v| emit(v, triangle)),
        Topology::TrianglesAdjacent => run.chunks_exact(6).for_each(|v| emit(v, triangle)),
        Topology::TriangleStrip => strip(triangle, run, emit),
        Topology::TriangleStripAdjacent => strip_with_adjacency(triangle, run, emit),
        Topology::TriangleFan => fan(provoking, run, emit),
        _ => return None,
    }
    Some(())
}

/// Emits a triangle strip. Every other triangle has two corners exchanged, so that all have the same winding.
fn strip(provoking: usize, run: &[u32], emit: &mut impl FnMut(&[u32], usize)) {
    for (i, v) in run.windows(3).enumerate() {
        match i % 2 {
            0 => emit(v, provoking),
            _ => emit(&[v[1], v[0], v[2]], [1, 0, 2][provoking]),
        }
    }
}

/// Emits a triangle fan. The provoking vertex of triangle i is i + 1 (first) or i + 2 (last), as in GL.
fn fan(provoking: Provoking, run: &[u32], emit: &mut impl FnMut(&[u32], usize)) {
    let Some((hub, rim)) = run.split_first() else { return };
    rim.windows(2).for_each(|v| emit(&[*hub, v[0], v[1]], 1 + provoking.corner(2)));
}

/// Emits a triangle strip with adjacency. Source: the table of triangles with adjacency in the OpenGL
/// specification, chapter 10.1. Each vertex is followed by the one across the edge to the next.
fn strip_with_adjacency(provoking: usize, run: &[u32], emit: &mut impl FnMut(&[u32], usize)) {
    let count = run.len().saturating_sub(4) / 2;
    for i in 0..count {
        let at = 2 * i;
        let before = if i == 0 { run[1] } else { run[at - 2] };
        let behind = if i + 1 == count { run[at + 5] } else { run[at + 6] };
        let (v, side) = ([run[at], run[at + 2], run[at + 4]], run[at + 3]);
        match i % 2 {
            0 => emit(&[v[0], before, v[1], behind, v[2], side], provoking),
            _ => emit(&[v[1], before, v[0], side, v[2], behind], [1, 0, 2][provoking]),
        }
    }
}

/// Complete primitives of equal size, for hull and geometry shaders.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveList {
    /// Vertices of a primitive.
    pub size: usize,
    /// Numbers of the vertices, primitive by primitive.
    pub vertices: Vec<u32>,
    /// Ids of the primitives. They start at 0 with every instance.
    pub ids: Vec<u32>,
}

impl PrimitiveList {
    /// Assembles the primitives of `list`, which has instances of `per_instance` entries with a restart
    /// between them. The provoking corner becomes first or last. Returns `None` for a type that a geometry
    /// shader cannot take.
    pub fn assemble(
        topology: Topology,
        provoking: Provoking,
        list: &[u32],
        per_instance: usize,
    ) -> Option<Self> {
        let mut out = Self { size: size(topology)?, ..Self::default() };
        for instance in list.chunks(per_instance + 1) {
            let first = out.vertices.len();
            for run in instance.split(|v| *v == RESTART) {
                assemble(topology, provoking, run, &mut |v, corner| {
                    out.vertices.extend(turned(v, corner, provoking));
                })?;
            }
            let count = (out.vertices.len() - first) / out.size;
            out.ids.extend(0..count as u32);
        }
        Some(out)
    }

    /// Assembles patches of `size` vertices.
    pub fn patches(size: usize, list: &[u32], per_instance: usize) -> Self {
        let mut out = Self { size, ..Self::default() };
        for instance in list.chunks(per_instance + 1) {
            let runs = instance.split(|v| *v == RESTART);
            let patches = runs.flat_map(|run| run.chunks_exact(size)).enumerate();
            for (id, patch) in patches {
                out.vertices.extend_from_slice(patch);
                out.ids.push(id as u32);
            }
        }
        out
    }

    /// Returns the number of primitives.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// Returns the vertices of primitive `p`.
    pub fn primitive(&self, p: usize) -> &[u32] {
        &self.vertices[p * self.size..][..self.size]
    }
}

/// Returns the number of vertices of a primitive.
fn size(topology: Topology) -> Option<usize> {
    Some(match topology {
        Topology::Points | Topology::SizedPoints => 1,
        Topology::Lines | Topology::LineStrip | Topology::LineLoop => 2,
        Topology::Triangles | Topology::TriangleStrip | Topology::TriangleFan => 3,
        Topology::LinesAdjacent | Topology::LineStripAdjacent => 4,
        Topology::TrianglesAdjacent | Topology::TriangleStripAdjacent => 6,
        _ => return None,
    })
}

/// Rotates a triangle with its adjacent vertices, so that its provoking corner is first or last. Lines and
/// points are already in such an order.
fn turned(v: &[u32], corner: usize, provoking: Provoking) -> impl Iterator<Item = u32> {
    let corners = if v.len().is_multiple_of(3) { 3 } else { 1 };
    let turns = (corners + corner - provoking.corner(corners)) % corners;
    let first = turns * v.len() / corners;
    v[first..].iter().chain(&v[..first]).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(topology: Topology, list: &[u32]) -> PrimitiveList {
        PrimitiveList::assemble(topology, Provoking::Last, list, list.len()).expect("a known type")
    }

    #[test]
    fn lists_drop_what_fills_no_primitive() {
        let got = last(Topology::TrianglesAdjacent, &[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            (got.size, got.vertices.as_slice(), got.ids.as_slice()),
            (6, &[0, 1, 2, 3, 4, 5][..], &[0][..])
        );
        assert_eq!(last(Topology::LinesAdjacent, &[0, 1, 2, 3, 4]).vertices, [0, 1, 2, 3]);
    }

    #[test]
    fn strips_turn_every_other_triangle() {
        let list = [0, 1, 2, 3];
        assert_eq!(last(Topology::TriangleStrip, &list).vertices, [0, 1, 2, 2, 1, 3]);
        let first = PrimitiveList::assemble(Topology::TriangleStrip, Provoking::First, &list, 4);
        assert_eq!(first.expect("strip").vertices, [0, 1, 2, 1, 3, 2]);
    }

    #[test]
    fn loops_close_and_fans_turn() {
        assert_eq!(last(Topology::LineLoop, &[0, 1, 2]).vertices, [0, 1, 1, 2, 2, 0]);
        assert_eq!(last(Topology::TriangleFan, &[9, 1, 2, 3]).vertices, [9, 1, 2, 9, 2, 3]);
    }

    /// Compares with the specification's table, which counts vertices from 1.
    #[test]
    fn strips_with_adjacency_follow_the_table() {
        let list: Vec<u32> = (1..=10).collect();
        let got = last(Topology::TriangleStripAdjacent, &list);
        assert_eq!(got.vertices, [1, 2, 3, 7, 5, 4, 5, 1, 3, 6, 7, 9, 5, 3, 7, 10, 9, 8]);
        assert_eq!(last(Topology::TriangleStripAdjacent, &list[..6]).vertices, [1, 2, 3, 6, 5, 4]);
        assert!(last(Topology::TriangleStripAdjacent, &list[..5]).is_empty());
    }

    #[test]
    fn ids_go_on_over_a_restart_and_begin_anew_with_an_instance() {
        let list = [0, 1, RESTART, 2, RESTART, 3, 4, RESTART, 5];
        let got = PrimitiveList::assemble(Topology::Points, Provoking::Last, &list, 4).expect("points");
        assert_eq!((got.vertices, got.ids), (vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 0, 1, 2]));
        let patches = PrimitiveList::patches(2, &[0, 1, 2, RESTART, 3, 4, 5], 3);
        assert_eq!((patches.vertices, patches.ids), (vec![0, 1, 3, 4], vec![0, 0]));
    }

    #[test]
    fn rectangles_are_no_input() {
        assert_eq!(PrimitiveList::assemble(Topology::Rectangles, Provoking::Last, &[0, 1], 2), None);
    }
}
