//! SP: shader processor: vertex, fragment and compute stages.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0ec0 SP_VS_STATUS { 0..31 VALUE: Hex; }
    /// Always 0x40000.
    0x0ec2 UNKNOWN_0EC2 { 0..31 VALUE: Hex; }
    0x0ec3 SP_MODE_CONTROL { 0..31 VALUE: Hex; }
    flat 0x0ec4 SP_PERFCTR_SP_SEL[12 x 1] as SP_PERFCTR_SP_SEL { 0..31 VALUE: SpPerfcounterSelect; }
    /// Drivers write 0x140010 for graphics, 0x860010 for compute.
    0x22c0 SP_SP_CTRL_REG { 19..19 BINNING_PASS: Bool; }
    0x22c1 SP_INSTR_CACHE_CTRL { 7..7 VS_BUFFER: Bool; 8..8 FS_BUFFER: Bool; 10..10 INSTR_BUFFER: Bool; }
    0x22c4 SP_VS_CTRL_REG0 {
        0..0 THREADMODE: ThreadMode;
        1..1 VARYING: Bool;
        2..2 CACHEINVALID: Bool;
        4..9 HALFREGFOOTPRINT: Uint;
        /// Vec4 registers.
        10..15 FULLREGFOOTPRINT: Uint;
        18..19 INOUTREGOVERLAP: Uint;
        20..20 THREADSIZE: ThreadSize;
        21..21 SUPERTHREADMODE: Bool;
        22..22 PIXLODENABLE: Bool;
    }
    0x22c5 SP_VS_CTRL_REG1 {
        /// Units of four vec4.
        0..7 CONSTLENGTH: Uint;
        24..30 INITIALOUTSTANDING: Uint;
    }
    0x22c6 SP_VS_PARAM_REG { 0..7 POSREGID: RegId; 8..15 PSIZEREGID: RegId; 20..31 TOTALVSOUTVAR: Uint; }
    /// Two outputs: registers and the components that are valid.
    0x22c7 SP_VS_OUT[16 x 1] as SP_VS_OUT {
        0..8 A_REGID: HalfRegId;
        9..12 A_COMPMASK: Hex;
        16..24 B_REGID: HalfRegId;
        25..28 B_COMPMASK: Hex;
    }
    /// Between SP_VS_OUT and SP_VS_VPC_DST; always 0.
    0x22d7 UNKNOWN_22D7 { 0..31 VALUE: Hex; }
    /// Where four outputs go: fragment input location + 8.
    0x22d8 SP_VS_VPC_DST[8 x 1] as SP_VS_VPC_DST {
        0..7 OUTLOC0: Uint;
        8..15 OUTLOC1: Uint;
        16..23 OUTLOC2: Uint;
        24..31 OUTLOC3: Uint;
    }
    /// Place in the on-chip stores.
    0x22e0 SP_VS_OBJ_OFFSET_REG { 16..24 CONSTOBJECTOFFSET: Uint; 25..31 SHADEROBJOFFSET: Uint; }
    /// Address of the program.
    0x22e1 SP_VS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x22e2 SP_VS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x22e3 SP_VS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    /// Program length in groups of 16 instructions.
    0x22e5 SP_VS_LENGTH_REG { 0..31 VALUE: Uint; }
    0x22e8 SP_FS_CTRL_REG0 { like SP_VS_CTRL_REG0 }
    /// Bit 31 is always set, meaning unknown.
    0x22e9 SP_FS_CTRL_REG1 {
        /// Units of four vec4.
        0..7 CONSTLENGTH: Uint;
        19..19 FACENESS: Bool;
        20..20 VARYING: Bool;
        21..21 FRAGCOORD: Bool;
    }
    /// Place in the on-chip stores.
    0x22ea SP_FS_OBJ_OFFSET_REG { 16..24 CONSTOBJECTOFFSET: Uint; 25..31 SHADEROBJOFFSET: Uint; }
    /// Address of the program.
    0x22eb SP_FS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x22ec SP_FS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x22ed SP_FS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    /// Program length in groups of 16 instructions.
    0x22ef SP_FS_LENGTH_REG { 0..31 VALUE: Uint; }
    0x22f0 SP_FS_OUTPUT_REG {
        /// Number of colour outputs.
        0..3 MRT: Uint;
        7..7 DEPTH_ENABLE: Bool;
        8..15 DEPTH_REGID: RegId;
        24..31 SAMPLEMASK_REGID: RegId;
    }
    /// Register and kind of colour output i.
    0x22f1 SP_FS_MRT[8 x 1] as SP_FS_MRT {
        0..7 REGID: RegId;
        8..8 HALF_PRECISION: Bool;
        10..10 COLOR_SINT: Bool;
        11..11 COLOR_UINT: Bool;
        12..17 MRTFORMAT: ColorFmt;
        18..18 COLOR_SRGB: Bool;
    }
    0x2300 SP_CS_CTRL_REG0 { like SP_VS_CTRL_REG0 }
    /// Place in the on-chip stores.
    0x2301 SP_CS_OBJ_OFFSET_REG { 0..31 VALUE: Hex; }
    /// Address of the program.
    0x2302 SP_CS_OBJ_START { 0..31 VALUE: Addr<0>; }
    0x2303 SP_CS_PVT_MEM_PARAM { 0..31 VALUE: Hex; }
    /// Private memory of the stage.
    0x2304 SP_CS_PVT_MEM_ADDR { 0..31 VALUE: Addr<0>; }
    0x2305 SP_CS_PVT_MEM_SIZE { 0..31 VALUE: Hex; }
    /// Program length in groups of 16 instructions.
    0x2306 SP_CS_LENGTH_REG { 0..31 VALUE: Uint; }
    /// Between SP_GS_OUT and SP_GS_VPC_DST; seen as 0x00fcfc00: three register ids, unused.
    0x2352 UNKNOWN_2352 { 0..31 VALUE: Hex; }
}
