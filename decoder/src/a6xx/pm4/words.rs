//! The dwords of type-7 packets that have fields.
//!
//! Source: adreno_pm4.xml. A word has the name that Mesa's headers use: the packet's name and the dword's number.

pub use crate::a4xx::pm4::{
    CP_DRAW_PRED_ENABLE, CP_DRAW_PRED_SET_0, CP_MEM_TO_MEM_0, CP_MEM_TO_REG_0, CP_REG_RMW_0, CP_REG_TO_MEM_0,
    CP_REG_TO_SCRATCH_0, CP_SCRATCH_TO_REG_0, CP_WAIT_REG_MEM_0, VGT_DRAW_INITIATOR,
};
use crate::a6xx::enums::*;
use crate::bits::*;

enums! {
    [PM4_ENUMS]

    /// What CP_COND_REG_EXEC tests.
    compare_mode => CompareMode { PRED_TEST = 1, REG_COMPARE = 2, RENDER_MODE = 3 }

    /// What CP_BLIT does.
    cp_blit_cmd => BlitCmd { BLIT_OP_FILL = 0, BLIT_OP_COPY = 1, BLIT_OP_SCALE = 3 }

    /// The form of a draw of CP_DRAW_INDIRECT_MULTI.
    a6xx_draw_indirect_opcode => DrawIndirectOpcode {
        INDIRECT_OP_NORMAL = 2, INDIRECT_OP_INDEXED = 4, INDIRECT_OP_INDIRECT_COUNT = 6,
        INDIRECT_OP_INDIRECT_COUNT_INDEXED = 7,
    }

    /// What CP_LOAD_STATE6 loads.
    a6xx_state_block => StateBlock {
        SB6_VS_TEX = 0x0, SB6_HS_TEX = 0x1, SB6_DS_TEX = 0x2, SB6_GS_TEX = 0x3, SB6_FS_TEX = 0x4,
        SB6_CS_TEX = 0x5, SB6_VS_SHADER = 0x8, SB6_HS_SHADER = 0x9, SB6_DS_SHADER = 0xa,
        SB6_GS_SHADER = 0xb, SB6_FS_SHADER = 0xc, SB6_CS_SHADER = 0xd, SB6_IBO = 0xe,
        SB6_CS_IBO = 0xf,
    }

    /// Which part of the block CP_LOAD_STATE6 loads.
    a6xx_state_type => StateType { ST6_SHADER = 0, ST6_CONSTANTS = 1, ST6_UBO = 2, ST6_IBO = 3 }

    /// Where CP_LOAD_STATE6 takes the data from.
    a6xx_state_src => StateSrc { SS6_DIRECT = 0, SS6_BINDLESS = 1, SS6_INDIRECT = 2, SS6_UBO = 3 }

    /// What the bits of CP_SET_MARKER mean.
    set_marker_mode => MarkerMode { SET_RENDER_MODE = 0, SET_IFPC_MODE = 1 }

    /// Whether the GPU may power down between frames.
    a6xx_ifpc_mode => IfpcMode { IFPC_ENABLE = 0, IFPC_DISABLE = 1 }

    /// What the commands after CP_SET_MARKER do. The last two are the kernel's.
    a6xx_marker => Marker {
        RM6_DIRECT_RENDER = 1, RM6_BIN_VISIBILITY = 2, RM6_BIN_DIRECT = 3, RM6_BIN_RENDER_START = 4,
        RM6_BIN_END_OF_DRAWS = 5, RM6_BIN_RESOLVE = 6, RM6_BIN_RENDER_END = 7, RM6_COMPUTE = 8,
        RM6_BLIT2DSCALE = 0xc, RM6_IB1LIST_START = 0xd, RM6_IB1LIST_END = 0xe,
    }

    /// Registers of the command processor that CP_SET_PSEUDO_REG sets.
    pseudo_reg => PseudoReg {
        SMMU_INFO = 0, NON_SECURE_SAVE_ADDR = 1, SECURE_SAVE_ADDR = 2, NON_PRIV_SAVE_ADDR = 3, COUNTER = 4,
        DRAW_STRM_ADDRESS = 8, DRAW_STRM_SIZE_ADDRESS = 9, PRIM_STRM_ADDRESS = 10, UNK_STRM_ADDRESS = 11,
        UNK_STRM_SIZE_ADDRESS = 12, BINDLESS_BASE_0_ADDR = 16, BINDLESS_BASE_1_ADDR = 17,
        BINDLESS_BASE_2_ADDR = 18, BINDLESS_BASE_3_ADDR = 19, BINDLESS_BASE_4_ADDR = 20,
        BINDLESS_BASE_5_ADDR = 21, BINDLESS_BASE_6_ADDR = 22,
    }

    /// What CP_REG_TEST tests a bit of.
    source_type => SourceType { SOURCE_REG = 0 }

    /// When a buffer of CP_SET_AMBLE is executed.
    amble_type => AmbleType {
        PREAMBLE_AMBLE_TYPE = 0, BIN_PREAMBLE_AMBLE_TYPE = 1, POSTAMBLE_AMBLE_TYPE = 2, KMD_AMBLE_TYPE = 3,
    }

    /// The registers that CP_REG_WRITE tracks; a mask.
    reg_tracker => RegTracker {
        TRACK_CNTL_REG = 1, TRACK_RENDER_CNTL = 2, UNK_EVENT_WRITE = 4, TRACK_LRZ = 8,
    }
}

