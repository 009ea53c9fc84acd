//! State of vertex fetch from registers: attributes, their memory and registers.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::vfd::*;

use crate::draw::call::{DrawCall, IndexSource};
use crate::machine::Model;
use crate::regfile::RegFile;
use a4emu_shader::format::{Codec, Format, Transfer};

/// Indices, instances and attributes of a draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchState {
    /// Vertices per instance.
    pub count: u32,
    /// Number of instances.
    pub instances: u32,
    /// Source of the indices.
    pub indices: IndexSource,
    /// Restart index.
    pub restart: Option<u32>,
    /// Offset added to the index for attribute fetches.
    pub index_offset: i32,
    /// Offset added to the instance for attribute fetches.
    pub first_instance: u32,
    /// Attributes to fetch.
    pub attributes: Arc<[Attribute]>,
    /// Register of the vertex id.
    pub vertex_id: Option<u32>,
    /// Register of the instance id.
    pub instance_id: Option<u32>,
    /// Register of the vertex number.
    pub vertex_count: Option<u32>,
    /// Meaning of the vertex number.
    pub counting: Counting,
}

/// Meaning of the vertex number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// Count of shaded vertices, from 0 in each instance. A vertex in the reuse buffer is not shaded again.
    #[default]
    Shaded,
    /// Count of list entries, over all instances. Each entry is shaded.
    Listed,
}

impl Counting {
    /// Guess `vertex-reuse` (docs/hardware/board-a420.md, B1, B2): transform feedback tests fail on a board
    /// that would pass with a count as OpenGL requires.
    fn of(model: Model) -> Self {
        match model {
            Model::Board => Self::Shaded,
            Model::StrictGl => Self::Listed,
        }
    }
}

/// Rate at which a fetch advances.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rate {
    /// Every vertex.
    Vertex,
    /// Every n instances.
    Instance(u32),
}

/// One vertex attribute.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribute {
    /// Address of element 0.
    pub address: u32,
    /// Number of readable bytes from `address`.
    pub size: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// Rate of the fetch.
    pub rate: Rate,
    /// Conversion of its bytes to components.
    pub codec: Codec,
    /// Conversion of integers.
    pub integer: Integers,
    /// First of four registers.
    pub regid: u32,
    /// Mask of the registers to write.
    pub write_mask: u32,
}

/// An attribute without address and size. Only these usually change between draws, so the rest can be cached.
pub struct Unplaced {
    /// Number of the fetch instruction.
    number: u32,
    /// The attribute, without address and size.
    attribute: Attribute,
}

/// Conversion of attributes with an integer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// The register gets the integer.
    Keep,
    /// The register gets the value as a float.
    Convert,
}

impl FetchState {
    /// Takes a snapshot of the fetch state of `call` with `attributes` and the `restart` index.
    pub fn snapshot(
        regs: &RegFile,
        call: &DrawCall,
        restart: Option<u32>,
        attributes: Arc<[Attribute]>,
        model: Model,
    ) -> Self {
        let system = regs.get::<VFD_CONTROL_1>();
        let indexed = call.indices != IndexSource::Auto;
        Self {
            count: call.count,
            instances: call.instances,
            indices: call.indices.clone(),
            restart: restart.filter(|_| indexed),
            index_offset: call.base_vertex.map_or(regs.get::<VFD_INDEX_OFFSET>().VALUE(), |base| base as i32),
            first_instance: call.first_instance.unwrap_or(regs.get::<VFD_INSTANCE_START_OFFSET>().VALUE()),
            attributes,
            vertex_id: used(system.REGID4VTX()),
            instance_id: used(system.REGID4INST()),
            vertex_count: used(regs.get::<VFD_CONTROL_3>().REGID_VTXCNT()),
            counting: Counting::of(model),
        }
    }

    /// Returns the number of entries per instance in the vertex list.
    pub fn list_len(&self) -> usize {
        self.count as usize
    }
}

/// Returns the active attributes. Reports attributes of unknown formats in `unsupported`, and leaves them
/// out.
pub fn attributes(regs: &RegFile, unsupported: &mut Vec<String>) -> Box<[Unplaced]> {
    let count = regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(32);
    (0..count).filter_map(|i| attribute(regs, i, unsupported)).collect()
}

fn attribute(regs: &RegFile, number: u32, unsupported: &mut Vec<String>) -> Option<Unplaced> {
    let fetch = regs.at::<VFD_FETCH_INSTR_0>(number);
    let decode = regs.at::<VFD_DECODE_INSTR>(number);
    let codec = Format::vertex(decode.FORMAT()).and_then(|f| f.codec(decode.SWAP(), Transfer::Linear));
    let Some(codec) = codec else {
        let (word, format) = (decode.0, decode.FORMAT());
        unsupported.push(format!("VFD_DECODE[{number}].INSTR = {word:#010x}: vertex format {format:?}"));
        return None;
    };
    let divisor = regs.at::<VFD_FETCH_INSTR_3>(number).STEPRATE();
    let attribute = Attribute {
        address: 0,
        size: 0,
        stride: fetch.BUFSTRIDE(),
        rate: if fetch.INSTANCED() { Rate::Instance(divisor.max(1)) } else { Rate::Vertex },
        codec,
        integer: if decode.INT() { Integers::Keep } else { Integers::Convert },
        regid: decode.REGID(),
        write_mask: decode.WRITEMASK(),
    };
    Some(Unplaced { number, attribute })
}

/// Returns the attributes with their current address and size.
pub fn placed(regs: &RegFile, attributes: &[Unplaced]) -> Arc<[Attribute]> {
    let here = |Unplaced { number, attribute }: &Unplaced| Attribute {
        address: regs.at::<VFD_FETCH_INSTR_1>(*number).VALUE(),
        size: regs.at::<VFD_FETCH_INSTR_2>(*number).SIZE(),
        ..attribute.clone()
    };
    attributes.iter().map(here).collect()
}
