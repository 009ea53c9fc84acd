//! Cache of primitives of draws that run once per tile, kept from one tile to the next.
//!
//! A draw packet makes the same primitives again if none of its inputs changed. State is compared field by
//! field, and memory tells when the pages of vertices and indices changed. Draws with more stages than the
//! vertex shader are not cached.

use std::sync::Arc;

use crate::memo::{BySlot, ReadSet};
use crate::memory::Memory;

use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::reads::MemoryRead;
use crate::draw::vs::VertexState;
use crate::limits::{HEAVY_PRIMITIVES, HEAVY_SUBMITS, PRIMITIVE_CACHE};

struct Entry {
    vertex: VertexState,
    primitive: Arc<PrimitiveState>,
    /// Memory of vertices, indices and textures.
    read: ReadSet,
    made: Arc<Primitives>,
    bytes: usize,
    /// Number of the last submit that used the entry.
    used: u64,
}

/// Cache of primitives by the slots of draw packets ([`Slots`](crate::memo::Slots)).
#[derive(Default)]
pub struct PrimitiveCache {
    entries: BySlot<Entry>,
    bytes: usize,
    /// Number of submits so far.
    submits: u64,
    /// Slots that may have [`HEAVY_PRIMITIVES`] entries.
    heavy: Vec<usize>,
}

impl PrimitiveCache {
    /// Clears the cache.
    pub fn clear(&mut self) {
        *self = Self { submits: self.submits, ..Self::default() };
    }

    /// Begins a submit. Drops heavy entries without recent use, because a frame seldom repeats them later.
    pub fn begin_submit(&mut self) {
        self.submits += 1;
        for slot in std::mem::take(&mut self.heavy) {
            match self.entries.get(slot) {
                Some(entry) if entry.bytes < HEAVY_PRIMITIVES => {}
                Some(entry) if entry.used + HEAVY_SUBMITS >= self.submits => self.heavy.push(slot),
                _ => self.remove(slot),
            }
        }
    }

    fn remove(&mut self, slot: usize) {
        self.bytes -= self.entries.get(slot).map_or(0, |entry| entry.bytes);
        self.entries.remove(slot);
    }

    /// Returns the primitives of the packet of `slot`, if its inputs are unchanged.
    pub fn find(
        &mut self,
        slot: usize,
        vertex: &VertexState,
        primitive: &Arc<PrimitiveState>,
        memory: &Memory,
    ) -> Option<Arc<Primitives>> {
        let entry = self.entries.get_mut(slot)?;
        let same = (Arc::ptr_eq(&entry.primitive, primitive) || entry.primitive == *primitive)
            && entry.vertex.is_same(vertex)
            && entry.read.has_same_memory(memory);
        if same {
            entry.used = self.submits;
            return Some(entry.made.clone());
        }
        // Drop the entry, so that the new primitives can use its memory.
        self.remove(slot);
        None
    }

    /// Caches the primitives of the packet of `slot`, if they depend only on state, attributes and indices.
    pub fn keep(
        &mut self,
        slot: usize,
        vertex: VertexState,
        primitive: Arc<PrimitiveState>,
        memory: &Memory,
        made: &Arc<Primitives>,
    ) {
        let Some(read) = MemoryRead::all(MemoryRead::of_vertices(&vertex), memory) else { return };
        // Draws may share their constants. Each entry counts them as its own.
        let bytes = made.bytes() + size_of::<Entry>() + 4 * vertex.stage.constants.len();
        self.remove(slot);
        if self.bytes + bytes > PRIMITIVE_CACHE {
            self.clear();
        }
        self.bytes += bytes;
        if bytes >= HEAVY_PRIMITIVES && !self.heavy.contains(&slot) {
            self.heavy.push(slot);
        }
        let (used, made) = (self.submits, made.clone());
        self.entries.put(slot, Entry { vertex, primitive, read, made, bytes, used });
    }
}

/// Returns how many bytes [`PrimitiveCache::find`] reads for `vertex`: the times of its pages.
pub fn looked_through(vertex: &VertexState) -> u64 {
    MemoryRead::pages(MemoryRead::of_vertices(vertex)) * size_of::<u64>() as u64
}

#[cfg(test)]
mod tests {
    use crate::draw::topology::Topology;

    use super::*;
    use crate::draw::gras::state::Viewports;
    use crate::draw::sp::state::StageState;
    use crate::draw::vertices::Vertices;
    use crate::draw::vfd::state::FetchState;
    use crate::draw::vpc::state::VertexOutputs;
    use crate::machine::Model;

    struct Scene {
        cache: PrimitiveCache,
        memory: Memory,
        stage: Arc<StageState>,
        primitive: Arc<PrimitiveState>,
    }

    impl Scene {
        fn new() -> Self {
            let (regs, topology) = (Default::default(), Topology::Triangles);
            let primitive = crate::a4xx::gras::primitive(&regs, topology, Viewports::First, Model::default());
            Self {
                cache: PrimitiveCache::default(),
                memory: Memory::new(),
                stage: StageState::of("end\n").into(),
                primitive: primitive.into(),
            }
        }

        fn vertex(&self, count: u32) -> VertexState {
            let outputs =
                VertexOutputs { position: 0, point_size: None, varyings: Vec::new(), components: 0 };
            let fetch = FetchState { count, ..FetchState::default() };
            VertexState { fetch, stage: self.stage.clone(), outputs: outputs.into() }
        }

        /// Caches `vertices` vertices for the draw of `slot`.
        fn keep(&mut self, slot: usize, vertices: u32) {
            let made = Primitives::new(Vertices::new(0, vertices as usize), Vec::new(), Vec::new());
            let vertex = self.vertex(vertices);
            self.cache.keep(slot, vertex, self.primitive.clone(), &self.memory, &Arc::new(made));
        }

        fn finds(&mut self, slot: usize, vertices: u32) -> bool {
            let vertex = self.vertex(vertices);
            self.cache.find(slot, &vertex, &self.primitive.clone(), &self.memory).is_some()
        }
    }

    const MANY: u32 = (HEAVY_PRIMITIVES / 20) as u32;

    #[test]
    fn heavy_cache_entries_are_dropped_after_submits_without_use() {
        let mut scene = Scene::new();
        for (slot, vertices) in [(0, MANY), (1, MANY), (2, 3)] {
            scene.keep(slot, vertices);
        }
        for _ in 0..=HEAVY_SUBMITS {
            assert!(scene.finds(1, MANY));
            scene.cache.begin_submit();
        }
        assert_eq!(
            [(0, MANY), (1, MANY), (2, 3)].map(|(slot, count)| scene.finds(slot, count)),
            [false, true, true]
        );
        assert!(scene.cache.bytes < 2 * HEAVY_PRIMITIVES, "what is forgotten does not count");
        (0..=HEAVY_SUBMITS).for_each(|_| scene.cache.begin_submit());
        assert_eq!([(1, MANY), (2, 3)].map(|(slot, count)| scene.finds(slot, count)), [false, true]);
        assert!(scene.cache.heavy.is_empty());
    }

    #[test]
    fn replaced_cache_entries_do_not_count() {
        let mut scene = Scene::new();
        for count in [MANY, MANY + 1, 5] {
            assert!(!scene.finds(0, count), "it was another");
            assert_eq!(scene.cache.bytes, 0);
            scene.keep(0, count);
            scene.keep(0, count);
            assert!(scene.finds(0, count));
        }
        assert!(scene.cache.bytes < HEAVY_PRIMITIVES);
        scene.cache.begin_submit();
        assert!(scene.cache.heavy.is_empty() && scene.finds(0, 5));
    }
}
