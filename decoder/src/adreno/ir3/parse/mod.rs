//! Parses the text of one instruction.
mod alu;
mod descriptor;
mod flow;
pub(super) mod lex;
mod memory;
mod texture;

use super::bits::put;
use super::cat2::SRC2_R;
use super::{Body, Cat1Class, Flags, Instr, Isa};
use lex::{Fail, Parsed, fail, flag, mnemonic};
use nom::Finish;
use nom::character::complete::space0;
use std::fmt;

/// Why a line is not an instruction, with the position of the error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Offset of the error, in bytes from the start of the text.
    pub offset: usize,
    /// The text that was expected there.
    pub expected: &'static str,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "expected {} at column {}", self.expected, self.offset + 1)
    }
}

impl std::error::Error for ParseError {}

impl std::str::FromStr for Instr {
    type Err = ParseError;

    /// Parses one instruction; a target must be an offset, `#-3`.
    fn from_str(text: &str) -> Result<Self, ParseError> {
        parse(text, &mut |_| None)
    }
}

/// Parses one instruction of an A4xx, as [`Isa::parse`].
///
/// # Errors
/// As [`Isa::parse`].
pub fn parse(text: &str, label: &mut dyn FnMut(&str) -> Option<i32>) -> Result<Instr, ParseError> {
    Isa::A4xx.parse(text, label)
}

impl Isa {
    /// Parses one instruction. `label` returns the offset from this instruction to a label, if it is known.
    ///
    /// # Errors
    /// The position of the error and what was expected there, if the text is not one instruction of the generation.
    pub fn parse(self, text: &str, label: &mut dyn FnMut(&str) -> Option<i32>) -> Result<Instr, ParseError> {
        parse_in(self, text, label)
    }
}

fn parse_in(isa: Isa, text: &str, label: &mut dyn FnMut(&str) -> Option<i32>) -> Result<Instr, ParseError> {
    let result = instruction(isa, text, label).finish();
    let fail = match result {
        Ok(("", instr)) => return Ok(instr),
        Ok((at, _)) => Fail { at, expected: "the end of the instruction" },
        Err(fail) => fail,
    };
    Err(ParseError { offset: text.len() - fail.at.len(), expected: fail.expected })
}

/// The flags and mnemonic before the operands.
struct Head<'a> {
    isa: Isa,
    flags: Flags,
    eq: bool,
    sat: bool,
    repeat: u8,
    /// (nopN): number of nops after the instruction.
    nops: u8,
    mnemonic: &'a str,
}

fn instruction<'a>(isa: Isa, text: &'a str, label: &mut dyn FnMut(&str) -> Option<i32>) -> Parsed<'a, Instr> {
    let (start, _) = space0(text)?;
    let (at, head) = head(isa, start)?;
    let (at, _) = space0(at)?;
    if head.mnemonic == "raw" {
        if !allows(&Body::Unknown, &head) || head.flags != Flags::default() {
            return fail(start, "no flag before raw");
        }
        let (at, word) = raw(at)?;
        let (at, _) = space0(at)?;
        return Ok((at, isa.decode(word)));
    }
    let old = head.mnemonic.strip_prefix(memory::OLD_STORE).filter(|_| isa == Isa::A4xx);
    if let Some(ty) = old {
        if !allows(&Body::Unknown, &head) {
            return fail(start, "no flag before sti but (sy) and (jp)");
        }
        let (at, word) = memory::old_store(at, ty)?;
        let (at, _) = space0(at)?;
        return Ok((at, Instr { flags: head.flags, ..isa.decode(word) }));
    }
    let (at, mut body) = body(start, at, &head, label)?;
    let nops = delay(&mut body, &head).filter(|_| allows(&body, &head));
    let Some(nops) = nops else { return fail(start, "no flag that this instruction does not have") };
    let (at, _) = space0(at)?;
    let (at, extra) = extra(at)?;
    let (at, _) = space0(at)?;
    Ok((at, Instr { isa, flags: head.flags, body, extra: extra ^ nops }))
}

/// Stores (nopN) in the instruction. Before A5xx, where it has no meaning of its own, its bits are the (r) bits of
/// the sources.
///
/// Returns the bit of a source that the instruction does not have, or 0. `None` if the instruction cannot
/// have the flag.
fn delay(body: &mut Body, head: &Head) -> Option<u64> {
    if head.nops == 0 {
        return Some(0);
    }
    if head.isa.has_nops() {
        return later_delay(body, head).then_some(0);
    }
    let (first, second) = match body {
        Body::Cat2(instr) => (&mut instr.src1, instr.src2.as_mut()),
        Body::Cat3(instr) => (&mut instr.src1, Some(&mut instr.src2)),
        _ => return None,
    };
    let steps = first.step || second.as_ref().is_some_and(|second| second.step);
    if steps || head.repeat > 0 {
        return None;
    }
    first.step = head.nops & 1 != 0;
    let other = head.nops & 2 != 0;
    Some(match second {
        Some(second) => {
            second.step = other;
            0
        }
        None => put(other, SRC2_R),
    })
}

