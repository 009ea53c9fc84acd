//! Captures of strips, for the benchmark and for `tests/geometry/cost.rs`.

use std::path::Path;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::CostRow;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_support::folders::Folders;

/// Numbers of vertices in a strip.
pub const SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// A shader that computes the vertex with a given number; its name in captures/geometry/many.a4i.
pub const BY_NUMBER: &str = "many";

/// A shader that counts EmitVertex; its name in captures/geometry/many.a4i.
pub const BY_EMIT_VERTEX: &str = "many_by_emit_vertex";

/// A capture whose single draw makes `vertices` in strips of `size`, five points at a time, without
/// rasterising them.
pub fn capture(form: &str, size: u32, vertices: u32) -> Vec<u8> {
    let name = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/geometry/strips.a4");
    let instances = vertices / 5 / size;
    let text = format!(
        "include \"many.a4i\"
         use {form}(gs, {size})
         buffer main {{
             use frame(target, SIZE, SIZE)
             RB_RENDER_CONTROL {{ DISABLE_COLOR_PIPE }}
             use draw_many(gs, {size}, {instances})
         }}
         submit main"
    );
    let mut disk = Disk::new(Folders::new([Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")]));
    assemble(&name.display().to_string(), &text, &mut disk, Bounds::default())
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Runs a capture. Returns the cost of its geometry shaders.
pub fn replay(capture: &[u8]) -> Vec<CostRow> {
    let mut playback = Playback::default();
    playback.run(Sections::new(capture).expect("a capture"), &mut Renderer, &mut Silent);
    playback.gpu.pipeline.dispatches.rows()
}

/// Number of warp instructions for each output vertex.
pub fn instructions_per_vertex(row: &CostRow) -> f64 {
    row.cost.instructions as f64 / row.cost.vertices as f64
}

/// Number of lane instructions for each output vertex, as counted in
/// docs/hardware/geometry-and-tessellation.md, section 1.3.
pub fn lane_instructions_per_vertex(row: &CostRow) -> f64 {
    row.cost.lane_instructions as f64 / row.cost.vertices as f64
}
