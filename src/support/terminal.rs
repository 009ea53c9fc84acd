//! All output to stdout and stderr goes through this module.
//!
//! Text from inputs may hold control characters, which a terminal obeys. They are printed escaped
//! ([`Shown`]). A full or closed stdout is an error with the exit status of wrong use. What is said on stderr goes
//! through [`a4emu_process::stderr`], which the device uses too.

use std::io::{self, BufWriter, IsTerminal, Write};
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};

use a4emu_process::stderr::put_bytes;
pub use a4emu_process::stderr::{has_lost_text, say, say_coloured, say_lines, say_plainly};
use a4emu_process::text::{Colours, escaped};
pub use a4emu_process::text::{Shown, is_harmless, is_plain};
pub use look::{Long, Look};

use crate::status::Status;

mod look;

/// Whether output on stdout has begun, and stdout is a terminal.
static SHOWS_LISTING: AtomicBool = AtomicBool::new(false);

/// Whether the terminal shows output of the command. A progress bar would then disturb it.
pub fn shows_listing() -> bool {
    SHOWS_LISTING.load(Ordering::Relaxed)
}

/// Size of a write, in bytes.
const CHUNK: usize = 1 << 16;

/// Whether stdout was closed when the process began. This runs before `main`: the standard library then
/// opens /dev/null in its place, and all output would be lost without an error.
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

/// A message of several lines that may hold colours, and its status. The parts that come from inputs are
/// escaped already.
#[derive(Debug, thiserror::Error)]
#[error("{text}")]
pub struct Block {
    /// The exit status of the process.
    pub status: Status,
    /// The text of the message.
    pub text: String,
}

/// Prints a message on stderr that may hold colours.
pub fn say_block(block: &Block) {
    say_coloured(&format!("a4emu: {}\n", block.text));
}

/// Stderr for lines of text. Characters that are not plain are escaped.
pub fn stderr() -> Text<impl Write> {
    Text::new(Unfailing(io::stderr()))
}

/// A writer that drops errors.
struct Unfailing<W>(W);

impl<W: Write> Write for Unfailing<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        put_bytes(&mut self.0, bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Columns of the terminal that stdout is. `None` if stdout is no terminal.
pub fn columns() -> Option<usize> {
    match Look::of_stdout().long {
        Long::Cut(columns) | Long::Wrapped(columns) => Some(columns),
        Long::Whole => None,
    }
}

/// Stdout for unchanged bytes: pictures, captures, JSON.
pub fn bytes() -> Bytes {
    SHOWS_LISTING.fetch_or(io::stdout().is_terminal(), Ordering::Relaxed);
    Bytes(io::stdout())
}

/// Stdout for lines of text. Characters that are not plain are escaped.
pub fn text() -> Text<Bytes> {
    Text::new(bytes())
}

/// Stdout for the lines of a listing that is not paged. On a terminal, lines have colours and are cut at its
/// width.
pub fn lines() -> Text<Bytes> {
    text().with(Look::of_stdout())
}

/// The form of a command's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Lines of a listing. On a terminal, longer ones are cut.
    Lines,
    /// Lines of text. On a terminal, longer ones are wrapped.
    Prose,
    /// JSON, which escapes characters in its own way.
    Json,
}

impl Form {
    /// How lines look on the terminal, or in a pager.
    fn look(self, is_paged: bool) -> Look {
        let look = Look::of_stdout();
        let long = match (self, look.long) {
            (Self::Prose, Long::Cut(width)) => Long::Wrapped(width),
            // A pager shows long lines in its own way.
            _ if is_paged => Long::Whole,
            (_, long) => long,
        };
        Look { long, ..look }
    }
}

/// Value of `LESS` if the user has not set it: quit if the text fits, keep colours, do not wrap long lines
/// (arrow keys show the rest), leave the screen.
const LESS: &str = "FRSX";

/// The pager of the user, which shows what is written. It ends when the writer is dropped, which waits for it.
pub struct Pager {
    child: Child,
    /// `None` once the writer is dropped.
    stdin: Option<ChildStdin>,
}

