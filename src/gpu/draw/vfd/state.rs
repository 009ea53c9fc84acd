//! State of vertex fetch: attributes, their memory and registers.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;

use crate::draw::call::IndexSource;
use crate::machine::Model;
use a4emu_shader::format::Codec;

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
    /// Returns the meaning that a model gives it.
    ///
    /// Guess `vertex-reuse` (docs/hardware/board-a420.md, B1, B2): transform feedback tests fail on a board
    /// that would pass with a count as OpenGL requires.
    pub fn of(model: Model) -> Self {
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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attribute {
    /// Address of element 0.
    pub address: Address,
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
    pub number: u32,
    /// The attribute, without address and size.
    pub attribute: Attribute,
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
    /// Returns the number of entries per instance in the vertex list.
    pub fn list_len(&self) -> usize {
        self.count as usize
    }
}
