//! Dispatches: work groups of warps that share local memory and meet at barriers.

use a4emu_decoder::regs::groups::used;
use a4emu_decoder::regs::hlsq::*;

use crate::fault::Fault;
use crate::gpu::{Gpu, Stage};
use crate::shader::{LANES, Lanes, Outcome, Warp, run as run_warp};

use crate::draw::call::DispatchCall;
use crate::draw::pipeline::note_reports;
use crate::draw::sp::log::{MAX_INSTRUCTIONS, Reports};
use crate::draw::sp::memory::{Access, Port, StageEnvironment, StageState};

/// Work groups that a dispatch may have; no real one comes near.
const MAX_GROUPS: u64 = 1 << 24;

/// Invocations of a work group, as many as the register's fields and the chip allow.
const MAX_LOCAL: u32 = 1024;

/// Where the hardware puts what a program wants to know.
struct Injected {
    /// Constant of the group id.
    group: Option<u32>,
    /// Constant of the number of dimensions.
    dimensions: Option<u32>,
    /// Constant of the local size.
    local_size: Option<u32>,
    /// Constant of the group counts.
    groups: Option<u32>,
    /// Register of the local id.
    local_id: Option<u32>,
}

/// Runs a dispatch.
///
/// # Errors
/// A fault: no program, or a size that no program has.
pub fn run(gpu: &mut Gpu, call: &DispatchCall) -> Result<(), Fault> {
    let mut stage = StageState::snapshot(gpu, Stage::CS)?;
    let range = gpu.regs.get::<HLSQ_CL_NDRANGE_0>();
    let size =
        call.local_size.unwrap_or([range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1]);
    let invocations = size.iter().try_fold(1u32, |product, s| product.checked_mul(*s));
    let groups = call.groups.iter().try_fold(1u64, |product, g| product.checked_mul(u64::from(*g)));
    let (Some(1..=MAX_LOCAL), Some(0..=MAX_GROUPS)) = (invocations, groups) else {
        return Err(Fault::Draw(format!("dispatch of {:?} groups of {size:?}", call.groups)));
    };
    let injected = injected(gpu);
    put(&mut stage.constants, injected.dimensions, &[range.KERNELDIM()]);
    put(&mut stage.constants, injected.local_size, &size);
    put(&mut stage.constants, injected.groups, &call.groups);
    let reports = run_groups(gpu, &stage, &injected, call.groups, size);
    note_reports(gpu, reports);
    Ok(())
}

fn injected(gpu: &Gpu) -> Injected {
    let control = gpu.regs.get::<HLSQ_CL_CONTROL_0>();
    Injected {
        group: used(control.WGIDCONSTID()),
        dimensions: used(control.KERNELDIMCONSTID()),
        local_size: used(gpu.regs.get::<HLSQ_CL_CONTROL_1>().WORKGROUPSIZECONSTID()),
        groups: used(gpu.regs.get::<HLSQ_CL_KERNEL_CONST>().NUMWGCONSTID()),
        local_id: used(control.LOCALIDREGID()),
    }
}

/// Puts `values` into the constant file from scalar `id` on.
fn put(constants: &mut [u32], id: Option<u32>, values: &[u32]) {
    let Some(id) = id else { return };
    for (i, value) in values.iter().enumerate() {
        if let Some(to) = constants.get_mut(id as usize + i) {
            *to = *value;
        }
    }
}

/// The groups one after the other, x fastest.
fn run_groups(
    gpu: &mut Gpu,
    stage: &StageState,
    injected: &Injected,
    groups: [u32; 3],
    size: [u32; 3],
) -> Reports {
    let mut access = Access::new(Port::Exclusive(&mut gpu.mem), stage);
    let mut constants = stage.constants.clone();
    for z in 0..groups[2] {
        for y in 0..groups[1] {
            for x in 0..groups[0] {
                put(&mut constants, injected.group, &[x, y, z]);
                run_group(stage, &constants, injected.local_id, size, &mut access);
                access.reports.enforce(MAX_INSTRUCTIONS);
                if access.reports.fault.is_some() {
                    return access.finish();
                }
            }
        }
    }
    access.finish()
}

/// One work group: every warp runs to the next barrier before any goes on.
fn run_group(
    stage: &StageState,
    constants: &[u32],
    local_id: Option<u32>,
    size: [u32; 3],
    access: &mut Access<'_>,
) {
    access.clear_local();
    let count = size[0] * size[1] * size[2];
    let mut warps: Vec<Warp> = (0..count.div_ceil(LANES as u32))
        .map(|w| start(stage, constants, local_id, size, w * LANES as u32))
        .collect();
    while !warps.is_empty() {
        let mut waiting = Vec::new();
        for mut warp in warps {
            let before = warp.executed();
            let mut environment = StageEnvironment { access, pieces: None };
            let outcome = run_warp(&stage.program, &mut warp, &mut environment);
            access.reports.instructions += warp.executed() - before;
            match outcome {
                Outcome::Barrier => waiting.push(warp),
                Outcome::Ended => access.reports.warps += 1,
                Outcome::Fault(fault) => {
                    access.reports.fault = Some(Fault::Shader(format!("compute {fault}")));
                    return;
                }
            }
        }
        warps = waiting;
    }
}

/// A warp of the invocations from `first` on.
fn start(stage: &StageState, constants: &[u32], local_id: Option<u32>, size: [u32; 3], first: u32) -> Warp {
    let count = (size[0] * size[1] * size[2] - first).min(LANES as u32);
    let mut warp = Warp::new(&stage.program, constants);
    let live = if count == LANES as u32 { u32::MAX } else { (1 << count) - 1 };
    warp.restart(&stage.program, live, 0);
    if let Some(id) = local_id {
        let axis = |f: &dyn Fn(u32) -> u32| Lanes(std::array::from_fn(|lane| f(first + lane as u32)));
        *warp.full_mut(id) = axis(&|i| i % size[0]);
        *warp.full_mut(id + 1) = axis(&|i| i / size[0] % size[1]);
        *warp.full_mut(id + 2) = axis(&|i| i / (size[0] * size[1]));
    }
    warp
}
