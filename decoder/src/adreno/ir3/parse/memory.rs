//! Parses instructions of category 6.
use super::super::bits::{put, put_signed};
use super::super::{Body, Cat6, Cat6Class, Cat6Form, Cat6Op, Reg, RegOrImm, Type, View};
use super::Head;
use super::lex::{Parsed, byte, comma, fail, half_reg, integer, reg, word};

/// Parses the instruction; `None` if the mnemonic is of another category.
pub(super) fn parse<'a>(at: &'a str, head: &Head) -> Option<Parsed<'a, Body>> {
    let (op, suffixes, global) = split(head.mnemonic)?;
    let suffixes = suffixes.strip_prefix('.').unwrap_or(suffixes);
    let form = match op.class() {
        Cat6Class::LoadGlobal | Cat6Class::LoadLocal | Cat6Class::LoadPrivate => load(at, op, suffixes),
        Cat6Class::StoreGlobal | Cat6Class::StoreLocal | Cat6Class::StorePrivate => store(at, op, suffixes),
        Cat6Class::Varying => varying(at, suffixes),
        Cat6Class::Info => info(at, suffixes),
        Cat6Class::BufferLoad => buffer_load(at, suffixes),
        Cat6Class::BufferStore => buffer_store(at, suffixes),
        Cat6Class::ConstantLoad => constant_load(at, suffixes),
        Cat6Class::Atomic if global => atomic_slot(at, suffixes),
        Cat6Class::Atomic => atomic_local(at, suffixes),
    };
    Some(form.map(|(at, (ty, form))| (at, Body::Cat6(Cat6 { op, ty, form }))))
}

/// The mnemonic of opcode 6 in older assemblers, which is `ldib` today.
pub(super) const OLD_STORE: &str = "sti.";

/// `sti.f32 hr0.y+2, r3.y, 0`: the word that fdre-a3xx's assembler makes of it.
///
/// Its place of the offset is bits 13:1, which `ldib` has for other fields. The last operand is in no bit.
pub(super) fn old_store<'a>(at: &'a str, ty: &str) -> Parsed<'a, u64> {
    let Some(ty) = Type::from_name(ty) else { return fail(at, "a mnemonic with a type, as in sti.f32") };
    let (at, (_, dst)) = half_reg(at)?;
    let (at, offset) = match at.starts_with(['+', '-']) {
        true => integer(at, -4096, 4095, "an offset, -4096 to 4095")?,
        false => (at, 0),
    };
    let (at, ()) = comma(at)?;
    let (at, (_, src)) = half_reg(at)?;
    let (at, _) = count(at)?;
    let operands = match offset {
        0 => put(src.0, 1),
        _ => 1 | put_signed(offset, 1, 13) | put(src.0, 14),
    };
    let op = put(6u8, 61) | put(Cat6Op::Ldib.bits(), 54) | put(ty as u8, 49);
    Ok((at, op | put(dst.0, 32) | operands))
}

/// The op of a mnemonic, its suffixes, and whether it is `atomic.s`.
fn split(name: &str) -> Option<(Cat6Op, &str, bool)> {
    let (name, atomic, global) = match (name.strip_prefix("atomic.s."), name.strip_prefix("atomic.")) {
        (Some(rest), _) => (rest, true, true),
        (_, Some(rest)) => (rest, true, false),
        _ => (name, false, false),
    };
    let end = name.find('.').unwrap_or(name.len());
    let op = Cat6Op::from_name(&name[..end])?;
    ((op.class() == Cat6Class::Atomic) == atomic).then_some((op, &name[end..], global))
}

type Form = (Type, Cat6Form);

fn only_type<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Type> {
    match Type::from_name(suffixes) {
        Some(ty) => Ok((at, ty)),
        None => fail(at, "a mnemonic with a type, as in ldg.u32"),
    }
}

fn load<'a>(at: &'a str, op: Cat6Op, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, (address, offset)) = address(at, op)?;
    let (at, count) = count(at)?;
    Ok((at, (ty, Cat6Form::Load { dst, address, offset, count })))
}

fn store<'a>(at: &'a str, op: Cat6Op, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (address, offset)) = address(at, op)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, count) = count(at)?;
    Ok((at, (ty, Cat6Form::Store { value, address, offset, count })))
}

fn varying<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, _) = word("l[")(at)?;
    let (at, location) = integer(at, 0, 0x1fff, "a component location, 0 to 8191")?;
    let (at, _) = word("]")(at)?;
    let (at, count) = count(at)?;
    Ok((at, (ty, Cat6Form::Varying { dst, location: location as u16, count })))
}

/// `resinfo.u32.2d r0.x, g[0]`
fn info<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let parsed =
        suffixes.split_once('.').and_then(|(ty, dims)| Some((Type::from_name(ty)?, dimensions(dims)?)));
    let Some((ty, dims)) = parsed else { return fail(at, "a type and dimensions, as in resinfo.u32.2d") };
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, slot) = slot(at)?;
    Ok((at, (ty, Cat6Form::Info { dims, dst, slot })))
}

