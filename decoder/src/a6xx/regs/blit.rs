//! What blits read, with a type each: CP_BLIT two surfaces, their parts and a colour, the event BLIT one surface in memory.
use super::sets::*;
use crate::a6xx::enums::*;
use crate::bits::*;

registers! {
    0x8401 GRAS_2D_SRC_TL_X { 8..24 VALUE: Int; }
    0x8402 GRAS_2D_SRC_BR_X { 8..24 VALUE: Int; }
    0x8403 GRAS_2D_SRC_TL_Y { 8..24 VALUE: Int; }
    0x8404 GRAS_2D_SRC_BR_Y { 8..24 VALUE: Int; }
    0x8405 GRAS_2D_DST_TL { like A6XX_REG_XY }
    0x8406 GRAS_2D_DST_BR { like A6XX_REG_XY }
    0x88d1 RB_BLIT_SCISSOR_TL { like A6XX_REG_XY }
    0x88d2 RB_BLIT_SCISSOR_BR { like A6XX_REG_XY }
    0x88d6 RB_BLIT_BASE_GMEM { 12..31 VALUE: Addr<12>; }
    0x88d7 RB_BLIT_DST_INFO {
        0..1 TILE_MODE: TileMode; 2..2 FLAGS: Bool; 3..4 SAMPLES: MsaaSamples; 5..6 COLOR_SWAP: ColorSwap;
        7..14 COLOR_FORMAT: Format; 15..15 UNK15: Bool;
    }
    0x88d8 RB_BLIT_DST_LO { 0..31 VALUE: Hex; }
    0x88d9 RB_BLIT_DST_HI { 0..31 VALUE: Hex; }
    0x88da RB_BLIT_DST_PITCH { 0..15 VALUE: Shl<6>; }
    0x88e3 RB_BLIT_INFO {
        0..1 TYPE: BlitEventType; 2..2 SAMPLE_0: Bool; 3..3 DEPTH: Bool; 4..7 CLEAR_MASK: Hex; 8..9 LAST: Hex;
        12..15 BUFFER_ID: Hex;
    }
    0x8c00 RB_2D_BLIT_CNTL { like A6XX_2D_BLIT_CNTL }
    0x8c17 RB_2D_DST_INFO { like A6XX_2D_DST_SURF_INFO }
    0x8c18 RB_2D_DST_LO { 0..31 VALUE: Hex; }
    0x8c19 RB_2D_DST_HI { 0..31 VALUE: Hex; }
    0x8c1a RB_2D_DST_PITCH { 0..15 VALUE: Shl<6>; }
    0x8c2c RB_2D_SRC_SOLID_C0 { 0..31 VALUE: Hex; }
    0x8c2d RB_2D_SRC_SOLID_C1 { 0..31 VALUE: Hex; }
    0x8c2e RB_2D_SRC_SOLID_C2 { 0..31 VALUE: Hex; }
    0x8c2f RB_2D_SRC_SOLID_C3 { 0..31 VALUE: Hex; }
    0x8e07 RB_CCU_CNTL {
        0..0 GMEM_FAST_CLEAR_DISABLE: Bool; 2..2 CONCURRENT_RESOLVE: Bool; 7..7 DEPTH_OFFSET_HI: Hex;
        9..9 COLOR_OFFSET_HI: Hex; 10..11 DEPTH_CACHE_SIZE: CcuCacheSize; 12..20 DEPTH_OFFSET: Addr<12>;
        21..22 COLOR_CACHE_SIZE: CcuCacheSize; 23..31 COLOR_OFFSET: Addr<12>;
    }
    0xb4c0 SP_PS_2D_SRC_INFO { like A6XX_2D_SRC_SURF_INFO }
    0xb4c1 SP_PS_2D_SRC_SIZE { 0..14 WIDTH: Uint; 15..29 HEIGHT: Uint; }
    0xb4c2 SP_PS_2D_SRC_LO { 0..31 VALUE: Hex; }
    0xb4c3 SP_PS_2D_SRC_HI { 0..31 VALUE: Hex; }
    0xb4c4 SP_PS_2D_SRC_PITCH { 0..8 UNK0: Hex; 9..23 PITCH: Shl<6>; }
}
