//! Interpolation values of varyings: the value at vertex 0, and the differences of vertices 1 and 2 from it.

use std::cell::Cell;

use crate::draw::vpc::state::Interpolation;
use crate::draw::vpc::state::Replacement;
use multiversion::multiversion;
use multiversion::target::match_target;

#[cfg(target_arch = "x86_64")]
use super::avx512;
use super::interpolate::{OfQuads, Source, WarpQuads, from_quad, to_lanes};
use super::state::MAX_VARYINGS;
use crate::draw::gras::quad::QUADS;
use crate::draw::gras::setup::{ScreenPrimitive, Sprite};
use a4emu_shader::{LANES, Lanes};

/// Set of interpolated locations, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Interpolated {
    /// Locations that are interpolated in all primitives.
    always: u128,
    /// Locations that are interpolated in primitives without sprite coordinates.
    without_sprites: u128,
}

impl Interpolated {
    /// Every location, in all primitives.
    pub const ALL: Self = Self { always: u128::MAX, without_sprites: u128::MAX };

    /// Returns the locations that are neither flat nor replaced.
    pub fn of(modes: &[Interpolation; MAX_VARYINGS], replacement: &[Replacement; MAX_VARYINGS]) -> Self {
        let mut locations = Self { always: 0, without_sprites: 0 };
        for (location, modes) in modes.iter().zip(replacement).enumerate() {
            let (mode, replaced) = modes;
            let is_smooth = u128::from(matches!(mode, Interpolation::Smooth));
            let is_replaced = matches!(replaced, Replacement::S | Replacement::T | Replacement::OneMinusT);
            locations.without_sprites |= is_smooth << location;
            locations.always |= (is_smooth & u128::from(!is_replaced)) << location;
        }
        locations
    }

    /// Returns whether a location is interpolated in a primitive with this sprite, if it is one.
    pub fn has(&self, location: u16, sprite: Option<&Sprite>) -> bool {
        are_in(if sprite.is_some() { self.always } else { self.without_sprites }, &[location])
    }
}

/// Returns whether all of `locations` are in `set`.
fn are_in(set: u128, locations: &[u16]) -> bool {
    locations.iter().all(|location| set.checked_shr((*location).into()).unwrap_or(0) & 1 == 1)
}

/// Cache of the contents of a warp frame. When the next warp in the frame needs the same contents, they are
/// not written again.
///
/// Lists of locations belong to the running program, and are identified by their address.
#[derive(Debug, Default)]
pub struct FrameState {
    /// The primitive and the locations whose planes are in the frame.
    held: Cell<Option<(u32, *const u16)>>,
    /// A list of locations that are all interpolated in every primitive.
    interpolated: Cell<Option<*const u16>>,
}

impl FrameState {
    /// Returns whether the frame has the planes of this primitive at `locations`.
    fn holds(&self, primitive: u32, locations: &[u16]) -> bool {
        self.held.get() == Some((primitive, locations.as_ptr()))
    }
}

impl WarpQuads<'_> {
    /// Writes the interpolation values of each location for all lanes: value at vertex 0, and differences of
    /// vertices 1 and 2. Returns false when a location is not interpolated.
    pub fn planes(&self, locations: &[u16], frame: &mut [Lanes]) -> bool {
        let alone = self.only().map(|_| self.quads[0].primitive);
        if let (Some(state), Some(primitive)) = (self.frame, alone)
            && state.holds(primitive, locations)
        {
            return true;
        }
        if !self.has_planes(locations) {
            return false;
        }
        spread(self, locations, frame);
        if let Some(state) = self.frame {
            state.held.set(alone.map(|primitive| (primitive, locations.as_ptr())));
        }
        true
    }

    /// Returns whether all of `locations` are interpolated.
    pub fn has_planes(&self, locations: &[u16]) -> bool {
        let (interpolated, list) = (self.source.interpolated, Some(locations.as_ptr()));
        if self.frame.is_some_and(|state| state.interpolated.get() == list) {
            return true;
        }
        if are_in(interpolated.always, locations) {
            self.frame.inspect(|state| state.interpolated.set(list));
            return true;
        }
        let has_sprites = || self.runs().any(|run| run.primitive.sprite.is_some());
        are_in(interpolated.without_sprites, locations) && !has_sprites()
    }
}

