//! VSC: visibility stream compressor. Says where the binning pass leaves its streams.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    /// Size of a bin. A width of 1024 does not fit and is stored as 0.
    0x0c00 VSC_BIN_SIZE { 0..4 WIDTH: Shl<5>; 5..9 HEIGHT: Shl<5>; }
    /// Address of 8 dwords: bytes written for each pipe.
    0x0c01 VSC_SIZE_ADDRESS { 0..31 VALUE: Addr<0>; }
    0x0c02 VSC_SIZE_ADDRESS2 { 0..31 VALUE: Addr<0>; }
    0x0c03 VSC_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    /// Bins whose streams go through this pipe.
    0x0c08 VSC_PIPE_CONFIG[8 x 1] as VSC_PIPE_CONFIG {
        0..9 X: Uint;
        10..19 Y: Uint;
        20..23 W: Uint;
        24..27 H: Uint;
    }
    /// Stream buffer of the pipe.
    0x0c10 VSC_PIPE_DATA_ADDRESS[8 x 1] as VSC_PIPE_DATA_ADDRESS { 0..31 VALUE: Addr<0>; }
    /// Size of the stream buffer minus 32.
    0x0c18 VSC_PIPE_DATA_LENGTH[8 x 1] as VSC_PIPE_DATA_LENGTH { 0..31 VALUE: Hex; }
    0x0c41 VSC_PIPE_PARTIAL_POSN_1 { 0..31 VALUE: Hex; }
    0x0c50 VSC_PERFCTR_VSC_SEL_0 { 0..31 VALUE: VscPerfcounterSelect; }
    0x0c51 VSC_PERFCTR_VSC_SEL_1 { 0..31 VALUE: VscPerfcounterSelect; }
}
