//! Triangles that take nothing but their vertices, set up on all cores.

use std::ops::Range;

use a4emu_decoder::regs::enums::PrimType;
use rayon::prelude::*;

use super::{Face, MADE, PolygonMode, Setup};
use crate::ambient::hold;
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

/// What there is to see of a chunk.
pub struct Seen {
    /// Triangles of which there are pixels, and nothing is clipped: each takes nothing but its vertices.
    whole: Vec<Coming>,
    /// Those that are clipped, which adds vertices, and how many come before each.
    clipped: Vec<(usize, Triangle)>,
}

impl Seen {
    /// Bytes that it takes at most, when it is added to what `vertices` are made into.
    pub fn bytes(&self, vertices: &Vertices) -> u64 {
        let vertex = (4 * vertices.stride() + size_of::<ScreenVertex>()) as u64;
        MADE * self.whole.len() as u64 + PIECES * (vertex + MADE) * self.clipped.len() as u64
    }
}

/// What becomes a primitive.
#[derive(Clone, Copy)]
enum Coming {
    /// A triangle as it is.
    Whole(Triangle, Face),
    /// What clipping has made, by its number.
    Piece(u32),
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

    /// Adds all of `count` triangles, if none of them is anything else, and there is room for all. Nothing has been done
    /// otherwise, but that it is known what there is to see of each [`CHUNK`].
    pub fn add_all(
        &mut self,
        count: usize,
        triangle: impl Fn(usize) -> Option<Triangle> + Sync,
    ) -> Result<(), Vec<Option<Seen>>> {
        let chunks: Vec<Range<usize>> =
            (0..count).step_by(CHUNK).map(|first| first..count.min(first + CHUNK)).collect();
        let seen: Vec<Option<Seen>> =
            parallel::each(chunks, Helpers::TakeLast, |chunk| self.seen(chunk, &triangle));
        let bytes = seen.iter().map(|seen| Some(seen.as_ref()?.bytes(self.vertices))).sum::<Option<u64>>();
        if !bytes.is_some_and(|bytes| self.fits(count, bytes)) {
            return Err(seen);
        }
        self.add_seen(seen.into_iter().flatten().collect());
        Ok(())
    }

    /// Adds what there is to see of some chunks, and what clipping makes of the others in them.
    pub fn add_seen(&mut self, seen: Vec<Seen>) {
        let before = self.out.len();
        let mut all = Vec::with_capacity(seen.iter().map(|seen| seen.whole.len() + seen.clipped.len()).sum());
        for Seen { whole, clipped } in seen {
            let mut added = 0;
            for (number, (v, provoking)) in clipped {
                all.extend_from_slice(&whole[added..number]);
                added = number;
                let first = self.out.len();
                self.add(Primitive::Triangle(v, provoking));
                all.extend((first..self.out.len()).map(|piece| Coming::Piece((piece - before) as u32)));
            }
            all.extend_from_slice(&whole[added..]);
        }
        let pieces = self.out.split_off(before);
        let mut out = std::mem::take(&mut self.out);
        out.par_extend(all.par_iter().with_min_len(CHUNK / 2).map_init(
            hold,
            |_control, coming| match *coming {
                Coming::Whole((v, provoking), face) => {
                    self.triangle_between(v, self.area(v), v, provoking, face)
                }
                Coming::Piece(number) => pieces[number as usize].clone(),
            },
        ));
        self.out = out;
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
}
