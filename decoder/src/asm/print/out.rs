//! Buffered output of text.

use std::fmt;
use std::io::{self, Write};

/// Largest number of bytes that are buffered.
const CHUNK: usize = 1 << 16;

/// Text that is written in pieces, so that a source of any size needs little memory.
pub(super) struct Out<'w> {
    text: String,
    to: &'w mut dyn Write,
    /// The result of writing. After an error, no more is written.
    result: io::Result<()>,
}

impl<'w> Out<'w> {
    pub(super) fn new(to: &'w mut dyn Write) -> Self {
        Self { text: String::new(), to, result: Ok(()) }
    }

    pub(super) fn push(&mut self, c: char) {
        self.push_str(c.encode_utf8(&mut [0; 4]));
    }

    pub(super) fn push_str(&mut self, text: &str) {
        self.text.push_str(text);
        if self.text.len() >= CHUNK {
            self.pass_on();
        }
    }

    fn pass_on(&mut self) {
        if self.result.is_ok() {
            self.result = self.to.write_all(self.text.as_bytes());
        }
        self.text.clear();
    }

    /// Writes the buffered text.
    pub(super) fn finish(mut self) -> io::Result<()> {
        self.pass_on();
        self.result
    }
}

impl fmt::Write for Out<'_> {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.push_str(text);
        Ok(())
    }
}
