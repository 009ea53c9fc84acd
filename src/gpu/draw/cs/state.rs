//! State of a dispatch from registers.

use std::sync::Arc;

use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::*;

use crate::draw::call::DispatchCall;
use crate::draw::sp::state::StageState;
use crate::fault::Fault;
use crate::regfile::RegFile;

/// Maximum number of invocations of a workgroup that the register fields and the chip allow.
const MAX_LOCAL: u32 = 1024;

/// A dispatch, ready to run.
pub struct DispatchState {
    /// The shader. Its constants contain the values that all groups share.
    pub stage: StageState,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Invocations of a group in x, y, z.
    pub size: [u32; 3],
    /// First constant of the group id.
    pub group: Option<u32>,
    /// First register of the local id.
    pub local_id: Option<u32>,
}

impl DispatchState {
    /// Takes a snapshot for the shader `stage`.
    ///
    /// # Errors
    /// A fault when the workgroup size is not valid.
    pub fn snapshot(regs: &RegFile, call: &DispatchCall, stage: &StageState) -> Result<Self, Fault> {
        let range = regs.get::<HLSQ_CL_NDRANGE_0>();
        let local = || [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1];
        let size = call.local_size.unwrap_or_else(local);
        let invocations = size.iter().try_fold(1u32, |product, s| product.checked_mul(*s));
        if !matches!(invocations, Some(1..=MAX_LOCAL)) {
            return Err(Fault::Draw(format!("dispatch of {:?} groups of {size:?}", call.groups)));
        }
        let control = regs.get::<HLSQ_CL_CONTROL_0>();
        let size_constant = regs.get::<HLSQ_CL_CONTROL_1>().WORKGROUPSIZECONSTID();
        let groups_constant = regs.get::<HLSQ_CL_KERNEL_CONST>().NUMWGCONSTID();
        let mut stage = stage.clone();
        let constants = Arc::make_mut(&mut stage.constants);
        put(constants, used(control.KERNELDIMCONSTID()), &[range.KERNELDIM()]);
        put(constants, used(size_constant), &size);
        put(constants, used(groups_constant), &call.groups);
        let (group, local_id) = (used(control.WGIDCONSTID()), used(control.LOCALIDREGID()));
        Ok(Self { stage, groups: call.groups, size, group, local_id })
    }
}

/// Writes `values` to the constant file from scalar `id` on.
pub(super) fn put(constants: &mut [u32], id: Option<u32>, values: &[u32]) {
    let Some(id) = id else { return };
    for (i, value) in values.iter().enumerate() {
        if let Some(to) = constants.get_mut(id as usize + i) {
            *to = *value;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_work_group_is_as_large_as_the_chip_allows() {
        let fits = |size: [u32; 3]| {
            let call =
                DispatchCall { number: 0, frame_draw: 0, submit: 0, groups: [1; 3], local_size: Some(size) };
            DispatchState::snapshot(&RegFile::default(), &call, &StageState::of("end\n")).is_ok()
        };
        assert!(fits([1024, 1, 1]) && fits([8, 8, 16]));
        for size in [[1025, 1, 1], [0, 1, 1], [8, 8, 17], [1 << 16, 1 << 16, 1], [u32::MAX; 3]] {
            assert!(!fits(size), "{size:?}");
        }
    }
}
