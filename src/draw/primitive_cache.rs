//! Primitives of a draw that runs once per tile, kept from one tile to the next.
//!
//! The same packet draws the same primitives again if nothing that they were made of has
//! changed: state is compared field by field, and memory knows when the pages of vertices and
//! indices changed. Draws with more stages than the vertex shader are made anew for every tile.

use std::sync::Arc;

use crate::memo::BySlot;
use crate::memory::{Memory, PAGE};

use crate::draw::call::IndexSource;
use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::vs::VertexState;

/// Bytes kept before everything is forgotten.
const MAX_BYTES: usize = 128 << 20;

struct Entry {
    vertex: VertexState,
    primitive: Arc<PrimitiveState>,
    /// Where vertices and indices are: address and bytes.
    sources: Vec<(u32, u32)>,
    /// When they were read, as [`Memory::now`] counts.
    time: u64,
    made: Arc<Primitives>,
}

/// Primitives by the slots of the draws' packets ([`Slots`](crate::memo::Slots)).
#[derive(Default)]
pub struct PrimitiveCache {
    entries: BySlot<Entry>,
    bytes: usize,
}

impl PrimitiveCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        *self = Self::default();
    }

    /// What the packet of `slot` drew before, if it would draw the same now.
    pub fn find(
        &self,
        slot: usize,
        vertex: &VertexState,
        primitive: &Arc<PrimitiveState>,
        memory: &Memory,
    ) -> Option<Arc<Primitives>> {
        let entry = self.entries.get(slot)?;
        let same = (Arc::ptr_eq(&entry.primitive, primitive) || entry.primitive == *primitive)
            && entry.vertex.is_same(vertex)
            && entry.sources.iter().all(|(at, len)| memory.is_unchanged(*at, *len, entry.time));
        same.then(|| entry.made.clone())
    }

    /// Keeps what the packet of `slot` drew, if it depends on nothing but state and
    /// what its attributes and indices name.
    pub fn keep(
        &mut self,
        slot: usize,
        vertex: VertexState,
        primitive: Arc<PrimitiveState>,
        memory: &Memory,
        made: &Arc<Primitives>,
    ) {
        let Some(sources) = known_sources(&vertex, memory) else { return };
        // Draws may share their constants; each is counted as if it had its own.
        let bytes = made.bytes() + size_of::<Entry>() + 4 * vertex.stage.constants.len();
        if self.bytes + bytes > MAX_BYTES {
            self.clear();
        }
        self.bytes += bytes;
        let entry = Entry { vertex, primitive, sources, time: memory.now(), made: made.clone() };
        self.entries.put(slot, entry);
    }
}

/// Bytes that [`PrimitiveCache::find`] looks through for `vertex`: the times of its pages.
pub fn looked_through(vertex: &VertexState) -> u64 {
    let pages = |(_, len): (u32, u32)| u64::from(len / PAGE);
    sources(vertex).map(pages).sum::<u64>() * size_of::<u64>() as u64
}

/// The memory that vertices and indices lie in: address and bytes.
pub fn ranges(vertex: &VertexState) -> impl Iterator<Item = (u32, u32)> {
    let indices = match &vertex.fetch.indices {
        IndexSource::Memory { base, size, .. } => Some((*base, *size)),
        IndexSource::Auto | IndexSource::Immediate(_) => None,
    };
    vertex.fetch.attributes.iter().map(|attribute| (attribute.address, attribute.size)).chain(indices)
}

/// The same with the textures that the shader may sample.
fn sources(vertex: &VertexState) -> impl Iterator<Item = (u32, u32)> {
    let stage = &vertex.stage;
    let textures = stage.summary.samples.then(|| stage.textures.places()).into_iter().flatten();
    ranges(vertex).chain(textures.map(|(from, to)| (from as u32, (to - from).min(u32::MAX.into()) as u32)))
}

/// The memory that the draw's vertices are made of; `None` when it is not all known, or the shader
/// may read more.
fn known_sources(vertex: &VertexState, memory: &Memory) -> Option<Vec<(u32, u32)>> {
    if vertex.stage.reads_buffers() {
        return None;
    }
    let is_known = |(at, len): (u32, u32)| memory.slice(at, len as usize).is_some();
    sources(vertex).all(is_known).then(|| sources(vertex).collect())
}
