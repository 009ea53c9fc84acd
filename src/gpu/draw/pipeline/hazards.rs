//! Reads of memory that must wait for queued copies to it.

use crate::draw::call::DrawCall;
use crate::draw::primitive_cache::ranges;
use crate::draw::queue::Writer;
use crate::draw::queue::batch::reads;
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::tpl1::state::border_place;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::VertexState;
use crate::gpu::Gpu;
use crate::machine::STAGES;

use super::{finish_submitted, flush, geometry};

/// Waits until no deferred copy still has to write to the `len` bytes at `address`. Call it before the chip
/// reads them.
pub(crate) fn flush_for_read(gpu: &mut Gpu, address: u32, len: u64) {
    flush_if_read(gpu, |buffer| overlap(buffer, (address, len)));
}

/// Waits for deferred copies to the programs and border colours of the stages of a draw.
pub(super) fn flush_for_state(gpu: &mut Gpu, call: &DrawCall) {
    if !gpu.pipeline.has_queued_copies() {
        return;
    }
    let mut places = [[(0, 0); 2]; STAGES.len()];
    for (places, stage) in places.iter_mut().zip(call.pass.stages(&gpu.regs, Some(call.initiator))) {
        let (start, bytes) = CodePlace::of(gpu.view(), stage).in_memory().unwrap_or_default();
        *places = [border_place(&gpu.regs, stage), (start, bytes.into())];
    }
    flush_if_read(gpu, |buffer| places.as_flattened().iter().any(|place| overlap(buffer, *place)));
}

/// Waits for deferred copies to the memory that a vertex stage fetches.
pub(super) fn flush_for_vertices(gpu: &mut Gpu, vertex: &VertexState) {
    flush_if_read(gpu, |buffer| {
        ranges(vertex).any(|(at, len)| overlap(buffer, (at, len.into()))) || reads(&vertex.stage, buffer)
    });
}

/// Waits for deferred copies to the memory that the stages after the vertex shader read.
pub(super) fn flush_for_stages(gpu: &mut Gpu, stages: &VertexStages, fragment: Option<&StageState>) {
    let hull = stages.tessellation.iter().flat_map(|it| [&it.hull, &it.domain.stage]);
    let behind = hull.chain(stages.geometry.iter().map(|it| &it.stage)).map(|stage| &**stage).chain(fragment);
    flush_if_read(gpu, |buffer| behind.clone().any(|stage| reads(stage, buffer)));
}

/// Runs the queued and submitted draws if they write to a buffer for which `is_read` is true.
fn flush_if_read(gpu: &mut Gpu, is_read: impl Fn((u32, u32)) -> bool) {
    match gpu.pipeline.queue.writer(is_read) {
        None => {}
        Some(Writer::Waiting) => flush(gpu),
        Some(Writer::Submitted) => {
            // Queued geometry uses the memory as it was before these copies, so it must finish first.
            geometry::finish(gpu);
            finish_submitted(gpu);
        }
    }
}

/// Returns whether a buffer overlaps a range of memory. Both are an address and a length in bytes.
pub(super) fn overlap((base, len): (u32, u32), (address, wanted): (u32, u64)) -> bool {
    let (base, address) = (u64::from(base), u64::from(address));
    base < address + wanted && address < base + u64::from(len)
}
