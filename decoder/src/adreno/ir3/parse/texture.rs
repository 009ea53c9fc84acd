//! Parses instructions of category 5.
use super::super::cat5::result_type;
use super::super::{BindlessIndex, Body, Cat5, Cat5Class, Cat5Op, Cat5Slots, Isa, Reg, Type};
use super::Head;
use super::flow::cluster;
use super::lex::{Parsed, bracketed, comma, fail, flag, half_reg, integer, reg, ty, word};

/// Parses the instruction; `None` if the mnemonic is of another category.
pub(super) fn parse<'a>(at: &'a str, head: &Head) -> Option<Parsed<'a, Body>> {
    let (op, suffixes) = split(head.mnemonic).filter(|(op, _)| op.is_in(head.isa))?;
    Some(cat5(at, head.isa, op, suffixes))
}

/// The op of a mnemonic and its suffixes; some mnemonics contain a dot.
fn split(name: &str) -> Option<(Cat5Op, &str)> {
    let matches = |op: &&Cat5Op| {
        name.strip_prefix(op.name()).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
    };
    let op = *Cat5Op::ALL.iter().find(matches)?;
    Some((op, &name[op.name().len()..]))
}

fn cat5<'a>(at: &'a str, isa: Isa, op: Cat5Op, suffixes: &str) -> Parsed<'a, Body> {
    let class = op.class();
    let has = |name| suffixes.split('.').any(|suffix| suffix == name);
    let base = suffixes.split('.').find_map(|suffix| suffix.strip_prefix("base")?.parse().ok());
    let shadow = &op.shadow_name(isa)[1..];
    let known = |suffix: &str| match suffix {
        "" => true,
        "3d" | "a" | "o" | "p" | "s2en" | "uniform" | "nonuniform" => class.has_flags(),
        "1d" => op.is_isam(isa),
        _ if class == Cat5Class::Cluster1 => cluster(suffix, 4).is_some(),
        _ if suffix.starts_with("base") => {
            class.has_flags() && isa != Isa::A4xx && base.is_some_and(|n| n < 8)
        }
        _ => class.has_flags() && suffix == shadow,
    };
    if !suffixes.split('.').all(known) {
        return fail(at, "the suffixes .3d .a .o .p .s .s2en .uniform .nonuniform only");
    }
    let plain = ResultText { ty: Type::F16, wrmask: 0, dst: Reg(0) };
    let (at, result) = if class == Cat5Class::Plain { (at, plain) } else { result(at, op)? };
    let mut instr = Cat5 {
        op,
        three_d: has("3d"),
        array: has("a"),
        shadow: has(shadow),
        offsets: has("o"),
        projective: has("p"),
        ty: result.ty,
        wrmask: result.wrmask,
        dst: result.dst,
        half: true,
        src1: Reg(0),
        src2: Reg(0),
        slots: Cat5Slots::Immediate { sampler: 0, texture: 0 },
        one_d: has("1d"),
        offset: 0,
        cluster: suffixes.split('.').find_map(|suffix| cluster(suffix, 4)).unwrap_or(0),
    };
    let (mut at, ()) = sources(at, &mut instr)?;
    if op.is_isam(isa) && at.starts_with('+') {
        let (rest, offset) = integer(at, 1, 255, "an offset, +1 to +255")?;
        (at, instr.offset) = (rest, offset as u8);
    }
    let (at, slots) = match base {
        Some(base) => bindless(at, isa, op, base, has("s2en").then(|| has("nonuniform")))?,
        None if has("s2en") => indirect(at, has("nonuniform"))?,
        None => immediate(at, op)?,
    };
    instr.slots = slots;
    Ok((at, Body::Cat5(instr)))
}

struct ResultText {
    ty: Type,
    wrmask: u8,
    dst: Reg,
}

