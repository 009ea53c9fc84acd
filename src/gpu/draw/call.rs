//! Parameters of a draw packet, and numbers that identify the draw.

use a4emu_decoder::adreno::address::Address;

use crate::draw::topology::Topology;
use crate::pass::Pass;

/// Source of the vertex indices of a draw.
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
        base: Address,
        /// Bytes that may be read from `base`.
        size: u32,
        /// Bytes per index: 1, 2 or 4.
        width: u32,
        /// Index at which the draw starts (of CP_DRAW_INDX_OFFSET guess `first-index`).
        first: u32,
    },
}

/// A draw as its packet describes it. Indirect parameters are already fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DrawCall {
    /// Number of the draw, from 0 over the whole capture.
    pub number: u32,
    /// Number that all runs of the draw for different tiles share.
    pub frame_draw: u32,
    /// Number of its submit.
    pub submit: u32,
    /// Pass of the draw.
    pub pass: Pass,
    /// Type of the vertex list.
    pub topology: Topology,
    /// The draw initiator, as packets of the chip's generation have it.
    pub initiator: u32,
    /// Vertices (or indices) per instance.
    pub count: u32,
    /// Number of instances.
    pub instances: u32,
    /// Source of the indices.
    pub indices: IndexSource,
    /// Base vertex (first vertex) of an indirect draw, in place of VFD_INDEX_OFFSET (guess `indirect-base`).
    pub base_vertex: Option<u32>,
    /// First instance of an indirect draw, in place of VFD_INSTANCE_START_OFFSET (guess `indirect-base`).
    pub first_instance: Option<u32>,
}

/// A dispatch as its packet describes it. Indirect parameters are already fetched.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DispatchCall {
    /// Number among draws and dispatches, from 0 over the whole capture.
    pub number: u32,
    /// Number that all runs of its packet in the submit share.
    pub frame_draw: u32,
    /// Number of its submit.
    pub submit: u32,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Local size from the packet (the indirect form); otherwise HLSQ_CL_NDRANGE_0 has it.
    pub local_size: Option<[u32; 3]>,
}

/// A draw with a count that only the chip knows, or with an undocumented packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UncountedDraw {
    /// Number among draws and dispatches, from 0 over the whole capture.
    pub number: u32,
    /// Number that all runs of the draw for different tiles share.
    pub frame_draw: u32,
    /// Number of its submit.
    pub submit: u32,
    /// Pass of the draw.
    pub pass: Pass,
    /// Name of the packet.
    pub packet: &'static str,
    /// The draw initiator as [`DrawCall`] has it, if the packet is known to have one.
    pub initiator: Option<u32>,
    /// Number of instances, if the packet is known to contain it.
    pub instances: Option<u32>,
}
