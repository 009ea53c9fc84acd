//! The dwords of type-3 packets that have fields.
//!
//! Source: docs/hardware/command-processor.md and adreno_pm4.xml. A word has the name that Mesa's headers
//! use: the packet's name and the dword's number.

use crate::a4xx::enums::*;
use crate::bits::*;

enums! {
    [PM4_ENUMS]

    /// Domain of a patch; the values of a6xx_patch_type, which are those of bits 21:20 too.
    a6xx_patch_type => PatchType { TESS_QUADS = 0, TESS_TRIANGLES = 1, TESS_ISOLINES = 2 }

    /// Index size of early draw packets.
    pc_di_index_size => OldIndexSize { INDEX_SIZE_16_BIT = 0, INDEX_SIZE_32_BIT = 1, INDEX_SIZE_8_BIT = 2 }

    /// What CP_COND_REG_EXEC tests.
    compare_mode => CompareMode { PRED_TEST = 1, REG_COMPARE = 2 }

    /// Where CP_DRAW_PRED_SET takes the predicate from.
    cp_draw_pred_src => DrawPredSrc { PRED_SRC_MEM = 5 }

    /// What CP_DRAW_PRED_SET lets pass.
    cp_draw_pred_test => DrawPredTest { NE_0_PASS = 0, EQ_0_PASS = 1 }

    /// What CP_SET_CONSTANT writes; 0 to 3 are constants of A2xx.
    cp_set_constant_kind => ConstantKind {
        ALU_CONSTANTS = 0, FETCH_CONSTANTS = 1, BOOL_CONSTANTS = 2, LOOP_CONSTANTS = 3, REGISTERS = 4,
    }
}

descriptors! {
    /// Draw initiator of the A4xx packets.
    ///
    /// Tessellation has two descriptions. Bits 24:20 come from A4xx traces (Mesa
    /// until 2019); PATCH_TYPE, GS_ENABLE and TESS_ENABLE come from A6xx ones.
    VGT_DRAW_INITIATOR_A4XX {
        0..5 PRIM_TYPE: PrimType;
        6..7 SOURCE_SELECT: SrcSel;
        8..9 VIS_CULL: VisCullMode;
        10..11 INDEX_SIZE: IndexSize;
        12..13 PATCH_TYPE: PatchType;
        16..16 GS_ENABLE: Bool;
        17..17 TESS_ENABLE: Bool;
        20..24 TESS_MODE: TessMode;
    }
    /// TESS_MODE taken apart (guess `tessellation-mode`).
    TESS_MODE_BITS { 0..19 REST: Uint; 20..21 DOMAIN: PatchType; 22..24 ENABLE: Uint; }
    /// Draw initiator of A3xx and before.
    VGT_DRAW_INITIATOR {
        0..5 PRIM_TYPE: PrimType;
        6..7 SOURCE_SELECT: SrcSel;
        9..10 VIS_CULL: VisCullMode;
        11..11 INDEX_SIZE: Uint;
        12..12 NOT_EOP: Bool;
        13..13 SMALL_INDEX: Uint;
        14..14 PRE_DRAW_INITIATOR_ENABLE: Bool;
        24..31 NUM_INSTANCES: Uint;
    }

    CP_REG_RMW_0 {
        0..17 DST_REG: Hex;
        24..28 ROTATE: Uint;
        29..29 SRC1_ADD: Bool;
        30..30 SRC1_IS_REG: Bool;
        31..31 SRC0_IS_REG: Bool;
    }
    CP_SET_CONSTANT_0 {
        0..15 OFFSET: Hex;
        16..19 KIND: ConstantKind;
        /// Value is the sum of a register and a constant.
        31..31 ADD: Bool;
    }
    CP_REG_TO_MEM_0 {
        0..17 REG: Hex;
        /// max(CNT, 1) dwords are copied.
        18..29 CNT: Uint;
        30..30 _64B: Bool;
        31..31 ACCUMULATE: Bool;
    }
    CP_MEM_TO_REG_0 {
        0..17 REG: Hex;
        /// max(CNT, 1) dwords are copied.
        19..29 CNT: Uint;
        30..30 SHIFT_BY_2: Bool;
        31..31 UNK31: Bool;
    }
    CP_MEM_TO_MEM_0 {
        0..0 NEG_A: Bool;
        1..1 NEG_B: Bool;
        2..2 NEG_C: Bool;
        29..29 DOUBLE: Bool;
        30..30 WAIT_FOR_MEM_WRITES: Bool;
        31..31 UNK31: Bool;
    }
    CP_REG_TO_SCRATCH_0 {
        0..17 REG: Hex;
        20..22 SCRATCH: Uint;
        /// Dwords minus 1.
        24..26 CNT: Uint;
    }
    CP_SCRATCH_TO_REG_0 {
        0..17 REG: Hex;
        18..18 UNK18: Bool;
        20..22 SCRATCH: Uint;
        /// Dwords minus 1.
        24..26 CNT: Uint;
    }
    CP_WIDE_REG_WRITE_0 { 0..15 REG: Hex; }
    CP_COND_WRITE_0 {
        0..2 FUNCTION: CondFunction;
        4..4 POLL_MEMORY: Bool;
        8..8 WRITE_MEMORY: Bool;
    }
    CP_WAIT_REG_MEM_0 {
        0..2 FUNCTION: CondFunction;
        3..3 SIGNED_COMPARE: Bool;
        4..5 POLL: PollMemoryType;
        8..8 WRITE_MEMORY: Bool;
    }
    CP_COND_REG_EXEC_0 {
        0..17 REG0: Hex;
        28..31 MODE: CompareMode;
    }
    CP_COND_REG_EXEC_REG1 { 0..17 REG1: Hex; }
    CP_COND_REG_EXEC_DWORDS { 0..23 DWORDS: Uint; }
    CP_DRAW_PRED_ENABLE { 0..0 ENABLE: Bool; }
    CP_DRAW_PRED_SET_0 { 4..7 SRC: DrawPredSrc; 8..8 TEST: DrawPredTest; }
    CP_SET_DRAW_STATE_0 {
        /// Dwords of the state buffer.
        0..15 COUNT: Uint;
        16..16 DIRTY: Bool;
        17..17 DISABLE: Bool;
        18..18 DISABLE_ALL_GROUPS: Bool;
        19..19 LOAD_IMMED: Bool;
        24..28 GROUP_ID: Uint;
    }
    CP_LOAD_STATE4_0 {
        /// In units.
        0..13 DST_OFF: Uint;
        16..17 STATE_SRC: StateSrc;
        18..21 STATE_BLOCK: StateBlock;
        22..31 NUM_UNIT: Uint;
    }
    CP_LOAD_STATE4_1 {
        0..1 STATE_TYPE: StateType;
        2..31 EXT_SRC_ADDR: Addr<2>;
    }
    CP_INDIRECT_BUFFER_1 {
        /// Dwords of the buffer; the hardware keeps 20 bits.
        0..19 IB_SIZE: Uint;
    }
    CP_SET_BIN_1 { 0..15 X1: Uint; 16..31 Y1: Uint; }
    CP_SET_BIN_2 { 0..15 X2: Uint; 16..31 Y2: Uint; }
    CP_EVENT_WRITE_0 {
        0..7 EVENT: VgtEventType;
        30..30 TIMESTAMP: Bool;
        31..31 IRQ: Bool;
    }
    CP_EXEC_CS_INDIRECT_2 {
        /// Local size minus 1.
        2..11 LOCALSIZEX: Uint;
        12..21 LOCALSIZEY: Uint;
        22..31 LOCALSIZEZ: Uint;
    }
}

