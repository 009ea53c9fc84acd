//! `check --bless`: golden files from what a case replays to.

use std::fs;

use anyhow::{Context, bail};

use super::case::Case;
use super::frame::FRAME;
use super::verdict::{Actual, Depth, PACKETS, STATE, against_golden, first_line, replay};
use crate::options::Shared;

/// Rewrites the golden files of a case; gives what changed, in lines.
///
/// # Errors
/// When the case cannot be run, a file cannot be written, or two runs disagree.
pub fn bless(case: &Case, shared: &Shared) -> anyhow::Result<Vec<String>> {
    let actual = replay(case, Depth::Frame, shared)?;
    agree(&actual, &replay(case, Depth::Frame, shared)?)?;
    let changes = changes(case, &actual);
    for (file, text) in [(STATE, &actual.state), (PACKETS, &actual.packets)] {
        let path = case.dir.join(file);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    if let Some(frame) = &actual.frame {
        frame.write(&case.dir.join(FRAME))?;
    }
    Ok(changes)
}

/// Refuses results that are not the same every time: they would be no golden files.
pub fn agree(first: &Actual, second: &Actual) -> anyhow::Result<()> {
    let files = [(STATE, &first.state, &second.state), (PACKETS, &first.packets, &second.packets)];
    for (file, first, second) in files {
        if let Some(line) = first_line(file, first, second) {
            bail!("two runs disagree, nothing written: {line}");
        }
    }
    if first.frame != second.frame {
        bail!("two runs disagree, nothing written: {FRAME}");
    }
    Ok(())
}

fn changes(case: &Case, actual: &Actual) -> Vec<String> {
    match against_golden(case, actual) {
        Ok((notes, differences)) => differences.iter().map(ToString::to_string).chain(notes).collect(),
        Err(_) => vec!["new".to_owned()],
    }
}
