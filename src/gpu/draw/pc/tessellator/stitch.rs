//! Triangles between two chains of points.
//!
//! Both chains have the same direction, counter-clockwise around the patch, so the outside is on the right.
use super::Builder;

/// Fills between a side of a ring, with its corners, and the side inside it, which has two parts less.
/// Diagonals lean away from the middle.
pub fn regular(builder: &mut Builder, outside: &[u32], inside: &[u32]) {
    let (first, last) = (0, outside.len() - 1);
    builder.triangle(outside[first], outside[first + 1], inside[0]);
    let middle = inside.len() / 2;
    for p in 0..inside.len() - 1 {
        quad(builder, &outside[p + 1..], &inside[p..], if p < middle { Lean::In } else { Lean::Out });
    }
    builder.triangle(outside[last - 1], outside[last], inside[inside.len() - 1]);
}

/// Fills between two chains of equal length: the innermost row of a quad.
pub fn strip(builder: &mut Builder, outside: &[u32], inside: &[u32], middle: Lean) {
    let quads = inside.len() - 1;
    for p in 0..quads {
        let lean = if 2 * p + 1 == quads { middle } else { Lean::Out };
        quad(builder, &outside[p..], &inside[p..], lean);
    }
}

/// The direction of a quad's diagonal, seen along the chains.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lean {
    /// From the outside forward to the inside.
    In,
    /// From the inside forward to the outside.
    Out,
}

fn quad(builder: &mut Builder, outside: &[u32], inside: &[u32], lean: Lean) {
    match lean {
        Lean::In => {
            builder.triangle(outside[0], inside[1], inside[0]);
            builder.triangle(outside[0], outside[1], inside[1]);
        }
        Lean::Out => {
            builder.triangle(inside[0], outside[0], outside[1]);
            builder.triangle(inside[0], outside[1], inside[1]);
        }
    }
}

/// Fills between an edge and the side inside it, which may have a different division.
///
/// Points of each half are added in the order in which growing factors create them ([`appears`]). So the
/// triangles around a point stay when other points appear.
pub fn transition(builder: &mut Builder, outside: &[u32], inside: &[u32]) {
    let (outside_parts, inside_parts) = (outside.len() - 1, inside.len() + 1);
    let (outside_half, inside_half) = (outside_parts / 2, inside_parts / 2);
    let mut walk = Walk { builder, outside, inside };
    if outside_half > 0 {
        walk.outside();
    }
    for place in 1..=PLACES {
        walk.inside_if(appears(place) < inside_half);
        walk.outside_if(appears(place) < outside_half);
    }
    match (outside_parts % 2, inside_parts % 2) {
        (0, 0) => {}
        (1, 1) => {
            walk.inside();
            walk.outside();
        }
        (_, 0) => walk.outside(),
        (_, _) => walk.inside(),
    }
    for place in (1..=PLACES).rev() {
        walk.outside_if(appears(place) < outside_half);
        walk.inside_if(appears(place) < inside_half);
    }
    if outside_half > 0 {
        walk.outside();
    }
}

/// Number of points in half of the finest edge, without its corner.
const PLACES: u32 = 32;

/// Returns the number of parts in half an edge above which the point at `place` of 1 to 32 exists. The order
/// is breadth first through the halvings of the edge (17 is first, then 9, 25, 5, ...).
fn appears(place: u32) -> usize {
    let offset = place - 1;
    if offset == 0 {
        return PLACES as usize;
    }
    let level = (PLACES / 2) >> offset.trailing_zeros();
    (level + (offset >> offset.trailing_zeros()) / 2) as usize
}

/// Advances along two chains, and adds the triangles between them.
struct Walk<'a> {
    builder: &'a mut Builder,
    outside: &'a [u32],
    inside: &'a [u32],
}

impl Walk<'_> {
    fn outside(&mut self) {
        if let [from, to, ..] = *self.outside {
            self.builder.triangle(from, to, self.inside[0]);
            self.outside = &self.outside[1..];
        }
    }

    fn inside(&mut self) {
        if let [from, to, ..] = *self.inside {
            self.builder.triangle(from, self.outside[0], to);
            self.inside = &self.inside[1..];
        }
    }

    fn outside_if(&mut self, exists: bool) {
        if exists {
            self.outside();
        }
    }

    fn inside_if(&mut self, exists: bool) {
        if exists {
            self.inside();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_place_appears_once() {
        let mut order: Vec<usize> = (1..=PLACES).map(appears).collect();
        assert_eq!([17, 9, 25, 5, 13, 21, 29, 3].map(appears), [1, 2, 3, 4, 5, 6, 7, 8]);
        order.sort_unstable();
        assert_eq!(order, (1..=32).collect::<Vec<_>>());
    }

    #[test]
    fn transition_uses_up_both_chains() {
        for outside in 1..=64 {
            for inside in 2..=64 {
                let (a, b): (Vec<u32>, Vec<u32>) =
                    ((0..=outside).collect(), (100..100 + inside - 1).collect());
                let mut builder = Builder::default();
                transition(&mut builder, &a, &b);
                assert_eq!(builder.indices.len() as u32, 3 * (outside + inside - 2), "{outside} {inside}");
            }
        }
    }
}
