//! Parses instructions of categories 0 and 7.
use super::super::{Body, Cat0, Cat0Class, Cat0Op, Cat7, Cat7Class, Cat7Op, Predicate};
use super::Head;
use super::lex::{Parsed, comma, component, fail, flag, integer, word};

/// Parses the instruction; `None` if the mnemonic is of another category.
pub(super) fn parse<'a>(
    at: &'a str,
    head: &Head,
    label: &mut dyn FnMut(&str) -> Option<i32>,
) -> Option<Parsed<'a, Body>> {
    let (name, suffixes) = head.mnemonic.split_once('.').unwrap_or((head.mnemonic, ""));
    if let Some(op) = Cat0Op::from_name(name).filter(|op| op.is_in(head.isa)) {
        return Some(cat0(at, head, op, suffixes, label));
    }
    let op = Cat7Op::from_name(name)?;
    Some(cat7(at, op, &head.mnemonic[name.len()..], suffixes))
}

fn cat7<'a>(at: &'a str, op: Cat7Op, behind: &str, suffixes: &str) -> Parsed<'a, Body> {
    let none = Cat7 { op, global: false, local: false, read: false, write: false, second: false };
    if let Some(names) = op.class().choice() {
        return match names.iter().position(|name| *name == behind) {
            Some(place) => Ok((at, Body::Cat7(Cat7 { second: place == 1, ..none }))),
            None => fail(at, "sleep.s, sleep.l, or .shr or .all behind a cache"),
        };
    }
    let flags: &[&str] = if op.class() == Cat7Class::Barrier { &["", "g", "l", "r", "w"] } else { &[""] };
    if !suffixes.split('.').all(|suffix| flags.contains(&suffix)) {
        return fail(at, "the suffixes .g, .l, .r and .w of a barrier only");
    }
    let barrier = |flag| suffixes.split('.').any(|suffix| suffix == flag);
    let (global, local, read, write) = (barrier("g"), barrier("l"), barrier("r"), barrier("w"));
    Ok((at, Body::Cat7(Cat7 { global, local, read, write, ..none })))
}

fn cat0<'a>(
    mut at: &'a str,
    head: &Head,
    op: Cat0Op,
    suffixes: &str,
    label: &mut dyn FnMut(&str) -> Option<i32>,
) -> Parsed<'a, Body> {
    let class = op.class();
    let mut instr = Cat0 { repeat: head.repeat, eq: head.eq, ..Cat0::plain(op) };
    match (class, suffixes.parse()) {
        (Cat0Class::BranchIndex, Ok(index @ 0..=31)) => instr.index = index,
        (Cat0Class::Cluster, _) => match cluster(suffixes, 8) {
            Some(index) => instr.index = index,
            None => return fail(at, "getlast.w2, .w4 and so on to .w256"),
        },
        _ if suffixes.is_empty() && class != Cat0Class::BranchIndex => {}
        _ => return fail(at, "brac.0 to brac.31, or no suffix"),
    }
    let implied = op.means_p0x() && (at.is_empty() || at.starts_with('{') || head.isa.is_strict());
    if class.predicates() > 0 && !implied {
        (at, instr.predicate1) = predicate(at)?;
    }
    if class.predicates() > 1 {
        (at, _) = comma(at)?;
        (at, instr.predicate2) = predicate(at)?;
    }
    if class.has_target() {
        if class.predicates() > 0 {
            (at, _) = comma(at)?;
        }
        (at, instr.offset) = target(at, label)?;
    }
    Ok((at, Body::Cat0(instr)))
}

/// The logarithm of the fibers of a cluster, minus 1, from `w2`, `w4` and so on: one of `count` values.
pub(super) fn cluster(suffix: &str, count: u8) -> Option<u8> {
    let fibers: u32 = suffix.strip_prefix('w')?.parse().ok()?;
    (0..count).find(|index| 2 << index == fibers)
}

fn predicate(at: &str) -> Parsed<'_, Predicate> {
    let (at, inverted) = flag(at, "!");
    let (at, _) = word("p0")(at)?;
    let (at, component) = component(at)?;
    Ok((at, Predicate { component, inverted }))
}

/// `#-3`, or `#label`.
fn target<'a>(at: &'a str, label: &mut dyn FnMut(&str) -> Option<i32>) -> Parsed<'a, i32> {
    let (at, _) = word("#")(at)?;
    let end = at.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(at.len());
    if !at.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        let (at, offset) = integer(at, i32::MIN.into(), i32::MAX.into(), "a label or a 32-bit offset")?;
        return Ok((at, offset as i32));
    }
    match label(&at[..end]) {
        Some(offset) => Ok((&at[end..], offset)),
        None => fail(at, "a label of this program"),
    }
}
