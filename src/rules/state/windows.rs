//! Checks P12 to P15, P25 and S32: a stage's windows in the stores, and thread sizes.

use a4emu_decoder::a4xx::regs::hlsq::*;
use a4emu_decoder::a4xx::regs::sp::*;

use super::stage::{control0, has_four_quads, hlsq};
use super::{Scene, Violations};
use crate::rules::Id;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;

/// Size of the constant store, in units of four vec4.
const CONSTANT_UNITS: u32 = 128;
/// Size of the instruction store, in groups of instructions.
const INSTRUCTION_UNITS: u32 = 64;
/// Value that Mesa writes to SP_SP_CTRL_REG for a dispatch.
const COMPUTE_CONTROL: u32 = 0x86_0010;
/// Maximum number of invocations of a work group with two quads.
const GROUP_FIBERS: u32 = 512;

/// Adds violations of P12 to P15.
pub fn check(scene: &Scene<'_>, violations: &mut Violations) {
    agreement(scene, violations);
    overlap(scene, violations);
    store(scene, violations);
    threads(scene, violations);
}

/// Checks P12.
fn agreement(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (vs, fs) = (regs.get::<SP_VS_OBJ_OFFSET_REG>(), regs.get::<SP_FS_OBJ_OFFSET_REG>());
    let sp = [
        (
            Stage::VS,
            [regs.get::<SP_VS_CTRL_REG1>().CONSTLENGTH(), vs.CONSTOBJECTOFFSET(), vs.SHADEROBJOFFSET()],
        ),
        (
            Stage::FS,
            [regs.get::<SP_FS_CTRL_REG1>().CONSTLENGTH(), fs.CONSTOBJECTOFFSET(), fs.SHADEROBJOFFSET()],
        ),
    ];
    for (stage, sp) in sp {
        let control = hlsq(regs, stage);
        let hlsq = [control.CONSTLENGTH(), control.CONSTOBJECTOFFSET(), control.SHADEROBJOFFSET()];
        violations.unless(sp == hlsq, Id::P12, || {
            format!("{}: CONSTLENGTH and offsets are {hlsq:?} in HLSQ, {sp:?} in SP", stage.name())
        });
    }
}

/// First unit and number of units of a stage's window.
type Window = fn(HLSQ_VS_CONTROL_REG) -> [u32; 2];

/// Checks P13.
fn overlap(scene: &Scene<'_>, violations: &mut Violations) {
    let window = |stage: Stage, at: Window| {
        let [first, count] = at(hlsq(scene.regs, stage));
        (stage, first, first + count)
    };
    let stages: Vec<Stage> = scene.programs.iter().map(|checked| checked.program.stage).collect();
    let constants = |control: HLSQ_VS_CONTROL_REG| [control.CONSTOBJECTOFFSET(), control.CONSTLENGTH()];
    let code = |control: HLSQ_VS_CONTROL_REG| [control.SHADEROBJOFFSET(), control.INSTRLENGTH()];
    let kinds: [(&str, Window, u32); 2] =
        [("constant", constants, CONSTANT_UNITS), ("instruction", code, INSTRUCTION_UNITS)];
    for (kind, at, units) in kinds {
        let windows: Vec<_> = stages.iter().map(|stage| window(*stage, at)).collect();
        for (i, &(stage, first, end)) in windows.iter().enumerate() {
            violations.unless(end <= units, Id::P13, || {
                format!("{kind} window of {} ends at {end} of {units}", stage.name())
            });
            for (other, other_first, other_end) in &windows[..i] {
                let apart =
                    end <= *other_first || *other_end <= first || first == end || other_first == other_end;
                violations.unless(apart, Id::P13, || {
                    format!("{kind} windows of {} and {} overlap", other.name(), stage.name())
                });
            }
        }
    }
}

/// Checks P14.
fn store(scene: &Scene<'_>, violations: &mut Violations) {
    let control = scene.regs.get::<SP_INSTR_CACHE_CTRL>();
    let [vs, fs] = [Stage::VS, Stage::FS].map(|stage| hlsq(scene.regs, stage).INSTRLENGTH() > 0);
    let bits = [control.VS_BUFFER(), control.FS_BUFFER(), control.INSTR_BUFFER()];
    violations.unless(bits == [vs, fs, vs && fs], Id::P14, || {
        format!("VS_BUFFER, FS_BUFFER and INSTR_BUFFER are {bits:?}, programs in the store {:?}", [vs, fs])
    });
}

/// Checks P15.
fn threads(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let four = |stage| control0(regs, stage).is_some_and(has_four_quads);
    let (hlsq0, hlsq1) = (regs.get::<HLSQ_CONTROL_0_REG>(), regs.get::<HLSQ_CONTROL_1_REG>());
    let quads = SP_VS_CTRL_REG0(0).THREADSIZE();
    if scene.pass != Pass::Binning {
        let hlsq = hlsq0.FSTHREADSIZE() != quads;
        violations
            .unless(hlsq == four(Stage::FS), Id::P15, || "FS: HLSQ and SP disagree on THREADSIZE".to_owned());
    }
    let both = hlsq1.VSTHREADSIZE() == quads && !four(Stage::VS);
    violations.unless(both, Id::P15, || "VS: four quads".to_owned());
}

/// Checks P25 and S32.
pub fn check_dispatch(
    scene: &Scene<'_>,
    local_size: Option<[u32; 3]>,
    groups: [u32; 3],
    violations: &mut Violations,
) {
    let regs = scene.regs;
    let update = regs.get::<HLSQ_UPDATE_CONTROL>().VALUE();
    violations.unless(update == 0, Id::P25, || format!("HLSQ_UPDATE_CONTROL {update:#x}"));
    violations
        .unless(regs.get::<HLSQ_CONTROL_0_REG>().SINGLECONTEXT(), Id::P25, || "no SINGLECONTEXT".to_owned());
    let control = regs.get::<SP_SP_CTRL_REG>().0;
    violations.unless(control == COMPUTE_CONTROL, Id::P25, || format!("SP_SP_CTRL_REG {control:#x}"));

    let range = regs.get::<HLSQ_CL_NDRANGE_0>();
    let said_size = [range.LOCALSIZEX() + 1, range.LOCALSIZEY() + 1, range.LOCALSIZEZ() + 1];
    let size = local_size.unwrap_or(said_size);
    let fibers = size.iter().fold(1u32, |product, size| product.saturating_mul(*size));
    let four = control0(regs, Stage::CS).is_some_and(has_four_quads);
    let most = if four { 2 * GROUP_FIBERS } else { GROUP_FIBERS };
    violations
        .unless(fibers <= most, Id::S32, || format!("{fibers} invocations in a work group, {most} fit"));
    violations
        .unless(size == said_size, Id::S32, || format!("local size {size:?}, NDRANGE says {said_size:?}"));
    let global = [
        regs.get::<HLSQ_CL_NDRANGE_1>().SIZE_X(),
        regs.get::<HLSQ_CL_NDRANGE_3>().SIZE_Y(),
        regs.get::<HLSQ_CL_NDRANGE_5>().SIZE_Z(),
    ];
    let whole: [u32; 3] = std::array::from_fn(|i| size[i].wrapping_mul(groups[i]));
    // An indirect dispatch has its counts in memory, so NDRANGE holds older values.
    violations.unless(local_size.is_some() || global == whole, Id::S32, || {
        format!("global size {global:?}, {groups:?} groups of {size:?}")
    });
}
