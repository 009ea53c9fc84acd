//! Shaded vertices, passed from the last vertex stage to the rasteriser.

use std::fmt;
use std::sync::Arc;

use crate::draw::stage_words::PrimitiveWord;

use bytemuck::{Pod, Zeroable};

use crate::draw::work::Geometry;
use crate::pool::Pool;

/// Words before the varyings: position x, y, z, w and point size.
pub const HEADER: usize = 5;

/// Marks a primitive restart in a list of vertex numbers.
pub const RESTART: u32 = u32::MAX;

/// Vertices for set-up.
#[derive(Clone, Default)]
pub struct VertexStream {
    /// The vertices.
    pub vertices: Vertices,
    /// Vertex numbers in drawing order, with restarts.
    pub list: Vec<u32>,
    /// Geometry shader's primitive word of each vertex; empty without a geometry shader.
    pub words: Vec<PrimitiveWord>,
    /// What the chip runs for it; not counted for stages after the vertex shader.
    pub geometry: Geometry,
}

/// Vertices as rows of equal length: clip-space position, point size, then the varying components by VPC
/// location. Components are bits, because flat ones may be integers.
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    stride: usize,
    words: Vec<u32>,
    /// Screen positions of the first vertices in the draw's first viewport, if the vertex stage computed
    /// them.
    screen: Vec<ScreenVertex>,
    /// Pool that gets the memory back, if any.
    spare: Option<SpareLists>,
}

/// A vertex after the viewport transform. Aligned, so that none crosses a cache line.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C, align(32))]
pub struct ScreenVertex {
    /// Position in pixels.
    pub xy: [f32; 2],
    /// Depth.
    pub z: f32,
    /// 1 / w.
    pub inv_w: f32,
    /// Position in sub-pixels.
    pub snapped: [i32; 2],
    /// Bit i is set if the vertex is outside plane i of the clip volume.
    pub outcode: u32,
    /// Padding.
    pub unused: u32,
}

/// Pools of vertex memory that draws share for reuse.
#[derive(Clone, Default)]
pub struct SpareLists(Arc<Lists>);

#[derive(Default)]
struct Lists {
    rows: Pool<u32>,
    screen: Pool<ScreenVertex>,
}

impl SpareLists {
    /// Returns the pool of vertex rows.
    pub fn rows(&self) -> &Pool<u32> {
        &self.0.rows
    }

    /// Returns the pool of screen vertices.
    pub fn screen(&self) -> &Pool<ScreenVertex> {
        &self.0.screen
    }
}

impl fmt::Debug for SpareLists {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SpareLists")
    }
}

impl Drop for Vertices {
    fn drop(&mut self) {
        if let Some(spare) = &self.spare {
            spare.rows().leave(std::mem::take(&mut self.words));
        }
    }
}

impl PartialEq for Vertices {
    fn eq(&self, other: &Self) -> bool {
        (self.stride, &self.words) == (other.stride, &other.words)
    }
}

impl Vertices {
    /// Creates `count` vertices with `varyings` components each, in uninitialised reused memory. The vertex
    /// stage must write all of it.
    pub fn unwritten(varyings: usize, count: usize, spare: &SpareLists) -> Self {
        let stride = HEADER + varyings;
        let words = spare.rows().take(stride * count, 0);
        Self { stride, words, screen: Vec::new(), spare: Some(spare.clone()) }
    }

    /// Creates an empty list of vertices with `varyings` components each, in reused memory.
    pub fn to_come(varyings: usize, spare: &SpareLists) -> Self {
        let words = spare.rows().largest();
        Self { stride: HEADER + varyings, words, screen: Vec::new(), spare: Some(spare.clone()) }
    }

    /// Returns the pools that the memory belongs to, if any.
    pub fn spare(&self) -> Option<&SpareLists> {
        self.spare.as_ref()
    }

