//! Records the pixels of primitives that make no fragments there: of culled primitives, and of all primitives
//! outside of the scissors.

use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;
use crate::draw::gras::setup::ScreenPrimitive;

use super::reasons::{CULLED, Reasons, SCISSORED};

/// Adds the pixels of `made` without fragments to `reasons`. Fragments are made in `drawable` only.
pub fn note(reasons: &Reasons, made: &Primitives, samples: Samples, drawable: Rect) {
    let mark = |primitive: &ScreenPrimitive, area: Rect, bits: u8| {
        if !area.is_empty() && !area.intersect(primitive.shape.bounds).is_empty() {
            samples.cover_halves(&primitive.shape, area, |at, masks| {
                reasons.half_block(at, masks.into_iter().fold(0, |all, mask| all | mask), bits);
            });
        }
    };
    let inside = reasons.area().intersect(drawable);
    for area in around(reasons.area(), inside) {
        made.culled.iter().chain(&made.primitives).for_each(|primitive| mark(primitive, area, SCISSORED));
    }
    made.culled.iter().for_each(|primitive| mark(primitive, inside, CULLED));
}

/// The parts of `all` around `inside`, which is a part of it: above, below, left and right.
fn around(all: Rect, inside: Rect) -> [Rect; 4] {
    if inside.is_empty() {
        let none = Rect { x1: all.x0, ..all };
        return [all, none, none, none];
    }
    [
        Rect { y1: inside.y0, ..all },
        Rect { y0: inside.y1, ..all },
        Rect { x1: inside.x0, y0: inside.y0, y1: inside.y1, ..all },
        Rect { x0: inside.x1, y0: inside.y0, y1: inside.y1, ..all },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_around_have_each_pixel_once() {
        let all = Rect { x0: 2, y0: 1, x1: 12, y1: 9 };
        for inside in [Rect { x0: 4, y0: 3, x1: 7, y1: 9 }, all, Rect { x0: 5, y0: 4, x1: 5, y1: 4 }] {
            let parts = around(all, inside);
            let count = |x, y| parts.iter().filter(|part| part.contains([x, y])).count();
            for (x, y) in (1..9).flat_map(|y| (2..12).map(move |x| (x, y))) {
                assert_eq!(count(x, y), usize::from(!inside.contains([x, y])), "{x},{y} around {inside:?}");
            }
        }
    }
}
