//! Varyings that are linear over a primitive, with a bound on the rounding error.

use super::interpolate::Source;
use super::planes::{corners_of, differences};
use crate::draw::gras::affine::{Affine, Planes};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;

/// One component of a primitive with constant 1/w, at pixel centres.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ramp {
    /// Value at the centre of pixel (0, 0).
    at: f64,
    /// Change per pixel to the right and down.
    per: [f64; 2],
    /// Maximum error of the value in fragments.
    pub error: f64,
}

/// Maximum rounding error of binary32 for numbers up to 1.
const ROUNDING: f64 = 1.0 / (1u64 << 24) as f64;

/// Bound on the number of roundings of a value, with one for a multiplication by the caller. [`Ramp::of`]
/// adds up at most 17, and half of that where multiplication and addition are fused.
const ROUNDINGS: f64 = 32.0;

/// Maximum coordinate. No pixel or texel is beyond it, and its square does not overflow.
const LARGE: f64 = (1u64 << 40) as f64;

impl Ramp {
    /// Returns component `location` of a primitive of `source` with perspective weights, for the pixels of
    /// `area`. `None` if it is not interpolated, not linear, or has unusual numbers.
    pub fn of(source: &Source<'_>, primitive: &ScreenPrimitive, location: u16, area: Rect) -> Option<Self> {
        let Planes { base, i, j, inv_w: [w0, w1, w2], .. } = &primitive.planes;
        let is_upright = w0 == w1 && w0 == w2 && (1.0 / LARGE..LARGE).contains(&f64::from(w0.abs()));
        if !is_upright || !source.interpolated.has(location, primitive.sprite.as_ref()) {
            return None;
        }
        let [v0, d1, d2] = differences(&corners_of(source, primitive), location.into()).map(f64::from);
        let from = |x: i32, axis: usize| f64::from(x) + 0.5 - f64::from(base[axis]);
        let reach = [[area.x0, area.x1], [area.y0, area.y1]];
        let reach =
            [0, 1].map(|axis| reach[axis].iter().fold(0.0, |far: f64, x| far.max(from(*x, axis).abs())));
        let sizes = |Affine { at, dx, dy }: &Affine| {
            let [at, dx, dy] = [at, dx, dy].map(|number| f64::from(number.abs()));
            at + dx * reach[0] + dy * reach[1]
        };
        let size = v0.abs() + sizes(i) * d1.abs() + sizes(j) * d2.abs();
        let per = [(i.dx, j.dx), (i.dy, j.dy)].map(|(i, j)| f64::from(i) * d1 + f64::from(j) * d2);
        let at = v0 + f64::from(i.at) * d1 + f64::from(j.at) * d2 + per[0] * from(0, 0) + per[1] * from(0, 1);
        (size < LARGE).then_some(Self { at, per, error: ROUNDINGS * ROUNDING * size })
    }

    /// Returns the exact value at the centre of a pixel, without rounding.
    pub fn at(&self, [x, y]: [i32; 2]) -> f64 {
        self.at + self.per[0] * f64::from(x) + self.per[1] * f64::from(y)
    }
}

#[cfg(test)]
mod tests {
    use crate::draw::vpc::state::Interpolation;
    use crate::draw::vpc::state::Replacement;

    use super::*;
    use crate::draw::gras::quad::quads;
    use crate::draw::gras::setup::Sprite;
    use crate::draw::vertices::{HEADER, Vertices};
    use crate::draw::vpc::interpolate::WarpQuads;
    use crate::draw::vpc::interpolate::tests::primitive;
    use crate::draw::vpc::planes::Interpolated;
    use crate::draw::vpc::state::MAX_VARYINGS;
    use a4emu_shader::Lanes;

    const AREA: Rect = Rect { x0: 40, y0: 16, x1: 104, y1: 48 };

    /// A primitive whose vertices have these numbers at location 1.
    struct Scene {
        primitives: [ScreenPrimitive; 1],
        vertices: Vertices,
        modes: [Interpolation; MAX_VARYINGS],
        by: [Replacement; MAX_VARYINGS],
    }

    impl Scene {
        fn new(primitive: ScreenPrimitive, numbers: [f32; 3]) -> Self {
            let mut vertices = Vertices::new(2, 3);
            for (row, number) in vertices.rows_mut().chunks_mut(HEADER + 2).zip(numbers) {
                row[HEADER + 1] = number.to_bits();
            }
            let (modes, by) = ([Interpolation::Smooth; MAX_VARYINGS], [Replacement::None; MAX_VARYINGS]);
            Self { primitives: [primitive], vertices, modes, by }
        }

