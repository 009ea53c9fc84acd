//! A warp that somebody waits for: a debugger.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use super::memory::{OwnMemory, ShaderMemory};
use a4emu_shader::Warp;

/// Which warp of a launch is wanted.
pub enum Wanted {
    /// The n-th to start.
    Number(u32),
    /// The first in which this finds a lane.
    Lane(fn(&Warp, [u32; 3]) -> Option<usize>, [u32; 3]),
}

/// Takes a warp of a launch before its first instruction; the launch ends there. Jobs run in order, so what
/// came before it has happened, and nothing of what comes behind.
pub struct Catch {
    wanted: Wanted,
    started: AtomicU32,
    caught: OnceLock<Caught>,
}

/// A warp before its first instruction.
pub struct Caught {
    /// Its registers.
    pub warp: Warp,
    /// What it has besides the memory of the GPU.
    pub memory: OwnMemory,
}

impl Catch {
    /// Waits for the warp that is `wanted`.
    pub fn new(wanted: Wanted) -> Self {
        Self { wanted, started: AtomicU32::new(0), caught: OnceLock::new() }
    }

    /// A warp starts: takes it if it is the one.
    pub(super) fn offer(&self, warp: &Warp, memory: &ShaderMemory<'_>) {
        let number = self.started.fetch_add(1, Ordering::Relaxed);
        let is_it = match self.wanted {
            Wanted::Number(wanted) => number == wanted,
            Wanted::Lane(find, what) => find(warp, what).is_some(),
        };
        if is_it {
            self.caught.get_or_init(|| Caught { warp: warp.clone(), memory: memory.own() });
        }
    }

    /// Whether it has come.
    pub(super) fn is_caught(&self) -> bool {
        self.caught.get().is_some()
    }

    /// The lane that was wanted of the warp; `known` if that does not depend on it.
    pub fn lane(&self, known: Option<usize>) -> Option<usize> {
        match (&self.wanted, self.caught.get()) {
            (Wanted::Lane(find, what), Some(caught)) => find(&caught.warp, *what),
            _ => known,
        }
    }

    /// The warp, or how many there were without it.
    ///
    /// # Errors
    /// It did not come.
    pub fn get(&self) -> Result<&Caught, u32> {
        self.caught.get().ok_or_else(|| self.started.load(Ordering::Relaxed))
    }
}
