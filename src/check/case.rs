//! A fixture: a folder with `case.toml` and golden files.

use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use a4emu_decoder::adreno::capture::{ProcessPattern, Sections};
use a4emu_decoder::similar::{hint, near};
use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::memory::Ranges;
use super::verdict::{MEMORY, PACKETS, STATE};
use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_inspect::golden::{FRAME, Tolerance};
use a4emu_inspect::selection::Selection;
use a4emu_support::folders::{Folders, read_text, read_toml};
use a4emu_support::out_file::Inputs;

/// Extension of a source of a capture.
const SOURCE: &str = "a4";
/// Name of the manifest.
const MANIFEST: &str = "case.toml";
/// Maximum size of a manifest in bytes.
const MAX_MANIFEST: u64 = 1 << 20;
/// Maximum size of a golden file in bytes.
const MAX_GOLDEN: u64 = 1 << 28;

/// The content of `case.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The capture or its source (`.a4`), relative to the folder.
    pub capture: PathBuf,
    /// Only these submits, like `--submit`.
    pub submit: Option<String>,
    /// Only the submits of this process, like `--process`.
    pub process: Option<String>,
    /// Only these draws, like `--draw`.
    pub draw: Option<String>,
    /// What the case needs of a4emu. With `render`, the case has a frame; the others are for readers.
    #[serde(default)]
    pub needs: Vec<Need>,
    /// Ranges of memory that `memory.txt` has as they are at the end: `0x1040000+64`.
    #[serde(default)]
    pub memory: Ranges,
    /// Reason why the case differs from its golden files. If it does not differ, the check fails.
    pub known_failure: Option<String>,
    /// Allowed difference between the frame and `frame.png`.
    #[serde(default)]
    pub frame: Tolerance,
}

/// A part of a4emu.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Need {
    /// The command processor.
    Replay,
    /// Everything that makes pixels.
    Render,
    /// Geometry shaders.
    Geometry,
    /// Tessellation.
    Tessellation,
    /// Compute shaders.
    Compute,
}

/// A fixture.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the folder.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// The content of its `case.toml`.
    pub manifest: Manifest,
    /// The selected submits and draws.
    pub selection: Selection,
    /// The process whose submits run, if not all do.
    pub process: Option<ProcessPattern>,
    /// Folders that may hold its capture and the files that it includes.
    folders: Folders,
    /// Receives the files of the case, which must not be overwritten.
    pub inputs: Inputs,
}

impl Case {
    /// Reads the case in `dir`. Its capture must be in one of `folders`.
    ///
    /// # Errors
    /// The call fails if `case.toml` does not exist or does not describe a case.
    pub fn read(dir: &Path, folders: &Folders, inputs: &Inputs) -> anyhow::Result<Self> {
        let path = dir.join(MANIFEST);
        let text = Folders::new([dir]).text(&path, MAX_MANIFEST, inputs)?;
        let manifest: Manifest = read_toml(&text).with_context(|| path.display().to_string())?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let invalid = |error: String| anyhow::anyhow!("{}: {error}", path.display());
        let submit = manifest.submit.as_deref().map(str::parse).transpose().map_err(invalid)?;
        let process = manifest.process.as_deref().map(str::parse).transpose().map_err(invalid)?;
        let draw = manifest.draw.as_deref().map(str::parse).transpose().map_err(invalid)?;
        Ok(Self {
            name,
            dir: dir.to_owned(),
            manifest,
            selection: Selection { submit, draw },
            process,
            folders: folders.clone(),
            inputs: inputs.clone(),
        })
    }

    /// The path of its capture, or of the source of that.
    pub fn capture(&self) -> PathBuf {
        self.dir.join(&self.manifest.capture)
    }

    /// The sections of its capture.
    ///
    /// # Errors
    /// The call fails like [`open`].
    pub fn open(&self) -> anyhow::Result<Sections<Box<dyn Read>>> {
        open_noting(&self.capture(), &self.folders, &self.inputs)
    }

    /// Opens one of its golden files, which `--bless` rewrites. The file must be in the case's folder, since
    /// a difference shows its content.
    ///
    /// # Errors
    /// The call fails if the file cannot be opened.
    pub fn golden_file(&self, file: &str) -> anyhow::Result<File> {
        Folders::new([&self.dir])
            .open(&self.dir.join(file), &Inputs::default())
            .context("no golden file (check --bless makes it)")
    }