impl Pager {
    /// Starts `$PAGER`, or `less`, if stdout is a terminal. `None` if the pager is empty, is `cat`, or cannot be
    /// started.
    pub fn start() -> Option<Self> {
        if !io::stdout().is_terminal() {
            return None;
        }
        let command = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
        SHOWS_LISTING.store(true, Ordering::Relaxed);
        let mut words = command.split_whitespace();
        let program = words.next().filter(|program| *program != "cat")?;
        let mut pager = Command::new(program);
        pager.args(words).stdin(Stdio::piped());
        if std::env::var_os("LESS").is_none() {
            pager.env("LESS", LESS);
        }
        let mut child = pager.spawn().ok()?;
        let stdin = child.stdin.take();
        Some(Self { child, stdin })
    }
}

impl Write for Pager {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.stdin.as_mut().map_or(Ok(bytes.len()), |stdin| stdin.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.stdin.as_mut().map_or(Ok(()), Write::flush)
    }
}

impl Drop for Pager {
    fn drop(&mut self) {
        drop(self.stdin.take());
        // A pager that fails has said so itself.
        let _status = self.child.wait();
    }
}

/// Stdout for `form`. On a terminal, lines have colours and go through the user's pager. The caller has to
/// flush it: only the flush reports that all output was written.
pub fn stdout(form: Form) -> Box<dyn Write> {
    match form {
        Form::Lines | Form::Prose => match Pager::start() {
            Some(pager) => Box::new(Text::new(pager).with(form.look(true))),
            None => Box::new(text().with(form.look(false))),
        },
        Form::Json => Box::new(BufWriter::with_capacity(CHUNK, bytes())),
    }
}

/// Stdout without escaping. See [`bytes`].
pub struct Bytes(io::Stdout);

impl Write for Bytes {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        open()?;
        self.0.write(bytes).map_err(named)
    }

    fn flush(&mut self) -> io::Result<()> {
        open()?;
        self.0.flush().map_err(named)
    }
}

/// The error with the name of what could not be written. A reader that has gone away is no error of a command.
fn named(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::BrokenPipe | io::ErrorKind::Interrupted | io::ErrorKind::WouldBlock => error,
        kind => io::Error::new(kind, format!("cannot write to stdout: {error}")),
    }
}

fn open() -> io::Result<()> {
    match is_closed() {
        true => Err(io::Error::other("stdout is closed")),
        false => Ok(()),
    }
}

/// A writer of text that escapes characters. See [`text`]. Its output appears at [`flush`](Write::flush) or
/// before.
pub struct Text<W: Write> {
    held: Vec<u8>,
    out: W,
    look: Look,
}

impl<W: Write> Text<W> {
    /// Makes a writer into `out`, which prints lines as they are.
    pub fn new(out: W) -> Self {
        Self { held: Vec::new(), out, look: Look::default() }
    }

    /// Sets how lines look.
    #[must_use]
    pub fn with(self, look: Look) -> Self {
        let mut text = self;
        text.look = look;
        text
    }

    /// Writes the held text up to byte `end`.
    fn drain(&mut self, end: usize) -> io::Result<()> {
        let mut held = std::mem::take(&mut self.held);
        let written = self.put(&held[..end]);
        held.drain(..end);
        self.held = held;
        written
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        if is_harmless(bytes) && self.look.is_plain() {
            return self.out.write_all(bytes);
        }
        let text = escaped(bytes, Colours::Escaped);
        match self.look.is_plain() {
            true => self.out.write_all(text.as_bytes()),
            false => self.out.write_all(self.look.lines(&text).as_bytes()),
        }
    }
}

impl<W: Write> Write for Text<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.held.is_empty() && bytes.len() >= CHUNK && self.look.is_plain() {
            return self.put(bytes).map(|()| bytes.len());
        }
        self.held.extend_from_slice(bytes);
        if self.held.len() >= CHUNK {
            // A line looks as its beginning says: wait for its end. A line without end is cut here.
            let lines = self.held.iter().rposition(|byte| *byte == b'\n').map(|last| last + 1);
            let whole = self.held.len();
            self.drain(if self.look.is_plain() { whole } else { lines.unwrap_or(whole) })?;
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain(self.held.len())?;
        self.out.flush()
    }
}

impl<W: Write> Drop for Text<W> {
    fn drop(&mut self) {
        // `flush` reports errors. Without a flush, the command has failed with another error.
        let _dropped = self.drain(self.held.len());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
