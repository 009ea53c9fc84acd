//! Checks rules S10 to S13 and S16 to S19 (section 3.1 of the page, encodings).

use a4emu_decoder::adreno::ir3::{
    Body, Cat1Dst, Cat2Class, Cat2Op, Cat3Op, Cat5, Cat5Op, Cat6, Cat6Form, Cat6Op, Instr, Operand, Src, Type,
};

use super::Program;
use crate::validate::finding::Broken;
use crate::validate::rules::Id;
use a4emu_gpu::gpu::Stage;

/// Adds violations of the rules for single instructions.
pub fn check(program: &Program, broken: &mut Vec<Broken>) {
    for (index, instr) in program.reachable() {
        let mut say = |rule, what: String| broken.push(program.broken(rule, index, what));
        let name = instr.body.mnemonic().unwrap_or_default();
        if instr.repeat() == 0 && instr.operands().iter().any(|operand| operand.step) {
            say(Id::S10, "(r) without a repeat".to_owned());
        }
        if saturates_in_vain(instr) {
            say(Id::S11, format!("(sat) has no effect on {name}"));
        }
        if folds_conversion(instr) {
            say(Id::S12, format!("{name} converts its result"));
        }
        if let Some(what) = wrong_source(instr) {
            say(Id::S13, format!("{name} {what}"));
        }
        if program.stage != Stage::FS && needs_quads(instr) {
            say(Id::S16, format!("{name} outside of a fragment shader"));
        }
        if let Body::Cat6(cat6) = &instr.body
            && is_absent(cat6)
        {
            say(Id::S17, format!("{name} does not exist so on A420"));
        }
        if matches!(instr.body, Body::Cat5(Cat5 { projective: true, .. })) {
            say(Id::S18, format!("{name}.p does not exist on A420"));
        }
        if matches!(instr.body, Body::Cat3(_))
            && instr.operands().iter().any(|operand| has_no_offset(operand))
        {
            say(Id::S19, format!("{name} reads what a0.x chooses, with offset 0"));
        }
    }
}

fn has_no_offset(operand: &Operand) -> bool {
    matches!(operand.src, Src::RelativeGpr(0) | Src::RelativeConst(0))
}

fn saturates_in_vain(instr: &Instr) -> bool {
    match &instr.body {
        Body::Cat2(cat2) => cat2.sat && cat2.op == Cat2Op::BaryF,
        Body::Cat3(cat3) => cat3.sat && is_select(cat3.op),
        Body::Cat4(cat4) => cat4.sat,
        _ => false,
    }
}

fn is_select(op: Cat3Op) -> bool {
    use Cat3Op::{SelB16, SelB32, SelF16, SelF32, SelS16, SelS32};
    matches!(op, SelB16 | SelB32 | SelF16 | SelF32 | SelS16 | SelS32)
}

fn folds_conversion(instr: &Instr) -> bool {
    match &instr.body {
        Body::Cat2(cat2) => {
            let compares = matches!(cat2.op.class(), Cat2Class::CmpF | Cat2Class::CmpU | Cat2Class::CmpS);
            cat2.dst.has_halves() && cat2.dst_half != cat2.half && !compares && cat2.op != Cat2Op::BaryF
        }
        Body::Cat3(cat3) => cat3.dst.has_halves() && cat3.dst_half != cat3.op.class().is_half(),
        _ => false,
    }
}

fn wrong_source(instr: &Instr) -> Option<&'static str> {
    let constant = |operand: &&Operand| matches!(operand.src, Src::Const(_) | Src::RelativeConst(_));
    let immediate = |operand: &&Operand| matches!(operand.src, Src::Immediate(_) | Src::Flut { .. });
    match &instr.body {
        Body::Cat1(cat1) => {
            let relative =
                |operand: &&Operand| matches!(operand.src, Src::RelativeGpr(_) | Src::RelativeConst(_));
            let both = matches!(cat1.dst, Cat1Dst::Relative(_)) && instr.operands().iter().any(relative);
            both.then_some("has a relative source and destination")
        }
        Body::Cat2(_) if instr.operands().iter().filter(|operand| constant(operand)).count() > 1 => {
            Some("reads two constants")
        }
        Body::Cat2(_) if instr.operands().iter().filter(|operand| immediate(operand)).count() > 1 => {
            Some("reads two immediates")
        }
        Body::Cat4(cat4) => {
            let register = matches!(cat4.src.src, Src::Gpr(_) | Src::RelativeGpr(_));
            (!register).then_some("reads something else than a register")
        }
        _ => None,
    }
}

/// Whether the instruction compares the pixels of a quad.
pub fn needs_quads(instr: &Instr) -> bool {
    let Body::Cat5(cat5) = &instr.body else { return false };
    matches!(cat5.op, Cat5Op::Sam | Cat5Op::Samb | Cat5Op::Getlod | Cat5Op::Dsx | Cat5Op::Dsy)
}

fn is_absent(cat6: &Cat6) -> bool {
    match cat6.form {
        Cat6Form::BufferLoad { .. } if cat6.op == Cat6Op::Ldib => true,
        Cat6Form::BufferLoad { view, .. } => {
            let word = matches!(cat6.ty, Type::F32 | Type::U32 | Type::S32);
            view.typed && !(word && view.components == 1)
        }
        _ => false,
    }
}
