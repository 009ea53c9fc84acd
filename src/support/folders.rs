//! The folders from which files may be read that a source, a scene or a fixture names.
//!
//! A file named on the command line is always opened. A file that an *input* names is different: the input
//! may come from a stranger, and the content of the file shows in pictures, captures and messages. So such a
//! file is opened only inside the folder of the file that names it, and inside the folders of `--include`.
//! Links and `..` are resolved first.

use std::fs::{self, File};
use std::io::{self, BufRead, Read};
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::de::DeserializeOwned;

use crate::out_file::Inputs;
use crate::status::{Failure, Status};
pub use a4emu_process::owner::parent;

/// Folders whose files may be read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Folders(Vec<PathBuf>);

impl Folders {
    /// Makes the set of `folders`. A folder that does not exist is left out.
    pub fn new<P: AsRef<Path>>(folders: impl IntoIterator<Item = P>) -> Self {
        Self(folders.into_iter().filter_map(|folder| fs::canonicalize(folder).ok()).collect())
    }

    /// The folders, in their order.
    pub fn iter(&self) -> impl Iterator<Item = &Path> {
        self.0.iter().map(PathBuf::as_path)
    }

    /// The folder that `file` is in, and `others`.
    pub fn around(file: &Path, others: &[PathBuf]) -> Self {
        Self::new(others.iter().map(PathBuf::as_path).chain([parent(file)]))
    }

    /// Opens the file at `path` to read it, and adds it to `inputs`.
    ///
    /// # Errors
    /// The call fails if `path` is no file, is in none of the folders, or cannot be read.
    pub fn open(&self, path: &Path, inputs: &Inputs) -> anyhow::Result<File> {
        let place = self.place(path)?;
        inputs.open_file(&place).with_context(|| format!("cannot open {}", path.display()))
    }

    /// The real path of the file at `path`, with links and `..` resolved.
    ///
    /// # Errors
    /// The call fails if `path` is no file, or is in none of the folders.
    pub fn place(&self, path: &Path) -> anyhow::Result<PathBuf> {
        let shown = path.display();
        let place = fs::canonicalize(path).with_context(|| format!("cannot open {shown}"))?;
        let inside = self.0.iter().any(|folder| place.starts_with(folder));
        ensure!(inside, "{shown} is outside the folders that may be read (--include DIR adds one)");
        ensure!(place.is_file(), "{shown} is no file");
        Ok(place)
    }

    /// The text of the file at `path`, of at most `limit` bytes.
    ///
    /// # Errors
    /// The call fails like [`Folders::open`], and if the file is larger or not UTF-8.
    pub fn text(&self, path: &Path, limit: u64, inputs: &Inputs) -> anyhow::Result<String> {
        read_text(self.open(path, inputs)?, limit).with_context(|| format!("cannot read {}", path.display()))
    }
}

/// Parses the TOML `text`. An error has the line and column, and is one line long.
///
/// # Errors
/// The call fails if `text` is not TOML or does not fit the type.
pub fn read_toml<T: DeserializeOwned>(text: &str) -> anyhow::Result<T> {
    toml::from_str(text).map_err(|error| {
        let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        let message = error.message().trim().replace('\n', ", ");
        anyhow::anyhow!("line {line}, column {column}: {message}")
    })
}

/// Reads `reader` to its end as text, of at most `limit` bytes.
///
/// # Errors
/// The call fails on I/O errors, if there are more bytes, or if they are not UTF-8.
pub fn read_text(reader: impl Read, limit: u64) -> anyhow::Result<String> {
    String::from_utf8(read_bytes(reader, limit)?).context("it is no text")
}

/// Reads `reader` to its end, of at most `limit` bytes.
///
/// # Errors
/// The call fails on I/O errors, or if there are more bytes.
pub fn read_bytes(reader: impl Read, limit: u64) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    reader.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit {
        let message = format!("it has more than {limit} bytes");
        return Err(Failure { status: Status::Unsupported, message }.into());
    }
    Ok(bytes)
}

/// Most bytes of a line that a user types or a program sends: a command, the values of a thread.
pub const MAX_LINE: u64 = 1 << 16;

/// Reads a line with its end, of at most [`MAX_LINE`] bytes; `None` at the end of `reader`.
///
/// # Errors
/// The call fails on I/O errors, if the line is longer, or if it is not UTF-8.
pub fn read_line(reader: &mut (impl BufRead + ?Sized)) -> io::Result<Option<String>> {
    let mut line = Vec::new();
    reader.take(MAX_LINE + 1).read_until(b'\n', &mut line)?;
    if line.len() as u64 > MAX_LINE {
        let message = format!("a line has more than {MAX_LINE} bytes");
        return Err(io::Error::other(Failure { status: Status::Unsupported, message }));
    }
    let text = String::from_utf8(line).map_err(|_| io::Error::other("a line is no text"))?;
    Ok((!text.is_empty()).then_some(text))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::status::status_of;

    #[test]
    fn a_line_has_a_limit() {
        let long = [&b"one\n\ntwo"[..], &[b'x'; 1 << 16]].concat();
        let mut reader = &long[..];
        for line in ["one\n", "\n"] {
            assert_eq!(read_line(&mut reader).unwrap().as_deref(), Some(line));
        }
        assert_eq!(status_of(&read_line(&mut reader).unwrap_err().into()), Status::Unsupported);
        assert_eq!(read_line(&mut &long[9..]).unwrap().map(|line| line.len()), Some((1 << 16) - 1));
        assert_eq!(read_line(&mut &b""[..]).unwrap(), None);
        assert!(read_line(&mut io::BufReader::new(io::repeat(0))).is_err());
        assert!(read_line(&mut &b"\xff\n"[..]).is_err());
    }

    #[test]
    fn so_many_bytes_are_read_and_no_more() {
        assert_eq!(read_bytes(&b"abc"[..], 3).unwrap(), b"abc");
        let mut endless = io::repeat(b'x').take(1 << 20);
        let failure = read_text(&mut endless, 3).unwrap_err().downcast::<Failure>().unwrap();
        assert_eq!((failure.status, &*failure.message), (Status::Unsupported, "it has more than 3 bytes"));
        assert_eq!(endless.limit(), (1 << 20) - 4, "one more tells that there are more");
    }
}