/// `(f32)(xyzw)r0.x`
fn result(at: &str, op: Cat5Op) -> Parsed<'_, ResultText> {
    let (at, shown) = match op.class() {
        Cat5Class::Untyped1 => (at, None),
        _ => {
            let (at, _) = word("(")(at)?;
            let (at, ty) = ty(at)?;
            let (at, _) = word(")")(at)?;
            (at, Some(ty))
        }
    };
    let (rest, names) = bracketed(at)?;
    let mut wrmask = 0;
    for name in names.chars() {
        match "xyzw".find(name) {
            Some(bit) => wrmask |= 1 << bit,
            None => return fail(at, "a write mask, as in (xyzw)"),
        }
    }
    let (at, (half, dst)) = half_reg(rest)?;
    let ty = shown.unwrap_or(result_type(op, if half { Type::F16 } else { Type::F32 }));
    if half != ty.is_half() {
        return fail(rest, "a destination register of the type's precision");
    }
    Ok((at, ResultText { ty, wrmask, dst }))
}

fn sources<'a>(mut at: &'a str, instr: &mut Cat5) -> Parsed<'a, ()> {
    let wanted = [instr.has_src1(), instr.has_src2()];
    let mut marks = [None; 2];
    for (slot, mark) in marks.iter_mut().enumerate().filter(|(slot, _)| wanted[*slot]) {
        let (rest, ()) = comma(at)?;
        let (rest, (half, reg)) = half_reg(rest)?;
        *mark = Some(half);
        *(if slot == 0 { &mut instr.src1 } else { &mut instr.src2 }) = reg;
        at = rest;
    }
    if matches!(marks, [Some(first), Some(second)] if first != second) {
        return fail(at, "sources of one precision");
    }
    instr.half = marks[0].or(marks[1]).unwrap_or(true);
    Ok((at, ()))
}

fn indirect(at: &str, nonuniform: bool) -> Parsed<'_, Cat5Slots> {
    let (at, ()) = comma(at)?;
    let (rest, (half, reg)) = half_reg(at)?;
    if !half {
        return fail(at, "a half register with the slots, marked h");
    }
    Ok((rest, Cat5Slots::Indirect { reg, nonuniform }))
}

/// The slots at a bindless base: a register if `indirect` says whether it is nonuniform, or numbers; and `a1.x`.
fn bindless(at: &str, isa: Isa, op: Cat5Op, base: u8, indirect: Option<bool>) -> Parsed<'_, Cat5Slots> {
    if let Some(nonuniform) = indirect {
        let (at, ()) = comma(at)?;
        let (at, reg) = reg(at)?;
        let (at, a1) = flag(at, ", a1.x");
        return Ok((
            at,
            Cat5Slots::Bindless { base, a1, index: BindlessIndex::Register { reg, nonuniform } },
        ));
    }
    let (mut at, mut sampler, mut texture) = (at, 0, 0);
    if op.class().has_sampler() {
        (at, sampler) = slot(at, "s#", 255)?;
    }
    let (_, mut a1) = flag(at, ", a1.x");
    let wide = a1 && isa == Isa::A6xx;
    if op.class().has_texture() && !wide {
        (at, texture) = slot(at, "t#", 15)?;
    }
    if sampler > 15 && !wide {
        return fail(at, "a1.x behind a sampler above s#15");
    }
    (at, a1) = flag(at, ", a1.x");
    Ok((at, Cat5Slots::Bindless { base, a1, index: BindlessIndex::Immediate { sampler, texture } }))
}

fn immediate(mut at: &str, op: Cat5Op) -> Parsed<'_, Cat5Slots> {
    let (mut sampler, mut texture) = (0, 0);
    if op.class().has_sampler() {
        (at, sampler) = slot(at, "s#", 15)?;
    }
    if op.class().has_texture() {
        (at, texture) = slot(at, "t#", 127)?;
    }
    Ok((at, Cat5Slots::Immediate { sampler, texture }))
}

fn slot<'a>(at: &'a str, prefix: &'static str, last: i64) -> Parsed<'a, u8> {
    let (at, ()) = comma(at)?;
    let (at, _) = word(prefix)(at)?;
    let (at, slot) = integer(at, 0, last, "a slot: s#0 to s#15, or t#0 to t#127")?;
    Ok((at, slot as u8))
}
