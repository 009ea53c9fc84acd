//! What dispatches read: registers of the compute stage, bindless bases, and the clock, with a type each.
use super::sets::*;
use crate::a6xx::enums::*;
use crate::bits::*;

registers! {
    0x0883 CP_SCRATCH[8 x 1] as CP_SCRATCH { 0..31 VALUE: Uint; }
    /// Clock of 19.2 MHz that does not stop; CP_REG_TO_MEM stores it.
    0x0980 CP_ALWAYS_ON_COUNTER_LO { 0..31 VALUE: Hex; }
    0x0981 CP_ALWAYS_ON_COUNTER_HI { 0..31 VALUE: Hex; }
    0xa9b0 SP_CS_CTRL_REG0 {
        0..0 THREADMODE: ThreadMode;
        /// Half registers of four components in use.
        1..6 HALFREGFOOTPRINT: Uint;
        /// Full registers of four components in use.
        7..12 FULLREGFOOTPRINT: Uint;
        13..13 UNK13: Bool;
        /// Room for nested branches.
        14..19 BRANCHSTACK: Uint;
        /// Lanes of a wave: 64 or 128.
        20..20 THREADSIZE: Threadsize;
        21..21 UNK21: Bool;
        22..22 UNK22: Bool;
        /// The preamble may run ahead of the waves.
        23..23 EARLYPREAMBLE: Bool;
        /// Half registers are the halves of the full ones.
        31..31 MERGEDREGS: Bool;
    }
    0xa9b1 SP_CS_CTRL_REG1 {
        /// Local memory of a group: this plus 1, in units of 1024 bytes; 0 stands for all 32.
        0..4 SHARED_SIZE: Uint;
        /// Constants that the local buffer has room for, in vec4s.
        5..6 CONSTANTRAMMODE: ConstRamMode;
    }
    0xa9b2 SP_CS_BRANCH_COND { 0..31 VALUE: Hex; }
    0xa9b3 SP_CS_OBJ_FIRST_EXEC_OFFSET { 0..31 VALUE: Uint; }
    /// Where the program is, a multiple of 32.
    0xa9b4 SP_CS_OBJ_START_LO { 0..31 VALUE: Hex; }
    0xa9b5 SP_CS_OBJ_START_HI { 0..31 VALUE: Hex; }
    0xa9b6 SP_CS_PVT_MEM_PARAM { like A6XX_SP_XS_PVT_MEM_PARAM }
    0xa9b7 SP_CS_PVT_MEM_ADDR_LO { 0..31 VALUE: Hex; }
    0xa9b8 SP_CS_PVT_MEM_ADDR_HI { 0..31 VALUE: Hex; }
    0xa9b9 SP_CS_PVT_MEM_SIZE { like A6XX_SP_XS_PVT_MEM_SIZE }
    0xa9ba SP_CS_TEX_COUNT { 0..31 VALUE: Uint; }
    0xa9bb SP_CS_CONFIG { like A6XX_SP_XS_CONFIG }
    /// Length of the program in groups of 16 instructions.
    0xa9bc SP_CS_INSTRLEN { 0..31 VALUE: Uint; }
    0xa9bd SP_CS_PVT_MEM_HW_STACK_OFFSET { like A6XX_SP_XS_PVT_MEM_HW_STACK_OFFSET }
    /// Of the A650 and later; HLSQ_CS_CNTL_0 has the same on all chips.
    0xa9c2 SP_CS_CNTL_0 {
        /// Register of the number of the group, in x, y and z.
        0..7 WGIDCONSTID: RegId;
        /// Register of the local size.
        8..15 WGSIZECONSTID: RegId;
        /// Register of the product of both.
        16..23 WGOFFSETCONSTID: RegId;
        /// Register of the place in the group, in x, y and z.
        24..31 LOCALIDREGID: RegId;
    }
    /// Of the A650 and later; HLSQ_CS_CNTL_1 has the same on all chips.
    0xa9c3 SP_CS_CNTL_1 {
        /// Register of the place in the group as one number.
        0..7 LINEARLOCALIDREGID: RegId;
        8..8 SINGLE_SP_CORE: Bool;
        /// As in SP_CS_CTRL_REG0.
        9..9 THREADSIZE: Threadsize;
        /// One lane in a wave; without effect if THREADSIZE is 128.
        10..10 THREADSIZE_SCALAR: Bool;
    }
    /// Where the samplers are, a multiple of 16.
    0xa9e2 SP_CS_TEX_SAMP_LO { 0..31 VALUE: Hex; }
    0xa9e3 SP_CS_TEX_SAMP_HI { 0..31 VALUE: Hex; }
    /// Where the textures are, a multiple of 64.
    0xa9e6 SP_CS_TEX_CONST_LO { 0..31 VALUE: Hex; }
    0xa9e7 SP_CS_TEX_CONST_HI { 0..31 VALUE: Hex; }
    /// Where the descriptors of a bindless set are. A descriptor has 2 << DESC_SIZE dwords.
    0xa9e8 SP_CS_BINDLESS_BASE[5 x 2].DESCRIPTOR_LO as SP_CS_BINDLESS_BASE_DESCRIPTOR_LO {
        0..1 DESC_SIZE: BindlessDescriptorSize; 2..31 ADDR_LO: Addr<2>;
    }
    0xa9e9 SP_CS_BINDLESS_BASE[5 x 2].DESCRIPTOR_HI as SP_CS_BINDLESS_BASE_DESCRIPTOR_HI { 0..31 ADDR_HI: Hex; }
    /// Where the descriptors of images and buffers of the compute stage are, a multiple of 16.
    0xa9f2 SP_CS_IBO_LO { 0..31 VALUE: Hex; }
    0xa9f3 SP_CS_IBO_HI { 0..31 VALUE: Hex; }
    0xaa00 SP_CS_IBO_COUNT { 0..31 VALUE: Uint; }
    0xab00 SP_MODE_CONTROL {
        0..0 CONSTANT_DEMOTION_ENABLE: Bool; 1..2 ISAMMODE: IsamMode; 3..3 SHARED_CONSTS_ENABLE: Bool;
    }
    0xab10 SP_BINDLESS_BASE[5 x 2].DESCRIPTOR_LO as SP_BINDLESS_BASE_DESCRIPTOR_LO {
        0..1 DESC_SIZE: BindlessDescriptorSize; 2..31 ADDR_LO: Addr<2>;
    }
    0xab11 SP_BINDLESS_BASE[5 x 2].DESCRIPTOR_HI as SP_BINDLESS_BASE_DESCRIPTOR_HI { 0..31 ADDR_HI: Hex; }
    /// Where the descriptors of images and buffers of the other stages are.
    0xab1a SP_IBO_LO { 0..31 VALUE: Hex; }
    0xab1b SP_IBO_HI { 0..31 VALUE: Hex; }
    0xab20 SP_IBO_COUNT { 0..31 VALUE: Uint; }
    0xae03 SP_CHICKEN_BITS { 0..31 VALUE: Hex; }
    0xb180 SP_PS_TP_BORDER_COLOR_BASE_ADDR_LO { 0..31 VALUE: Hex; }
    0xb181 SP_PS_TP_BORDER_COLOR_BASE_ADDR_HI { 0..31 VALUE: Hex; }
    0xb300 SP_TP_RAS_MSAA_CNTL { 0..1 SAMPLES: MsaaSamples; 2..3 UNK2: Hex; }
    0xb301 SP_TP_DEST_MSAA_CNTL { 0..1 SAMPLES: MsaaSamples; 2..2 MSAA_DISABLE: Bool; }
    0xb302 SP_TP_BORDER_COLOR_BASE_ADDR_LO { 0..31 VALUE: Hex; }
    0xb303 SP_TP_BORDER_COLOR_BASE_ADDR_HI { 0..31 VALUE: Hex; }
    0xb304 SP_TP_SAMPLE_CONFIG { like A6XX_SAMPLE_CONFIG }
    0xb305 SP_TP_SAMPLE_LOCATION_0 { like A6XX_SAMPLE_LOCATIONS }
    0xb306 SP_TP_SAMPLE_LOCATION_1 { like A6XX_SAMPLE_LOCATIONS }
    0xb307 SP_TP_WINDOW_OFFSET { like A6XX_REG_XY }
    0xb309 SP_TP_MODE_CNTL { 0..1 ISAMMODE: IsamMode; 2..7 UNK3: Hex; }
    0xb987 HLSQ_CS_CNTL { like A6XX_HLSQ_XS_CNTL }
    0xb990 HLSQ_CS_NDRANGE_0 {
        /// Number of dimensions; drivers differ in what they write.
        0..1 KERNELDIM: Uint;
        /// Local size minus 1.
        2..11 LOCALSIZEX: Uint;
        12..21 LOCALSIZEY: Uint;
        22..31 LOCALSIZEZ: Uint;
    }
    /// Work items in x.
    0xb991 HLSQ_CS_NDRANGE_1 { 0..31 GLOBALSIZE_X: Uint; }
    0xb992 HLSQ_CS_NDRANGE_2 { 0..31 GLOBALOFF_X: Uint; }
    0xb993 HLSQ_CS_NDRANGE_3 { 0..31 GLOBALSIZE_Y: Uint; }
    0xb994 HLSQ_CS_NDRANGE_4 { 0..31 GLOBALOFF_Y: Uint; }
    0xb995 HLSQ_CS_NDRANGE_5 { 0..31 GLOBALSIZE_Z: Uint; }
    0xb996 HLSQ_CS_NDRANGE_6 { 0..31 GLOBALOFF_Z: Uint; }
    0xb997 HLSQ_CS_CNTL_0 {
        /// Register of the number of the group, in x, y and z.
        0..7 WGIDCONSTID: RegId;
        /// Register of the local size.
        8..15 WGSIZECONSTID: RegId;
        /// Register of the product of both.
        16..23 WGOFFSETCONSTID: RegId;
        /// Register of the place in the group, in x, y and z.
        24..31 LOCALIDREGID: RegId;
    }
    0xb998 HLSQ_CS_CNTL_1 {
        /// Register of the place in the group as one number.
        0..7 LINEARLOCALIDREGID: RegId;
        8..8 SINGLE_SP_CORE: Bool;
        /// As in SP_CS_CTRL_REG0.
        9..9 THREADSIZE: Threadsize;
        /// One lane in a wave; without effect if THREADSIZE is 128.
        10..10 THREADSIZE_SCALAR: Bool;
    }
    0xb999 HLSQ_CS_KERNEL_GROUP_X { 0..31 VALUE: Hex; }
    0xb99a HLSQ_CS_KERNEL_GROUP_Y { 0..31 VALUE: Hex; }
    0xb99b HLSQ_CS_KERNEL_GROUP_Z { 0..31 VALUE: Hex; }
    0xb9c0 HLSQ_CS_BINDLESS_BASE[5 x 2].DESCRIPTOR_LO as HLSQ_CS_BINDLESS_BASE_DESCRIPTOR_LO {
        0..1 DESC_SIZE: BindlessDescriptorSize; 2..31 ADDR_LO: Addr<2>;
    }
    0xb9c1 HLSQ_CS_BINDLESS_BASE[5 x 2].DESCRIPTOR_HI as HLSQ_CS_BINDLESS_BASE_DESCRIPTOR_HI {
        0..31 ADDR_HI: Hex;
    }
    0xb9d0 HLSQ_CS_CTRL_REG1 {
        /// Local memory of a group: this plus 1, in units of 1024 bytes; 0 stands for all 32.
        0..4 SHARED_SIZE: Uint;
        /// Constants that the local buffer has room for, in vec4s.
        5..6 CONSTANTRAMMODE: ConstRamMode;
    }
    /// Forgets what was loaded, for each part whose bit is set.
    0xbb08 HLSQ_INVALIDATE_CMD {
        0..0 VS_STATE: Bool; 1..1 HS_STATE: Bool; 2..2 DS_STATE: Bool; 3..3 GS_STATE: Bool;
        4..4 FS_STATE: Bool; 5..5 CS_STATE: Bool; 6..6 CS_IBO: Bool; 7..7 GFX_IBO: Bool;
        8..8 GFX_SHARED_CONST: Bool; 9..13 CS_BINDLESS: Hex; 14..18 GFX_BINDLESS: Hex;
        19..19 CS_SHARED_CONST: Bool;
    }
    0xbb11 HLSQ_SHARED_CONSTS { 0..0 ENABLE: Bool; }
    0xbb20 HLSQ_BINDLESS_BASE[5 x 2].DESCRIPTOR_LO as HLSQ_BINDLESS_BASE_DESCRIPTOR_LO {
        0..1 DESC_SIZE: BindlessDescriptorSize; 2..31 ADDR_LO: Addr<2>;
    }
    0xbb21 HLSQ_BINDLESS_BASE[5 x 2].DESCRIPTOR_HI as HLSQ_BINDLESS_BASE_DESCRIPTOR_HI { 0..31 ADDR_HI: Hex; }
}
