//! Warps that a draw leaves for the next one with the same program.

use std::sync::{Arc, Mutex, PoisonError};

use crate::shader::Warp;

/// Warps of one program, in no order.
#[derive(Clone, Default)]
pub struct SpareWarps(Arc<Mutex<Vec<Warp>>>);

/// Warps that are kept: some for each thread of a large machine.
const MAX_SPARE: usize = 256;

impl SpareWarps {
    /// One of them.
    pub fn take(&self) -> Option<Warp> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop()
    }

    /// Leaves `warp`.
    pub fn leave(&self, warp: Warp) {
        self.leave_all([warp]);
    }

    /// Leaves all of `warps`.
    pub fn leave_all(&self, warps: impl IntoIterator<Item = Warp>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let room = MAX_SPARE.saturating_sub(kept.len());
        kept.extend(warps.into_iter().take(room));
    }
}
