//! Primitives of a draw that runs once per tile, kept from one tile to the next.
//!
//! The same packet draws the same primitives again if nothing that they were made of has
//! changed: state is compared field by field, and vertices and indices byte by byte. So
//! this is never wrong, whoever wrote memory in between. Draws with more stages than the
//! vertex shader are made anew for every tile.

use std::sync::Arc;

use a4emu_decoder::stage_words::PRIMITIVE_WORD;
use hashbrown::HashMap;

use crate::memory::Memory;

use crate::draw::call::IndexSource;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::{PrimitiveState, ScreenPrimitive};
use crate::draw::vertices::Vertices;
use crate::draw::vs::VertexState;

/// Bytes kept before everything is forgotten.
const MAX_BYTES: usize = 128 << 20;

/// Bytes of vertices and indices that are worth a comparison.
const MAX_SOURCE: usize = 8 << 20;

/// What reaches the rasteriser of a draw.
#[derive(Clone)]
pub struct Primitives {
    /// Shaded vertices, and those that clipping added.
    pub vertices: Vertices,
    /// Set-up primitives.
    pub primitives: Vec<ScreenPrimitive>,
    /// What a geometry shader said of the vertices; empty without one.
    pub words: Vec<PRIMITIVE_WORD>,
    /// Of each primitive: apart, because every tile looks at all of them.
    pub bounds: Vec<Rect>,
}

impl Primitives {
    /// With the bounds of `primitives`.
    pub fn new(vertices: Vertices, primitives: Vec<ScreenPrimitive>, words: Vec<PRIMITIVE_WORD>) -> Self {
        let bounds = primitives.iter().map(|primitive| primitive.shape.bounds).collect();
        Self { vertices, primitives, words, bounds }
    }
}

struct Entry {
    vertex: VertexState,
    primitive: PrimitiveState,
    sources: Vec<(u32, Vec<u8>)>,
    made: Arc<Primitives>,
}

/// Primitives by the address of the draw's packet.
#[derive(Default)]
pub struct PrimitiveCache {
    entries: HashMap<u32, Entry>,
    bytes: usize,
}

impl PrimitiveCache {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.entries.clear();
        self.bytes = 0;
    }

    /// Bytes that [`PrimitiveCache::find`] compares for the packet at `address`.
    pub fn compared(&self, address: u32) -> u64 {
        let sources = self.entries.get(&address).map(|entry| &entry.sources);
        sources.into_iter().flatten().map(|(_, bytes)| bytes.len() as u64).sum()
    }

    /// What the packet at `address` drew before, if it would draw the same now.
    pub fn find(
        &self,
        address: u32,
        vertex: &VertexState,
        primitive: &PrimitiveState,
        memory: &Memory,
    ) -> Option<Arc<Primitives>> {
        let entry = self.entries.get(&address)?;
        let same = entry.primitive == *primitive
            && entry.vertex.is_same(vertex)
            && entry.sources.iter().all(|(at, bytes)| memory.slice(*at, bytes.len()) == Some(bytes));
        same.then(|| entry.made.clone())
    }

    /// Keeps what the packet at `address` drew, if it depends on nothing but state and
    /// what its attributes and indices name. Gives the bytes that were copied for that.
    pub fn keep(
        &mut self,
        address: u32,
        vertex: VertexState,
        primitive: PrimitiveState,
        memory: &Memory,
        made: &Arc<Primitives>,
    ) -> u64 {
        let Some(sources) = sources(&vertex, memory) else { return 0 };
        let copied = sources.iter().map(|(_, bytes)| bytes.len() as u64).sum::<u64>();
        let bytes = sources.iter().map(|(_, bytes)| bytes.len()).sum::<usize>()
            + made.vertices.len() * made.vertices.stride() * 4
            + made.primitives.len() * (size_of::<ScreenPrimitive>() + size_of::<Rect>());
        if self.bytes + bytes > MAX_BYTES {
            self.clear();
        }
        self.bytes += bytes;
        self.entries.insert(address, Entry { vertex, primitive, sources, made: made.clone() });
        copied
    }
}

/// Copies of the memory that the draw's vertices are made of; `None` when it is not all
/// known, too much, or the shader may read more.
fn sources(vertex: &VertexState, memory: &Memory) -> Option<Vec<(u32, Vec<u8>)>> {
    if vertex.stage.reads_memory() {
        return None;
    }
    let mut ranges: Vec<(u32, usize)> =
        vertex.fetch.attributes.iter().map(|a| (a.address, a.size as usize)).collect();
    if let IndexSource::Memory { base, size, .. } = &vertex.fetch.indices {
        ranges.push((*base, *size as usize));
    }
    if ranges.iter().map(|(_, len)| len).sum::<usize>() > MAX_SOURCE {
        return None;
    }
    ranges.into_iter().map(|(at, len)| Some((at, memory.slice(at, len)?.to_vec()))).collect()
}
