//! Cache of primitives of draws that run once per tile, kept from one tile to the next.
//!
//! A draw packet makes the same primitives again if none of its inputs changed. State is compared field by
//! field, and memory tells when the pages of vertices and indices changed. What a hull shader stores belongs to the
//! inputs as well: while nobody else stores there, a second run would store the same again.

use std::sync::Arc;

use crate::memo::{BySlot, ReadSet};
use crate::memory::Memory;

use crate::draw::gras::primitives::Primitives;
use crate::draw::gras::setup::PrimitiveState;
use crate::draw::reads;
use crate::draw::vertex_stages::VertexStages;
use crate::limits::{HEAVY_PRIMITIVES, HEAVY_SUBMITS, PRIMITIVE_CACHE};

struct Entry {
    stages: VertexStages,
    primitive: Arc<PrimitiveState>,
    /// Memory of vertices, indices and textures, and the buffers of hull and domain shader.
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
        self.drop_heavy(HEAVY_SUBMITS);
    }

    /// Drops heavy entries that the last submits before this one did not use.
    fn drop_heavy(&mut self, submits: u64) {
        for slot in std::mem::take(&mut self.heavy) {
            match self.entries.get(slot) {
                Some(entry) if entry.bytes < HEAVY_PRIMITIVES => {}
                Some(entry) if entry.used + submits >= self.submits => self.heavy.push(slot),
                _ => self.remove(slot),
            }
        }
    }

    fn remove(&mut self, slot: usize) {
        self.bytes -= self.entries.get(slot).map_or(0, |entry| entry.bytes);
        self.entries.remove(slot);
    }

    /// Returns how many bytes [`PrimitiveCache::find`] reads for `stages`: the times of their pages.
    pub fn looked_through(&self, slot: usize, stages: &VertexStages, memory: &Memory) -> u64 {
        let later = self.entries.get(slot).and_then(|entry| entry.made.geometry.later.as_deref());
        reads::pages(stages, later, memory) * size_of::<u64>() as u64
    }

    /// Returns the primitives of the packet of `slot`, if its inputs are unchanged.
    pub fn find(
        &mut self,
        slot: usize,
        stages: &VertexStages,
        primitive: &Arc<PrimitiveState>,
        memory: &Memory,
    ) -> Option<Arc<Primitives>> {
        let entry = self.entries.get_mut(slot)?;
        let same = (Arc::ptr_eq(&entry.primitive, primitive) || entry.primitive == *primitive)
            && entry.stages.is_same(stages)
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
        stages: VertexStages,
        primitive: Arc<PrimitiveState>,
        memory: &Memory,
        made: &Arc<Primitives>,
    ) {
        let Some(read) = reads::all(&stages, made.geometry.later.as_deref(), memory) else { return };
        // Draws may share their constants. Each entry counts them as its own.
        let all = stages.later().chain([&*stages.vertex.stage]);
        let constants: usize = all.map(|stage| stage.constants.len()).sum();
        let bytes = made.bytes() + size_of::<Entry>() + 4 * constants;
        self.remove(slot);
        if self.bytes + bytes > PRIMITIVE_CACHE {
            self.drop_heavy(0);
        }
        if self.bytes + bytes > PRIMITIVE_CACHE {
            self.clear();
        }
        self.bytes += bytes;
        if bytes >= HEAVY_PRIMITIVES && !self.heavy.contains(&slot) {
            self.heavy.push(slot);
        }
        let (used, made) = (self.submits, made.clone());
        self.entries.put(slot, Entry { stages, primitive, read, made, bytes, used });
    }
}

#[cfg(test)]
mod tests {
    use crate::draw::topology::Topology;

    use super::*;
    use crate::draw::gras::state::Viewports;
    use crate::draw::pc::assembler::Provoking;
    use crate::draw::sp::state::StageState;
    use crate::draw::vertices::Vertices;
    use crate::draw::vfd::state::FetchState;
    use crate::draw::vpc::state::VertexOutputs;
    use crate::draw::vs::VertexState;
    use crate::machine::Model;
    use crate::pass::Pass;

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

        fn stages(&self, count: u32) -> VertexStages {
            let outputs =
                VertexOutputs { position: 0, point_size: None, varyings: Vec::new(), components: 0 };
            let fetch = FetchState { count, ..FetchState::default() };
            VertexStages {
                vertex: VertexState { fetch, stage: self.stage.clone(), outputs: outputs.into() },
                tessellation: None,
                geometry: None,
                feedback: None,
                topology: Topology::Triangles,
                provoking: Provoking::Last,
                pass: Pass::Gmem,
            }
        }

        /// Caches `vertices` vertices for the draw of `slot`.
        fn keep(&mut self, slot: usize, vertices: u32) {
            let made = Primitives::new(Vertices::new(0, vertices as usize), Vec::new(), Vec::new());
            let stages = self.stages(vertices);
            self.cache.keep(slot, stages, self.primitive.clone(), &self.memory, &Arc::new(made));
        }

        fn finds(&mut self, slot: usize, vertices: u32) -> bool {
            let stages = self.stages(vertices);
            self.cache.find(slot, &stages, &self.primitive.clone(), &self.memory).is_some()
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
    fn a_full_cache_loses_heavy_entries_of_earlier_submits_first() {
        let mut scene = Scene::new();
        let half = PRIMITIVE_CACHE as u32 / 2 / 20;
        scene.keep(0, half);
        scene.keep(1, 3);
        scene.cache.begin_submit();
        scene.keep(2, half / 2);
        scene.keep(3, half);
        assert_eq!(
            [(0, half), (1, 3), (2, half / 2), (3, half)].map(|(slot, count)| scene.finds(slot, count)),
            [false, true, true, true]
        );
        scene.keep(4, half);
        assert_eq!(
            [(1, 3), (3, half), (4, half)].map(|(slot, count)| scene.finds(slot, count)),
            [false, false, true]
        );
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
