//! Tests of set-up with hand-made primitives.

use super::*;
use crate::draw::gras::primitives::Primitives;
use crate::draw::vertices::{RESTART, SpareLists};

fn state(topology: Topology) -> PrimitiveState {
    PrimitiveState {
        topology,
        provoking: Provoking::Last,
        viewport: Viewport { scale: [32.0, 32.0, 0.5], offset: [32.0, 32.0, 0.5] },
        depth_clip: Some(DepthClip { near: true, far: true, zero_to_one: false }),
        cull: [None, None],
        front_winding: Winding::CounterClockwise,
        polygon_mode: [PolygonMode::Fill; 2],
        offset: None,
        linear: None,
        weight_base: WeightBase::Screen,
        samples: Samples::ONE,
        line_width: 1.0,
        point_size: 4.0,
        point_range: [1.0, 64.0],
        sides: Rect { x0: 0, y0: 0, x1: 64, y1: 64 },
        cut: Sides::Axes,
        others: Vec::new(),
    }
}

fn vertices(positions: &[[f32; 4]]) -> Vertices {
    let mut all = Vertices::new(2, 0);
    for p in positions {
        let mut row: Vec<u32> = p.iter().map(|v| v.to_bits()).collect();
        row.extend([3.0f32.to_bits(), p[0].to_bits(), p[1].to_bits()]);
        all.push(&row);
    }
    all
}

/// Sets up a draw that fits into memory.
fn made(state: &PrimitiveState, vertices: &mut Vertices, list: &[u32]) -> Option<Vec<ScreenPrimitive>> {
    let Assembled { primitives, left_out } = assemble(state, vertices, list)?;
    assert_eq!(left_out, 0);
    Some(primitives)
}

const TRIANGLE: [[f32; 4]; 3] = [[-1.0, -1.0, 0.0, 1.0], [1.0, -1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 1.0]];

#[test]
fn facing_decides_what_is_culled() {
    let mut state = state(Topology::Triangles);
    let mut v = vertices(&TRIANGLE);
    let got = made(&state, &mut v, &[0, 1, 2, 0, 2, 1]).expect("triangles");
    assert_eq!(got.iter().map(|p| p.face).collect::<Vec<_>>(), [Face::Back, Face::Front]);
    state.cull = [None, Some(Face::Back)];
    assert_eq!(made(&state, &mut v, &[0, 1, 2, 0, 2, 1]).expect("triangles").len(), 1);
}

#[test]
fn a_weight_is_one_at_its_vertex_and_zero_at_the_others() {
    let state = state(Topology::Triangles);
    let mut v = vertices(&TRIANGLE);
    let got = made(&state, &mut v, &[0, 1, 2]).expect("a triangle");
    assert_eq!((got[0].vertices, got[0].planes.origin), ([2, 0, 1], [0.5, 0.5]));
    let at = |w: &Affine, x: f32, y: f32| w.at + w.dx * (x - 0.5) + w.dy * (y - 0.5);
    let weights = [[0.0, 0.0], [64.0, 0.0], [0.0, 64.0]]
        .map(|[x, y]| [at(&got[0].planes.i, x, y), at(&got[0].planes.j, x, y)]);
    assert_eq!(weights, [[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]]);
}

/// Returns the first weight along a row of pixels of a triangle, moved `right` pixels.
fn row_of_weights(weight_base: WeightBase, right: f32) -> Vec<f32> {
    let state = PrimitiveState { weight_base, ..state(Topology::Triangles) };
    let corners = [[1.0, 1.0], [8.0, 1.0], [1.0, 8.0]];
    let position = |[x, y]: [f32; 2]| [(x + right) / 32.0 - 1.0, y / 32.0 - 1.0, 0.0, 1.0];
    let got = made(&state, &mut vertices(&corners.map(position)), &[0, 1, 2]).expect("a triangle");
    let (i, [x0, y0]) = (got[0].planes.i, got[0].planes.base);
    (1..8).map(|x| i.at + i.dx * (x as f32 + 0.5 + right - x0) + i.dy * (1.5 - y0)).collect()
}

#[test]
fn weights_depend_on_where_a_triangle_is_on_the_board_alone() {
    let moved = |base| (row_of_weights(base, 0.0), row_of_weights(base, 47.0));
    let (here, there) = moved(WeightBase::Primitive);
    assert_eq!(here, there);
    let (here, there) = moved(WeightBase::Screen);
    assert_ne!(here, there);
    assert!(here.iter().zip(&there).all(|(a, b)| (a - b).abs() < 1e-5), "{here:?} {there:?}");
}

