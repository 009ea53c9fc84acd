//! The quad domain.
use super::edge::{Edge, Fixed, Framed, ONE, Spacing};
use super::stitch::{self, Lean};
use super::{Builder, Factors, Ring, close, stitch_rings};

/// Builds the points and triangles of a patch.
pub fn build(builder: &mut Builder, spacing: Spacing, factors: &Factors) {
    let all = [factors.outer.as_slice(), &factors.inner].concat();
    let framed = Framed::of(spacing, &all);
    let edges: [Edge; 4] = std::array::from_fn(|i| Edge::outer(factors.outer[i], spacing));
    let mut rings = vec![outer(builder, &edges)];
    if framed == Framed::Yes {
        let inside = factors.inner.map(|factor| Edge::inner(factor, spacing, framed));
        inner(builder, &inside, &mut rings);
    }
    stitch_rings(builder, &rings);
    centre(builder, &rings[rings.len() - 1]);
}

/// Adds the sides u=0, v=0, u=1, v=1, counter-clockwise from (0, 1).
fn outer(builder: &mut Builder, edges: &[Edge; 4]) -> Ring<4> {
    close(std::array::from_fn(|side| {
        let edge = &edges[side];
        let at = [0, 0, ONE, ONE][side];
        (0..edge.segments()).map(|p| point(builder, side, at, edge, p)).collect()
    }))
}

/// Adds point `p` of a side with `at` as its other coordinate.
fn point(builder: &mut Builder, side: usize, at: Fixed, edge: &Edge, p: u32) -> u32 {
    match side {
        0 => builder.point(at, edge.at(edge.segments() - p)),
        1 => builder.point(edge.at(p), at),
        2 => builder.point(at, edge.at(p)),
        _ => builder.point(edge.at(edge.segments() - p), at),
    }
}

/// Adds rings inside the outer one, all divided by the inner factors. The innermost is a row of points if the
/// smaller number of parts is even.
fn inner(builder: &mut Builder, inside: &[Edge; 2], rings: &mut Vec<Ring<4>>) {
    let [u, v] = inside;
    let least = u.segments().min(v.segments());
    for ring in 1..least.div_ceil(2) {
        rings.push(close(std::array::from_fn(|side| {
            let (across, along) = if side % 2 == 0 { (u, v) } else { (v, u) };
            let at = across.at(if side < 2 { ring } else { across.segments() - ring });
            (ring..along.segments() - ring).map(|p| point(builder, side, at, along, p)).collect()
        })));
    }
    if least.is_multiple_of(2) {
        rings.push(row(builder, u, v, least / 2));
    }
}

/// Adds the row (or point) in the middle of an even number of parts.
fn row(builder: &mut Builder, u: &Edge, v: &Edge, depth: u32) -> Ring<4> {
    if u.segments() >= v.segments() {
        let row: Vec<u32> = (depth..=u.segments() - depth).map(|p| builder.point(u.at(p), ONE / 2)).collect();
        let (first, last) = (row[0], row[row.len() - 1]);
        let back = row.iter().rev().copied().collect();
        [vec![first], row, vec![last], back]
    } else {
        let down: Vec<u32> =
            (depth..=v.segments() - depth).rev().map(|p| builder.point(ONE / 2, v.at(p))).collect();
        let (top, bottom) = (down[0], down[down.len() - 1]);
        let up = down.iter().rev().copied().collect();
        [down, vec![bottom], up, vec![top]]
    }
}

/// Fills the innermost ring if it has an inside: a row of quads along its longer side.
fn centre(builder: &mut Builder, ring: &Ring<4>) {
    let [left, bottom, right, top] = ring;
    let reversed = |side: &Vec<u32>| side.iter().rev().copied().collect::<Vec<_>>();
    if left.len() < 2 || bottom.len() < 2 {
        return;
    }
    if bottom.len() > left.len() {
        stitch::strip(builder, bottom, &reversed(top), Lean::Out);
    } else {
        stitch::strip(builder, left, &reversed(right), Lean::In);
    }
}
