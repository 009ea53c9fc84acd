//! PC: primitive control, index handling, tessellation.
use super::sets::*;
use crate::a6xx::enums::*;
use crate::bits::*;

register_rows! {
    0x9800 PC_TESS_NUM_VERTEX { 0..31 VALUE: Uint; }
    0x9801 PC_HS_INPUT_SIZE { 0..10 SIZE: Uint; 13..13 UNK13: Bool; }
    0x9802 PC_TESS_CNTL { 0..1 SPACING: TessSpacing; 2..3 OUTPUT: TessOutput; }
    0x9804 PC_MODE_CNTL {}
    0x9805 PC_POWER_CNTL {}
    0x9806 PC_PS_CNTL { 0..0 PRIMITIVEIDEN: Bool; }
    0x9808 PC_SO_STREAM_CNTL { 15..18 STREAM_ENABLE: Hex; }
    0x980a PC_DGEN_SU_CONSERVATIVE_RAS_CNTL { 0..0 CONSERVATIVERASEN: Bool; }
    0x9840 PC_DRAW_CMD { 0..7 STATE_ID: Hex; }
    0x9841 PC_DISPATCH_CMD { 0..7 STATE_ID: Hex; }
    0x9842 PC_EVENT_CMD { 0..6 EVENT: VgtEventType; 16..23 STATE_ID: Hex; }
    0x9880 PC_MARKER {}
    0x9980 PC_RASTER_CNTL { 0..1 STREAM: Uint; 2..2 DISCARD: Bool; }
    0x9981 PC_POLYGON_MODE { 0..1 MODE: PolygonMode; }
    0x9b01 PC_VS_OUT_CNTL { like A6XX_XS_OUT_CNTL }
    0x9b02 PC_GS_OUT_CNTL { like A6XX_XS_OUT_CNTL }
    0x9b03 PC_HS_OUT_CNTL { like A6XX_XS_OUT_CNTL }
    0x9b04 PC_DS_OUT_CNTL { like A6XX_XS_OUT_CNTL }
    0x9b05 PC_PRIMITIVE_CNTL_5 { like A6XX_PRIMITIVE_CNTL_5 }
    0x9b06 PC_PRIMITIVE_CNTL_6 { 0..10 STRIDE_IN_VPC: Uint; }
    0x9b07 PC_MULTIVIEW_CNTL { like A6XX_MULTIVIEW_CNTL }
    0x9b08 PC_MULTIVIEW_MASK {}
    0x9c00 PC_2D_EVENT_CMD { 0..6 EVENT: VgtEventType; 8..15 STATE_ID: Hex; }
    0x9e00 PC_DBG_ECO_CNTL {}
    0x9e01 PC_ADDR_MODE_CNTL { 0..31 VALUE: AddressMode; }
    wide 0x9e04 PC_DRAW_INDX_BASE {}
    0x9e06 PC_DRAW_FIRST_INDX { 0..31 VALUE: Uint; }
    0x9e07 PC_DRAW_MAX_INDICES { 0..31 VALUE: Uint; }
    wide 0x9e08 PC_TESSFACTOR_ADDR {}
    0x9e0b PC_DRAW_INITIATOR { like VGT_DRAW_INITIATOR_A4XX }
    0x9e0c PC_DRAW_NUM_INSTANCES { 0..31 VALUE: Uint; }
    0x9e0d PC_DRAW_NUM_INDICES { 0..31 VALUE: Uint; }
    0x9e11 PC_VSTREAM_CONTROL { 0..15 UNK0: Hex; 16..21 VSC_SIZE: Uint; 22..26 VSC_N: Uint; }
    wide 0x9e12 PC_BIN_PRIM_STRM {}
    wide 0x9e14 PC_BIN_DRAW_STRM {}
    0x9e1c PC_VISIBILITY_OVERRIDE { 0..0 OVERRIDE: Bool; }
    0x9e34 PC_PERFCTR_PC_SEL[8 x 1] { 0..31 VALUE: PcPerfcounterSelect; }
    0x9e72 PC_UNKNOWN_9E72 {}
}
