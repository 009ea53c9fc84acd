//! Shaded vertices: what travels from the last vertex stage to the rasteriser.

use std::fmt;
use std::sync::Arc;

use a4emu_decoder::stage_words::PRIMITIVE_WORD;

use bytemuck::{Pod, Zeroable};

use crate::spare::Pool;

/// Words in front of the varyings: position x, y, z, w and point size.
pub const HEADER: usize = 5;

/// Marks a primitive restart in a list of vertex numbers.
pub const RESTART: u32 = u32::MAX;

/// Vertices on their way to set-up.
#[derive(Clone, Default)]
pub struct VertexStream {
    /// The vertices.
    pub vertices: Vertices,
    /// Their numbers in drawing order, with restarts.
    pub list: Vec<u32>,
    /// What a geometry shader said of each vertex; empty without one.
    pub words: Vec<PRIMITIVE_WORD>,
}

/// Vertices as rows of equal length: clip-space position, point size, then the
/// varying components by VPC location (as bits: flat ones may be integers).
#[derive(Clone, Debug, Default)]
pub struct Vertices {
    stride: usize,
    words: Vec<u32>,
    /// Where the first of them are on the screen, through the first viewport of the draw, if whoever shaded them has
    /// found that out.
    screen: Vec<ScreenVertex>,
    /// Who has their memory next, if anybody waits for it.
    spare: Option<SpareLists>,
}

/// A vertex after the viewport transform. As long as a vector, so that none lies in two lines of a cache.
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
    /// Bit i: outside plane i of the clip volume.
    pub outcode: u32,
    /// Nothing.
    pub unused: u32,
}

/// What draws have left for the next ones, who share it.
#[derive(Clone, Default)]
pub struct SpareLists(Arc<Lists>);

#[derive(Default)]
struct Lists {
    rows: Pool<u32>,
    screen: Pool<ScreenVertex>,
}

impl SpareLists {
    /// Rows of vertices.
    pub fn rows(&self) -> &Pool<u32> {
        &self.0.rows
    }

    /// Vertices on the screen.
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
    /// `count` vertices with `varyings` components each, in memory that others have left, in which anything may be:
    /// whoever shades them writes all of it.
    pub fn unwritten(varyings: usize, count: usize, spare: &SpareLists) -> Self {
        let stride = HEADER + varyings;
        let words = spare.rows().take(stride * count, 0);
        Self { stride, words, screen: Vec::new(), spare: Some(spare.clone()) }
    }

    /// None yet, with `varyings` components each, in as much memory as others have left.
    pub fn to_come(varyings: usize, spare: &SpareLists) -> Self {
        let words = spare.rows().largest();
        Self { stride: HEADER + varyings, words, screen: Vec::new(), spare: Some(spare.clone()) }
    }

    /// What others have left, if anybody shares it.
    pub fn spare(&self) -> Option<&SpareLists> {
        self.spare.as_ref()
    }

    /// `count` zero vertices with `varyings` components each.
    pub fn new(varyings: usize, count: usize) -> Self {
        let stride = HEADER + varyings;
        Self { stride, words: vec![0; stride * count], screen: Vec::new(), spare: None }
    }

    /// Words of a vertex.
    pub fn stride(&self) -> usize {
        self.stride
    }

    /// Varying components of a vertex.
    pub fn varying_components(&self) -> usize {
        self.stride - HEADER
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.words.len() / self.stride.max(1)
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Bytes that so many take, with `varyings` components each.
    pub fn bytes_of(varyings: usize, count: usize) -> u64 {
        ((HEADER + varyings) as u64).saturating_mul(4 * count as u64)
    }

    /// All rows, for a stage to fill in.
    pub fn rows_mut(&mut self) -> &mut [u32] {
        &mut self.words
    }

    /// The rows from vertex `first` on.
    pub fn rows_from(&self, first: usize) -> &[u32] {
        &self.words[first * self.stride..]
    }

    /// Says where they are on the screen.
    pub fn place(&mut self, screen: Vec<ScreenVertex>) {
        self.screen = screen;
    }

    /// Where the first of them are on the screen, as far as that has been [found out](Vertices::place).
    pub fn take_places(&mut self) -> Vec<ScreenVertex> {
        std::mem::take(&mut self.screen)
    }

    /// The row of vertex `v`.
    pub fn row(&self, v: u32) -> &[u32] {
        &self.words[v as usize * self.stride..][..self.stride]
    }

    /// The varying components of vertex `v`.
    pub fn varyings(&self, v: u32) -> &[u32] {
        &self.row(v)[HEADER..]
    }

    /// How many varying components each has.
    pub fn components(&self) -> usize {
        self.stride.saturating_sub(HEADER)
    }

    /// Sixteen words from component `first` of vertex `v` on: those that are behind its last may be anything.
    #[inline]
    pub fn sixteen(&self, v: u32, first: usize) -> [u32; 16] {
        let from = self.words.get(v as usize * self.stride + HEADER + first..);
        from.and_then(|words| words.first_chunk().copied()).unwrap_or_else(|| {
            let mut padded = [0; 16];
            padded.iter_mut().zip(from.unwrap_or_default()).for_each(|(to, word)| *to = *word);
            padded
        })
    }

    /// Clip-space position of vertex `v`.
    pub fn position(&self, v: u32) -> [f32; 4] {
        let row = self.row(v);
        std::array::from_fn(|i| f32::from_bits(row[i]))
    }

    /// Point size of vertex `v`.
    pub fn point_size(&self, v: u32) -> f32 {
        f32::from_bits(self.row(v)[4])
    }

    /// Puts vertex `v` on the plane where w is `w`, which rounding may have missed.
    pub fn set_w(&mut self, v: u32, w: f32) {
        self.words[v as usize * self.stride + 3] = w.to_bits();
    }

    /// Bytes that they take.
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

    /// Adds the vertex that is `t` of the way from `a` to `b`, in clip space.
    ///
    /// Every word is interpolated as a float; flat components are taken from the
    /// provoking vertex later and never from here.
    pub fn push_between(&mut self, a: u32, b: u32, t: f32) -> u32 {
        for i in 0..self.stride {
            let from = f32::from_bits(self.words[a as usize * self.stride + i]);
            let to = f32::from_bits(self.words[b as usize * self.stride + i]);
            self.words.push((from + (to - from) * t).to_bits());
        }
        self.len() as u32 - 1
    }
}
