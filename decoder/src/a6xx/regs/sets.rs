//! Words whose fields several registers have.
use crate::a6xx::enums::*;
use crate::bits::*;

descriptors! {
    A6XX_CP_INT {
        0..0 CP_OPCODE_ERROR: Bool; 1..1 CP_UCODE_ERROR: Bool; 2..2 CP_HW_FAULT_ERROR: Bool;
        4..4 CP_REGISTER_PROTECTION_ERROR: Bool; 5..5 CP_AHB_ERROR: Bool; 6..6 CP_VSD_PARITY_ERROR: Bool;
        7..7 CP_ILLEGAL_INSTR_ERROR: Bool;
    }
    A6XX_RBBM_INT_0_MASK {
        0..0 RBBM_GPU_IDLE: Bool; 1..1 CP_AHB_ERROR: Bool; 6..6 RBBM_ATB_ASYNCFIFO_OVERFLOW: Bool;
        7..7 RBBM_GPC_ERROR: Bool; 8..8 CP_SW: Bool; 9..9 CP_HW_ERROR: Bool;
        10..10 CP_CCU_FLUSH_DEPTH_TS: Bool; 11..11 CP_CCU_FLUSH_COLOR_TS: Bool;
        12..12 CP_CCU_RESOLVE_TS: Bool; 13..13 CP_IB2: Bool; 14..14 CP_IB1: Bool; 15..15 CP_RB: Bool;
        17..17 CP_RB_DONE_TS: Bool; 18..18 CP_WT_DONE_TS: Bool; 20..20 CP_CACHE_FLUSH_TS: Bool;
        22..22 RBBM_ATB_BUS_OVERFLOW: Bool; 23..23 RBBM_HANG_DETECT: Bool; 24..24 UCHE_OOB_ACCESS: Bool;
        25..25 UCHE_TRAP_INTR: Bool; 26..26 DEBBUS_INTR_0: Bool; 27..27 DEBBUS_INTR_1: Bool;
        30..30 ISDB_CPU_IRQ: Bool; 31..31 ISDB_UNDER_DEBUG: Bool;
    }
    A6X_CP_PROTECT { 0..17 BASE_ADDR: Hex; 18..30 MASK_LEN: Hex; 31..31 READ: Bool; }
    A6XX_2D_BLIT_CNTL {
        0..2 ROTATE: Rotation; 3..3 OVERWRITEEN: Bool; 4..6 UNK4: Hex; 7..7 SOLID_COLOR: Bool;
        8..15 COLOR_FORMAT: Format; 16..16 SCISSOR: Bool; 17..18 UNK17: Hex; 19..19 D24S8: Bool;
        20..23 MASK: Hex; 24..28 IFMT: Ifmt2d; 29..29 RASTER_MODE: RasterMode;
    }
    A6XX_2D_DST_SURF_INFO {
        0..7 COLOR_FORMAT: Format; 8..9 TILE_MODE: TileMode; 10..11 COLOR_SWAP: ColorSwap; 12..12 FLAGS: Bool;
        13..13 SRGB: Bool; 14..15 SAMPLES: MsaaSamples;
    }
    A6XX_2D_SRC_SURF_INFO {
        0..7 COLOR_FORMAT: Format; 8..9 TILE_MODE: TileMode; 10..11 COLOR_SWAP: ColorSwap; 12..12 FLAGS: Bool;
        13..13 SRGB: Bool; 14..15 SAMPLES: MsaaSamples; 16..16 FILTER: Bool; 17..17 UNK17: Bool;
        18..18 SAMPLES_AVERAGE: Bool; 19..19 UNK19: Bool; 20..20 UNK20: Bool; 21..21 UNK21: Bool;
        22..22 UNK22: Bool; 23..26 UNK23: Hex; 28..28 UNK28: Bool;
    }
    A6XX_GRAS_LAYER_CNTL { 0..0 WRITES_LAYER: Bool; 1..1 WRITES_VIEW: Bool; }
    A6XX_GRAS_XS_CL_CNTL { 0..7 CLIP_MASK: Hex; 8..15 CULL_MASK: Hex; }
    A6XX_HLSQ_CONTROL_3_REG {
        0..7 IJ_PERSP_PIXEL: RegId; 8..15 IJ_LINEAR_PIXEL: RegId; 16..23 IJ_PERSP_CENTROID: RegId;
        24..31 IJ_LINEAR_CENTROID: RegId;
    }
    A6XX_HLSQ_CONTROL_4_REG {
        0..7 IJ_PERSP_SAMPLE: RegId; 8..15 IJ_LINEAR_SAMPLE: RegId; 16..23 XYCOORDREGID: RegId;
        24..31 ZWCOORDREGID: RegId;
    }
    A6XX_HLSQ_CONTROL_5_REG { 0..7 LINELENGTHREGID: RegId; 8..15 FOVEATIONQUALITYREGID: RegId; }
    A6XX_HLSQ_FS_CNTL_0 { 0..0 THREADSIZE: Threadsize; 1..1 VARYINGS: Bool; 2..11 UNK2: Hex; }
    A6XX_HLSQ_XS_CNTL { 0..7 CONSTLEN: Shl<2>; 8..8 ENABLED: Bool; }
    A6XX_MULTIVIEW_CNTL { 0..0 ENABLE: Bool; 1..1 DISABLEMULTIPOS: Bool; 2..6 VIEWS: Uint; }
    A6XX_PRIMITIVE_CNTL_0 {
        0..0 PRIMITIVE_RESTART: Bool; 1..1 PROVOKING_VTX_LAST: Bool; 2..2 D3D_VERTEX_ORDERING: Bool;
        3..3 UNK3: Bool;
    }
    A6XX_PRIMITIVE_CNTL_5 {
        0..7 GS_VERTICES_OUT: Uint; 10..14 GS_INVOCATIONS: Uint; 15..15 LINELENGTHEN: Bool;
        16..17 GS_OUTPUT: TessOutput; 18..18 UNK18: Bool;
    }
    A6XX_REG_XY { 0..13 X: Uint; 16..29 Y: Uint; }
    A6XX_ROQ_STAT { 0..9 RPTR: Hex; 16..25 WPTR: Hex; }
    A6XX_SAMPLE_CONFIG { 0..0 UNK0: Bool; 1..1 LOCATION_ENABLE: Bool; }
    A6XX_SAMPLE_LOCATIONS {
        0..3 SAMPLE_0_X: Fixed<4>; 4..7 SAMPLE_0_Y: Fixed<4>; 8..11 SAMPLE_1_X: Fixed<4>;
        12..15 SAMPLE_1_Y: Fixed<4>; 16..19 SAMPLE_2_X: Fixed<4>; 20..23 SAMPLE_2_Y: Fixed<4>;
        24..27 SAMPLE_3_X: Fixed<4>; 28..31 SAMPLE_3_Y: Fixed<4>;
    }
    A6XX_SCISSOR_XY { 0..15 X: Uint; 16..31 Y: Uint; }
    A6XX_SP_2D_DST_FORMAT {
        0..0 NORM: Bool; 1..1 SINT: Bool; 2..2 UINT: Bool; 3..10 COLOR_FORMAT: Format; 11..11 SRGB: Bool;
        12..15 MASK: Hex;
    }
    A6XX_SP_XS_CONFIG {
        0..0 BINDLESS_TEX: Bool; 1..1 BINDLESS_SAMP: Bool; 2..2 BINDLESS_IBO: Bool; 3..3 BINDLESS_UBO: Bool;
        8..8 ENABLED: Bool; 9..16 NTEX: Uint; 17..21 NSAMP: Uint; 22..28 NIBO: Uint;
    }
    A6XX_SP_XS_PRIM_CNTL { 0..5 OUT: Uint; 6..13 FLAGS_REGID: RegId; }
    A6XX_SP_XS_PVT_MEM_HW_STACK_OFFSET { 0..18 OFFSET: Addr<11>; }
    A6XX_SP_XS_PVT_MEM_PARAM { 0..7 MEMSIZEPERITEM: Addr<9>; 24..31 HWSTACKSIZEPERTHREAD: Hex; }
    A6XX_SP_XS_PVT_MEM_SIZE { 0..17 TOTALPVTMEMSIZE: Addr<12>; 31..31 PERWAVEMEMLAYOUT: Bool; }
    A6XX_VPC_XS_CLIP_CNTL { 0..7 CLIP_MASK: Uint; 8..15 CLIP_DIST_03_LOC: Uint; 16..23 CLIP_DIST_47_LOC: Uint; }
    A6XX_VPC_XS_LAYER_CNTL { 0..7 LAYERLOC: Uint; 8..15 VIEWLOC: Uint; }
    A6XX_VPC_XS_PACK {
        0..7 STRIDE_IN_VPC: Uint; 8..15 POSITIONLOC: Uint; 16..23 PSIZELOC: Uint; 24..27 EXTRAPOS: Uint;
    }
    A6XX_XS_OUT_CNTL {
        0..7 STRIDE_IN_VPC: Uint; 8..8 PSIZE: Bool; 9..9 LAYER: Bool; 10..10 VIEW: Bool;
        11..11 PRIMITIVE_ID: Bool; 16..23 CLIP_MASK: Uint;
    }
    VGT_DRAW_INITIATOR_A4XX {
        0..5 PRIM_TYPE: PrimType; 6..7 SOURCE_SELECT: SrcSel; 8..9 VIS_CULL: VisCullMode;
        10..11 INDEX_SIZE: IndexSize; 12..13 PATCH_TYPE: PatchType; 16..16 GS_ENABLE: Bool;
        17..17 TESS_ENABLE: Bool;
    }
}
