//! `check --bless`: writes golden files from the replay of a case.

use anyhow::{Context, bail};

use super::case::Case;
use super::verdict::{Actual, Depth, MEMORY, PACKETS, Run, STATE, against_golden, first_line, replay};
use a4emu_inspect::golden::FRAME;
use a4emu_support::out_file::{self, OutFile};

/// Rewrites the golden files of a case. Returns the changes as lines.
///
/// # Errors
/// The call fails if the case cannot run to its end, if a file cannot be written, or if two runs differ.
pub fn bless(case: &Case, run: &Run) -> anyhow::Result<Vec<String>> {
    let actual = replay(case, Depth::Frame, run)?;
    if let Some(cut) = &actual.cut {
        bail!("{cut}, nothing written");
    }
    agree(&actual, &replay(case, Depth::Frame, run)?)?;
    let changes = changes(case, &actual);
    // Check all paths before the first file is written.
    let [state, packets, memory, path] =
        [case.writable(STATE)?, case.writable(PACKETS)?, case.writable(MEMORY)?, case.writable(FRAME)?];
    let inputs = &case.inputs;
    out_file::write(&state, actual.state.as_bytes(), inputs)?;
    out_file::write(&packets, actual.packets.as_bytes(), inputs)?;
    if let Some(text) = &actual.memory {
        out_file::write(&memory, text.as_bytes(), inputs)?;
    }
    if let Some(frame) = &actual.frame {
        let mut out = OutFile::create(&path, inputs)?;
        frame.write(&mut out).with_context(|| format!("cannot write {}", path.display()))?;
        out.finish()?;
    }
    Ok(changes)
}

/// Fails if two runs differ: such results are not reproducible, so they cannot be golden.
pub fn agree(first: &Actual, second: &Actual) -> anyhow::Result<()> {
    let [one, other] = [first, second].map(|run| run.memory.as_deref().unwrap_or_default());
    let files = [
        (STATE, first.state.as_str(), second.state.as_str()),
        (PACKETS, &first.packets, &second.packets),
        (MEMORY, one, other),
    ];
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
