//! Handles forks: the child gets its own device, with the parent's buffers and a new GPU.
//!
//! All locks of the device are taken around a fork. So the child's copy of the state is complete, and no
//! lock is held by a thread that does not exist in the child. A running submit holds no lock, so the fork
//! does not wait for it.

use std::sync::MutexGuard;

use a4emu_process::summary::Summary;

use crate::arena::{self, Arena};
use crate::device::{Device, Orders, State};
use crate::ffi::{signals, threads};
use crate::file::Object;
use crate::{known, mappings};

/// All locks of the device, and the thread's signals. Fields drop in order: the locks in the reverse of the
/// order in which they were taken, then the signals.
pub struct Held {
    arena: MutexGuard<'static, Arena>,
    #[expect(dead_code, reason = "held only to be released")]
    mapped: mappings::Guard,
    summary: MutexGuard<'static, Summary>,
    state: MutexGuard<'static, State>,
    #[expect(dead_code, reason = "held only to be released")]
    signals: signals::Held,
}

/// Takes all locks.
pub fn hold(device: &'static Device) -> Held {
    let signals = signals::hold();
    let state = device.state();
    let summary = device.summary();
    let mapped = mappings::lock();
    let arena = arena::lock(&device.arena);
    arena.show_all();
    Held { arena, mapped, summary, state, signals }
}

impl Held {
    /// Called in the child: separates the state that must not be shared with the parent.
    pub fn part_from_parent(mut self) {
        known::own();
        threads::part_from_parent();
        *self.summary = Summary::default();
        self.arena.part_from_parent();
        let lost = self.state.ring.part_from_parent();
        self.state.orders = Orders::default();
        self.state.places.part_from_parent();
        for object in self.state.objects.values_mut() {
            match object {
                Object::File(file) => file.queues.end_all(),
                Object::Kgsl(file) => file.part_from_parent(),
                _ => {}
            }
        }
        drop(self);
        // Submits of the parent's other threads own buffers. Dropping them locks the arena.
        drop(lost);
    }
}
