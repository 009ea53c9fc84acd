//! The registers of a dispatch.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a6xx::enums::Threadsize;
use a4emu_decoder::a6xx::regs::compute::{
    HLSQ_CS_CNTL_0, HLSQ_CS_CNTL_1, HLSQ_CS_NDRANGE_0, SP_CS_CTRL_REG0,
};
use a4emu_decoder::adreno::ir3::Reg;
use a4emu_decoder::guesses::Guess;

use crate::draw::call::DispatchCall;
use crate::draw::cs::state::{DispatchState, GroupId, checked_size, put};
use crate::draw::sp::state::StageState;
use crate::fault::Fault;
use crate::regfile::RegFile;

/// Maximum number of invocations of a workgroup: sixteen waves of 128 (Mesa: tu_device.cc, maxComputeWorkGroupInvocations).
const MAX_LOCAL: u32 = 2048;

/// Returns the local size that registers hold: invocations of a group in x, y and z.
pub fn local_size(regs: &RegFile) -> [u32; 3] {
    let range = regs.get::<HLSQ_CS_NDRANGE_0>();
    [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1]
}

/// Reads the state of a dispatch of the shader `stage`.
///
/// # Errors
/// A fault when the workgroup size is not valid.
pub fn dispatch(regs: &RegFile, call: &DispatchCall, stage: &StageState) -> Result<DispatchState, Fault> {
    let size = checked_size(call, call.local_size.unwrap_or_else(|| local_size(regs)), MAX_LOCAL)?;
    let (ids, linear) = (regs.get::<HLSQ_CS_CNTL_0>(), regs.get::<HLSQ_CS_CNTL_1>());
    let mut stage = stage.clone();
    put(Arc::make_mut(&mut stage.constants), used(ids.WGSIZECONSTID()), &size);
    // Mesa's compiler puts the id of the group to r48.x; below that, the name of the field says that it is a constant
    // (guess `group-constant`).
    let group = used(ids.WGIDCONSTID()).map(|id| match id.checked_sub(Reg::SHARED.0.into()) {
        Some(shared) => GroupId::Shared(shared),
        None => GroupId::Constant(id),
    });
    Ok(DispatchState {
        stage,
        groups: call.groups,
        size,
        wave: match regs.get::<SP_CS_CTRL_REG0>().THREADSIZE() {
            Threadsize::THREAD64 => 2,
            Threadsize::THREAD128 | Threadsize::Other(_) => 4,
        },
        group,
        local_id: used(ids.LOCALIDREGID()),
        linear_id: used(linear.LINEARLOCALIDREGID()),
        rests: if matches!(group, Some(GroupId::Constant(_))) { &[Guess::GroupConstant] } else { &[] },
    })
}
