//! Statements: the keywords of the language and their operands.

use std::rc::Rc;

use super::super::ast::{Block, Buffer, Expr, Kind, Macro, Name, Span, Statement, Type};
use super::expr::expr;
use super::text::{hex, path, shader, string, words};
use super::{Nest, Parsed, arguments, blank, expected, keyword, list, name, peek_name, space, stream, token};
use crate::adreno::capture::SectionId;

/// Statements up to a closing brace or the end.
pub(super) fn statements<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Block> {
    let mut block = Vec::new();
    let mut rest = blank(input);
    while !rest.is_empty() && !rest.starts_with('}') {
        nest.node(rest)?;
        let (after, kind) = kind(nest, rest)?;
        let first = peek_name(rest).len().max(1);
        block.push(Statement { span: Span { start: rest.len(), end: rest.len() - first }, kind });
        rest = blank(after);
    }
    Ok((rest, block))
}

/// `{ statements }`.
pub(super) fn block<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Block> {
    let (rest, ()) = token("{", input)?;
    let (rest, block) = nest.inside(input, || statements(nest, rest))?;
    match rest.strip_prefix('}') {
        Some(rest) => Ok((rest, block)),
        None => expected(input, "a `}` for this `{`"),
    }
}

/// A block, if one follows on the same line.
pub(super) fn optional_block<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Option<Block>> {
    match space(input).starts_with('{') {
        true => block(nest, space(input)).map(|(rest, block)| (rest, Some(block))),
        false => Ok((input, None)),
    }
}

/// `WORD value`, if it follows on the same line.
pub(super) fn clause<'s>(nest: &Nest, word: &str, input: &'s str) -> Parsed<'s, Option<Expr>> {
    match keyword(word, space(input)) {
        Some(rest) => expr(nest, space(rest)).map(|(rest, value)| (rest, Some(value))),
        None => Ok((input, None)),
    }
}

/// Parses one statement; its first word decides the kind.
fn kind<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    if let Some(rest) = input.strip_prefix('+') {
        return stream::more(nest, space(rest));
    }
    let word = peek_name(input);
    let rest = space(&input[word.len()..]);
    if !word.is_empty() && rest.starts_with(':') {
        return label(nest, input);
    }
    if let Some(ty) = number_type(word) {
        return list(|input| expr(nest, input), blank(rest))
            .map(|(rest, values)| (rest, Kind::Numbers(ty, values)));
    }
    match word {
        "include" | "const" | "macro" | "use" | "for" | "repeat" | "if" => language(nest, word, rest),
        "gpu_id" | "chip_id" | "test" | "cmd" | "form" | "origin" | "marker" | "section" | "raw"
        | "buffer" | "again" | "submit" => container(nest, word, rest),
        "hex" | "words" | "text" | "zero" | "fill" | "align" | "at" | "png" | "shader" => {
            data(nest, word, rest)
        }
        _ => stream::kind(nest, input, word, rest),
    }
}

fn number_type(word: &str) -> Option<Type> {
    Some(match word {
        "u8" => Type::U8,
        "u16" => Type::U16,
        "u32" => Type::U32,
        "u64" => Type::U64,
        "i8" => Type::I8,
        "i16" => Type::I16,
        "i32" => Type::I32,
        "f16" => Type::F16,
        "f32" => Type::F32,
        _ => return None,
    })
}

fn label<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, name) = name(input)?;
    let (rest, ()) = token(":", space(rest))?;
    optional_block(nest, rest).map(|(rest, block)| (rest, Kind::Label(name, block)))
}

/// A word followed by one value.
fn one<'s>(nest: &Nest, rest: &'s str, make: fn(Expr) -> Kind) -> Parsed<'s, Kind> {
    expr(nest, rest).map(|(rest, value)| (rest, make(value)))
}

fn language<'s>(nest: &Nest, word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "include" => path(rest).map(|(rest, path)| (rest, Kind::Include(path))),
        "const" => constant(nest, rest),
        "macro" => definition(nest, rest),
        "use" => invocation(nest, rest),
        "for" => loop_over(nest, rest),
        "repeat" => {
            let (rest, count) = expr(nest, rest)?;
            let (rest, block) = block(nest, blank(rest))?;
            Ok((rest, Kind::Repeat(count, block)))
        }
        _ => choice(nest, rest),
    }
}

fn constant<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, name) = name(input)?;
    let (rest, ()) = token("=", space(rest))?;
    let (rest, value) = expr(nest, space(rest))?;
    Ok((rest, Kind::Const(name, value)))
}

