//! What packets carry.

enums! {
    [PACKET_ENUMS]

    /// Events of CP_EVENT_WRITE and VGT_EVENT_INITIATOR.
    vgt_event_type => VgtEventType {
        VS_DEALLOC = 0, PS_DEALLOC = 1, VS_DONE_TS = 2, PS_DONE_TS = 3, CACHE_FLUSH_TS = 4,
        CONTEXT_DONE = 5, CACHE_FLUSH = 6, HLSQ_FLUSH = 7, RST_PIX_CNT = 13, RST_VTX_CNT = 14,
        TILE_FLUSH = 15, STAT_EVENT = 16, CACHE_FLUSH_AND_INV_TS_EVENT = 20, ZPASS_DONE = 21,
        RB_DONE_TS = 22, PERFCOUNTER_START = 23, PERFCOUNTER_STOP = 24, VS_FETCH_DONE = 27,
        FACENESS_FLUSH = 28,
    }

    /// Primitive type of a draw. `DI_PT_PATCHES0` + n is a patch of n vertices.
    pc_di_primtype => PrimType {
        DI_PT_NONE = 0x0, DI_PT_POINTLIST_PSIZE = 0x1, DI_PT_LINELIST = 0x2, DI_PT_LINESTRIP = 0x3,
        DI_PT_TRILIST = 0x4, DI_PT_TRIFAN = 0x5, DI_PT_TRISTRIP = 0x6, DI_PT_LINELOOP = 0x7,
        DI_PT_RECTLIST = 0x8, DI_PT_POINTLIST = 0x9, DI_PT_LINE_ADJ = 0xa,
        DI_PT_LINESTRIP_ADJ = 0xb, DI_PT_TRI_ADJ = 0xc, DI_PT_TRISTRIP_ADJ = 0xd,
        DI_PT_PATCHES0 = 0x1f, DI_PT_PATCHES1 = 0x20, DI_PT_PATCHES2 = 0x21, DI_PT_PATCHES3 = 0x22,
        DI_PT_PATCHES4 = 0x23, DI_PT_PATCHES5 = 0x24, DI_PT_PATCHES6 = 0x25, DI_PT_PATCHES7 = 0x26,
        DI_PT_PATCHES8 = 0x27, DI_PT_PATCHES9 = 0x28, DI_PT_PATCHES10 = 0x29,
        DI_PT_PATCHES11 = 0x2a, DI_PT_PATCHES12 = 0x2b, DI_PT_PATCHES13 = 0x2c,
        DI_PT_PATCHES14 = 0x2d, DI_PT_PATCHES15 = 0x2e, DI_PT_PATCHES16 = 0x2f,
        DI_PT_PATCHES17 = 0x30, DI_PT_PATCHES18 = 0x31, DI_PT_PATCHES19 = 0x32,
        DI_PT_PATCHES20 = 0x33, DI_PT_PATCHES21 = 0x34, DI_PT_PATCHES22 = 0x35,
        DI_PT_PATCHES23 = 0x36, DI_PT_PATCHES24 = 0x37, DI_PT_PATCHES25 = 0x38,
        DI_PT_PATCHES26 = 0x39, DI_PT_PATCHES27 = 0x3a, DI_PT_PATCHES28 = 0x3b,
        DI_PT_PATCHES29 = 0x3c, DI_PT_PATCHES30 = 0x3d, DI_PT_PATCHES31 = 0x3e,
    }

    /// Where a draw takes its indices from.
    pc_di_src_sel => SrcSel {
        DI_SRC_SEL_DMA = 0, DI_SRC_SEL_IMMEDIATE = 1, DI_SRC_SEL_AUTO_INDEX = 2,
        DI_SRC_SEL_AUTO_XFB = 3,
    }

    /// Face culling of early draw packets.
    pc_di_face_cull_sel => FaceCullSel {
        DI_FACE_CULL_NONE = 0, DI_FACE_CULL_FETCH = 1, DI_FACE_BACKFACE_CULL = 2,
        DI_FACE_FRONTFACE_CULL = 3,
    }

    /// Use of the visibility stream.
    pc_di_vis_cull_mode => VisCullMode {
        IGNORE_VISIBILITY = 0, USE_VISIBILITY = 1,
    }

    /// Size of an index.
    a4xx_index_size => IndexSize {
        INDEX4_SIZE_8_BIT = 0, INDEX4_SIZE_16_BIT = 1, INDEX4_SIZE_32_BIT = 2,
    }

    /// What CP_LOAD_STATE4 loads.
    a4xx_state_block => StateBlock {
        SB4_VS_TEX = 0x0, SB4_HS_TEX = 0x1, SB4_DS_TEX = 0x2, SB4_GS_TEX = 0x3, SB4_FS_TEX = 0x4,
        SB4_CS_TEX = 0x5, SB4_VS_SHADER = 0x8, SB4_HS_SHADER = 0x9, SB4_DS_SHADER = 0xa,
        SB4_GS_SHADER = 0xb, SB4_FS_SHADER = 0xc, SB4_CS_SHADER = 0xd, SB4_SSBO = 0xe,
        SB4_CS_SSBO = 0xf,
    }

    /// Which part of the block CP_LOAD_STATE4 loads.
    a4xx_state_type => StateType {
        ST4_SHADER = 0, ST4_CONSTANTS = 1, ST4_UBO = 2,
    }

    /// Where CP_LOAD_STATE4 takes the data from.
    a4xx_state_src => StateSrc {
        SS4_DIRECT = 0, SS4_INDIRECT = 2,
    }

    /// Comparison of CP_COND_WRITE and CP_WAIT_REG_MEM: value FUNCTION reference.
    cp_cond_function => CondFunction {
        WRITE_ALWAYS = 0, WRITE_LT = 1, WRITE_LE = 2, WRITE_EQ = 3, WRITE_NE = 4, WRITE_GE = 5,
        WRITE_GT = 6,
    }

    /// What CP_WAIT_REG_MEM and CP_COND_WRITE look at.
    poll_memory_type => PollMemoryType {
        POLL_REGISTER = 0, POLL_MEMORY = 1, POLL_SCRATCH = 2,
    }

    /// Domain of a tessellated draw (bits 24:20 of the draw initiator).
    ///
    /// Values are the vendor driver's (docs/hardware/geometry-and-tessellation.md,
    /// section 2); the names are ours after a6xx_patch_type, which Mesa has since put elsewhere.
    /// 4 more when a geometry shader runs too (guess `tessellation-mode`).
    a4xx_tess_mode => TessMode {
        TESS_NONE = 0, TESS_QUADS = 0xc, TESS_TRIANGLES = 0xd, TESS_ISOLINES = 0xe,
    }
}
