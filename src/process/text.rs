//! Text from inputs may hold control characters, which a terminal obeys. They are printed escaped ([`Shown`]).

use std::fmt::{self, Display, Write};

/// Whether a terminal only shows `c`: it is no control character, does not change the direction of text and
/// is not invisible.
pub fn is_plain(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    !c.is_control() && !turns && c != '\u{feff}'
}

/// Text from an input, printed on one line. Characters that are not plain are escaped as in Rust.
pub struct Shown<T>(pub T);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // Format the text as a whole, so that widths hold.
        let mut text = String::new();
        write!(Escaping { out: &mut text, keeps: "" }, "{}", self.0)?;
        f.pad(&text)
    }
}

/// A writer that escapes all characters that are not plain, except those in `keeps`.
struct Escaping<'a> {
    out: &'a mut String,
    keeps: &'static str,
}

impl Write for Escaping<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for c in text.chars() {
            match c {
                _ if is_plain(c) || self.keeps.contains(c) => self.out.push(c),
                '\0'..='\x7f' if !"\n\r\t".contains(c) => write!(self.out, "\\x{:02x}", u32::from(c))?,
                _ => self.out.extend(c.escape_default()),
            }
        }
        Ok(())
    }
}

/// Whether escape sequences that colour text are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// Colours are kept. Text from inputs is [`Shown`] before.
    Kept,
    /// Colours are escaped like other control characters.
    Escaped,
}

/// Whether `bytes` are ASCII without control characters, except line ends and tabs.
pub fn is_harmless(bytes: &[u8]) -> bool {
    let harm = |byte: u8| !(byte.wrapping_sub(b' ') < 0x5f || byte == b'\n' || byte == b'\t');
    !bytes.iter().fold(false, |found, byte| found | harm(*byte))
}

/// The text of `bytes`, with characters escaped that are not plain, except line ends and tabs.
pub fn escaped(bytes: &[u8], colours: Colours) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        let mut rest = chunk.valid();
        while let Some(at) = rest.find('\x1b').filter(|_| colours == Colours::Kept) {
            let (before, behind) = rest.split_at(at);
            let (colour, behind) = behind.split_at(colour_length(behind).unwrap_or(0));
            let (other, behind) = behind.split_at(usize::from(colour.is_empty()));
            let _infallible = Escaping { out: &mut text, keeps: "\n\t" }.write_str(before);
            text.push_str(colour);
            let _infallible = Escaping { out: &mut text, keeps: "" }.write_str(other);
            rest = behind;
        }
        let _infallible = Escaping { out: &mut text, keeps: "\n\t" }.write_str(rest);
        chunk.invalid().iter().for_each(|byte| text += &format!("\\x{byte:02x}"));
    }
    text
}

/// Length in bytes of the escape sequence at the start of `text`, if it only sets colours.
fn colour_length(text: &str) -> Option<usize> {
    let numbers = text.strip_prefix("\x1b[")?;
    let end = numbers.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    numbers[end..].starts_with('m').then_some(2 + end + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shown_text_has_no_control_characters() {
        let evil = "a\x1b[2J\x07\nb\u{9b}1m\u{202e}\x7f\tz\u{e4}";
        assert_eq!(Shown(evil).to_string(), "a\\x1b[2J\\x07\\nb\\u{9b}1m\\u{202e}\\x7f\\tz\u{e4}");
        assert_eq!(format!("{:>4}|{:<3}|", Shown("a"), Shown(7)), "   a|7  |");
    }

    #[test]
    fn colours_are_kept_where_they_are_ours() {
        let line = b"\x1b[1;33mdraw\x1b[0m \x1b[2J \x1b\n";
        let shown = |colours| escaped(line, colours);
        assert_eq!(shown(Colours::Kept), "\x1b[1;33mdraw\x1b[0m \\x1b[2J \\x1b\n");
        assert_eq!(shown(Colours::Escaped), "\\x1b[1;33mdraw\\x1b[0m \\x1b[2J \\x1b\n");
    }

    #[test]
    fn harmless_bytes_are_printable_ascii_tab_and_newline() {
        let harmless: Vec<u8> = (0..=255).filter(|byte| is_harmless(&[*byte])).collect();
        let seen: Vec<u8> = [b'\t', b'\n'].into_iter().chain(b' '..=b'~').collect();
        assert_eq!(harmless, seen);
    }
}
