//! Where decoded text goes: one buffered writer to stdout or to a pager, with colour if wanted.

use std::fmt;
use std::io::{self, IsTerminal, Write};
use std::process::{Child, Command, Stdio};

use anstyle::{AnsiColor, Style};

use crate::options::When;
use crate::terminal::{self, Colours};
use a4emu_gpu::budget::{Budget, Work};

const BUFFER: usize = 1 << 16;

/// Bytes that are held at most until it is known whether they are shown. Between two draws of
/// a real stream there is far less; of more, what came first is dropped.
const MOST_HELD: usize = 64 << 20;

/// Whether what is put out is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// It is not known yet.
    Begin,
    /// What has been put out since then is kept.
    Keep,
    /// It is not.
    Drop,
}

/// What a pager gets if the user has not set any: quit if it fits, keep colours, leave the screen.
const LESS: &str = "FRX";

/// The styles of a listing; all plain when colour is off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Palette {
    /// Submits and draws.
    pub heading: Style,
    /// Addresses and offsets.
    pub address: Style,
    /// Registers and packets.
    pub name: Style,
    /// Damage.
    pub error: Style,
}

impl Palette {
    /// Colours for stdout under `--color when`.
    pub fn new(when: When) -> Self {
        let choice = match when {
            When::Always => true,
            When::Never => false,
            When::Auto => anstream::AutoStream::choice(&io::stdout()) != anstream::ColorChoice::Never,
        };
        if choice { Self::coloured() } else { Self::default() }
    }

    /// Whether a listing with it has colours.
    pub fn colours(&self) -> Colours {
        if self.name == Style::new() { Colours::Escaped } else { Colours::Kept }
    }

    fn coloured() -> Self {
        Self {
            heading: AnsiColor::Yellow.on_default().bold(),
            address: AnsiColor::BrightBlack.on_default(),
            name: AnsiColor::Cyan.on_default(),
            error: AnsiColor::Red.on_default().bold(),
        }
    }
}

/// The sink of a listing; the pager, if any, is waited for at the end.
///
/// Text is gathered here rather than in a [`io::BufWriter`], because formatting
/// into one asks after an error for every piece of a line.
pub struct Output<'a> {
    text: Bytes,
    /// Bytes that were made before those in `text`.
    passed: u64,
    /// Of the bytes that were made, how many have been paid.
    paid: u64,
    /// Where the text begins of which it is not known whether it is kept.
    held: Option<usize>,
    writer: Box<dyn Write + 'a>,
    pager: Option<Child>,
}

/// Bytes that formatting can append to.
struct Bytes(Vec<u8>);

impl fmt::Write for Bytes {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl<'a> Output<'a> {
    /// Into `writer`.
    pub fn new(writer: Box<dyn Write + 'a>) -> Self {
        Self {
            text: Bytes(Vec::with_capacity(2 * BUFFER)),
            passed: 0,
            paid: 0,
            held: None,
            writer,
            pager: None,
        }
    }

    /// To stdout.
    pub fn stdout(colours: Colours) -> Self {
        Self::new(Box::new(terminal::text().with(colours)))
    }

    /// To stdout, as it is.
    pub fn json() -> Self {
        Self::new(Box::new(terminal::bytes()))
    }

    /// To stdout; on a terminal through the user's pager.
    pub fn paged(colours: Colours) -> Self {
        match io::stdout().is_terminal().then(spawn_pager).flatten() {
            None => Self::stdout(colours),
            Some((pager, stdin)) => {
                let stdin = Box::new(terminal::Text::new(stdin).with(colours));
                Self { pager: Some(pager), ..Self::new(stdin) }
            }
        }
    }

    /// Charges `budget` for the text that was made since the last time, kept or not.
    pub fn pay(&mut self, budget: &Budget) {
        let blocks = (self.passed + self.text.0.len() as u64 - self.paid) / 16;
        self.paid += 16 * blocks;
        budget.observe(Work::Text16, blocks);
    }

    /// Leaves all text out from byte `start` of the buffer on.
    fn truncate(&mut self, start: usize) {
        self.passed += self.text.0.len().saturating_sub(start) as u64;
        self.text.0.truncate(start);
    }

    /// Holds what comes, or decides on what has been held.
    ///
    /// # Errors
    /// When the reader is gone or the disk is full.
    pub fn hold(&mut self, hold: Hold) -> io::Result<()> {
        match (hold, self.held.take()) {
            (Hold::Begin, _) => self.held = Some(self.text.0.len()),
            (Hold::Drop, Some(start)) => self.truncate(start),
            (Hold::Keep, _) | (Hold::Drop, None) => {}
        }
        self.drain_if_full()
    }

    /// Puts out what is buffered and waits for the pager.
    ///
    /// # Errors
    /// When the reader is gone or the disk is full.
    pub fn finish(mut self) -> io::Result<()> {
        let flushed = self.flush();
        let Self { writer, pager, .. } = self;
        drop(writer);
        if let Some(mut pager) = pager {
            pager.wait()?;
        }
        flushed
    }

    fn drain(&mut self) -> io::Result<()> {
        self.writer.write_all(&self.text.0)?;
        self.truncate(0);
        Ok(())
    }

    #[inline]
    fn drain_if_full(&mut self) -> io::Result<()> {
        match self.held {
            _ if self.text.0.len() < BUFFER => Ok(()),
            None => self.drain(),
            Some(start) => {
                if self.text.0.len() > MOST_HELD {
                    self.truncate(start);
                }
                Ok(())
            }
        }
    }
}

impl Write for Output<'_> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.write_all(bytes).map(|()| bytes.len())
    }

    #[inline]
    fn write_all(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.text.0.extend_from_slice(bytes);
        self.drain_if_full()
    }

    #[inline]
    fn write_fmt(&mut self, text: fmt::Arguments<'_>) -> io::Result<()> {
        fmt::Write::write_fmt(&mut self.text, text).map_err(io::Error::other)?;
        self.drain_if_full()
    }

    fn flush(&mut self) -> io::Result<()> {
        self.drain()?;
        self.writer.flush()
    }
}

/// `$PAGER`, or `less`; none if it is empty, is `cat`, or cannot be started.
fn spawn_pager() -> Option<(Child, Box<dyn Write>)> {
    let command = std::env::var("PAGER").unwrap_or_else(|_| "less".into());
    let mut words = command.split_whitespace();
    let program = words.next().filter(|program| *program != "cat")?;
    let mut pager = Command::new(program);
    pager.args(words).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        pager.env("LESS", LESS);
    }
    let mut child = pager.spawn().ok()?;
    let stdin = child.stdin.take()?;
    Some((child, Box::new(stdin)))
}
