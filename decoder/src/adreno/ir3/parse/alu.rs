//! Parses instructions of categories 1 to 4.
use super::super::cat1::is_half;
use super::super::convert::float_to_half;
use super::super::{
    Body, Cat1, Cat1Dst, Cat1Op, Cat1Src, Cat2, Cat2Op, Cat3, Cat3Class, Cat3Op, Cat4, Cat4Op, Cond, Isa,
    Operand, Reg, Round, Src, Type,
};
use super::Head;
use super::lex::{
    Parsed, bracketed, comma, fail, flag, half_reg, integer, operand, reg, relative_offset, ty, word,
};

/// Parses the instruction; `None` if the mnemonic is of another category.
pub(super) fn parse<'a>(at: &'a str, head: &Head) -> Option<Parsed<'a, Body>> {
    let name = head.mnemonic;
    if let Some((op, packing)) = third(head) {
        return Some(cat3(at, head, op, packing));
    }
    if let Some(op) = Cat4Op::from_name(name) {
        return Some(cat4(at, head, op));
    }
    let second = Cat2Op::named(name).filter(|op| !op.class().has_cond() && op.is_in(head.isa));
    if let Some(op) = second {
        return Some(cat2(at, head, op, None));
    }
    if let Some((op, cond)) = compare(name) {
        return Some(cat2(at, head, op, Some(cond)));
    }
    match name.split_once('.').unwrap_or((name, "")) {
        ("mov" | "cov", types) => Some(mov(at, head, types)),
        (name @ ("swz" | "gat" | "sct"), types) if head.isa.is_strict() => {
            Some(moves(at, head, Cat1Op::from_name(name)?, types))
        }
        ("movmsk", width) => Some(movmsk(at, width)),
        ("mova", "") => Some(mova(at, head, Type::S16, "a0.x", Reg::A0)),
        ("mova1", "") => Some(mova(at, head, Type::U16, "a1.x", Reg::A1)),
        _ => None,
    }
}

/// `cmps.f.lt`
fn compare(name: &str) -> Option<(Cat2Op, Cond)> {
    let (name, cond) = name.rsplit_once('.')?;
    let op = Cat2Op::from_name(name).filter(|op| op.class().has_cond())?;
    Some((op, Cond::from_name(cond)?))
}

/// A destination whose precision the text shows.
fn destination(at: &str) -> Parsed<'_, (bool, Reg)> {
    let (rest, (half, reg)) = half_reg(at)?;
    if half && !reg.has_halves() {
        return fail(at, "no h before a predicate or r63");
    }
    Ok((rest, (half, reg)))
}

/// `, ` and a source. It must be marked half exactly if `half` is set; an immediate needs no mark.
fn source(at: &str, half: bool) -> Parsed<'_, Operand> {
    let (at, _) = comma(at)?;
    let (rest, (operand, marked)) = operand(at)?;
    match marked == half || is_bare(&operand, marked) {
        true => Ok((rest, of_precision(operand, half))),
        false if half => fail(at, "a half source, marked h"),
        false => fail(at, "a full source, not marked h"),
    }
}

/// Whether the operand is an immediate without a mark. Such an operand does not show the instruction's
/// precision.
const fn is_bare(operand: &Operand, marked: bool) -> bool {
    !marked && matches!(operand.src, Src::Immediate(_) | Src::Flut { .. })
}

/// The operand in an instruction of this precision: half sets the precision of a float immediate.
const fn of_precision(operand: Operand, half: bool) -> Operand {
    match operand.src {
        Src::Flut { index, .. } => Operand { src: Src::Flut { index, half }, ..operand },
        _ => operand,
    }
}

fn cat2<'a>(at: &'a str, head: &Head, op: Cat2Op, cond: Option<Cond>) -> Parsed<'a, Body> {
    let (at, end_input) = flag(at, "(ei)");
    let (at, (dst_half, dst)) = destination(at)?;
    let (at, _) = comma(at)?;
    let (mut at, (first, mut half)) = operand(at)?;
    let mut src2 = None;
    if op.class().has_src2() {
        if is_bare(&first, half) {
            let (rest, _) = comma(at)?;
            half = operand(rest)?.1.1;
        }
        let (rest, operand) = source(at, half)?;
        (at, src2) = (rest, Some(operand));
    }
    let src1 = of_precision(first, half);
    let (sat, repeat) = (head.sat, head.repeat);
    Ok((at, Body::Cat2(Cat2 { op, cond, dst, dst_half, half, repeat, nops: 0, sat, end_input, src1, src2 })))
}

