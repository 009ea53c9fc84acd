//! What reaches the rasteriser of a draw.

use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use rayon::prelude::*;

use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::vertices::{SpareLists, Vertices};

/// Primitives of which one thread should not have to see all.
const MANY: usize = 4096;

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
    /// Of all of them: most draws of a frame are seen in a few tiles.
    pub extent: Rect,
}

impl Primitives {
    /// With the bounds of `primitives`.
    pub fn new(vertices: Vertices, primitives: Vec<ScreenPrimitive>, words: Vec<PRIMITIVE_WORD>) -> Self {
        let bounds = |primitive: &ScreenPrimitive| primitive.shape.bounds;
        let bounds: Vec<Rect> = match primitives.len() {
            0..MANY => primitives.iter().map(bounds).collect(),
            _ => primitives.par_iter().with_min_len(MANY / 2).map(bounds).collect(),
        };
        let extent = extent(&bounds);
        Self { vertices, primitives, words, bounds, extent }
    }

    /// None yet, of vertices with so many components of varyings, in as much memory as others have left.
    pub fn to_come(components: usize, spare: &SpareLists) -> Self {
        Self::new(Vertices::to_come(components, spare), Vec::new(), Vec::new())
    }

    /// Adds `more` at the end, with those of their vertices that primitives have.
    pub fn append(&mut self, more: Self) {
        let mut rows = vec![None; more.vertices.len()];
        let vertices = &mut self.vertices;
        let mut moved =
            |row: u32| *rows[row as usize].get_or_insert_with(|| vertices.push(more.vertices.row(row)));
        for mut primitive in more.primitives {
            primitive.vertices = primitive.vertices.map(&mut moved);
            primitive.provoking = moved(primitive.provoking);
            self.primitives.push(primitive);
        }
        self.bounds.extend(more.bounds);
        self.extent = self.extent.union(more.extent);
    }

    /// Bytes that they take.
    pub fn bytes(&self) -> usize {
        let primitive = size_of::<ScreenPrimitive>() + size_of::<Rect>();
        self.vertices.bytes() as usize + self.primitives.len() * primitive
    }
}

/// What holds all of `bounds`.
fn extent(bounds: &[Rect]) -> Rect {
    bounds.iter().filter(|bounds| !bounds.is_empty()).fold(Rect::NOTHING, |all, bounds| all.union(*bounds))
}
