//! The tessellator: factors of a patch to points of its domain, and how they connect.
//!
//! A pure function. Points are where OpenGL puts them (concentric rings, each a
//! subdivision away from the one around it). They connect as Direct3D 11 says and
//! other implementations do: rings are stitched edge by edge, and an edge whose
//! subdivision changes grows its triangles where new points appear. That the A4xx
//! agrees is guess `tessellator-connects`.
//!
//! Coordinates are computed in 16.16 fixed point, so an edge that two patches share
//! gets the same points from either side.
mod edge;
mod quad;
mod stitch;
mod triangle;

use a4emu_decoder::regs::enums::TessSpacing;

pub use edge::Spacing;
use edge::{Edge, Fixed, ONE};

/// The space that a patch's points lie in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// u and v from 0 to 1.
    Quads,
    /// Barycentric u, v, w.
    Triangles,
    /// Lines of constant v.
    Isolines,
}

/// What the points become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Nothing: each point once.
    Points,
    /// Lines or triangles, as the domain has it; triangles counter-clockwise when u
    /// goes right and v goes up.
    CounterClockwise,
    /// The same, triangles clockwise.
    Clockwise,
}

/// What the registers say about tessellation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tessellation {
    /// The domain.
    pub domain: Domain,
    /// How edges are divided.
    pub spacing: Spacing,
    /// What comes out.
    pub connection: Connection,
}

/// The factors of a patch. Those that the domain lacks are not looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Of the edges: quads u=0, v=0, u=1, v=1; triangles u=0, v=0, w=0; isolines the
    /// number of lines, then the segments of each.
    pub outer: [f32; 4],
    /// Of the inside: quads along u and v; triangles the first.
    pub inner: [f32; 2],
}

/// A tessellated patch. A patch that is culled has no points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// u and v.
    pub points: Vec<[f32; 2]>,
    /// Numbers of points: one, two or three for each point, line or triangle.
    pub indices: Vec<u32>,
}

impl Spacing {
    /// What the register says; unknown values divide equally.
    pub fn new(spacing: TessSpacing) -> Self {
        match spacing {
            TessSpacing::ODD_SPACING => Self::FractionalOdd,
            TessSpacing::EVEN_SPACING => Self::FractionalEven,
            TessSpacing::EQUAL_SPACING | TessSpacing::Other(_) => Self::Equal,
        }
    }
}

impl Tessellation {
    /// The points and primitives of a patch; none when an outer factor is 0, negative
    /// or no number.
    pub fn run(&self, factors: &Factors) -> Mesh {
        let edges = match self.domain {
            Domain::Quads => 4,
            Domain::Triangles => 3,
            Domain::Isolines => 2,
        };
        let positive = |factor: &f32| *factor > 0.0;
        if !factors.outer[..edges].iter().all(positive) {
            return Mesh::default();
        }
        let mut builder = Builder::default();
        match self.domain {
            Domain::Quads => quad::build(&mut builder, self.spacing, factors),
            Domain::Triangles => triangle::build(&mut builder, self.spacing, factors),
            Domain::Isolines => isolines(&mut builder, self.spacing, factors),
        }
        builder.finish(self.connection)
    }

    /// Vertices of a primitive that comes out.
    pub fn primitive_vertices(&self) -> usize {
        match (self.connection, self.domain) {
            (Connection::Points, _) => 1,
            (_, Domain::Isolines) => 2,
            (_, Domain::Quads | Domain::Triangles) => 3,
        }
    }
}

/// Lines at equal distances whatever the spacing; none at v = 1.
fn isolines(builder: &mut Builder, spacing: Spacing, factors: &Factors) {
    let across = Edge::outer(factors.outer[0], Spacing::Equal);
    let along = Edge::outer(factors.outer[1], spacing);
    for line in 0..across.segments() {
        let v = across.at(line);
        let ids: Vec<u32> = (0..=along.segments()).map(|p| builder.point(along.at(p), v)).collect();
        builder.indices.extend(ids.windows(2).flatten());
    }
}

/// A mesh on its way.
#[derive(Default)]
struct Builder {
    points: Vec<[Fixed; 2]>,
    indices: Vec<u32>,
}

impl Builder {
    /// Adds a point and returns its number.
    fn point(&mut self, u: Fixed, v: Fixed) -> u32 {
        self.points.push([u, v]);
        self.points.len() as u32 - 1
    }

    /// Adds a triangle whose corners go counter-clockwise.
    fn triangle(&mut self, a: u32, b: u32, c: u32) {
        self.indices.extend([a, b, c]);
    }

    fn finish(mut self, connection: Connection) -> Mesh {
        match connection {
            Connection::Points => self.indices = (0..self.points.len() as u32).collect(),
            Connection::CounterClockwise => {}
            Connection::Clockwise => self.indices.chunks_exact_mut(3).for_each(|t| t.swap(1, 2)),
        }
        let float = |fixed: Fixed| fixed as f32 / ONE as f32;
        Mesh { points: self.points.iter().map(|p| p.map(float)).collect(), indices: self.indices }
    }
}

/// A closed ring of points: each side from corner to corner, both included.
type Ring<const N: usize> = [Vec<u32>; N];

/// Appends to each side, which lacks its last corner, where the next begins.
fn close<const N: usize>(mut sides: Ring<N>) -> Ring<N> {
    let corners: [u32; N] = std::array::from_fn(|i| sides[(i + 1) % N][0]);
    sides.iter_mut().zip(corners).for_each(|(side, corner)| side.push(corner));
    sides
}

/// Fills the space between each ring and the next one inside it. Only the outermost may
/// be divided differently from what is inside it.
fn stitch_rings<const N: usize>(builder: &mut Builder, rings: &[Ring<N>]) {
    for (depth, pair) in rings.windows(2).enumerate() {
        for (outside, inside) in pair[0].iter().zip(&pair[1]) {
            match depth {
                0 => stitch::transition(builder, outside, inside),
                _ => stitch::regular(builder, outside, inside),
            }
        }
    }
}

#[cfg(test)]
mod tests;
