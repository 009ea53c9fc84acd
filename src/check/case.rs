//! A fixture: a folder with `case.toml` and golden files.

use std::fs::{self, File};
use std::io::{BufReader, Cursor, Read};
use std::path::{Path, PathBuf};

use a4emu_decoder::capture::Sections;
use anyhow::{Context, bail, ensure};
use serde::Deserialize;

use super::verdict::{PACKETS, STATE};
use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_inspect::folders::{Folders, read_text, read_toml};
use a4emu_inspect::golden::{FRAME, Tolerance};
use a4emu_inspect::out_file::Inputs;
use a4emu_inspect::selection::Selection;

/// How the name of a source of a capture ends.
const SOURCE: &str = "a4";
/// What says what a case is.
const MANIFEST: &str = "case.toml";
/// A manifest larger than this is a mistake.
const MAX_MANIFEST: u64 = 1 << 20;
/// So is a golden file.
const MAX_GOLDEN: u64 = 1 << 30;

/// `case.toml`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The capture or its source (`.a4`), relative to the folder.
    pub capture: PathBuf,
    /// Only these submits, as `--submit`.
    pub submit: Option<String>,
    /// Only these draws, as `--draw`.
    pub draw: Option<String>,
    /// Who relies on the case, for people who want to change it; with `render` it has a frame.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Why the case does not agree with its golden files yet. Fails when it does agree.
    pub known_failure: Option<String>,
    /// How far the frame may be from `frame.png`.
    #[serde(default)]
    pub frame: Tolerance,
}

/// A fixture that was found.
#[derive(Clone, Debug)]
pub struct Case {
    /// Name of the folder.
    pub name: String,
    /// The folder.
    pub dir: PathBuf,
    /// Its `case.toml`.
    pub manifest: Manifest,
    /// Submits and draws that count.
    pub selection: Selection,
    /// Where its capture may be, and what that includes.
    folders: Folders,
    /// Where the files are noted that it is made from, which are not written over.
    pub inputs: Inputs,
}

impl Case {
    /// Reads the case in `dir`, whose capture is in one of `folders`.
    ///
    /// # Errors
    /// When `case.toml` is not there or says something else than a case.
    pub fn read(dir: &Path, folders: &Folders, inputs: &Inputs) -> anyhow::Result<Self> {
        let path = dir.join(MANIFEST);
        let text = Folders::new([dir]).text(&path, MAX_MANIFEST, inputs)?;
        let manifest: Manifest = read_toml(&text).with_context(|| path.display().to_string())?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let invalid = |error: String| anyhow::anyhow!("{}: {error}", path.display());
        let submit = manifest.submit.as_deref().map(str::parse).transpose().map_err(invalid)?;
        let draw = manifest.draw.as_deref().map(str::parse).transpose().map_err(invalid)?;
        Ok(Self {
            name,
            dir: dir.to_owned(),
            manifest,
            selection: Selection { submit, draw },
            folders: folders.clone(),
            inputs: inputs.clone(),
        })
    }

    /// Where its capture is, or the source of that.
    pub fn capture(&self) -> PathBuf {
        self.dir.join(&self.manifest.capture)
    }

    /// The sections of its capture.
    ///
    /// # Errors
    /// As [`open`].
    pub fn open(&self) -> anyhow::Result<Sections<Box<dyn Read>>> {
        open_noting(&self.capture(), &self.folders, &self.inputs)
    }

    /// One of its golden files, which `--bless` writes anew. It is really in the case's folder: a difference shows
    /// what is in it.
    ///
    /// # Errors
    /// When it cannot be opened.
    pub fn golden_file(&self, file: &str) -> anyhow::Result<File> {
        Folders::new([&self.dir])
            .open(&self.dir.join(file), &Inputs::default())
            .context("no golden file (check --bless makes it)")
    }

    /// The text of one of its golden files.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn golden(&self, file: &str) -> anyhow::Result<String> {
        read_text(self.golden_file(file)?, MAX_GOLDEN)
            .with_context(|| format!("cannot read {}/{file}", self.name))
    }

    /// Has no report written over its capture and its golden files.
    pub fn protect(&self) {
        self.inputs.add(&self.capture());
        [STATE, PACKETS, FRAME].iter().for_each(|file| self.inputs.add(&self.dir.join(file)));
    }

    /// Where the golden file called `file` is written: nothing on the way there is a symbolic
    /// link, which could lead to a file that is none of ours.
    ///
    /// # Errors
    /// When something is.
    pub fn writable(&self, file: &str) -> anyhow::Result<PathBuf> {
        let path = self.dir.join(file);
        for part in [&self.dir, &path] {
            let link = fs::symlink_metadata(part).is_ok_and(|metadata| metadata.is_symlink());
            ensure!(!link, "{} is a symbolic link", part.display());
        }
        Ok(path)
    }
}

/// The sections of the capture at `path`, which is in one of `folders`; a source (`.a4`) is
/// assembled, so that what it makes need not be kept beside it.
///
/// # Errors
/// When it cannot be read, or is no good source.
pub fn open(path: &Path, folders: &Folders) -> anyhow::Result<Sections<Box<dyn Read>>> {
    open_noting(path, folders, &Inputs::default())
}

/// The sections of the capture at `path`, which `folders` must allow and which becomes one of `inputs`.
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

/// Where the captures of `fixtures` may be: in the folder that `fixtures` is in, which is that of
/// a repository with its captures, and in `others`.
pub fn reach(fixtures: &Path, others: &[PathBuf]) -> Folders {
    let place = fs::canonicalize(fixtures).unwrap_or_else(|_| fixtures.to_owned());
    Folders::around(&place, others)
}

/// The cases in `fixtures`, by name: those that `names` lists, or all. Their captures are in
/// `folders`.
///
/// # Errors
/// When the folder cannot be read, or a name is not in it.
pub fn find(
    fixtures: &Path,
    names: &[String],
    folders: &Folders,
    inputs: &Inputs,
) -> anyhow::Result<Vec<Case>> {
    let mut dirs: Vec<PathBuf> = match names {
        [] => all(fixtures)?,
        names => names.iter().map(|name| fixtures.join(name)).collect(),
    };
    dirs.sort();
    dirs.dedup();
    if dirs.is_empty() {
        bail!("no cases in {}", fixtures.display());
    }
    dirs.iter().map(|dir| Case::read(dir, folders, inputs)).collect()
}

fn all(fixtures: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", fixtures.display());
    let mut dirs = Vec::new();
    for entry in fs::read_dir(fixtures).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.join(MANIFEST).is_file() {
            dirs.push(path);
        }
    }
    Ok(dirs)
}
