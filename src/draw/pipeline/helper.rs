//! A thread that is woken before there is something for it to do: to wake one takes as long as to draw a band.
//!
//! It changes nothing but when things are done.

use std::time::{Duration, Instant};

use rayon::Yield;

use crate::gpu::Gpu;

/// How long somebody who finds nothing to help with stays awake, for what is about to begin.
pub(super) const AWAKE: Duration = Duration::from_micros(200);

/// Vertices of a draw from which on they are much to shade.
const MANY_VERTICES: u64 = 2048;

/// Times that tile memory is drawn to anew until a draw of many vertices is not expected any more.
const MEMORY: u32 = 16;

/// Whether a draw of many vertices is expected: most frames are like the one before.
#[derive(Default)]
pub(super) struct Expected(u32);

/// So many vertices are about to be shaded: if that is much, somebody is woken to help, who does no harm if there is
/// nothing for him.
pub(super) fn shades(gpu: &mut Gpu, vertices: u64) {
    if vertices >= MANY_VERTICES {
        gpu.pipeline.expected.0 = MEMORY;
        rouse();
    }
}

/// There is enough to draw for more than one thread, and nobody does it yet: where many vertices are expected, somebody
/// is woken now.
pub(super) fn begins(gpu: &mut Gpu) {
    let Expected(left) = &mut gpu.pipeline.expected;
    if *left > 0 {
        *left -= 1;
        rouse();
    }
}

/// Wakes a thread that does nothing.
fn rouse() {
    let mine = rayon::current_thread_index();
    if mine.is_some() && rayon::current_num_threads() > 1 {
        rayon::spawn(move || {
            // Whoever has work of his own is awake.
            if rayon::current_thread_index() != mine {
                stay_awake();
            }
        });
    }
}

/// Helps with what there is, until there has been nothing for a while.
fn stay_awake() {
    let mut idle_since = Instant::now();
    while idle_since.elapsed() < AWAKE {
        match rayon::yield_now() {
            Some(Yield::Executed) => idle_since = Instant::now(),
            _ => std::thread::yield_now(),
        }
    }
}