/// Stores (nopN) in an instruction from A5xx on; false if it cannot have the flag.
fn later_delay(body: &mut Body, head: &Head) -> bool {
    let steps = match body {
        Body::Cat2(instr) if instr.op.has_nops() => {
            instr.nops = head.nops;
            instr.src1.step || instr.src2.is_some_and(|second| second.step)
        }
        Body::Cat3(instr) => {
            instr.nops = head.nops;
            [&instr.src1, &instr.src2, &instr.src3].iter().any(|source| source.step)
        }
        _ => return false,
    };
    head.repeat == 0 && !steps
}

fn number_behind(text: &str, word: &str) -> Option<u8> {
    text.strip_prefix(word)?.parse().ok()
}

fn head(isa: Isa, mut at: &str) -> Parsed<'_, Head<'_>> {
    let mut head =
        Head { isa, flags: Flags::default(), eq: false, sat: false, repeat: 0, nops: 0, mnemonic: "" };
    while at.starts_with('(') {
        let (rest, name) = lex::bracketed(at)?;
        match name {
            "sy" => head.flags.sy = true,
            "ss" => head.flags.ss = true,
            "jp" => head.flags.jp = true,
            "ul" => head.flags.ul = true,
            "eq" => head.eq = true,
            "sat" => head.sat = true,
            _ => match (number_behind(name, "rpt"), number_behind(name, "nop")) {
                (Some(repeat @ 1..=7), _) => head.repeat = repeat,
                (_, Some(nops @ 1..=3)) => head.nops = nops,
                _ => {
                    return fail(
                        at,
                        "a flag: (sy), (ss), (jp), (ul), (eq), (sat), (rpt1) to (rpt7) or (nop1) to (nop3)",
                    );
                }
            },
        }
        (at, _) = space0(rest)?;
    }
    let (at, name) = mnemonic(at)?;
    head.mnemonic = name;
    Ok((at, head))
}

fn body<'a>(
    start: &'a str,
    at: &'a str,
    head: &Head<'a>,
    label: &mut dyn FnMut(&str) -> Option<i32>,
) -> Parsed<'a, Body> {
    let flow = flow::parse(at, head, label).or_else(|| alu::parse(at, head));
    let memory = || descriptor::parse(at, head).or_else(|| memory::parse(at, head));
    match flow.or_else(|| texture::parse(at, head)).or_else(memory) {
        Some(parsed) => parsed,
        None => {
            let expected = match head.isa {
                Isa::A4xx => "a mnemonic of an A4xx instruction",
                Isa::A5xx => "a mnemonic of an A5xx instruction",
                Isa::A6xx => "a mnemonic of an A6xx instruction",
            };
            fail(&start[offset_of(start, head.mnemonic)..], expected)
        }
    }
}

/// The offset in `whole` at which its slice `part` starts.
fn offset_of(whole: &str, part: &str) -> usize {
    (part.as_ptr() as usize).saturating_sub(whole.as_ptr() as usize).min(whole.len())
}

/// Whether the instruction can have every flag in the text.
fn allows(body: &Body, head: &Head) -> bool {
    let saturates = match body {
        Body::Cat2(_) | Body::Cat4(_) => true,
        Body::Cat3(instr) => instr.op.class().has_sat(),
        _ => false,
    };
    let repeat = match body {
        Body::Cat0(instr) if instr.op.repeats(head.isa) => 7,
        Body::Cat1(instr) if instr.op.class() == Cat1Class::Moves => 0,
        Body::Cat1(_) | Body::Cat2(_) | Body::Cat3(_) | Body::Cat4(_) => 3,
        _ => 0,
    };
    let eq = matches!(body, Body::Cat0(instr) if instr.op.has_eq());
    (body.has_ss() || !head.flags.ss)
        && (body.has_ul() || !head.flags.ul)
        && (saturates || !head.sat)
        && (eq || !head.eq)
        && head.repeat <= repeat
}

/// `{0x…}`: bits that the text has no other form for.
fn extra(at: &str) -> Parsed<'_, u64> {
    let (rest, open) = flag(at, "{");
    if !open {
        return Ok((at, 0));
    }
    let (rest, bits) = raw(rest)?;
    let (rest, _) = lex::word("}")(rest)?;
    Ok((rest, bits))
}

/// `0x` and up to 16 hexadecimal digits.
fn raw(at: &str) -> Parsed<'_, u64> {
    const EXPECTED: &str = "0x and up to 16 hexadecimal digits";
    let Some(rest) = at.strip_prefix("0x") else { return fail(at, EXPECTED) };
    let end = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
    match u64::from_str_radix(&rest[..end], 16) {
        Ok(bits) => Ok((&rest[end..], bits)),
        Err(_) => fail(at, EXPECTED),
    }
}
