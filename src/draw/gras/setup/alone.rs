//! Triangles that take nothing but their vertices, set up on all cores.

use std::ops::Range;

use a4emu_decoder::regs::enums::PrimType;
use rayon::prelude::*;

use super::{Face, MADE, PolygonMode, ScreenPrimitive, Setup};
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::topology::Primitive;
use crate::draw::vertices::{RESTART, ScreenVertex, Vertices};
use crate::parallel::{self, Helpers};

/// Primitives that one thread sets up in a row.
pub const CHUNK: usize = 512;

/// Vertices and primitives that clipping makes of a triangle: more than seven planes can.
const PIECES: u64 = 32;

/// Three vertices in winding order, and the provoking one.
type Triangle = ([u32; 3], u32);

/// What a chunk becomes as far as it takes nothing but its vertices.
pub struct Alone {
    made: Vec<ScreenPrimitive>,
    /// The triangles that are clipped, which adds vertices, and how many primitives come before each.
    clipped: Vec<(usize, Triangle)>,
}

impl Alone {
    /// Bytes that it takes at most, when it is added to what `vertices` are made into.
    pub fn bytes(&self, vertices: &Vertices) -> u64 {
        bytes(self.made.len(), self.clipped.len(), vertices)
    }
}

/// What there is to see of a chunk.
struct Seen {
    /// Triangles of which there are pixels, and nothing is clipped.
    whole: Vec<Coming>,
    /// Those that are clipped, and how many come before each.
    clipped: Vec<(usize, Triangle)>,
}

/// What becomes a primitive.
#[derive(Clone, Copy)]
enum Coming {
    /// A triangle as it is.
    Whole(Triangle, Face),
    /// What clipping has made, by its number.
    Piece(u32),
}

/// Bytes that so many triangles take at most, and so many that are clipped, when they are added to what `vertices` are
/// made into.
fn bytes(whole: usize, clipped: usize, vertices: &Vertices) -> u64 {
    let vertex = (4 * vertices.stride() + size_of::<ScreenVertex>()) as u64;
    MADE * whole as u64 + PIECES * (vertex + MADE) * clipped as u64
}

/// The triangles of a list of nothing else, from the vertices that it names one after the other.
pub fn listed(
    topology: PrimType,
    provoking: Provoking,
    list: &[u32],
) -> Option<impl Fn(usize) -> Option<Triangle> + Sync> {
    let corner = provoking.corner(3);
    let triangle = move |number: usize| {
        let v: [u32; 3] = *list.get(3 * number..)?.first_chunk()?;
        (!v.contains(&RESTART)).then_some((v, v[corner]))
    };
    (topology == PrimType::DI_PT_TRILIST).then_some(triangle)
}

/// The triangles of a list of primitives.
pub fn of_primitives(list: &[Primitive]) -> impl Fn(usize) -> Option<Triangle> + Sync {
    |number| match list[number] {
        Primitive::Triangle(v, provoking) => Some((v, provoking)),
        _ => None,
    }
}

impl Setup<'_> {
    /// Whether so many primitives are enough for more than one thread, and triangles are just filled.
    pub fn can_be_alone(&self, count: usize) -> bool {
        let plain = self.state.polygon_mode == [PolygonMode::Fill; 2] && self.state.offset.is_none();
        count >= 2 * CHUNK && plain && self.viewports.len() == 1
    }

    /// Adds all of `count` triangles, if none of them is anything else, and there is room for so many more bytes.
    /// Nothing has been done otherwise, but that it is known what each [`CHUNK`] becomes.
    pub fn add_all(
        &mut self,
        count: usize,
        triangle: impl Fn(usize) -> Option<Triangle> + Sync,
        has_room: impl FnOnce(&Self, u64) -> bool,
    ) -> Result<(), Vec<Option<Alone>>> {
        let chunks: Vec<Range<usize>> =
            (0..count).step_by(CHUNK).map(|first| first..count.min(first + CHUNK)).collect();
        let seen: Vec<Option<Seen>> =
            parallel::each(chunks, Helpers::TakeLast, |chunk| self.seen(chunk, &triangle));
        let bytes = |seen: &Option<Seen>| {
            seen.as_ref().map(|seen| bytes(seen.whole.len(), seen.clipped.len(), self.vertices))
        };
        let all = seen.iter().map(bytes).sum::<Option<u64>>();
        if !all.is_some_and(|all| has_room(self, all)) {
            let alone = |seen: Option<Seen>| Some(self.alone(seen?));
            return Err(parallel::each(seen, Helpers::TakeLast, alone));
        }
        self.add_seen(seen.into_iter().flatten().collect());
        Ok(())
    }

    /// Adds what there is to see of all chunks.
    fn add_seen(&mut self, seen: Vec<Seen>) {
        let mut all = Vec::with_capacity(seen.iter().map(|seen| seen.whole.len() + seen.clipped.len()).sum());
        for Seen { whole, clipped } in seen {
            let mut added = 0;
            for (before, (v, provoking)) in clipped {
                all.extend_from_slice(&whole[added..before]);
                added = before;
                let first = self.out.len();
                self.add(Primitive::Triangle(v, provoking));
                all.extend((first as u32..self.out.len() as u32).map(Coming::Piece));
            }
            all.extend_from_slice(&whole[added..]);
        }
        let pieces = std::mem::take(&mut self.out);
        let made = |coming: &Coming| match *coming {
            Coming::Whole(triangle, face) => self.whole(triangle, face),
            Coming::Piece(number) => pieces[number as usize].clone(),
        };
        self.out = all.par_iter().with_min_len(CHUNK / 2).map(made).collect();
    }

    /// Adds a chunk, and what clipping makes of the others in it.
    pub fn add_alone(&mut self, Alone { made, clipped }: Alone) {
        let mut made = made.into_iter();
        let mut added = 0;
        for (before, (v, provoking)) in clipped {
            self.out.extend(made.by_ref().take(before - added));
            added = before;
            self.add(Primitive::Triangle(v, provoking));
        }
        self.out.extend(made);
    }

    /// What there is to see of a chunk; `None` where one of it is not a triangle.
    fn seen(&self, chunk: Range<usize>, triangle: impl Fn(usize) -> Option<Triangle>) -> Option<Seen> {
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
                whole.push(Coming::Whole((v, provoking), face));
            }
        }
        Some(Seen { whole, clipped })
    }

    fn alone(&self, Seen { whole, clipped }: Seen) -> Alone {
        let made = whole.iter().filter_map(|coming| match *coming {
            Coming::Whole(triangle, face) => Some(self.whole(triangle, face)),
            Coming::Piece(_) => None,
        });
        Alone { made: made.collect(), clipped }
    }

    fn whole(&self, (v, provoking): Triangle, face: Face) -> ScreenPrimitive {
        self.triangle_between(v, self.area(v), v, provoking, face)
    }
}