fn buffer_load<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "")?;
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, slot) = slot(at)?;
    let (at, src1) = next_value(at)?;
    let (at, src2) = next_value(at)?;
    Ok((at, (ty, Cat6Form::BufferLoad { view, dst, slot, src1, src2 })))
}

/// `ldc.1 r0.x, g[r1.x], 0, r0.x`
fn constant_load<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let Some(components) = components(suffixes) else {
        return fail(at, "a number of components, as in ldc.1");
    };
    let (at, dst) = reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, src1) = slot(at)?;
    let (at, src2) = next_value(at)?;
    let (at, slot) = next_value(at)?;
    Ok((at, (Type::U32, Cat6Form::ConstantLoad { components, dst, src1, src2, slot })))
}

fn buffer_store<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "")?;
    let (at, slot) = slot(at)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, src2) = next_value(at)?;
    let (at, src3) = next_value(at)?;
    Ok((at, (ty, Cat6Form::BufferStore { view, slot, value, src2, src3 })))
}

fn atomic_local<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "l")?;
    let (at, dst) = reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, _) = word("l[")(at)?;
    let (at, address) = value(at)?;
    let (at, _) = word("]")(at)?;
    let (at, data) = next_value(at)?;
    Ok((at, (ty, Cat6Form::AtomicLocal { view, dst, address, data })))
}

fn atomic_slot<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "g")?;
    let (at, dst) = reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, slot) = slot(at)?;
    let (at, data) = next_value(at)?;
    let (at, src2) = next_value(at)?;
    let (at, ()) = comma(at)?;
    let (at, src3) = reg(at)?;
    Ok((at, (ty, Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 })))
}

/// `untyped.4d.u32.1`, and `.l` or `.g` of an atomic as `end`.
fn view<'a>(at: &'a str, suffixes: &str, end: &str) -> Parsed<'a, (View, Type)> {
    match view_of(suffixes, end) {
        Some((view, ty)) => Ok((at, (view, ty))),
        None => fail(at, "suffixes as in .untyped.4d.u32.1, and .l of an atomic or .g of an atomic.s"),
    }
}

fn view_of(suffixes: &str, end: &str) -> Option<(View, Type)> {
    let mut parts = suffixes.split('.');
    let typed = match parts.next()? {
        "typed" => true,
        "untyped" => false,
        _ => return None,
    };
    let dims = dimensions(parts.next()?)?;
    let ty = Type::from_name(parts.next()?)?;
    let components = components(parts.next()?)?;
    let ends = parts.next().unwrap_or("") == end && parts.next().is_none();
    ends.then_some((View { typed, dims, components }, ty))
}

/// `1d` to `4d`
fn dimensions(text: &str) -> Option<u8> {
    components(text.strip_suffix('d')?)
}

/// `1` to `4`
fn components(text: &str) -> Option<u8> {
    text.parse().ok().filter(|n| (1..=4).contains(n))
}

/// `g[r0.x+4]`, with the letter of the op's space.
fn address(at: &str, op: Cat6Op) -> Parsed<'_, (Reg, i16)> {
    let open = match op.class() {
        Cat6Class::LoadGlobal | Cat6Class::StoreGlobal => "g[",
        Cat6Class::LoadPrivate | Cat6Class::StorePrivate => "p[",
        _ => "l[",
    };
    let (at, _) = word(open)(at)?;
    let (at, reg) = reg(at)?;
    let (at, offset) = match at.starts_with(']') {
        true => (at, 0),
        false => integer(at, -4096, 4095, "] or an offset, -4096 to 4095")?,
    };
    let (at, _) = word("]")(at)?;
    Ok((at, (reg, offset as i16)))
}

fn count(at: &str) -> Parsed<'_, u8> {
    let (at, ()) = comma(at)?;
    byte(at, "a number of components")
}

/// `g[0]` or `g[r0.x]`
fn slot(at: &str) -> Parsed<'_, RegOrImm> {
    let (at, _) = word("g[")(at)?;
    let (at, slot) = value(at)?;
    let (at, _) = word("]")(at)?;
    Ok((at, slot))
}

fn next_value(at: &str) -> Parsed<'_, RegOrImm> {
    let (at, ()) = comma(at)?;
    value(at)
}

fn value(at: &str) -> Parsed<'_, RegOrImm> {
    if at.starts_with(|c: char| c.is_ascii_digit()) {
        let (at, value) = byte(at, "an immediate, 0 to 255")?;
        return Ok((at, RegOrImm::Immediate(value)));
    }
    let (at, reg) = reg(at)?;
    Ok((at, RegOrImm::Reg(reg)))
}
