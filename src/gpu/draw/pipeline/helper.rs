//! A thread that is woken before there is something for it to do: to wake one takes as long as to draw a band.
//!
//! It changes nothing but when things are done.

use crate::gpu::Gpu;
use crate::parallel::{spawn, stay_awake};

/// Vertices of a draw from which on they are much to shade.
const MANY_VERTICES: u64 = 2048;

/// Submits until nobody expects any more that there is something to help with.
const MEMORY: u32 = 4;

/// Whether there will be something to help with: most frames are like the one before.
#[derive(Default)]
pub(super) struct ExpectedDemand(u32);

/// A submit begins: where there was much to do in those before it, somebody is woken who will be there by then.
pub(super) fn begin_submit(gpu: &mut Gpu) {
    let ExpectedDemand(left) = &mut gpu.pipeline.expected;
    if *left > 0 {
        *left -= 1;
        wake_worker();
    }
}

/// There is something to help with.
pub(super) fn is_needed(gpu: &mut Gpu) {
    gpu.pipeline.expected.0 = MEMORY;
}

/// So many vertices are about to be shaded: if that is much, somebody is woken to help, who does no harm if there is
/// nothing for him.
pub(super) fn shades(gpu: &mut Gpu, vertices: u64) {
    if vertices >= MANY_VERTICES {
        is_needed(gpu);
        wake_worker();
    }
}

/// Wakes a thread that does nothing: it helps with what there is, until there has been nothing for a while.
fn wake_worker() {
    let mine = rayon::current_thread_index();
    if mine.is_some() && rayon::current_num_threads() > 1 {
        spawn(move || stay_awake(mine));
    }
}
