//! Copies that wait: who must not read memory before they are done.

use crate::draw::call::DrawCall;
use crate::draw::fs::batch::reads;
use crate::draw::primitive_cache::ranges;
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::tpl1::state::border_place;
use crate::draw::vertex_stages::VertexStages;
use crate::draw::vs::VertexState;
use crate::gpu::{Gpu, STAGES};

use super::{drain_ahead, flush, unmade};

/// When the draws of the resolve pass are done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Resolves {
    /// At once.
    #[default]
    AtOnce,
    /// When somebody on the chip reads or writes memory that they write, and at the latest at the end of the submit:
    /// for whoever does not look at memory in between. Others may draw meanwhile.
    Late,
    /// As late; and others begin with whatever waits, however little it is. This is slower, and shows what goes wrong
    /// when the command processor does not wait for them.
    Ahead,
}

/// Has what waits done if it writes some of the `len` bytes at `address`, which are about to be read.
pub fn settle(gpu: &mut Gpu, address: u32, len: u64) {
    settle_if(gpu, |buffer| overlap(buffer, (address, len)));
}

/// The same of the programs and border colours of the stages of a draw.
pub(super) fn settle_state(gpu: &mut Gpu, call: &DrawCall) {
    if gpu.pipeline.batch.copies().is_empty() && gpu.pipeline.ahead.is_empty() {
        return;
    }
    let mut places = [[(0, 0); 2]; STAGES.len()];
    for (places, stage) in places.iter_mut().zip(call.pass.stages(&gpu.regs, Some(call.initiator))) {
        let (start, bytes) = CodePlace::of(gpu, stage).in_memory().unwrap_or_default();
        *places = [border_place(&gpu.regs, stage), (start, bytes.into())];
    }
    settle_if(gpu, |buffer| places.as_flattened().iter().any(|place| overlap(buffer, *place)));
}

/// The same of what a vertex stage fetches.
pub(super) fn settle_vertices(gpu: &mut Gpu, vertex: &VertexState) {
    settle_if(gpu, |buffer| {
        ranges(vertex).any(|(at, len)| overlap(buffer, (at, len.into()))) || reads(&vertex.stage, buffer)
    });
}

/// The same of what the stages behind that read.
pub(super) fn settle_stages(gpu: &mut Gpu, stages: &VertexStages, fragment: Option<&StageState>) {
    let hull = stages.tessellation.iter().flat_map(|it| [&it.hull, &it.domain.stage]);
    let behind = hull.chain(stages.geometry.iter().map(|it| &it.stage)).map(|stage| &**stage).chain(fragment);
    settle_if(gpu, |buffer| behind.clone().any(|stage| reads(stage, buffer)));
}

/// Has what waits, or is ahead, done if a buffer that it writes is one of those.
fn settle_if(gpu: &mut Gpu, is_read: impl Fn((u32, u32)) -> bool) {
    if gpu.pipeline.batch.copies().buffers().any(&is_read) {
        flush(gpu);
    } else if gpu.pipeline.ahead.writes(is_read) {
        // Who makes primitives sees memory as it was without those buffers.
        unmade::finish(gpu);
        drain_ahead(gpu);
    }
}

/// Whether what waits, or is ahead, writes a buffer that is one of those.
pub(super) fn waits_for(gpu: &Gpu, is_read: impl Fn((u32, u32)) -> bool) -> bool {
    gpu.pipeline.batch.copies().buffers().any(&is_read) || gpu.pipeline.ahead.writes(is_read)
}

/// Whether a buffer has bytes of this place and length.
pub(super) fn overlap((base, len): (u32, u32), (address, wanted): (u32, u64)) -> bool {
    let (base, address) = (u64::from(base), u64::from(address));
    base < address + wanted && address < base + u64::from(len)
}
