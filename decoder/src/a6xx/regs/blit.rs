//! What CP_BLIT reads: two surfaces, their parts, and a colour, with a type each.
use super::sets::*;
use crate::bits::*;

registers! {
    0x8401 GRAS_2D_SRC_TL_X { 8..24 VALUE: Int; }
    0x8402 GRAS_2D_SRC_BR_X { 8..24 VALUE: Int; }
    0x8403 GRAS_2D_SRC_TL_Y { 8..24 VALUE: Int; }
    0x8404 GRAS_2D_SRC_BR_Y { 8..24 VALUE: Int; }
    0x8405 GRAS_2D_DST_TL { like A6XX_REG_XY }
    0x8406 GRAS_2D_DST_BR { like A6XX_REG_XY }
    0x8c00 RB_2D_BLIT_CNTL { like A6XX_2D_BLIT_CNTL }
    0x8c17 RB_2D_DST_INFO { like A6XX_2D_DST_SURF_INFO }
    0x8c18 RB_2D_DST_LO { 0..31 VALUE: Hex; }
    0x8c19 RB_2D_DST_HI { 0..31 VALUE: Hex; }
    0x8c1a RB_2D_DST_PITCH { 0..15 VALUE: Shl<6>; }
    0x8c2c RB_2D_SRC_SOLID_C0 { 0..31 VALUE: Hex; }
    0x8c2d RB_2D_SRC_SOLID_C1 { 0..31 VALUE: Hex; }
    0x8c2e RB_2D_SRC_SOLID_C2 { 0..31 VALUE: Hex; }
    0x8c2f RB_2D_SRC_SOLID_C3 { 0..31 VALUE: Hex; }
    0xb4c0 SP_PS_2D_SRC_INFO { like A6XX_2D_SRC_SURF_INFO }
    0xb4c2 SP_PS_2D_SRC_LO { 0..31 VALUE: Hex; }
    0xb4c3 SP_PS_2D_SRC_HI { 0..31 VALUE: Hex; }
    0xb4c4 SP_PS_2D_SRC_PITCH { 0..8 UNK0: Hex; 9..23 PITCH: Shl<6>; }
}
