//! Whole primitives, adjacent vertices included, as geometry shaders take them.

use a4emu_decoder::regs::enums::PrimType;

use crate::draw::pc::topology::Provoking;
use crate::draw::vertices::RESTART;

/// Primitives of equal size.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Input {
    /// Vertices of a primitive.
    pub size: usize,
    /// Numbers of the vertices, primitive by primitive.
    pub vertices: Vec<u32>,
    /// The id of each primitive, which begins at 0 with every instance.
    pub ids: Vec<u32>,
}

impl Input {
    /// The primitives of `list`, which holds instances of `per_instance` entries with a
    /// restart between them. `None` for a type that cannot be the input of the stage.
    pub fn assemble(
        topology: PrimType,
        provoking: Provoking,
        list: &[u32],
        per_instance: usize,
    ) -> Option<Self> {
        let mut input = Self { size: size(topology)?, ..Self::default() };
        for instance in list.chunks(per_instance + 1) {
            let first = input.vertices.len();
            for run in instance.split(|v| *v == RESTART) {
                add_run(topology, provoking, run, &mut input.vertices);
            }
            let count = (input.vertices.len() - first) / input.size;
            input.ids.extend(0..count as u32);
        }
        Some(input)
    }

    /// Patches of `size` vertices.
    pub fn patches(size: usize, list: &[u32], per_instance: usize) -> Self {
        let mut input = Self { size, ..Self::default() };
        for instance in list.chunks(per_instance + 1) {
            let runs = instance.split(|v| *v == RESTART);
            let patches = runs.flat_map(|run| run.chunks_exact(size)).enumerate();
            for (id, patch) in patches {
                input.vertices.extend_from_slice(patch);
                input.ids.push(id as u32);
            }
        }
        input
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// The vertices of primitive `p`.
    pub fn primitive(&self, p: usize) -> &[u32] {
        &self.vertices[p * self.size..][..self.size]
    }
}

/// Vertices of a primitive.
fn size(topology: PrimType) -> Option<usize> {
    Some(match topology {
        PrimType::DI_PT_POINTLIST | PrimType::DI_PT_POINTLIST_PSIZE => 1,
        PrimType::DI_PT_LINELIST | PrimType::DI_PT_LINESTRIP | PrimType::DI_PT_LINELOOP => 2,
        PrimType::DI_PT_TRILIST | PrimType::DI_PT_TRISTRIP | PrimType::DI_PT_TRIFAN => 3,
        PrimType::DI_PT_LINE_ADJ | PrimType::DI_PT_LINESTRIP_ADJ => 4,
        PrimType::DI_PT_TRI_ADJ | PrimType::DI_PT_TRISTRIP_ADJ => 6,
        _ => return None,
    })
}

fn add_run(topology: PrimType, provoking: Provoking, run: &[u32], out: &mut Vec<u32>) {
    let list = |size: usize| run[..run.len() / size * size].iter();
    match topology {
        PrimType::DI_PT_LINELIST => out.extend(list(2)),
        PrimType::DI_PT_TRILIST => out.extend(list(3)),
        PrimType::DI_PT_LINE_ADJ => out.extend(list(4)),
        PrimType::DI_PT_TRI_ADJ => out.extend(list(6)),
        PrimType::DI_PT_LINESTRIP => out.extend(run.windows(2).flatten()),
        PrimType::DI_PT_LINESTRIP_ADJ => out.extend(run.windows(4).flatten()),
        PrimType::DI_PT_LINELOOP => {
            out.extend(run.windows(2).flatten());
            if let [first, .., last] = run {
                out.extend([last, first]);
            }
        }
        PrimType::DI_PT_TRISTRIP => {
            let wound = |(i, v): (usize, &[u32])| turned([v[0], v[1], v[2]], i, provoking);
            out.extend(run.windows(3).enumerate().flat_map(wound));
        }
        PrimType::DI_PT_TRIFAN => fan(provoking, run, out),
        PrimType::DI_PT_TRISTRIP_ADJ => strip_with_adjacency(provoking, run, out),
        _ => out.extend(run),
    }
}

/// Triangle `i` of a strip: every other one is turned over, its provoking vertex stays.
fn turned(v: [u32; 3], i: usize, provoking: Provoking) -> [u32; 3] {
    match (i % 2, provoking) {
        (0, _) => v,
        (_, Provoking::Last) => [v[1], v[0], v[2]],
        (_, Provoking::First) => [v[0], v[2], v[1]],
    }
}

/// The provoking vertex is the rim's first or last, and stands first or last.
fn fan(provoking: Provoking, run: &[u32], out: &mut Vec<u32>) {
    let Some((hub, rim)) = run.split_first() else { return };
    out.extend(rim.windows(2).flat_map(|v| match provoking {
        Provoking::First => [v[0], v[1], *hub],
        Provoking::Last => [*hub, v[0], v[1]],
    }));
}

/// Source: the table of triangles with adjacency in the OpenGL specification, chapter 10.1.
/// Vertex, then the one across the edge to the next.
fn strip_with_adjacency(provoking: Provoking, run: &[u32], out: &mut Vec<u32>) {
    let count = run.len().saturating_sub(4) / 2;
    for i in 0..count {
        let at = 2 * i;
        let before = if i == 0 { run[1] } else { run[at - 2] };
        let behind = if i + 1 == count { run[at + 5] } else { run[at + 6] };
        let (v, side) = ([run[at], run[at + 2], run[at + 4]], run[at + 3]);
        out.extend(match (i % 2, provoking) {
            (0, _) => [v[0], before, v[1], behind, v[2], side],
            (_, Provoking::Last) => [v[1], before, v[0], side, v[2], behind],
            (_, Provoking::First) => [v[0], side, v[2], behind, v[1], before],
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last(topology: PrimType, list: &[u32]) -> Input {
        Input::assemble(topology, Provoking::Last, list, list.len()).expect("a known type")
    }

    #[test]
    fn lists_drop_what_fills_no_primitive() {
        let got = last(PrimType::DI_PT_TRI_ADJ, &[0, 1, 2, 3, 4, 5, 6]);
        assert_eq!(
            (got.size, got.vertices.as_slice(), got.ids.as_slice()),
            (6, &[0, 1, 2, 3, 4, 5][..], &[0][..])
        );
        assert_eq!(last(PrimType::DI_PT_LINE_ADJ, &[0, 1, 2, 3, 4]).vertices, [0, 1, 2, 3]);
    }

    #[test]
    fn strips_turn_every_other_triangle() {
        let list = [0, 1, 2, 3];
        assert_eq!(last(PrimType::DI_PT_TRISTRIP, &list).vertices, [0, 1, 2, 2, 1, 3]);
        let first = Input::assemble(PrimType::DI_PT_TRISTRIP, Provoking::First, &list, 4);
        assert_eq!(first.expect("strip").vertices, [0, 1, 2, 1, 3, 2]);
    }

    #[test]
    fn loops_close_and_fans_turn() {
        assert_eq!(last(PrimType::DI_PT_LINELOOP, &[0, 1, 2]).vertices, [0, 1, 1, 2, 2, 0]);
        assert_eq!(last(PrimType::DI_PT_TRIFAN, &[9, 1, 2, 3]).vertices, [9, 1, 2, 9, 2, 3]);
    }

    /// The specification's table, with its vertices counted from 1.
    #[test]
    fn strips_with_adjacency_follow_the_table() {
        let list: Vec<u32> = (1..=10).collect();
        let got = last(PrimType::DI_PT_TRISTRIP_ADJ, &list);
        assert_eq!(got.vertices, [1, 2, 3, 7, 5, 4, 5, 1, 3, 6, 7, 9, 5, 3, 7, 10, 9, 8]);
        assert_eq!(last(PrimType::DI_PT_TRISTRIP_ADJ, &list[..6]).vertices, [1, 2, 3, 6, 5, 4]);
        assert!(last(PrimType::DI_PT_TRISTRIP_ADJ, &list[..5]).is_empty());
    }

    #[test]
    fn ids_go_on_over_a_restart_and_begin_anew_with_an_instance() {
        let list = [0, 1, RESTART, 2, RESTART, 3, 4, RESTART, 5];
        let got = Input::assemble(PrimType::DI_PT_POINTLIST, Provoking::Last, &list, 4).expect("points");
        assert_eq!((got.vertices, got.ids), (vec![0, 1, 2, 3, 4, 5], vec![0, 1, 2, 0, 1, 2]));
        let patches = Input::patches(2, &[0, 1, 2, RESTART, 3, 4, 5], 3);
        assert_eq!((patches.vertices, patches.ids), (vec![0, 1, 3, 4], vec![0, 0]));
    }

    #[test]
    fn rectangles_are_no_input() {
        assert_eq!(Input::assemble(PrimType::DI_PT_RECTLIST, Provoking::Last, &[0, 1], 2), None);
    }
}
