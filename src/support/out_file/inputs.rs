//! The register of a command's files: the files it has read, those it is writing, and the pipes it has kept.
//!
//! Each file is opened through the register, and an [`OutFile`](super::OutFile) needs one to begin. So no
//! output replaces an input or another output, whatever name or link points to it.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail, ensure};

use super::system::{self, Identity};
use crate::status::{Failure, Status};

/// Maximum number of bytes of a pipe that are kept to be read again.
pub const MAX_KEPT: u64 = 1 << 30;

/// The files that a command has read, and those that it writes. Clones share one register.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Files that were read.
    read: HashSet<Identity>,
    /// Folders whose files are all inputs.
    folders: Vec<PathBuf>,
    /// Pipes that were read and not kept.
    drained: HashSet<Identity>,
    /// Pipes that were read and kept.
    kept: HashMap<Identity, Kept>,
    /// Paths of outputs.
    written: HashSet<PathBuf>,
    /// Folders that are cleaned of files of dead processes.
    tidy: HashSet<PathBuf>,
}

/// The bytes of a pipe in an unnamed temporary file. Clones share the file.
#[derive(Clone, Debug)]
pub struct Kept(Arc<File>);

/// A reader of kept bytes, from the first on.
#[derive(Debug)]
pub struct KeptReader {
    kept: Kept,
    at: u64,
}

impl Kept {
    /// Keeps the bytes of `input`, at most `limit`.
    ///
    /// # Errors
    /// The call fails if `input` has more bytes or cannot be read, or if there is no room.
    pub fn of(input: impl Read, limit: u64) -> anyhow::Result<Self> {
        let mut file = tempfile::tempfile().context("cannot keep it")?;
        let bytes = io::copy(&mut input.take(limit + 1), &mut file).context("cannot keep it")?;
        if bytes > limit {
            let message =
                format!("it has more than {limit} bytes: too many to keep of what cannot be read twice");
            return Err(Failure { status: Status::Unsupported, message }.into());
        }
        Ok(Self(Arc::new(file)))
    }

    /// A reader from the first byte on.
    pub fn reader(&self) -> KeptReader {
        KeptReader { kept: self.clone(), at: 0 }
    }
}

impl Read for KeptReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let got = system::read_at(&self.kept.0, buffer, self.at)?;
        self.at += got as u64;
        Ok(got)
    }
}

/// A path that is reserved for one output. An output that is dropped unfinished releases it.
pub(super) struct Claim {
    inputs: Inputs,
    /// `None` once the output is written: then no other output may have the path.
    target: Option<PathBuf>,
}

impl Claim {
    /// The register of the path.
    pub(super) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// Keeps the path reserved, since the output is written.
    pub(super) fn keep(mut self) {
        self.target = None;
    }
}

impl Drop for Claim {
    fn drop(&mut self) {
        if let Some(target) = &self.target {
            self.inputs.known().written.remove(target);
        }
    }
}

impl Inputs {
    /// A register with the file at `path` as input; `-` is stdin.
    pub fn of(path: &Path) -> Self {
        let inputs = Self::default();
        inputs.add(path);
        inputs
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the file at `path` as an input, if it exists; `-` is stdin.
    pub fn add(&self, path: &Path) {
        if let Some(metadata) = found(path).filter(Metadata::is_file) {
            self.known().read.extend(system::identity(path, &metadata));
        }
    }

    /// Adds every file in or below `folder` as an input.
    pub fn add_folder(&self, folder: &Path) {
        self.known().folders.extend(fs::canonicalize(folder));
    }

    /// Opens the file at `path` as an input; `-` is stdin.
    ///
    /// # Errors
    /// The call fails if it cannot be opened, or if it is a pipe that this command has already read.
    pub fn open(&self, path: &Path) -> io::Result<Box<dyn Read + Send>> {
        if let Some(kept) = self.kept(path) {
            return Ok(Box::new(kept.reader()));
        }
        match is_stdin(path) {
            true => {
                if let Some(metadata) = system::stdin() {
                    self.note(path, &metadata)?;
                }
                Ok(Box::new(io::stdin()))
            }
            false => Ok(Box::new(self.open_file(path)?)),
        }
    }

    /// Opens the file at `path` as an input.
    ///
    /// # Errors
    /// The call fails if it cannot be opened, or if it is a pipe that this command has already read.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        // Opening a pipe waits for a writer, so a pipe that was read is refused before that.
        if let Some(metadata) = fs::metadata(path).ok().filter(|metadata| !metadata.is_file()) {
            if metadata.is_dir() {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a folder"));
            }
            self.note(path, &metadata)?;
            return File::open(path);
        }
        let file = File::open(path)?;
        self.note(path, &file.metadata()?)?;
        Ok(file)
    }

