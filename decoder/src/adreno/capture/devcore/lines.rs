//! The grammar of a dump's lines, and of its ascii85 words.
//!
//! Source: the output of the kernel's adreno_show (drivers/gpu/drm/msm/adreno/adreno_gpu.c) and of
//! msm_gpu_devcoredump_read.

use nom::branch::alt;
use nom::bytes::complete::{tag, take, take_while, take_while1};
use nom::character::complete::{char, digit1, hex_digit1, space0};
use nom::combinator::{all_consuming, map_opt, map_res, opt, rest, value};
use nom::sequence::{delimited, preceded, separated_pair, terminated};
use nom::{IResult, Parser};

use crate::adreno::capture::ChipId;

/// A line of the form `key: value`, at any depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Line<'a> {
    /// Number of spaces before it.
    pub(super) indent: usize,
    /// Whether a `-` begins a new entry of a list.
    pub(super) is_entry: bool,
    pub(super) key: &'a str,
    /// The text after the colon, without the spaces around it.
    pub(super) value: &'a str,
}

fn is_key(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '-' || letter == '_'
}

/// Parses `  - key: value`, or `  - key=value` as in `fault-info`.
pub(super) fn line(input: &str) -> IResult<&str, Line<'_>> {
    let (input, indent) = take_while(|letter| letter == ' ')(input)?;
    let (input, entry) = opt(terminated(char('-'), space0)).parse(input)?;
    let (input, key) = terminated(take_while1(is_key), alt((char(':'), char('=')))).parse(input)?;
    let (input, value) = rest(input)?;
    let line = Line { indent: indent.len(), is_entry: entry.is_some(), key, value: value.trim() };
    Ok((input, line))
}

/// Parses a number that is all of the text: hexadecimal after `0x`, else decimal.
pub(super) fn number(input: &str) -> IResult<&str, u64> {
    let hexadecimal = map_res(preceded(tag("0x"), hex_digit1), |digits| u64::from_str_radix(digits, 16));
    all_consuming(alt((hexadecimal, map_res(digit1, str::parse)))).parse(input)
}

/// Parses `- { offset: 0x0840, value: 0x00800005 }`. Returns the offset in bytes and the value.
pub(super) fn register(input: &str) -> IResult<&str, (u32, u32)> {
    let hexadecimal =
        || map_res(preceded(tag("0x"), hex_digit1), |digits: &str| u32::from_str_radix(digits, 16));
    let offset = preceded(tag("offset: "), hexadecimal());
    let word = preceded(tag("value: "), hexadecimal());
    let pair = delimited(tag("{ "), separated_pair(offset, tag(", "), word), tag(" }"));
    all_consuming(delimited((space0, tag("- ")), pair, space0)).parse(input)
}

/// Parses the chip of `420 (4.2.0.0)`: the number, and the chip id. Kernels before 4.20 and tools may print
/// the chip id in eight hexadecimal digits.
pub(super) fn revision(input: &str) -> IResult<&str, (u32, ChipId)> {
    let byte = || map_res(digit1, str::parse::<u8>);
    let dotted = (byte(), char('.'), byte(), char('.'), byte(), char('.'), byte());
    let dotted =
        dotted.map(|(core, _, major, _, minor, _, patch)| u32::from_be_bytes([core, major, minor, patch]));
    let digits = map_res(take(8usize), |digits| u32::from_str_radix(digits, 16));
    let id = delimited(char('('), alt((dotted, digits)), char(')'));
    let pair = separated_pair(map_res(digit1, str::parse), char(' '), id);
    all_consuming(pair.map(|(number, id)| (number, ChipId(id.into())))).parse(input)
}

/// Characters of an ascii85 word that is not zero.
const WORD: usize = 5;

/// Parses a word of 32 bits: `z` for zero, or five digits to the base of 85, the highest first.
pub(super) fn word(input: &[u8]) -> IResult<&[u8], u32> {
    alt((value(0, tag(&b"z"[..])), map_opt(take(WORD), digits))).parse(input)
}

fn digits(digits: &[u8]) -> Option<u32> {
    digits.iter().try_fold(0u32, |value, digit| {
        let digit = digit.checked_sub(b'!').filter(|digit| *digit < 85)?;
        value.checked_mul(85)?.checked_add(digit.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_keys_and_values() {
        let parsed = |text| line(text).map(|(_, line)| (line.indent, line.is_entry, line.key, line.value));
        assert_eq!(parsed("kernel: 5.8.0-rc1 x"), Ok((0, false, "kernel", "5.8.0-rc1 x")));
        assert_eq!(parsed("  - iova: 0x0010"), Ok((2, true, "iova", "0x0010")));
        assert_eq!(parsed("    name:          "), Ok((4, false, "name", "")));
        assert_eq!(parsed("  - ttbr0=00ff"), Ok((2, true, "ttbr0", "00ff")));
        assert!(line("---").is_err() && line("").is_err() && line("no colon").is_err());
    }

    #[test]
    fn values_are_numbers_registers_and_chips() {
        let of = |text| number(text).ok().map(|(_, number)| number);
        assert_eq!(
            [of("0x0001000000001000"), of("40"), of("-1"), of("4x")],
            [Some(0x1_0000_0000_1000), Some(40), None, None]
        );
        assert_eq!(register("  - { offset: 0x000840, value: 0x00800005 }"), Ok(("", (0x840, 0x80_0005))));
        assert!(register("  - { offset: 0x840 }").is_err());
        let chip = |text| revision(text).ok().map(|(_, chip)| chip);
        assert_eq!(chip("420 (4.2.0.0)"), Some((420, ChipId(0x0402_0000))));
        assert_eq!(chip("0 (67.5.10.1)"), Some((0, ChipId(0x4305_0a01))));
        assert_eq!(chip("307 (03000600)"), Some((307, ChipId(0x0300_0600))));
        assert_eq!([chip("420"), chip("420 (4.2.0)"), chip("420 (4.2.0.999)")], [None; 3]);
    }

    #[test]
    fn words_are_five_digits_or_z() {
        let of = |text: &[u8]| word(text).ok().map(|(rest, word)| (rest.len(), word));
        assert_eq!(of(b"z!!"), Some((2, 0)));
        assert_eq!(of(b"!!!!\"z"), Some((1, 1)));
        assert_eq!(of(b"s8W-!"), Some((0, u32::MAX)));
        assert_eq!([of(b"s8W-\""), of(b"!!!"), of(b"!!!!v"), of(b"")], [None; 4]);
    }
}
