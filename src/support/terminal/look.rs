//! How lines of listings look on a terminal: colours, and no line that is longer than the terminal is wide.
//!
//! The colours follow from the text alone, so that listings need no styles of their own.

use std::borrow::Cow;
use std::io;

use anstyle::{AnsiColor, Style};
use unicode_width::UnicodeWidthChar;

/// The mark at the end of a line that was cut.
const ELLIPSIS: char = '…';

/// Columns between two stops of a tab.
const TAB: usize = 8;

/// Words before a number that together name a part of a capture.
const PARTS: [&str; 5] = ["submit", "draw", "dispatch", "pixel", "frame"];

/// Words that say that something is wrong.
const ERRORS: [&str; 6] = ["error", "damaged", "differs", "failed", "fault", "missing"];

/// Begins the mark of the packet at which the chip hung.
const MARK: &str = "<== ";

/// How a line is printed. The default changes nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Look {
    /// Whether the line is coloured.
    pub coloured: bool,
    /// What becomes of a line that is longer than the terminal is wide.
    pub long: Long,
}

/// What becomes of long lines. The number is the columns of the terminal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Long {
    /// They are whole.
    #[default]
    Whole,
    /// They are cut.
    Cut(usize),
    /// They are wrapped.
    Wrapped(usize),
}

impl Look {
    /// The look that stdout asks for. The global choice of [`anstream`], which `--color` sets, decides about
    /// colours; it also reads `NO_COLOR` and `TERM`.
    pub fn of_stdout() -> Self {
        let coloured = anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never;
        let width = terminal_size::terminal_size_of(io::stdout()).map(|(width, _)| width.0.into());
        Self { coloured, long: width.filter(|width| *width > 1).map_or(Long::Whole, Long::Cut) }
    }

    /// Whether a line is printed as it is.
    pub fn is_plain(self) -> bool {
        self == Self::default()
    }

    /// The line as it fits the width.
    fn fitted(self, line: &str) -> Vec<Cow<'_, str>> {
        match self.long {
            Long::Wrapped(width) => wrapped(line, width),
            Long::Cut(width) => vec![cut(line, width).map_or(Cow::Borrowed(line), Cow::Owned)],
            Long::Whole => vec![Cow::Borrowed(line)],
        }
    }

    /// The lines of `text`, which has no escape sequences, as they are printed.
    pub fn lines(self, text: &str) -> String {
        let mut out = String::with_capacity(2 * text.len());
        for line in text.split_inclusive('\n') {
            let (line, end) = line.strip_suffix('\n').map_or((line, ""), |line| (line, "\n"));
            for (index, line) in self.fitted(line).iter().enumerate() {
                if index > 0 {
                    out.push('\n');
                }
                match self.coloured {
                    true => colour(line, &mut out),
                    false => out.push_str(line),
                }
            }
            out.push_str(end);
        }
        out
    }
}

/// Breaks `line` between words. The lines after the first begin below the text of it: behind the spaces, and behind a
/// word with two spaces after it.
fn wrapped(line: &str, width: usize) -> Vec<Cow<'_, str>> {
    const MOST: usize = 16;
    let text = line.trim_start();
    let label = text.find("  ").filter(|at| !text[..*at].contains(' ')).map_or(0, |at| {
        let behind = &text[at..];
        at + behind.len() - behind.trim_start().len()
    });
    let indent = " ".repeat((line.len() - text.len() + label).min(MOST).min(width / 2));
    let options = textwrap::Options::new(width)
        .subsequent_indent(&indent)
        .word_splitter(textwrap::WordSplitter::NoHyphenation);
    textwrap::wrap(line, options)
}

/// The first columns of `line`, and an ellipsis. `None` if `width` columns have room for all of it.
fn cut(line: &str, width: usize) -> Option<String> {
    if line.len() <= width && !line.contains('\t') {
        return None;
    }
    let (mut column, mut kept) = (0, 0);
    for (at, c) in line.char_indices() {
        column += if c == '\t' { TAB - column % TAB } else { c.width().unwrap_or(0) };
        if column > width {
            let kept = line[..kept].trim_end();
            return Some(format!("{kept}{ELLIPSIS}"));
        }
        // One column stays free for the ellipsis.
        if column < width {
            kept = at + c.len_utf8();
        }
    }
    None
}

