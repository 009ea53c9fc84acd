//! Checks P7 to P11, P20, P21, P24, P27, P28 and P40: the fragment shader's outputs and the render backend.

use a4emu_decoder::a4xx::enums::{CompareFunc, DepthFormat};
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_CONTROL_1_REG;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::*;

use super::extent::MAX_LOG_SAMPLES;
use super::{Scene, Violations, blend};
use crate::program::Checked;
use crate::rules::Id;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::a4xx::rb::{blend, blend_constant};
use a4emu_gpu::draw::rb::blend::ConstantCopy;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::regfile::RegFile;
use a4emu_shader::format::{Format, Type};

/// The bit of window z in COORD_MASK.
const COORD_Z: u32 = 1 << 2;

/// Adds violations of the rules for the render backend.
pub fn check(scene: &Scene<'_>, violations: &mut Violations) {
    counts(scene, violations);
    samples(scene, violations);
    if scene.pass == Pass::Binning {
        return;
    }
    if scene.pass != Pass::Resolve {
        targets(scene, violations);
        blend::check(scene, violations);
        shader_depth(scene, violations);
        window_z(scene, violations);
        depth_and_stencil(scene, violations);
        early_depth(scene, violations);
    }
    depth_format(scene, violations);
}

/// Checks P7.
fn counts(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (rb, sp) = (regs.get::<RB_FS_OUTPUT_REG>().MRT(), regs.get::<SP_FS_OUTPUT_REG>().MRT());
    violations
        .unless(rb == sp, Id::P7, || format!("MRT is {rb} in RB_FS_OUTPUT_REG, {sp} in SP_FS_OUTPUT_REG"));
    let none = matches!(scene.pass, Pass::Binning | Pass::Resolve);
    violations.unless(!none || rb == 0, Id::P7, || format!("MRT {rb} in the {} pass", scene.pass));
    let tests = tests_depth(scene) && !none;
    violations.unless(!tests || rb > 0, Id::P7, || {
        "no colour output with a depth buffer: one is needed".to_owned()
    });
}

fn tests_depth(scene: &Scene<'_>) -> bool {
    scene.regs.get::<RB_DEPTH_CONTROL>().Z_TEST_ENABLE()
        || scene.regs.get::<RB_STENCIL_CONTROL>().STENCIL_ENABLE()
}

/// Checks P8, P21 and P27.
fn targets(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    let count = regs.get::<SP_FS_OUTPUT_REG>().MRT();
    for i in (0..TARGETS).filter(|i| components.target(*i) != 0) {
        violations
            .unless(i < count, Id::P8, || format!("target {i} is rendered to, the shader writes {count}"));
        if i < count {
            target(scene, i, violations);
        }
    }
}

fn target(scene: &Scene<'_>, i: u32, violations: &mut Violations) {
    let regs = scene.regs;
    let (info, control) = (regs.at::<RB_MRT_BUF_INFO>(i), regs.at::<RB_MRT_CONTROL>(i));
    let shader = regs.at::<SP_FS_MRT>(i);
    // Exception X8: a restore of depth with separate stencil has the packed format in SP and R8 in RB.
    let split = scene.pass == Pass::Restore && regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL();
    let (written, buffer) = (shader.MRTFORMAT(), info.COLOR_FORMAT());
    violations.unless(written == buffer || split, Id::P8, || {
        format!("target {i}: the shader writes {written:?}, the buffer is {buffer:?}")
    });
    let srgb = [shader.COLOR_SRGB(), info.COLOR_SRGB()];
    violations.unless(srgb[0] == srgb[1], Id::P8, || format!("target {i}: COLOR_SRGB is {srgb:?}"));
    let Some(format) = formats::color(buffer) else { return };
    let integers = [format.ty == Type::Uint, format.ty == Type::Sint];
    // Drivers before Mesa 22.0 leave both clear.
    let said_integers = [shader.COLOR_UINT(), shader.COLOR_SINT()];
    violations.unless(said_integers == integers || said_integers == [false; 2] || split, Id::P8, || {
        format!("target {i}: COLOR_UINT and COLOR_SINT do not fit {buffer:?}")
    });
    let (blends, reads) = (control.BLEND(), control.READ_DEST_ENABLE());
    let enabled = regs.get::<RB_FS_OUTPUT>().ENABLE_BLEND() >> i & 1 != 0;
    violations.unless(!blends || reads, Id::P21, || format!("target {i} blends without READ_DEST_ENABLE"));
    violations
        .unless(!blends || enabled, Id::P27, || format!("target {i} blends without its bit of ENABLE_BLEND"));
    let integer = integers.contains(&true);
    violations.unless(!integer || !(blends || enabled), Id::P21, || format!("integer target {i} blends"));
    if blends && !integer {
        constant(regs, i, format, violations);
    }
}

