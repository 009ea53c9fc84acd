//! A viewport with its transformed vertices.

use crate::draw::gras::clip::{ClipVolume, DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::screen_vertex::{transform, transform_rows};
use crate::draw::vertices::{ScreenVertex, SpareLists, Vertices};

/// A viewport with the vertices transformed so far.
pub struct ViewportVertices {
    /// Transform and clip volume.
    pub projection: Projection,
    /// The area inside the view volume's sides.
    pub sides: Rect,
    /// The screen vertices.
    pub screen: Vec<ScreenVertex>,
    /// Pool that gets their memory back, if any.
    spare: Option<SpareLists>,
}

impl Drop for ViewportVertices {
    fn drop(&mut self) {
        if let Some(spare) = &self.spare {
            spare.screen().leave(std::mem::take(&mut self.screen));
        }
    }
}

/// Transform of vertices to the screen, with the clip volume.
pub struct Projection {
    viewport: Viewport,
    /// Clip volume of primitives.
    pub volume: ClipVolume,
}

impl Projection {
    /// Creates the projection of a viewport. Without `depth`, only the part behind the eye is clipped.
    pub fn new(depth: Option<DepthClip>, viewport: Viewport) -> Self {
        let depth = depth.unwrap_or(DepthClip { near: false, far: false, zero_to_one: false });
        Self { viewport, volume: ClipVolume::new(depth, &viewport) }
    }

    /// Transforms the vertices of some rows to the screen.
    pub fn place(&self, rows: &[u32], stride: usize, screen: &mut [ScreenVertex]) {
        transform_rows(&self.viewport, &self.volume, rows, stride, screen);
    }
}

impl ViewportVertices {
    /// Creates a viewport without transformed vertices.
    pub fn new(projection: Projection, sides: Rect) -> Self {
        Self { projection, sides, screen: Vec::new(), spare: None }
    }

    /// Takes the screen positions that the vertex stage computed.
    pub fn take_places(&mut self, vertices: &mut Vertices) {
        self.screen = vertices.take_places();
    }

    /// Transforms the vertices added since the last call.
    pub fn transform(&mut self, vertices: &Vertices) {
        if self.spare.is_none() {
            self.spare = vertices.spare().cloned();
        }
        let Projection { viewport, volume } = &self.projection;
        transform(viewport, volume, vertices, &mut self.screen);
    }
}
