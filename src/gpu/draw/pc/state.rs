//! Patch state of a draw.

use a4emu_decoder::adreno::address::Address;

use super::tessellator::Tessellation;
use crate::draw::stage_words::EntryLayout;
use crate::draw::topology::Topology;

/// Patch state of a draw.
#[derive(Clone, Copy, Debug)]
pub struct PatchState {
    /// Vertices of an input patch: 1 to 32.
    pub vertices_in: usize,
    /// Vertices of an output patch, one lane each: 1 to 32.
    pub vertices_out: usize,
    /// Tessellator state.
    pub tessellator: Tessellation,
    /// Layout of the word that starts an invocation of the hull shader.
    pub entry: EntryLayout,
    /// Address of the factors.
    pub factors: Address,
}

impl PatchState {
    /// Returns whether both are the same.
    pub fn is_same(&self, other: &Self) -> bool {
        let numbers = |state: &Self| (state.vertices_in, state.vertices_out, state.factors);
        numbers(self) == numbers(other) && self.tessellator == other.tessellator
    }

    /// Returns the bytes of the factors of a patch, with its primitive id.
    pub fn factor_bytes(&self) -> usize {
        let [outer, inner] = self.tessellator.domain.factors();
        4 * (1 + outer + inner)
    }

    /// Returns the type of the output list.
    pub fn topology(&self) -> Topology {
        match self.tessellator.primitive_vertices() {
            1 => Topology::Points,
            2 => Topology::Lines,
            _ => Topology::Triangles,
        }
    }
}
