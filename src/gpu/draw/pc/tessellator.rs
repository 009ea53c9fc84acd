//! The tessellator: converts factors of a patch to points of its domain, with their connections.
//!
//! A pure function. Points follow OpenGL (concentric rings, each one subdivision away from the ring around
//! it). Connections follow Direct3D 11 and other implementations: rings are stitched edge by edge, and an
//! edge with a new subdivision gets new triangles at the new points. Guess `tessellator-connects`: the A4xx
//! does the same.
//!
//! Coordinates use 16.16 fixed point, so two patches get the same points on a shared edge.
mod edge;
mod quad;
mod stitch;
mod triangle;

pub use edge::Spacing;
use edge::{Edge, Fixed, ONE};

/// Domain of a patch's points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// u and v from 0 to 1.
    Quads,
    /// Barycentric u, v, w.
    Triangles,
    /// Lines of constant v.
    Isolines,
}

impl Domain {
    /// Returns how many outer and inner factors a patch has.
    pub fn factors(self) -> [usize; 2] {
        match self {
            Self::Quads => [4, 2],
            Self::Triangles => [3, 1],
            Self::Isolines => [2, 0],
        }
    }
}

/// Output primitives made from the points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Connection {
    /// Points only, each once.
    Points,
    /// Lines or triangles, depending on the domain. Triangles are counter-clockwise when u goes right and v
    /// goes up.
    CounterClockwise,
    /// Lines or triangles, depending on the domain. Triangles are clockwise when u goes right and v goes up.
    Clockwise,
}

/// Tessellation state from registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tessellation {
    /// The domain.
    pub domain: Domain,
    /// Division of edges.
    pub spacing: Spacing,
    /// Output primitives.
    pub connection: Connection,
}

/// The factors of a patch. Factors that the domain does not have are ignored.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Factors {
    /// Factors of the edges: quads u=0, v=0, u=1, v=1; triangles u=0, v=0, w=0; isolines the number of lines,
    /// then the segments of each.
    pub outer: [f32; 4],
    /// Factors of the inside: quads along u and v; triangles only the first.
    pub inner: [f32; 2],
}

/// A tessellated patch. A culled patch has no points.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Mesh {
    /// u and v.
    pub points: Vec<[f32; 2]>,
    /// Indices of points: one, two or three for each point, line or triangle.
    pub indices: Vec<u32>,
}

impl Tessellation {
    /// Returns the points and primitives of a patch. The result is empty when an outer factor is 0, negative
    /// or NaN.
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

    /// Returns the number of vertices of an output primitive.
    pub fn primitive_vertices(&self) -> usize {
        match (self.connection, self.domain) {
            (Connection::Points, _) => 1,
            (_, Domain::Isolines) => 2,
            (_, Domain::Quads | Domain::Triangles) => 3,
        }
    }
}

/// Makes lines at equal distances for any spacing, without a line at v = 1.
fn isolines(builder: &mut Builder, spacing: Spacing, factors: &Factors) {
    let across = Edge::outer(factors.outer[0], Spacing::Equal);
    let along = Edge::outer(factors.outer[1], spacing);
    for line in 0..across.segments() {
        let v = across.at(line);
        let ids: Vec<u32> = (0..=along.segments()).map(|p| builder.point(along.at(p), v)).collect();
        builder.indices.extend(ids.windows(2).flatten());
    }
}

/// A mesh under construction.
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

/// A closed ring of points. Each side includes both of its corners.
type Ring<const N: usize> = [Vec<u32>; N];

/// Appends to each side the first point of the next side.
fn close<const N: usize>(mut sides: Ring<N>) -> Ring<N> {
    let corners: [u32; N] = std::array::from_fn(|i| sides[(i + 1) % N][0]);
    sides.iter_mut().zip(corners).for_each(|(side, corner)| side.push(corner));
    sides
}

/// Fills the space between each ring and the next one inside it. Only the outermost ring may have a division
/// different from the ring inside it.
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
