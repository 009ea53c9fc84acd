//! The tokens of the assembly language.
use super::super::operand::{FLUT_TEXT, Operand, Reg, Src, Type};
use nom::branch::alt;
use nom::bytes::complete::{tag, take_while, take_while1};
use nom::character::complete::{char, digit1, hex_digit1, space0};
use nom::combinator::{map_opt, opt};
use nom::error::{ErrorKind, ParseError};
use nom::sequence::preceded;
use nom::{IResult, Parser};

/// A syntax error: what was expected, and the rest of the text from there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Fail<'a> {
    pub at: &'a str,
    pub expected: &'static str,
}

impl<'a> ParseError<&'a str> for Fail<'a> {
    fn from_error_kind(at: &'a str, _: ErrorKind) -> Self {
        Self { at, expected: "something else" }
    }

    fn append(_: &'a str, _: ErrorKind, other: Self) -> Self {
        other
    }
}

/// The result of every parser in this module.
pub(super) type Parsed<'a, T> = IResult<&'a str, T, Fail<'a>>;

/// Fails at `at`.
pub(super) fn fail<'a, T>(at: &'a str, expected: &'static str) -> Parsed<'a, T> {
    Err(nom::Err::Error(Fail { at, expected }))
}

/// Runs `parser`, with `expected` as the error.
pub(super) fn expect<'a, T>(
    expected: &'static str,
    mut parser: impl Parser<&'a str, Output = T, Error = Fail<'a>>,
) -> impl FnMut(&'a str) -> Parsed<'a, T> {
    move |at| parser.parse(at).map_err(|_| nom::Err::Error(Fail { at, expected }))
}

/// A fixed word.
pub(super) fn word<'a>(text: &'static str) -> impl FnMut(&'a str) -> Parsed<'a, &'a str> {
    expect(text, tag(text))
}

/// Consumes `text` if it comes next. Returns whether it did.
pub(super) fn flag<'a>(at: &'a str, text: &'static str) -> (&'a str, bool) {
    match at.strip_prefix(text) {
        Some(rest) => (rest, true),
        None => (at, false),
    }
}

/// A comma, with blanks around it.
pub(super) fn comma(at: &str) -> Parsed<'_, ()> {
    let (at, _) = space0(at)?;
    let (at, _) = word(",")(at)?;
    let (at, _) = space0(at)?;
    Ok((at, ()))
}

/// A mnemonic with its suffixes.
pub(super) fn mnemonic(at: &str) -> Parsed<'_, &str> {
    let letters = take_while1(|c: char| c.is_ascii_alphanumeric() || c == '.' || c == '_');
    expect("a mnemonic", letters).parse(at)
}

/// Digits, decimal or `0x` hexadecimal.
fn unsigned(at: &str) -> Parsed<'_, i64> {
    let hex = preceded(tag("0x"), map_opt(hex_digit1, |digits| i64::from_str_radix(digits, 16).ok()));
    let decimal = map_opt(digit1, |digits: &str| digits.parse().ok());
    alt((hex, decimal)).parse(at)
}

/// An integer from `low` to `high`.
pub(super) fn integer<'a>(at: &'a str, low: i64, high: i64, expected: &'static str) -> Parsed<'a, i64> {
    let (rest, sign) = opt(alt((char('-'), char('+')))).parse(at)?;
    let (rest, size) = expect(expected, unsigned)(rest)?;
    let value = if sign == Some('-') { -size } else { size };
    if (low..=high).contains(&value) { Ok((rest, value)) } else { fail(at, expected) }
}

/// An integer that fits a byte.
pub(super) fn byte<'a>(at: &'a str, expected: &'static str) -> Parsed<'a, u8> {
    let (at, value) = integer(at, 0, 255, expected)?;
    Ok((at, value as u8))
}

/// `.x` to `.w`
pub(super) fn component(at: &str) -> Parsed<'_, u8> {
    let name = alt((tag(".x"), tag(".y"), tag(".z"), tag(".w")));
    let index = map_opt(name, |name: &str| "xyzw".find(&name[1..]));
    let (at, index) = expect("a component .x, .y, .z or .w", index)(at)?;
    Ok((at, index as u8))
}

/// `r0.x`, `a0.x`, `p0.x`
pub(super) fn reg(at: &str) -> Parsed<'_, Reg> {
    const EXPECTED: &str = "a register, r0.x to r63.w, a0.x or p0.x";
    let number = match (at.strip_prefix("a0"), at.strip_prefix("p0"), at.strip_prefix('r')) {
        (Some(rest), _, _) => (rest, 61),
        (_, Some(rest), _) => (rest, 62),
        (_, _, Some(rest)) => integer(rest, 0, 63, EXPECTED).or(fail(at, EXPECTED))?,
        _ => return fail(at, EXPECTED),
    };
    let (at, component) = component(number.0)?;
    Ok((at, Reg(number.1 as u8 * 4 + component)))
}

