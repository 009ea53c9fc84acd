//! VFD: vertex fetch and decode. Fetch entry i feeds decode entry i.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0e40 VFD_DEBUG_CONTROL { 0..31 VALUE: Hex; }
    0x0e42 UNKNOWN_0E42 { 0..31 VALUE: Hex; }
    flat 0x0e43 VFD_PERFCTR_VFD_SEL[8 x 1] as VFD_PERFCTR_VFD_SEL { 0..31 VALUE: VfdPerfcounterSelect; }
    /// Counts; entries beyond them are stale. Bits 17 and 19 are always set, meaning unknown.
    0x2200 VFD_CONTROL_0 {
        /// Components delivered to the vertex shader.
        0..7 TOTALATTRTOVS: Uint;
        9..16 BYPASSATTROVS: Uint;
        20..25 STRMDECINSTRCNT: Uint;
        26..31 STRMFETCHINSTRCNT: Uint;
    }
    /// Registers that receive the system values (r63.x: none).
    0x2201 VFD_CONTROL_1 {
        0..15 MAXSTORAGE: Uint;
        /// Vertex id, before VFD_INDEX_OFFSET.
        16..23 REGID4VTX: RegId;
        /// Instance number from 0.
        24..31 REGID4INST: RegId;
    }
    0x2202 VFD_CONTROL_2 { 0..31 VALUE: Hex; }
    /// Registers that receive system values of later stages (r63.x: none).
    0x2203 VFD_CONTROL_3 {
        /// Running number of the vertex within the draw.
        8..15 REGID_VTXCNT: RegId;
        16..23 REGID_TESSX: RegId;
        24..31 REGID_TESSY: RegId;
    }
    0x2204 VFD_CONTROL_4 { 0..31 VALUE: Hex; }
    /// Signed addend to the vertex index used for fetching.
    0x2208 VFD_INDEX_OFFSET { 0..31 VALUE: Int; }
    /// Added to the instance index used for fetching: the first instance. Name from A5xx,
    /// where it stands behind VFD_INDEX_OFFSET as well; Mesa has none.
    inferred 0x2209 VFD_INSTANCE_START_OFFSET { 0..31 VALUE: Hex; }
    /// Address = INSTR_1 + index * BUFSTRIDE.
    0x220a VFD_FETCH[32 x 4].INSTR_0 as VFD_FETCH_INSTR_0 {
        /// Bytes minus 1.
        0..6 FETCHSIZE: Uint;
        /// Bytes.
        7..16 BUFSTRIDE: Uint;
        19..19 SWITCHNEXT: Bool;
        20..20 INSTANCED: Bool;
    }
    /// Buffer address.
    0x220b VFD_FETCH[32 x 4].INSTR_1 as VFD_FETCH_INSTR_1 { 0..31 VALUE: Addr<0>; }
    /// Bytes of buffer from that address.
    0x220c VFD_FETCH[32 x 4].INSTR_2 as VFD_FETCH_INSTR_2 { 0..31 SIZE: Hex; }
    /// Instance divisor; 1 for per-vertex data.
    0x220d VFD_FETCH[32 x 4].INSTR_3 as VFD_FETCH_INSTR_3 { 0..8 STEPRATE: Uint; }
    /// Format and destination of an attribute.
    0x228a VFD_DECODE[32 x 1].INSTR as VFD_DECODE_INSTR {
        0..3 WRITEMASK: Hex;
        /// Missing components become (0, 0, 0, 1).
        4..4 CONSTFILL: Bool;
        6..11 FORMAT: VtxFmt;
        12..19 REGID: RegId;
        /// Integers go to the register unconverted.
        20..20 INT: Bool;
        22..23 SWAP: ColorSwap;
        /// Bytes per element.
        24..28 SHIFTCNT: Uint;
        29..29 LASTCOMPVALID: Bool;
        30..30 SWITCHNEXT: Bool;
    }
}
