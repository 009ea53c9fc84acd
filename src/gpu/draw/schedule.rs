//! When draws run.

/// When draws run. The schedule changes time, never a byte of the result.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Schedule {
    /// The reference model: a draw runs alone and at once, and nothing that was derived for an earlier draw is used
    /// again, except lowered programs. All other schedules are compared with it. The same work is done again for
    /// each tile, so a run spends more of its budget.
    Reference,
    /// Draws to tile memory wait for each other. Resolves run at once, so memory is up to date after each packet.
    #[default]
    InOrder,
    /// Resolves run when the chip accesses the memory that they write, and at the latest at the end of the
    /// submit. Callers must not look at memory in between. Worker threads may draw meanwhile.
    Deferred,
    /// Resolves are deferred, and even the smallest batch goes to worker threads. This is slower. It finds places
    /// where the command processor does not wait as it should.
    Stress,
}

impl Schedule {
    /// Returns whether resolves wait, and draws of one tile may run while later packets do.
    pub fn defers(self) -> bool {
        matches!(self, Self::Deferred | Self::Stress)
    }
}
