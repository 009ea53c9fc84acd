//! Writes the files of a command: each is written completely or not at all, and never over an input.
//!
//! The bytes go to a temporary file in the target's folder. It gets the target's name when it is complete,
//! and is deleted otherwise. `-` is stdout.

mod inputs;
mod locked;
mod temporary;

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use tempfile::TempDir;

#[cfg(not(unix))]
#[path = "out_file/elsewhere.rs"]
mod system;
#[cfg(unix)]
#[path = "out_file/unix.rs"]
mod system;

use crate::folders::parent;
use crate::terminal;
use a4emu_process::owner::{prefix, tidy};
use inputs::Claim;
pub use inputs::{Inputs, Kept, MAX_KEPT};
pub use locked::Turn;
use system::Mode;
use temporary::Temporary;

/// Size of a write, in bytes.
const CHUNK: usize = 1 << 16;

/// Refuses two outputs on stdout if at least one of them was chosen with `-`, since they would mix.
///
/// `outputs` are the given options with the file that each names. An option without a file writes to stdout.
///
/// # Errors
/// The call fails if two outputs go to stdout.
pub fn one_stdout(outputs: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let dash = |path: &Option<&Path>| *path == Some(Path::new("-"));
    let claims: Vec<_> = outputs.iter().filter(|(_, path)| path.is_none() || dash(path)).collect();
    match (&claims[..], claims.iter().any(|(_, path)| dash(path))) {
        ([(first, _), (second, _), ..], true) => bail!("{first} and {second} cannot both write to stdout"),
        _ => Ok(()),
    }
}

/// A file that is being written. It appears at its path at [`OutFile::finish`].
pub struct OutFile {
    path: PathBuf,
    to: To,
}

enum To {
    Stdout(BufWriter<terminal::Bytes>),
    /// A device, a pipe or an open file of this process: it is written directly.
    Stream(BufWriter<File>),
    File {
        temporary: BufWriter<Temporary>,
        target: PathBuf,
        claim: Claim,
    },
}

impl OutFile {
    /// Begins the file at `path`, which must not be one of `inputs`; `-` is stdout.
    ///
    /// # Errors
    /// The call fails if the target is an input or cannot be written.
    pub fn create(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        let to = match path == Path::new("-") {
            true => To::Stdout(BufWriter::with_capacity(CHUNK, terminal::bytes())),
            false => begin(path, inputs).with_context(|| format!("cannot write {}", path.display()))?,
        };
        Ok(Self { path: path.to_owned(), to })
    }

    /// The path of the file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Completes the file: it replaces the old file at its path.
    ///
    /// # Errors
    /// The call fails on I/O errors; the old file then stays.
    pub fn finish(self) -> anyhow::Result<()> {
        self.to.finish().with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Write for OutFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.to {
            To::Stdout(out) => out.write(bytes),
            To::Stream(out) => out.write(bytes),
            To::File { temporary, .. } => temporary.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.to {
            To::Stdout(out) => out.flush(),
            To::Stream(out) => out.flush(),
            To::File { temporary, .. } => temporary.flush(),
        }
    }
}

impl To {
    fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::Stdout(mut out) => Ok(out.flush()?),
            Self::Stream(mut out) => Ok(out.flush()?),
            Self::File { temporary, target, claim } => {
                let temporary = temporary.into_inner().map_err(io::IntoInnerError::into_error)?;
                // The target may have become an input since this file was begun.
                claim.inputs().refuse(&target)?;
                temporary.persist(&target)?;
                claim.keep();
                Ok(())
            }
        }
    }
}

/// Writes `bytes` as the file at `path`.
///
/// # Errors
/// The call fails if the target is an input or cannot be written.
pub fn write(path: &Path, bytes: &[u8], inputs: &Inputs) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, inputs)?;
    out.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}

