//! Checks P1 to P6, P29 and S37: the outputs of the last vertex stage and the inputs of the fragment shader.

use a4emu_decoder::a4xx::enums::{IntpMode, PrimType, ReplMode};
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::pc::PC_PRIM_VTX_CNTL;
use a4emu_decoder::a4xx::regs::sp::{SP_FS_CTRL_REG0, SP_FS_CTRL_REG1, SP_VS_PARAM_REG};
use a4emu_decoder::a4xx::regs::vpc::{VPC_ATTR, VPC_PACK, VPC_VARYING_INTERP_MODE, VPC_VARYING_PS_REPL_MODE};

use super::program::locations as locations_of;
use super::stage::{OUTPUTS, linkage, output_count};
use super::{Scene, Violations, stage};
use crate::program::Checked;
use crate::rules::Id;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;

/// Constant that OUTLOC adds to a location.
const FIRST_LOCATION: u32 = 8;

/// Adds violations of P1 to P6, P29 and S37.
pub fn check(scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
    let primitive = initiator(call).PRIM_TYPE();
    point_size(scene, primitive, violations);
    position(scene, violations);
    if scene.pass == Pass::Binning {
        return;
    }
    counts(scene, violations);
    locations(scene, violations);
    if scene.pass != Pass::Resolve
        && let Some(checked) = scene.program(Stage::FS)
    {
        fetched(scene, checked, violations);
        if primitive == PrimType::DI_PT_RECTLIST {
            replaced(scene, checked, violations);
        }
    }
}

/// Checks S37: the fragment shader fetches a varying where there are any.
fn fetched(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let total = scene.regs.get::<VPC_ATTR>().TOTALATTR();
    violations.unless(total == 0 || !checked.facts.inputs.is_empty(), Id::S37, || {
        format!("FS: TOTALATTR is {total}, and no varying is fetched: their storage is never released")
    });
}

/// Checks P29: what a rectangle of two vertices interpolates is replaced.
fn replaced(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let regs = scene.regs;
    let is_plain = |location: &u32| {
        let smooth =
            regs.at::<VPC_VARYING_INTERP_MODE>(location / 16).component(*location) == IntpMode::SMOOTH;
        let mode = regs.at::<VPC_VARYING_PS_REPL_MODE>(location / 16).component(*location);
        smooth && !matches!(mode, ReplMode::S | ReplMode::T | ReplMode::ONE_T)
    };
    let total = regs.get::<VPC_ATTR>().TOTALATTR();
    let read =
        checked.facts.inputs.iter().flat_map(|index| locations_of(&checked.program.instrs[*index].body));
    if let Some(location) = read.filter(|location| *location < total).find(is_plain) {
        violations
            .report(Id::P29, format!("varying {location} of a RECTLIST has no VPC_VARYING_PS_REPL mode"));
    }
}

/// Checks P1 and P2.
fn counts(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (attr, pack) = (regs.get::<VPC_ATTR>(), regs.get::<VPC_PACK>());
    let total = attr.TOTALATTR();
    let packed = [pack.NUMFPNONPOSVAR(), pack.NUMNONPOSVSVAR()];
    violations.unless(packed == [total; 2], Id::P1, || {
        format!("varying counts disagree: TOTALATTR {total}, VPC_PACK {} and {}", packed[0], packed[1])
    });
    let enabled =
        [attr.ENABLE(), regs.get::<SP_FS_CTRL_REG0>().VARYING(), regs.get::<SP_FS_CTRL_REG1>().VARYING()];
    violations.unless(enabled == [total > 0; 3], Id::P1, || {
        format!("{total} varyings, VPC_ATTR.ENABLE and SP_FS_CTRL_REG0/1.VARYING are {enabled:?}")
    });
    let groups = total.div_ceil(16);
    let needs = if groups > 1 { groups.next_multiple_of(2) } else { groups };
    let has = regs.get::<PC_PRIM_VTX_CNTL>().VAROUT();
    violations.unless(has == needs || scene.pass == Pass::Restore, Id::P2, || {
        format!("VAROUT {has} for {total} varyings, needs {needs}")
    });
}

/// Checks P3 and P4.
fn locations(scene: &Scene<'_>, violations: &mut Violations) {
    let stage = scene.last_vertex_stage();
    let total = scene.regs.get::<VPC_ATTR>().TOTALATTR();
    let links = linkage(scene.regs, stage);
    let mut sources = vec![0u32; total as usize];
    for (output, link) in links.iter().enumerate() {
        let mask = link.source.components;
        violations.unless(matches!(mask, 1 | 3 | 7 | 0xf), Id::P4, || {
            format!("COMPMASK {mask:#x} of output {output}")
        });
        for component in (0..4).filter(|component| mask >> component & 1 != 0) {
            let location = (link.location + component).checked_sub(FIRST_LOCATION);
            match location.and_then(|location| sources.get_mut(location as usize)) {
                Some(count) => *count += u32::from(used(link.source.regid).is_some()),
                None => {
                    violations.report(Id::P3, format!("output {output} goes beyond the {total} varyings"))
                }
            }
        }
    }
    let count = output_count(scene.regs, stage);
    violations.unless(count <= OUTPUTS, Id::P4, || format!("{count} outputs"));
    for (location, count) in sources.into_iter().enumerate().filter(|(_, count)| *count != 1) {
        let what = match count {
            0 => format!("location {location} has no source: the chip hangs"),
            _ => format!("location {location} has {count} sources"),
        };
        violations.report(Id::P3, what);
    }
}

/// Checks the part of P5 about a vertex shader without a position.
fn position(scene: &Scene<'_>, violations: &mut Violations) {
    let last = scene.last_vertex_stage();
    violations.unless(used(stage::position(scene.regs, last)).is_some(), Id::P5, || {
        format!("{}: POSREGID is r63.x, and the chip wants a position", last.name())
    });
}

/// Checks P6.
fn point_size(scene: &Scene<'_>, primitive: PrimType, violations: &mut Violations) {
    if scene.last_vertex_stage() != Stage::VS {
        return;
    }
    let regs = scene.regs;
    let register = used(regs.get::<SP_VS_PARAM_REG>().PSIZEREGID()).is_some();
    let bits = [regs.get::<VPC_ATTR>().PSIZE(), regs.get::<PC_PRIM_VTX_CNTL>().PSIZE()];
    violations.unless(bits == [register; 2], Id::P6, || {
        format!("PSIZEREGID is {register}, VPC_ATTR.PSIZE and PC_PRIM_VTX_CNTL.PSIZE are {bits:?}")
    });
    let sized = primitive == PrimType::DI_PT_POINTLIST_PSIZE;
    violations.unless(!sized || register, Id::P6, || {
        "DI_PT_POINTLIST_PSIZE, and the vertex shader puts out no point size: the chip locks up".to_owned()
    });
}
