//! Checks section 3.2 of the page, and Y6: a program against the registers of its stage.

use a4emu_decoder::a4xx::enums::IntpMode;
use a4emu_decoder::a4xx::regs::vpc::{VPC_ATTR, VPC_VARYING_INTERP_MODE};
use a4emu_decoder::adreno::ir3::access::FileReg;
use a4emu_decoder::adreno::ir3::{Body, Cat2, Cat2Op, Cat6Form, Reg, Src};

use super::stage::{barycentrics, control0, delivered, has_four_quads, hlsq, outputs, private_memory};
use super::{Scene, Violations};
use crate::program::Checked;
use crate::rules::Id;
use a4emu_gpu::a4xx::sp::place;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;

/// Number of instructions in a group.
const GROUP: usize = 16;
/// Maximum number of vec4 registers of a fiber, with two quads and with four.
const REGISTERS: [u32; 2] = [48, 24];
/// First vec4 of the constant file that mirrors storage descriptors.
const SSBO_MIRROR: u32 = 448;

/// Adds violations by the program of a stage with the stage's registers.
pub fn check(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let stage = checked.program.stage;
    footprint(scene, checked, violations);
    constants(scene, checked, violations);
    enables(scene, checked, violations);
    length(scene, checked, violations);
    pending(scene, checked, violations);
    private(scene, checked, violations);
    if stage == Stage::FS {
        varyings(scene, checked, violations);
    }
}

/// Checks S20, S21, P5 and P18: the used registers against the footprint.
fn footprint(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let (program, regs) = (&checked.program, scene.regs);
    let Some(control) = control0(regs, program.stage) else { return };
    let stage = program.stage.name();
    let sizes = [control.FULLREGFOOTPRINT(), control.HALFREGFOOTPRINT()];
    let outside = |reg: FileReg| u32::from(reg.reg.number()) >= sizes[usize::from(reg.half)];
    for half in [false, true] {
        let highest = checked.facts.highest[usize::from(half)].map(|id| id / 4);
        if let Some(highest) = highest.filter(|number| *number >= sizes[usize::from(half)]) {
            let (file, size) = (if half { "hr" } else { "r" }, sizes[usize::from(half)]);
            violations.report(Id::S20, format!("{stage}: {file}{highest} used, footprint {size}"));
        }
    }
    let named = delivered(regs, program.stage).into_iter().map(|named| (named, Id::P18));
    let named =
        named.chain(outputs(regs, program.stage, scene.pass).into_iter().map(|named| (named, Id::P5)));
    for ((reg, what), rule) in named.filter(|((reg, what), _)| outside(*reg) && !is_dummy(*reg, what)) {
        let rule = match what {
            "attribute" | "position" => rule,
            _ => Id::S20,
        };
        let size = sizes[usize::from(reg.half)];
        violations.report(rule, format!("{stage}: {what} in {reg}, footprint {size}"));
    }
    let four = has_four_quads(control);
    let most = REGISTERS[usize::from(four)];
    if sizes[0] > most {
        violations.report(Id::S21, format!("{stage}: {} registers, {most} with this THREADSIZE", sizes[0]));
    }
    if four && program.stage == Stage::VS {
        violations.report(Id::S21, "VS: four quads");
    }
}

/// Exception X14: a vertex shader without a position names r0, and its one attribute is r0.x.
fn is_dummy(reg: FileReg, what: &str) -> bool {
    match what {
        "position" => reg.reg.number() == 0,
        "attribute" => reg.reg == Reg(0),
        _ => false,
    }
}

/// Checks S22.
fn constants(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let program = &checked.program;
    if scene.pass == Pass::Resolve && program.stage == Stage::FS {
        return;
    }
    let control = hlsq(scene.regs, program.stage);
    let length = control.CONSTLENGTH() * 4;
    let mirrored = |index: u32| control.SSBO_ENABLE() && index >= SSBO_MIRROR;
    let named = program.shader.uses.constants.keys().map(|scalar| u32::from(scalar / 4));
    let outside = named.filter(|index| *index >= length && !mirrored(*index)).max();
    if let Some(index) = outside {
        let what = format!("{}: c{index} outside the stage's {length} vec4", program.stage.name());
        violations.report(Id::S22, what);
    }
}

/// Checks S23 and S24.
fn enables(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let program = &checked.program;
    let slots = checked.facts.storage;
    let enabled = hlsq(scene.regs, program.stage).SSBO_ENABLE();
    if slots != enabled {
        let what =
            if slots { "storage slots without SSBO_ENABLE" } else { "SSBO_ENABLE without storage slots" };
        violations.report(Id::S23, format!("{}: {what}", program.stage.name()));
    }
    if program.stage != Stage::FS {
        return;
    }
    // Drivers before Mesa 20.1 set it for every program with a sampler.
    let lod = control0(scene.regs, program.stage).is_some_and(|control| control.PIXLODENABLE());
    violations.unless(lod || !checked.facts.quads, Id::S24, || {
        "FS: implicit level without PIXLODENABLE".to_owned()
    });
}