/// Returns the rows of each location.
pub(super) fn rows_of<'f>(
    frame: &'f mut [Lanes],
    locations: &'f [u16],
) -> impl Iterator<Item = (&'f mut [Lanes; 3], &'f u16)> {
    frame.as_chunks_mut().0.iter_mut().zip(locations)
}

/// Writes the interpolation values of all lanes' primitives.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn spread(pieces: &WarpQuads<'_>, locations: &[u16], frame: &mut [Lanes]) {
    match pieces.only() {
        Some(primitive) => {
            let corners = corners_of(pieces.source, primitive);
            rows_of(frame, locations).for_each(|(rows, location)| {
                let numbers = differences(&corners, usize::from(*location));
                for n in 0..3 {
                    rows[n].0 = [numbers[n].to_bits(); LANES];
                }
            });
        }
        None => {
            match_target! {
                "x86_64+avx512f+avx512dq" => {
                    if avx512::spread(pieces, locations, frame) {
                        return;
                    }
                }
                _ => {}
            }
            let corners = corners_of_runs(pieces);
            rows_of(frame, locations).for_each(|(rows, location)| {
                let of_quads = differences_of_quads(pieces, &corners, usize::from(*location));
                for n in 0..3 {
                    rows[n].0 = bytemuck::cast(to_lanes(of_quads[n]));
                }
            });
        }
    }
}

/// Interpolates component `location` at weights `i`, `j`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub(super) fn interpolate(pieces: &WarpQuads<'_>, location: usize, i: &Lanes, j: &Lanes, out: &mut Lanes) {
    match pieces.only() {
        Some(primitive) => {
            let numbers = differences(&corners_of(pieces.source, primitive), location);
            interpolate_by(i, j, out, |_| numbers);
        }
        None => {
            let corners = corners_of_runs(pieces);
            let [v0, d1, d2] = differences_of_quads(pieces, &corners, location);
            let (v0, d1, d2) = (to_lanes(v0), to_lanes(d1), to_lanes(d2));
            interpolate_by(i, j, out, |l| [v0[l], d1[l], d2[l]]);
        }
    }
}

#[inline(always)]
fn interpolate_by(i: &Lanes, j: &Lanes, out: &mut Lanes, numbers: impl Fn(usize) -> [f32; 3]) {
    for l in 0..LANES {
        let [v0, d1, d2] = numbers(l);
        out.0[l] = (v0 + (f32::from_bits(i.0[l]) * d1 + f32::from_bits(j.0[l]) * d2)).to_bits();
    }
}

/// The varyings of a primitive's vertices.
pub(super) type Corners<'a> = [&'a [u32]; 3];

#[inline(always)]
pub(super) fn corners_of<'a>(source: &Source<'a>, primitive: &ScreenPrimitive) -> Corners<'a> {
    let [a, b, c] = primitive.vertices;
    [source.vertices.varyings(a), source.vertices.varyings(b), source.vertices.varyings(c)]
}

/// Returns the varyings of the vertices of each run.
#[inline(always)]
fn corners_of_runs<'a>(pieces: &WarpQuads<'a>) -> [Corners<'a>; QUADS] {
    let mut out = [[&[][..]; 3]; QUADS];
    for (corners, run) in out.iter_mut().zip(pieces.runs()) {
        *corners = corners_of(pieces.source, run.primitive);
    }
    out
}

/// Returns component `location` at vertex 0, and the differences of vertices 1 and 2 from it.
#[inline(always)]
pub(super) fn differences([a, b, c]: &Corners<'_>, location: usize) -> [f32; 3] {
    let value = |corner: &[u32]| f32::from_bits(corner.get(location).copied().unwrap_or(0));
    let v0 = value(a);
    [v0, value(b) - v0, value(c) - v0]
}

