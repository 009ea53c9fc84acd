//! A line of text on the stack. Formatting an instruction allocates nothing and writes one string.
use super::operand::Reg;
use std::fmt;

/// Size of the buffer, larger than any instruction's text.
const CAPACITY: usize = 192;

/// The text so far. Text beyond the capacity is dropped; no instruction is that long.
pub(super) struct Line {
    bytes: [u8; CAPACITY],
    len: usize,
}

impl Line {
    pub(super) const fn new() -> Self {
        Self { bytes: [0; CAPACITY], len: 0 }
    }

    /// Appends `text`.
    #[inline]
    pub(super) fn put(&mut self, text: &str) {
        let text = text.as_bytes();
        if let Some(room) = self.bytes.get_mut(self.len..self.len + text.len()) {
            room.copy_from_slice(text);
            self.len += text.len();
        }
    }

    /// Appends `text` when the flag is set.
    #[inline]
    pub(super) fn flag(&mut self, set: bool, text: &str) {
        if set {
            self.put(text);
        }
    }

    /// Appends a number in decimal.
    pub(super) fn number(&mut self, value: u32) {
        if value >= 10 {
            self.number(value / 10);
        }
        const DIGITS: &str = "0123456789";
        let digit = (value % 10) as usize;
        self.put(&DIGITS[digit..=digit]);
    }

    /// Appends a number in decimal, with its sign when negative.
    pub(super) fn signed(&mut self, value: i32) {
        self.flag(value < 0, "-");
        self.number(value.unsigned_abs());
    }

    /// Appends `+n` or `-n`, and nothing for 0.
    pub(super) fn offset(&mut self, value: i32) {
        self.flag(value > 0, "+");
        if value != 0 {
            self.signed(value);
        }
    }

    /// Appends `r0.x`, `a0.x` or `p0.x`.
    pub(super) fn reg(&mut self, reg: Reg) {
        match reg.number() {
            61 => self.put("a0"),
            62 => self.put("p0"),
            number => {
                self.put("r");
                self.number(number.into());
            }
        }
        self.component(reg.component());
    }

    /// Appends `.x` to `.w`.
    pub(super) fn component(&mut self, component: u8) {
        self.put([".x", ".y", ".z", ".w"][usize::from(component & 3)]);
    }

    pub(super) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.bytes[..self.len]).unwrap_or_default()
    }
}

impl fmt::Write for Line {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.put(text);
        Ok(())
    }
}

impl Line {
    pub(super) const fn len(&self) -> usize {
        self.len
    }

    /// Removes the text after `len`.
    pub(super) fn truncate(&mut self, len: usize) {
        self.len = self.len.min(len);
    }
}
