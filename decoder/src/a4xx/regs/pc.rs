//! PC: primitive control, index handling, tessellation; VGT: what draws leave in registers.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    /// Marks the draws that follow as the binning pass.
    0x0d00 PC_BINNING_COMMAND { 0..0 BINNING_ENABLE: Bool; }
    /// Always 1.
    0x0d01 UNKNOWN_0D01 { 0..31 VALUE: Hex; }
    /// Where the hull shader leaves its factors: 12, 20 or 28 bytes per patch for isolines,
    /// triangles, quads.
    0x0d08 PC_TESSFACTOR_ADDR { 0..31 VALUE: Addr<0>; }
    0x0d0c PC_DRAWCALL_SETUP_OVERRIDE { 0..31 VALUE: Hex; }
    flat 0x0d10 PC_PERFCTR_PC_SEL[8 x 1] as PC_PERFCTR_PC_SEL { 0..31 VALUE: PcPerfcounterSelect; }
    0x21c0 PC_BIN_BASE { 0..31 VALUE: Hex; }
    /// This bin's place in its pipe's visibility stream.
    0x21c2 PC_VSTREAM_CONTROL {
        /// Bins of the pipe.
        16..21 SIZE: Uint;
        /// This bin's slot in the pipe.
        22..26 N: Uint;
    }
    /// 0x1d from Mesa, 0xb from the vendor's driver.
    0x21c3 UNKNOWN_21C3 { 0..31 VALUE: Hex; }
    /// Restart, provoking vertex.
    0x21c4 PC_PRIM_VTX_CNTL {
        /// Groups of 16 varying components: 0, 1, 2, 4, 6 or 8.
        0..3 VAROUT: Uint;
        20..20 PRIMITIVE_RESTART: Bool;
        /// Flat varyings take the last vertex, else the first.
        25..25 PROVOKING_VTX_LAST: Bool;
        26..26 PSIZE: Bool;
    }
    /// Polygon mode.
    0x21c5 PC_PRIM_VTX_CNTL2 {
        0..2 POLYMODE_FRONT_PTYPE: PaSuScDraw;
        3..5 POLYMODE_BACK_PTYPE: PaSuScDraw;
        6..6 POLYMODE_ENABLE: Bool;
    }
    /// Compared with the fetched index, zero-extended.
    0x21c6 PC_RESTART_INDEX { 0..31 VALUE: Hex; }
    /// Written by the CP's firmware.
    0x21d0 VGT_CL_INITIATOR { 0..31 VALUE: Hex; }
    /// Written by the CP's firmware.
    0x21d9 VGT_EVENT_INITIATOR { 0..31 VALUE: Hex; }
    /// Geometry shader.
    0x21e5 PC_GS_PARAM {
        /// Minus 1.
        0..9 MAX_VERTICES: Uint;
        /// Minus 1.
        11..15 INVOCATIONS: Uint;
        23..24 PRIMTYPE: PaSuScDraw;
        /// The shader selects the layer.
        31..31 LAYER: Bool;
    }
    /// Always 1.
    0x21e6 UNKNOWN_21E6 { 0..31 VALUE: Hex; }
    /// Tessellation.
    0x21e7 PC_HS_PARAM {
        0..5 VERTICES_OUT: Uint;
        21..22 SPACING: TessSpacing;
        /// Output winding; for isolines: connected.
        23..23 CW: Bool;
        /// Not point mode.
        24..24 CONNECTED: Bool;
    }
}
