//! Reads the lines of a dump: short ones as text, contents as bytes, in pieces.

use std::io::{self, BufRead, Read};

use super::lines::word;

/// Most bytes of a line that is read as text.
const MAX_LINE: usize = 1 << 16;

/// After so many bytes of a line that is passed over, the reader shows progress.
const PASSED: u64 = 1 << 20;

/// Characters of a word of ascii85 that is not zero.
const WORD: usize = 5;

/// What was read.
pub(super) enum Piece {
    /// A line without its end.
    Line(String),
    /// A part of a line that is passed over, or of contents.
    Passed,
    /// The beginning of a line that is longer than any key and value. The rest is passed over.
    TooLong,
    /// A line of ascii85 as bytes, and what is wrong with it from there on.
    Contents { bytes: Vec<u8>, bad: Option<String> },
    /// There are no more lines.
    End,
}

/// How the next bytes are read.
#[derive(Default)]
enum Next {
    #[default]
    Text,
    /// As ascii85, behind the words so far of the line.
    Contents(Words),
    /// Passed over to its end.
    Skip,
}

/// The reader of lines.
#[derive(Default)]
pub(super) struct Reader {
    /// Bytes that were read before.
    begun: Vec<u8>,
    next: Next,
    /// Number of the line that was read last, from 1.
    line: u64,
    bytes: u64,
}

impl Reader {
    /// A reader whose first bytes, `begun`, were read already.
    pub(super) fn behind(begun: &[u8]) -> Self {
        let ends = begun.iter().filter(|byte| **byte == b'\n').count();
        let last = begun.rsplit(|byte| *byte == b'\n').next().unwrap_or_default();
        Self { begun: last.to_vec(), next: Next::Text, line: ends as u64, bytes: begun.len() as u64 }
    }

    /// Number of the line that was read last, from 1.
    pub(super) fn line(&self) -> u64 {
        self.line
    }

    /// Number of bytes read.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Reads the next line as ascii85 of at most `limit` bytes.
    pub(super) fn expect_contents(&mut self, limit: usize) {
        self.line += 1;
        self.next = Next::Contents(Words { limit, ..Words::default() });
    }

    /// Passes over the next line.
    pub(super) fn expect_nothing(&mut self) {
        self.line += 1;
        self.next = Next::Skip;
    }

    /// Reads the next piece.
    pub(super) fn next(&mut self, source: &mut dyn BufRead) -> io::Result<Piece> {
        match std::mem::take(&mut self.next) {
            Next::Text => self.text(source),
            Next::Contents(words) => self.contents(source, words),
            Next::Skip => self.skip(source),
        }
    }

    fn text(&mut self, source: &mut dyn BufRead) -> io::Result<Piece> {
        let mut line = std::mem::take(&mut self.begun);
        let before = line.len();
        source.take((MAX_LINE - before) as u64).read_until(b'\n', &mut line)?;
        self.bytes += (line.len() - before) as u64;
        if line.is_empty() {
            return Ok(Piece::End);
        }
        self.line += 1;
        match line.pop_if(|last| *last == b'\n') {
            None if line.len() == MAX_LINE => {
                self.next = Next::Skip;
                Ok(Piece::TooLong)
            }
            _ => Ok(Piece::Line(String::from_utf8_lossy(&line).trim_end_matches('\r').to_owned())),
        }
    }

