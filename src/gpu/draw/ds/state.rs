//! State of the domain shader from registers.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_DS_CONTROL_REG;
use a4emu_decoder::a4xx::regs::vfd::VFD_CONTROL_3;

use crate::draw::sp::state::StageState;
use crate::draw::vpc::state::VertexOutputs;
use crate::fault::Fault;
use crate::machine::Stage;
use crate::regfile::RegFile;

/// The domain shader of a draw.
pub struct DomainState {
    /// The shader.
    pub stage: Arc<StageState>,
    /// Outputs of the shader.
    pub outputs: VertexOutputs,
    /// Registers of u and v.
    pub coordinate: [Option<u32>; 2],
}

/// Checks that draw `draw` has a domain shader for its patches.
///
/// # Errors
/// A fault if there is none.
pub fn require(regs: &RegFile, draw: u32) -> Result<(), Fault> {
    let control = regs.get::<HLSQ_DS_CONTROL_REG>();
    match control.ENABLED() || control.INSTRLENGTH() != 0 {
        true => Ok(()),
        false => Err(Fault::Draw(format!("draw {draw}: patches without a domain shader"))),
    }
}

impl DomainState {
    /// Takes a snapshot for the shader `stage`.
    pub fn snapshot(regs: &RegFile, stage: Arc<StageState>) -> Self {
        let coordinate = regs.get::<VFD_CONTROL_3>();
        Self {
            stage,
            outputs: VertexOutputs::snapshot(regs, Stage::DS),
            coordinate: [used(coordinate.REGID_TESSX()), used(coordinate.REGID_TESSY())],
        }
    }
}
