//! A fixture: a folder with `case.toml` and golden files.

use std::fs;
use std::io::{Cursor, Read};
use std::path::{Path, PathBuf};

use a4emu_decoder::capture::Sections;
use anyhow::{Context, bail};
use serde::Deserialize;

use crate::asm::capture_of;
use crate::options::{Shared, open_capture};
use crate::selection::Selection;

/// How the name of a source of a capture ends.
const SOURCE: &str = "a4";

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
    /// Who relies on the case, for people who want to change it.
    #[serde(default)]
    pub needs: Vec<String>,
    /// Why the case does not agree with its golden files yet. Fails when it does agree.
    pub known_failure: Option<String>,
    /// How far the frame may be from `frame.png`.
    #[serde(default)]
    pub frame: Tolerance,
}

/// How far a frame may be from its golden picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Steps of 255 that a channel may be off.
    #[serde(default)]
    pub channel: u8,
    /// Pixels that may be off by more.
    #[serde(default)]
    pub pixels: u64,
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
}

impl Case {
    /// Reads the case in `dir`.
    ///
    /// # Errors
    /// When `case.toml` is not there or says something else than a case.
    pub fn read(dir: &Path) -> anyhow::Result<Self> {
        let path = dir.join("case.toml");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let manifest: Manifest = toml::from_str(&text).with_context(|| path.display().to_string())?;
        let name = dir.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let invalid = |error: String| anyhow::anyhow!("{}: {error}", path.display());
        let submit = manifest.submit.as_deref().map(str::parse).transpose().map_err(invalid)?;
        let draw = manifest.draw.as_deref().map(str::parse).transpose().map_err(invalid)?;
        Ok(Self { name, dir: dir.to_owned(), manifest, selection: Selection { submit, draw } })
    }

    /// Where its capture is.
    pub fn capture(&self) -> PathBuf {
        self.dir.join(&self.manifest.capture)
    }
}

/// The sections of the capture at `path`; a source (`.a4`) is assembled, so that what it makes
/// need not be kept beside it.
///
/// # Errors
/// When it cannot be read, or is no good source.
pub fn open(path: &Path, shared: &Shared) -> anyhow::Result<Sections<Box<dyn Read>>> {
    if path.extension().is_none_or(|extension| extension != SOURCE) {
        return open_capture(path, shared);
    }
    let capture: Box<dyn Read> = Box::new(Cursor::new(capture_of(path)?));
    Sections::new(capture).with_context(|| path.display().to_string())
}

/// The cases in `fixtures`, by name: those that `names` lists, or all.
///
/// # Errors
/// When the folder cannot be read, or a name is not in it.
pub fn find(fixtures: &Path, names: &[String]) -> anyhow::Result<Vec<Case>> {
    let mut dirs: Vec<PathBuf> = match names {
        [] => all(fixtures)?,
        names => names.iter().map(|name| fixtures.join(name)).collect(),
    };
    dirs.sort();
    dirs.dedup();
    if dirs.is_empty() {
        bail!("no cases in {}", fixtures.display());
    }
    dirs.iter().map(|dir| Case::read(dir)).collect()
}

fn all(fixtures: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read {}", fixtures.display());
    let mut dirs = Vec::new();
    for entry in fs::read_dir(fixtures).with_context(cannot)? {
        let path = entry.with_context(cannot)?.path();
        if path.join("case.toml").is_file() {
            dirs.push(path);
        }
    }
    Ok(dirs)
}