fn definition<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, title) = name(input)?;
    let (rest, parameters): (_, Vec<Name>) = match space(rest).starts_with('(') {
        true => arguments(nest, name, space(rest))?,
        false => (rest, Vec::new()),
    };
    let (rest, body) = block(nest, blank(rest))?;
    let parameters = parameters.into_iter().map(|name| name.text).collect();
    Ok((rest, Kind::Macro(title, Rc::new(Macro { parameters, body }))))
}

fn invocation<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, title) = name(input)?;
    let (rest, values) = match space(rest).starts_with('(') {
        true => arguments(nest, |input| expr(nest, input), space(rest))?,
        false => (rest, Vec::new()),
    };
    Ok((rest, Kind::Use(title, values)))
}

fn loop_over<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, variable) = name(input)?;
    let Some(rest) = keyword("in", space(rest)) else { return expected(rest, "`in`") };
    let (rest, first) = expr(nest, space(rest))?;
    let (rest, ()) = token("..", space(rest))?;
    let (rest, end) = expr(nest, space(rest))?;
    let (rest, block) = block(nest, blank(rest))?;
    Ok((rest, Kind::For(variable, first, end, block)))
}

fn choice<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, condition) = expr(nest, input)?;
    let (rest, then) = block(nest, blank(rest))?;
    let (rest, otherwise) = match keyword("else", blank(rest)) {
        Some(rest) => block(nest, blank(rest))?,
        None => (rest, Vec::new()),
    };
    Ok((rest, Kind::If(condition, then, otherwise)))
}

fn container<'s>(nest: &Nest, word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "gpu_id" => one(nest, rest, Kind::GpuId),
        "chip_id" => one(nest, rest, Kind::ChipId),
        "test" => string(rest).map(|(rest, text)| (rest, Kind::Text(SectionId::TEST.to_bits(), text))),
        "cmd" => string(rest).map(|(rest, text)| (rest, Kind::Text(SectionId::CMD.to_bits(), text))),
        "form" => one(nest, rest, Kind::Form),
        "origin" => one(nest, rest, Kind::Origin),
        "marker" => match rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            true => expr(nest, rest).map(|(rest, count)| (rest, Kind::Marker(Some(count)))),
            false => Ok((rest, Kind::Marker(None))),
        },
        "section" => {
            let (rest, id) = expr(nest, rest)?;
            let (rest, block) = block(nest, space(rest))?;
            Ok((rest, Kind::Section(id, block)))
        }
        "raw" => block(nest, rest).map(|(rest, block)| (rest, Kind::Raw(block))),
        "buffer" => buffer(nest, rest),
        "again" => {
            let (rest, name) = name(rest)?;
            optional_block(nest, rest).map(|(rest, block)| (rest, Kind::Again(name, block)))
        }
        _ => {
            let (rest, target) = expr(nest, rest)?;
            clause(nest, "dwords", rest).map(|(rest, dwords)| (rest, Kind::Submit(target, dwords)))
        }
    }
}

fn buffer<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Kind> {
    let (rest, name) = name(input)?;
    let (rest, address) = match space(rest).strip_prefix('@') {
        Some(rest) => expr(nest, space(rest)).map(|(rest, address)| (rest, Some(address)))?,
        None => (rest, None),
    };
    let (rest, overlaps) = match keyword("overlaps", space(rest)).filter(|_| address.is_some()) {
        Some(behind) => (behind, true),
        None => (rest, false),
    };
    let (rest, size) = clause(nest, "size", rest)?;
    let (rest, contents) = optional_block(nest, rest)?;
    Ok((rest, Kind::Buffer(Box::new(Buffer { name, address, overlaps, size, contents }))))
}

fn data<'s>(nest: &Nest, word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "hex" => hex(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "words" => words(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "text" => string(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "zero" => one(nest, rest, Kind::Zero),
        "align" => one(nest, rest, Kind::Align),
        "at" => one(nest, rest, Kind::At),
        "fill" => {
            let (rest, count) = expr(nest, rest)?;
            let (rest, ()) = token(",", space(rest))?;
            let (rest, value) = expr(nest, space(rest))?;
            Ok((rest, Kind::Fill(count, value)))
        }
        "png" => {
            let (rest, path) = path(rest)?;
            clause(nest, "pitch", rest).map(|(rest, pitch)| (rest, Kind::Png(path, pitch)))
        }
        _ => shader(rest).map(|(rest, lines)| (rest, Kind::Shader(lines))),
    }
}
