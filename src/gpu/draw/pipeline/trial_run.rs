//! Trial runs: a tool can look at a draw before it runs, and the machine stays unchanged.

use crate::budget::Work;
use crate::draw::stop::{Stop, charge};
use crate::gpu::Gpu;

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
    gpu: &mut Gpu,
    tile_memory: TileMemory,
    look: impl FnOnce(&mut Gpu) -> Result<R, Stop>,
) -> Result<R, Stop> {
    finish(gpu);
    let overlay = gpu.mem.overlay();
    let made = overlay.overlay_cost();
    let is_copied = tile_memory == TileMemory::Copied;
    let copied = if is_copied { gpu.gmem.len() as u64 / 16 } else { 0 };
    charge(&mut gpu.budget, Work::Copy16, made + copied)?;
    let (mem, gmem) = (std::mem::replace(&mut gpu.mem, overlay), is_copied.then(|| gpu.gmem.clone()));
    let (counters, written_back) = (gpu.counters, std::mem::take(&mut gpu.written_back));
    let fresh = Pipeline {
        programs: std::mem::take(&mut gpu.pipeline.programs),
        gs_dispatch: gpu.pipeline.gs_dispatch,
        untimed: true,
        ..Pipeline::default()
    };
    let pipeline = std::mem::replace(&mut gpu.pipeline, fresh);
    let result = look(gpu);
    let programs = std::mem::take(&mut gpu.pipeline.programs);
    gpu.pipeline = Pipeline { programs, ..pipeline };
    let mut overlay = std::mem::replace(&mut gpu.mem, mem);
    (gpu.counters, gpu.written_back) = (counters, written_back);
    if let Some(gmem) = gmem {
        gpu.gmem = gmem;
    }
    if overlay.was_cut() {
        gpu.report.cut("there is no room for a copy of all that is stored while a draw is looked at", gpu.at);
    }
    gpu.budget.settle(Work::Copy16, overlay.overlay_cost() - made);
    result
}
