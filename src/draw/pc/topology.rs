//! Vertex lists to points, lines, triangles and rectangles.

use a4emu_decoder::regs::enums::PrimType;

use crate::draw::vertices::RESTART;

/// Which vertex of a primitive gives flat varyings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Provoking {
    /// The first.
    First,
    /// The last.
    Last,
}

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

/// The primitives of `list`, in order. Lists restart at every [`RESTART`]; vertices that
/// do not fill a primitive are dropped. Adjacent vertices are left out: only a geometry
/// shader sees them. `None` for a type that needs tessellation or does not exist.
pub fn primitives(topology: PrimType, provoking: Provoking, list: &[u32]) -> Option<Vec<Primitive>> {
    let mut out = Vec::with_capacity(list.len() / 3 + 1);
    for run in list.split(|v| *v == RESTART) {
        assemble_run(topology, provoking, run, &mut out)?;
    }
    Some(out)
}

fn assemble_run(
    topology: PrimType,
    provoking: Provoking,
    run: &[u32],
    out: &mut Vec<Primitive>,
) -> Option<()> {
    let line = |a, b| Primitive::Line([a, b], provoking.of([a, b]));
    let triangle = |v: [u32; 3]| Primitive::Triangle(v, provoking.of(v));
    match topology {
        PrimType::DI_PT_POINTLIST_PSIZE | PrimType::DI_PT_POINTLIST => {
            out.extend(run.iter().map(|v| Primitive::Point(*v)));
        }
        PrimType::DI_PT_LINELIST => out.extend(run.chunks_exact(2).map(|v| line(v[0], v[1]))),
        PrimType::DI_PT_LINESTRIP => out.extend(run.windows(2).map(|v| line(v[0], v[1]))),
        PrimType::DI_PT_LINELOOP => {
            out.extend(run.windows(2).map(|v| line(v[0], v[1])));
            if let [first, .., last] = run {
                out.push(line(*last, *first));
            }
        }
        PrimType::DI_PT_LINE_ADJ => out.extend(run.chunks_exact(4).map(|v| line(v[1], v[2]))),
        PrimType::DI_PT_LINESTRIP_ADJ => out.extend(run.windows(4).map(|v| line(v[1], v[2]))),
        PrimType::DI_PT_TRILIST => out.extend(run.chunks_exact(3).map(|v| triangle([v[0], v[1], v[2]]))),
        PrimType::DI_PT_TRI_ADJ => out.extend(run.chunks_exact(6).map(|v| triangle([v[0], v[2], v[4]]))),
        PrimType::DI_PT_TRISTRIP => strip(provoking, run.windows(3).map(|v| [v[0], v[1], v[2]]), out),
        PrimType::DI_PT_TRISTRIP_ADJ => {
            strip(provoking, run.windows(6).step_by(2).map(|v| [v[0], v[2], v[4]]), out);
        }
        PrimType::DI_PT_TRIFAN => fan(provoking, run, out),
        PrimType::DI_PT_RECTLIST => rectangles(run, out),
        PrimType::DI_PT_NONE => {}
        _ => return None,
    }
    Some(())
}

impl Provoking {
    fn of<const N: usize>(self, v: [u32; N]) -> u32 {
        match self {
            Self::First => v[0],
            Self::Last => v[N - 1],
        }
    }
}

/// Every other triangle of a strip has two vertices exchanged, so that all wind alike.
fn strip(provoking: Provoking, triples: impl Iterator<Item = [u32; 3]>, out: &mut Vec<Primitive>) {
    out.extend(triples.enumerate().map(|(i, v)| {
        let wound = if i % 2 == 0 { v } else { [v[1], v[0], v[2]] };
        Primitive::Triangle(wound, provoking.of(v))
    }));
}

/// The provoking vertex of a fan's triangle i is i + 1 (first) or i + 2 (last), as in GL.
fn fan(provoking: Provoking, run: &[u32], out: &mut Vec<Primitive>) {
    let Some((hub, rim)) = run.split_first() else { return };
    out.extend(rim.windows(2).map(|v| Primitive::Triangle([*hub, v[0], v[1]], provoking.of([v[0], v[1]]))));
}

/// The driver sends two opposite corners; a list that only divides by three holds triples.
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

    fn of(topology: PrimType, list: &[u32]) -> Vec<Primitive> {
        primitives(topology, Provoking::Last, list).expect("a known type")
    }

    #[test]
    fn strips_keep_their_winding_and_provoking_vertex() {
        let got = of(PrimType::DI_PT_TRISTRIP, &[0, 1, 2, 3]);
        assert_eq!(got, [Primitive::Triangle([0, 1, 2], 2), Primitive::Triangle([2, 1, 3], 3)]);
        let first = primitives(PrimType::DI_PT_TRISTRIP, Provoking::First, &[0, 1, 2, 3]);
        assert_eq!(first.expect("known")[1], Primitive::Triangle([2, 1, 3], 1));
    }

    #[test]
    fn fans_turn_around_their_first_vertex() {
        let got = of(PrimType::DI_PT_TRIFAN, &[7, 1, 2, 3]);
        assert_eq!(got, [Primitive::Triangle([7, 1, 2], 2), Primitive::Triangle([7, 2, 3], 3)]);
    }

    #[test]
    fn restart_ends_a_strip_and_a_loop() {
        let list = [0, 1, 2, RESTART, 5, 6];
        assert_eq!(of(PrimType::DI_PT_TRISTRIP, &list), [Primitive::Triangle([0, 1, 2], 2)]);
        let lines = of(PrimType::DI_PT_LINELOOP, &list);
        assert_eq!(lines.len(), 5);
        assert_eq!(lines[2], Primitive::Line([2, 0], 0));
    }

    #[test]
    fn adjacent_vertices_are_left_out() {
        assert_eq!(of(PrimType::DI_PT_LINE_ADJ, &[0, 1, 2, 3]), [Primitive::Line([1, 2], 2)]);
        let strip = of(PrimType::DI_PT_TRISTRIP_ADJ, &[0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(strip, [Primitive::Triangle([0, 2, 4], 4), Primitive::Triangle([4, 2, 6], 6)]);
    }

    #[test]
    fn a_patch_is_no_primitive() {
        assert_eq!(primitives(PrimType::DI_PT_PATCHES3, Provoking::Last, &[0, 1, 2]), None);
    }
}
