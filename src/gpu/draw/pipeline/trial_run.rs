//! Trial runs: a tool can look at a draw before it runs, and the machine stays unchanged.

use crate::budget::Work;
use crate::draw::pipeline::DrawContext;
use crate::draw::stop::{Stop, charge};

use super::Pipeline;
use super::sync::finish;

/// What happens to tile memory during a trial run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TileMemory {
    /// The trial run does not write tile memory.
    Untouched,
    /// The trial run writes a copy, which is discarded.
    Copied,
}

/// Calls `look`, which may run any part of the next draw or dispatch. Discards its memory writes, its tile
/// memory writes and its changes to counters and caches. Faults and costs are kept.
///
/// # Errors
/// Errors of `look`, or an exhausted budget.
pub(super) fn trial_run<R>(
    context: &mut DrawContext<'_>,
    tile_memory: TileMemory,
    look: impl FnOnce(&mut DrawContext<'_>) -> Result<R, Stop>,
) -> Result<R, Stop> {
    finish(context);
    let overlay = context.machine.mem.overlay();
    let made = overlay.overlay_cost();
    let is_copied = tile_memory == TileMemory::Copied;
    let copied = if is_copied { context.machine.gmem.len() as u64 / 16 } else { 0 };
    charge(&mut context.machine.budget, Work::Copy16, made + copied)?;
    let (mem, gmem) = (
        std::mem::replace(&mut context.machine.mem, overlay),
        is_copied.then(|| context.machine.gmem.clone()),
    );
    let (counters, written_back) =
        (context.machine.counters, std::mem::take(&mut context.machine.written_back));
    let fresh = Pipeline {
        programs: std::mem::take(&mut context.pipeline.programs),
        gs_dispatch: context.pipeline.gs_dispatch,
        untimed: true,
        ..Pipeline::default()
    };
    let pipeline = std::mem::replace(context.pipeline, fresh);
    let result = look(context);
    let programs = std::mem::take(&mut context.pipeline.programs);
    *context.pipeline = Pipeline { programs, ..pipeline };
    let mut overlay = std::mem::replace(&mut context.machine.mem, mem);
    (context.machine.counters, context.machine.written_back) = (counters, written_back);
    if let Some(gmem) = gmem {
        context.machine.gmem = gmem;
    }
    if overlay.was_cut() {
        context.machine.cut("there is no room for a copy of all that is stored while a draw is looked at");
    }
    context.machine.budget.settle(Work::Copy16, overlay.overlay_cost() - made);
    result
}