impl VGT_DRAW_INITIATOR_A4XX {
    /// The domain of a tessellated draw; `None` unless PRIM_TYPE is a patch. Bits 24:20 decide if any of
    /// 24:22 is set, else PATCH_TYPE (docs/hardware/command-processor.md, section 8.1).
    pub fn domain(self) -> Option<PatchType> {
        let mode = TESS_MODE_BITS(self.0);
        self.patch_vertices().map(|_| match mode.ENABLE() {
            0 => self.PATCH_TYPE(),
            _ => mode.DOMAIN(),
        })
    }

    /// Number of control points in a patch, 1 to 32; `None` if PRIM_TYPE is not a patch.
    pub fn patch_vertices(self) -> Option<u32> {
        let first = PrimType::DI_PT_PATCHES1.to_bits();
        self.PRIM_TYPE().to_bits().checked_sub(first).map(|points| points + 1)
    }

    /// Number of bytes in an index: 1, 2 or 4.
    pub fn index_bytes(self) -> u32 {
        match self.INDEX_SIZE() {
            IndexSize::INDEX4_SIZE_8_BIT => 1,
            IndexSize::INDEX4_SIZE_16_BIT => 2,
            IndexSize::INDEX4_SIZE_32_BIT | IndexSize::Other(_) => 4,
        }
    }
}

impl VGT_DRAW_INITIATOR {
    /// The index size. Its two bits are not next to each other.
    pub fn index_size(self) -> OldIndexSize {
        OldIndexSize::from_bits(self.SMALL_INDEX() * 2 + self.INDEX_SIZE())
    }

    /// The initiator of an A4xx packet for this draw.
    pub fn to_a4xx(self) -> VGT_DRAW_INITIATOR_A4XX {
        let size = match self.index_size() {
            OldIndexSize::INDEX_SIZE_8_BIT => IndexSize::INDEX4_SIZE_8_BIT,
            OldIndexSize::INDEX_SIZE_16_BIT => IndexSize::INDEX4_SIZE_16_BIT,
            OldIndexSize::INDEX_SIZE_32_BIT | OldIndexSize::Other(_) => IndexSize::INDEX4_SIZE_32_BIT,
        };
        VGT_DRAW_INITIATOR_A4XX(
            self.PRIM_TYPE().to_bits()
                | self.SOURCE_SELECT().to_bits() << 6
                | self.VIS_CULL().to_bits() << 8
                | size.to_bits() << 10,
        )
    }
}

impl CP_EXEC_CS_INDIRECT_2 {
    /// Number of work items in a group, in x, y and z.
    pub fn local_size(self) -> [u32; 3] {
        [self.LOCALSIZEX() + 1, self.LOCALSIZEY() + 1, self.LOCALSIZEZ() + 1]
    }
}
