//! Triangles that take nothing but their vertices, set up on all cores.

use rayon::prelude::*;

use super::{PolygonMode, ScreenPrimitive, Setup};
use crate::draw::pc::topology::Primitive;

/// Primitives that one thread sets up in a row.
pub const CHUNK: usize = 512;

impl Setup<'_> {
    /// What each [`CHUNK`] of `list` becomes; `None` where one of it is clipped, which adds vertices, or is not a
    /// triangle that is filled. Nothing for lists that are too short for more than one thread.
    pub fn alone(&self, list: &[Primitive]) -> Vec<Option<Vec<ScreenPrimitive>>> {
        let state = self.state;
        let plain = state.polygon_mode == [PolygonMode::Fill; 2] && state.offset.is_none();
        if list.len() < 2 * CHUNK || !plain || self.viewports.len() > 1 {
            return Vec::new();
        }
        list.par_chunks(CHUNK).with_max_len(1).map(|chunk| self.chunk_alone(chunk)).collect()
    }

    fn chunk_alone(&self, chunk: &[Primitive]) -> Option<Vec<ScreenPrimitive>> {
        let mut out = Vec::with_capacity(chunk.len());
        for primitive in chunk {
            let Primitive::Triangle(v, provoking) = *primitive else { return None };
            match self.is_clipped(v) {
                None => continue,
                Some(true) => return None,
                Some(false) => {}
            }
            if let Some(face) = self.face(self.area(v)) {
                out.extend(self.filled(v, v, provoking, face));
            }
        }
        Some(out)
    }
}