#[test]
fn an_offset_moves_its_own_triangle_only() {
    let mut state = state(Topology::Triangles);
    state.offset = Some(PolygonOffset { scale: 0.0, units: 0.25, float_depth: None, clamp: 0.0 });
    state.sides = Rect { x0: 0, y0: 0, x1: 8, y1: 8 };
    let far = [[0.9, 0.8, 0.0, 1.0], [1.0, 0.8, 0.0, 1.0], [0.9, 1.0, 0.0, 1.0]];
    let mut v = vertices(&[TRIANGLE, far].concat());
    let got = made(&state, &mut v, &[0, 1, 2, 3, 4, 5]).expect("triangles");
    assert_eq!(got.iter().map(|p| p.bias).collect::<Vec<_>>(), [0.25], "the second is off the sides");
}

#[test]
fn the_offset_of_a_steep_triangle_is_not_lost() {
    let mut state = state(Topology::Triangles);
    state.depth_clip = None;
    let steep = [[-1.0, -1.0, -4096.0, 1.0], [1.0, -1.0, 4096.0, 1.0], [-1.0, 1.0, -4096.0, 1.0]];
    let depth = |state: &PrimitiveState| {
        let got = made(state, &mut vertices(&steep), &[0, 1, 2]).expect("a triangle");
        got[0].depth_at([31, 0], [0, 0])
    };
    let before = depth(&state);
    state.offset = Some(PolygonOffset { scale: 0.0, units: 1e-4, float_depth: None, clamp: 0.0 });
    assert!((depth(&state) - before - 1e-4).abs() < 1e-5, "{} and {before}", depth(&state));
}

#[test]
fn points_beyond_the_sides_are_dropped_whole_and_others_reach_beyond() {
    let mut state = state(Topology::Points);
    let points = [[0.99, 0.0, 0.0, 1.0], [1.01, 0.0, 0.0, 1.0], [0.0, -1.01, 0.0, 1.0]];
    let bounds = |state: &PrimitiveState| -> Vec<Rect> {
        let got = made(state, &mut vertices(&points), &[0, 1, 2]).expect("points");
        got.iter().map(|point| point.shape.bounds).collect()
    };
    assert_eq!(bounds(&state), [Rect { x0: 62, y0: 30, x1: 66, y1: 34 }]);
    state.cut = Sides::Pixels;
    let inside = [[62, 30, 64, 34], [62, 30, 64, 34], [30, 0, 34, 2]];
    assert_eq!(bounds(&state), inside.map(|[x0, y0, x1, y1]| Rect { x0, y0, x1, y1 }));
}

#[test]
fn wide_lines_beyond_the_sides_are_dropped_whole_and_others_reach_beyond() {
    let mut state = state(Topology::Lines);
    state.line_width = 5.0;
    let lines =
        [[-0.5, 0.99, 0.0, 1.0], [0.5, 0.99, 0.0, 1.0], [-0.5, 1.01, 0.0, 1.0], [0.5, 1.01, 0.0, 1.0]];
    let rows = |state: &PrimitiveState| -> Vec<[i32; 2]> {
        let got = made(state, &mut vertices(&lines), &[0, 1, 2, 3]).expect("lines");
        got.iter().map(|line| [line.shape.bounds.y0, line.shape.bounds.y1]).collect()
    };
    assert_eq!(rows(&state), [[61, 66]]);
    state.cut = Sides::Pixels;
    assert_eq!(rows(&state), [[61, 64], [62, 64]]);
}

#[test]
fn two_corners_make_a_rectangle_with_separable_coordinates() {
    let state = state(Topology::Rectangles);
    let mut v = vertices(&[[-1.0, 1.0, 0.0, 1.0], [1.0, -1.0, 0.0, 1.0]]);
    let got = made(&state, &mut v, &[0, 1]).expect("a rectangle");
    assert_eq!(got.len(), 1);
    assert_eq!(got[0].shape.bounds, Rect { x0: 0, y0: 0, x1: 64, y1: 64 });
    let across = v.varyings(got[0].vertices[2]).to_vec();
    assert_eq!(across, [1.0f32.to_bits(), 1.0f32.to_bits()], "s follows x, t stays");
}