    /// Creates `count` zero vertices with `varyings` components each.
    pub fn new(varyings: usize, count: usize) -> Self {
        let stride = HEADER + varyings;
        Self { stride, words: vec![0; stride * count], screen: Vec::new(), spare: None }
    }

    /// Returns the words of a vertex.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Returns the number of varying components of a vertex.
    pub fn varying_components(&self) -> usize {
        self.stride - HEADER
    }

    /// Returns the number of vertices.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride.max(1)
    }

    /// Returns whether there are no vertices.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Returns the bytes of `count` vertices with `varyings` components each.
    pub fn bytes_of(varyings: usize, count: usize) -> u64 {
        ((HEADER + varyings) as u64).saturating_mul(4 * count as u64)
    }

    /// Returns all rows for writing.
    pub fn rows_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// Returns the rows from vertex `first` on.
    pub fn rows_from(&self, first: usize) -> &[u32] {
        &self.words[first * self.stride..]
    }

    /// Sets the screen positions.
    pub fn place(&mut self, screen: Vec<ScreenVertex>) {
        self.screen = screen;
    }

    /// Takes the screen positions, if they were [set](Vertices::place).
    pub fn take_places(&mut self) -> Vec<ScreenVertex> {
        std::mem::take(&mut self.screen)
    }

    /// Returns the row of vertex `v`.
    pub fn row(&self, v: u32) -> &[u32] {
        &self.words[v as usize * self.stride..][..self.stride]
    }

    /// Returns the varying components of vertex `v`.
    pub fn varyings(&self, v: u32) -> &[u32] {
        &self.row(v)[HEADER..]
    }

    /// Returns the number of varying components of each vertex.
    pub fn components(&self) -> usize {
        self.stride.saturating_sub(HEADER)
    }

    /// Returns sixteen words from component `first` of vertex `v` on. Words after the last component are
    /// undefined.
    #[inline]
    pub fn sixteen(&self, v: u32, first: usize) -> [u32; 16] {
        let from = self.words.get(v as usize * self.stride + HEADER + first..);
        from.and_then(|words| words.first_chunk().copied()).unwrap_or_else(|| {
            let mut padded = [0; 16];
            padded.iter_mut().zip(from.unwrap_or_default()).for_each(|(to, word)| *to = *word);
            padded
        })
    }

    /// Returns the clip-space position of vertex `v`.
    pub fn position(&self, v: u32) -> [f32; 4] {
        let row = self.row(v);
        std::array::from_fn(|i| f32::from_bits(row[i]))
    }

    /// Returns the point size of vertex `v`.
    pub fn point_size(&self, v: u32) -> f32 {
        f32::from_bits(self.row(v)[4])
    }

    /// Sets w of vertex `v`, to correct rounding on a clip plane.
    pub fn set_w(&mut self, v: u32, w: f32) {
        self.words[v as usize * self.stride + 3] = w.to_bits();
    }

    /// Returns the bytes of all rows.
    pub fn bytes(&self) -> u64 {
        size_of_val(self.words.as_slice()) as u64
    }

    /// Adds whole rows.
    pub fn extend(&mut self, rows: &[u32]) {
        debug_assert!(rows.len().is_multiple_of(self.stride), "rows are whole");
        self.words.extend_from_slice(rows);
    }

    /// Adds a row and returns its number.
    pub fn push(&mut self, row: &[u32]) -> u32 {
        self.words.extend_from_slice(row);
        self.len() as u32 - 1
    }

    /// Adds the vertex at fraction `t` from `a` to `b`, in clip space.
    ///
    /// Interpolates every word as a float. Flat components are not used: they come from the provoking vertex
    /// later.
    pub fn push_between(&mut self, a: u32, b: u32, t: f32) -> u32 {
        for i in 0..self.stride {
            let from = f32::from_bits(self.words[a as usize * self.stride + i]);
            let to = f32::from_bits(self.words[b as usize * self.stride + i]);
            self.words.push((from + (to - from) * t).to_bits());
        }
        self.len() as u32 - 1
    }
}
