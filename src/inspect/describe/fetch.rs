//! Vertex inputs and indices.

use a4emu_decoder::a4xx::regs::vfd::*;
use serde::Serialize;

use super::name::{Address, components, name, register};
use a4emu_gpu::a4xx::{enums, formats};
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::regfile::RegFile;
use a4emu_shader::format::{Codec, Transfer};

/// Maximum number of vertex inputs.
const INPUTS: u32 = 32;

/// A vertex input that is fetched for each vertex or instance.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct VertexInput {
    /// Index of its fetch and decode entry.
    pub index: u32,
    /// Address of element 0.
    pub address: Address,
    /// Bytes that may be read from that address.
    pub bytes: u32,
    /// Bytes from element to element.
    pub stride: u32,
    /// Instances that share an element. 0 means one element per vertex.
    pub divisor: u32,
    /// Format of an element.
    pub format: String,
    /// Bytes of an element.
    pub element_bytes: u32,
    /// Order of components in memory.
    pub swap: String,
    /// Whether integers stay integers.
    pub integer: bool,
    /// Register of the first component.
    pub register: String,
    /// Components that are written to registers.
    pub components: String,
    /// How bytes become an element; none if the format is unknown.
    #[serde(skip)]
    pub codec: Option<Codec>,
}

impl VertexInput {
    /// The vertex inputs that are enabled.
    pub(super) fn all(regs: &RegFile) -> Vec<Self> {
        let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(INPUTS);
        (0..count).map(|index| Self::at(regs, index)).collect()
    }

    fn at(regs: &RegFile, index: u32) -> Self {
        let (fetch, decode) = (regs.at::<VFD_FETCH_INSTR_0>(index), regs.at::<VFD_DECODE_INSTR>(index));
        let divisor = regs.at::<VFD_FETCH_INSTR_3>(index).STEPRATE().max(1);
        Self {
            index,
            address: Address::of(regs.at::<VFD_FETCH_INSTR_1>(index).VALUE()),
            bytes: regs.at::<VFD_FETCH_INSTR_2>(index).SIZE(),
            stride: fetch.BUFSTRIDE(),
            divisor: if fetch.INSTANCED() { divisor } else { 0 },
            format: name(decode.FORMAT()),
            element_bytes: formats::vertex(decode.FORMAT()).map_or(0, |format| format.block().bytes),
            swap: name(decode.SWAP()),
            integer: decode.INT(),
            register: register(decode.REGID()),
            components: components(decode.WRITEMASK(), ['x', 'y', 'z', 'w']),
            codec: formats::vertex(decode.FORMAT())
                .and_then(|format| format.codec(enums::swap(decode.SWAP()), Transfer::Linear)),
        }
    }
}

/// The indices of a draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Indices {
    /// Added to an index before the fetch.
    pub base_vertex: i32,
    /// First instance.
    pub first_instance: u32,
    /// Index that ends a strip.
    pub restart: Option<u32>,
    /// Indices in the packet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inline: Option<Vec<u32>>,
    /// Indices in memory.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub buffer: Option<IndexBuffer>,
}

/// Indices in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct IndexBuffer {
    /// Address of index 0.
    pub address: Address,
    /// Bytes that may be read from that address.
    pub bytes: u32,
    /// Bytes per index.
    pub width: u32,
    /// Index at which the draw starts.
    pub first: u32,
}

impl Indices {
    pub(super) fn of(regs: &RegFile, call: &DrawCall) -> Self {
        let base_vertex = regs.get::<VFD_INDEX_OFFSET>().VALUE();
        let first_instance = regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE();
        let restart = a4emu_gpu::a4xx::pc::restart(regs).filter(|_| call.indices != IndexSource::Auto);
        Self::new(call, base_vertex, first_instance, restart)
    }

    /// The indices of `call`, with what registers say where the packet says nothing.
    pub(super) fn new(call: &DrawCall, base_vertex: i32, first_instance: u32, restart: Option<u32>) -> Self {
        Self {
            base_vertex: call.base_vertex.map_or(base_vertex, u32::cast_signed),
            first_instance: call.first_instance.unwrap_or(first_instance),
            restart,
            inline: match &call.indices {
                IndexSource::Immediate(indices) => Some(indices.clone()),
                IndexSource::Auto | IndexSource::Memory { .. } => None,
            },
            buffer: match call.indices {
                IndexSource::Memory { base, size, width, first } => {
                    Some(IndexBuffer { address: Address::of(base), bytes: size, width, first })
                }
                IndexSource::Auto | IndexSource::Immediate(_) => None,
            },
        }
    }
}