/// A register that may be half: `hr0.x`.
pub(super) fn half_reg(at: &str) -> Parsed<'_, (bool, Reg)> {
    let (at, half) = flag(at, "h");
    let (at, reg) = reg(at)?;
    Ok((at, (half, reg)))
}

/// ` + 5>`, ` - 5>` or `>`: the rest of `r<a0.x + 5>`.
pub(super) fn relative_offset(at: &str, low: i64, high: i64) -> Parsed<'_, i64> {
    let (at, _) = space0(at)?;
    let (at, offset) = match at.chars().next() {
        Some(sign @ ('+' | '-')) => {
            let (at, _) = space0(&at[1..])?;
            let (at, value) = integer(at, low, high, "an offset")?;
            (at, if sign == '-' { -value } else { value })
        }
        _ => (at, 0),
    };
    if !(low..=high).contains(&offset) {
        return fail(at, "an offset within the range of the field");
    }
    let (at, _) = word(">")(at)?;
    Ok((at, offset))
}

/// A source, and whether it is marked half.
pub(super) fn operand(at: &str) -> Parsed<'_, (Operand, bool)> {
    let (at, mut operand) = modifiers(at)?;
    let (at, (src, half)) = source(at)?;
    operand.src = src;
    Ok((at, (operand, half)))
}

fn modifiers(mut at: &str) -> Parsed<'_, Operand> {
    let mut operand = Operand::default();
    loop {
        let (rest, found) =
            opt(alt((tag("(neg)"), tag("(absneg)"), tag("(abs)"), tag("(r)"), tag("(last)")))).parse(at)?;
        match found {
            Some("(neg)") => operand.neg = true,
            Some("(abs)") => operand.abs = true,
            Some("(absneg)") => (operand.abs, operand.neg) = (true, true),
            Some("(r)") => operand.step = true,
            Some(_) => operand.last = true,
            None => return Ok((at, operand)),
        }
        at = rest;
    }
}

fn source(at: &str) -> Parsed<'_, (Src, bool)> {
    let (rest, half) = flag(at, "h");
    if let Some(index) = FLUT_TEXT.iter().position(|text| rest.starts_with(text)) {
        let src = Src::Flut { index: index as u8, half };
        return Ok((&rest[FLUT_TEXT[index].len()..], (src, half)));
    }
    if let Some(inner) = rest.strip_prefix("r<a0.x") {
        let (at, offset) = relative_offset(inner, -512, 511)?;
        return Ok((at, (Src::RelativeGpr(offset as i16), half)));
    }
    if let Some(inner) = rest.strip_prefix("c<a0.x") {
        let (at, offset) = relative_offset(inner, -512, 511)?;
        return Ok((at, (Src::RelativeConst(offset as i16), half)));
    }
    if let Some(number) = rest.strip_prefix('c') {
        let (at, number) = integer(number, 0, 511, "a constant, c0.x to c511.w")?;
        let (at, component) = component(at)?;
        return Ok((at, (Src::Const(number as u16 * 4 + u16::from(component)), half)));
    }
    if rest.starts_with(['r', 'a', 'p']) {
        let (at, reg) = reg(rest)?;
        return Ok((at, (Src::Gpr(reg), half)));
    }
    immediate(rest, half)
}

fn immediate(at: &str, half: bool) -> Parsed<'_, (Src, bool)> {
    const EXPECTED: &str = "a register, a constant, a float of the table or an integer, -1024 to 1023";
    let (at, open) = if half { word("(")(at).or(fail(at, EXPECTED))? } else { (at, "") };
    let (at, value) = integer(at, -1024, 1023, EXPECTED)?;
    let (at, _) = if open.is_empty() { (at, "") } else { word(")")(at)? };
    Ok((at, (Src::Immediate(value as i16), half)))
}

/// The text in parentheses: `(1.5)`.
pub(super) fn bracketed(at: &str) -> Parsed<'_, &str> {
    let (at, _) = word("(")(at)?;
    let (at, inner) = take_while(|c| c != ')')(at)?;
    let (at, _) = word(")")(at)?;
    Ok((at, inner))
}

/// A type such as `f32` or `u16` at the start of the text.
pub(super) fn ty(at: &str) -> Parsed<'_, Type> {
    // The reverse order tries `u8_32` before `u8`.
    match Type::ALL.iter().rev().find(|ty| at.starts_with(ty.name())) {
        Some(ty) => Ok((&at[ty.name().len()..], *ty)),
        // `s8` of older assemblers.
        None if at.starts_with("s8") => Ok((&at["s8".len()..], Type::U8Wide)),
        None => fail(at, "a type: f16, f32, u16, u32, s16, s32, u8 or u8_32"),
    }
}
