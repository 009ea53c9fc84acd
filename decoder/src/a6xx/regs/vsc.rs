//! VSC: visibility stream compressor.
use crate::a6xx::enums::*;
use crate::bits::*;

register_rows! {
    0x0c00 VSC_DBG_ECO_CNTL {}
    0x0c01 VSC_ADDR_MODE_CNTL { 0..31 VALUE: AddressMode; }
    0x0c02 VSC_BIN_SIZE { 0..7 WIDTH: Shl<5>; 8..16 HEIGHT: Shl<4>; }
    wide 0x0c03 VSC_DRAW_STRM_SIZE_ADDRESS {}
    0x0c06 VSC_BIN_COUNT { 1..10 NX: Uint; 11..20 NY: Uint; }
    0x0c10 VSC_PIPE_CONFIG[32 x 1].REG { 0..9 X: Uint; 10..19 Y: Uint; 20..25 W: Uint; 26..31 H: Uint; }
    wide 0x0c30 VSC_PRIM_STRM_ADDRESS {}
    0x0c32 VSC_PRIM_STRM_PITCH {}
    0x0c33 VSC_PRIM_STRM_LIMIT {}
    wide 0x0c34 VSC_DRAW_STRM_ADDRESS {}
    0x0c36 VSC_DRAW_STRM_PITCH {}
    0x0c37 VSC_DRAW_STRM_LIMIT {}
    0x0c38 VSC_STATE[32 x 1].REG {}
    0x0c58 VSC_PRIM_STRM_SIZE[32 x 1].REG {}
    0x0c78 VSC_DRAW_STRM_SIZE[32 x 1].REG {}
    0x0cd8 VSC_PERFCTR_VSC_SEL[2 x 1] { 0..31 VALUE: VscPerfcounterSelect; }
}