const HEADING: Style = AnsiColor::Yellow.on_default().bold();
const ADDRESS: Style = AnsiColor::BrightBlack.on_default();
const NAME: Style = AnsiColor::Cyan.on_default();
const ERROR: Style = AnsiColor::Red.on_default().bold();

/// Appends `line` with colours to `out`.
fn colour(line: &str, out: &mut String) {
    if let Some(at) = line.find(MARK).filter(|at| *at > 0) {
        let (before, marked) = line.split_at(at);
        colour(before, out);
        *out += &format!("{ERROR}{marked}{ERROR:#}");
        return;
    }
    let mut rest = line;
    let mut place = Place { is_first: true, ..Place::default() };
    while !rest.is_empty() {
        let gap = rest.find(is_word).unwrap_or(rest.len());
        let (before, behind) = rest.split_at(gap);
        place.pass(before);
        out.push_str(before);
        let (word, behind) = behind.split_at(behind.find(|c| !is_word(c)).unwrap_or(behind.len()));
        let (style, length) = place.style(word, behind);
        let end = before.len() + word.len() + length;
        let styled = &rest[before.len()..end];
        match style {
            Some(style) => *out += &format!("{style}{styled}{style:#}"),
            None => out.push_str(styled),
        }
        rest = &rest[end..];
    }
}

/// Whether `c` is part of a word: a name, a number, or a register of an array.
fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.[]".contains(c)
}

/// What stands before a word in its line.
#[derive(Default)]
struct Place {
    /// Only addresses and spaces stand before it.
    is_first: bool,
    /// Open braces, which hold fields.
    depth: u32,
}

impl Place {
    /// Passes the characters between two words.
    fn pass(&mut self, between: &str) {
        for c in between.chars() {
            match c {
                '{' => self.depth += 1,
                '}' => self.depth = self.depth.saturating_sub(1),
                ' ' => {}
                _ => self.is_first = false,
            }
        }
    }

    /// The style of `word`, and how many bytes of what is `behind` it have that style too.
    fn style(&mut self, word: &str, behind: &str) -> (Option<Style>, usize) {
        let was_first = self.is_first;
        let is_address = was_first && is_address(word, behind);
        self.is_first &= is_address;
        if is_address {
            return (Some(ADDRESS), 0);
        }
        if ERRORS.contains(&word) && (was_first || behind.starts_with(':')) {
            return (Some(ERROR), 0);
        }
        if PARTS.contains(&word) && self.depth == 0 {
            let length = numbers(behind);
            return ((length > 0).then_some(HEADING), length);
        }
        let style = match word {
            _ if is_frame_draw(word) => HEADING,
            _ if word.starts_with("0x") && word.len() >= 6 => ADDRESS,
            _ if self.depth == 0 && is_name(word, behind, was_first) => NAME,
            _ => return (None, 0),
        };
        (Some(style), 0)
    }
}

/// Whether `word`, with which a line begins, is an address or the offset of a register.
fn is_address(word: &str, behind: &str) -> bool {
    let is_hex = word.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
    let before_name = || behind.as_bytes().get(1).is_some_and(u8::is_ascii_uppercase);
    is_hex && (word.len() == 8 && behind.starts_with("  ") || word.len() == 4 && before_name())
}

