//! VPC: varyings on their way to the fragment shader, and stream-out.
use crate::a4xx::enums::*;
use crate::bits::*;

registers! {
    0x0e60 VPC_DEBUG_RAM_SEL { 0..31 VALUE: Hex; }
    0x0e61 VPC_DEBUG_RAM_READ { 0..31 VALUE: Hex; }
    0x0e64 VPC_DEBUG_ECO_CONTROL { 0..31 VALUE: Hex; }
    flat 0x0e65 VPC_PERFCTR_VPC_SEL[4 x 1] as VPC_PERFCTR_VPC_SEL { 0..31 VALUE: VpcPerfcounterSelect; }
    /// Bit 30 is always set, meaning unknown.
    0x2140 VPC_ATTR {
        /// Components.
        0..8 TOTALATTR: Uint;
        9..9 PSIZE: Bool;
        12..13 THRDASSIGN: Uint;
        25..25 ENABLE: Bool;
    }
    0x2141 VPC_PACK { 0..7 NUMBYPASSVAR: Uint; 8..15 NUMFPNONPOSVAR: Uint; 16..23 NUMNONPOSVSVAR: Uint; }
    /// How each of 16 components is interpolated. Mesa prints the word; fields are named as
    /// on A3xx.
    0x2142 VPC_VARYING_INTERP[8 x 1].MODE as VPC_VARYING_INTERP_MODE {
        0..1 C0: IntpMode;
        2..3 C1: IntpMode;
        4..5 C2: IntpMode;
        6..7 C3: IntpMode;
        8..9 C4: IntpMode;
        10..11 C5: IntpMode;
        12..13 C6: IntpMode;
        14..15 C7: IntpMode;
        16..17 C8: IntpMode;
        18..19 C9: IntpMode;
        20..21 CA: IntpMode;
        22..23 CB: IntpMode;
        24..25 CC: IntpMode;
        26..27 CD: IntpMode;
        28..29 CE: IntpMode;
        30..31 CF: IntpMode;
    }
    /// Point sprites: what replaces each of 16 components. Fields are named as on A3xx.
    0x214a VPC_VARYING_PS_REPL[8 x 1].MODE as VPC_VARYING_PS_REPL_MODE {
        0..1 C0: ReplMode;
        2..3 C1: ReplMode;
        4..5 C2: ReplMode;
        6..7 C3: ReplMode;
        8..9 C4: ReplMode;
        10..11 C5: ReplMode;
        12..13 C6: ReplMode;
        14..15 C7: ReplMode;
        16..17 C8: ReplMode;
        18..19 C9: ReplMode;
        20..21 CA: ReplMode;
        22..23 CB: ReplMode;
        24..25 CC: ReplMode;
        26..27 CD: ReplMode;
        28..29 CE: ReplMode;
        30..31 CF: ReplMode;
    }
    0x2152 UNKNOWN_2152 { 0..31 VALUE: Hex; }
    0x2153 UNKNOWN_2153 { 0..31 VALUE: Hex; }
    0x2154 UNKNOWN_2154 { 0..31 VALUE: Hex; }
    /// Which stream fills which buffer ([`STREAM_OUT_BUFFERS`]). Inferred: six before VPC_SO as
    /// on A5xx. Drivers write 0.
    inferred 0x2155 VPC_SO_BUF_CNTL { 0..31 VALUE: Hex; }
    /// Stream-out is off for now ([`STREAM_OUT_OVERRIDE`]). Inferred from its place on A5xx.
    /// Drivers write 0.
    inferred 0x2156 VPC_SO_OVERRIDE { 0..31 VALUE: Hex; }
    /// A write begins the stream-out program anew. Inferred from its place on A5xx. Drivers
    /// write 0.
    inferred 0x2157 VPC_SO_CNTL { 0..31 VALUE: Hex; }
    /// Stream-out program, two components per write, in the order of the output locations.
    /// Inferred: A5xx has this port three dwords before the buffers, and 0x2157, the last
    /// word that drivers reset, is right before it. A vendor stream with transform feedback
    /// would settle it.
    inferred 0x2158 VPC_SO_PROG {
        0..1 A_BUF: Uint;
        /// Bytes from the start of the vertex in the buffer.
        2..10 A_OFF: Shl<2>;
        11..11 A_EN: Bool;
        12..13 B_BUF: Uint;
        14..22 B_OFF: Shl<2>;
        23..23 B_EN: Bool;
    }
    /// Stream-out buffer.
    /// Inferred: four groups of five from here put the flush address of buffer 3 on 0x216e,
    /// the one name that is public (docs/hardware/registers.md, section 9.3). A vendor stream with
    /// transform feedback would settle it.
    inferred 0x215b VPC_SO[4 x 5].BUFFER_BASE as VPC_SO_BUFFER_BASE { 0..31 VALUE: Addr<0>; }
    /// Bytes of the buffer. Inferred like `VPC_SO[i].BUFFER_BASE`.
    inferred 0x215c VPC_SO[4 x 5].BUFFER_SIZE as VPC_SO_BUFFER_SIZE { 0..31 VALUE: Uint; }
    /// Components per vertex. Inferred like `VPC_SO[i].BUFFER_BASE`.
    inferred 0x215d VPC_SO[4 x 5].NCOMP as VPC_SO_NCOMP { 0..31 VALUE: Uint; }
    /// Where the next vertex goes. Inferred like `VPC_SO[i].BUFFER_BASE`.
    inferred 0x215e VPC_SO[4 x 5].BUFFER_OFFSET as VPC_SO_BUFFER_OFFSET { 0..31 VALUE: Uint; }
    /// Where the offset of buffer 0 is written back. Inferred from VPC_SO_FLUSH_WADDR_3.
    inferred 0x215f VPC_SO_FLUSH_WADDR_0 { 0..31 VALUE: Addr<0>; }
    /// Where the offset of buffer 1 is written back. Inferred from VPC_SO_FLUSH_WADDR_3.
    inferred 0x2164 VPC_SO_FLUSH_WADDR_1 { 0..31 VALUE: Addr<0>; }
    /// Where the offset of buffer 2 is written back. Inferred from VPC_SO_FLUSH_WADDR_3.
    inferred 0x2169 VPC_SO_FLUSH_WADDR_2 { 0..31 VALUE: Addr<0>; }
    /// Where the offset of buffer 3 is written back: the only public name of stream-out.
    0x216e VPC_SO_FLUSH_WADDR_3 { 0..31 VALUE: Addr<0>; }
}

