//! Expressions. An operator is on the line of its left operand, because a `+` at the start of a line
//! continues a packet.

use super::super::ast::{Expr, ExprKind, Op, Span};
use super::{Nest, Parsed, arguments, blank, expected, is_start, name, peek_name, space, token};

/// Binary operators, weakest first. `|` is a level of its own because it separates the parts of a word.
const LEVELS: &[&[(&str, Op)]] = &[
    &[("|", Op::Or)],
    &[("^", Op::Xor)],
    &[("&", Op::And)],
    &[("==", Op::Equal), ("!=", Op::NotEqual)],
    &[("<<", Op::Shl), (">>", Op::Shr)],
    &[("<", Op::Less), (">", Op::Greater)],
    &[("+", Op::Add), ("-", Op::Sub)],
    &[("*", Op::Mul), ("/", Op::Div), ("%", Op::Rem)],
];

/// Any expression.
pub(super) fn expr<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Expr> {
    nest.expression(|| level(nest, 0, input))
}

/// An expression without a bar outside parentheses.
pub(super) fn part<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Expr> {
    nest.expression(|| level(nest, 1, input))
}

fn spanned<'s>(input: &'s str, rest: &'s str, kind: ExprKind) -> (&'s str, Expr) {
    (rest, Expr { span: Span { start: input.len(), end: rest.len() }, kind })
}

fn operator(strength: usize, input: &str) -> Option<(&str, Op)> {
    let (text, op) = LEVELS[strength].iter().find(|(text, _)| input.starts_with(text))?;
    let rest = &input[text.len()..];
    // `//` starts a comment. `<<` and `>>` belong to a stronger level.
    let other = matches!(
        (op, rest.as_bytes().first()),
        (Op::Div, Some(b'/')) | (Op::Less, Some(b'<')) | (Op::Greater, Some(b'>'))
    );
    (!other).then_some((rest, *op))
}

fn level<'s>(nest: &Nest, strength: usize, input: &'s str) -> Parsed<'s, Expr> {
    if strength == LEVELS.len() {
        return unary(nest, input);
    }
    let (mut rest, mut left) = level(nest, strength + 1, input)?;
    while let Some((after, op)) = operator(strength, space(rest)) {
        nest.operator(rest)?;
        let (after, right) = level(nest, strength + 1, blank(after))?;
        (rest, left) = spanned(input, after, ExprKind::Binary(op, Box::new(left), Box::new(right)));
    }
    Ok((rest, left))
}

fn unary<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Expr> {
    nest.node(input)?;
    match input.chars().next() {
        Some(sign @ ('-' | '~')) => {
            let operand = space(&input[1..]);
            if operand.starts_with(['-', '~']) {
                return expected(operand, "a number, a name or `(` after a sign");
            }
            let (rest, operand) = unary(nest, operand)?;
            Ok(spanned(input, rest, ExprKind::Unary(sign, Box::new(operand))))
        }
        Some('(') => {
            let (rest, inner) = nest.inside(input, || expr(nest, blank(&input[1..])))?;
            let (rest, ()) = token(")", blank(rest))?;
            Ok((rest, Expr { span: Span { start: input.len(), end: rest.len() }, ..inner }))
        }
        Some(c) if c.is_ascii_digit() => number(input),
        Some(c) if is_start(c) => named(nest, input),
        _ => expected(input, "a value"),
    }
}

fn number(input: &str) -> Parsed<'_, Expr> {
    let length = number_length(input);
    let rest = &input[length..];
    if rest.starts_with(is_start) {
        return expected(input, "a number");
    }
    Ok(spanned(input, rest, ExprKind::Number(input[..length].replace('_', ""))))
}

/// Bytes of the number at the start of `input`: `12`, `0x1f`, `0b11`, `1.5e-3`.
fn number_length(input: &str) -> usize {
    let digits = |text: &str, set: fn(char) -> bool| text.find(|c| !set(c) && c != '_').unwrap_or(text.len());
    if input.starts_with("0x") || input.starts_with("0b") {
        return 2 + digits(&input[2..], |c| c.is_ascii_hexdigit());
    }
    let mut length = digits(input, |c| c.is_ascii_digit());
    let fraction = input[length..].strip_prefix('.').filter(|rest| !rest.starts_with('.'));
    if let Some(fraction) = fraction {
        length += 1 + digits(fraction, |c| c.is_ascii_digit());
    }
    if let Some(exponent) = input[length..].strip_prefix(['e', 'E']) {
        let sign = usize::from(exponent.starts_with(['-', '+']));
        length += 1 + sign + digits(&exponent[sign..], |c| c.is_ascii_digit());
    }
    length
}

/// A name, a function or an element of a register array.
fn named<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Expr> {
    let (rest, first) = name(input)?;
    if rest.starts_with('(') {
        let (rest, arguments) = arguments(nest, |input| expr(nest, input), rest)?;
        return Ok(spanned(input, rest, ExprKind::Call(first, arguments)));
    }
    match element(nest, rest)? {
        (rest, Some((index, sub))) => {
            Ok(spanned(input, rest, ExprKind::Element(first.text, Box::new(index), sub)))
        }
        (rest, None) => Ok(spanned(input, rest, ExprKind::Name(first.text))),
    }
}

/// `[index].SUB`, if the input has it.
pub(super) fn element<'s>(nest: &Nest, input: &'s str) -> Parsed<'s, Option<(Expr, String)>> {
    let Some(rest) = input.strip_prefix('[') else { return Ok((input, None)) };
    let (rest, index) = nest.inside(input, || expr(nest, blank(rest)))?;
    let (rest, ()) = token("].", space(rest))?;
    let sub = peek_name(rest);
    match sub.is_empty() {
        true => expected(rest, "the name of a register"),
        false => Ok((&rest[sub.len()..], Some((index, sub.into())))),
    }
}
