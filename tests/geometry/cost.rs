//! Geometry shaders: the two forms of docs/hardware/geometry-and-tessellation.md, section 1.3, draw equal
//! pictures, and have different costs.

#[path = "../../benches/geometry/strips.rs"]
mod strips;

use std::path::Path;

use a4emu::check::open;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::{Cost, CostRow};
use a4emu_gpu::playback::Playback;
use a4emu_inspect::golden::Frame;
use a4emu_support::folders::Folders;
use pretty_assertions::assert_eq;
use strips::{
    BY_EMIT_VERTEX, BY_NUMBER, SIZES, capture, instructions_per_vertex, lane_instructions_per_vertex, replay,
};

/// Enough vertices for every lane of many warps, for strips of any size.
const VERTICES: u32 = 5 << 8;

/// The frame of a scene, and the cost of its only geometry shader.
fn scene(name: &str) -> (Frame, Cost) {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let source = ours.join(format!("geometry/{name}.a4"));
    let sections = open(&source, &Folders::around(&source, &[ours])).expect("a good source");
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    let rows = playback.gpu.pipeline.dispatches.rows();
    let [row] = rows[..] else { panic!("{name}: {rows:?}") };
    (Frame::of(playback.gpu.sync()).expect("a frame"), row.cost)
}

#[test]
fn emit_vertex_draws_what_the_vertex_number_draws_and_costs_more() {
    let (by_number, cost) = scene("gs-explode");
    let (by_emit_vertex, more) = scene("gs-emit-vertex");
    assert!(by_number == by_emit_vertex, "the frames differ");
    assert_eq!((cost.runs, cost.vertices), (more.runs, more.vertices));
    // The last of 9 vertices runs the loop 9 times.
    assert!(more.instructions > 5 * cost.instructions, "{} and {}", cost.instructions, more.instructions);
}

#[test]
fn a_scene_reports_a_run_for_each_vertex() {
    let (_, cost) = scene("gs-many");
    assert_eq!((cost.primitives, cost.invocations, cost.vertices), (5, 5, 5 * 64));
    assert_eq!(cost.runs, cost.vertices);
}

/// Number of instructions for each vertex, for strips of all sizes.
fn costs(form: &str, per_vertex: fn(&CostRow) -> f64) -> Vec<f64> {
    let row = |size| {
        let rows = replay(&capture(form, size, VERTICES));
        let [row] = rows[..] else { panic!("{rows:?}") };
        assert_eq!(row.cost.vertices, u64::from(VERTICES), "strips of {size}");
        per_vertex(&row)
    };
    SIZES.into_iter().map(row).collect()
}

#[test]
fn a_vertex_costs_no_more_in_a_longer_strip() {
    for per_vertex in [instructions_per_vertex, lane_instructions_per_vertex] {
        let costs = costs(BY_NUMBER, per_vertex);
        assert!(costs.iter().all(|cost| *cost <= costs[0]), "{costs:?}");
    }
}

/// Emulating EmitVertex costs the square of a primitive's vertices. Parallel lanes hide a part of it.
#[test]
fn a_vertex_that_is_counted_to_costs_what_those_before_it_cost() {
    let runs = costs(BY_EMIT_VERTEX, lane_instructions_per_vertex);
    assert!(runs[4] > 8.0 * runs[0], "{runs:?}");
    let warps = costs(BY_EMIT_VERTEX, instructions_per_vertex);
    assert!(warps[4] > 2.0 * warps[0], "{warps:?}");
}