    /// All bytes of the file at `path`, which becomes an input.
    ///
    /// # Errors
    /// The call fails if it cannot be read.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Records a file that is about to be read.
    fn note(&self, path: &Path, metadata: &Metadata) -> io::Result<()> {
        let Some(identity) = system::identity(path, metadata) else { return Ok(()) };
        let mut known = self.known();
        if metadata.is_file() {
            known.read.insert(identity);
        } else if system::runs_dry(metadata) && !known.drained.insert(identity) {
            return Err(io::Error::other(
                "it is a pipe or a device, which can be read only once, and this command has read it already",
            ));
        }
        Ok(())
    }

    /// The kept bytes of the pipe at `path`, if any.
    fn kept(&self, path: &Path) -> Option<Kept> {
        let identity = found(path).and_then(|metadata| system::identity(path, &metadata));
        identity.and_then(|identity| self.known().kept.get(&identity).cloned())
    }

    /// Keeps the bytes at `path` if they cannot be read twice: stdin, a pipe, a device. Two paths to one
    /// pipe get the same bytes.
    ///
    /// # Errors
    /// The call fails if they cannot be read, were read before, or are more than [`MAX_KEPT`] bytes. A
    /// missing file is only reported when it is opened.
    pub fn keep(&self, path: &Path) -> anyhow::Result<Option<Kept>> {
        let shown = path.display();
        let cannot = || format!("cannot open {shown}");
        let metadata = found(path);
        let once = |metadata: &Metadata| !metadata.is_file() && !metadata.is_dir();
        if !is_stdin(path) && !metadata.as_ref().is_some_and(once) {
            return Ok(None);
        }
        if let Some(kept) = self.kept(path) {
            return Ok(Some(kept));
        }
        let kept = Kept::of(self.open(path).with_context(cannot)?, MAX_KEPT);
        let kept =
            kept.with_context(|| if is_stdin(path) { "stdin".to_owned() } else { shown.to_string() })?;
        let identity = metadata.and_then(|metadata| system::identity(path, &metadata));
        self.known().kept.extend(identity.map(|identity| (identity, kept.clone())));
        Ok(Some(kept))
    }

    /// Refuses `path` as an output if it is an input.
    ///
    /// # Errors
    /// The call fails if `path` is an input.
    pub fn refuse(&self, path: &Path) -> anyhow::Result<()> {
        let Ok(metadata) = fs::metadata(path) else { return Ok(()) };
        if !metadata.is_file() {
            return Ok(());
        }
        let known = self.known();
        let is_read =
            system::identity(path, &metadata).is_some_and(|identity| known.read.contains(&identity));
        let place = fs::canonicalize(path);
        let is_inside = place.is_ok_and(|place| known.folders.iter().any(|folder| place.starts_with(folder)));
        ensure!(!is_read && !is_inside, "it is an input of this command");
        Ok(())
    }

    /// Reserves `target`, a path without links, for an output.
    ///
    /// # Errors
    /// The call fails if another output has it.
    pub(super) fn claim(&self, target: PathBuf) -> anyhow::Result<Claim> {
        if !self.known().written.insert(target.clone()) {
            bail!("it is another output of this command");
        }
        Ok(Claim { inputs: self.clone(), target: Some(target) })
    }

    /// Whether this is the first call for `folder`.
    pub(super) fn is_first_in(&self, folder: &Path) -> bool {
        self.known().tidy.insert(folder.to_owned())
    }
}

/// The metadata of the file at `path`; `-` is stdin.
fn found(path: &Path) -> Option<Metadata> {
    if is_stdin(path) { system::stdin() } else { fs::metadata(path).ok() }
}

fn is_stdin(path: &Path) -> bool {
    path == Path::new("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_of_a_pipe_is_kept_than_the_limit() {
        let input = [7; 100];
        let kept = Kept::of(&input[..], 100).expect("it fits");
        for _ in 0..2 {
            let mut bytes = Vec::new();
            kept.reader().read_to_end(&mut bytes).expect("it is kept");
            assert_eq!(bytes, input);
        }
        let refused = Kept::of(io::repeat(0), 100).expect_err("without end");
        assert!(refused.to_string().contains("more than 100 bytes"), "{refused}");
    }

    #[test]
    fn outputs_never_replace_inputs_or_files_in_input_folders() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir(at("in")).unwrap();
        ["read", "other", "in/file"].iter().for_each(|name| fs::write(at(name), "x").unwrap());
        fs::hard_link(at("read"), at("link")).unwrap();
        let inputs = Inputs::default();
        inputs.clone().open(&at("read")).map(drop).unwrap();
        inputs.add_folder(&at("in"));
        for (name, refused) in
            [("read", true), ("link", true), ("other", false), ("in/file", true), ("in/new", false)]
        {
            assert_eq!(inputs.refuse(&at(name)).is_err(), refused, "{name}");
        }
    }
}
