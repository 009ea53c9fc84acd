//! The registers of vertex fetch: what is fetched, from where, and into which registers.

use std::sync::Arc;

use a4emu_decoder::regs::groups::used;
use a4emu_decoder::regs::vfd::*;

use crate::draw::call::{DrawCall, IndexSource};
use crate::gpu::Model;
use crate::regfile::RegFile;
use a4emu_shader::format::{Codec, Format, Transfer};

/// Indices, instances and attributes of a draw.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FetchState {
    /// Vertices per instance.
    pub count: u32,
    /// Instances.
    pub instances: u32,
    /// Where indices come from.
    pub indices: IndexSource,
    /// Index that ends a strip.
    pub restart: Option<u32>,
    /// Added to the index that attributes are fetched with.
    pub index_offset: i32,
    /// Added to the instance that attributes are fetched with.
    pub first_instance: u32,
    /// What is fetched.
    pub attributes: Arc<[Attribute]>,
    /// Register of the vertex id.
    pub vertex_id: Option<u32>,
    /// Register of the instance id.
    pub instance_id: Option<u32>,
    /// Register of the running vertex number.
    pub vertex_count: Option<u32>,
    /// What is counted there.
    pub counting: Counting,
}

/// What the running vertex number counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counting {
    /// The vertices that are shaded, from 0 in each instance; one that still is in the reuse buffer is not
    /// shaded again.
    #[default]
    Shaded,
    /// The entries of the list, over all instances; each is shaded.
    Listed,
}

impl Counting {
    /// Guess `vertex-reuse` (docs/hardware/board-a420.md, B1, B2): tests of transform feedback that fail on a board and would
    /// pass if it counted as OpenGL needs it.
    fn of(model: Model) -> Self {
        match model {
            Model::Board => Self::Shaded,
            Model::StrictGl => Self::Listed,
        }
    }
}

/// How often a fetch advances.
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
    /// Bytes that may be read from there.
    pub size: u32,
    /// Bytes from one element to the next.
    pub stride: u32,
    /// How it advances.
    pub rate: Rate,
    /// How its bytes become components.
    pub codec: Codec,
    /// Integers stay integers.
    pub integer: Integers,
    /// First register, and which of four are written.
    pub regid: u32,
    /// Registers that are written.
    pub write_mask: u32,
}

/// An attribute of which it is not said where its elements are: that changes from one draw to the next, and most of the
/// time nothing else does.
pub struct Unplaced {
    /// Number of its fetch.
    number: u32,
    /// The rest, at no address.
    attribute: Attribute,
}

/// What happens to an attribute of an integer format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Integers {
    /// The register gets the integer.
    Keep,
    /// The register gets its value as a float.
    Convert,
}

impl FetchState {
    /// What `call` fetches of `attributes`, where `restart` ends a strip.
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

    /// Entries of an instance in the list of vertices.
    pub fn list_len(&self) -> usize {
        self.count as usize
    }
}

/// The active attributes; those of unknown formats are left out, and `unsupported` says so.
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

/// The same attributes where they are now.
pub fn placed(regs: &RegFile, attributes: &[Unplaced]) -> Arc<[Attribute]> {
    let here = |Unplaced { number, attribute }: &Unplaced| Attribute {
        address: regs.at::<VFD_FETCH_INSTR_1>(*number).VALUE(),
        size: regs.at::<VFD_FETCH_INSTR_2>(*number).SIZE(),
        ..attribute.clone()
    };
    attributes.iter().map(here).collect()
}
