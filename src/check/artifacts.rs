//! `check --artifacts`: files that show how a case differs from its golden files.

use std::io;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::case::Case;
use super::verdict::{Actual, MEMORY, PACKETS, STATE};
use a4emu_inspect::golden::{Difference, FRAME, Frame};
use a4emu_support::out_file::{self, OutFile, make_folder};

/// The picture of the golden file.
const EXPECTED: &str = "expected.png";
/// The picture of this run.
const ACTUAL: &str = "actual.png";
/// White where both pictures differ.
const DIFFERENCE: &str = "difference.png";
/// The differences in state, one a line.
const STATE_DIFFERENCE: &str = "state.diff";

/// Writes a folder with the name of the case into `folder`: state, packets and memory of this run, the differences in state, and
/// pictures if the case has one. Returns the paths.
///
/// # Errors
/// The call fails if a file cannot be written.
pub fn write(
    case: &Case,
    actual: &Actual,
    differences: &[Difference],
    folder: &Path,
) -> anyhow::Result<Vec<PathBuf>> {
    make_folder(folder)?;
    let folder = folder.join(&case.name);
    make_folder(&folder)?;
    let state: String = differences.iter().map(|difference| format!("{difference}\n")).collect();
    let mut written = Vec::new();
    let state = Some(&state).filter(|state| !state.is_empty());
    let texts = [
        (STATE, Some(&actual.state)),
        (PACKETS, Some(&actual.packets)),
        (MEMORY, actual.memory.as_ref()),
        (STATE_DIFFERENCE, state),
    ];
    for (name, text) in texts {
        let Some(text) = text else { continue };
        let path = folder.join(name);
        out_file::write(&path, text.as_bytes(), &case.inputs)?;
        written.push(path);
    }
    written.extend(pictures(case, actual, &folder)?);
    Ok(written)
}

/// Writes the pictures. A golden picture that is missing or no picture leaves out those made of it.
fn pictures(case: &Case, actual: &Actual, folder: &Path) -> anyhow::Result<Vec<PathBuf>> {
    let golden = case.golden_file(FRAME).and_then(Frame::read).ok();
    let frames = [(EXPECTED, golden.as_ref()), (ACTUAL, actual.frame.as_ref())];
    let mut written = Vec::new();
    for (name, frame) in frames {
        let Some(frame) = frame else { continue };
        written.push(picture(case, &folder.join(name), |out| frame.write(out))?);
    }
    let mask = golden.zip(actual.frame.as_ref()).and_then(|(golden, actual)| actual.mask(&golden));
    if let Some(mask) = mask {
        let path = folder.join(DIFFERENCE);
        written.push(picture(case, &path, |out| mask.write(out))?);
    }
    Ok(written)
}

fn picture(
    case: &Case,
    path: &Path,
    write: impl FnOnce(&mut OutFile) -> anyhow::Result<()>,
) -> anyhow::Result<PathBuf> {
    let mut out = OutFile::create(path, &case.inputs)?;
    write(&mut out).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()?;
    Ok(path.to_owned())
}

/// Lines that CI systems (GitLab, Jenkins) read as files of a test: `[[ATTACHMENT|path]]`.
///
/// # Errors
/// The call fails if the folder of this process is unknown.
pub fn attachments(paths: &[PathBuf]) -> io::Result<String> {
    let lines =
        paths.iter().map(|path| Ok(format!("[[ATTACHMENT|{}]]\n", std::path::absolute(path)?.display())));
    lines.collect()
}