/// Returns the [`differences`] of each quad's primitive.
#[inline(always)]
fn differences_of_quads(
    pieces: &WarpQuads<'_>,
    corners: &[Corners<'_>; QUADS],
    location: usize,
) -> [OfQuads; 3] {
    let mut all = [[0.0; QUADS]; 3];
    for (run, corners) in pieces.runs().zip(corners) {
        let numbers = differences(corners, location);
        for n in 0..3 {
            from_quad(run.first, &mut all[n], numbers[n]);
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::quad::{Quad, quads};
    use crate::draw::gras::setup::Sprite;
    use crate::draw::vertices::{HEADER, Vertices};
    use crate::draw::vpc::interpolate::tests::primitive;

    #[test]
    fn flat_and_replaced_locations_are_not_interpolated() {
        let mut modes = [Interpolation::Smooth; MAX_VARYINGS];
        let mut by = [Replacement::None; MAX_VARYINGS];
        modes[3] = Interpolation::Flat;
        (by[5], by[64], by[127]) = (Replacement::S, Replacement::T, Replacement::OneMinusT);
        let of = Interpolated::of(&modes, &by);
        assert_eq!(of.always, !(1 << 3 | 1 << 5 | 1 << 64 | 1 << 127));
        assert_eq!(of.without_sprites, !(1 << 3));
    }

    /// A triangle, a point and another triangle. Component `c` of a vertex is `100 * vertex + c * c`.
    struct Scene {
        primitives: Vec<ScreenPrimitive>,
        vertices: Vertices,
        modes: [Interpolation; MAX_VARYINGS],
        by: [Replacement; MAX_VARYINGS],
    }

    impl Scene {
        fn new() -> Self {
            let mut vertices = Vertices::new(4, 7);
            for (at, word) in vertices.rows_mut().iter_mut().enumerate() {
                let (vertex, c) = (at / (HEADER + 4), (at % (HEADER + 4)).saturating_sub(HEADER));
                *word = ((100 * vertex * (c + 1) + c * c) as f32).to_bits();
            }
            let triangle = ScreenPrimitive { vertices: [0, 1, 2], ..primitive() };
            let sprite = Some(Sprite { corner: [0.0; 2], inv_size: 0.125 });
            let point = ScreenPrimitive { vertices: [3; 3], sprite, ..triangle.clone() };
            let other = ScreenPrimitive { vertices: [4, 6, 5], ..triangle.clone() };
            let mut by = [Replacement::None; MAX_VARYINGS];
            by[1] = Replacement::S;
            Self {
                primitives: vec![triangle, point, other],
                vertices,
                modes: [Interpolation::Smooth; MAX_VARYINGS],
                by,
            }
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

        /// Returns quads of these primitives.
        fn quads(&self, of: [u32; QUADS]) -> [Quad; QUADS] {
            let mut quads = quads(0, [8, 4], u32::MAX);
            quads.iter_mut().zip(of).for_each(|(quad, primitive)| quad.primitive = primitive);
            quads
        }
    }

    const TRIANGLE: [u32; QUADS] = [0; QUADS];
    const POINT: [u32; QUADS] = [1; QUADS];
    const OTHER: [u32; QUADS] = [2; QUADS];
    const BOTH: [u32; QUADS] = [0, 0, 0, 2, 2, 2, 2, 2];

    #[test]
    fn a_replaced_location_has_planes_where_there_are_no_sprites() {
        let scene = Scene::new();
        let has_planes = |of: [u32; QUADS], locations: &[u16]| {
            let (quads, source) = (scene.quads(of), scene.source());
            WarpQuads::new(&quads, &source).planes(locations, &mut [Lanes::ZERO; 6])
        };
        assert!(has_planes(TRIANGLE, &[0, 1]) && has_planes(BOTH, &[1, 2]));
        assert!(has_planes(POINT, &[0, 2]));
        assert!(!has_planes(POINT, &[0, 1]) && !has_planes([0, 0, 0, 0, 1, 2, 2, 2], &[1, 2]));
        assert!(!has_planes(TRIANGLE, &[0, 128]));
    }

    /// Runs warps in one shared frame, and compares each with a warp in a new frame.
    #[test]
    fn a_frame_holds_what_is_asked_for_whatever_it_held_before() {
        let scene = Scene::new();
        let lists: [&[u16]; 2] = [&[0, 3], &[2, 0]];
        let state = FrameState::default();
        let mut kept = [Lanes::ZERO; 6];
        let order = [TRIANGLE, TRIANGLE, OTHER, BOTH, OTHER, OTHER, TRIANGLE, BOTH, TRIANGLE, TRIANGLE];
        for (number, of) in order.into_iter().enumerate() {
            for list in [lists[number % 2], lists[number / 2 % 2], lists[0]] {
                let (quads, source) = (scene.quads(of), scene.source());
                let mut fresh = [Lanes::ZERO; 6];
                assert!(WarpQuads::new(&quads, &source).planes(list, &mut fresh));
                let mut pieces = WarpQuads::new(&quads, &source);
                pieces.set_frame(&state);
                assert!(pieces.planes(list, &mut kept));
                assert!(kept == fresh, "warp {number}, {list:?}");
            }
        }
    }

    #[test]
    fn that_a_list_is_interpolated_says_nothing_of_another() {
        let (scene, state) = (Scene::new(), FrameState::default());
        let [smooth, replaced]: [&[u16]; 2] = [&[0, 2], &[0, 1]];
        let has_planes = |list: &[u16]| {
            let (quads, source) = (scene.quads(POINT), scene.source());
            let mut pieces = WarpQuads::new(&quads, &source);
            pieces.set_frame(&state);
            pieces.has_planes(list)
        };
        assert_eq!([smooth, replaced, smooth, smooth].map(has_planes), [true, false, true, true]);
    }

    /// Tests few and many locations, more than one row, the last vertex, and a location that vertices lack.
    #[test]
    fn each_quad_has_the_planes_of_its_own_primitive() {
        const COMPONENTS: usize = 22;
        let mut scene = Scene::new();
        let mut vertices = Vertices::new(COMPONENTS, 7);
        let value = |at: usize| (at * 2_654_435_761 % 1009) as f32 / 7.0;
        vertices.rows_mut().iter_mut().enumerate().for_each(|(at, word)| *word = value(at).to_bits());
        scene.vertices = vertices;
        let many: Vec<u16> = (0..COMPONENTS as u16).rev().collect();
        for list in [&[7][..], &[3, 0, 21], &[3, 0, 21, 16], &many, &[1, 2, 3, 4, 22]] {
            for (of, count) in [(BOTH, 8), ([2, 2, 2, 1, 0, 2, 1, 0], 8), ([1, 2, 2, 0, 0, 0, 0, 0], 3)] {
                let (quads, source) = (scene.quads(of), scene.source());
                let mut frame = vec![Lanes::ZERO; 3 * list.len()];
                spread(&WarpQuads::new(&quads[..count], &source), list, &mut frame);
                for (rows, location) in rows_of(&mut frame, list) {
                    for lane in 0..4 * count {
                        let corners = corners_of(&source, &scene.primitives[of[lane / 4] as usize]);
                        let expected = differences(&corners, usize::from(*location)).map(f32::to_bits);
                        let found = [0, 1, 2].map(|n| rows[n][lane]);
                        assert_eq!(found, expected, "{list:?} {of:?} {location} lane {lane}");
                    }
                }
            }
        }
    }

    #[test]
    fn planes_in_the_warp_frame_are_not_written_again() {
        let scene = Scene::new();
        let (state, list) = (FrameState::default(), [0, 3]);
        let (quads, source) = (scene.quads(TRIANGLE), scene.source());
        let mut pieces = WarpQuads::new(&quads, &source);
        pieces.set_frame(&state);
        let mut frame = [Lanes::ZERO; 6];
        assert!(pieces.planes(&list, &mut frame));
        frame.fill(Lanes::ZERO);
        assert!(pieces.planes(&list, &mut frame));
        assert!(frame == [Lanes::ZERO; 6]);
    }
}
