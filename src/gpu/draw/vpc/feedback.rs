//! Transform feedback ("stream-out"): writes vertices of whole primitives to memory.
//!
//! The whole feature is inferred (guess `stream-out`), because the open driver stores from the vertex shader instead
//! (docs/hardware/registers.md, section 9.3; the rows in `decoder/src/a4xx/regs/vpc.rs` give the reasons for each
//! register). The program has an entry per output component, by location: 0 to 3 position, 4 point size, 8 on
//! the varyings. A primitive is written to the buffers of its stream if it fits into all of them. Offsets
//! advance in their registers and are written to the flush addresses at once; the chip may wait for an event.

use crate::draw::topology::Topology;

use a4emu_decoder::adreno::address::Address;

use super::state::{FeedbackBuffer, FeedbackState, Filled};
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::topology::{Primitive, primitives};
use crate::draw::vertices::{HEADER, VertexStream, Vertices};

/// First location of varyings.
const VARYINGS: usize = 8;

impl FeedbackState {
    /// Returns the maximum number of components that a vertex stores.
    pub fn components(&self) -> u64 {
        self.entries.len() as u64
    }

    /// Passes the words of a draw's primitives to `store`: each with an address and how many bytes behind it it lies. Returns how far each buffer is filled.
    pub fn run(
        &self,
        topology: Topology,
        provoking: Provoking,
        stream: &VertexStream,
        store: &mut impl FnMut(Address, u64, u32),
    ) -> Filled {
        let mut buffers = self.buffers;
        if stream.words.is_empty() || topology != Topology::SizedPoints {
            for primitive in primitives(topology, provoking, &stream.list).unwrap_or_default() {
                self.write(&mut buffers, 0, &stream.vertices, corners(&primitive), store);
            }
        } else {
            for (number, word) in (0..).zip(&stream.words) {
                self.write(&mut buffers, u32::from(word.stream), &stream.vertices, &[number], store);
            }
        }
        for buffer in buffers.iter().flatten() {
            if let Some(flush) = buffer.flush {
                store(flush, 0, buffer.offset);
            }
        }
        Filled(buffers)
    }

    /// Writes one primitive of `stream`, unless one of the stream's buffers is full.
    fn write(
        &self,
        buffers: &mut [Option<FeedbackBuffer>; 4],
        stream: u32,
        vertices: &Vertices,
        corners: &[u32],
        store: &mut impl FnMut(Address, u64, u32),
    ) {
        let mut mine = buffers.iter_mut().flatten().filter(|buffer| buffer.stream == stream);
        if !mine.all(|buffer| buffer.has_room(corners.len() as u32)) {
            return;
        }
        for corner in corners {
            for (location, entry) in &self.entries {
                let Some(buffer) = buffers[entry.buffer as usize] else { continue };
                if buffer.stream == stream && entry.offset < buffer.stride {
                    let behind = u64::from(buffer.offset) + u64::from(entry.offset);
                    store(buffer.base, behind, component(vertices, *corner, *location));
                }
            }
            let mine = buffers.iter_mut().flatten().filter(|buffer| buffer.stream == stream);
            mine.for_each(|buffer| buffer.offset += buffer.stride);
        }
    }
}

impl FeedbackBuffer {
    /// Returns whether `count` vertices fit.
    fn has_room(&self, count: u32) -> bool {
        let end = u64::from(self.offset) + u64::from(self.stride) * u64::from(count);
        self.stride > 0 && end <= u64::from(self.size)
    }
}

/// Returns the vertices of a primitive, in order. GL's stages do not output rectangles.
fn corners(primitive: &Primitive) -> &[u32] {
    match primitive {
        Primitive::Point(v) => std::slice::from_ref(v),
        Primitive::Line(v, _) => v,
        Primitive::Triangle(v, _) => v,
        Primitive::Corners(_) | Primitive::Rectangle(_) => &[],
    }
}

/// Returns an output component of vertex `v`, or zero if it does not exist.
fn component(vertices: &Vertices, v: u32, location: usize) -> u32 {
    let column = match location {
        0..HEADER => Some(location),
        HEADER..VARYINGS => None,
        _ => Some(HEADER + location - VARYINGS),
    };
    column.and_then(|column| vertices.row(v).get(column)).copied().unwrap_or(0)
}