#[test]
fn a_triangle_through_the_eye_is_clipped_and_kept() {
    let state = state(Topology::Triangles);
    let mut v = vertices(&[[0.0, -1.0, 0.0, -1.0], [1.0, 1.0, 0.0, 1.0], [-1.0, 1.0, 0.0, 1.0]]);
    let got = made(&state, &mut v, &[0, 1, 2]).expect("triangles");
    assert!(!got.is_empty() && got.iter().all(|p| p.planes.inv_w.iter().all(|w| w.is_finite())));
}

#[test]
fn points_take_their_size_from_where_the_type_says() {
    let mut v = vertices(&[[0.0, 0.0, 0.0, 1.0]]);
    let fixed = made(&state(Topology::Points), &mut v, &[0]).expect("points");
    assert_eq!(fixed[0].shape.bounds.area(), 16);
    let own = made(&state(Topology::SizedPoints), &mut v, &[0]).expect("points");
    assert_eq!(own[0].shape.bounds.area(), 9);
}

#[test]
fn outlines_are_offset_like_the_triangle() {
    let mut state = state(Topology::Triangles);
    state.offset = Some(PolygonOffset { scale: 0.0, units: 0.25, float_depth: None, clamp: 0.0 });
    for (mode, count) in [(PolygonMode::Fill, 1), (PolygonMode::Lines, 3), (PolygonMode::Points, 3)] {
        state.polygon_mode = [mode; 2];
        let mut vertices = vertices(&[[-0.5, -0.5, 0.0, 1.0], [0.5, -0.5, 0.0, 1.0], [0.0, 0.5, 0.0, 1.0]]);
        let made = made(&state, &mut vertices, &[0, 1, 2]).unwrap();
        let depths: Vec<f32> = made.iter().map(|p| p.bias).collect();
        assert_eq!(depths, vec![0.25; count], "{mode:?}");
    }
}

/// The slope is that of the triangle, also for its lines and points.
#[test]
fn outlines_have_the_slope_of_the_triangle() {
    let mut state = state(Topology::Triangles);
    state.offset = Some(PolygonOffset { scale: 2.0, units: 0.25, float_depth: None, clamp: 0.0 });
    let mut biases = |mode| {
        state.polygon_mode = [mode; 2];
        let mut vertices = vertices(&[[-0.5, -0.5, 0.0, 1.0], [0.5, -0.5, 0.5, 1.0], [0.0, 0.5, 0.25, 1.0]]);
        let made = made(&state, &mut vertices, &[0, 1, 2]).unwrap();
        made.iter().map(|p| p.bias).collect::<Vec<f32>>()
    };
    let filled = biases(PolygonMode::Fill);
    assert!(filled.len() == 1 && filled[0] > 0.25, "{filled:?}");
    assert_eq!([PolygonMode::Lines, PolygonMode::Points].map(&mut biases), [(); 2].map(|()| [filled[0]; 3]));
}

#[test]
fn offset_adds_slope_and_units() {
    let offset = PolygonOffset { scale: 2.0, units: 0.25, float_depth: None, clamp: 0.0 };
    assert_eq!(offset.bias([-0.5, 0.25], 1.0), 1.25);
    let clamped = PolygonOffset { clamp: 0.5, ..offset };
    assert_eq!(clamped.bias([-0.5, 0.25], 1.0), 0.5);
}

/// Returns the varying at pixel centre (x, y), with or without perspective.
fn varying(v: &Vertices, p: &ScreenPrimitive, perspective: Perspective, [x, y]: [f32; 2]) -> f32 {
    let at = |w: &Affine| w.at + w.dx * (x - p.planes.base[0]) + w.dy * (y - p.planes.base[1]);
    let (mut i, mut j) = (at(&p.planes.i), at(&p.planes.j));
    if perspective == Perspective::Yes {
        let [w0, w1, w2] = p.planes.inv_w;
        let w = w0 + i * (w1 - w0) + j * (w2 - w0);
        (i, j) = (i * w1 / w, j * w2 / w);
    }
    let [a, b, c] = p.vertices.map(|row| f32::from_bits(v.varyings(row)[0]));
    a + i * (b - a) + j * (c - a)
}

#[derive(Clone, Copy, PartialEq)]
enum Perspective {
    Yes,
    No,
}