/// Checks P40. Copies of fewer bits are cut or rounded.
fn constant(regs: &RegFile, i: u32, format: Format, violations: &mut Violations) {
    let copy = ConstantCopy::of(format);
    let step = match copy {
        ConstantCopy::Uint => 1.0 / 255.0,
        ConstantCopy::Sint => 1.0 / 127.0,
        ConstantCopy::Half => 1.0 / 1024.0,
        ConstantCopy::F32 => return,
    };
    let used = blend(regs, i, format).uses_constant();
    for (c, name) in (0..).zip(["RED", "GREEN", "BLUE", "ALPHA"]).filter(|(c, _)| used[*c as usize]) {
        let [taken, meant] = [copy, ConstantCopy::F32].map(|copy| blend_constant(regs, c, copy));
        // Drivers store a value above the range of a half as its largest number, or as infinity.
        let half = |value: f32| value.clamp(-HALF_MAX, HALF_MAX);
        let (taken_limited, limited, near) = match copy {
            ConstantCopy::Uint => (taken, meant.clamp(0.0, 1.0), step),
            ConstantCopy::Sint => (taken, meant.clamp(-1.0, 1.0), step),
            _ => (half(taken), half(meant), step * half(meant).abs().max(SMALLEST_NORMAL_HALF)),
        };
        let same = (taken_limited - limited).abs() <= near * 1.01 || meant.is_nan();
        violations.unless(same, Id::P40, || {
            format!("target {i} takes {taken} of RB_BLEND_{name} ({copy:?}), RB_BLEND_{name}_F32 is {meant}")
        });
    }
}

/// The largest finite binary16.
const HALF_MAX: f32 = 65504.0;

/// The smallest binary16 with all bits of its fraction.
const SMALLEST_NORMAL_HALF: f32 = 1.0 / 16384.0;

/// Checks P9.
fn shader_depth(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (rb, sp) =
        (regs.get::<RB_FS_OUTPUT_REG>().FRAG_WRITES_Z(), regs.get::<SP_FS_OUTPUT_REG>().DEPTH_ENABLE());
    violations.unless(rb == sp, Id::P9, || format!("FRAG_WRITES_Z is {rb}, DEPTH_ENABLE {sp}"));
    let control = regs.get::<RB_DEPTH_CONTROL>();
    let restores = scene.pass == Pass::Restore;
    let late = [regs.get::<GRAS_ALPHA_CONTROL>().ALPHA_TEST_ENABLE(), control.EARLY_Z_DISABLE()];
    violations.unless(late[0] == late[1] || restores, Id::P9, || {
        format!(
            "GRAS_ALPHA_CONTROL.ALPHA_TEST_ENABLE is {}, RB_DEPTH_CONTROL.EARLY_Z_DISABLE {}",
            late[0], late[1]
        )
    });
}

/// Checks P28: late depth turns off the z that the fragment shader reads. Of shaders that read z, only those
/// that write depth, kill or store are known to need the bits.
fn window_z(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (depth, gras) = (regs.get::<RB_DEPTH_CONTROL>(), regs.get::<GRAS_ALPHA_CONTROL>());
    let reads = used(regs.get::<HLSQ_CONTROL_1_REG>().ZWCOORDREGID()).is_some()
        && regs.get::<RB_RENDER_CONTROL2>().COORD_MASK() & COORD_Z != 0;
    let decides =
        regs.get::<SP_FS_OUTPUT_REG>().DEPTH_ENABLE() || scene.program(Stage::FS).is_some_and(has_effects);
    let forced = [depth.FORCE_FRAGZ_TO_FS(), gras.FORCE_FRAGZ_TO_FS()];
    let late = depth.EARLY_Z_DISABLE() && scene.pass != Pass::Restore;
    violations.unless(!(late && reads && decides) || forced == [true; 2], Id::P28, || {
        format!(
            "the shader reads z while early Z is off: FORCE_FRAGZ_TO_FS is {} in RB_DEPTH_CONTROL, {} in GRAS_ALPHA_CONTROL",
            forced[0], forced[1]
        )
    });
}

