//! Catches a warp for a debugger.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::memory::{OwnMemory, ShaderMemory};
use a4emu_shader::Warp;

/// Finds a lane in a warp.
type FindsLane = dyn Fn(&Warp) -> Option<usize> + Send + Sync;

/// Selects a warp of a launch.
pub enum Wanted {
    /// The n-th warp to start.
    Number(u32),
    /// The first warp in which this function finds a lane.
    Lane(Box<FindsLane>),
}

/// Takes a warp of a launch before its first instruction, and ends the launch. Jobs run in order, so all
/// earlier work has happened, and no later work.
pub struct Catch {
    wanted: Wanted,
    started: AtomicU32,
    caught: OnceLock<Caught>,
}

/// A warp before its first instruction.
pub struct Caught {
    /// The warp with its registers.
    pub warp: Warp,
    /// Memory of the warp that is not GPU memory.
    pub memory: OwnMemory,
}

impl Catch {
    /// Creates a catch for the `wanted` warp.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, started: AtomicU32::new(0), caught: OnceLock::new() }
    }

    /// Takes the warp that starts, if it is the wanted one.
    pub(super) fn offer(&self, warp: &Warp, memory: &ShaderMemory<'_>) {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let is_it = match &self.wanted {
            Wanted::Number(wanted) => number == *wanted,
            Wanted::Lane(find) => find(warp).is_some(),
        };
        if is_it {
            self.caught.get_or_init(|| Caught { warp: warp.clone(), memory: memory.own() });
        }
    }

    /// Returns whether the warp has been caught.
    pub(super) fn is_caught(&self) -> bool {
        self.caught.get().is_some()
    }

    /// Returns the wanted lane of the warp, or `known` if the lane does not depend on the warp.
    pub fn lane(&self, known: Option<usize>) -> Option<usize> {
        match (&self.wanted, self.caught.get()) {
            (Wanted::Lane(find), Some(caught)) => find(&caught.warp),
            _ => known,
        }
    }

    /// Returns the caught warp.
    ///
    /// # Errors
    /// The number of warps that started, if the wanted one did not come.
    pub fn get(&self) -> Result<&Caught, u32> {
        self.caught.get().ok_or_else(|| self.started.load(Ordering::Relaxed))
    }
}
