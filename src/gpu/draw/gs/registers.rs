//! Inputs and outputs of a geometry shader in registers.

use crate::draw::vertices::HEADER;
use a4emu_shader::{Killed, Lanes, Mask, Warp};

use super::state::GeometryState;
use crate::draw::stage_words::PrimitiveWord;

/// Value of position registers before the shader: a NaN that no operation makes. A run that kills with this
/// value unchanged makes no vertex.
const UNWRITTEN: u32 = 0x7fa4_0004;

impl GeometryState {
    /// Initialises registers before the first instruction: r0.x, r0.y, and outputs, which must not depend on
    /// the previous warp. A kill ends its lane.
    pub(super) fn enter(&self, warp: &mut Warp, entry: &Lanes, ids: &Lanes) {
        warp.on_kill = Killed::End;
        let outputs = &self.outputs;
        let words = outputs.point_size.into_iter().chain(self.primitive_word);
        for id in outputs.varyings.iter().map(|(id, _)| *id).chain(words) {
            *warp.full_mut(id) = Lanes::ZERO;
        }
        for c in 0..4 {
            *warp.full_mut(outputs.position + c) = Lanes::splat(UNWRITTEN);
        }
        *warp.full_mut(0) = *entry;
        *warp.full_mut(1) = *ids;
    }

    /// Returns the lanes that wrote their position. Registers that contain inputs are ignored.
    pub(super) fn positioned(&self, warp: &Warp) -> Mask {
        let position = self.outputs.position;
        let changed = |id: u32| Lanes(warp.full(id).map(|word| word ^ UNWRITTEN)).nonzero();
        (position..position + 4).filter(|id| *id > 1).fold(0, |lanes, id| lanes | changed(id))
    }

    /// Returns the words of a vertex.
    pub(super) fn stride(&self) -> usize {
        HEADER + self.outputs.components
    }

    /// Writes the vertices of all lanes to rows. Components that no register has are not written.
    pub(super) fn export(&self, warp: &Warp, rows: &mut [u32]) {
        self.outputs.export(warp, rows, self.stride());
        for row in rows.chunks_exact_mut(self.stride()) {
            row[..4].iter_mut().filter(|word| **word == UNWRITTEN).for_each(|word| *word = 0);
        }
    }

    /// Returns the primitive word of a lane.
    pub(super) fn word(&self, warp: &Warp, lane: usize) -> PrimitiveWord {
        (self.read_word)(self.primitive_word.map_or(0, |id| warp.full(id)[lane]))
    }
}
