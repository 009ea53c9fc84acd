//! The registers of the primitive control: restart, provoking vertex, patches.

use a4emu_decoder::a4xx::enums::{PrimType, TessSpacing};
use a4emu_decoder::a4xx::pm4::{PatchType, TESS_MODE_BITS, VGT_DRAW_INITIATOR_A4XX};
use a4emu_decoder::a4xx::regs::pc::*;

use super::stages::ENTRY;
use crate::draw::call::DrawCall;
use crate::draw::pc::assembler::Provoking;
use crate::draw::pc::state::PatchState;
use crate::draw::pc::tessellator::{Connection, Domain, Spacing, Tessellation};
use crate::fault::Fault;
use crate::regfile::RegFile;

/// Maximum number of vertices of an input or output patch.
const MAX_PATCH: u32 = 32;

/// Returns which vertex of a primitive provides its flat values.
pub fn provoking(regs: &RegFile) -> Provoking {
    match regs.get::<PC_PRIM_VTX_CNTL>().PROVOKING_VTX_LAST() {
        true => Provoking::Last,
        false => Provoking::First,
    }
}

/// Returns the restart index, if restart is enabled.
pub fn restart(regs: &RegFile) -> Option<u32> {
    let enabled = regs.get::<PC_PRIM_VTX_CNTL>().PRIMITIVE_RESTART();
    enabled.then(|| regs.get::<PC_RESTART_INDEX>().VALUE())
}

/// Reads the state of a draw for input patches of `vertices_in` vertices and `domain`, as [`patches`] returns
/// them.
///
/// # Errors
/// A fault when the output patch size is invalid.
pub fn patch_state(
    regs: &RegFile,
    draw: u32,
    (vertices_in, domain): (usize, Domain),
) -> Result<PatchState, Fault> {
    let param = regs.get::<PC_HS_PARAM>();
    let count = param.VERTICES_OUT();
    if !(1..=MAX_PATCH).contains(&count) {
        return Err(Fault::Draw(format!("draw {draw}: a hull shader of {count} output vertices")));
    }
    let connection = connection(domain, param);
    Ok(PatchState {
        vertices_in,
        vertices_out: count as usize,
        tessellator: Tessellation { domain, spacing: spacing(param.SPACING()), connection },
        entry: ENTRY,
        factors: regs.get::<PC_TESSFACTOR_ADDR>().VALUE().into(),
    })
}

/// Returns the initiator of a draw.
pub fn initiator(call: &DrawCall) -> VGT_DRAW_INITIATOR_A4XX {
    VGT_DRAW_INITIATOR_A4XX(call.initiator)
}

/// Returns the size of an input patch and its domain, if the draw has patches.
///
/// # Errors
/// A fault when tessellation is enabled but the primitive type is not a patch.
pub fn patches(call: &DrawCall) -> Result<Option<(usize, Domain)>, Fault> {
    let initiator = initiator(call);
    let asked = TESS_MODE_BITS(initiator.0).ENABLE() != 0;
    let kind = initiator.PRIM_TYPE();
    let Some((size, domain)) = initiator.patch_vertices().zip(initiator.domain()) else {
        if asked || kind == PrimType::DI_PT_PATCHES0 {
            let what = "which is no patch of 1 to 32 vertices";
            return Err(Fault::Draw(format!(
                "draw {}: tessellation of PRIM_TYPE {:#x}, {what}",
                call.number,
                kind.to_bits()
            )));
        }
        return Ok(None);
    };
    let domain = match domain {
        PatchType::TESS_QUADS => Domain::Quads,
        PatchType::TESS_TRIANGLES => Domain::Triangles,
        PatchType::TESS_ISOLINES => Domain::Isolines,
        PatchType::Other(value) => {
            return Err(Fault::Draw(format!("draw {}: tessellation domain {value}", call.number)));
        }
    };
    Ok(Some((size as usize, domain)))
}

/// Returns the tessellation spacing. Values without a name are equal spacing.
fn spacing(spacing: TessSpacing) -> Spacing {
    match spacing {
        TessSpacing::ODD_SPACING => Spacing::FractionalOdd,
        TessSpacing::EVEN_SPACING => Spacing::FractionalEven,
        TessSpacing::EQUAL_SPACING | TessSpacing::Other(_) => Spacing::Equal,
    }
}

/// For isolines the winding bit means connected (docs/hardware/geometry-and-tessellation.md, section 2).
fn connection(domain: Domain, param: PC_HS_PARAM) -> Connection {
    match (domain, param.CONNECTED(), param.CW()) {
        (Domain::Isolines, _, true) => Connection::CounterClockwise,
        (Domain::Isolines, _, false) | (_, false, _) => Connection::Points,
        (_, true, true) => Connection::Clockwise,
        (_, true, false) => Connection::CounterClockwise,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bit 23 is CW, bit 24 CONNECTED.
    #[test]
    fn the_winding_bit_of_isolines_means_connected() {
        let of = |domain, bits: u32| connection(domain, PC_HS_PARAM(bits << 23));
        for domain in [Domain::Quads, Domain::Triangles] {
            assert_eq!(of(domain, 0b00), Connection::Points);
            assert_eq!(of(domain, 0b01), Connection::Points);
            assert_eq!(of(domain, 0b10), Connection::CounterClockwise);
            assert_eq!(of(domain, 0b11), Connection::Clockwise);
        }
        assert_eq!(of(Domain::Isolines, 0b10), Connection::Points);
        assert_eq!(of(Domain::Isolines, 0b01), Connection::CounterClockwise);
    }
}