#[test]
fn linear_values_of_a_clipped_triangle_are_those_of_the_whole() {
    // The third vertex is in front of the near plane, w = 1/2; its varying x is 1/2.
    let corners = [[-1.0, -1.0, 0.0, 1.0], [2.0, -2.0, 0.0, 2.0], [0.5, 0.5, -0.75, 0.5]];
    for (linear, same) in [(Some(LinearWeights), true), (None, false)] {
        let state = PrimitiveState { linear, ..state(Topology::Triangles) };
        let mut v = vertices(&corners);
        let got = made(&state, &mut v, &[0, 1, 2]).expect("triangles");
        assert_eq!(got.len(), 2, "a quadrilateral is left");
        // On the screen the corners are (0, 0), (64, 0), (64, 64) with -1, 2 and 1/2.
        let whole = |[x, y]: [f32; 2]| -1.0 + 3.0 * (x - y) / 64.0 + 1.5 * y / 64.0;
        let worst = [[8.5, 2.5], [60.5, 1.5], [40.5, 20.5]].into_iter().flat_map(|at| {
            let values = got.iter().map(|p| varying(&v, p, Perspective::No, at));
            values.map(move |value| (value - whole(at)).abs()).collect::<Vec<_>>()
        });
        assert_eq!(worst.fold(0.0, f32::max) < 1e-4, same);
    }
}

#[test]
fn a_vertex_behind_the_eye_bends_neither_linear_nor_perspective_values() {
    // The third vertex, w = -1, is projected to (56, 32); the triangle runs off to the left.
    let corners = [[0.5, -0.5, 0.0, 1.0], [0.5, 0.5, 0.0, 1.0], [-0.75, 0.0, 0.5, -1.0]];
    let [whole, cut] = [Some(LinearWeights), None].map(|linear| {
        let state = PrimitiveState { linear, ..state(Topology::Triangles) };
        let mut v = vertices(&corners);
        let got = made(&state, &mut v, &[0, 1, 2]).expect("triangles");
        let piece = got.first().expect("a part is before the eye");
        [Perspective::Yes, Perspective::No].map(|perspective| varying(&v, piece, perspective, [24.5, 32.5]))
    });
    assert!((whole[0] - cut[0]).abs() < 1e-3, "{whole:?} {cut:?}");
    assert!((whole[1] - (0.5 + 1.25 * 23.5 / 8.0)).abs() < 1e-4, "{whole:?}");
}

#[test]
fn a_clipped_triangle_is_outlined_without_its_inner_edges() {
    let mut state = state(Topology::Triangles);
    state.polygon_mode = [PolygonMode::Lines; 2];
    let mut v = vertices(&[[-0.5, -0.5, 0.0, 1.0], [0.5, -0.5, 0.0, 1.0], [0.5, 0.5, -2.0, 1.0]]);
    assert_eq!(made(&state, &mut v, &[0, 1, 2]).expect("lines").len(), 3);
}

#[test]
fn wireframe_draws_the_edges() {
    let mut state = state(Topology::Triangles);
    state.polygon_mode = [PolygonMode::Lines; 2];
    let mut v = vertices(&TRIANGLE.map(|p| [p[0] * 0.5, p[1] * 0.5, p[2], p[3]]));
    let got = made(&state, &mut v, &[0, 1, 2]).expect("lines");
    assert_eq!(got.len(), 3);
}

/// The limit on held bytes is kept for every polygon mode. The results are the first ones.
#[test]
fn set_up_ends_where_there_is_no_more_room() {
    let list: Vec<u32> = (0..300).map(|i| i % 3).collect();
    for mode in [PolygonMode::Fill, PolygonMode::Lines] {
        let state = PrimitiveState { polygon_mode: [mode; 2], ..state(Topology::Triangles) };
        let all = made(&state, &mut vertices(&TRIANGLE), &list).expect("triangles");
        let least = held(&vertices(&TRIANGLE), &list);
        let before = least - LISTED * 200;
        let mut sizes = Vec::new();
        for part in [4, 6, 9] {
            let room = all.len() as u64 * part / 10;
            let limit = before + MADE * room;
            let some = assemble_in(&state, &mut vertices(&TRIANGLE), &list, &[], limit).expect("triangles");
            assert!(all.starts_with(&some.primitives) && some.left_out > 0, "{mode:?}");
            assert!(some.primitives.len() as u64 <= room + 3, "{} of {room}", some.primitives.len());
            sizes.push(some.primitives.len());
        }
        assert!(sizes.is_sorted_by(|a, b| a < b), "{sizes:?}");
        let none = assemble_in(&state, &mut vertices(&TRIANGLE), &list, &[], least - 1).expect("triangles");
        assert_eq!((none.primitives.len(), none.left_out), (0, list.len()));
    }
}

