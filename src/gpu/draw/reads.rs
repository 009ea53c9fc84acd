//! What the chip reads of memory for a draw. The queue waits for copies to it, and caches keep results while it is as it
//! was ([`ReadSet`]).

use a4emu_decoder::adreno::address::Address;

use super::call::IndexSource;
use super::sp::state::StageState;
use super::vertex_stages::VertexStages;
use super::vs::VertexState;
use super::work::LaterStages;
use crate::memo::ReadSet;
use crate::memory::{Memory, PAGE};

/// A read of memory by the chip.
#[derive(Clone, Copy)]
pub(crate) enum MemoryRead<'a> {
    /// So many bytes at an address.
    Bytes(Address, u64),
    /// Indices and attributes of a draw.
    Fetch(&'a VertexState),
    /// What the program of a stage loads and samples.
    Stage(&'a StageState),
}

impl<'a> MemoryRead<'a> {
    /// The reads of vertex fetch and vertex shader.
    pub fn of_vertices(vertex: &'a VertexState) -> [Self; 2] {
        [Self::Fetch(vertex), Self::Stage(&vertex.stage)]
    }

    /// Returns whether it may read any memory.
    fn is_anywhere(self) -> bool {
        matches!(self, Self::Stage(stage) if stage.reads_buffers())
    }

    /// Returns the ranges that it reads, unless it may read any memory: the first address, and one past the last.
    fn ranges(self) -> impl Iterator<Item = (u64, u64)> {
        let (bytes, fetch, stage) = match self {
            Self::Bytes(address, len) => (Some(bytes_of(address, len)), None, None),
            Self::Fetch(vertex) => (None, Some(&vertex.fetch), None),
            Self::Stage(stage) => (None, None, Some(stage).filter(|stage| stage.summary.samples)),
        };
        let indices = fetch.and_then(|fetch| match &fetch.indices {
            IndexSource::Memory { base, size, .. } => Some((*base, *size)),
            IndexSource::Auto | IndexSource::Immediate(_) => None,
        });
        let attributes = fetch.into_iter().flat_map(|fetch| fetch.attributes.iter());
        let fetched = attributes.map(|attribute| (attribute.address, attribute.size)).chain(indices);
        let fetched = fetched.map(|(address, len)| (address.get(), address.get() + u64::from(len)));
        let textures = stage.into_iter().flat_map(|stage| stage.textures.places());
        bytes.into_iter().chain(fetched).chain(textures)
    }

    /// Returns whether bytes of a buffer (address and length) may be read. Each draw asks this of many buffers.
    #[inline]
    pub fn is_of(self, (base, len): (u32, u32)) -> bool {
        let (base, end) = (u64::from(base), u64::from(base) + u64::from(len));
        let overlaps = |(from, to): (u64, u64)| from < end && base < to;
        match self {
            Self::Bytes(address, len) => overlaps(bytes_of(address, len)),
            Self::Stage(stage) if !stage.reads_buffers() => {
                stage.summary.samples && stage.textures.places().any(overlaps)
            }
            Self::Stage(_) => true,
            Self::Fetch(_) => self.ranges().any(overlaps),
        }
    }
}

/// Returns how many whole pages [`all`] looks at for `stages`.
pub(crate) fn pages(stages: &VertexStages, later: Option<&LaterStages>, memory: &Memory) -> u64 {
    let used = later.into_iter().flat_map(|later| buffers(&later.buffers, memory));
    let used = used.flatten().map(|(_, len)| u64::from(len));
    let bytes = fixed(stages).map(|(from, to)| to - from).chain(used);
    bytes.map(|bytes| bytes / u64::from(PAGE)).sum()
}

/// Returns all memory that `stages` read and stored to when they ran as `later` says. `None` if some of it is missing or not
/// known, or if they would find something else now that their stores are made.
pub(crate) fn all(stages: &VertexStages, later: Option<&LaterStages>, memory: &Memory) -> Option<ReadSet> {
    let place = |(from, to): (u64, u64)| {
        let place = (Address::new(from), u32::try_from(to - from).ok()?);
        memory.slice(place.0, place.1 as usize).map(|_| place)
    };
    if MemoryRead::Stage(&stages.vertex.stage).is_anywhere() || later.is_some_and(|later| later.is_single) {
        return None;
    }
    let mut ranges = fixed(stages).map(place).collect::<Option<Vec<_>>>()?;
    if let Some(later) = later {
        let is_stored = |(base, len): (Address, u32)| {
            let (stored, stored_end) = bytes_of(base, len.into());
            fixed(stages).any(|(from, to)| from < stored_end && stored < to)
        };
        if buffers(&later.written, memory).flatten().any(is_stored) {
            return None;
        }
        ranges.extend(buffers(&later.buffers, memory).collect::<Option<Vec<_>>>()?);
    }
    Some(ReadSet::of_memory(memory, ranges))
}

/// Returns the ranges that `stages` read other than by loads: the first address, and one past the last.
fn fixed(stages: &VertexStages) -> impl Iterator<Item = (u64, u64)> {
    let reads = MemoryRead::of_vertices(&stages.vertex).into_iter();
    reads.chain(stages.later().map(MemoryRead::Stage)).flat_map(MemoryRead::ranges)
}

/// Returns the buffers with these base addresses, as far as they exist.
fn buffers(bases: &[u64], memory: &Memory) -> impl Iterator<Item = Option<(Address, u32)>> {
    bases.iter().map(|base| memory.buffer_at(Address::new(*base)))
}

/// The first of so many bytes at an address, and one past the last.
fn bytes_of(address: Address, len: u64) -> (u64, u64) {
    (address.get(), address.get().saturating_add(len))
}
