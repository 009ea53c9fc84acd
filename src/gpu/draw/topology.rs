//! Types of vertex lists.

use std::fmt;

/// Type of a vertex list.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum Topology {
    /// Nothing is drawn.
    None,
    /// Points of one size.
    Points,
    /// Points that each have a size.
    SizedPoints,
    /// Lines of two vertices each.
    Lines,
    /// A line to each vertex from the one before.
    LineStrip,
    /// As a strip, with a line from the last vertex to the first.
    LineLoop,
    /// Triangles of three vertices each.
    Triangles,
    /// A triangle for each vertex with the two before.
    TriangleStrip,
    /// A triangle for each vertex with the one before and the first.
    TriangleFan,
    /// Axis-aligned rectangles.
    Rectangles,
    /// Lines of four vertices each: with one neighbour before and behind.
    LinesAdjacent,
    /// A strip of lines with neighbours at its ends.
    LineStripAdjacent,
    /// Triangles of six vertices each: with a neighbour at each side.
    TrianglesAdjacent,
    /// A strip of triangles with neighbours.
    TriangleStripAdjacent,
    /// Patches of so many vertices.
    Patches(u32),
    /// A number without a meaning.
    Unknown(u32),
}

/// As messages name it: by Mesa's names, which all generations have.
impl fmt::Debug for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::None => "DI_PT_NONE",
            Self::Points => "DI_PT_POINTLIST",
            Self::SizedPoints => "DI_PT_POINTLIST_PSIZE",
            Self::Lines => "DI_PT_LINELIST",
            Self::LineStrip => "DI_PT_LINESTRIP",
            Self::LineLoop => "DI_PT_LINELOOP",
            Self::Triangles => "DI_PT_TRILIST",
            Self::TriangleStrip => "DI_PT_TRISTRIP",
            Self::TriangleFan => "DI_PT_TRIFAN",
            Self::Rectangles => "DI_PT_RECTLIST",
            Self::LinesAdjacent => "DI_PT_LINE_ADJ",
            Self::LineStripAdjacent => "DI_PT_LINESTRIP_ADJ",
            Self::TrianglesAdjacent => "DI_PT_TRI_ADJ",
            Self::TriangleStripAdjacent => "DI_PT_TRISTRIP_ADJ",
            Self::Patches(vertices) => return write!(f, "DI_PT_PATCHES{vertices}"),
            Self::Unknown(number) => return write!(f, "Other({number})"),
        })
    }
}
