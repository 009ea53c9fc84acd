//! State of the VPC: linkage of the last vertex stage, and transform feedback.

use a4emu_decoder::adreno::address::Address;

/// How a varying component reaches the fragment shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Interpolation {
    /// Interpolated between the vertices.
    Smooth,
    /// The value of the provoking vertex.
    Flat,
    /// 0.
    Zero,
    /// 1.
    One,
}

/// What replaces a varying component in a point sprite.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replacement {
    /// Nothing does.
    None,
    /// The coordinate from left to right.
    S,
    /// The coordinate from top to bottom.
    T,
    /// 1 less that.
    OneMinusT,
}

/// Varying components that the VPC can hold.
pub const MAX_VARYINGS: usize = 128;

/// Linkage of the registers of the last vertex stage.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VertexOutputs {
    /// First of the four position registers.
    pub position: u32,
    /// Register of the point size.
    pub point_size: Option<u32>,
    /// Register and location of each varying component.
    pub varyings: Vec<(u32, usize)>,
    /// Number of varying components of a vertex.
    pub components: usize,
}

/// Transform feedback state.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackState {
    /// The active buffers.
    pub buffers: [Option<FeedbackBuffer>; 4],
    /// Location of each component, and its destination.
    pub entries: Vec<(usize, StreamOutEntry)>,
}

/// The destination of a component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StreamOutEntry {
    /// Index of the buffer.
    pub buffer: u32,
    /// Offset in the buffer from the start of the vertex, in bytes.
    pub offset: u32,
}

/// A buffer of a stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FeedbackBuffer {
    /// The stream.
    pub stream: u32,
    /// Address.
    pub base: Address,
    /// Bytes.
    pub size: u32,
    /// Bytes per vertex.
    pub stride: u32,
    /// Offset of the next vertex.
    pub offset: u32,
    /// Address to write the offset to, if there is one.
    pub flush: Option<Address>,
}

impl FeedbackState {
    /// Returns address and size of the active buffers.
    pub fn ranges(&self) -> impl Iterator<Item = (Address, u32)> {
        self.buffers.iter().flatten().map(|buffer| (buffer.base, buffer.size))
    }
}

/// Fill state of the buffers after a draw.
pub struct Filled(pub [Option<FeedbackBuffer>; 4]);
