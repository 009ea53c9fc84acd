//! The one way to stdout and stderr.
//!
//! Text from inputs may hold control characters, which a terminal obeys: they are put out escaped ([`Shown`]).
//! A stdout that is full or closed is an error, with the exit status of wrong use. Errors of stderr are dropped: they change
//! no exit status.

use std::fmt::{self, Display, Write as _};
use std::io::{self, BufWriter, Write};

use crate::status::Status;

/// Bytes that are put out at once.
const CHUNK: usize = 1 << 16;

/// Whether stdout was closed when the process began. It is asked before `main`: the standard library then opens /dev/null
/// in its place, where all that is written is lost without an error.
#[cfg(target_os = "linux")]
#[ctor::ctor(unsafe)]
static IS_CLOSED: bool = rustix::io::fcntl_getfd(rustix::stdio::stdout()).is_err();

#[cfg(target_os = "linux")]
fn is_closed() -> bool {
    *IS_CLOSED
}

#[cfg(not(target_os = "linux"))]
fn is_closed() -> bool {
    false
}

/// Whether a terminal shows `c` and does nothing else: it is no control character, and none that turns the direction of
/// text or hides.
pub fn is_plain(c: char) -> bool {
    let turns =
        matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    !c.is_control() && !turns && c != '\u{feff}'
}

/// Text that comes from an input, on one line: characters that are not plain are written as Rust writes them.
pub struct Shown<T>(pub T);

impl<T: Display> Display for Shown<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // As a whole, so that widths hold.
        let mut text = String::new();
        write!(Escaping { out: &mut text, keeps: "" }, "{}", self.0)?;
        f.pad(&text)
    }
}

/// Writes what it is given, with all that is not plain escaped, but for the characters of `keeps`.
struct Escaping<'a> {
    out: &'a mut String,
    keeps: &'static str,
}

impl fmt::Write for Escaping<'_> {
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

/// A message of several lines that was made here, colours and all, with what of it comes from inputs escaped; and the
/// status that it stands for.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Block {
    /// What the process exits with.
    pub status: Status,
    /// The message.
    pub text: String,
}

/// Puts one line on stderr.
pub fn say(message: impl Display) {
    put(&format!("a4emu: {}\n", Shown(message)));
}

/// Puts one line on stderr, without our name before it.
pub fn say_plainly(message: impl Display) {
    put(&format!("{}\n", Shown(message)));
}

/// Puts lines on stderr; in each, what is not plain is escaped.
pub fn say_lines(message: impl Display) {
    let text = message.to_string();
    put(&text.split('\n').map(|line| format!("{}\n", Shown(line))).collect::<String>());
}

/// Puts lines on stderr that may hold colours.
pub fn say_coloured(text: &str) {
    put(&escaped(text.as_bytes(), Colours::Kept));
}

/// Puts a message on stderr that may hold colours.
pub fn say_block(block: &Block) {
    say_coloured(&format!("a4emu: {}\n", block.text));
}

/// Writes to stderr. An error is dropped: where stderr is closed or full there is no place to report it.
fn put(text: &str) {
    let _dropped = io::stderr().write_all(text.as_bytes());
}

/// Stderr for lines of text, in which all that is not plain is escaped.
pub fn stderr() -> Text<impl Write> {
    Text::new(Unfailing(io::stderr()))
}

/// A writer that drops errors.
struct Unfailing<W>(W);

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let _dropped = self.0.write_all(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Stdout for bytes that are put out as they are: pictures, captures, JSON.
pub fn bytes() -> Bytes {
    Bytes(io::stdout())
}

/// Stdout for lines of text, in which all that is not plain is escaped.
pub fn text() -> Text<Bytes> {
    Text::new(bytes())
}

/// What a command puts out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines for people.
    Lines,
    /// JSON, which has its own way to write what is not plain.
    Json,
}

impl Form {
    /// JSON if `json` was asked for.
    pub fn of(json: bool) -> Self {
        if json { Self::Json } else { Self::Lines }
    }
}

