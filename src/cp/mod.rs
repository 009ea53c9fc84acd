//! The command processor: packets in, state changes and draws out.

/// The command processor's own state: what is in no register and no memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CpState {
    /// ME scratch RAM (8 slots, apart from the CP_SCRATCH registers).
    pub scratch: [u32; 8],
}
