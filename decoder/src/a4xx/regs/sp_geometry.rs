//! SP: shader processor: hull, domain and geometry stages.
//!
//! The control registers of these stages are inferred, not named by any database. The blocks repeat
//! the shape of VS (CTRL0, CTRL1, PARAM, `OUT[16]`, one word, `VPC_DST[8]`, OBJ_OFFSET, ..) and FS (CTRL0,
//! CTRL1, OBJ_OFFSET, ..), which leaves exactly these places (docs/hardware/registers.md,
//! section 10.5). A vendor stream whose shaders differ in register or constant use would settle it.
use super::sp::{SP_VS_CTRL_REG0, SP_VS_CTRL_REG1, SP_VS_OUT, SP_VS_VPC_DST};
use crate::bits::*;

registers! {
    /// Inferred: two dwords before SP_HS_OBJ_OFFSET_REG, as in the FS block.
    inferred 0x230b SP_HS_CTRL_REG0 { like SP_VS_CTRL_REG0 }
    /// Inferred: one dword before SP_HS_OBJ_OFFSET_REG. Seen as 0x00010000.
    inferred 0x230c SP_HS_CTRL_REG1 { like SP_VS_CTRL_REG1 }
    /// Place in the on-chip stores.
    0x230d SP_HS_OBJ_OFFSET_REG { 16..24 CONSTOBJECTOFFSET: Uint; 25..31 SHADEROBJOFFSET: Uint; }
    /// Address of the program.
    0x230e SP_HS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x230f SP_HS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x2310 SP_HS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    /// Program length in groups of 16 instructions.
    0x2312 SP_HS_LENGTH_REG { 0..31 VALUE: Uint; }
    /// Inferred: two dwords before SP_DS_PARAM_REG, as in the VS block. Seen as 0x00200c00,
    /// which reads as SUPERTHREADMODE and 3 full registers.
    inferred 0x2318 SP_DS_CTRL_REG0 { like SP_VS_CTRL_REG0 }
    /// Inferred: one dword before SP_DS_PARAM_REG. Seen as 0x02000000: INITIALOUTSTANDING 2.
    inferred 0x2319 SP_DS_CTRL_REG1 { like SP_VS_CTRL_REG1 }
    0x231a SP_DS_PARAM_REG { 0..7 POSREGID: RegId; 20..31 TOTALGSOUTVAR: Uint; }
    /// Two outputs: registers and the components that are valid.
    0x231b SP_DS_OUT[16 x 1] as SP_DS_OUT { like SP_VS_OUT }
    /// Between SP_DS_OUT and SP_DS_VPC_DST, where VS and GS have a word too (0x22d7, 0x2352).
    /// Inferred from that alone; a vendor stream that writes it would settle it.
    inferred 0x232b UNKNOWN_232B { 0..31 VALUE: Hex; }
    /// Where four outputs go: fragment input location + 8.
    0x232c SP_DS_VPC_DST[8 x 1] as SP_DS_VPC_DST { like SP_VS_VPC_DST }
    /// Place in the on-chip stores.
    0x2334 SP_DS_OBJ_OFFSET_REG { 16..24 CONSTOBJECTOFFSET: Uint; 25..31 SHADEROBJOFFSET: Uint; }
    /// Address of the program.
    0x2335 SP_DS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x2336 SP_DS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x2337 SP_DS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    /// Program length in groups of 16 instructions.
    0x2339 SP_DS_LENGTH_REG { 0..31 VALUE: Uint; }
    /// Inferred: two dwords before SP_GS_PARAM_REG, as in the VS block.
    inferred 0x233f SP_GS_CTRL_REG0 { like SP_VS_CTRL_REG0 }
    /// Inferred: one dword before SP_GS_PARAM_REG. Seen as 0.
    inferred 0x2340 SP_GS_CTRL_REG1 { like SP_VS_CTRL_REG1 }
    /// PRIMREGID: bit 2 starts a new primitive, bit 3 on may be the viewport, bit 7 on is the
    /// layer; point size is in the register that follows.
    0x2341 SP_GS_PARAM_REG { 0..7 POSREGID: RegId; 8..15 PRIMREGID: RegId; 20..31 TOTALGSOUTVAR: Uint; }
    /// Two outputs: registers and the components that are valid.
    0x2342 SP_GS_OUT[16 x 1] as SP_GS_OUT { like SP_VS_OUT }
    /// Where four outputs go: fragment input location + 8.
    0x2353 SP_GS_VPC_DST[8 x 1] as SP_GS_VPC_DST { like SP_VS_VPC_DST }
    /// Place in the on-chip stores.
    0x235b SP_GS_OBJ_OFFSET_REG { 16..24 CONSTOBJECTOFFSET: Uint; 25..31 SHADEROBJOFFSET: Uint; }
    /// Address of the program.
    0x235c SP_GS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x235d SP_GS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x235e SP_GS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    /// Program length in groups of 16 instructions.
    0x2360 SP_GS_LENGTH_REG { 0..31 VALUE: Uint; }
}
