//! The inputs of geometry and hull shaders: vertices of whole primitives, which the shader reads with `ldlw`.
//!
//! Source: docs/hardware/geometry-and-tessellation.md, section 1.1. For V vertices the
//! primitive begins with V system blocks; then each attribute stands once per vertex:
//!
//! ```text
//! 0x40 * v                          position of vertex v; point size at + 0x10
//! 0x40 * V + 0x10 * (N * V + v)     attribute N of vertex v
//! ```
//!
//! An attribute is four output locations of the stage before, and a primitive takes
//! no more than its attributes need (guess `primitive-inputs`).

use crate::draw::vertices::{HEADER, Vertices};

/// Bytes of a vertex's system block.
const SYSTEM: usize = 0x40;
/// Bytes of an attribute of a vertex.
const ATTRIBUTE: usize = 0x10;

/// Layout of primitives in the inputs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InputLayout {
    /// Vertices of a primitive.
    pub vertices: usize,
    /// Attributes of a vertex.
    pub attributes: usize,
}

impl InputLayout {
    /// For primitives of `vertices` vertices with `components` varying components each.
    pub fn new(vertices: usize, components: usize) -> Self {
        Self { vertices, attributes: components.div_ceil(4) }
    }

    /// Bytes from one primitive to the next.
    pub fn stride(&self) -> usize {
        self.vertices * (SYSTEM + ATTRIBUTE * self.attributes)
    }

    /// Fills `inputs` with exactly these primitives.
    pub fn fill_all<'p>(
        &self,
        inputs: &mut Vec<u8>,
        vertices: &Vertices,
        primitives: impl ExactSizeIterator<Item = &'p [u32]>,
    ) {
        inputs.clear();
        inputs.resize(primitives.len() * self.stride(), 0);
        for (place, primitive) in inputs.chunks_exact_mut(self.stride()).zip(primitives) {
            self.fill(place, vertices, primitive);
        }
    }

    /// Writes a primitive to its place of [`InputLayout::stride`] bytes.
    pub fn fill(&self, place: &mut [u8], vertices: &Vertices, primitive: &[u32]) {
        let (system, attributes) = place.split_at_mut(SYSTEM * self.vertices);
        for (v, number) in primitive.iter().enumerate() {
            let row = vertices.row(*number);
            put(&mut system[SYSTEM * v..], &row[..HEADER]);
            for (n, varyings) in row[HEADER..].chunks(4).enumerate() {
                put(&mut attributes[ATTRIBUTE * (n * self.vertices + v)..], varyings);
            }
        }
    }
}

fn put(place: &mut [u8], words: &[u32]) {
    for (to, word) in place.chunks_exact_mut(4).zip(words) {
        to.copy_from_slice(&word.to_le_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Positions from 0, attribute 0 from 0xc0, attribute 1 from 0xf0.
    #[test]
    fn a_triangle_lies_as_on_the_page() {
        let mut vertices = Vertices::new(8, 3);
        let stride = vertices.stride();
        for (i, word) in vertices.rows_mut().iter_mut().enumerate() {
            *word = (i / stride * 100 + i % stride) as u32;
        }
        let layout = InputLayout::new(3, 8);
        assert_eq!(layout.stride(), 0x120);
        let mut place = vec![0; layout.stride()];
        layout.fill(&mut place, &vertices, &[0, 2, 1]);
        let word = |at: usize| u32::from_le_bytes(std::array::from_fn(|i| place[at + i]));
        assert_eq!((word(0), word(0x40), word(0x80)), (0, 200, 100), "positions");
        assert_eq!(word(0x50), 204, "point size");
        assert_eq!((word(0xc0), word(0xd0), word(0xe0)), (5, 205, 105), "attribute 0");
        assert_eq!((word(0xf0), word(0x100), word(0x11c)), (9, 209, 112), "attribute 1");
    }
}
