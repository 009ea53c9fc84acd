//! Lists the memory that a draw fetches.

use std::borrow::Cow;

use super::draw::{Command, Draw};
use super::fetch::{Indices, VertexInput};
use super::name::{Address, slot_name};
use super::target::SurfacePlace;
use a4emu_gpu::memory::{Memory, little_endian};

/// A range of memory that a draw fetches.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Read {
    /// Name, such as `FS texture 2`.
    pub what: String,
    /// Address of the first byte.
    pub address: Address,
    /// Length in bytes.
    pub bytes: u32,
}

impl Read {
    /// The bytes of the range, cut at the end of the buffer. Memory that the capture does not hold reads as
    /// zero.
    pub fn contents<'m>(&self, memory: &'m Memory) -> Cow<'m, [u8]> {
        let len = self.bytes.min(memory.room(self.address.gpu())) as usize;
        if let Some(bytes) = memory.slice(self.address.gpu(), len) {
            return Cow::Borrowed(bytes);
        }
        let mut bytes = vec![0; len];
        let _missing_is_zero = memory.read(self.address.gpu(), &mut bytes);
        Cow::Owned(bytes)
    }
}

impl Draw {
    /// The ranges that the draw fetches, in the order of the pipeline: indices, vertex buffers between the
    /// least and the greatest index, textures, storage buffers; the source of a blit. Loads of shaders through pointers are not
    /// included.
    pub fn reads(&self, memory: &Memory) -> Vec<Read> {
        let mut reads = Vec::new();
        if let (Some(indices), &Command::Draw { count, instances, .. }) = (&self.indices, &self.command) {
            reads.extend(indices.read(count, memory));
            let range = indices.range(count, memory);
            let inputs = self.vertex_inputs.iter();
            reads.extend(inputs.filter_map(|input| input.read(memory, indices, range?, instances)));
        }
        for stage in &self.shaders {
            let named = |kind: &str, base, slot| format!("{} {kind} {}", stage.name(), slot_name(base, slot));
            reads.extend(stage.textures.iter().map(|texture| Read {
                what: named("texture", texture.base, texture.slot),
                address: texture.address,
                bytes: u32::try_from(texture.bytes).unwrap_or(u32::MAX),
            }));
            reads.extend(stage.buffers.iter().map(|buffer| Read {
                what: named(buffer.kind(), buffer.base, buffer.slot),
                address: buffer.address,
                bytes: buffer.held(memory),
            }));
        }
        if let Some(source) = self.blit.as_ref().and_then(|blit| blit.source.as_ref())
            && let SurfacePlace::Address(address) = source.place
        {
            let bytes = u32::try_from(source.bytes).unwrap_or(u32::MAX);
            reads.push(Read { what: source.register.to_owned(), address, bytes });
        }
        reads
    }
}

impl Indices {
    fn read(&self, count: u32, memory: &Memory) -> Option<Read> {
        let buffer = self.buffer?;
        let start = u64::from(buffer.first) * u64::from(buffer.width);
        let wanted = u64::from(count) * u64::from(buffer.width);
        let bytes = u64::from(buffer.bytes).saturating_sub(start).min(wanted);
        let address = Address::of(memory.behind(buffer.address.gpu(), start));
        Some(Read { what: "indices".to_owned(), address, bytes: u32::try_from(bytes).ok()? })
    }

    /// The least and the greatest of `count` indices; none if there is no index.
    pub fn range(&self, count: u32, memory: &Memory) -> Option<[u32; 2]> {
        let count = count.checked_sub(1)? + 1;
        let of = |indices: &mut dyn Iterator<Item = u32>| {
            indices.filter(|index| self.restart != Some(*index)).fold(
                None,
                |range: Option<[u32; 2]>, index| {
                    let [least, greatest] = range.unwrap_or([index; 2]);
                    Some([least.min(index), greatest.max(index)])
                },
            )
        };
        match (&self.inline, self.buffer) {
            (Some(indices), _) => of(&mut indices.iter().copied().take(count as usize)),
            (None, Some(buffer)) => {
                let read = self.read(count, memory)?;
                let bytes = read.contents(memory);
                let width = buffer.width.clamp(1, 4) as usize;
                of(&mut bytes.chunks_exact(width).map(little_endian))
            }
            (None, None) => Some([0, count - 1]),
        }
    }
}

