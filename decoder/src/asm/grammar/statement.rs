//! Statements: the language's words, and what follows each.

use std::rc::Rc;

use super::super::ast::{Block, Buffer, Expr, Kind, Macro, Name, Span, Statement, Type};
use super::expr::expr;
use super::text::{hex, path, shader, string, words};
use super::{Parsed, arguments, blank, expected, keyword, list, name, peek_name, space, stream, token};
use crate::capture::SectionId;

/// Statements up to a closing brace or the end.
pub(super) fn statements(input: &str) -> Parsed<'_, Block> {
    let mut block = Vec::new();
    let mut rest = blank(input);
    while !rest.is_empty() && !rest.starts_with('}') {
        let (after, kind) = kind(rest)?;
        let first = peek_name(rest).len().max(1);
        block.push(Statement { span: Span { start: rest.len(), end: rest.len() - first }, kind });
        rest = blank(after);
    }
    Ok((rest, block))
}

/// `{ statements }`.
pub(super) fn block(input: &str) -> Parsed<'_, Block> {
    let (rest, ()) = token("{", input)?;
    let (rest, block) = statements(rest)?;
    match rest.strip_prefix('}') {
        Some(rest) => Ok((rest, block)),
        None => expected(input, "a `}` for this `{`"),
    }
}

/// A block, if one follows on the same line.
pub(super) fn optional_block(input: &str) -> Parsed<'_, Option<Block>> {
    match space(input).starts_with('{') {
        true => block(space(input)).map(|(rest, block)| (rest, Some(block))),
        false => Ok((input, None)),
    }
}

/// `WORD value`, if it follows on the same line.
pub(super) fn clause<'s>(word: &str, input: &'s str) -> Parsed<'s, Option<Expr>> {
    match keyword(word, space(input)) {
        Some(rest) => expr(space(rest)).map(|(rest, value)| (rest, Some(value))),
        None => Ok((input, None)),
    }
}

/// One statement, told by its first word.
fn kind(input: &str) -> Parsed<'_, Kind> {
    if let Some(rest) = input.strip_prefix('+') {
        return stream::more(space(rest));
    }
    let word = peek_name(input);
    let rest = space(&input[word.len()..]);
    if !word.is_empty() && rest.starts_with(':') {
        return label(input);
    }
    if let Some(ty) = number_type(word) {
        return list(expr, blank(rest)).map(|(rest, values)| (rest, Kind::Numbers(ty, values)));
    }
    match word {
        "include" | "const" | "macro" | "use" | "for" | "repeat" | "if" => language(word, rest),
        "gpu_id" | "chip_id" | "test" | "cmd" | "form" | "origin" | "marker" | "section" | "raw"
        | "buffer" | "again" | "submit" => container(word, rest),
        "hex" | "words" | "text" | "zero" | "fill" | "align" | "at" | "png" | "shader" => data(word, rest),
        _ => stream::kind(input, word, rest),
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

fn label(input: &str) -> Parsed<'_, Kind> {
    let (rest, name) = name(input)?;
    let (rest, ()) = token(":", space(rest))?;
    optional_block(rest).map(|(rest, block)| (rest, Kind::Label(name, block)))
}

/// A word followed by one value.
fn one<'s>(rest: &'s str, make: fn(Expr) -> Kind) -> Parsed<'s, Kind> {
    expr(rest).map(|(rest, value)| (rest, make(value)))
}

fn language<'s>(word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "include" => path(rest).map(|(rest, path)| (rest, Kind::Include(path))),
        "const" => constant(rest),
        "macro" => definition(rest),
        "use" => invocation(rest),
        "for" => loop_over(rest),
        "repeat" => {
            let (rest, count) = expr(rest)?;
            let (rest, block) = block(blank(rest))?;
            Ok((rest, Kind::Repeat(count, block)))
        }
        _ => choice(rest),
    }
}

fn constant(input: &str) -> Parsed<'_, Kind> {
    let (rest, name) = name(input)?;
    let (rest, ()) = token("=", space(rest))?;
    let (rest, value) = expr(space(rest))?;
    Ok((rest, Kind::Const(name, value)))
}

