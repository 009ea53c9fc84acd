//! Command stream statements: registers, packets, state loads, calls.

use super::super::ast::{Arg, Expr, Kind, LoadSource, Name, Packet, Part, RegName, Span, Word};
use super::expr::{element, expr, part};
use super::statement::{block, clause, optional_block};
use super::text::shader;
use super::{Nest, Parsed, arguments, blank, expected, keyword, list, name, peek_name, space, token};
use crate::asm::ast::{ExprKind, Statement};
use crate::generation::Generation;

/// A statement that starts with `word` and goes on with `rest`.
pub(super) fn kind<'s>(nest: &Nest, input: &'s str, word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "" => expected(input, "a statement"),
        "pad" => Ok((rest, Kind::Pad)),
        "call" => expr(nest, rest).map(|(rest, target)| (rest, Kind::Call(target))),
        "load" => load(nest, rest),
        "one_reg" => {
            let (rest, reg) = register(nest, rest)?;
            let (rest, values) = list(|input| expr(nest, input), space(rest))?;
            Ok((rest, Kind::OneReg(reg, values)))
        }
        "pred" => packet(nest, rest, Predicated::Yes),
        _ if is_packet(word) || is_unknown_packet(word, rest) => packet(nest, input, Predicated::No),
        _ => {
            let (rest, (reg, value)) = write(nest, input)?;
            Ok((rest, Kind::Write(reg, value)))
        }
    }
}

/// The register and value after a `+`.
pub(super) fn more<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    write(nest, input).map(|(rest, (reg, value))| (rest, Kind::More(reg, value)))
}

/// Whether a name is that of a packet of any generation. The packet tables distinguish packets from CP registers; an
/// opcode without a name is `opcode_7f`.
fn is_packet(word: &str) -> bool {
    let is_named = || Generation::all().any(|generation| generation.packets.by_name(word).is_some());
    word.starts_with("opcode_") || is_named()
}

/// Whether a statement looks like a packet that is in no table: its name is followed by arguments. It is
/// read as one, so that the message is about the name.
fn is_unknown_packet(word: &str, rest: &str) -> bool {
    word.starts_with("CP_")
        && space(rest).starts_with('(')
        && Generation::all().all(|generation| generation.register(word).is_none())
}

/// The name behind what names in Mesa's headers begin with, for any generation.
fn without_prefix(text: &str) -> Option<&str> {
    Generation::all().find_map(|generation| generation.without_prefix(text))
}

enum Predicated {
    Yes,
    No,
}

fn register<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, RegName> {
    let (rest, first) = name(input)?;
    let (rest, element) = match without_prefix(&first.text).and(rest.strip_prefix('(')) {
        Some(inside) => {
            let (rest, index) = nest.inside(rest, || expr(nest, blank(inside)))?;
            let (rest, ()) = token(")", blank(rest))?;
            (rest, Some((index, String::new())))
        }
        None => element(nest, rest)?,
    };
    Ok((rest, RegName { span: Span { start: input.len(), end: rest.len() }, name: first.text, element }))
}

fn write<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, (RegName, Word)> {
    let (rest, reg) = register(nest, input)?;
    let rest = space(rest);
    let (rest, value) = word(nest, space(rest.strip_prefix('=').unwrap_or(rest)))?;
    Ok((rest, (reg, value)))
}

/// `{ A = 1 | B }` or a value.
fn word<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Word> {
    match input.strip_prefix('{') {
        Some(inside) => fields(nest, inside).map(|(rest, parts)| (rest, Word::Fields(parts))),
        None => expr(nest, input).map(|(rest, value)| (rest, Word::Plain(value))),
    }
}

