//! Measures the cost of a geometry shader's vertex, for strips of 4 to 64 vertices.
//!
//! One shader computes the vertex with a given number. The other counts EmitVertex, and so runs through all
//! vertices before it (docs/hardware/geometry-and-tessellation.md, section 1.3).

#[path = "geometry/strips.rs"]
mod strips;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use strips::{
    BY_EMIT_VERTEX, BY_NUMBER, SIZES, capture, instructions_per_vertex, lane_instructions_per_vertex, replay,
};

/// Number of vertices that every case makes.
const VERTICES: u32 = 5 << 14;

/// Prints the instructions that the chip would run, and their number with 32 lanes.
fn table(form: &str) {
    println!(
        "{form}\n  size  vertices      runs     warps  warp instructions  of them a vertex  lane instructions a vertex"
    );
    for size in SIZES {
        for row in replay(&capture(form, size, VERTICES)) {
            println!(
                "{size:6} {:9} {:9} {:9} {:18} {:17.3} {:25.1}",
                row.cost.vertices,
                row.cost.runs,
                row.cost.warps,
                row.cost.instructions,
                instructions_per_vertex(&row),
                lane_instructions_per_vertex(&row)
            );
        }
    }
}

fn geometry(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("geometry");
    group.throughput(Throughput::Elements(VERTICES.into()));
    for form in [BY_NUMBER, BY_EMIT_VERTEX] {
        table(form);
        for size in SIZES {
            let capture = capture(form, size, VERTICES);
            let id = BenchmarkId::new(form, size);
            group.bench_with_input(id, &capture, |bencher, capture| bencher.iter(|| replay(capture)));
        }
    }
    group.finish();
}

criterion_group!(benches, geometry);
criterion_main!(benches);
