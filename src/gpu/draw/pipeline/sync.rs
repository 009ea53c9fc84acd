//! The waits for queued work: [`finish`] for all of it, and [`sync`] for copies to memory that is about to be read.

use a4emu_decoder::adreno::address::Address;

use crate::draw::call::DrawCall;
use crate::draw::pipeline::DrawContext;
use crate::draw::primitive_cache::ranges;
use crate::draw::queue::Writer;
use crate::draw::queue::batch::reads;
use crate::draw::sp::state::{CodePlace, StageState};
use crate::draw::tpl1::state::border_place;
use crate::draw::vs::VertexState;
use crate::machine::STAGES;

use super::{geometry, with_queue};

/// A read of memory by the chip.
#[derive(Clone, Copy)]
pub(crate) enum MemoryRead<'a> {
    /// So many bytes at an address.
    Bytes(Address, u64),
    /// Indices and attributes of a draw.
    Fetch(&'a VertexState),
    /// What the program of a stage loads and samples.
    Stage(&'a StageState),
}

impl<'a> MemoryRead<'a> {
    /// The reads of vertex fetch and vertex shader.
    pub(super) fn of_vertices(vertex: &'a VertexState) -> [Self; 2] {
        [Self::Fetch(vertex), Self::Stage(&vertex.stage)]
    }

    /// Returns whether bytes of a buffer (address and length) may be read.
    fn is_of(self, buffer: (u32, u32)) -> bool {
        match self {
            Self::Bytes(address, len) => {
                address.narrow().is_some_and(|address| overlap(buffer, (address, len)))
            }
            Self::Fetch(vertex) => ranges(vertex).any(|(at, len)| overlap(buffer, (at, len.into()))),
            Self::Stage(stage) => reads(stage, buffer),
        }
    }
}

/// Completes all queued work. Call it before a read of tile memory or counters, and before a write of memory that
/// shaders may read.
pub(crate) fn finish(context: &mut DrawContext<'_>) {
    geometry::finish(context);
    with_queue(context, |queue, store| queue.finish(store));
}

/// Completes queued work that writes memory of `reads`. Call it before the chip reads that.
pub(crate) fn sync<'a>(
    context: &mut DrawContext<'_>,
    reads: impl IntoIterator<Item = MemoryRead<'a>, IntoIter: Clone>,
) {
    let reads = reads.into_iter();
    match context.pipeline.queue.writer(|buffer| reads.clone().any(|read| read.is_of(buffer))) {
        None => {}
        Some(Writer::Waiting) => finish(context),
        Some(Writer::Submitted) => {
            // Queued geometry uses the memory as it was before these copies, so it must finish first.
            geometry::finish(context);
            with_queue(context, |queue, store| queue.finish_submitted(store));
        }
    }
}

/// As [`sync`], for the programs and border colours of the stages of a draw.
pub(super) fn sync_state(context: &mut DrawContext<'_>, call: &DrawCall) {
    if !context.pipeline.has_queued_copies() {
        return;
    }
    let mut places = [[MemoryRead::Bytes(Address::new(0), 0); 2]; STAGES.len()];
    let stages = call.pass.stages(&context.machine.regs, Some(call.initiator));
    for (places, stage) in places.iter_mut().zip(stages) {
        let (start, bytes) = CodePlace::of(context.machine.view(), stage).in_memory().unwrap_or_default();
        let (border, of_border) = border_place(&context.machine.regs, stage);
        *places =
            [MemoryRead::Bytes(border.into(), of_border), MemoryRead::Bytes(start.into(), bytes.into())];
    }
    sync(context, places.as_flattened().iter().copied());
}

/// Returns whether a buffer overlaps a range of memory. Both are an address and a length in bytes.
fn overlap((base, len): (u32, u32), (address, wanted): (u32, u64)) -> bool {
    let (base, address) = (u64::from(base), u64::from(address));
    base < address + wanted && address < base + u64::from(len)
}
