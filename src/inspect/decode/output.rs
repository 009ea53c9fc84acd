//! The output of decoded text: one buffered writer to stdout or to a pager.

use std::fmt;
use std::io::{self, Write};

use a4emu_gpu::budget::{Budget, Work};
use a4emu_support::terminal::{self, Form};

const BUFFER: usize = 1 << 16;

/// Maximum size of held text, in bytes. A real stream has far less between two draws. If there is more, the
/// oldest text is dropped.
const MOST_HELD: usize = 64 << 20;

/// Whether output is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hold {
    /// Not known yet: the output is held from here on.
    Begin,
    /// The held output is kept.
    Keep,
    /// The held output is dropped.
    Drop,
}

/// The sink of a listing.
///
/// The writer gathers text in its own buffer and not in a [`io::BufWriter`], because formatting into that checks for
/// an error after every piece of a line.
pub struct Output<'a> {
    text: Bytes,
    /// Bytes that were written before those in `text`.
    passed: u64,
    /// How many bytes have been charged to the budget.
    paid: u64,
    /// Start of the held text in `text`.
    held: Option<usize>,
    writer: Box<dyn Write + 'a>,
}

/// A byte buffer that formatting can append to.
struct Bytes(Vec<u8>);

impl fmt::Write for Bytes {
    #[inline]
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.extend_from_slice(text.as_bytes());
        Ok(())
    }
}

impl<'a> Output<'a> {
    /// Makes an output to `writer`.
    pub fn new(writer: Box<dyn Write + 'a>) -> Self {
        Self { text: Bytes(Vec::with_capacity(2 * BUFFER)), passed: 0, paid: 0, held: None, writer }
    }

    /// Makes an output to stdout that is not paged.
    pub fn stdout() -> Self {
        Self::new(Box::new(terminal::lines()))
    }

    /// Makes an output to stdout without escaping.
    pub fn json() -> Self {
        Self::new(Box::new(terminal::bytes()))
    }

    /// Makes an output to stdout; on a terminal, through the user's pager.
    pub fn paged() -> Self {
        Self::new(terminal::stdout(Form::Lines))
    }

    /// Charges `budget` for the text since the last call, kept or not.
    pub fn pay(&mut self, budget: &Budget) {
        let blocks = (self.passed + self.text.0.len() as u64 - self.paid) / 16;
        self.paid += 16 * blocks;
        budget.observe(Work::Text16, blocks);
    }

    /// Drops the text from byte `start` of the buffer on.
    fn truncate(&mut self, start: usize) {
        self.passed += self.text.0.len().saturating_sub(start) as u64;
        self.text.0.truncate(start);
    }

    /// Begins to hold output, or decides about the held output.
    ///
    /// # Errors
    /// The call fails if the reader has closed the pipe or the disk is full.
    pub fn hold(&mut self, hold: Hold) -> io::Result<()> {
        match (hold, self.held.take()) {
            (Hold::Begin, _) => self.held = Some(self.text.0.len()),
            (Hold::Drop, Some(start)) => self.truncate(start),
            (Hold::Keep, _) | (Hold::Drop, None) => {}
        }
        self.drain_if_full()
    }

    /// Writes the buffered output, and waits for the pager when it is dropped.
    ///
    /// # Errors
    /// The call fails if the reader has closed the pipe or the disk is full.
    pub fn finish(mut self) -> io::Result<()> {
        self.flush()
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
