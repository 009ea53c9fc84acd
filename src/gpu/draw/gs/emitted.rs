//! Results of geometry shaders: rows of vertices, and the strips that they form.

use crate::draw::stage_words::PrimitiveWord;
use crate::draw::topology::Topology;

use crate::draw::vertices::{RESTART, Vertices};

/// The vertices of one invocation, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Emitted {
    /// Rows of [`Vertices`].
    pub rows: Vec<u32>,
    /// Primitive word of each vertex.
    pub words: Vec<PrimitiveWord>,
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
}

impl Strips {
    /// Creates empty strips for vertices with `components` varyings.
    pub fn new(components: usize) -> Self {
        Self { vertices: Vertices::new(components, 0), ..Self::default() }
    }

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

    /// Adds an invocation. It always starts a new strip.
    pub fn push(&mut self, topology: Topology, emitted: &Emitted) {
        let first = self.words.len() as u32;
        match topology {
            Topology::SizedPoints => {
                let drawn = (first..).zip(&emitted.words).filter(|(_, word)| word.stream == 0);
                self.list.extend(drawn.map(|(number, _)| number));
            }
            _ => {
                self.list.push(RESTART);
                for (number, word) in (first..).zip(&emitted.words) {
                    if word.cut {
                        self.list.push(RESTART);
                    }
                    self.list.push(number);
                }
            }
        }
        self.vertices.extend(&emitted.rows);
        self.words.extend_from_slice(&emitted.words);
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
        Emitted { rows: vec![0; 5 * words.len()], words: words.iter().map(|word| of(*word)).collect() }
    }

    fn list(topology: Topology, invocations: &[&[u32]]) -> Vec<u32> {
        let mut strips = Strips::new(0);
        invocations.iter().for_each(|words| strips.push(topology, &emitted(words)));
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
            let mut strips = Strips::new(0);
            strips.push(topology, &emitted(&[0, 0, 0, 0, 4, 0, 4]));
            strips.primitives(topology)
        };
        let topologies = [Topology::SizedPoints, Topology::LineStrip, Topology::TriangleStrip];
        assert_eq!(topologies.map(count), [7, 3 + 1, 2]);
    }

    #[test]
    fn points_of_other_streams_are_not_drawn() {
        assert_eq!(list(Topology::SizedPoints, &[&[0, 1, 4, 2], &[3, 0]]), [0, 2, 5]);
    }
}
