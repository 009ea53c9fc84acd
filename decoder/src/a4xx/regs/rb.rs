//! RB: render backend: colour, depth, stencil, blending, copies.
use crate::a4xx::enums::*;
use crate::bits::*;

/// Render targets that there can be: as many as there are of `RB_MRT`.
pub const TARGETS: u32 = 8;

registers! {
    /// GMEM base >> 14; the kernel's.
    0x0cc0 RB_GMEM_BASE_ADDR { 0..31 VALUE: Hex; }
    /// Always 6.
    0x0cc5 UNKNOWN_0CC5 { 0..31 VALUE: Hex; }
    /// Always 0.
    0x0cc6 UNKNOWN_0CC6 { 0..31 VALUE: Hex; }
    flat 0x0cc7 RB_PERFCTR_RB_SEL[8 x 1] as RB_PERFCTR_RB_SEL { 0..31 VALUE: RbPerfcounterSelect; }
    flat 0x0ccf RB_PERFCTR_CCU_SEL[4 x 1] as RB_PERFCTR_CCU_SEL { 0..31 VALUE: CcuPerfcounterSelect; }
    0x0ce0 RB_FRAME_BUFFER_DIMENSION { 0..13 WIDTH: Uint; 16..29 HEIGHT: Uint; }
    /// Bin size and where the targets live.
    0x20a0 RB_MODE_CONTROL {
        /// Pixels.
        0..5 WIDTH: Shl<5>;
        /// Pixels.
        8..13 HEIGHT: Shl<5>;
        /// Inferred meaning: RB_BIN_OFFSET applies. Clear while restoring, though targets are tiles.
        16..16 ENABLE_GMEM: Bool;
        /// Inferred: both bits are set exactly when targets are in memory. The name is ours.
        inferred 22..23 BYPASS: Hex;
    }
    /// Bit 3 is nearly always set, meaning unknown.
    0x20a1 RB_RENDER_CONTROL {
        0..0 BINNING_PASS: Bool;
        /// Nothing leaves the RB; also set while resolving.
        5..5 DISABLE_COLOR_PIPE: Bool;
    }
    0x20a2 RB_MSAA_CONTROL { 12..12 DISABLE: Bool; 13..15 SAMPLES: Uint; }
    /// Fragment inputs to produce. Registers are given by HLSQ_CONTROL_*_REG.
    0x20a3 RB_RENDER_CONTROL2 {
        0..3 COORD_MASK: Hex;
        4..4 SAMPLEMASK: Bool;
        5..5 FACENESS: Bool;
        6..6 SAMPLEID: Bool;
        7..9 MSAA_SAMPLES: Uint;
        11..11 SAMPLEID_HR: Bool;
        12..12 IJ_PERSP_PIXEL: Bool;
        13..13 IJ_PERSP_CENTROID: Bool;
        14..14 IJ_PERSP_SAMPLE: Bool;
        15..15 SIZE: Bool;
    }
    0x20a4 RB_MRT[8 x 5].CONTROL as RB_MRT_CONTROL {
        3..3 READ_DEST_ENABLE: Bool;
        4..4 BLEND: Bool;
        /// Cleared for formats without alpha: seems to say that destination alpha exists.
        5..5 BLEND2: Bool;
        6..6 ROP_ENABLE: Bool;
        8..11 ROP_CODE: RopCode;
        /// Write mask, red in bit 0.
        24..27 COMPONENT_ENABLE: Hex;
    }
    0x20a5 RB_MRT[8 x 5].BUF_INFO as RB_MRT_BUF_INFO {
        0..5 COLOR_FORMAT: ColorFmt;
        6..7 COLOR_TILE_MODE: TileMode;
        9..10 DITHER_MODE: DitherMode;
        11..12 COLOR_SWAP: ColorSwap;
        13..13 COLOR_SRGB: Bool;
        /// Bytes per row.
        14..31 COLOR_BUF_PITCH: Shl<4>;
    }
    /// Byte offset in GMEM, or an address in bypass mode.
    0x20a6 RB_MRT[8 x 5].BASE as RB_MRT_BASE { 0..31 VALUE: Addr<0>; }
    0x20a7 RB_MRT[8 x 5].CONTROL3 as RB_MRT_CONTROL3 {
        /// Bytes per row of the bin; 0 in bypass mode.
        3..25 STRIDE: Uint;
    }
    0x20a8 RB_MRT[8 x 5].BLEND_CONTROL as RB_MRT_BLEND_CONTROL {
        0..4 RGB_SRC_FACTOR: BlendFactor;
        5..7 RGB_BLEND_OPCODE: BlendOpcode;
        8..12 RGB_DEST_FACTOR: BlendFactor;
        16..20 ALPHA_SRC_FACTOR: BlendFactor;
        21..23 ALPHA_BLEND_OPCODE: BlendOpcode;
        24..28 ALPHA_DEST_FACTOR: BlendFactor;
    }
    /// Colour of a copy-clear.
    0x20cc RB_CLEAR_COLOR_DW0 { 0..31 VALUE: Hex; }
    0x20cd RB_CLEAR_COLOR_DW1 { 0..31 VALUE: Hex; }
    0x20ce RB_CLEAR_COLOR_DW2 { 0..31 VALUE: Hex; }
    0x20cf RB_CLEAR_COLOR_DW3 { 0..31 VALUE: Hex; }
    0x20ef UNKNOWN_20EF { 0..31 VALUE: Hex; }
    /// Blend constant for other targets: UINT (255 is 1) for unorm of 8 bits, SINT (127 is 1) for snorm of 8
    /// bits, FLOAT for half floats.
    0x20f0 RB_BLEND_RED { 0..7 UINT: Hex; 8..15 SINT: Hex; 16..31 FLOAT: Half; }
    /// Blend constant for targets of 32-bit floats.
    0x20f1 RB_BLEND_RED_F32 { 0..31 VALUE: Float; }
    0x20f2 RB_BLEND_GREEN { 0..7 UINT: Hex; 8..15 SINT: Hex; 16..31 FLOAT: Half; }
    0x20f3 RB_BLEND_GREEN_F32 { 0..31 VALUE: Float; }
    0x20f4 RB_BLEND_BLUE { 0..7 UINT: Hex; 8..15 SINT: Hex; 16..31 FLOAT: Half; }
    0x20f5 RB_BLEND_BLUE_F32 { 0..31 VALUE: Float; }
    0x20f6 RB_BLEND_ALPHA { 0..7 UINT: Hex; 8..15 SINT: Hex; 16..31 FLOAT: Half; }
    0x20f7 RB_BLEND_ALPHA_F32 { 0..31 VALUE: Float; }
    /// Alpha test.
    0x20f8 RB_ALPHA_CONTROL {
        /// Reference * 255.
        0..7 ALPHA_REF: Hex;
        8..8 ALPHA_TEST: Bool;
        9..11 ALPHA_TEST_FUNC: CompareFunc;
    }
    /// Mirrors what the MRT controls say.
    0x20f9 RB_FS_OUTPUT {
        /// One bit per target.
        0..7 ENABLE_BLEND: Hex;
        8..8 INDEPENDENT_BLEND: Bool;
        /// Alpha of output 0 leaves samples out. Inferred from RB_BLEND_CNTL of A5xx, whose other fields lie as here.
        inferred 10..10 ALPHA_TO_COVERAGE: Bool;
        /// One bit per sample that may be written.
        16..31 SAMPLE_MASK: Hex;
    }
    /// Occlusion queries.
    0x20fa RB_SAMPLE_COUNT_CONTROL {
        /// ZPASS_DONE stores the counters.
        1..1 COPY: Bool;
        /// Where to: 16 64-bit counters.
        2..31 ADDR: Addr<2>;
    }
    /// 0xf per target that exists; 0 while binning.
    0x20fb RB_RENDER_COMPONENTS {
        0..3 RT0: Hex;
        4..7 RT1: Hex;
        8..11 RT2: Hex;
        12..15 RT3: Hex;
        16..19 RT4: Hex;
        20..23 RT5: Hex;
        24..27 RT6: Hex;
        28..31 RT7: Hex;
    }
    /// Resolve: GMEM side.
    0x20fc RB_COPY_CONTROL {
        0..1 MSAA_RESOLVE: MsaaSamples;
        4..6 MODE: CopyControlMode;
        8..11 FASTCLEAR: Hex;
        /// Byte offset in GMEM.
        14..31 GMEM_BASE: Addr<14>;
    }
    /// Resolve: destination in memory.
    0x20fd RB_COPY_DEST_BASE { 5..31 BASE: Addr<5>; }
    /// Resolve: bytes per row.
    0x20fe RB_COPY_DEST_PITCH { 0..31 PITCH: Shl<5>; }
    /// Resolve: destination format.
    0x20ff RB_COPY_DEST_INFO {
        2..7 FORMAT: ColorFmt;
        8..9 SWAP: ColorSwap;
        10..11 DITHER_MODE: DitherMode;
        14..17 COMPONENT_ENABLE: Hex;
        18..20 ENDIAN: SurfaceEndian;
        24..25 TILE: TileMode;
    }
    /// Colour outputs of the fragment shader.
    0x2100 RB_FS_OUTPUT_REG {
        /// Number of outputs.
        0..3 MRT: Uint;
        5..5 FRAG_WRITES_Z: Bool;
    }
    0x2101 RB_DEPTH_CONTROL {
        0..0 FRAG_WRITES_Z: Bool;
        1..1 Z_TEST_ENABLE: Bool;
        2..2 Z_WRITE_ENABLE: Bool;
        4..6 ZFUNC: CompareFunc;
        7..7 Z_CLAMP_ENABLE: Bool;
        16..16 EARLY_Z_DISABLE: Bool;
        17..17 FORCE_FRAGZ_TO_FS: Bool;
        /// Set unless the function is always or never.
        31..31 Z_READ_ENABLE: Bool;
    }
    /// Value of a copy-clear.
    0x2102 RB_DEPTH_CLEAR { 0..31 VALUE: Hex; }
    0x2103 RB_DEPTH_INFO {
        0..1 DEPTH_FORMAT: DepthFormat;
        /// Byte offset in GMEM.
        12..31 DEPTH_BASE: Addr<12>;
    }
    /// Bytes per row.
    0x2104 RB_DEPTH_PITCH { 0..31 VALUE: Shl<5>; }
    /// Same value as RB_DEPTH_PITCH.
    0x2105 RB_DEPTH_PITCH2 { 0..31 VALUE: Shl<5>; }
    0x2106 RB_STENCIL_CONTROL {
        0..0 STENCIL_ENABLE: Bool;
        /// When clear, back faces use the front state.
        1..1 STENCIL_ENABLE_BF: Bool;
        2..2 STENCIL_READ: Bool;
        8..10 FUNC: CompareFunc;
        11..13 FAIL: StencilOp;
        14..16 ZPASS: StencilOp;
        17..19 ZFAIL: StencilOp;
        20..22 FUNC_BF: CompareFunc;
        23..25 FAIL_BF: StencilOp;
        26..28 ZPASS_BF: StencilOp;
        29..31 ZFAIL_BF: StencilOp;
    }
    0x2107 RB_STENCIL_CONTROL2 { 0..0 STENCIL_BUFFER: Bool; }
    0x2108 RB_STENCIL_INFO {
        0..0 SEPARATE_STENCIL: Bool;
        /// Byte offset in GMEM.
        12..31 STENCIL_BASE: Addr<12>;
    }
    /// Bytes per row of a separate stencil buffer.
    0x2109 RB_STENCIL_PITCH { 0..31 VALUE: Shl<5>; }
    0x210b RB_STENCILREFMASK { 0..7 STENCILREF: Hex; 8..15 STENCILMASK: Hex; 16..23 STENCILWRITEMASK: Hex; }
    0x210c RB_STENCILREFMASK_BF {
        0..7 STENCILREF: Hex;
        8..15 STENCILMASK: Hex;
        16..23 STENCILWRITEMASK: Hex;
    }
    /// Upper left corner of the bin; applies only while RB_MODE_CONTROL.ENABLE_GMEM is set.
    0x210d RB_BIN_OFFSET { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    /// Lower depth limit of a viewport: integer scaled to the depth format, or float bits for
    /// 32-bit depth.
    0x2120 RB_VPORT_Z_CLAMP[16 x 2].MIN as RB_VPORT_Z_CLAMP_MIN { 0..31 VALUE: Hex; }
    /// Upper depth limit of a viewport, same units.
    0x2121 RB_VPORT_Z_CLAMP[16 x 2].MAX as RB_VPORT_Z_CLAMP_MAX { 0..31 VALUE: Hex; }
}
