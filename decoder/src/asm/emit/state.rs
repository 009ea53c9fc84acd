//! The statement `load`, which becomes CP_LOAD_STATE4.

use super::super::ast::{Expr, LoadSource, Name};
use super::super::pack;
use super::{Emitter, Result};
use crate::a4xx::load_state::unit_dwords;
use crate::adreno::load_state::StateKind;
use crate::generation::Framing;

impl Emitter<'_, '_> {
    pub(super) fn load(&mut self, target: &Name, first: Option<&Expr>, source: &LoadSource) -> Result<()> {
        let Some(target_state) = pack::StateTarget::by_name(&target.text) else {
            let message = format!(
                "nothing is loaded by the name `{}`: try FS.constants, VS.shader, FS.textures, FS.samplers, SSBO.addresses",
                target.text
            );
            return self.fail(target.span, message);
        };
        let generation = self.generation();
        if generation.framing != Framing::Types0To3 {
            let message =
                format!("`load` makes CP_LOAD_STATE4; for an A{}xx write the packet", generation.number);
            return self.fail(target.span, message);
        }
        let first = first.map_or(Ok(0), |first| self.size(first))? as u32;
        let unit = unit_dwords(target_state.kind());
        match source {
            LoadSource::Inline(data) => {
                let mut dwords = self.inner_dwords(target.span, data)?;
                pad(&mut dwords, target_state.kind());
                let units = (dwords.len() as u32).div_ceil(unit);
                let head = pack::load_state_inline(target_state, first, units);
                let head = self.at(target.span, head)?;
                dwords.splice(0..0, head);
                self.command(target.span, pack::LOAD_STATE4, false, &dwords)
            }
            LoadSource::Memory(address, units) => {
                let units = match units {
                    Some(units) => self.size(units)? as u32,
                    None => self.label_dwords(address)?.div_ceil(unit),
                };
                let place = self.dword(address)?;
                let head = pack::load_state_memory(target_state, first, units, place);
                let head = self.at(address.span, head)?;
                self.command(target.span, pack::LOAD_STATE4, false, &head)
            }
        }
    }
}

/// Pads data to whole units: instruction stores load whole groups, constants whole vectors.
fn pad(dwords: &mut Vec<u32>, kind: StateKind) {
    let unit = unit_dwords(kind) as usize;
    dwords.resize(dwords.len().next_multiple_of(unit), 0);
}
