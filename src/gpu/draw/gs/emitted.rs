//! Results of geometry shaders: rows of vertices, and the strips that they form.

use std::ops::Range;

use crate::draw::stage_words::PrimitiveWord;
use crate::draw::topology::Topology;

use crate::draw::vertices::{RESTART, Vertices};

/// The vertices of some invocations.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// The primitive of each invocation, and its number for that.
    pub invocations: Vec<[u32; 2]>,
    /// Rows of [`Vertices`].
    rows: Vec<u32>,
    /// Primitive word of each vertex.
    words: Vec<PrimitiveWord>,
    /// Which vertices an invocation emitted. Those of one invocation are in order.
    pieces: Vec<(usize, Range<usize>)>,
}

impl Emitted {
    /// Adds vertices of an invocation.
    pub fn add(&mut self, invocation: usize, rows: &[u32], words: impl Iterator<Item = PrimitiveWord>) {
        let first = self.words.len();
        self.rows.extend_from_slice(rows);
        self.words.extend(words);
        self.pieces.push((invocation, first..self.words.len()));
    }
}

/// An invocation that made vertices.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Maker {
    /// Number of the primitive in the draw.
    pub primitive: u32,
    /// Number of the invocation of the primitive.
    pub invocation: u32,
    /// Number of its first vertex among those of the draw.
    pub first: u32,
}

/// All emitted vertices of a draw, with their list.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Strips {
    /// The vertices.
    pub vertices: Vertices,
    /// Primitive word of each vertex.
    pub words: Vec<PrimitiveWord>,
    /// Vertex numbers, with a restart at the end of each strip. For points only stream 0, because only that
    /// stream is drawn.
    pub list: Vec<u32>,
    /// The invocations that made vertices.
    pub makers: Vec<Maker>,
}

impl Strips {
    /// Returns the number of complete primitives of stream 0. A strip has one for each vertex that ends it.
    pub fn primitives(&self, topology: Topology) -> u64 {
        let missing = match topology {
            Topology::SizedPoints => 0,
            Topology::LineStrip => 1,
            _ => 2,
        };
        let runs = self.list.split(|vertex| *vertex == RESTART);
        runs.map(|run| run.len().saturating_sub(missing) as u64).sum()
    }

    /// Adds invocations in order. Each starts a new strip.
    pub fn push(&mut self, topology: Topology, mut emitted: Emitted) {
        emitted.pieces.sort_by_key(|(invocation, _)| *invocation);
        let mut number = self.words.len() as u32;
        let mut pieces = emitted.pieces.iter().peekable();
        for (invocation, &[primitive, of_primitive]) in emitted.invocations.iter().enumerate() {
            let first = number;
            if topology != Topology::SizedPoints {
                self.list.push(RESTART);
            }
            while let Some((_, vertices)) = pieces.next_if(|(of, _)| *of == invocation) {
                let words = &emitted.words[vertices.clone()];
                self.list_vertices(topology, number, words);
                number += words.len() as u32;
            }
            if number > first {
                self.makers.push(Maker { primitive, invocation: of_primitive, first });
            }
        }
        if emitted.pieces.is_sorted_by_key(|(_, vertices)| vertices.start) {
            self.vertices.extend(&emitted.rows);
            self.words.extend_from_slice(&emitted.words);
            return;
        }
        let stride = self.vertices.stride();
        for (_, vertices) in emitted.pieces {
            self.vertices.extend(&emitted.rows[vertices.start * stride..vertices.end * stride]);
            self.words.extend_from_slice(&emitted.words[vertices]);
        }
    }

    /// Adds vertices from `number` on to the list.
    fn list_vertices(&mut self, topology: Topology, number: u32, words: &[PrimitiveWord]) {
        for (number, word) in (number..).zip(words) {
            match topology {
                Topology::SizedPoints if word.stream != 0 => continue,
                Topology::SizedPoints => {}
                _ if word.cut => self.list.push(RESTART),
                _ => {}
            }
            self.list.push(number);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A vertex of this stream, which begins a primitive if bit 2 is set.
    fn of(word: u32) -> PrimitiveWord {
        PrimitiveWord { stream: word as u8 & 3, cut: word & 4 != 0, ..PrimitiveWord::default() }
    }

    fn emitted(words: &[u32]) -> Emitted {
        let mut emitted = Emitted { invocations: vec![[0, 0]], ..Emitted::default() };
        emitted.add(0, &vec![0; 5 * words.len()], words.iter().map(|word| of(*word)));
        emitted
    }

    fn empty() -> Strips {
        Strips { vertices: Vertices::new(0, 0), ..Strips::default() }
    }

    fn list(topology: Topology, invocations: &[&[u32]]) -> Vec<u32> {
        let mut strips = empty();
        invocations.iter().for_each(|words| strips.push(topology, emitted(words)));
        assert_eq!(strips.vertices.len(), strips.words.len());
        strips.list
    }

    #[test]
    fn a_vertex_with_the_bit_begins_a_strip_and_so_does_an_invocation() {
        let got = list(Topology::TriangleStrip, &[&[0, 0, 4, 0], &[0]]);
        assert_eq!(got, [RESTART, 0, 1, RESTART, 2, 3, RESTART, 4]);
    }

    #[test]
    fn a_strip_has_a_primitive_for_each_vertex_that_completes_one() {
        let count = |topology| {
            let mut strips = empty();
            strips.push(topology, emitted(&[0, 0, 0, 0, 4, 0, 4]));
            strips.primitives(topology)
        };
        let topologies = [Topology::SizedPoints, Topology::LineStrip, Topology::TriangleStrip];
        assert_eq!(topologies.map(count), [7, 3 + 1, 2]);
    }

    /// The first of three invocations goes on after the second has ended, and the third makes nothing.
    #[test]
    fn vertices_of_an_invocation_follow_each_other() {
        let mut emitted = Emitted { invocations: vec![[0, 0], [0, 1], [1, 0]], ..Emitted::default() };
        for (invocation, vertices) in [(0, [10, 11]), (1, [20, 21]), (0, [12, 13])] {
            let rows = vertices.map(|number| [number; 5]).concat();
            emitted.add(invocation, &rows, vertices.into_iter().map(|_| of(0)));
        }
        let mut strips = empty();
        strips.push(Topology::LineStrip, emitted);
        let numbers: Vec<u32> = (0..6).map(|v| strips.vertices.row(v)[0]).collect();
        assert_eq!(numbers, [10, 11, 12, 13, 20, 21]);
        assert_eq!(strips.list, [RESTART, 0, 1, 2, 3, RESTART, 4, 5, RESTART]);
    }

    #[test]
    fn points_of_other_streams_are_not_drawn() {
        assert_eq!(list(Topology::SizedPoints, &[&[0, 1, 4, 2], &[3, 0]]), [0, 2, 5]);
    }
}