/// The op of a mnemonic of category 3, and which bytes a dot product takes: `.mixed` and `.high`.
fn third(head: &Head) -> Option<(Cat3Op, [bool; 2])> {
    let name = head.mnemonic;
    let known = |name: &str| Cat3Op::from_name(name).filter(|op| op.is_in(head.isa));
    let (dot, signs, bytes) = (name.split('.').next()?, name.split('.').nth(1), name.split('.').nth(2));
    let dot = known(dot).filter(|op| op.class() == Cat3Class::Dot && name.split('.').count() == 3);
    let Some(op) = dot else {
        return Some((known(name)?, [false; 2])).filter(|(op, _)| op.class() != Cat3Class::Dot);
    };
    let mixed = ["unsigned", "mixed"].iter().position(|name| Some(*name) == signs)?;
    let high = ["low", "high"].iter().position(|name| Some(*name) == bytes)?;
    Some((op, [mixed == 1, high == 1]))
}

/// `, ` and a source of category 3, and whether it is marked half. The field of an immediate has 12 bits.
fn loose(at: &str, immediates: bool) -> Parsed<'_, (Operand, bool)> {
    let (at, _) = comma(at)?;
    let (plain, neg) = flag(at, "(neg)");
    let (plain, step) = flag(plain, "(r)");
    if immediates && plain.starts_with(|c: char| c.is_ascii_digit()) {
        let (rest, value) = integer(plain, 0, 4095, "an immediate, 0 to 4095")?;
        let src = Src::Immediate(value as i16);
        return Ok((rest, (Operand { src, neg, step, ..Operand::default() }, false)));
    }
    operand(at)
}

/// As [`loose`], of an op whose sources are half registers if `half` is set.
fn third_source(at: &str, half: bool, immediates: bool) -> Parsed<'_, Operand> {
    let (rest, (operand, _)) = loose(at, immediates)?;
    match operand.src {
        Src::Immediate(_) => Ok((rest, operand)),
        _ => source(at, half),
    }
}

fn cat3<'a>(at: &'a str, head: &Head, op: Cat3Op, [mixed, high]: [bool; 2]) -> Parsed<'a, Body> {
    let class = op.class();
    let (at, (dst_half, dst)) = destination(at)?;
    let [immediate1, immediate3] = class.immediates();
    // The second source is a register, so that it shows the precision.
    let half = match class {
        Cat3Class::Shift | Cat3Class::Matrix => {
            let (rest, _) = loose(at, immediate1)?;
            loose(rest, false)?.1.1
        }
        _ => class.is_half(),
    };
    let (rest, src1) = third_source(at, half, immediate1)?;
    let (after2, src2) = third_source(rest, half, false)?;
    let (end, src3) = third_source(after2, half, immediate3)?;
    let places = [(at, &src1, immediate1), (rest, &src2, false), (after2, &src3, immediate3)];
    for ((place, operand, immediates), negates) in places.into_iter().zip(class.negations()) {
        let wrong = match operand.src {
            Src::Immediate(_) => !immediates,
            Src::Const(_) => immediates,
            Src::Flut { .. } => true,
            _ => false,
        };
        if operand.abs || wrong || operand.neg && !negates {
            return fail(place, "a register or constant without (abs)");
        }
    }
    if !matches!(src2.src, Src::Gpr(_)) || src2.last {
        return fail(rest, "a register as second source");
    }
    let (sat, repeat) = (head.sat, head.repeat);
    let instr = Cat3 { op, dst, dst_half, half, repeat, nops: 0, sat, src1, src2, src3, mixed, high };
    Ok((end, Body::Cat3(instr)))
}

