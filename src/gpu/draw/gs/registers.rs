//! Inputs and outputs of a geometry shader in registers.

use crate::draw::vertices::HEADER;
use a4emu_shader::{Killed, Lanes, Warp};

use super::state::GeometryState;
use crate::draw::gs::emitted::Emitted;

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

    /// Returns whether a lane wrote its position. Registers that contain inputs are ignored.
    pub(super) fn has_position(&self, warp: &Warp, lane: usize) -> bool {
        let position = self.outputs.position;
        (position..position + 4).filter(|id| *id > 1).any(|id| warp.full(id)[lane] != UNWRITTEN)
    }

    /// Appends the vertex of a lane.
    pub(super) fn export(&self, warp: &Warp, lane: usize, emitted: &mut Emitted) {
        let outputs = &self.outputs;
        let start = emitted.rows.len();
        emitted.rows.resize(start + HEADER + outputs.components, 0);
        let row = &mut emitted.rows[start..];
        for c in 0..4 {
            let value = warp.full(outputs.position + c)[lane];
            row[c as usize] = if value == UNWRITTEN { 0 } else { value };
        }
        row[4] = outputs.point_size.map_or(0, |id| warp.full(id)[lane]);
        for (id, location) in &outputs.varyings {
            row[HEADER + location] = warp.full(*id)[lane];
        }
        let word = self.primitive_word.map_or(0, |id| warp.full(id)[lane]);
        emitted.words.push((self.read_word)(word));
    }
}