    /// The text of one of its golden files.
    ///
    /// # Errors
    /// The call fails if the file cannot be read.
    pub fn golden(&self, file: &str) -> anyhow::Result<String> {
        read_text(self.golden_file(file)?, MAX_GOLDEN)
            .with_context(|| format!("cannot read {}/{file}", self.name))
    }

    /// Protects its capture and its golden files from being overwritten by a report.
    pub fn protect(&self) {
        self.inputs.add(&self.capture());
        [STATE, PACKETS, MEMORY, FRAME].iter().for_each(|file| self.inputs.add(&self.dir.join(file)));
    }

    /// The path at which the golden file called `file` is written. No part of it may be a symbolic link,
    /// since a link could point to another file.
    ///
    /// # Errors
    /// The call fails if a part is a symbolic link.
    pub fn writable(&self, file: &str) -> anyhow::Result<PathBuf> {
        let path = self.dir.join(file);
        for part in [&self.dir, &path] {
            let link = fs::symlink_metadata(part).is_ok_and(|metadata| metadata.is_symlink());
            ensure!(!link, "{} is a symbolic link", part.display());
        }
        Ok(path)
    }
}

/// The sections of the capture at `path`, which must be in one of `folders`. A source (`.a4`) is assembled.
///
/// # Errors
/// The call fails if the file cannot be read, or if the source is wrong.
pub fn open(path: &Path, folders: &Folders) -> anyhow::Result<Sections<Box<dyn Read>>> {
    open_noting(path, folders, &Inputs::default())
}

/// The sections of the capture at `path`, which must be in `folders`. The file becomes one of `inputs`.
fn open_noting(path: &Path, folders: &Folders, inputs: &Inputs) -> anyhow::Result<Sections<Box<dyn Read>>> {
    let place = folders.place(path)?;
    let capture: Box<dyn Read> = match place.extension().is_some_and(|extension| extension == SOURCE) {
        true => {
            Box::new(Cursor::new(capture_of(&place, &mut Disk::noting(folders.clone(), inputs.clone()))?))
        }
        false => Box::new(BufReader::new(folders.open(&place, inputs)?)),
    };
    Sections::new(capture).with_context(|| path.display().to_string())
}

/// The folders that may hold captures of `fixtures`: its parent folder, which is usually a repository with
/// captures, and `others`.
pub fn reach(fixtures: &Path, others: &[PathBuf]) -> Folders {
    let place = fs::canonicalize(fixtures).unwrap_or_else(|_| fixtures.to_owned());
    Folders::around(&place, others)
}

/// The cases in `fixtures`, sorted: those that `names` lists, or all. Their captures must be in `folders`.
///
/// # Errors
/// The call fails if the folder cannot be read, or if a name is not in it.
pub fn find(
    fixtures: &Path,
    names: &[String],
    folders: &Folders,
    inputs: &Inputs,
) -> anyhow::Result<Vec<Case>> {
    let mut dirs: Vec<PathBuf> = match names {
        [] => all(fixtures)?,
        names => names.iter().map(|name| named(fixtures, name)).collect::<anyhow::Result<_>>()?,
    };
    dirs.sort();
    dirs.dedup();
    if dirs.is_empty() {
        bail!("no cases in {}", fixtures.display());
    }
    dirs.iter().map(|dir| Case::read(dir, folders, inputs)).collect()
}

/// The folder of the case called `name`.
fn named(fixtures: &Path, name: &str) -> anyhow::Result<PathBuf> {
    let dir = fixtures.join(name);
    if dir.join(MANIFEST).is_file() {
        return Ok(dir);
    }
    let names = all(fixtures)?.into_iter().filter_map(|dir| Some(dir.file_name()?.to_str()?.to_owned()));
    bail!("there is no case `{name}` in {}{}", fixtures.display(), hint(&near(name, names)))
}

fn all(fixtures: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || {
        let hint =
            "name the folder of your fixtures with --fixtures DIR, or begin in the folder of a4emu's source";
        format!("cannot read {} ({hint})", fixtures.display())
    };
    let mut dirs = Vec::new();
    for entry in fs::read_dir(fixtures).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.join(MANIFEST).is_file() {
            dirs.push(path);
        }
    }
    Ok(dirs)
}
