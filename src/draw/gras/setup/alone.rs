//! Triangles that take nothing but their vertices, set up on all cores.

use rayon::prelude::*;

use super::{MADE, PolygonMode, ScreenPrimitive, Setup};
use crate::draw::pc::topology::Primitive;
use crate::draw::vertices::{ScreenVertex, Vertices};

/// Primitives that one thread sets up in a row.
pub const CHUNK: usize = 512;

/// Vertices and primitives that clipping makes of a triangle: more than seven planes can.
const PIECES: u64 = 32;

/// What a chunk becomes as far as it takes nothing but its vertices.
pub struct Alone {
    made: Vec<ScreenPrimitive>,
    /// The triangles that are clipped, which adds vertices, and how many primitives come before each.
    clipped: Vec<(usize, Primitive)>,
}

impl Alone {
    /// All that it is, if nothing of it is clipped.
    fn unclipped(&self) -> Option<&[ScreenPrimitive]> {
        self.clipped.is_empty().then_some(&self.made)
    }

    /// Bytes that it takes at most, when it is added to what `vertices` are made into.
    pub fn bytes(&self, vertices: &Vertices) -> u64 {
        let vertex = (4 * vertices.stride() + size_of::<ScreenVertex>()) as u64;
        MADE * self.made.len() as u64 + PIECES * (vertex + MADE) * self.clipped.len() as u64
    }
}

impl Setup<'_> {
    /// What each [`CHUNK`] of `list` becomes; `None` where one of it is not a triangle. Nothing for lists that are
    /// too short for more than one thread, and where triangles are not just filled.
    pub fn alone(&self, list: &[Primitive]) -> Vec<Option<Alone>> {
        let state = self.state;
        let plain = state.polygon_mode == [PolygonMode::Fill; 2] && state.offset.is_none();
        if list.len() < 2 * CHUNK || !plain || self.viewports.len() > 1 {
            return Vec::new();
        }
        list.par_chunks(CHUNK).with_max_len(1).map(|chunk| self.chunk_alone(chunk)).collect()
    }

    /// Adds all that `alone` is, if none of it is clipped or left out. False, and nothing done, if some is.
    pub fn add_all(&mut self, alone: &[Option<Alone>]) -> bool {
        let made = alone.iter().map(|alone| alone.as_ref().and_then(Alone::unclipped));
        let Some(made) = made.collect::<Option<Vec<&[ScreenPrimitive]>>>() else { return false };
        // Where each begins: what is made of primitive n of all is found in the last that does not begin behind it.
        let begins = made.iter().scan(0, |next, made| Some(std::mem::replace(next, *next + made.len())));
        let begins: Vec<usize> = begins.collect();
        let count = made.iter().map(|made| made.len()).sum();
        let primitive = |number: usize| {
            let chunk = begins.partition_point(|begin| *begin <= number) - 1;
            made[chunk][number - begins[chunk]].clone()
        };
        (0..count).into_par_iter().with_min_len(CHUNK).map(primitive).collect_into_vec(&mut self.out);
        true
    }

    /// Adds a chunk, and what clipping makes of the others in it.
    pub fn add_alone(&mut self, Alone { made, clipped }: Alone) {
        let mut made = made.into_iter();
        let mut added = 0;
        for (before, primitive) in clipped {
            self.out.extend(made.by_ref().take(before - added));
            added = before;
            self.add(primitive);
        }
        self.out.extend(made);
    }

    fn chunk_alone(&self, chunk: &[Primitive]) -> Option<Alone> {
        let mut made = Vec::with_capacity(chunk.len());
        let mut clipped = Vec::new();
        for primitive in chunk {
            let Primitive::Triangle(v, provoking) = *primitive else { return None };
            match self.is_clipped(v) {
                None => continue,
                Some(true) => {
                    clipped.push((made.len(), *primitive));
                    continue;
                }
                Some(false) => {}
            }
            if let Some(face) = self.face(self.area(v)) {
                made.extend(self.filled(v, v, provoking, face));
            }
        }
        Some(Alone { made, clipped })
    }
}
