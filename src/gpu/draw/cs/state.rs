//! State of a dispatch.

use crate::draw::sp::state::StageState;

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

/// Writes `values` to the constant file from scalar `id` on.
pub(crate) fn put(constants: &mut [u32], id: Option<u32>, values: &[u32]) {
    let Some(id) = id else { return };
    for (i, value) in values.iter().enumerate() {
        if let Some(to) = constants.get_mut(id as usize + i) {
            *to = *value;
        }
    }
}
