//! Fixed-function state.

enums! {
    [STATE_ENUMS]

    /// Depth, stencil, alpha and shadow comparison.
    adreno_compare_func => CompareFunc {
        FUNC_NEVER = 0, FUNC_LESS = 1, FUNC_EQUAL = 2, FUNC_LEQUAL = 3, FUNC_GREATER = 4,
        FUNC_NOTEQUAL = 5, FUNC_GEQUAL = 6, FUNC_ALWAYS = 7,
    }

    /// What happens to a stencil value.
    adreno_stencil_op => StencilOp {
        STENCIL_KEEP = 0, STENCIL_ZERO = 1, STENCIL_REPLACE = 2, STENCIL_INCR_CLAMP = 3,
        STENCIL_DECR_CLAMP = 4, STENCIL_INVERT = 5, STENCIL_INCR_WRAP = 6, STENCIL_DECR_WRAP = 7,
    }

    /// Blend factors.
    adreno_rb_blend_factor => BlendFactor {
        FACTOR_ZERO = 0, FACTOR_ONE = 1, FACTOR_SRC_COLOR = 4, FACTOR_ONE_MINUS_SRC_COLOR = 5,
        FACTOR_SRC_ALPHA = 6, FACTOR_ONE_MINUS_SRC_ALPHA = 7, FACTOR_DST_COLOR = 8,
        FACTOR_ONE_MINUS_DST_COLOR = 9, FACTOR_DST_ALPHA = 10, FACTOR_ONE_MINUS_DST_ALPHA = 11,
        FACTOR_CONSTANT_COLOR = 12, FACTOR_ONE_MINUS_CONSTANT_COLOR = 13,
        FACTOR_CONSTANT_ALPHA = 14, FACTOR_ONE_MINUS_CONSTANT_ALPHA = 15,
        FACTOR_SRC_ALPHA_SATURATE = 16, FACTOR_SRC1_COLOR = 20, FACTOR_ONE_MINUS_SRC1_COLOR = 21,
        FACTOR_SRC1_ALPHA = 22, FACTOR_ONE_MINUS_SRC1_ALPHA = 23,
    }

    /// Blend equations.
    a3xx_rb_blend_opcode => BlendOpcode {
        BLEND_DST_PLUS_SRC = 0, BLEND_SRC_MINUS_DST = 1, BLEND_DST_MINUS_SRC = 2,
        BLEND_MIN_DST_SRC = 3, BLEND_MAX_DST_SRC = 4,
    }

    /// Raster operation: result bit = code >> (2 * source + destination) & 1.
    a3xx_rop_code => RopCode {
        ROP_CLEAR = 0, ROP_NOR = 1, ROP_AND_INVERTED = 2, ROP_COPY_INVERTED = 3,
        ROP_AND_REVERSE = 4, ROP_INVERT = 5, ROP_XOR = 6, ROP_NAND = 7, ROP_AND = 8, ROP_EQUIV = 9,
        ROP_NOOP = 10, ROP_OR_INVERTED = 11, ROP_COPY = 12, ROP_OR_REVERSE = 13, ROP_OR = 14,
        ROP_SET = 15,
    }

    /// Dithering of colour writes.
    adreno_rb_dither_mode => DitherMode {
        DITHER_DISABLE = 0, DITHER_ALWAYS = 1, DITHER_IF_ALPHA_OFF = 2,
    }

    /// What a resolve draw copies.
    adreno_rb_copy_control_mode => CopyControlMode {
        RB_COPY_RESOLVE = 1, RB_COPY_CLEAR = 2, RB_COPY_DEPTH_STENCIL = 5,
    }

    /// What the pass is for.
    a3xx_render_mode => RenderMode {
        RB_RENDERING_PASS = 0, RB_TILING_PASS = 1, RB_RESOLVE_PASS = 2, RB_COMPUTE_PASS = 3,
    }

    /// Samples per pixel.
    a3xx_msaa_samples => MsaaSamples {
        MSAA_ONE = 0, MSAA_TWO = 1, MSAA_FOUR = 2, MSAA_EIGHT = 3,
    }

    /// Polygon mode, and the kind of primitive that a geometry shader makes.
    adreno_pa_su_sc_draw => PaSuScDraw {
        PC_DRAW_POINTS = 0, PC_DRAW_LINES = 1, PC_DRAW_TRIANGLES = 2,
    }

    /// Tessellation spacing.
    a4xx_tess_spacing => TessSpacing {
        EQUAL_SPACING = 0, ODD_SPACING = 2, EVEN_SPACING = 3,
    }

    /// Threads per shader processor.
    a3xx_threadmode => ThreadMode {
        MULTI = 0, SINGLE = 1,
    }

    /// Quads per thread.
    a3xx_threadsize => ThreadSize {
        TWO_QUADS = 0, FOUR_QUADS = 1,
    }

    /// How one varying component reaches the fragment shader (2 bits each in VPC_VARYING_INTERP).
    a3xx_intp_mode => IntpMode {
        SMOOTH = 0, FLAT = 1, ZERO = 2, ONE = 3,
    }

    /// Point-sprite replacement of one varying component (2 bits each in VPC_VARYING_PS_REPL).
    a3xx_repl_mode => ReplMode {
        S = 1, T = 2, ONE_T = 3,
    }
}
