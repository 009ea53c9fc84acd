//! The register of a command's files: what it has read, what it is writing, and the pipes that it has kept.
//!
//! What reads a file asks the register for it, and an [`OutFile`](super::OutFile) cannot be begun without a register: so
//! no output takes the place of an input, whatever name or link leads there, and no output that of another one.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, Metadata};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use anyhow::{Context, bail, ensure};

use super::system::{self, Identity};
use crate::status::{Failure, Status};

/// Bytes of a pipe that are kept, so that they can be read again.
pub const MAX_KEPT: u64 = 1 << 30;

/// The files that a command has read, and those that it writes. Clones are one register.
#[derive(Clone, Debug, Default)]
pub struct Inputs(Arc<Mutex<Known>>);

#[derive(Debug, Default)]
struct Known {
    /// Files that were read.
    read: HashSet<Identity>,
    /// Folders of which every file is an input.
    folders: Vec<PathBuf>,
    /// Pipes that were read, of which nothing is left.
    drained: HashSet<Identity>,
    /// Pipes that were read and kept.
    kept: HashMap<Identity, Kept>,
    /// Where outputs go.
    written: HashSet<PathBuf>,
    /// Folders in which nothing of a dead process is left.
    tidy: HashSet<PathBuf>,
}

/// What came through a pipe, in an unnamed temporary file. Clones are the same bytes.
#[derive(Clone, Debug)]
pub struct Kept(Arc<File>);

/// Reads what was kept, from the first byte.
#[derive(Debug)]
pub struct KeptReader {
    kept: Kept,
    at: u64,
}

impl Kept {
    /// Keeps what `input` holds, which is at most `limit` bytes.
    ///
    /// # Errors
    /// It holds more, cannot be read, or there is no room for it.
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

    /// A reader of all of it.
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

/// A path that one output has. An output that is dropped unfinished gives it back.
pub(super) struct Claim {
    inputs: Inputs,
    /// None once the output is there: then no other output may ever have the path.
    target: Option<PathBuf>,
}

impl Claim {
    /// The register.
    pub(super) fn inputs(&self) -> &Inputs {
        &self.inputs
    }

    /// The output is there.
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
    /// A register that knows the file at `path`; `-` is stdin.
    pub fn of(path: &Path) -> Self {
        let inputs = Self::default();
        inputs.add(path);
        inputs
    }

    fn known(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds the file at `path`, if there is one; `-` is stdin.
    pub fn add(&self, path: &Path) {
        if let Some(metadata) = found(path).filter(Metadata::is_file) {
            self.known().read.extend(system::identity(path, &metadata));
        }
    }

    /// Adds every file that is in `folder` or below it.
    pub fn add_folder(&self, folder: &Path) {
        self.known().folders.extend(fs::canonicalize(folder));
    }

    /// Opens the file at `path`, which becomes an input; `-` is stdin.
    ///
    /// # Errors
    /// It cannot be opened, or is a pipe that this command has read already.
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

    /// Opens the file at `path`, which becomes an input.
    ///
    /// # Errors
    /// It cannot be opened, or is a pipe that this command has read already.
    pub fn open_file(&self, path: &Path) -> io::Result<File> {
        // Opening a pipe waits for a writer, so a pipe that has been read is refused before.
        if let Some(metadata) = fs::metadata(path).ok().filter(|metadata| !metadata.is_file()) {
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
    /// It cannot be read.
    pub fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(path)?.read_to_end(&mut bytes)?;
        Ok(bytes)
    }

    /// Notes a file that is about to be read.
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

    /// What was kept of the pipe at `path`, if it was.
    fn kept(&self, path: &Path) -> Option<Kept> {
        let identity = found(path).and_then(|metadata| system::identity(path, &metadata));
        identity.and_then(|identity| self.known().kept.get(&identity).cloned())
    }

    /// Keeps what is at `path` if that cannot be read twice: stdin, a pipe, a device. Two paths that lead to one pipe
    /// get the same bytes.
    ///
    /// # Errors
    /// It cannot be read, was read before, or has more than [`MAX_KEPT`] bytes. What is not there is found missing when
    /// it is opened.
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

    /// Refuses `path` as a file to write, if it is an input.
    ///
    /// # Errors
    /// It is one.
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

    /// Takes `target` for an output: a path without links.
    ///
    /// # Errors
    /// Another output has it.
    pub(super) fn claim(&self, target: PathBuf) -> anyhow::Result<Claim> {
        if !self.known().written.insert(target.clone()) {
            bail!("it is another output of this command");
        }
        Ok(Claim { inputs: self.clone(), target: Some(target) })
    }

    /// Whether `folder` is looked at for the first time.
    pub(super) fn is_first_in(&self, folder: &Path) -> bool {
        self.known().tidy.insert(folder.to_owned())
    }
}

/// What is known of the file at `path`; `-` is stdin.
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
    fn what_is_read_or_in_a_folder_of_inputs_is_not_written() {
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