fn begin(path: &Path, inputs: &Inputs) -> anyhow::Result<To> {
    let Some(old) = existing(path)? else { return temporary_for(path.to_owned(), None, inputs) };
    inputs.refuse(path)?;
    // Open it as a plain write does, but do not truncate it: a file without write permission is not
    // replaced.
    let opened = OpenOptions::new().append(true).open(path)?;
    if !old.is_file() || is_descriptor(path) {
        return Ok(To::Stream(BufWriter::with_capacity(CHUNK, opened)));
    }
    // A link stays a link: the file that it points to is replaced.
    temporary_for(fs::canonicalize(path)?, Some(Mode::of(&old)), inputs)
}

/// Checks, before the work begins, whether a file can be written at `path`; `-` is stdout.
///
/// # Errors
/// The call fails if `path` is one of `inputs` or cannot be written.
pub fn may_write(path: &Path, inputs: &Inputs) -> anyhow::Result<()> {
    let asked = || match existing(path)? {
        Some(old) if old.is_file() || old.is_dir() => {
            inputs.refuse(path)?;
            Ok(OpenOptions::new().append(true).open(path).map(drop)?)
        }
        Some(_) => Ok(()),
        None => anyhow::Ok(Temporary::new_in(parent(path)).map(drop)?),
    };
    let asked = if path == Path::new("-") { Ok(()) } else { asked() };
    asked.with_context(|| format!("cannot write {}", path.display()))
}

/// The metadata of the file at `path`, links followed. A link to nothing is refused.
fn existing(path: &Path) -> anyhow::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(link) if link.is_symlink() => bail!("it is a symbolic link to nothing"),
            // Another process has written the file between the two calls.
            Ok(now) => Ok(Some(now)),
            Err(_) => Ok(None),
        },
        Err(error) => Err(error.into()),
    }
}

/// Whether `path` names an open file of this process, such as `/dev/stdout`. A new file in its place would
/// not be visible to the program that opened it.
fn is_descriptor(path: &Path) -> bool {
    ["/dev/stdout", "/dev/stderr", "/dev/fd", "/proc"].iter().any(|prefix| path.starts_with(prefix))
}

fn temporary_for(target: PathBuf, mode: Option<Mode>, inputs: &Inputs) -> anyhow::Result<To> {
    let folder = parent(&target);
    let temporary = Temporary::new_in(folder)?;
    let place = fs::canonicalize(folder)?;
    if (temporary.has_name() || mode.is_some()) && inputs.is_first_in(&place) {
        tidy(folder);
    }
    let claim = inputs.claim(target.file_name().map_or_else(|| place.clone(), |name| place.join(name)))?;
    if let Some(mode) = mode {
        mode.give(temporary.as_file())?;
    }
    let temporary = BufWriter::with_capacity(CHUNK, temporary);
    Ok(To::File { temporary, target, claim })
}

/// Makes a temporary folder in `place`, which its owner deletes. Folders of killed processes are deleted
/// first.
///
/// # Errors
/// The call fails if the folder cannot be made.
pub fn folder_in(place: &Path) -> io::Result<TempDir> {
    tidy(place);
    tempfile::Builder::new().prefix(&prefix()).tempdir_in(place)
}

/// Makes the folder at `path` and its parents, unless it exists, and checks that files can be made in it.
///
/// # Errors
/// The call fails if no file can be made in it.
pub fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
    Temporary::new_in(path).map(drop).with_context(|| format!("cannot write into {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Two processes of a run may write one picture at the same time: both succeed, and one picture stays.
    #[test]
    fn two_write_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> = (0..2000).map(|name| folder.path().join(name.to_string())).collect();
        let together = Barrier::new(2);
        let refused = || {
            let refusal = |path: &PathBuf| {
                together.wait();
                write(path, b"the same", &Inputs::default()).err()
            };
            paths.iter().filter_map(refusal).map(|error| format!("{error:#}")).collect::<Vec<_>>()
        };
        let all = std::thread::scope(|scope| {
            let other = scope.spawn(refused);
            [refused(), other.join().unwrap()].concat()
        });
        assert_eq!(all, [""; 0]);
        assert!(paths.iter().all(|path| fs::read(path).unwrap() == b"the same"));
    }
}
