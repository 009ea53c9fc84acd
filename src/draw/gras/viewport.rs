//! A viewport and the vertices that went through it.

use crate::draw::gras::clip::{ClipVolume, DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::screen_vertex::transform;
use crate::draw::vertices::{ScreenVertex, SpareLists, Vertices};

/// A viewport and the vertices that went through it so far.
pub struct ViewportVertices {
    viewport: Viewport,
    /// The inside of the view volume's sides.
    pub sides: Rect,
    /// What primitives are clipped against.
    pub volume: ClipVolume,
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

impl ViewportVertices {
    /// Nothing transformed yet. Without `depth` nothing is clipped but what is behind the eye.
    pub fn new(depth: Option<DepthClip>, viewport: Viewport, sides: Rect) -> Self {
        let depth = depth.unwrap_or(DepthClip { near: false, far: false, zero_to_one: false });
        Self { viewport, sides, volume: ClipVolume::new(depth, &viewport), screen: Vec::new(), spare: None }
    }

    /// Transforms those of `vertices` that came since.
    pub fn transform(&mut self, vertices: &Vertices) {
        if self.spare.is_none() {
            self.spare = vertices.spare().cloned();
        }
        transform(&self.viewport, &self.volume, vertices, &mut self.screen);
    }
}
