//! GRAS: clipping, viewport, triangle set-up and scissors.
//!
//! Lower right corners are inclusive.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0c80 GRAS_TSE_STATUS { 0..31 VALUE: Hex; }
    0x0c81 GRAS_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    flat 0x0c88 GRAS_PERFCTR_TSE_SEL[4 x 1] as GRAS_PERFCTR_TSE_SEL { 0..31 VALUE: GrasTsePerfcounterSelect; }
    flat 0x0c8c GRAS_PERFCTR_RAS_SEL[4 x 1] as GRAS_PERFCTR_RAS_SEL { 0..31 VALUE: GrasRasPerfcounterSelect; }
    /// Which clip planes count.
    0x2000 GRAS_CL_CLIP_CNTL {
        15..15 CLIP_DISABLE: Bool;
        16..16 ZNEAR_CLIP_DISABLE: Bool;
        17..17 ZFAR_CLIP_DISABLE: Bool;
        /// Name and place from A3xx; drivers set it always.
        inferred 19..19 VP_CLIP_CODE_IGNORE: Bool;
        /// Name and place from A3xx.
        inferred 20..20 VP_XFORM_DISABLE: Bool;
        /// Name and place from A3xx; set for restore draws, whose w is 1.
        inferred 21..21 PERSP_DIVISION_DISABLE: Bool;
        /// Depth of the clip volume is 0 to w instead of -w to w.
        22..22 ZERO_GB_SCALE_Z: Bool;
    }
    0x2001 UNKNOWN_2001 { 0..31 VALUE: Hex; }
    /// Barycentrics to produce.
    0x2003 GRAS_CNTL { 0..0 IJ_PERSP: Bool; 1..1 IJ_LINEAR: Bool; }
    /// Guard band; drivers write 0.
    0x2004 GRAS_CL_GB_CLIP_ADJ { 0..9 HORZ: Uint; 10..19 VERT: Uint; }
    /// Window = ndc * scale + offset.
    0x2008 GRAS_CL_VPORT_XOFFSET_0 { 0..31 VALUE: Float; }
    0x2009 GRAS_CL_VPORT_XSCALE_0 { 0..31 VALUE: Float; }
    0x200a GRAS_CL_VPORT_YOFFSET_0 { 0..31 VALUE: Float; }
    0x200b GRAS_CL_VPORT_YSCALE_0 { 0..31 VALUE: Float; }
    0x200c GRAS_CL_VPORT_ZOFFSET_0 { 0..31 VALUE: Float; }
    0x200d GRAS_CL_VPORT_ZSCALE_0 { 0..31 VALUE: Float; }
    /// Viewport i + 1.
    /// Inferred: 16 viewports (as RB_VPORT_Z_CLAMP has) of six registers from 0x2008 end at
    /// 0x2067, right before the next named register. A stream that sets two viewports would
    /// settle it.
    inferred 0x200e GRAS_CL_VPORT_AFTER_0[15 x 6].XOFFSET as GRAS_CL_VPORT_AFTER_0_XOFFSET {
        0..31 VALUE: Float;
    }
    inferred 0x200f GRAS_CL_VPORT_AFTER_0[15 x 6].XSCALE as GRAS_CL_VPORT_AFTER_0_XSCALE {
        0..31 VALUE: Float;
    }
    inferred 0x2010 GRAS_CL_VPORT_AFTER_0[15 x 6].YOFFSET as GRAS_CL_VPORT_AFTER_0_YOFFSET {
        0..31 VALUE: Float;
    }
    inferred 0x2011 GRAS_CL_VPORT_AFTER_0[15 x 6].YSCALE as GRAS_CL_VPORT_AFTER_0_YSCALE {
        0..31 VALUE: Float;
    }
    inferred 0x2012 GRAS_CL_VPORT_AFTER_0[15 x 6].ZOFFSET as GRAS_CL_VPORT_AFTER_0_ZOFFSET {
        0..31 VALUE: Float;
    }
    inferred 0x2013 GRAS_CL_VPORT_AFTER_0[15 x 6].ZSCALE as GRAS_CL_VPORT_AFTER_0_ZSCALE {
        0..31 VALUE: Float;
    }
    /// Limits of a shader-written point size, in pixels.
    0x2070 GRAS_SU_POINT_MINMAX { 0..15 MIN: UFixed<4>; 16..31 MAX: UFixed<4>; }
    /// Size of points whose shader writes none, in pixels.
    0x2071 GRAS_SU_POINT_SIZE { 0..31 VALUE: Fixed<4>; }
    /// Late depth test.
    0x2073 GRAS_ALPHA_CONTROL { 2..2 ALPHA_TEST_ENABLE: Bool; 3..3 FORCE_FRAGZ_TO_FS: Bool; }
    /// Slope factor.
    0x2074 GRAS_SU_POLY_OFFSET_SCALE { 0..31 VALUE: Float; }
    /// Constant offset in steps of the depth format. Mesa writes twice GL's units, as its software
    /// rasterisers count them, and an A420 then passes piglit's gl-1.4-polygon-offset (freedreno-a420-fails).
    0x2075 GRAS_SU_POLY_OFFSET_OFFSET { 0..31 VALUE: Float; }
    /// Limit of the offset; 0 is none.
    0x2076 GRAS_SU_POLY_OFFSET_CLAMP { 0..31 VALUE: Float; }
    /// Depth format that polygon offset counts in.
    0x2077 GRAS_DEPTH_CONTROL { 0..1 FORMAT: DepthFormat; }
    /// Culling, facing, lines.
    0x2078 GRAS_SU_MODE_CONTROL {
        0..0 CULL_FRONT: Bool;
        1..1 CULL_BACK: Bool;
        /// Clockwise on the screen (y down) is the front.
        2..2 FRONT_CW: Bool;
        /// Half the width, in pixels (u6.2; Mesa reads it as signed).
        3..10 LINEHALFWIDTH: UFixed<2>;
        11..11 POLY_OFFSET: Bool;
        13..13 MSAA_ENABLE: Bool;
        20..20 RENDERING_PASS: Bool;
    }
    /// The pass. Field widths as Mesa has them.
    0x207b GRAS_SC_CONTROL {
        2..3 RENDER_MODE: RenderMode;
        7..9 MSAA_SAMPLES: Uint;
        11..11 MSAA_DISABLE: Bool;
        12..15 RASTER_MODE: Hex;
    }
    /// The bin, or the whole screen.
    0x207c GRAS_SC_SCREEN_SCISSOR_TL { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    0x207d GRAS_SC_SCREEN_SCISSOR_BR { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    0x209b UNKNOWN_209B { 0..31 VALUE: Hex; }
    /// The application's scissor (bottom right comes first).
    0x209c GRAS_SC_WINDOW_SCISSOR_BR { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    0x209d GRAS_SC_WINDOW_SCISSOR_TL { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    /// A third scissor that drivers leave alone.
    0x209e GRAS_SC_EXTENT_WINDOW_BR { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
    0x209f GRAS_SC_EXTENT_WINDOW_TL { 0..14 X: Uint; 16..30 Y: Uint; 31..31 WINDOW_OFFSET_DISABLE: Bool; }
}
