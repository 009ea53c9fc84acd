//! The runs of a geometry shader for one primitive, for a tool that shows them.

use crate::draw::stage_words::PrimitiveWord;

use crate::draw::vertices::HEADER;

/// A run of the program: the making of one vertex, or of none.
#[derive(Clone, Debug, PartialEq)]
pub struct Run {
    /// Number of the invocation in the primitive.
    pub invocation: u32,
    /// Number of the vertex that the run makes, from 0: what r0.x says.
    pub vertex: u32,
    /// The warp that it ran in, from 0 for the first warp of its batch.
    pub warp: u64,
    /// The lane that it ran in.
    pub lane: usize,
    /// Whether it executed `kill`, which ends the invocation.
    pub kills: bool,
    /// The vertex, if it makes one.
    pub made: Option<Made>,
}

/// A vertex that a run makes.
#[derive(Clone, Debug, PartialEq)]
pub struct Made {
    /// The position, x, y, z and w.
    pub position: [f32; 4],
    /// The components of the varyings, by location.
    pub varyings: Vec<f32>,
    /// The primitive word.
    pub word: PrimitiveWord,
}

/// The runs for one primitive.
#[derive(Clone, Debug)]
pub struct GeometryRuns {
    /// Number of the primitive in the draw, from 0.
    pub primitive: usize,
    /// Number of primitives of the draw.
    pub primitives: usize,
    /// Vertices that an invocation may make: PC_GS_PARAM.MAX_VERTICES and one.
    pub most: u32,
    /// The runs, in the order of the vertices of each invocation.
    pub runs: Vec<Run>,
}

impl Made {
    /// The vertex of this row and primitive word.
    pub(super) fn new(row: &[u32], word: PrimitiveWord) -> Self {
        let floats = |words: &[u32]| words.iter().map(|word| f32::from_bits(*word)).collect::<Vec<_>>();
        let position = std::array::from_fn(|c| f32::from_bits(row[c]));
        Self { position, varyings: floats(&row[HEADER..]), word }
    }
}
