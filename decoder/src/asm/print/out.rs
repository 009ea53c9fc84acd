//! Text on its way out.

use std::fmt;
use std::io::{self, Write};

/// Bytes of text that are kept back at most.
const CHUNK: usize = 1 << 16;

/// Text that is handed on in pieces, so that a source of any size takes no memory.
pub(super) struct Out<'w> {
    text: String,
    to: &'w mut dyn Write,
    /// Once writing has failed it is not tried again.
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

    /// What is still here goes out.
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
