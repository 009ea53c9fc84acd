//! State of the hull shader from registers.

use a4emu_decoder::a4xx::regs::hlsq::HLSQ_HS_CONTROL_REG;

use crate::fault::Fault;
use crate::regfile::RegFile;

/// Checks that draw `draw` has a hull shader for its patches.
///
/// # Errors
/// A fault if there is none.
pub fn require(regs: &RegFile, draw: u32) -> Result<(), Fault> {
    let control = regs.get::<HLSQ_HS_CONTROL_REG>();
    match control.ENABLED() || control.INSTRLENGTH() != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a hull shader"))),
    }
}
