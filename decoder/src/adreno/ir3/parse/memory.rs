//! Parses instructions of category 6.
use super::super::bits::{put, put_signed};
use super::super::{
    Body, Cat6, Cat6Class, Cat6Form, Cat6Op, ConstantTarget, Isa, Reg, RegOrImm, ShuffleMode, Type, View,
};
use super::Head;
use super::lex::{Parsed, byte, comma, fail, flag, half_reg, integer, reg, word};

/// Parses the instruction; `None` if the mnemonic is of another category.
pub(super) fn parse<'a>(at: &'a str, head: &Head) -> Option<Parsed<'a, Body>> {
    let (op, suffixes, space) = split(head.mnemonic).filter(|(op, ..)| op.is_in(head.isa))?;
    let suffixes = suffixes.strip_prefix('.').unwrap_or(suffixes);
    let later = head.isa == Isa::A6xx;
    let largest = 2u16.pow(op.count(head.isa)) - 1;
    let form = match op.class() {
        Cat6Class::LoadGlobal if later && suffixes.starts_with("a.") => indexed_load(at, &suffixes[2..]),
        Cat6Class::StoreGlobal if later && suffixes.starts_with("a.") => indexed_store(at, &suffixes[2..]),
        Cat6Class::LoadGlobal if later && suffixes.starts_with("k.") => {
            load_constants(at, op, &suffixes[2..])
        }
        Cat6Class::StoreConstants => store_constants(at, suffixes),
        Cat6Class::Shuffle => shuffle(at, suffixes),
        Cat6Class::LoadGlobal | Cat6Class::LoadLocal | Cat6Class::LoadPrivate => {
            load(at, op, suffixes, largest)
        }
        Cat6Class::StoreGlobal | Cat6Class::StoreLocal | Cat6Class::StorePrivate => {
            store(at, op, suffixes, largest)
        }
        Cat6Class::Varying => varying(at, suffixes),
        Cat6Class::Info => info(at, suffixes),
        Cat6Class::BufferLoad | Cat6Class::BufferStore if later => return None,
        Cat6Class::BufferLoad => buffer_load(at, suffixes),
        Cat6Class::BufferStore => buffer_store(at, suffixes),
        Cat6Class::ConstantLoad if head.isa != Isa::A4xx => return None,
        Cat6Class::ConstantLoad => constant_load(at, suffixes),
        Cat6Class::Atomic => match (space, later) {
            ("g", true) => atomic_global(at, suffixes),
            ("s", false) => atomic_slot(at, head.isa, suffixes),
            ("", _) => atomic_local(at, suffixes),
            _ => return None,
        },
        Cat6Class::Base | Cat6Class::Identity => return None,
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

/// The op of a mnemonic, its suffixes, and the letter of an atomic (`atomic.s`), if it has one.
pub(super) fn split(name: &str) -> Option<(Cat6Op, &str, &str)> {
    let atomic = name.strip_prefix("atomic.");
    let rest = atomic.unwrap_or(name);
    let (space, name) = match rest.split_once('.') {
        Some((space @ ("s" | "g" | "b"), name)) if atomic.is_some() => (space, name),
        _ => ("", rest),
    };
    let end = name.find('.').unwrap_or(name.len());
    let op = Cat6Op::from_name(&name[..end])?;
    ((op.class() == Cat6Class::Atomic) == atomic.is_some()).then_some((op, &name[end..], space))
}

type Form = (Type, Cat6Form);

pub(super) fn only_type<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Type> {
    match Type::from_name(suffixes) {
        Some(ty) => Ok((at, ty)),
        None => fail(at, "a mnemonic with a type, as in ldg.u32"),
    }
}

fn load<'a>(at: &'a str, op: Cat6Op, suffixes: &str, largest: u16) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, (address, offset)) = address(at, op)?;
    let (at, count) = count_to(at, largest)?;
    Ok((at, (ty, Cat6Form::Load { dst, address, offset, count })))
}