fn definition(input: &str) -> Parsed<'_, Kind> {
    let (rest, title) = name(input)?;
    let (rest, parameters): (_, Vec<Name>) = match space(rest).starts_with('(') {
        true => arguments(name, space(rest))?,
        false => (rest, Vec::new()),
    };
    let (rest, body) = block(blank(rest))?;
    let parameters = parameters.into_iter().map(|name| name.text).collect();
    Ok((rest, Kind::Macro(title, Rc::new(Macro { parameters, body }))))
}

fn invocation(input: &str) -> Parsed<'_, Kind> {
    let (rest, title) = name(input)?;
    let (rest, values) = match space(rest).starts_with('(') {
        true => arguments(expr, space(rest))?,
        false => (rest, Vec::new()),
    };
    Ok((rest, Kind::Use(title, values)))
}

fn loop_over(input: &str) -> Parsed<'_, Kind> {
    let (rest, variable) = name(input)?;
    let Some(rest) = keyword("in", space(rest)) else { return expected(rest, "`in`") };
    let (rest, first) = expr(space(rest))?;
    let (rest, ()) = token("..", space(rest))?;
    let (rest, end) = expr(space(rest))?;
    let (rest, block) = block(blank(rest))?;
    Ok((rest, Kind::For(variable, first, end, block)))
}

fn choice(input: &str) -> Parsed<'_, Kind> {
    let (rest, condition) = expr(input)?;
    let (rest, then) = block(blank(rest))?;
    let (rest, otherwise) = match keyword("else", blank(rest)) {
        Some(rest) => block(blank(rest))?,
        None => (rest, Vec::new()),
    };
    Ok((rest, Kind::If(condition, then, otherwise)))
}

fn container<'s>(word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "gpu_id" => one(rest, Kind::GpuId),
        "chip_id" => one(rest, Kind::ChipId),
        "test" => string(rest).map(|(rest, text)| (rest, Kind::Text(SectionId::TEST.to_bits(), text))),
        "cmd" => string(rest).map(|(rest, text)| (rest, Kind::Text(SectionId::CMD.to_bits(), text))),
        "form" => one(rest, Kind::Form),
        "origin" => one(rest, Kind::Origin),
        "marker" => match rest.starts_with(|c: char| c.is_ascii_alphanumeric()) {
            true => expr(rest).map(|(rest, count)| (rest, Kind::Marker(Some(count)))),
            false => Ok((rest, Kind::Marker(None))),
        },
        "section" => {
            let (rest, id) = expr(rest)?;
            let (rest, block) = block(space(rest))?;
            Ok((rest, Kind::Section(id, block)))
        }
        "raw" => block(rest).map(|(rest, block)| (rest, Kind::Raw(block))),
        "buffer" => buffer(rest),
        "again" => {
            let (rest, name) = name(rest)?;
            optional_block(rest).map(|(rest, block)| (rest, Kind::Again(name, block)))
        }
        _ => {
            let (rest, target) = expr(rest)?;
            clause("dwords", rest).map(|(rest, dwords)| (rest, Kind::Submit(target, dwords)))
        }
    }
}

fn buffer(input: &str) -> Parsed<'_, Kind> {
    let (rest, name) = name(input)?;
    let (rest, address) = match space(rest).strip_prefix('@') {
        Some(rest) => expr(space(rest)).map(|(rest, address)| (rest, Some(address)))?,
        None => (rest, None),
    };
    let (rest, size) = clause("size", rest)?;
    let (rest, contents) = optional_block(rest)?;
    Ok((rest, Kind::Buffer(Box::new(Buffer { name, address, size, contents }))))
}

fn data<'s>(word: &str, rest: &'s str) -> Parsed<'s, Kind> {
    match word {
        "hex" => hex(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "words" => words(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "text" => string(rest).map(|(rest, bytes)| (rest, Kind::Bytes(bytes))),
        "zero" => one(rest, Kind::Zero),
        "align" => one(rest, Kind::Align),
        "at" => one(rest, Kind::At),
        "fill" => {
            let (rest, count) = expr(rest)?;
            let (rest, ()) = token(",", space(rest))?;
            let (rest, value) = expr(space(rest))?;
            Ok((rest, Kind::Fill(count, value)))
        }
        "png" => {
            let (rest, path) = path(rest)?;
            clause("pitch", rest).map(|(rest, pitch)| (rest, Kind::Png(path, pitch)))
        }
        _ => shader(rest).map(|(rest, lines)| (rest, Kind::Shader(lines))),
    }
}