/// The parts up to the closing brace.
fn fields<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Vec<Part>> {
    let mut parts = Vec::new();
    let mut rest = blank(input);
    loop {
        if let (true, Some(rest)) = (parts.is_empty(), rest.strip_prefix('}')) {
            return Ok((rest, parts));
        }
        let (after, value) = field(nest, rest)?;
        parts.push(value);
        let after = blank(after);
        match (after.strip_prefix('|'), after.strip_prefix('}')) {
            (Some(after), _) => rest = blank(after),
            (_, Some(after)) => return Ok((after, parts)),
            _ => return expected(after, "`|` or `}`"),
        }
    }
}

/// The name at the start of `input`. Those of fields may begin with digits: `64B`.
fn field_name(input: &str) -> &str {
    let digits = input.find(|c: char| !c.is_ascii_digit()).unwrap_or(input.len());
    let name = input[digits..].find(|c: char| !c.is_ascii_uppercase()).unwrap_or(input.len() - digits);
    match digits > 0 && name > 0 && input[digits + name..].chars().next().is_none_or(|c| !c.is_alphanumeric())
    {
        true => &input[..digits + name],
        false => peek_name(input),
    }
}

fn field<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Part> {
    let text = field_name(input);
    let (end, after) = (&input[text.len()..], space(&input[text.len()..]));
    let span = Span { start: input.len(), end: end.len() };
    if !text.is_empty() && after.starts_with('=') && !after.starts_with("==") {
        let (rest, value) = part(nest, blank(&after[1..]))?;
        return Ok((rest, Part::Set(Name { text: text.into(), span }, value)));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Ok((end, Part::Bare(Expr { span, kind: ExprKind::Name(text.into()) })));
    }
    part(nest, input).map(|(rest, value)| (rest, Part::Bare(value)))
}

/// One argument of a packet.
fn arg<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Arg> {
    if input.starts_with('{') {
        return word(nest, input).map(|(rest, word)| (rest, Arg::Next(word)));
    }
    let (rest, value) = expr(nest, input)?;
    let after = space(rest);
    match (&value.kind, after.starts_with('=')) {
        (ExprKind::Name(_), true) => {
            let (_, name) = name(input)?;
            let (rest, value) = expr(nest, blank(&after[1..]))?;
            Ok((rest, Arg::Named(name, value)))
        }
        _ => Ok((rest, Arg::Next(Word::Plain(value)))),
    }
}

fn packet<'s>(nest: &Nest, input: &'s str, predicated: Predicated) -> Parsed<'s, Kind> {
    let (rest, title) = name(input)?;
    if !is_packet(&title.text) && !is_unknown_packet(&title.text, rest) {
        return expected(input, "the name of a packet");
    }
    let (rest, args) = match rest.starts_with('(') {
        true => arguments(nest, |input| arg(nest, input), rest)?,
        false => (rest, Vec::new()),
    };
    let (rest, data) = optional_block(nest, rest)?;
    let predicated = matches!(predicated, Predicated::Yes);
    Ok((rest, Kind::Packet(Box::new(Packet { name: title, predicated, args, data }))))
}

/// `VS.constants at 4 { .. }`, `VS.shader from label`.
fn load<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, target) = name(input)?;
    let (rest, first) = clause(nest, "at", rest)?;
    let rest = space(rest);
    if let Some(rest) = keyword("from", rest) {
        let (rest, address) = expr(nest, space(rest))?;
        let (rest, units) = clause(nest, "units", rest)?;
        return Ok((rest, Kind::Load(target, first, LoadSource::Memory(address, units))));
    }
    if !rest.starts_with('{') {
        return expected(rest, "`from` or `{`");
    }
    let (rest, data) = match target.text.ends_with(".shader") {
        true => shader_block(rest)?,
        false => block(nest, rest)?,
    };
    Ok((rest, Kind::Load(target, first, LoadSource::Inline(data))))
}

/// Shader lines as a block of one statement.
fn shader_block(input: &str) -> Parsed<'_, Vec<Statement>> {
    let (rest, lines) = shader(input)?;
    let span = Span { start: input.len(), end: rest.len() };
    Ok((rest, vec![Statement { span, kind: Kind::Shader(lines) }]))
}
