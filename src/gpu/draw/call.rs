//! What a draw packet says, and which draw it is.

use a4emu_decoder::pm4::VGT_DRAW_INITIATOR_A4XX;

use crate::pass::Pass;

/// Where the vertex indices of a draw come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum IndexSource {
    /// 0, 1, 2, ...
    #[default]
    Auto,
    /// Indices in the packet itself (CP_DRAW_INDX_2).
    Immediate(Vec<u32>),
    /// Indices in memory.
    Memory {
        /// Address of index 0.
        base: u32,
        /// Bytes that may be read from `base`.
        size: u32,
        /// Bytes per index: 1, 2 or 4.
        width: u32,
        /// Index at which the draw starts (of CP_DRAW_INDX_OFFSET guess `first-index`).
        first: u32,
    },
}

/// One draw, as the packet gives it (indirect parameters already fetched).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawCall {
    /// Number of the draw, from 0 over the whole capture.
    pub number: u32,
    /// Number that it shares with its runs for other tiles.
    pub frame_draw: u32,
    /// Number of the submit that holds it.
    pub submit: u32,
    /// What it is for.
    pub pass: Pass,
    /// The draw initiator; the A4xx form whatever the packet was.
    pub initiator: VGT_DRAW_INITIATOR_A4XX,
    /// Vertices (or indices) per instance.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// Where the indices come from.
    pub indices: IndexSource,
    /// Base vertex (first vertex) of an indirect draw, in place of VFD_INDEX_OFFSET (guess `indirect-base`).
    pub base_vertex: Option<u32>,
    /// First instance of an indirect draw, in place of VFD_INSTANCE_START_OFFSET (guess `indirect-base`).
    pub first_instance: Option<u32>,
}

/// One dispatch, as the packet gives it (indirect parameters already fetched).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchCall {
    /// Number among draws and dispatches, from 0 over the whole capture.
    pub number: u32,
    /// Number that it shares with other runs of its packet in the submit.
    pub frame_draw: u32,
    /// Number of the submit that holds it.
    pub submit: u32,
    /// Work groups in x, y, z.
    pub groups: [u32; 3],
    /// Local size from the packet (the indirect form); otherwise HLSQ_CL_NDRANGE_0 has it.
    pub local_size: Option<[u32; 3]>,
}

/// A draw whose count only the chip knows, or whose packet nobody has described.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncountedDraw {
    /// Number among draws and dispatches, from 0 over the whole capture.
    pub number: u32,
    /// Number that it shares with its runs for other tiles.
    pub frame_draw: u32,
    /// Number of the submit that holds it.
    pub submit: u32,
    /// What it is for.
    pub pass: Pass,
    /// Name of the packet.
    pub packet: &'static str,
    /// The draw initiator, where the packet is known to have one.
    pub initiator: Option<VGT_DRAW_INITIATOR_A4XX>,
    /// Instances, where the packet is known to say.
    pub instances: Option<u32>,
}