    /// Passes over the line to its end, or over a megabyte of it.
    fn skip(&mut self, source: &mut dyn BufRead) -> io::Result<Piece> {
        let start = self.bytes;
        while self.bytes - start < PASSED {
            let most = (PASSED - (self.bytes - start)) as usize;
            let (consumed, is_end) = match source.fill_buf() {
                Ok([]) => return Ok(Piece::End),
                Ok(buffer) => end_of_line(&buffer[..buffer.len().min(most)]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.take(source, consumed);
            if is_end {
                return self.text(source);
            }
        }
        self.next = Next::Skip;
        Ok(Piece::Passed)
    }

    fn take(&mut self, source: &mut dyn BufRead, bytes: usize) {
        source.consume(bytes);
        self.bytes += bytes as u64;
    }

    /// Reads a line of ascii85 to its end, or a megabyte of it.
    fn contents(&mut self, source: &mut dyn BufRead, mut words: Words) -> io::Result<Piece> {
        let start = self.bytes;
        while self.bytes - start < PASSED {
            let most = (PASSED - (self.bytes - start)) as usize;
            let (consumed, is_end, fits) = match source.fill_buf() {
                Ok([]) => return Ok(words.end()),
                Ok(buffer) => {
                    let (length, is_end) = end_of_line(&buffer[..buffer.len().min(most)]);
                    let (used, fits) = words.add(&buffer[..length]);
                    (used, is_end, fits)
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            self.take(source, consumed);
            if let Err(bad) = fits {
                self.next = Next::Skip;
                return Ok(Piece::Contents { bytes: words.bytes, bad: Some(bad) });
            }
            if is_end {
                return Ok(words.end());
            }
        }
        self.next = Next::Contents(words);
        Ok(Piece::Passed)
    }
}

/// Bytes of `buffer` up to the end of the line, with it, and whether it is there.
fn end_of_line(buffer: &[u8]) -> (usize, bool) {
    match buffer.iter().position(|byte| *byte == b'\n') {
        Some(end) => (end + 1, true),
        None => (buffer.len(), false),
    }
}

/// Words of ascii85 that arrive in pieces. White space stands only before and behind all of them.
#[derive(Default)]
struct Words {
    bytes: Vec<u8>,
    /// The characters of a word whose end has not arrived, and their number.
    begun: ([u8; WORD], usize),
    /// Whether there was white space behind a word.
    is_over: bool,
    /// Most bytes.
    limit: usize,
}

impl Words {
    /// Adds the words of `text`. Returns the number of bytes used, and what is wrong with the last of them.
    fn add(&mut self, text: &[u8]) -> (usize, Result<(), String>) {
        for (at, letter) in text.iter().enumerate() {
            if let Err(bad) = self.letter(*letter) {
                return (at + 1, Err(bad));
            }
        }
        (text.len(), Ok(()))
    }

    fn letter(&mut self, letter: u8) -> Result<(), String> {
        let (begun, length) = &mut self.begun;
        if letter.is_ascii_whitespace() {
            self.is_over |= *length > 0 || !self.bytes.is_empty();
            return Ok(());
        }
        if self.is_over {
            return Err("white space stands inside the contents".to_owned());
        }
        begun[*length] = letter;
        *length += 1;
        if *length < WORD && begun[..*length] != *b"z" {
            return Ok(());
        }
        let text = &begun[..std::mem::take(length)];
        let Ok((_, word)) = word(text) else {
            let text = String::from_utf8_lossy(text).into_owned();
            return Err(format!("`{}` is no word of ascii85", excerpt(&text)));
        };
        if self.bytes.len() + 4 > self.limit {
            return Err("it has more contents than its size".to_owned());
        }
        self.bytes.extend_from_slice(&word.to_le_bytes());
        Ok(())
    }

    /// The contents, at the end of their line.
    fn end(self) -> Piece {
        let bad = (self.begun.1 > 0).then(|| "the contents end inside a word".to_owned());
        Piece::Contents { bytes: self.bytes, bad }
    }
}

/// The beginning of a text, for a message.
pub(super) fn excerpt(text: &str) -> String {
    const LENGTH: usize = 40;
    text.chars().take(LENGTH).collect()
}

#[cfg(test)]
mod tests {
    use std::io::BufReader;

    use super::*;

    /// The bytes and the error of a line, read in pieces of `piece` bytes.
    fn contents(line: &str, limit: usize, piece: usize) -> (Vec<u8>, Option<String>) {
        let mut source = BufReader::with_capacity(piece, line.as_bytes());
        let mut reader = Reader::default();
        reader.expect_contents(limit);
        match reader.next(&mut source) {
            Ok(Piece::Contents { bytes, bad }) => (bytes, bad),
            _ => panic!("no contents"),
        }
    }

    #[test]
    fn contents_are_the_same_in_pieces_of_any_size() {
        for piece in 1..20 {
            let (bytes, bad) = contents("     z!!!!\"zs8W-!!!!!!\n", 100, piece);
            assert_eq!((bytes.len(), bad), (20, None), "{piece}");
            assert_eq!(bytes[4..16], [1, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0xff, 0xff]);
            let bad = |line| contents(line, 8, piece).1.unwrap_or_default();
            assert!(bad("z!!!v!\n").contains("no word"), "{piece}");
            assert!(bad("z!!!\n").contains("inside a word"));
            assert!(bad("zzz\n").contains("more contents"));
            for inside in ["z z\n", "z!! !!!\n", "z  \tz\n"] {
                assert!(bad(inside).contains("white space"), "{piece}: {inside}");
            }
            assert_eq!(bad(" \t zz \t \r\n"), "");
        }
    }

    /// White space and words without end are pieces of a megabyte.
    #[test]
    fn long_contents_are_read_in_pieces() {
        for letter in ["z", " "] {
            let text = format!("{}\n", letter.repeat(5 << 19));
            let mut source = BufReader::with_capacity(4093, text.as_bytes());
            let mut reader = Reader::default();
            reader.expect_contents(1 << 30);
            let mut ends = Vec::new();
            while !matches!(reader.next(&mut source), Ok(Piece::Contents { bad: None, .. })) {
                ends.push(reader.bytes());
            }
            assert_eq!((ends, reader.bytes()), (vec![1 << 20, 2 << 20], text.len() as u64));
        }
    }

    #[test]
    fn long_lines_are_passed_over_in_pieces() {
        let text = format!("{}\nkey: value\n", "x".repeat(3 << 20));
        let mut source = BufReader::with_capacity(4096, text.as_bytes());
        let mut reader = Reader::default();
        let mut pieces = Vec::new();
        loop {
            match reader.next(&mut source).expect("memory can be read") {
                Piece::End => break,
                Piece::TooLong => pieces.push("long".to_owned()),
                Piece::Passed => pieces.push("passed".to_owned()),
                Piece::Line(line) => pieces.push(format!("{}: {line}", reader.line())),
                Piece::Contents { .. } => panic!("none was expected"),
            }
        }
        assert_eq!(pieces, ["long", "passed", "passed", "2: key: value"]);
        assert_eq!(reader.bytes(), text.len() as u64);
    }
}
