//! Primitives that reach the rasteriser.

use crate::draw::stage_words::PrimitiveWord;

use rayon::prelude::*;

use crate::draw::gras::raster::Rect;
use crate::draw::gras::setup::ScreenPrimitive;
use crate::draw::vertices::{SpareLists, Vertices};
use crate::draw::work::Geometry;
use crate::limits::BOUNDS_PARALLEL;

/// Primitives of a draw that reach the rasteriser.
#[derive(Clone)]
pub struct Primitives {
    /// Shaded vertices, and vertices that clipping added.
    pub vertices: Vertices,
    /// Primitives after set-up.
    pub primitives: Vec<ScreenPrimitive>,
    /// Culled primitives after set-up, if they are recorded.
    pub culled: Vec<ScreenPrimitive>,
    /// Geometry shader's primitive word of each vertex; empty without a geometry shader.
    pub words: Vec<PrimitiveWord>,
    /// Bounds of each primitive. A separate list, because every tile reads all of them.
    pub bounds: Vec<Rect>,
    /// Bounds of all primitives. Most draws of a frame are visible in only a few tiles.
    pub extent: Rect,
    /// What the chip runs to make them.
    pub geometry: Geometry,
}

impl Primitives {
    /// Creates the list, and computes the bounds of `primitives`.
    pub fn new(vertices: Vertices, primitives: Vec<ScreenPrimitive>, words: Vec<PrimitiveWord>) -> Self {
        let bounds = |primitive: &ScreenPrimitive| primitive.shape.bounds;
        let bounds: Vec<Rect> = match primitives.len() {
            0..BOUNDS_PARALLEL => primitives.iter().map(bounds).collect(),
            _ => primitives.par_iter().with_min_len(BOUNDS_PARALLEL / 2).map(bounds).collect(),
        };
        let extent = extent(&bounds);
        let geometry = Geometry::default();
        Self { vertices, primitives, culled: Vec::new(), words, bounds, extent, geometry }
    }

    /// Creates an empty list for vertices with `components` varying components, in reused memory.
    pub fn to_come(components: usize, spare: &SpareLists) -> Self {
        Self::new(Vertices::to_come(components, spare), Vec::new(), Vec::new())
    }

    /// Appends `more`, without vertices that none of its primitives uses.
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
        self.culled.extend(more.culled);
        self.bounds.extend(more.bounds);
        self.extent = self.extent.union(more.extent);
        self.geometry.add(&more.geometry);
    }

    /// Returns the bytes of the lists.
    pub fn bytes(&self) -> usize {
        let primitive = size_of::<ScreenPrimitive>() + size_of::<Rect>();
        self.vertices.bytes() as usize + (self.primitives.len() + self.culled.len()) * primitive
    }
}

/// Returns the union of `bounds`.
fn extent(bounds: &[Rect]) -> Rect {
    bounds.iter().filter(|bounds| !bounds.is_empty()).fold(Rect::NOTHING, |all, bounds| all.union(*bounds))
}
