//! UCHE: unified cache.
use crate::a6xx::enums::*;
use crate::bits::*;

register_rows! {
    0x0e00 UCHE_ADDR_MODE_CNTL { 0..31 VALUE: AddressMode; }
    0x0e01 UCHE_MODE_CNTL {}
    wide 0x0e05 UCHE_WRITE_RANGE_MAX {}
    wide 0x0e07 UCHE_WRITE_THRU_BASE {}
    wide 0x0e09 UCHE_TRAP_BASE {}
    wide 0x0e0b UCHE_GMEM_RANGE_MIN {}
    wide 0x0e0d UCHE_GMEM_RANGE_MAX {}
    0x0e12 UCHE_UNKNOWN_0E12 {}
    0x0e17 UCHE_CACHE_WAYS {}
    0x0e18 UCHE_FILTER_CNTL {}
    0x0e19 UCHE_CLIENT_PF { 0..7 PERFSEL: Hex; }
    0x0e1c UCHE_PERFCTR_UCHE_SEL[12 x 1] { 0..31 VALUE: UchePerfcounterSelect; }
    0x0e3a UCHE_GBIF_GX_CONFIG {}
    0x0e3c UCHE_CMDQ_CONFIG {}
}