/// Checks P10. Registers do not say whether the application asked for early tests.
fn early_depth(scene: &Scene<'_>, violations: &mut Violations) {
    let late = scene.regs.get::<RB_DEPTH_CONTROL>().EARLY_Z_DISABLE() || scene.pass == Pass::Restore;
    let depth = scene.regs.get::<SP_FS_OUTPUT_REG>().DEPTH_ENABLE();
    let effects = scene.program(Stage::FS).is_some_and(has_effects);
    violations.unless(late || !depth, Id::P10, || "early Z, though the shader writes depth".to_owned());
    violations.unless(late || !effects, Id::P10, || "early Z, though the shader kills or stores".to_owned());
}

fn has_effects(checked: &Checked) -> bool {
    checked.facts.kills || checked.program.shader.uses.stores
}

/// Checks P11.
fn depth_and_stencil(scene: &Scene<'_>, violations: &mut Violations) {
    let (regs, restores) = (scene.regs, scene.pass == Pass::Restore);
    let depth = regs.get::<RB_DEPTH_CONTROL>();
    violations.unless(!depth.Z_WRITE_ENABLE() || depth.Z_TEST_ENABLE(), Id::P11, || {
        "Z_WRITE without Z_TEST".to_owned()
    });
    let trivial = matches!(depth.ZFUNC(), CompareFunc::FUNC_ALWAYS | CompareFunc::FUNC_NEVER);
    let reads = depth.Z_READ_ENABLE() || !depth.Z_TEST_ENABLE() || trivial;
    violations.unless(reads || restores, Id::P11, || "Z_TEST without Z_READ_ENABLE".to_owned());
    let stencil = regs.get::<RB_STENCIL_CONTROL>();
    let has = stencil.STENCIL_READ() && regs.get::<RB_STENCIL_CONTROL2>().STENCIL_BUFFER();
    violations.unless(!stencil.STENCIL_ENABLE() || has, Id::P11, || {
        "STENCIL_ENABLE without STENCIL_READ and STENCIL_BUFFER".to_owned()
    });
}

/// Checks P20 and T11.
fn depth_format(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    if !scene.in_tiles() {
        let tests = scene.pass == Pass::Bypass && tests_depth(scene);
        violations.unless(!tests, Id::T11, || "depth or stencil test in bypass mode".to_owned());
        return;
    }
    let [gras, rb] = [regs.get::<GRAS_DEPTH_CONTROL>().FORMAT(), regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT()];
    violations.unless(gras == rb, Id::P20, || format!("GRAS_DEPTH_CONTROL {gras:?}, RB_DEPTH_INFO {rb:?}"));
    let tests = tests_depth(scene) && scene.pass == Pass::Gmem;
    violations.unless(!tests || rb != DepthFormat::DEPTH4_NONE, Id::P20, || {
        "depth test without a depth buffer".to_owned()
    });
}

/// Checks P24. Exception X9: the bits that turn multisampling off need not agree.
fn samples(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let counts = [
        regs.get::<GRAS_SC_CONTROL>().MSAA_SAMPLES(),
        regs.get::<RB_MSAA_CONTROL>().SAMPLES(),
        regs.get::<RB_RENDER_CONTROL2>().MSAA_SAMPLES(),
    ];
    let agree = counts.iter().all(|count| *count == counts[0]);
    violations.unless(agree && counts[0] <= MAX_LOG_SAMPLES, Id::P24, || {
        format!(
            "MSAA_SAMPLES is {counts:?} in GRAS_SC_CONTROL, RB_MSAA_CONTROL and RB_RENDER_CONTROL2; at most {MAX_LOG_SAMPLES}"
        )
    });
}