/// Vertices that clipping adds count as held, and so do screen vertices of each viewport.
#[test]
fn vertices_that_setup_adds_count_as_held_bytes() {
    let near: [[f32; 4]; 3] = [[-1.0, -1.0, -3.0, 1.0], [1.0, -1.0, 0.5, 1.0], [-1.0, 1.0, 0.5, 1.0]];
    let list: Vec<u32> = (0..300).map(|i| i % 3).collect();
    let state = state(Topology::Triangles);
    let mut all = vertices(&near);
    assert_eq!(made(&state, &mut all, &list).expect("triangles").len(), 200);
    let added = (all.bytes() - vertices(&near).bytes()) / 100;
    assert_eq!(all.len(), 3 + 200);
    // Bytes held after all but one of the triangles.
    let (lists, screen) = (4 * 300 + LISTED * 100, size_of::<ScreenVertex>() as u64 * (3 + 198));
    let total = lists + vertices(&near).bytes() + 99 * added + screen + MADE * 198;
    for (limit, left_out) in [(total, 0), (total - 1, 1)] {
        let some = assemble_in(&state, &mut vertices(&near), &list, &[], limit).expect("triangles");
        assert_eq!(some.left_out, left_out);
    }
}

#[test]
fn held_bytes_before_setup_include_screen_vertices() {
    let three = vertices(&TRIANGLE);
    let screen = 3 * size_of::<ScreenVertex>() as u64;
    assert_eq!(held(&three, &[0; 9]), three.bytes() + screen + 9 * (4 + LISTED));
}

/// Creates a long list of triangles. `is_clipped` selects the ones with a vertex in front of the near plane.
fn long_list(is_clipped: impl Fn(u32) -> bool) -> (Vertices, Vec<u32>) {
    let mut seed = 7u32;
    let mut random = |from: f32, to: f32| {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        from + (to - from) * (seed >> 8) as f32 / (1 << 24) as f32
    };
    let count = 3 * TRIANGLES;
    let mut position = |v: u32| {
        let z = if v.is_multiple_of(3) && is_clipped(v / 3) { -2.0 } else { random(0.0, 1.0) };
        [random(-1.2, 1.2), random(-1.2, 1.2), z, 1.0]
    };
    (vertices(&(0..count).map(&mut position).collect::<Vec<_>>()), (0..count).collect())
}

const TRIANGLES: u32 = 11 * SETUP_CHUNK as u32 / 2;

/// Numbered primitives are set up one after the other.
#[test]
fn chunks_of_a_list_are_set_up_as_one_after_the_other_is() {
    let plain = state(Topology::Triangles);
    let states = [
        PrimitiveState { cull: [None, Some(Face::Back)], ..plain.clone() },
        PrimitiveState { front_winding: Winding::Clockwise, ..plain.clone() },
        PrimitiveState { polygon_mode: [PolygonMode::Fill, PolygonMode::Lines], ..plain.clone() },
        PrimitiveState {
            offset: Some(PolygonOffset { scale: 2.0, units: 0.1, float_depth: None, clamp: 0.0 }),
            ..plain.clone()
        },
        plain,
    ];
    let lists = [
        long_list(|index| index % 700 == 699),
        long_list(|index| index % 7 == 3),
        long_list(|index| index < TRIANGLES / 5 * 4),
        long_list(|_| false),
    ];
    for (state, (before, list)) in states.iter().flat_map(|state| lists.iter().map(move |list| (state, list)))
    {
        let held = held(before, list);
        let count = u64::from(TRIANGLES);
        let some = (1..24).step_by(5).map(|part| held + MADE * count * part / 8);
        for limit in some.chain([MAX_HELD]) {
            let (mut a, mut b) = (before.clone(), before.clone());
            let chunks = assemble_in(state, &mut a, list, &[], limit).expect("triangles");
            let (single, numbers) = assemble_numbered(state, &mut b, list, &[], limit).expect("triangles");
            assert_eq!((chunks.left_out, a.len()), (single.left_out, b.len()));
            assert!(chunks.primitives == single.primitives, "{state:?} {limit}");
            assert_eq!(numbers.len(), single.primitives.len());
        }
    }
}

