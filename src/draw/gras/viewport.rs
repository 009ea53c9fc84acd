//! A viewport at work: what it has transformed so far.

use crate::draw::gras::clip::{ClipVolume, DepthClip, Viewport};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::screen_vertex::{Window, transform};
use crate::draw::vertices::Vertices;

/// A viewport at work.
pub struct View {
    viewport: Viewport,
    /// The inside of the view volume's sides.
    pub sides: Rect,
    /// What primitives are clipped against.
    pub volume: ClipVolume,
    /// The vertices that came so far.
    pub windows: Vec<Window>,
}

impl View {
    /// Nothing transformed yet. Without `depth` nothing is clipped but what is behind the eye.
    pub fn new(depth: Option<DepthClip>, viewport: Viewport, sides: Rect) -> Self {
        let depth = depth.unwrap_or(DepthClip { near: false, far: false, zero_to_one: false });
        Self { viewport, sides, volume: ClipVolume::new(depth, &viewport), windows: Vec::new() }
    }

    /// Transforms those of `vertices` that came since.
    pub fn transform(&mut self, vertices: &Vertices) {
        transform(&self.viewport, &self.volume, vertices, &mut self.windows);
    }
}
