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
        let vertex = (4 * vertices.stride() + size_of::<ScreenVertex>()) as u64;
        MADE * self.made.len() as u64 + PIECES * (vertex + MADE) * self.clipped.len() as u64
    }
}

/// What there is to see of a chunk.
struct Seen {
    /// Triangles of which there are pixels, and nothing is clipped.
    whole: Vec<(Triangle, Face)>,
    /// Those that are clipped, and how many come before each.
    clipped: Vec<(usize, Triangle)>,
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

    /// Adds all of `count` triangles, if none of them is clipped, and none is anything else. Nothing has been done
    /// otherwise, but that it is known what each [`CHUNK`] becomes.
    pub fn add_all(
        &mut self,
        count: usize,
        triangle: impl Fn(usize) -> Option<Triangle> + Sync,
    ) -> Result<(), Vec<Option<Alone>>> {
        let chunks: Vec<Range<usize>> =
            (0..count).step_by(CHUNK).map(|first| first..count.min(first + CHUNK)).collect();
        let seen: Vec<Option<Seen>> =
            parallel::each(chunks, Helpers::TakeLast, |chunk| self.seen(chunk, &triangle));
        if !seen.iter().all(|seen| seen.as_ref().is_some_and(|seen| seen.clipped.is_empty())) {
            let alone = |seen: Option<Seen>| Some(self.alone(seen?));
            return Err(parallel::each(seen, Helpers::TakeLast, alone));
        }
        let whole: Vec<Vec<(Triangle, Face)>> = seen.into_iter().flatten().map(|seen| seen.whole).collect();
        let whole = whole.concat();
        let mut out = std::mem::take(&mut self.out);
        whole.par_iter().with_min_len(CHUNK / 2).map(|whole| self.whole(whole)).collect_into_vec(&mut out);
        self.out = out;
        Ok(())
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
                whole.push(((v, provoking), face));
            }
        }
        Some(Seen { whole, clipped })
    }

    fn alone(&self, Seen { whole, clipped }: Seen) -> Alone {
        Alone { made: whole.iter().map(|whole| self.whole(whole)).collect(), clipped }
    }

    fn whole(&self, &((v, provoking), face): &(Triangle, Face)) -> ScreenPrimitive {
        self.triangle_between(v, self.area(v), v, provoking, face)
    }
}