        fn source(&self) -> Source<'_> {
            Source {
                primitives: &self.primitives,
                vertices: &self.vertices,
                interpolation: &self.modes,
                replacement: &self.by,
                interpolated: Interpolated::of(&self.modes, &self.by),
            }
        }

        fn ramp(&self) -> Option<Ramp> {
            Ramp::of(&self.source(), &self.primitives[0], 1, AREA)
        }

        /// Returns the values in the fragments of [`AREA`].
        fn fragments(&self) -> Vec<([i32; 2], f32)> {
            let (source, mut all) = (self.source(), Vec::new());
            for (x, y) in
                (AREA.y0..AREA.y1).step_by(4).flat_map(|y| (AREA.x0..AREA.x1).step_by(8).map(move |x| (x, y)))
            {
                let quads = quads(0, [x, y], u32::MAX);
                let pieces = WarpQuads::of_block(&quads, [x, y], &source);
                let (mut ij, mut out) = ([Lanes::ZERO; 2], Lanes::ZERO);
                pieces.perspective(&mut ij);
                pieces.varying(1, &ij[0], &ij[1], &mut out);
                let pixel = |lane: usize| {
                    let (quad, corner) = (&pieces.quads[lane / 4], (lane % 4) as i32);
                    [quad.x + corner % 2, quad.y + corner / 2]
                };
                all.extend(out.floats().iter().enumerate().map(|(lane, value)| (pixel(lane), *value)));
            }
            all
        }
    }

    #[test]
    fn no_fragment_is_farther_off_than_is_said() {
        let mut seed = 1u32;
        let mut number = |size: f32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            size * ((seed >> 8) as f32 / (1 << 23) as f32 - 1.0)
        };
        let mut worst = 0.0f64;
        for round in 0..300 {
            let mut plane = || Affine { at: number(1.0), dx: number(0.02), dy: number(0.02) };
            let (i, j) = (plane(), plane());
            let inv_w = [1.0, 0.3, -7.0, 1e-9, 1e9][round % 5];
            let base = [40.5, 0.5][round % 2];
            let planes = Planes { i, j, inv_w: [inv_w; 3], base: [base; 2], ..primitive().planes };
            let upright = ScreenPrimitive { planes, ..primitive() };
            let size = [1.0, 1000.0, 1e-6][round % 3];
            let scene = Scene::new(upright, [0; 3].map(|_| number(size)));
            let ramp = scene.ramp().expect("it is even");
            for (pixel, value) in scene.fragments() {
                let off = (f64::from(value) - ramp.at(pixel)).abs();
                assert!(off <= ramp.error, "round {round}, {pixel:?}: {off} of {}", ramp.error);
                worst = worst.max(off / ramp.error);
            }
        }
        assert!((0.05..0.7).contains(&worst), "{worst} of what is said");
    }

    #[test]
    fn varyings_that_are_not_linear_have_no_ramp() {
        let planes = Planes { inv_w: [1.0; 3], ..primitive().planes };
        let upright = ScreenPrimitive { planes, ..primitive() };
        let numbers = [0.0, 1.0, 2.0];
        let of = |primitive: ScreenPrimitive| Scene::new(primitive, numbers);
        assert!(of(upright.clone()).ramp().is_some());
        for vertex in 0..3 {
            let mut aslant = upright.clone();
            aslant.planes.inv_w[vertex] = 1.5;
            assert_eq!(of(aslant).ramp(), None);
        }
        for inv_w in [0.0, 1e-30, 1e30, f32::NAN, f32::INFINITY] {
            let planes = Planes { inv_w: [inv_w; 3], ..planes };
            assert_eq!(of(ScreenPrimitive { planes, ..upright.clone() }).ramp(), None, "{inv_w}");
        }
        for number in [f32::NAN, f32::INFINITY, 1e30] {
            assert_eq!(Scene::new(upright.clone(), [0.0, number, 0.0]).ramp(), None);
            let planes = Planes { j: Affine { dy: number, ..planes.j }, ..planes };
            assert_eq!(of(ScreenPrimitive { planes, ..upright.clone() }).ramp(), None);
        }
        let flat = Scene { modes: [Interpolation::Flat; MAX_VARYINGS], ..of(upright.clone()) };
        assert_eq!(flat.ramp(), None);
        let sprite = Some(Sprite { corner: [0.0; 2], inv_size: 0.125 });
        let replaced = |sprite| Scene {
            by: [Replacement::S; MAX_VARYINGS],
            ..of(ScreenPrimitive { sprite, ..upright.clone() })
        };
        assert!(replaced(None).ramp().is_some() && replaced(sprite).ramp().is_none());
    }
}
