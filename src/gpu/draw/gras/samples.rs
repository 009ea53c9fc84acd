//! The samples of a pixel: their places, and their coverage by a shape.

use crate::draw::gras::raster::{BLOCK, Rect, SUBPIXELS, Shape, Snapped, extremes};

/// Maximum number of samples of a pixel.
pub const MAX_SAMPLES: usize = 4;

/// SamplePosition of a sample, in 1/16 pixel right of and below the pixel's centre.
pub type SamplePosition = [i32; 2];

/// Units of a place per pixel.
pub const PARTS: i32 = 16;

/// Sample places of Direct3D's standard patterns, by the binary logarithm of their number (guess
/// `sample-places`).
const STANDARD: [&[SamplePosition]; 3] =
    [&[[0, 0]], &[[4, 4], [-4, -4]], &[[-2, -6], [6, -2], [-6, 2], [2, 6]]];

/// Coverage of up to 64 pixels (one bit each) by sample.
pub type Coverage<T> = [T; MAX_SAMPLES];

/// Number of samples per pixel, and their places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Samples {
    count: usize,
    places: [SamplePosition; MAX_SAMPLES],
}

impl Samples {
    /// One sample, at the centre.
    pub const ONE: Self = Self { count: 1, places: [[0, 0]; MAX_SAMPLES] };

    /// Creates samples for targets with `2^held` samples per pixel and a rasteriser with `2^looked`. A
    /// rasteriser with one sample covers all samples or none. Counts beyond four mean one.
    pub fn of([held, looked]: [u32; 2]) -> Self {
        let Some(standard) = STANDARD.get(held as usize) else { return Self::ONE };
        let mut samples = Self { count: standard.len(), ..Self::ONE };
        if looked > 0 {
            samples.places[..standard.len()].copy_from_slice(standard);
        }
        samples
    }

    /// Returns the number of samples.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Returns the place of each sample.
    pub fn places(&self) -> &[SamplePosition] {
        &self.places[..self.count]
    }

    /// Returns whether all samples of a pixel are covered together.
    fn whole(&self) -> bool {
        self.places().iter().all(|place| *place == [0, 0])
    }

    /// Returns the polygon `shape` with bounds of all pixels that may have a sample inside.
    #[inline]
    pub fn polygon(&self, mut shape: Shape) -> Shape {
        if !self.whole() {
            let Rect { x0, y0, x1, y1 } = shape.bounds;
            shape.bounds = Rect { x0: x0 - 1, y0: y0 - 1, x1: x1 + 1, y1: y1 + 1 };
        }
        shape
    }

    /// Returns the bounding box of `corners`.
    pub fn rectangle(&self, corners: &[Snapped]) -> Shape {
        let of_pixels = extremes(corners).iter().all(|v| i64::from(*v) % SUBPIXELS == 0);
        match self.whole() || of_pixels {
            true => Shape::between(corners),
            false => self.polygon(Shape::upright(corners)),
        }
    }

    /// Calls `emit` with the first pixel of each block of `clip` with covered samples, row by row, and with
    /// the covered pixels of each sample. Bit `8 * y + x` is pixel (x, y).
    pub fn cover(&self, shape: &Shape, clip: Rect, mut emit: impl FnMut([i32; 2], Coverage<u64>)) {
        let area = shape.bounds.intersect(clip);
        let shapes = self.places.map(|place| shape.seen_from(place.map(|at| at * SUBPIXELS as i32 / PARTS)));
        let blocks = |from: i32, to: i32| (from.div_euclid(BLOCK) * BLOCK..to).step_by(BLOCK as usize);
        for y in blocks(area.y0, area.y1) {
            for x in blocks(area.x0, area.x1) {
                let mut covered = [0; MAX_SAMPLES];
                for (covered, shape) in covered.iter_mut().zip(&shapes[..self.count]) {
                    *covered = shape.block(area, x, y);
                }
                if covered != [0; MAX_SAMPLES] {
                    emit([x, y], covered);
                }
            }
        }
    }

    /// Calls `emit` as [`Self::cover`] does, but for 8x4 halves of blocks. Bit `8 * y + x` is pixel (x, y) of
    /// the half.
    pub fn cover_halves(&self, shape: &Shape, clip: Rect, mut emit: impl FnMut([i32; 2], Coverage<u32>)) {
        self.cover(shape, clip, |[x, y], masks| {
            for half in 0..2 {
                let masks = masks.map(|mask| (mask >> (32 * half)) as u32);
                if masks != [0; MAX_SAMPLES] {
                    emit([x, y + 4 * half], masks);
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::raster::{signed_area, snap};

    const CLIP: Rect = Rect { x0: 1, y0: 1, x1: 30, y1: 23 };

    /// Returns the covered samples: pixel and number.
    fn covered(samples: Samples, shape: &Shape) -> Vec<(i32, i32, usize)> {
        let mut out = Vec::new();
        samples.cover(shape, CLIP, |[x, y], masks| {
            for (s, mask) in masks.into_iter().enumerate() {
                let bits = (0..64).filter(|bit| mask >> bit & 1 != 0);
                out.extend(bits.map(|bit| (x + bit % 8, y + bit / 8, s)));
            }
        });
        out.sort_unstable();
        out
    }

    #[test]
    fn a_sample_is_covered_where_it_is_inside() {
        let corners = [[3.3, 0.2], [25.9, 9.7], [9.1, 21.6]].map(|p| p.map(snap));
        for held in 0..3 {
            let samples = Samples::of([held, held]);
            let shape = samples.polygon(Shape::polygon(corners));
            let mut want = Vec::new();
            for (x, y) in (CLIP.x0..CLIP.x1).flat_map(|x| (CLIP.y0..CLIP.y1).map(move |y| (x, y))) {
                for (s, [right, down]) in samples.places().iter().enumerate() {
                    let point = [x * 256 + 128 + right * 16, y * 256 + 128 + down * 16];
                    if (0..3).all(|i| signed_area([corners[i], corners[(i + 1) % 3], point]) > 0) {
                        want.push((x, y, s));
                    }
                }
            }
            assert_eq!(covered(samples, &shape), want, "{held}");
        }
    }

    #[test]
    fn rectangles_end_within_pixels_and_on_their_edges() {
        let four = Samples::of([2, 2]);
        // The left side is 5/8 into pixel 3, so samples 1 and 3 are right of it.
        let [from, to] = [[3.625, 4.0], [8.0, 5.0]].map(|p| p.map(snap));
        let shape = four.rectangle(&[from, to]);
        assert_eq!(covered(four, &shape).iter().filter(|(x, ..)| *x == 3).count(), 2);
        assert_eq!(covered(four, &shape).len(), 2 + 4 * 4);
        let whole = four.rectangle(&[[768, 1024], [2048, 1280]]);
        assert!(whole.is_rectangle() && covered(four, &whole).len() == 5 * 4);
    }

    #[test]
    fn a_rasteriser_of_centres_covers_all_samples_or_none() {
        let centre = Samples::of([2, 0]);
        let shape = centre.rectangle(&[[3.625, 4.0].map(snap), [8.0, 5.0].map(snap)]);
        assert_eq!(covered(centre, &shape).len(), 4 * 4);
        assert_eq!(Samples::of([3, 3]), Samples::ONE);
    }
}
