//! Warps that a draw leaves for the next one with the same program.

use std::sync::{Arc, Mutex, PoisonError};

use crate::shader::Warp;

/// Warps of one program, in no order.
#[derive(Clone, Default)]
pub struct SpareWarps(Arc<Mutex<Vec<Warp>>>);

/// Warps that are kept: one for each thread of a large machine.
const MAX_SPARE: usize = 64;

impl SpareWarps {
    /// One of them.
    pub fn take(&self) -> Option<Warp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Leaves `warp`.
    pub fn leave(&self, warp: Warp) {
        let mut warps = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if warps.len() < MAX_SPARE {
            warps.push(warp);
        }
    }
}
