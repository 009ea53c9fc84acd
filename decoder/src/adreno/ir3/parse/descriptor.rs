//! Parses instructions of category 6 that name a descriptor, and those without memory beside them.
use super::super::{
    Body, Cat6, Cat6Class, Cat6Form, Cat6Op, Descriptor, DescriptorMode, Isa, RegOrImm, Through, Type, View,
};
use super::Head;
use super::lex::{Parsed, comma, fail, half_reg, integer, reg, word};
use super::memory::{atomic_type, components, dimensions, next_value, only_type, split};

/// What the suffixes of a mnemonic say.
#[derive(Clone, Copy)]
struct Suffixes {
    view: View,
    ty: Type,
    mode: DescriptorMode,
    base: Option<u8>,
}

/// Parses the instruction; `None` if its mnemonic is of another form or category.
pub(super) fn parse<'a>(at: &'a str, head: &Head) -> Option<Parsed<'a, Body>> {
    if head.isa != Isa::A6xx {
        return None;
    }
    let (op, suffixes, space) = split(head.mnemonic)?;
    let suffixes = suffixes.strip_prefix('.').unwrap_or(suffixes);
    let bindless = suffixes.strip_prefix("b.");
    let parsed = match (op.class(), bindless) {
        (Cat6Class::BufferLoad | Cat6Class::BufferStore | Cat6Class::Info, Some(suffixes)) => {
            viewed(at, op, suffixes)
        }
        (Cat6Class::Base, None) => viewed(at, op, suffixes),
        (Cat6Class::Atomic, None) if space == "b" => viewed(at, op, suffixes),
        (Cat6Class::ConstantLoad, None) => uniforms(at, suffixes),
        (Cat6Class::Identity, None) => identity(at, suffixes),
        _ => return None,
    };
    Some(parsed.map(|(at, (ty, form))| (at, Body::Cat6(Cat6 { op, ty, form: Cat6Form::Descriptor(form) }))))
}

/// `typed.2d.f32.4.imm.base0`
fn all(suffixes: &str) -> Option<Suffixes> {
    let mut parts = suffixes.split('.');
    let typed = match parts.next()? {
        "typed" => true,
        "untyped" => false,
        _ => return None,
    };
    let dims = dimensions(parts.next()?)?;
    let ty = atomic_type(parts.next()?, Isa::A6xx)?;
    let components = components(parts.next()?)?;
    let (mode, base) = through(parts)?;
    Some(Suffixes { view: View { typed, dims, components }, ty, mode, base })
}

/// `imm.base0`, the last suffixes of a mnemonic.
fn through<'a>(mut parts: impl Iterator<Item = &'a str>) -> Option<(DescriptorMode, Option<u8>)> {
    let mode = DescriptorMode::from_name(parts.next()?)?;
    let base = match parts.next() {
        Some(text) => Some(text.strip_prefix("base")?.parse().ok().filter(|base| *base < 8)?),
        None => None,
    };
    parts.next().is_none().then_some((mode, base))
}

/// `, 2` or `, r0.x`: the slot of a descriptor, as the mode says.
fn descriptor(at: &str, mode: DescriptorMode, base: Option<u8>) -> Parsed<'_, Through> {
    let (rest, value) = next_value(at)?;
    let slot = match (value, mode) {
        (RegOrImm::Immediate(slot), DescriptorMode::Immediate) => slot,
        (RegOrImm::Reg(reg), DescriptorMode::Uniform | DescriptorMode::Nonuniform) => reg.0,
        (_, DescriptorMode::Immediate) => return fail(at, "the number of a slot behind .imm"),
        (_, _) => return fail(at, "a register with the slot behind .uniform or .nonuniform"),
    };
    Ok((rest, Through { mode, base, slot }))
}

fn viewed<'a>(at: &'a str, op: Cat6Op, suffixes: &str) -> Parsed<'a, (Type, Descriptor)> {
    let Some(Suffixes { view, ty, mode, base }) = all(suffixes) else {
        return fail(at, "suffixes as in ldib.b.untyped.1d.u32.4.imm.base0");
    };
    let (at, (_, value)) = half_reg(at)?;
    if matches!(op.class(), Cat6Class::Info | Cat6Class::Base) {
        let (at, through) = descriptor(at, mode, base)?;
        return Ok((at, (ty, Descriptor::Info { view, dst: value, through })));
    }
    let (at, ()) = comma(at)?;
    let (mut at, coordinates) = reg(at)?;
    let mut offset = 0;
    if at.starts_with('+') && op.class() != Cat6Class::Atomic {
        (at, offset) = integer(at, 0, 127, "an offset, +0 to +127")?;
    }
    let offset = offset as u8;
    let (at, through) = descriptor(at, mode, base)?;
    let form = match op.class() {
        Cat6Class::BufferLoad => Descriptor::Load { view, dst: value, coordinates, offset, through },
        Cat6Class::BufferStore => Descriptor::Store { view, value, coordinates, offset, through },
        _ => Descriptor::Atomic { view, data: value, coordinates, through },
    };
    Ok((at, (ty, form)))
}

/// `ldc.u.offset0.3.imm.base0 r48.y, 0, 0` and `ldc.4.k.imm.base0 c[a1.x], 0, 0`
fn uniforms<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, (Type, Descriptor)> {
    const EXPECTED: &str = "suffixes as in ldc.offset0.1.imm or ldc.1.k.imm";
    let (shared, rest) = suffixes.strip_prefix("u.").map_or((false, suffixes), |rest| (true, rest));
    let mut parts = rest.split('.');
    let first = parts.next().unwrap_or_default();
    if let Some(offset) = first.strip_prefix("offset").and_then(|text| text.parse().ok()).filter(|n| *n < 4u8)
    {
        let count = parts.next().and_then(components);
        let (Some(components), Some((mode, base))) = (count, through(parts)) else {
            return fail(at, EXPECTED);
        };
        let (at, dst) = reg(at)?;
        let (at, src1) = next_value(at)?;
        let (at, through) = descriptor(at, mode, base)?;
        return Ok((
            at,
            (Type::U32, Descriptor::Uniforms { components, offset, shared, dst, src1, through }),
        ));
    }
    let count = first.parse().ok().filter(|count| !shared && (1..=256).contains(count));
    let (Some(count), Some("k"), Some((mode, base))) = (count, parts.next(), through(parts)) else {
        return fail(at, EXPECTED);
    };
    let (at, _) = word("c[a1.x]")(at)?;
    let (at, src1) = next_value(at)?;
    let (at, through) = descriptor(at, mode, base)?;
    Ok((at, (Type::U32, Descriptor::ToConstants { count, src1, through })))
}

/// `getfiberid.u32 r0.x`
fn identity<'a>(at: &'a str, suffixes: &str) -> Parsed<'a, (Type, Descriptor)> {
    let (at, ty) = only_type(at, suffixes)?;
    let (at, dst) = reg(at)?;
    Ok((at, (ty, Descriptor::Identity { dst })))
}
