//! The triangle domain.
use super::edge::{Edge, Fixed, Framed, ONE, Spacing};
use super::{Builder, Factors, Ring, close, stitch_rings};

/// Builds the points and triangles of a patch.
pub fn build(builder: &mut Builder, spacing: Spacing, factors: &Factors) {
    let [a, b, c, _] = factors.outer;
    let framed = Framed::of(spacing, &[a, b, c, factors.inner[0]]);
    let edges: [Edge; 3] = std::array::from_fn(|i| Edge::outer(factors.outer[i], spacing));
    let mut rings = vec![outer(builder, &edges)];
    if framed == Framed::Yes {
        inner(builder, &Edge::inner(factors.inner[0], spacing, framed), &mut rings);
    }
    stitch_rings(builder, &rings);
    let [a, b, c] = rings.pop().expect("there is an outer ring");
    if a.len() == 2 {
        builder.triangle(a[0], b[0], c[0]);
    }
}

/// Adds the sides u=0, v=0, w=0, each from the corner where its first non-zero coordinate is 1.
fn outer(builder: &mut Builder, edges: &[Edge; 3]) -> Ring<3> {
    close(std::array::from_fn(|side| {
        let edge = &edges[side];
        (0..edge.segments())
            .map(|p| match side {
                0 => builder.point(0, edge.at(edge.segments() - p)),
                1 => builder.point(edge.at(p), 0),
                _ => {
                    let u = edge.at(edge.segments() - p);
                    builder.point(u, ONE - u)
                }
            })
            .collect()
    }))
}

/// Adds rings inside the outer one. Their points lie on perpendiculars (in an equilateral triangle) to the
/// sides of a triangle with the inner division. A point at distance t along a side, moved inwards by s, has
/// coordinates s and t - s/2. A corner of the ring lies on the perpendiculars of both its sides, and has s =
/// 2/3 t.
fn inner(builder: &mut Builder, inside: &Edge, rings: &mut Vec<Ring<3>>) {
    let parts = inside.segments();
    for ring in 1..parts.div_ceil(2) {
        let depth = two_thirds(inside.at(ring));
        let back = depth.div_ceil(2);
        let along = |p: u32| inside.at(p) - back;
        let last = parts - ring;
        rings.push(close(std::array::from_fn(|side| {
            (ring..last)
                .map(|p| match side {
                    0 => builder.point(depth, along(last + ring - p)),
                    1 => builder.point(along(p), depth),
                    _ => {
                        let u = along(last + ring - p);
                        builder.point(u, ONE - u - depth)
                    }
                })
                .collect()
        })));
    }
    if parts.is_multiple_of(2) {
        let third = two_thirds(ONE / 2);
        let centre = builder.point(third, third);
        rings.push(std::array::from_fn(|_| vec![centre]));
    }
}

fn two_thirds(fixed: Fixed) -> Fixed {
    (fixed * 2 + 1) / 3
}