fn cat4<'a>(at: &'a str, head: &Head, op: Cat4Op) -> Parsed<'a, Body> {
    let (at, (dst_half, dst)) = destination(at)?;
    let (at, _) = comma(at)?;
    let (at, (src, half)) = operand(at)?;
    Ok((at, Body::Cat4(Cat4 { op, dst, dst_half, half, repeat: head.repeat, sat: head.sat, src })))
}

/// `mov.f32f32 r0.x, c4.x` and `cov`.
fn mov<'a>(at: &'a str, head: &Head, types: &str) -> Parsed<'a, Body> {
    let Some((src_type, dst_type)) = two_types(types) else {
        return fail(at, "two types, as in mov.f32f32");
    };
    if (src_type == dst_type) != head.mnemonic.starts_with("mov") {
        return fail(at, "mov between equal types and cov between different ones");
    }
    let (at, round) = rounding(at)?;
    let (rest, half) = flag(at, "h");
    // Older assemblers take `s8`, which is `u8_32` today, for a type of half registers.
    if half != is_half(head.isa, dst_type) && !types.ends_with("s8") {
        return fail(at, "a destination register of the type's precision");
    }
    let (at, dst) = cat1_dst(rest)?;
    let (at, _) = comma(at)?;
    let at = if types.starts_with("s8") { at.strip_prefix('h').unwrap_or(at) } else { at };
    let (at, src) = cat1_src(head.isa, at, src_type)?;
    let (op, repeat, more, hold) = (Cat1Op::Mov, head.repeat, [Reg(0); 3], false);
    Ok((at, Body::Cat1(Cat1 { op, dst_type, src_type, round, repeat, dst, src, more, hold })))
}

/// `swz.u32u32 r0.x, r0.y, r0.y, r0.x`
fn moves<'a>(at: &'a str, head: &Head, op: Cat1Op, types: &str) -> Parsed<'a, Body> {
    let Some((src_type, dst_type)) = two_types(types) else {
        return fail(at, "two types, as in swz.u32u32");
    };
    let (mut at, round) = rounding(at)?;
    let destinations = match op {
        Cat1Op::Swz => 2,
        Cat1Op::Sct => 4,
        _ => 1,
    };
    let count = if op == Cat1Op::Swz { 4 } else { 5 };
    let mut regs = [Reg(0); 5];
    for (index, reg) in regs.iter_mut().enumerate().take(count) {
        if index > 0 {
            (at, _) = comma(at)?;
        }
        let (rest, (half, parsed)) = half_reg(at)?;
        if half != is_half(head.isa, if index < destinations { dst_type } else { src_type }) {
            return fail(at, "a register of the type's precision");
        }
        (at, *reg) = (rest, parsed);
    }
    let (dst, src, more) = match (op, regs) {
        (Cat1Op::Swz, [dst, dst1, src, src1, _]) => (dst, src, [src1, dst1, Reg(0)]),
        (Cat1Op::Sct, [dst, a, b, c, src]) => (dst, src, [a, b, c]),
        (_, [dst, src, a, b, c]) => (dst, src, [a, b, c]),
    };
    let src = Cat1Src::Operand(Operand { src: Src::Gpr(src), ..Operand::default() });
    let (dst, repeat, hold) = (Cat1Dst::Reg(dst), 0, false);
    Ok((at, Body::Cat1(Cat1 { op, dst_type, src_type, round, repeat, dst, src, more, hold })))
}

fn two_types(text: &str) -> Option<(Type, Type)> {
    let (rest, first) = ty(text).ok()?;
    Some((first, Type::from_name(rest)?))
}

fn rounding(at: &str) -> Parsed<'_, Round> {
    let named = Round::ALL.iter().skip(1).find(|round| at.starts_with(round.name()));
    let round = *named.unwrap_or(&Round::Default);
    Ok((&at[round.name().len()..], round))
}

fn cat1_dst(at: &str) -> Parsed<'_, Cat1Dst> {
    if let Some(inner) = at.strip_prefix("r<a0.x") {
        let (at, offset) = relative_offset(inner, 0, 255)?;
        return Ok((at, Cat1Dst::Relative(offset as u8)));
    }
    let (at, reg) = reg(at)?;
    Ok((at, Cat1Dst::Reg(reg)))
}

