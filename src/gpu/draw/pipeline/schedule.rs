//! When draws and resolve copies run, and the reads that must wait for them.

use crate::draw::call::DrawCall;
use crate::draw::fs::batch::reads;
use crate::draw::primitive_cache::ranges;
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::tpl1::state::border_place;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::VertexState;
use crate::gpu::Gpu;
use crate::machine::STAGES;

use super::{drain_submitted, flush, geometry_queue};

/// When draws run. The schedule changes time, never a byte of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// The reference model: a draw runs alone and at once, and nothing that was derived for an earlier draw is used
    /// again, except lowered programs. All other schedules are compared with it. The same work is done again for
    /// each tile, so a run spends more of its budget.
    Reference,
    /// Draws to tile memory wait for each other. Resolves run at once, so memory is up to date after each packet.
    #[default]
    InOrder,
    /// Resolves run when the chip accesses the memory that they write, and at the latest at the end of the
    /// submit. Callers must not look at memory in between. Worker threads may draw meanwhile.
    Deferred,
    /// Resolves are deferred, and even the smallest batch goes to worker threads. This is slower. It finds places
    /// where the command processor does not wait as it should.
    Stress,
}

impl Schedule {
    /// Returns whether resolves wait, and draws of one tile may run while later packets do.
    pub fn defers(self) -> bool {
        matches!(self, Self::Deferred | Self::Stress)
    }
}

/// Waits until no deferred copy still has to write to the `len` bytes at `address`. Call it before the chip
/// reads them.
pub fn flush_for_read(gpu: &mut Gpu, address: u32, len: u64) {
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
    if gpu.pipeline.batch.copies().buffers().any(&is_read) {
        flush(gpu);
    } else if gpu.pipeline.submitted.writes(is_read) {
        // Queued geometry uses the memory as it was before these copies, so it must finish first.
        geometry_queue::finish(gpu);
        drain_submitted(gpu);
    }
}

/// Returns whether queued or submitted draws write to a buffer for which `is_read` is true.
pub(super) fn has_pending_write(gpu: &Gpu, is_read: impl Fn((u32, u32)) -> bool) -> bool {
    gpu.pipeline.batch.copies().buffers().any(&is_read) || gpu.pipeline.submitted.writes(is_read)
}

/// Returns whether a buffer overlaps a range of memory. Both are an address and a length in bytes.
pub(super) fn overlap((base, len): (u32, u32), (address, wanted): (u32, u64)) -> bool {
    let (base, address) = (u64::from(base), u64::from(address));
    base < address + wanted && address < base + u64::from(len)
}
