//! Captures of strips, for the benchmark and for `tests/geometry/cost.rs`.

use std::path::Path;

use a4emu_decoder::asm::{Bounds, assemble};
use a4emu_decoder::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::Row;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::asm::Disk;
use a4emu_inspect::folders::Folders;

/// Vertices of a strip.
pub const SIZES: [u32; 5] = [4, 8, 16, 32, 64];

/// A shader that computes the vertex that it is asked for: what captures/geometry/many.a4i calls it.
pub const BY_NUMBER: &str = "many";

/// One that counts EmitVertex.
pub const BY_EMIT_VERTEX: &str = "many_by_emit_vertex";

/// A capture whose only draw makes `vertices` in strips of `size`, five points at a time, and
/// does not rasterise them.
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

/// Runs a capture; gives what its geometry shaders cost.
pub fn replay(capture: &[u8]) -> Vec<Row> {
    let mut playback = Playback::default();
    playback.run(Sections::new(capture).expect("a capture"), &mut Renderer, &mut Silent);
    playback.gpu.pipeline.dispatches.rows()
}

/// Warp instructions for each vertex that came out.
pub fn instructions_per_vertex(row: &Row) -> f64 {
    row.cost.instructions as f64 / row.cost.vertices as f64
}

/// Instructions of single runs for each vertex that came out: what
/// docs/hardware/geometry-and-tessellation.md, section 1.3, counts.
pub fn lane_instructions_per_vertex(row: &Row) -> f64 {
    row.cost.lane_instructions as f64 / row.cost.vertices as f64
}
