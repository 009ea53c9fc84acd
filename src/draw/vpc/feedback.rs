//! Transform feedback ("stream-out"): vertices of whole primitives to memory.
//!
//! All of it is inferred, because the open driver stores from the vertex shader instead
//! (hardware/registers.md 9.3; the rows in `decoder/src/regs/vpc.rs` say why each register is
//! believed). The program has an entry per output component, by its location: 0 to 3 position,
//! 4 point size, 8 on the varyings. A primitive is written to the buffers of its stream if all
//! of them have room for it. Offsets advance in their registers and go to the flush addresses
//! at once; the chip may wait for an event.

use a4emu_decoder::bits::Register;
use a4emu_decoder::regs::enums::PrimType;
use a4emu_decoder::regs::vpc::*;

use crate::fault::Client;
use crate::gpu::Gpu;

use crate::draw::front::Stream;
use crate::draw::pc::topology::{Primitive, Provoking, primitives};
use crate::draw::vertices::{HEADER, Vertices};

/// First location of varyings.
const VARYINGS: usize = 8;

/// What feedback needs of the registers.
#[derive(Clone, Debug, PartialEq)]
pub struct FeedbackState {
    buffers: [Option<Buffer>; 4],
    /// Location of a component, and where it goes.
    entries: Vec<(usize, StreamOutEntry)>,
}

/// A buffer that some stream fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buffer {
    stream: u32,
    base: u32,
    size: u32,
    /// Bytes of a vertex.
    stride: u32,
    /// Where the next vertex goes.
    offset: u32,
    /// Where the offset is written back, if not 0.
    flush: u32,
}

impl FeedbackState {
    /// The registers' feedback; `None` when no buffer is on.
    pub fn snapshot(gpu: &Gpu) -> Option<Self> {
        let regs = &gpu.regs;
        let streams = STREAM_OUT_BUFFERS(regs.get::<VPC_SO_BUF_CNTL>().VALUE()).streams();
        let off = STREAM_OUT_OVERRIDE(regs.get::<VPC_SO_OVERRIDE>().VALUE()).DISABLE();
        if off || streams == [None; 4] {
            return None;
        }
        let flush = [
            regs.get::<VPC_SO_FLUSH_WADDR_0>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_1>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_2>().VALUE(),
            regs.get::<VPC_SO_FLUSH_WADDR_3>().VALUE(),
        ];
        let buffer = |i: usize| {
            let at = i as u32;
            streams[i].map(|stream| Buffer {
                stream,
                base: regs.at::<VPC_SO_BUFFER_BASE>(at).VALUE(),
                size: regs.at::<VPC_SO_BUFFER_SIZE>(at).VALUE(),
                stride: regs.at::<VPC_SO_NCOMP>(at).VALUE().saturating_mul(4),
                offset: regs.at::<VPC_SO_BUFFER_OFFSET>(at).VALUE(),
                flush: flush[i],
            })
        };
        let words = gpu.stream_out.iter().flat_map(|word| word.entries()).enumerate();
        let entries = words.filter_map(|(location, entry)| Some((location, entry?))).collect();
        Some(Self { buffers: std::array::from_fn(buffer), entries })
    }

    /// Writes the primitives of a draw, and how far each buffer is full.
    pub fn run(&self, gpu: &mut Gpu, topology: PrimType, provoking: Provoking, stream: &Stream) {
        let mut buffers = self.buffers;
        if stream.words.is_empty() || topology != PrimType::DI_PT_POINTLIST_PSIZE {
            for primitive in primitives(topology, provoking, &stream.list).unwrap_or_default() {
                self.write(gpu, &mut buffers, 0, &stream.vertices, corners(&primitive));
            }
        } else {
            for (number, word) in (0..).zip(&stream.words) {
                self.write(gpu, &mut buffers, word.STREAM(), &stream.vertices, &[number]);
            }
        }
        for (i, buffer) in (0..).zip(&buffers) {
            let Some(buffer) = buffer else { continue };
            let row = VPC_SO_BUFFER_OFFSET::ROW;
            gpu.written_back.push((row.offset + row.stride * i, buffer.offset));
            if buffer.flush != 0 {
                gpu.store(Client::Geometry, buffer.flush, &buffer.offset.to_le_bytes());
            }
        }
    }

    /// Writes one primitive of `stream`, unless a buffer of that has no room.
    fn write(
        &self,
        gpu: &mut Gpu,
        buffers: &mut [Option<Buffer>; 4],
        stream: u32,
        vertices: &Vertices,
        corners: &[u32],
    ) {
        let mut mine = buffers.iter_mut().flatten().filter(|buffer| buffer.stream == stream);
        if !mine.all(|buffer| buffer.has_room(corners.len() as u32)) {
            return;
        }
        for corner in corners {
            for (location, entry) in &self.entries {
                let Some(buffer) = buffers[entry.buffer as usize] else { continue };
                if buffer.stream == stream && entry.offset < buffer.stride {
                    let address = buffer.base.wrapping_add(buffer.offset).wrapping_add(entry.offset);
                    let value = component(vertices, *corner, *location);
                    gpu.store(Client::Geometry, address, &value.to_le_bytes());
                }
            }
            let mine = buffers.iter_mut().flatten().filter(|buffer| buffer.stream == stream);
            mine.for_each(|buffer| buffer.offset += buffer.stride);
        }
    }
}

impl Buffer {
    /// Whether `count` vertices fit.
    fn has_room(&self, count: u32) -> bool {
        let end = u64::from(self.offset) + u64::from(self.stride) * u64::from(count);
        self.stride > 0 && end <= u64::from(self.size)
    }
}

/// The vertices of a primitive, in order. Rectangles are no output of GL's stages.
fn corners(primitive: &Primitive) -> &[u32] {
    match primitive {
        Primitive::Point(v) => std::slice::from_ref(v),
        Primitive::Line(v, _) => v,
        Primitive::Triangle(v, _) => v,
        Primitive::Corners(_) | Primitive::Rectangle(_) => &[],
    }
}

/// An output component of vertex `v`; zero where there is none.
fn component(vertices: &Vertices, v: u32, location: usize) -> u32 {
    let column = match location {
        0..HEADER => Some(location),
        HEADER..VARYINGS => None,
        _ => Some(HEADER + location - VARYINGS),
    };
    column.and_then(|column| vertices.row(v).get(column)).copied().unwrap_or(0)
}
