//! State of a dispatch.

use a4emu_decoder::guesses::Guess;

use crate::draw::call::DispatchCall;
use crate::draw::sp::state::StageState;
use crate::fault::Fault;

/// A dispatch, ready to run.
pub struct DispatchState {
    /// The shader. Its constants contain the values that all groups share.
    pub stage: StageState,
    /// Workgroups in x, y, z.
    pub groups: [u32; 3],
    /// Invocations of a group in x, y, z.
    pub size: [u32; 3],
    /// Warps of a wave: 1, 2 or 4.
    pub wave: usize,
    /// Where the group id goes.
    pub group: Option<GroupId>,
    /// First register of the local id.
    pub local_id: Option<u32>,
    /// Register of the local id as one number.
    pub linear_id: Option<u32>,
    /// The guesses that this state rests on.
    pub rests: &'static [Guess],
}

/// Where x, y and z of a group id go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GroupId {
    /// To constants, from this scalar on.
    Constant(u32),
    /// To registers that all lanes share, from this one on: 0 is r48.x.
    Shared(u32),
}

/// Returns the size of the groups of `call`, of at most `most` invocations.
///
/// # Errors
/// A fault if a group has no invocations, or too many.
pub(crate) fn checked_size(call: &DispatchCall, size: [u32; 3], most: u32) -> Result<[u32; 3], Fault> {
    let invocations = size.iter().try_fold(1u32, |product, s| product.checked_mul(*s));
    match invocations {
        Some(count) if (1..=most).contains(&count) => Ok(size),
        _ => Err(Fault::Draw(format!("dispatch of {:?} groups of {size:?}", call.groups))),
    }
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
