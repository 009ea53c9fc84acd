//! Tessellation factors that the hull shader stored.
//!
//! A group per patch: the primitive id, then outer and inner factors; 12 bytes for isolines,
//! 20 for triangles, 28 for quads (docs/hardware/geometry-and-tessellation.md,
//! section 2.1).

use a4emu_decoder::adreno::address::Address;

use crate::draw::pc::tessellator::Factors;
use crate::fault::{Client, Fault, Miss, Missing};
use crate::memory::Memory;

use super::state::PatchState;

/// Limit for reports: larger factors are an error. It is a thousand times the tessellator's maximum.
const ABSURD: f32 = 65536.0;

/// Problems with factors.
#[derive(Default)]
pub struct Problems {
    /// Reads of factors outside of all buffers.
    pub missing: Missing,
    /// First fault of each kind.
    pub faults: Vec<Fault>,
    /// Number of the draw.
    draw: u32,
}

/// Reads the factors of `patches` patches of the draw of this number. Unreadable factors are 0, which culls the patch.
pub fn read(state: &PatchState, draw: u32, patches: usize, memory: &Memory) -> (Vec<Factors>, Problems) {
    let [outer, inner] = state.tessellator.domain.factors();
    let len = state.factor_bytes();
    let mut problems = Problems { draw, ..Problems::default() };
    let mut bytes = [0; 28];
    let mut of = |patch: usize| {
        let address = memory.behind(state.factors, (patch * len) as u64);
        if !memory.read(address, &mut bytes[..len]) {
            problems.note_missing(patch, address, len);
            return Factors::default();
        }
        let value = |i: usize| f32::from_le_bytes(std::array::from_fn(|k| bytes[4 * i + k]));
        let mut factors = Factors::default();
        (0..outer).for_each(|i| factors.outer[i] = value(1 + i));
        (0..inner).for_each(|i| factors.inner[i] = value(1 + outer + i));
        problems.check(patch, &factors);
        factors
    };
    let factors = (0..patches).map(&mut of).collect();
    (factors, problems)
}

impl Problems {
    fn note_missing(&mut self, patch: usize, address: Address, len: usize) {
        if self.missing.is_empty() {
            self.faults.push(Fault::Draw(format!(
                "draw {}: the tessellation factors of patch {patch} at {address:#010x} are in no buffer",
                self.draw
            )));
        }
        self.missing.note(Miss { client: Client::Geometry, address, len: len as u32 });
    }

    /// Reports the first invalid factor of each kind.
    fn check(&mut self, patch: usize, factors: &Factors) {
        let wrong = |factor: &&f32| factor.is_nan() || factor.abs() > ABSURD;
        let Some(factor) = factors.outer.iter().chain(&factors.inner).find(wrong) else { return };
        let fate = if factor.is_nan() { "taken for 0" } else { "clamped" };
        let known = |fault: &Fault| matches!(fault, Fault::Draw(what) if what.ends_with(fate));
        if !self.faults.iter().any(known) {
            let draw = self.draw;
            let what = format!("draw {draw}: patch {patch} has a tessellation factor of {factor:e}, {fate}");
            self.faults.push(Fault::Draw(what));
        }
    }
}