/// Stdout for `form`. It has to be flushed: only that tells that all of it was put out.
pub fn stdout(form: Form) -> Box<dyn Write> {
    match form {
        Form::Lines => Box::new(text()),
        Form::Json => Box::new(BufWriter::with_capacity(CHUNK, bytes())),
    }
}

/// See [`bytes`].
pub struct Bytes(io::Stdout);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        open()?;
        self.0.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        open()?;
        self.0.flush()
    }
}

fn open() -> io::Result<()> {
    match is_closed() {
        true => Err(io::Error::other("stdout is closed")),
        false => Ok(()),
    }
}

/// See [`text`]. What is written comes out at [`flush`](Write::flush), or before.
pub struct Text<W: Write> {
    held: Vec<u8>,
    out: W,
    colours: Colours,
}

/// Whether the sequences that colour text are put out as they are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Colours {
    /// They are: what comes from inputs is [`Shown`] before it gets here.
    Kept,
    /// They are escaped as all else.
    Escaped,
}

impl<W: Write> Text<W> {
    /// Into `out`.
    pub fn new(out: W) -> Self {
        Self { held: Vec::new(), out, colours: Colours::Escaped }
    }

    /// The same with colours.
    #[must_use]
    pub fn with(self, colours: Colours) -> Self {
        let mut text = self;
        text.colours = colours;
        text
    }

    fn drain(&mut self) -> io::Result<()> {
        let held = std::mem::take(&mut self.held);
        let written = self.put(&held);
        self.held = held;
        self.held.clear();
        written
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        match is_harmless(bytes) {
            true => self.out.write_all(bytes),
            false => self.out.write_all(escaped(bytes, self.colours).as_bytes()),
        }
    }
}

impl<W: Write> Write for Text<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.is_empty() && bytes.len() >= CHUNK {
            return self.put(bytes).map(|()| bytes.len());
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK {
            self.drain()?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Text<W> {
    fn drop(&mut self) {
        // `flush` reports errors; without it, the command has failed with another one.
        let _dropped = self.drain();
    }
}

/// Whether `bytes` are ASCII without control characters, but for line ends and tabs.
pub fn is_harmless(bytes: &[u8]) -> bool {
    let harm = |byte: u8| !(byte.wrapping_sub(b' ') < 0x5f || byte == b'\n' || byte == b'\t');
    !bytes.iter().fold(false, |found, byte| found | harm(*byte))
}

/// The text of `bytes` with all escaped that is not plain, but line ends and tabs.
fn escaped(bytes: &[u8], colours: Colours) -> String {
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

/// Bytes of the sequence that `text` begins with, if that does nothing but to colour.
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
    fn lines_stay_lines_and_their_control_characters_do_not() {
        let mut out = Vec::new();
        let mut text = Text::new(&mut out);
        let name = "\x1b]0;x\x07\u{e4}\r";
        write!(text, "a\tb\n{name}\n").unwrap();
        text.write_all(b"\xff\n").unwrap();
        text.flush().unwrap();
        drop(text);
        assert_eq!(String::from_utf8(out).unwrap(), "a\tb\n\\x1b]0;x\\x07\u{e4}\\r\n\\xff\n");
    }

    #[test]
    fn colours_are_kept_where_they_are_ours() {
        let line = b"\x1b[1;33mdraw\x1b[0m \x1b[2J \x1b\n";
        let shown = |colours| escaped(line, colours);
        assert_eq!(shown(Colours::Kept), "\x1b[1;33mdraw\x1b[0m \\x1b[2J \\x1b\n");
        assert_eq!(shown(Colours::Escaped), "\\x1b[1;33mdraw\\x1b[0m \\x1b[2J \\x1b\n");
    }

    #[test]
    fn what_is_harmless_is_all_of_ascii_that_is_seen() {
        let harmless: Vec<u8> = (0..=255).filter(|byte| is_harmless(&[*byte])).collect();
        let seen: Vec<u8> = [b'\t', b'\n'].into_iter().chain(b' '..=b'~').collect();
        assert_eq!(harmless, seen);
    }
}
