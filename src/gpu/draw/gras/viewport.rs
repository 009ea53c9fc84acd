//! A viewport and the vertices that went through it.

use crate::draw::gras::clip::{ClipVolume, DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::screen_vertex::{transform, transform_rows};
use crate::draw::vertices::{ScreenVertex, SpareLists, Vertices};

/// A viewport and the vertices that went through it so far.
pub struct ViewportVertices {
    /// The way through it.
    pub projection: Projection,
    /// The inside of the view volume's sides.
    pub sides: Rect,
    /// The vertices on the screen.
    pub screen: Vec<ScreenVertex>,
    /// Who has the memory of these next, if anybody waits for it.
    spare: Option<SpareLists>,
}

impl Drop for ViewportVertices {
    fn drop(&mut self) {
        if let Some(spare) = &self.spare {
            spare.screen().leave(std::mem::take(&mut self.screen));
        }
    }
}

/// The way of vertices to the screen.
pub struct Projection {
    viewport: Viewport,
    /// What primitives are clipped against.
    pub volume: ClipVolume,
}

impl Projection {
    /// Through this viewport. Without `depth` nothing is clipped but what is behind the eye.
    pub fn new(depth: Option<DepthClip>, viewport: Viewport) -> Self {
        let depth = depth.unwrap_or(DepthClip { near: false, far: false, zero_to_one: false });
        Self { viewport, volume: ClipVolume::new(depth, &viewport) }
    }

    /// Puts the vertices of some rows on the screen.
    pub fn place(&self, rows: &[u32], stride: usize, screen: &mut [ScreenVertex]) {
        transform_rows(&self.viewport, &self.volume, rows, stride, screen);
    }
}

impl ViewportVertices {
    /// Nothing transformed yet.
    pub fn new(projection: Projection, sides: Rect) -> Self {
        Self { projection, sides, screen: Vec::new(), spare: None }
    }

    /// Has those that are on the screen already.
    pub fn take_places(&mut self, vertices: &mut Vertices) {
        self.screen = vertices.take_places();
    }

    /// Transforms those of `vertices` that came since.
    pub fn transform(&mut self, vertices: &Vertices) {
        if self.spare.is_none() {
            self.spare = vertices.spare().cloned();
        }
        let Projection { viewport, volume } = &self.projection;
        transform(viewport, volume, vertices, &mut self.screen);
    }
}
