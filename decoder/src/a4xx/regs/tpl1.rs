//! TPL1: texture pipe.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0f00 TPL1_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    /// 0x3a from the driver, 0x38 from computerator.
    0x0f03 TPL1_TP_MODE_CONTROL { 0..31 VALUE: Hex; }
    flat 0x0f04 TPL1_PERFCTR_TP_SEL[8 x 1] as TPL1_PERFCTR_TP_SEL { 0..31 VALUE: TpPerfcounterSelect; }
    0x2380 TPL1_TP_TEX_OFFSET { 0..31 VALUE: Hex; }
    0x2381 TPL1_TP_TEX_COUNT { 0..7 VS: Uint; 8..15 HS: Uint; 16..23 DS: Uint; 24..31 GS: Uint; }
    0x2384 TPL1_TP_VS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    0x2387 TPL1_TP_HS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    0x238a TPL1_TP_DS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    0x238d TPL1_TP_GS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    0x23a0 TPL1_TP_FS_TEX_COUNT { 0..7 FS: Uint; 8..15 CS: Uint; }
    /// Border colours of the stage: 64 bytes per sampler slot.
    0x23a1 TPL1_TP_FS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    0x23a4 TPL1_TP_CS_BORDER_COLOR_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    /// The vendor's driver: samplers are fetched from here.
    0x23a5 TPL1_TP_CS_SAMPLER_BASE_ADDR { 0..31 VALUE: Addr<0>; }
    /// The vendor's driver: texture descriptors are fetched from here.
    0x23a6 TPL1_TP_CS_TEXMEMOBJ_BASE_ADDR { 0..31 VALUE: Addr<0>; }
}
