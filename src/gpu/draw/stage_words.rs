//! Words that the hardware and geometry and hull shaders pass to each other in registers, as values.

/// What r0.x of a geometry or hull shader says at its start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StageEntry {
    /// Where the primitive lies in the local buffer, in primitives.
    pub slot: u32,
    /// Invocation of a geometry shader, output vertex of a hull shader.
    pub invocation: u32,
    /// The vertex that this run makes (geometry shaders).
    pub vertex: u32,
}

/// The layout that a generation has for the entry word.
#[derive(Clone, Copy, Debug)]
pub struct EntryLayout {
    /// Makes the word. Values are cut to their fields.
    pub word: fn(StageEntry) -> u32,
    /// Reads the word.
    pub entry: fn(u32) -> StageEntry,
    /// Number of vertices that the word can number.
    pub vertices: u32,
}

/// What a geometry shader says of a vertex that it made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PrimitiveWord {
    /// The word itself, for tools that show it.
    pub word: u32,
    /// Layer of the render target.
    pub layer: u32,
    /// Number of the viewport.
    pub viewport: u8,
    /// The stream of a point.
    pub stream: u8,
    /// Whether the vertex begins a new primitive.
    pub cut: bool,
}
