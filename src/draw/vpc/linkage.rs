//! Linkage: the registers of a vertex stage to rows of vertices.

use super::state::VertexOutputs;
use crate::draw::vertices::HEADER;
use crate::shader::{Lanes, Warp};

impl VertexOutputs {
    /// Puts the outputs of a warp into rows of `stride` words.
    pub fn export(&self, warp: &Warp, rows: &mut [u32], stride: usize) {
        let mut column = |at: usize, values: &Lanes| {
            rows.chunks_exact_mut(stride).zip(values.iter()).for_each(|(row, value)| row[at] = *value);
        };
        for c in 0..4 {
            column(c as usize, warp.full(self.position + c));
        }
        if let Some(id) = self.point_size {
            column(4, warp.full(id));
        }
        for (id, location) in &self.varyings {
            column(HEADER + location, warp.full(*id));
        }
    }
}
