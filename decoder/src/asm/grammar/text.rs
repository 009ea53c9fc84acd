//! Parts of the grammar without expressions: strings, hexadecimal data and shader lines.

use super::super::ast::{ShaderLine, Span};
use super::{Parsed, Trouble, blank, expected, token};

/// A string in double quotes, as bytes: `\n \t \" \\ \0 \xNN`.
pub(super) fn string(input: &str) -> Parsed<'_, Vec<u8>> {
    let (mut rest, ()) = token("\"", input)?;
    let mut bytes = Vec::new();
    loop {
        let mut chars = rest.chars();
        match chars.next() {
            Some('"') => return Ok((chars.as_str(), bytes)),
            Some('\\') => {
                let (after, byte) = escape(chars.as_str())?;
                bytes.push(byte);
                rest = after;
            }
            Some(c) if c != '\n' => {
                bytes.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
                rest = chars.as_str();
            }
            _ => return expected(rest, "`\"` at the end of the string"),
        }
    }
}

fn escape(input: &str) -> Parsed<'_, u8> {
    let byte = match input.as_bytes().first() {
        Some(b'n') => b'\n',
        Some(b't') => b'\t',
        Some(b'0') => 0,
        Some(&quoted @ (b'"' | b'\\')) => quoted,
        Some(b'x') => {
            let digits = input.get(1..3).and_then(|digits| u8::from_str_radix(digits, 16).ok());
            return digits
                .map_or_else(|| expected(input, "two hexadecimal digits"), |byte| Ok((&input[3..], byte)));
        }
        _ => return expected(input, "one of n t 0 x \" \\ after `\\`"),
    };
    Ok((&input[1..], byte))
}

/// A path or other string that must be UTF-8.
pub(super) fn path(input: &str) -> Parsed<'_, String> {
    let (rest, bytes) = string(input)?;
    match String::from_utf8(bytes) {
        Ok(path) => Ok((rest, path)),
        Err(_) => expected(input, "a path"),
    }
}

/// Splits the input into the data at its start and the text after it. Data ends with the line, at a comment,
/// or at the `}` of the block around it.
fn data_line(input: &str) -> (&str, &str) {
    let (text, rest) = line(input);
    match text.find('}') {
        Some(end) => (&text[..end], &input[end..]),
        None => (text, rest),
    }
}

/// Splits the input into the rest of the line, without its comment, and the text after the line.
fn line(input: &str) -> (&str, &str) {
    let end = input.find('\n').unwrap_or(input.len());
    let text = &input[..end];
    let comment = [text.find("//"), text.find(';')].into_iter().flatten().min();
    (&text[..comment.unwrap_or(end)], &input[end..])
}

/// `hex 0011 22ff`: bytes to the end of the line or block, with spaces anywhere.
pub(super) fn hex(input: &str) -> Parsed<'_, Vec<u8>> {
    let (text, rest) = data_line(input);
    let mut bytes = Vec::with_capacity(text.len() / 2);
    let mut high = None;
    for (at, c) in text.char_indices().filter(|(_, c)| !c.is_whitespace()) {
        let Some(digit) = c.to_digit(16) else { return expected(&input[at..], "hexadecimal digits") };
        match high.take() {
            None => high = Some(digit),
            Some(high) => bytes.push((high * 16 + digit) as u8),
        }
    }
    match high {
        None => Ok((rest, bytes)),
        Some(_) => expected(input, "an even number of hexadecimal digits"),
    }
}

/// `words 1 3f800000`: dwords in hexadecimal, to the end of the line or block.
pub(super) fn words(input: &str) -> Parsed<'_, Vec<u8>> {
    let (text, rest) = data_line(input);
    let mut bytes = Vec::with_capacity(text.len());
    for word in text.split_whitespace() {
        match u32::from_str_radix(word, 16) {
            Ok(dword) if !word.starts_with('+') => bytes.extend_from_slice(&dword.to_le_bytes()),
            _ => {
                let at = word.as_ptr() as usize - input.as_ptr() as usize;
                return expected(&input[at..], "a dword in hexadecimal");
            }
        }
    }
    Ok((rest, bytes))
}

/// The lines of a shader, up to a line that starts with `}`.
pub(super) fn shader(input: &str) -> Parsed<'_, Vec<ShaderLine>> {
    let (mut rest, ()) = token("{", input)?;
    let mut lines = Vec::new();
    loop {
        rest = blank(rest);
        if let Some(rest) = rest.strip_prefix('}') {
            return Ok((rest, lines));
        }
        if rest.is_empty() {
            let message = "this shader has no `}` on a line of its own".into();
            return Err(nom::Err::Failure(Trouble { left: input.len(), message }));
        }
        let (text, after) = line(rest);
        let text = text.trim_end();
        let span = Span { start: rest.len(), end: rest.len() - text.len() };
        lines.push(ShaderLine { span, text: text.into() });
        rest = after;
    }
}
