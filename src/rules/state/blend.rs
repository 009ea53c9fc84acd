//! Checks P30, P32 and P34: blending, the alpha test and logic operations of more than one kind of target.

use a4emu_decoder::a4xx::enums::RopCode;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::SP_FS_OUTPUT_REG;

use super::{Scene, Violations};
use crate::rules::Id;
use a4emu_gpu::a4xx::formats;
use a4emu_shader::format::Type;

/// Adds violations of the rules for blending.
pub fn check(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    let count = regs.get::<SP_FS_OUTPUT_REG>().MRT().min(TARGETS);
    let drawn: Vec<u32> = (0..count).filter(|i| components.target(*i) != 0).collect();
    independent(scene, &drawn, violations);
    alpha_test(scene, &drawn, violations);
    drawn.iter().for_each(|i| logic(scene, *i, violations));
}

fn is_integer(scene: &Scene<'_>, i: u32) -> bool {
    let format = formats::color(scene.regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT());
    format.is_some_and(|format| matches!(format.ty, Type::Uint | Type::Sint))
}

/// Checks P30. Integer targets are left out: drivers clear what would blend there, with the bit or without.
fn independent(scene: &Scene<'_>, drawn: &[u32], violations: &mut Violations) {
    if scene.regs.get::<RB_FS_OUTPUT>().INDEPENDENT_BLEND() {
        return;
    }
    let mut blended = drawn.iter().copied().filter(|i| !is_integer(scene, *i));
    let Some(first) = blended.next() else { return };
    if let Some(other) = blended.find(|i| state(scene, *i) != state(scene, first)) {
        violations.report(
            Id::P30,
            format!("targets {first} and {other} blend differently, INDEPENDENT_BLEND is clear"),
        );
    }
}

/// What a target does with a colour: its write mask, logic operation and factors, as far as they are in use.
fn state(scene: &Scene<'_>, i: u32) -> (u32, Option<RopCode>, Option<u32>) {
    let control = scene.regs.at::<RB_MRT_CONTROL>(i);
    let factors = control.BLEND().then(|| scene.regs.at::<RB_MRT_BLEND_CONTROL>(i).0);
    (control.COMPONENT_ENABLE(), control.ROP_ENABLE().then(|| control.ROP_CODE()), factors)
}

/// Checks P32.
fn alpha_test(scene: &Scene<'_>, drawn: &[u32], violations: &mut Violations) {
    let tests = scene.regs.get::<RB_ALPHA_CONTROL>().ALPHA_TEST();
    violations.unless(!tests || drawn.first() != Some(&0) || !is_integer(scene, 0), Id::P32, || {
        "RB_ALPHA_CONTROL.ALPHA_TEST is set, and target 0 holds integers".to_owned()
    });
}

/// Checks P34.
fn logic(scene: &Scene<'_>, i: u32, violations: &mut Violations) {
    let control = scene.regs.at::<RB_MRT_CONTROL>(i);
    let fixed = [RopCode::ROP_CLEAR, RopCode::ROP_COPY, RopCode::ROP_COPY_INVERTED, RopCode::ROP_SET];
    if !control.ROP_ENABLE() || fixed.contains(&control.ROP_CODE()) {
        return;
    }
    let reads = control.READ_DEST_ENABLE();
    let enabled = scene.regs.get::<RB_FS_OUTPUT>().ENABLE_BLEND() >> i & 1 != 0;
    violations.unless(reads && enabled, Id::P34, || {
        format!(
            "target {i}: {:?} reads it, READ_DEST_ENABLE is {reads}, ENABLE_BLEND {enabled}",
            control.ROP_CODE()
        )
    });
}