/// Checks S25.
fn length(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let program = &checked.program;
    let (start, length) = place(scene.regs, program.stage);
    let needs = checked.facts.length.div_ceil(GROUP);
    let has = length as usize / GROUP;
    if needs > has {
        let what = format!("{}: {needs} groups of instructions, LENGTH {has}", program.stage.name());
        violations.report(Id::S25, what);
    }
    let inside = scene.gpu.memory().room(start) as usize >= length as usize * 8;
    if length > 0 && !inside && scene.runs_from_memory(program.stage) {
        violations
            .report(Id::M7, format!("{}: program at {start:#010x} ends in no buffer", program.stage.name()));
    }
}

/// Checks Y6.
fn pending(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let program = &checked.program;
    let taken = outputs(scene.regs, program.stage, scene.pass);
    for pending in &checked.pending {
        for (reg, what) in taken.iter().filter(|(reg, _)| pending.regs.has(*reg)) {
            let what = format!("{what} {reg} may not have arrived at the end");
            violations.add(program.broken(Id::Y6, pending.end, what));
        }
    }
}

/// Checks S30.
fn private(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    let program = &checked.program;
    if checked.facts.private && private_memory(scene.regs, program.stage).is_none() {
        violations.report(Id::S30, format!("{}: private memory without storage", program.stage.name()));
    }
}

/// Checks S26, S27 and S35.
fn varyings(scene: &Scene<'_>, checked: &Checked, violations: &mut Violations) {
    if scene.pass == Pass::Resolve {
        return;
    }
    let program = &checked.program;
    let total = scene.regs.get::<VPC_ATTR>().TOTALATTR();
    let delivered = barycentrics(scene.regs).map(|(id, _)| id);
    for &index in &checked.facts.inputs {
        let instr = &program.instrs[index];
        for location in locations(&instr.body).filter(|location| *location >= total) {
            let what = format!("varying {location} is not delivered: TOTALATTR is {total}");
            violations.add(program.broken(Id::S26, index, what));
        }
        match &instr.body {
            Body::Cat6(cat6) if matches!(cat6.form, Cat6Form::Varying { .. }) => {
                for location in
                    locations(&instr.body).filter(|location| mode(scene, *location) == IntpMode::SMOOTH)
                {
                    let what = format!("ldlv of varying {location}, which is not flat");
                    violations.add(program.broken(Id::S27, index, what));
                }
            }
            Body::Cat2(Cat2 { dst, src2: Some(ij), .. }) if *dst != Reg::NONE => {
                if let Some(location) =
                    locations(&instr.body).find(|location| mode(scene, *location) == IntpMode::FLAT)
                {
                    let what = format!("bary.f of varying {location}, which is flat");
                    violations.add(program.broken(Id::S35, index, what));
                }
                if let Src::Gpr(reg) = ij.src
                    && !computed(checked, index, reg)
                    && !delivered.contains(&u32::from(reg.0))
                {
                    let reg = FileReg { half: false, reg };
                    violations.add(program.broken(
                        Id::S27,
                        index,
                        format!("i and j in {reg} were never delivered"),
                    ));
                }
            }
            _ => {}
        }
    }
}

/// Whether the program itself computes the coordinates that it interpolates with.
fn computed(checked: &Checked, index: usize, reg: Reg) -> bool {
    let writes = &checked.program.writes[..index];
    writes.iter().flatten().any(|write| write.reg == FileReg { half: false, reg })
}

fn mode(scene: &Scene<'_>, location: u32) -> IntpMode {
    scene.regs.at::<VPC_VARYING_INTERP_MODE>(location / 16).component(location)
}

/// Locations that an input instruction reads.
pub fn locations(body: &Body) -> impl Iterator<Item = u32> + use<> {
    let (first, count) = match body {
        Body::Cat6(cat6) => match cat6.form {
            Cat6Form::Varying { location, count, .. } => (u32::from(location), u32::from(count)),
            _ => (0, 0),
        },
        Body::Cat2(Cat2 { op: Cat2Op::BaryF, dst, src1, repeat, .. }) => match src1.src {
            Src::Immediate(first) if *dst != Reg::NONE => {
                (u32::try_from(first).unwrap_or(0), 1 + if src1.step { u32::from(*repeat) } else { 0 })
            }
            _ => (0, 0),
        },
        _ => (0, 0),
    };
    first..first + count
}
