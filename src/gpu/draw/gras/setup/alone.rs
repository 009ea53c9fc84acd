//! Parallel set-up of triangles that depend only on their vertices.

use std::ops::Range;

use crate::draw::topology::Topology;
use rayon::prelude::*;

use super::{Face, MADE, PolygonMode, Setup};
use crate::ambient::hold;
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::topology::Primitive;
use crate::draw::vertices::{RESTART, ScreenVertex, Vertices};
use crate::limits::SETUP_CHUNK;
use crate::parallel::{self, Helpers};
use crate::work_trace::{Activity, begin};

/// Maximum number of vertices and primitives that clipping makes of a triangle: more than seven planes can.
const PIECES: u64 = 32;

/// Three vertices in winding order, and the provoking one.
type Triangle = ([u32; 3], u32);

/// Visible triangles of a chunk.
pub struct VisibleChunk {
    /// Visible unclipped triangles. They depend only on their vertices.
    whole: Vec<PendingTriangle>,
    /// Clipped triangles, which add vertices, each with the number of unclipped ones before it.
    clipped: Vec<(usize, Triangle)>,
}

impl VisibleChunk {
    /// Returns the maximum number of bytes that the chunk adds.
    pub fn bytes(&self, vertices: &Vertices) -> u64 {
        let vertex = (4 * vertices.stride() + size_of::<ScreenVertex>()) as u64;
        MADE * self.whole.len() as u64 + PIECES * (vertex + MADE) * self.clipped.len() as u64
    }
}

/// A future primitive.
#[derive(Clone, Copy)]
enum PendingTriangle {
    /// An unclipped triangle.
    Whole(Triangle, Face),
    /// Index of a primitive that clipping made.
    Piece(u32),
}

/// Returns the triangles of a list of separate triangles.
pub fn listed(
    topology: Topology,
    provoking: Provoking,
    list: &[u32],
) -> Option<impl Fn(usize) -> Option<Triangle> + Sync> {
    let corner = provoking.corner(3);
    let triangle = move |number: usize| {
        let v: [u32; 3] = *list.get(3 * number..)?.first_chunk()?;
        (!v.contains(&RESTART)).then_some((v, v[corner]))
    };
    (topology == Topology::Triangles).then_some(triangle)
}

/// Returns the triangles of a list of primitives.
pub fn of_primitives(list: &[Primitive]) -> impl Fn(usize) -> Option<Triangle> + Sync {
    |number| match list[number] {
        Primitive::Triangle(v, provoking) => Some((v, provoking)),
        _ => None,
    }
}

impl Setup<'_> {
    /// Returns whether there are enough primitives for several threads, and triangles are only filled.
    pub fn can_be_alone(&self, count: usize) -> bool {
        let plain = self.state.polygon_mode == [PolygonMode::Fill; 2] && self.state.offset.is_none();
        count >= 2 * SETUP_CHUNK && plain && self.viewports.len() == 1
    }

    /// Sets up `count` triangles, if all primitives are triangles and fit into memory. Otherwise changes
    /// nothing, and returns the visible triangles of each [`SETUP_CHUNK`].
    pub fn add_all(
        &mut self,
        count: usize,
        triangle: impl Fn(usize) -> Option<Triangle> + Sync,
    ) -> Result<(), Vec<Option<VisibleChunk>>> {
        let chunks: Vec<Range<usize>> =
            (0..count).step_by(SETUP_CHUNK).map(|first| first..count.min(first + SETUP_CHUNK)).collect();
        let seen: Vec<Option<VisibleChunk>> =
            parallel::each(chunks, Helpers::TakeLast, |chunk| self.seen(chunk, &triangle));
        let bytes = seen.iter().map(|seen| Some(seen.as_ref()?.bytes(self.vertices))).sum::<Option<u64>>();
        if !bytes.is_some_and(|bytes| self.fits(count, bytes)) {
            return Err(seen);
        }
        self.add_seen(seen.into_iter().flatten().collect());
        Ok(())
    }

    /// Sets up the visible triangles of some chunks, and clips the others in them.
    pub fn add_seen(&mut self, seen: Vec<VisibleChunk>) {
        let before = self.out.len();
        let mut all = Vec::with_capacity(seen.iter().map(|seen| seen.whole.len() + seen.clipped.len()).sum());
        for VisibleChunk { whole, clipped } in seen {
            let mut added = 0;
            for (number, (v, provoking)) in clipped {
                all.extend_from_slice(&whole[added..number]);
                added = number;
                let first = self.out.len();
                self.add(Primitive::Triangle(v, provoking));
                all.extend(
                    (first..self.out.len()).map(|piece| PendingTriangle::Piece((piece - before) as u32)),
                );
            }
            all.extend_from_slice(&whole[added..]);
        }
        let pieces = self.out.split_off(before);
        let mut out = std::mem::take(&mut self.out);
        let triangles = all.par_iter().with_min_len(SETUP_CHUNK / 2).map_init(
            || (hold(), begin(Activity::Primitives)),
            |_, coming| match *coming {
                PendingTriangle::Whole((v, provoking), face) => {
                    self.triangle_between(v, self.area(v), v, provoking, face)
                }
                PendingTriangle::Piece(number) => pieces[number as usize].clone(),
            },
        );
        out.par_extend(triangles);
        self.out = out;
    }

    /// Returns the visible triangles of a chunk; `None` if a primitive is not a triangle.
    fn seen(
        &self,
        chunk: Range<usize>,
        triangle: impl Fn(usize) -> Option<Triangle>,
    ) -> Option<VisibleChunk> {
        let mut whole = Vec::with_capacity(chunk.len());
        let mut clipped = Vec::new();
        for number in chunk {
            let (v, provoking) = triangle(number)?;
            match self.is_clipped(v) {
                None => continue,
                Some(true) => {
                    clipped.push((whole.len(), (v, provoking)));
                    continue;
                }
                Some(false) => {}
            }
            if let Some(face) = self.face(self.area(v))
                && self.has_pixels(v)
            {
                whole.push(PendingTriangle::Whole((v, provoking), face));
            }
        }
        Some(VisibleChunk { whole, clipped })
    }
}