/// Tests lists of other triangle types, with indices, and with restarts.
#[test]
fn any_list_of_triangles_is_set_up_as_one_after_the_other_is() {
    let (before, list) = long_list(|index| index % 900 == 899);
    let (unclipped, _) = long_list(|_| false);
    let backwards: Vec<u32> = list.iter().rev().copied().collect();
    let with = |at: &[usize]| {
        let mut list = backwards.clone();
        at.iter().for_each(|at| list[*at] = RESTART);
        list
    };
    let lists = [backwards.clone(), with(&[5000]), with(&[1, 4004]), with(&[list.len() - 1])];
    for topology in [Topology::Triangles, Topology::TriangleStrip, Topology::TriangleFan] {
        for (provoking, vertices, list) in [Provoking::First, Provoking::Last]
            .into_iter()
            .flat_map(|provoking| [&before, &unclipped].map(|vertices| (provoking, vertices)))
            .flat_map(|(provoking, vertices)| lists.iter().map(move |list| (provoking, vertices, list)))
        {
            let state = PrimitiveState { provoking, ..state(topology) };
            let (mut a, mut b) = (vertices.clone(), vertices.clone());
            let chunks = assemble(&state, &mut a, list).expect("triangles");
            let (single, _) = assemble_numbered(&state, &mut b, list, &[], MAX_HELD).expect("triangles");
            assert_eq!((chunks.left_out, single.left_out, a.len()), (0, 0, b.len()));
            assert!(chunks.primitives.len() > 1000 && chunks.primitives == single.primitives, "{topology:?}");
        }
    }
}

#[test]
fn bounds_of_many_primitives_are_those_of_each() {
    let (mut vertices, list) = long_list(|_| false);
    let few = made(&state(Topology::Triangles), &mut vertices, &list).expect("triangles");
    let many: Vec<ScreenPrimitive> = few.iter().cycle().take(10_000).cloned().collect();
    let all = Primitives::new(vertices, many, Vec::new());
    assert_eq!(all.bounds.len(), 10_000);
    assert!(all.bounds.iter().zip(&all.primitives).all(|(bounds, it)| *bounds == it.shape.bounds));
}

/// Set-up uses screen positions that the vertex stage computed.
#[test]
fn vertices_that_have_their_place_keep_it() {
    let state = state(Topology::Triangles);
    let mut v = vertices(&TRIANGLE);
    let want = made(&state, &mut v.clone(), &[0, 1, 2]).expect("a triangle");
    let mut moved = v.clone();
    let projection = state.projection().expect("one for all");
    let mut screen = vec![ScreenVertex::default(); 3];
    projection.place(v.rows_from(0), v.stride(), &mut screen);
    v.place(screen.clone());
    assert_eq!(made(&state, &mut v, &[0, 1, 2]).expect("a triangle"), want);
    screen.iter_mut().for_each(|vertex| vertex.snapped[0] += 8 * 256);
    moved.place(screen);
    let got = made(&state, &mut moved, &[0, 1, 2]).expect("a triangle");
    assert_eq!(got[0].shape.bounds.x0, want[0].shape.bounds.x0 + 8);
    let others = vec![(state.viewport, state.sides)];
    assert!(PrimitiveState { others, ..state }.projection().is_none(), "each chooses");
}

/// Appends two parts with unused vertices. Primitives are unchanged, and unused vertices are dropped.
#[test]
fn primitives_that_are_appended_bring_their_vertices() {
    let state = state(Topology::Triangles);
    let unused = [5.0, 5.0, 0.0, 1.0];
    let parts = [[1.0, 0.5], [0.5, 1.0]].map(|[first, second]: [f32; 2]| {
        let scaled = |scale: f32| TRIANGLE.map(|[x, y, z, w]| [x * scale, y * scale, z, w]);
        let corners = [&scaled(first)[..], &[unused], &scaled(second)].concat();
        let mut vertices = vertices(&corners);
        let primitives = made(&state, &mut vertices, &[4, 5, 6, 0, 1, 2]).expect("triangles");
        Primitives::new(vertices, primitives, Vec::new())
    });
    let mut all = Primitives::to_come(2, &SpareLists::default());
    parts.iter().for_each(|part| all.append(part.clone()));
    assert_eq!((all.vertices.len(), all.primitives.len()), (12, 4));
    assert_eq!(all.extent, all.bounds.iter().copied().reduce(Rect::union).expect("four"));
    let rows = |of: &Primitives, at: usize| {
        let primitive = &of.primitives[at];
        let numbers = primitive.vertices.into_iter().chain([primitive.provoking]);
        numbers.map(|row| of.vertices.row(row).to_vec()).collect::<Vec<_>>()
    };
    for (at, part) in parts.iter().enumerate() {
        for i in 0..2 {
            let here = 2 * at + i;
            assert_eq!(rows(&all, here), rows(part, i));
            assert_eq!(
                (all.bounds[here], &all.primitives[here].shape),
                (part.bounds[i], &part.primitives[i].shape)
            );
        }
    }
}