fn store<'a>(at: &'a str, op: Cat6Op, suffixes: &str, largest: u16) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (address, offset)) = address(at, op)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, count) = count_to(at, largest)?;
    Ok((at, (ty, Cat6Form::Store { value, address, offset, count })))
}

/// `ldg.a.f32 r0.x, g[r1.x+(r2.x+1)<<2], 4`
fn indexed_load<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, (address, index, shift, offset)) = indexed(at)?;
    let (at, count) = count_to(at, 7)?;
    Ok((at, (ty, Cat6Form::IndexedLoad { dst, address, index, shift, offset, count })))
}

/// `stg.a.f32 g[r1.x+r2.x<<4+1<<2], r0.x, 4`
fn indexed_store<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, (address, index, shift, offset)) = indexed(at)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, count) = count_to(at, 7)?;
    Ok((at, (ty, Cat6Form::IndexedStore { value, address, index, shift, offset, count })))
}

/// Address, index, shift and offset of `g[r1.x+(r2.x+1)<<2]` or `g[r1.x+r2.x<<4+1<<2]`.
fn indexed(at: &str) -> Parsed<'_, (Reg, Reg, u8, u8)> {
    let (at, _) = word("g[")(at)?;
    let (at, address) = reg(at)?;
    let (at, _) = word("+")(at)?;
    let (at, plain) = flag(at, "(");
    let (mut at, index) = reg(at)?;
    let mut shift = 2;
    if !plain {
        (at, _) = word("<<")(at)?;
        (at, shift) = integer(at, 3, 5, "a shift, 3 to 5")?;
    }
    let (at, offset) = match at.starts_with('+') {
        true => integer(at, 0, 3, "an offset, +0 to +3")?,
        false => (at, 0),
    };
    let (at, _) = word(if plain { ")<<2]" } else { "<<2]" })(at)?;
    Ok((at, (address, index, shift as u8, offset as u8)))
}

/// `c[16]` or `c[a1.x+16]`
fn target(at: &str) -> Parsed<'_, ConstantTarget> {
    let (at, _) = word("c[")(at)?;
    let (at, a1) = flag(at, "a1.x");
    let (at, offset) = match a1 && at.starts_with(']') {
        true => (at, 0),
        false => integer(at, 0, 255, "the number of a constant, 0 to 255")?,
    };
    let (at, _) = word("]")(at)?;
    Ok((at, ConstantTarget { offset: offset as u8, a1 }))
}

/// `ldg.k.u32 c[16], g[r48.x+208], 1`
fn load_constants<'a>(at: &'a str, op: Cat6Op, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, target) = target(at)?;
    let (at, ()) = comma(at)?;
    let (at, (address, offset)) = address(at, op)?;
    let (at, count) = count_to(at, 15)?;
    Ok((at, (ty, Cat6Form::LoadConstants { target, address, offset, count })))
}

/// `stc.u32 c[a1.x+32], r0.x, 3`
fn store_constants<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, target) = target(at)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, count) = count_to(at, 7)?;
    Ok((at, (ty, Cat6Form::StoreConstants { target, value, count })))
}

/// `shfl.up.u32 r0.x, r1.x, 5`
fn shuffle<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let parsed = suffixes
        .split_once('.')
        .and_then(|(mode, ty)| Some((ShuffleMode::from_name(mode)?, Type::from_name(ty)?)));
    let Some((mode, ty)) = parsed else { return fail(at, "a mode and a type, as in shfl.up.u32") };
    let (at, (_, dst)) = half_reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, (_, src)) = half_reg(at)?;
    let (at, fiber) = next_value(at)?;
    Ok((at, (ty, Cat6Form::Shuffle { mode, dst, src, fiber })))
}