descriptors! {
    /// Draw initiator.
    VGT_DRAW_INITIATOR_A4XX {
        /// From DI_PT_PATCHES1 on the number of vertices of a patch.
        0..5 PRIM_TYPE: PrimType;
        6..7 SOURCE_SELECT: SrcSel;
        8..9 VIS_CULL: VisCullMode;
        10..11 INDEX_SIZE: IndexSize;
        12..13 PATCH_TYPE: PatchType;
        16..16 GS_ENABLE: Bool;
        17..17 TESS_ENABLE: Bool;
    }
    CP_DRAW_INDIRECT_MULTI_1 {
        0..3 OPCODE: DrawIndirectOpcode;
        /// The vec4 of vertex constants that holds the draw's number, first vertex and first instance; 0: none.
        8..21 DST_OFF: Hex;
    }
    CP_BLIT_0 { 0..3 OP: BlitCmd; }
    CP_BLIT_1 { 0..13 SRC_X1: Uint; 16..29 SRC_Y1: Uint; }
    CP_BLIT_2 { 0..13 SRC_X2: Uint; 16..29 SRC_Y2: Uint; }
    CP_BLIT_3 { 0..13 DST_X1: Uint; 16..29 DST_Y1: Uint; }
    CP_BLIT_4 { 0..13 DST_X2: Uint; 16..29 DST_Y2: Uint; }
    CP_SET_BIN_DATA5_0 { 16..21 VSC_SIZE: Uint; 22..26 VSC_N: Uint; }
    CP_LOAD_STATE6_0 {
        /// In units.
        0..13 DST_OFF: Uint;
        14..15 STATE_TYPE: StateType;
        16..17 STATE_SRC: StateSrc;
        18..21 STATE_BLOCK: StateBlock;
        22..31 NUM_UNIT: Uint;
    }
    /// An address, or of bindless state the base in bits 28 to 31 and the dword behind it.
    CP_LOAD_STATE6_1 { 2..31 EXT_SRC_ADDR: Addr<2>; }
    CP_INDIRECT_BUFFER_2 {
        /// Dwords of the buffer.
        0..19 IB_SIZE: Uint;
    }
    CP_REG_TEST_0 {
        0..17 REG: Hex;
        18..18 SOURCE: SourceType;
        20..24 BIT: Uint;
        25..25 SKIP_WAIT_FOR_ME: Bool;
        /// The predicate bit that is set.
        26..30 PRED_BIT: Uint;
        /// The predicate becomes PRED_VAL where PRED_MASK has ones.
        31..31 PRED_UPDATE: Bool;
    }
    CP_REG_TO_MEM_OFFSET_REG_3 { 0..17 OFFSET0: Hex; 19..19 OFFSET0_SCRATCH: Bool; }
    CP_SCRATCH_WRITE_0 { 20..22 SCRATCH: Uint; }
    CP_WAIT_TWO_REGS_0 { 0..17 REG0: Hex; }
    CP_WAIT_TWO_REGS_1 { 0..17 REG1: Hex; }
    CP_EXEC_CS_INDIRECT_3 {
        /// Local size minus 1.
        2..11 LOCALSIZEX: Uint;
        12..21 LOCALSIZEY: Uint;
        22..31 LOCALSIZEZ: Uint;
    }
    CP_SET_DRAW_STATE_0 {
        /// Dwords of the group's commands.
        0..15 COUNT: Uint;
        16..16 DIRTY: Bool;
        17..17 DISABLE: Bool;
        18..18 DISABLE_ALL_GROUPS: Bool;
        19..19 LOAD_IMMED: Bool;
        /// Executed in the visibility pass.
        20..20 BINNING: Bool;
        /// Executed in a bin.
        21..21 GMEM: Bool;
        /// Executed where the draw goes to memory directly.
        22..22 SYSMEM: Bool;
        24..28 GROUP_ID: Uint;
    }
    CP_EVENT_WRITE_0 {
        0..7 EVENT: VgtEventType;
        /// The GPU's time is written instead of DATA.
        30..30 TIMESTAMP: Bool;
        31..31 IRQ: Bool;
    }
    CP_COND_REG_EXEC_0 {
        /// With REG_COMPARE the first register; with PRED_TEST bits 18 to 22 are the predicate's number.
        0..17 REG0: Hex;
        18..22 PRED_BIT: Uint;
        /// With RENDER_MODE: passes in the visibility pass.
        25..25 BINNING: Bool;
        /// With RENDER_MODE: passes in a bin.
        26..26 GMEM: Bool;
        /// With RENDER_MODE: passes where draws go to memory directly.
        27..27 SYSMEM: Bool;
        28..31 MODE: CompareMode;
    }
    /// The number of dwords that are skipped; with REG_COMPARE the second register, and the number follows.
    CP_COND_REG_EXEC_1 { 0..23 DWORDS: Uint; }
    CP_COND_REG_EXEC_2 { 0..23 DWORDS: Uint; }
    CP_SMMU_TABLE_UPDATE_1 { 0..15 TTBR0_HI: Hex; 16..31 ASID: Hex; }
    CP_SET_AMBLE_2 { 0..19 DWORDS: Uint; 20..21 TYPE: AmbleType; }
    CP_SET_PSEUDO_REG_0 { 0..10 PSEUDO_REG: PseudoReg; }
    CP_SET_MARKER_0 {
        /// With SET_RENDER_MODE. With SET_IFPC_MODE bit 0 is an a6xx_ifpc_mode.
        0..3 MODE: Marker;
        4..4 USES_GMEM: Bool;
        8..8 MARKER_MODE: MarkerMode;
    }
    CP_REG_WRITE_0 { 0..3 TRACKER: RegTracker; }
}

impl VGT_DRAW_INITIATOR_A4XX {
    /// Number of control points in a patch, 1 to 32; `None` if PRIM_TYPE is not a patch.
    pub fn patch_vertices(self) -> Option<u32> {
        let first = PrimType::DI_PT_PATCHES1.to_bits();
        self.PRIM_TYPE().to_bits().checked_sub(first).map(|points| points + 1)
    }
}

impl CP_EXEC_CS_INDIRECT_3 {
    /// Number of work items in a group, in x, y and z.
    pub fn local_size(self) -> [u32; 3] {
        [self.LOCALSIZEX() + 1, self.LOCALSIZEY() + 1, self.LOCALSIZEZ() + 1]
    }
}
