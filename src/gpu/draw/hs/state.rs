//! The registers of the hull shader.

use a4emu_decoder::regs::hlsq::HLSQ_HS_CONTROL_REG;

use crate::fault::Fault;
use crate::regfile::RegFile;

/// Asks that there is a hull shader for the patches of draw `draw`.
///
/// # Errors
/// There is none.
pub fn require(regs: &RegFile, draw: u32) -> Result<(), Fault> {
    let control = regs.get::<HLSQ_HS_CONTROL_REG>();
    match control.ENABLED() || control.INSTRLENGTH() != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a hull shader"))),
    }
}
