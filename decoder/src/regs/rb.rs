//! RB: render backend.
use crate::bits::*;

registers! {
    /// Bin size and where the targets live.
    0x20a0 RB_MODE_CONTROL { 0..5 WIDTH: Shl<5>; 8..13 HEIGHT: Shl<5>; 16..16 ENABLE_GMEM: Bool; }
    /// Byte offset in GMEM, or an address in bypass mode.
    0x20a6 RB_MRT[8 x 5].BASE as RB_MRT_BASE { 0..31 VALUE: Hex; }
}