/// `mova a0.x, hr0.x`
fn mova<'a>(at: &'a str, head: &Head, ty: Type, name: &'static str, reg: Reg) -> Parsed<'a, Body> {
    let (at, round) = rounding(at)?;
    let (at, _) = word(name)(at)?;
    let (at, _) = comma(at)?;
    let number = |text: &str| text.starts_with(|c: char| c.is_ascii_digit() || c == '-');
    let held = at.strip_prefix("(r)").filter(|rest| head.isa.has_nops() && number(rest));
    let (at, src) = cat1_src(head.isa, held.unwrap_or(at), ty)?;
    let (dst, hold, more) = (Cat1Dst::Reg(reg), held.is_some(), [Reg(0); 3]);
    let (op, repeat) = (Cat1Op::Mov, head.repeat);
    Ok((at, Body::Cat1(Cat1 { op, dst_type: ty, src_type: ty, round, repeat, dst, src, more, hold })))
}

/// `movmsk.w32 r0.x`
fn movmsk<'a>(at: &'a str, width: &str) -> Parsed<'a, Body> {
    let Some(words) = ["w32", "w64", "w96", "w128"].iter().position(|name| *name == width) else {
        return fail(at, "movmsk.w32, .w64, .w96 or .w128");
    };
    let (at, dst) = cat1_dst(at)?;
    let instr = Cat1 {
        op: Cat1Op::Movmsk,
        dst_type: Type::U32,
        src_type: Type::U32,
        round: Round::Default,
        repeat: words as u8,
        dst,
        src: Cat1Src::Immediate(0),
        more: [Reg(0); 3],
        hold: false,
    };
    Ok((at, Body::Cat1(instr)))
}

fn cat1_src(isa: Isa, at: &str, ty: Type) -> Parsed<'_, Cat1Src> {
    let plain = at.strip_prefix('h').unwrap_or(at);
    let flagged = ["(r)", "(last)"].iter().any(|flag| plain.starts_with(flag));
    if !flagged && !plain.starts_with(['r', 'c', 'a', 'p']) {
        let (at, bits) = immediate(at, ty)?;
        return Ok((at, Cat1Src::Immediate(bits)));
    }
    let (rest, (operand, half)) = operand(at)?;
    if half != is_half(isa, ty) || operand.neg || operand.abs || matches!(operand.src, Src::Immediate(_)) {
        return fail(at, "a source of the type's precision without (neg) or (abs)");
    }
    Ok((rest, Cat1Src::Operand(operand)))
}

/// Parses an immediate of category 1 to its bits.
fn immediate(at: &str, ty: Type) -> Parsed<'_, u32> {
    const FLOAT: &str = "a float in brackets, as in (1.5) or h(1.5)";
    if !ty.is_float() {
        let (low, high) =
            if ty == Type::S16 { (-0x8000, 0xffff) } else { (i32::MIN.into(), u32::MAX.into()) };
        let (at, value) = integer(at, low, high, "an integer that fits the type")?;
        let bits = value as u32;
        return Ok((at, if ty == Type::S16 { bits & 0xffff } else { bits }));
    }
    let (inner, _) = flag(at, if ty == Type::F16 { "h" } else { "" });
    let (rest, text) = bracketed(inner).or(fail(at, FLOAT))?;
    match float_bits(text, ty) {
        Some(bits) => Ok((rest, bits)),
        None => fail(at, FLOAT),
    }
}

/// The bits of a float: a number, or its bits in hexadecimal.
fn float_bits(text: &str, ty: Type) -> Option<u32> {
    if let Some(digits) = text.strip_prefix("0x") {
        let bits = u32::from_str_radix(digits, 16).ok()?;
        return (ty == Type::F32 || bits <= 0xffff).then_some(bits);
    }
    let value: f32 = text.parse().ok()?;
    match ty {
        Type::F16 => Some(float_to_half(value, Round::Even).into()),
        _ => Some(value.to_bits()),
    }
}