descriptors! {
    /// What VPC_SO_BUF_CNTL holds: the stream that fills each stream-out buffer, plus 1; 0 turns
    /// the buffer off.
    ///
    /// Inferred: A6xx has this in VPC_SO_STREAM_CNTL, and VPC_SO_BUF_CNTL of A5xx, which knows
    /// one stream, is the same with only ones. A vendor stream with transform feedback would
    /// settle it.
    STREAM_OUT_BUFFERS {
        inferred 0..2 BUF0_STREAM: Uint;
        inferred 3..5 BUF1_STREAM: Uint;
        inferred 6..8 BUF2_STREAM: Uint;
        inferred 9..11 BUF3_STREAM: Uint;
    }
    /// What VPC_SO_OVERRIDE holds: stream-out is off for now. Inferred from VPC_SO_OVERRIDE of A5xx.
    STREAM_OUT_OVERRIDE { inferred 0..0 DISABLE: Bool; }
}

/// The place in a stream-out buffer that one component is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOutEntry {
    /// Index of the stream-out buffer.
    pub buffer: u32,
    /// Offset in the buffer from the start of the vertex, in bytes.
    pub offset: u32,
}

impl STREAM_OUT_BUFFERS {
    /// The stream that fills each buffer.
    pub fn streams(self) -> [Option<u32>; 4] {
        [self.BUF0_STREAM(), self.BUF1_STREAM(), self.BUF2_STREAM(), self.BUF3_STREAM()]
            .map(|stream| stream.checked_sub(1))
    }
}

impl VPC_SO_PROG {
    /// The destinations of the word's two components; `None` for a component that is not written.
    pub fn entries(self) -> [Option<StreamOutEntry>; 2] {
        let entry = |enabled: bool, buffer, offset| enabled.then_some(StreamOutEntry { buffer, offset });
        [entry(self.A_EN(), self.A_BUF(), self.A_OFF()), entry(self.B_EN(), self.B_BUF(), self.B_OFF())]
    }
}

impl VPC_VARYING_INTERP_MODE {
    /// The mode of component `k` (0 to 15) of this word.
    pub const fn component(self, k: u32) -> IntpMode {
        IntpMode::from_bits(extract(self.0, 2 * (k & 15), 2 * (k & 15) + 1))
    }
}

impl VPC_VARYING_PS_REPL_MODE {
    /// The replacement mode of component `k` (0 to 15) of this word.
    pub const fn component(self, k: u32) -> ReplMode {
        ReplMode::from_bits(extract(self.0, 2 * (k & 15), 2 * (k & 15) + 1))
    }
}
