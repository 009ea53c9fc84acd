//! UCHE: unified cache. A memory model without caches ignores it.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0e80 UCHE_CACHE_MODE_CONTROL { 0..31 VALUE: Hex; }
    0x0e83 UCHE_TRAP_BASE_LO { 0..31 VALUE: Hex; }
    0x0e84 UCHE_TRAP_BASE_HI { 0..31 VALUE: Hex; }
    0x0e88 UCHE_CACHE_STATUS { 0..31 VALUE: Hex; }
    0x0e8a UCHE_INVALIDATE0 { 0..31 VALUE: Hex; }
    /// 0x12 invalidates everything.
    0x0e8b UCHE_INVALIDATE1 { 0..31 VALUE: Hex; }
    0x0e8c UCHE_CACHE_WAYS_VFD { 0..31 VALUE: Hex; }
    flat 0x0e8e UCHE_PERFCTR_UCHE_SEL[8 x 1] as UCHE_PERFCTR_UCHE_SEL { 0..31 VALUE: UchePerfcounterSelect; }
}