/// Whether `word` is a frame draw: `f12`.
fn is_frame_draw(word: &str) -> bool {
    let number = word.strip_prefix('f').unwrap_or_default();
    !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// Length of the numbers, places and frame draws at the start of `text`: ` 12 f7` or ` 40,26`.
fn numbers(text: &str) -> usize {
    let mut end = 0;
    loop {
        let rest = text[end..].trim_start_matches(' ');
        let word = &rest[..rest.find(|c| !is_word(c) && c != ',').unwrap_or(rest.len())];
        let word = word.trim_end_matches(',');
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
        if !is_number && !is_frame_draw(word) {
            return end;
        }
        end = text.len() - rest.len() + word.len();
    }
}

/// Whether `word` names what follows: a register or packet, or the first word of a row of a table.
fn is_name(word: &str, behind: &str, is_first: bool) -> bool {
    let is_register = word.contains('_')
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| !byte.is_ascii_lowercase());
    let gets_value = behind.is_empty() || behind.starts_with(" = ") || behind.starts_with(" {");
    is_register && gets_value
        || is_first && behind.starts_with("  ") && word.starts_with(|c: char| c.is_ascii_alphabetic())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The line with the styled parts in brackets: `h` heading, `a` address, `n` name, `e` error.
    fn marked(line: &str) -> String {
        let mut text = Look { coloured: true, ..Look::default() }.lines(line);
        for (style, mark) in [(HEADING, "<h "), (ADDRESS, "<a "), (NAME, "<n "), (ERROR, "<e ")] {
            text = text.replace(&style.to_string(), mark);
        }
        text.replace(&HEADING.render_reset().to_string(), ">")
    }

    #[test]
    fn lines_of_listings_have_colours() {
        let rows = [
            ("submit 0: 342 dwords at fff66000", "<h submit 0>: 342 dwords at fff66000"),
            (
                "fff66090    20f0 RB_BLEND_RED = 00000000 { UINT = 0 }",
                "<a fff66090>    <a 20f0> <n RB_BLEND_RED> = 00000000 { UINT = 0 }",
            ),
            (
                "  0e8b VFD_FETCH[0].INSTR_0 = 0000060b { FORMAT = VFMT4_32 }",
                "  <a 0e8b> <n VFD_FETCH[0].INSTR_0> = 0000060b { FORMAT = VFMT4_32 }",
            ),
            (
                "fff66108  CP_SET_DRAW_STATE { ADDR = 0 } { B = B_C }",
                "<a fff66108>  <n CP_SET_DRAW_STATE> { ADDR = 0 } { B = B_C }",
            ),
            (
                "  c0: 3dcccccd 3dcccccd 3e4ccccd 3f800000  0.1",
                "  c0: 3dcccccd 3dcccccd 3e4ccccd 3f800000  0.1",
            ),
            ("fff66000  error: no packet", "<a fff66000>  <e error>: no packet"),
            ("fff66000  <== the GPU stood here", "<a fff66000>  <e <== the GPU stood here>"),
            ("f12  12  bypass", "<h f12>  12  bypass"),
            ("  draw 3   f3   gmem  written", "  <h draw 3   f3>   gmem  written"),
            ("viewport  scale 400 at 0xfff66000", "<n viewport>  scale 400 at <a 0xfff66000>"),
            ("pixel 40,26 of f3, draw 7, 8", "<h pixel 40,26> of <h f3>, <h draw 7>, 8"),
            ("draws of 3 frames", "draws of 3 frames"),
        ];
        for (line, expected) in rows {
            assert_eq!(marked(line), expected);
        }
    }

    #[test]
    fn long_lines_are_cut_at_the_width() {
        let shown = |text, width| Look { long: Long::Cut(width), ..Look::default() }.lines(text);
        assert_eq!(shown("0123456789\n01234567890\nabc\n", 10), "0123456789\n012345678…\nabc\n");
        assert_eq!(shown("01234567  90", 10), "01234567…");
        assert_eq!(shown("äöüäöüäöüä\n漢字漢字漢字", 10), "äöüäöüäöüä\n漢字漢字…");
        assert_eq!(shown("a\tbc", 9), "a…");
        assert_eq!(shown("a\tbc", 10), "a\tbc");
    }

    #[test]
    fn long_lines_of_prose_are_wrapped_below_their_text() {
        let look = Look { long: Long::Wrapped(12), ..Look::default() };
        assert_eq!(look.lines("one two three\n"), "one two\nthree\n");
        assert_eq!(look.lines("  one two three\n"), "  one two\n  three\n");
        assert_eq!(look.lines("  see  a bc de f\n\n"), "  see  a bc\n      de f\n\n");
        assert_eq!(look.lines("x\n  half-word register"), "x\n  half-word\n  register");
    }
}
