//! Every file that a command writes: whole or not at all, and never over what it was made
//! from.
//!
//! What is written goes to a temporary file in the target's folder, which takes the target's name
//! when all of it is there and goes away when it is not. `-` is stdout.

mod inputs;
mod locked;
mod owner;
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
use inputs::Claim;
pub use inputs::{Inputs, Kept, MAX_KEPT};
pub use locked::Turn;
pub use owner::is_alive;
use system::Mode;
use temporary::{Temporary, tidy};

/// Bytes that are written at once.
const CHUNK: usize = 1 << 16;

/// Refuses two outputs on stdout of which one is there because of a `-`: what one puts out is no good with
/// the other in it. `outputs` are the options that were given, with the file that they name; without one they
/// write to stdout.
///
/// # Errors
/// With both options.
pub fn one_stdout(outputs: &[(&str, Option<&Path>)]) -> anyhow::Result<()> {
    let dash = |path: &Option<&Path>| *path == Some(Path::new("-"));
    let claims: Vec<_> = outputs.iter().filter(|(_, path)| path.is_none() || dash(path)).collect();
    match (&claims[..], claims.iter().any(|(_, path)| dash(path))) {
        ([(first, _), (second, _), ..], true) => bail!("{first} and {second} cannot both write to stdout"),
        _ => Ok(()),
    }
}

/// A file that is being written; it appears at [`OutFile::finish`].
pub struct OutFile {
    path: PathBuf,
    to: To,
}

enum To {
    Stdout(BufWriter<terminal::Bytes>),
    /// A device, a pipe, an open file of ours: there is nothing to lose and nothing to rename.
    Stream(BufWriter<File>),
    File {
        temporary: BufWriter<Temporary>,
        target: PathBuf,
        claim: Claim,
    },
}

impl OutFile {
    /// Begins the file at `path`, which must be none of `inputs`; `-` is stdout.
    ///
    /// # Errors
    /// The target is an input, or cannot be written.
    pub fn create(path: &Path, inputs: &Inputs) -> anyhow::Result<Self> {
        let to = match path == Path::new("-") {
            true => To::Stdout(BufWriter::with_capacity(CHUNK, terminal::bytes())),
            false => begin(path, inputs).with_context(|| format!("cannot write {}", path.display()))?,
        };
        Ok(Self { path: path.to_owned(), to })
    }

    /// What it is called.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The file is whole: it takes the place of what was there.
    ///
    /// # Errors
    /// I/O; what was there is then still there.
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
                // It may have been read since this was begun.
                claim.inputs().refuse(&target)?;
                temporary.persist(&target)?;
                claim.keep();
                Ok(())
            }
        }
    }
}

/// Writes all of `bytes` as the file at `path`.
///
/// # Errors
/// The target is an input, or cannot be written.
pub fn write(path: &Path, bytes: &[u8], inputs: &Inputs) -> anyhow::Result<()> {
    let mut out = OutFile::create(path, inputs)?;
    out.write_all(bytes).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}

fn begin(path: &Path, inputs: &Inputs) -> anyhow::Result<To> {
    let Some(old) = existing(path)? else { return temporary_for(path.to_owned(), None, inputs) };
    inputs.refuse(path)?;
    // Opened as a plain write would, but not cut: what may not be written is not replaced either.
    let opened = OpenOptions::new().append(true).open(path)?;
    if !old.is_file() || is_descriptor(path) {
        return Ok(To::Stream(BufWriter::with_capacity(CHUNK, opened)));
    }
    // A link stays a link: the file that it leads to is replaced.
    temporary_for(fs::canonicalize(path)?, Some(Mode::of(&old)), inputs)
}

/// Asks whether a file can be put at `path`, which is better known before the work than after it; `-` is stdout.
///
/// # Errors
/// It is one of `inputs`, or cannot be written.
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

/// What is at `path` now, links followed; a link to nothing is refused.
fn existing(path: &Path) -> anyhow::Result<Option<fs::Metadata>> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(Some(metadata)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => match fs::symlink_metadata(path) {
            Ok(link) if link.is_symlink() => bail!("it is a symbolic link to nothing"),
            // Another process has written it between the two questions.
            Ok(now) => Ok(Some(now)),
            Err(_) => Ok(None),
        },
        Err(error) => Err(error.into()),
    }
}

/// Whether `path` names an open file of this process, such as `/dev/stdout`: whoever opened
/// it would not see another file in its place.
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

/// A folder in `place` that goes away with its owner; what owners have left that were killed goes first.
///
/// # Errors
/// It cannot be made.
pub fn folder_in(place: &Path) -> io::Result<TempDir> {
    tidy(place);
    tempfile::Builder::new().prefix(&owner::prefix()).tempdir_in(place)
}

/// Makes the folder at `path` with all above it, unless it is there, and asks whether files can be made in it.
///
/// # Errors
/// They cannot.
pub fn make_folder(path: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(path).with_context(|| format!("cannot create {}", path.display()))?;
    Temporary::new_in(path).map(drop).with_context(|| format!("cannot write into {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;

    /// Two processes of a run write one picture at the same time: both may, and one of them is what stays.
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