impl VertexInput {
    /// The range that vertices with indices in `range` fetch, for this number of instances.
    fn read(&self, memory: &Memory, indices: &Indices, range: [u32; 2], instances: u32) -> Option<Read> {
        let [first, last] = match self.divisor {
            0 => range.map(|index| index.wrapping_add_signed(indices.base_vertex)),
            divisor => {
                [0, instances.saturating_sub(1) / divisor].map(|i| i.wrapping_add(indices.first_instance))
            }
        };
        let at = |element: u32| u64::from(element) * u64::from(self.stride);
        let end = (at(last) + u64::from(self.element_bytes)).min(self.bytes.into());
        // If element numbers wrap around, any element may be fetched.
        let start = if first <= last { at(first) } else { 0 };
        let bytes = u32::try_from(end.checked_sub(start)?).ok().filter(|bytes| *bytes > 0)?;
        let address = Address::of(memory.behind(self.address.gpu(), start));
        Some(Read { what: format!("vertex input {}", self.index), address, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::IndexBuffer;

    fn indices(buffer: IndexBuffer) -> Indices {
        Indices { base_vertex: 0, first_instance: 0, restart: None, inline: None, buffer: Some(buffer) }
    }

    fn input(divisor: u32) -> VertexInput {
        VertexInput {
            index: 3,
            address: Address(0x2000),
            bytes: 100,
            stride: 8,
            divisor,
            format: String::new(),
            element_bytes: 4,
            swap: String::new(),
            integer: false,
            register: String::new(),
            components: String::new(),
            codec: None,
        }
    }

    fn range(read: Option<Read>) -> Option<(u64, u32)> {
        read.map(|read| (read.address.0, read.bytes))
    }

    #[test]
    fn indices_are_read_from_the_first_and_no_further_than_the_buffer() {
        let mut memory = Memory::new();
        memory.announce(0x1000, 10, Some(&[9, 0, 7, 0, 0xff, 0xff, 30, 0, 8, 0]));
        let buffer = IndexBuffer { address: Address(0x1000), bytes: 10, width: 2, first: 1 };
        let all = indices(buffer);
        assert_eq!(range(all.read(3, &memory)), Some((0x1002, 6)));
        assert_eq!(range(all.read(u32::MAX, &memory)), Some((0x1002, 8)));
        assert_eq!(all.range(2, &memory), Some([7, 0xffff]));
        let restarting = Indices { restart: Some(0xffff), ..all.clone() };
        assert_eq!(restarting.range(3, &memory), Some([7, 30]));
        assert_eq!(all.range(0, &memory), None);
        assert_eq!(Indices { buffer: None, ..all }.range(5, &memory), Some([0, 4]));
    }

    #[test]
    fn of_a_vertex_buffer_what_the_indices_reach_is_read() {
        let from = Indices { base_vertex: -2, ..indices(IndexBuffer::default()) };
        assert_eq!(range(input(0).read(&Memory::new(), &from, [4, 6], 1)), Some((0x2010, 20)));
        assert_eq!(
            range(input(0).read(&Memory::new(), &from, [4, 600], 1)),
            Some((0x2010, 84)),
            "no more than there is"
        );
        assert_eq!(
            range(input(0).read(&Memory::new(), &from, [0, 3], 1)),
            Some((0x2000, 12)),
            "numbers wrap around"
        );
        assert_eq!(range(input(0).read(&Memory::new(), &from, [90, 91], 1)), None, "none of it");
        let instanced = Indices { first_instance: 1, ..from };
        assert_eq!(range(input(2).read(&Memory::new(), &instanced, [4, 6], 5)), Some((0x2008, 20)));
    }
}