/// `atomic.g.add.untyped.1d.u32.1.g r0.x, r1.x, r2.x`
fn atomic_global<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "g", Isa::A6xx)?;
    let (at, dst) = reg(at)?;
    let (at, address) = next_value(at)?;
    let (at, data) = next_value(at)?;
    Ok((at, (ty, Cat6Form::AtomicGlobal { view, dst, address, data })))
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
    let (at, (view, ty)) = view(at, suffixes, "", Isa::A4xx)?;
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
    let (at, (view, ty)) = view(at, suffixes, "", Isa::A4xx)?;
    let (at, slot) = slot(at)?;
    let (at, ()) = comma(at)?;
    let (at, (_, value)) = half_reg(at)?;
    let (at, src2) = next_value(at)?;
    let (at, src3) = next_value(at)?;
    Ok((at, (ty, Cat6Form::BufferStore { view, slot, value, src2, src3 })))
}

fn atomic_local<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "l", Isa::A4xx)?;
    let (at, dst) = reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, _) = word("l[")(at)?;
    let (at, address) = value(at)?;
    let (at, _) = word("]")(at)?;
    let (at, data) = next_value(at)?;
    Ok((at, (ty, Cat6Form::AtomicLocal { view, dst, address, data })))
}

fn atomic_slot<'a>(at: &'a str, isa: Isa, suffixes: &str) -> Parsed<'a, Form> {
    let (at, (view, ty)) = view(at, suffixes, "g", isa)?;
    let (at, dst) = reg(at)?;
    let (at, ()) = comma(at)?;
    let (at, slot) = slot(at)?;
    let (at, data) = next_value(at)?;
    let (at, src2) = next_value(at)?;
    let (at, ()) = comma(at)?;
    let (at, src3) = reg(at)?;
    Ok((at, (ty, Cat6Form::AtomicSlot { view, dst, slot, data, src2, src3 })))
}

/// `untyped.4d.u32.1`, and `.l` or `.g` of an atomic as `end`. The type has the name that it has in atomics of `isa`.
fn view<'a>(at: &'a str, suffixes: &str, end: &str, isa: Isa) -> Parsed<'a, (View, Type)> {
    match view_of(suffixes, end, isa) {
        Some((view, ty)) => Ok((at, (view, ty))),
        None => fail(at, "suffixes as in .untyped.4d.u32.1, and .l of an atomic or .g of an atomic.s"),
    }
}

fn view_of(suffixes: &str, end: &str, isa: Isa) -> Option<(View, Type)> {
    let mut parts = suffixes.split('.');
    let typed = match parts.next()? {
        "typed" => true,
        "untyped" => false,
        _ => return None,
    };
    let dims = dimensions(parts.next()?)?;
    let ty = atomic_type(parts.next()?, isa)?;
    let components = components(parts.next()?)?;
    let ends = parts.next().unwrap_or("") == end && parts.next().is_none();
    ends.then_some((View { typed, dims, components }, ty))
}

/// The type with this name in atomics of `isa`.
pub(super) fn atomic_type(name: &str, isa: Isa) -> Option<Type> {
    Type::ALL.iter().copied().find(|ty| ty.atomic_name(isa) == name).or_else(|| Type::from_name(name))
}

/// `1d` to `4d`
pub(super) fn dimensions(text: &str) -> Option<u8> {
    components(text.strip_suffix('d')?)
}

/// `1` to `4`
pub(super) fn components(text: &str) -> Option<u8> {
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

fn count_to(at: &str, largest: u16) -> Parsed<'_, u8> {
    let (rest, count) = count(at)?;
    match u16::from(count) <= largest {
        true => Ok((rest, count)),
        false => fail(at, "a number of components that fits its field"),
    }
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

pub(super) fn next_value(at: &str) -> Parsed<'_, RegOrImm> {
    let (at, ()) = comma(at)?;
    value(at)
}

pub(super) fn value(at: &str) -> Parsed<'_, RegOrImm> {
    if at.starts_with(|c: char| c.is_ascii_digit()) {
        let (at, value) = byte(at, "an immediate, 0 to 255")?;
        return Ok((at, RegOrImm::Immediate(value)));
    }
    let (at, reg) = reg(at)?;
    Ok((at, RegOrImm::Reg(reg)))
}
