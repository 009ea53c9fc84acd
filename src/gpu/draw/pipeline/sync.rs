//! The waits for queued work: [`finish`] for all of it, and [`sync`] for copies to memory that is about to be read.

use a4emu_decoder::adreno::address::Address;

use crate::draw::call::DrawCall;
use crate::draw::pipeline::DrawContext;
use crate::draw::queue::Writer;
use crate::draw::reads::MemoryRead;
use crate::draw::sp::state::CodePlace;
use crate::generation::readers;
use crate::machine::STAGES;

use super::{geometry, with_queue};

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
    let read = context.read();
    let stages = (read.stages)(call.pass, &context.machine.regs, Some(call.initiator));
    for (places, stage) in places.iter_mut().zip(stages) {
        let (start, bytes) =
            CodePlace::of(readers(context.machine.chip).stage, context.machine.view(), stage)
                .in_memory()
                .unwrap_or_default();
        let (border, of_border) = (read.border_place)(&context.machine.regs, stage);
        *places = [MemoryRead::Bytes(border, of_border), MemoryRead::Bytes(start, bytes.into())];
    }
    sync(context, places.as_flattened().iter().copied());
}
