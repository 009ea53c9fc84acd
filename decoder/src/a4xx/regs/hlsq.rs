//! HLSQ: high level sequencer: constant and program stores, fragment inputs, compute dispatch.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0e00 HLSQ_TIMEOUT_THRESHOLD { 0..31 VALUE: Hex; }
    0x0e04 HLSQ_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    /// 3; older drivers 0.
    0x0e05 HLSQ_MODE_CONTROL { 0..31 VALUE: Hex; }
    flat 0x0e06 HLSQ_PERFCTR_HLSQ_SEL[8 x 1] as HLSQ_PERFCTR_HLSQ_SEL { 0..31 VALUE: HlsqPerfcounterSelect; }
    0x0e0e HLSQ_PERF_PIPE_MASK { 0..31 VALUE: Hex; }
    0x23c0 HLSQ_CONTROL_0_REG {
        4..4 FSTHREADSIZE: ThreadSize;
        6..6 FSSUPERTHREADENABLE: Bool;
        9..9 SPSHADERRESTART: Bool;
        10..10 RESERVED2: Bool;
        26..26 CHUNKDISABLE: Bool;
        27..27 CONSTMODE: Uint;
        28..28 LAZYUPDATEDISABLE: Bool;
        29..29 SPCONSTFULLUPDATE: Bool;
        30..30 TPFULLUPDATE: Bool;
        31..31 SINGLECONTEXT: Bool;
    }
    /// Registers that receive the fragment position (r63.x: none).
    0x23c1 HLSQ_CONTROL_1_REG {
        6..6 VSTHREADSIZE: ThreadSize;
        8..8 VSSUPERTHREADENABLE: Bool;
        9..9 RESERVED1: Bool;
        /// Window x and y, unsigned 12.4 fixed point.
        16..23 COORDREGID: RegId;
        /// Window z and 1 / w, floats.
        24..31 ZWCOORDREGID: RegId;
    }
    /// Registers that receive face, sample id and mask (r63.x: none).
    0x23c2 HLSQ_CONTROL_2_REG {
        /// Half register: 0 front, -1 back.
        2..9 FACEREGID: RegId;
        10..17 SAMPLEID_REGID: RegId;
        18..25 SAMPLEMASK_REGID: RegId;
        26..31 PRIMALLOCTHRESHOLD: Uint;
    }
    /// Registers that receive barycentric i and j (r63.x: none).
    0x23c3 HLSQ_CONTROL_3_REG {
        0..7 IJ_PERSP_PIXEL: RegId;
        8..15 IJ_LINEAR_PIXEL: RegId;
        16..23 IJ_PERSP_CENTROID: RegId;
        24..31 IJ_LINEAR_CENTROID: RegId;
    }
    /// More barycentrics; drivers write 0x00fcfcfc.
    0x23c4 HLSQ_CONTROL_4_REG { 0..7 IJ_PERSP_SAMPLE: RegId; 8..15 IJ_LINEAR_SAMPLE: RegId; }
    /// What of the stage is loaded.
    0x23c5 HLSQ_VS_CONTROL_REG {
        /// Units of four vec4.
        0..7 CONSTLENGTH: Uint;
        8..14 CONSTOBJECTOFFSET: Uint;
        15..15 SSBO_ENABLE: Bool;
        16..16 ENABLED: Bool;
        17..23 SHADEROBJOFFSET: Uint;
        /// Groups of 16 instructions.
        24..31 INSTRLENGTH: Uint;
    }
    /// What of the stage is loaded.
    0x23c6 HLSQ_FS_CONTROL_REG { like HLSQ_VS_CONTROL_REG }
    /// What of the stage is loaded.
    0x23c7 HLSQ_HS_CONTROL_REG { like HLSQ_VS_CONTROL_REG }
    /// What of the stage is loaded.
    0x23c8 HLSQ_DS_CONTROL_REG { like HLSQ_VS_CONTROL_REG }
    /// What of the stage is loaded.
    0x23c9 HLSQ_GS_CONTROL_REG { like HLSQ_VS_CONTROL_REG }
    /// What of the stage is loaded.
    0x23ca HLSQ_CS_CONTROL_REG { like HLSQ_VS_CONTROL_REG }
    /// Work group size, minus 1.
    0x23cd HLSQ_CL_NDRANGE_0 {
        0..1 KERNELDIM: Uint;
        2..11 LOCALSIZEX: Uint;
        12..21 LOCALSIZEY: Uint;
        22..31 LOCALSIZEZ: Uint;
    }
    /// Global size x.
    0x23ce HLSQ_CL_NDRANGE_1 { 0..31 SIZE_X: Uint; }
    /// Global offset x.
    0x23cf HLSQ_CL_NDRANGE_2 { 0..31 VALUE: Hex; }
    /// Global size y.
    0x23d0 HLSQ_CL_NDRANGE_3 { 0..31 SIZE_Y: Uint; }
    /// Global offset y.
    0x23d1 HLSQ_CL_NDRANGE_4 { 0..31 VALUE: Hex; }
    /// Global size z.
    0x23d2 HLSQ_CL_NDRANGE_5 { 0..31 SIZE_Z: Uint; }
    /// Global offset z.
    0x23d3 HLSQ_CL_NDRANGE_6 { 0..31 VALUE: Hex; }
    /// Constants (number * 4 + component) that the hardware fills per work group.
    0x23d4 HLSQ_CL_CONTROL_0 {
        /// Group id x, y, z.
        0..11 WGIDCONSTID: RegId;
        /// Number of dimensions.
        12..23 KERNELDIMCONSTID: RegId;
        /// General register: local id x, y, z.
        24..31 LOCALIDREGID: RegId;
    }
    0x23d5 HLSQ_CL_CONTROL_1 {
        /// Perhaps the global size: nothing here reads it.
        0..11 UNK0CONSTID: RegId;
        /// Local size x, y, z.
        12..23 WORKGROUPSIZECONSTID: RegId;
    }
    0x23d6 HLSQ_CL_KERNEL_CONST {
        /// Perhaps the global offset: nothing here reads it.
        0..11 UNK0CONSTID: RegId;
        /// Group counts x, y, z.
        12..23 NUMWGCONSTID: RegId;
    }
    /// Work groups in x.
    0x23d7 HLSQ_CL_KERNEL_GROUP_X { 0..31 VALUE: Hex; }
    /// Work groups in y.
    0x23d8 HLSQ_CL_KERNEL_GROUP_Y { 0..31 VALUE: Hex; }
    /// Work groups in z.
    0x23d9 HLSQ_CL_KERNEL_GROUP_Z { 0..31 VALUE: Hex; }
    0x23da HLSQ_CL_WG_OFFSET {
        /// Perhaps the work group offset: nothing here reads it.
        0..11 UNK0CONSTID: RegId;
    }
    /// 3 before graphics state, 0x38 and 0 around compute state.
    0x23db HLSQ_UPDATE_CONTROL { 0..31 VALUE: Hex; }
}
