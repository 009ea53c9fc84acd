//! Compares two state files, or a state file and a capture: register state draw by draw.

use std::io::{self, Read, Write};
use std::path::Path;

use anyhow::Context;

use super::Options;
use crate::golden::{self, Difference, Record, Recorder, State, compare};
use crate::selection::{Selection, Window};
use a4emu_gpu::budget::{BASE, Work};
use a4emu_gpu::cp::{Skip, Tee};
use a4emu_support::folders::read_bytes;
use a4emu_support::options::{Shared, accepted, open_capture};
use a4emu_support::status::{Failure, Status, WithErrors};

/// Compares the states of `a` and `b`, of which at least one is a state file.
///
/// # Errors
/// The call fails if one of them cannot be read.
pub fn diff(
    out: &mut dyn Write,
    a: &Path,
    b: &Path,
    options: &Options,
    shared: &Shared,
) -> anyhow::Result<Status> {
    let (a, status) = load(a, options, shared)?;
    let (b, status) = match load(b, options, shared) {
        Ok((b, status_b)) => (b, status.worse(status_b)),
        Err(error) => return Ok(status.and(Err(error))),
    };
    let found = selected(&a, &b, options.selection);
    Ok(match found {
        Err(failure) => status.and(Err(failure)),
        Ok(found) => {
            let differs = if found.is_empty() { Status::Fine } else { Status::Differs };
            status.worse(differs).and(write_differences(out, &found))
        }
    })
}

/// The differences inside the selection. The call fails if the selection is empty in both states.
fn selected(a: &State, b: &State, selection: Selection) -> Result<Vec<Difference>, Failure> {
    let inside = |draw: u32, frame_draw: u32, submit: u32| selection.contains(submit, draw, frame_draw);
    let records = a.records.iter().chain(&b.records);
    let mut draws = records.clone().filter(|record| !record.is_end() || selection.draw.is_none());
    let found = draws.any(|record| inside(record.number, record.frame_draw, record.submit));
    let most = |of: fn(&Record) -> u32| records.clone().map(of).max().unwrap_or(0);
    if !found {
        selection.found_none(most(|record| record.number), most(|record| record.submit))?;
    }
    let mut differences = compare(a, b);
    differences.retain(|found| inside(found.draw, found.frame_draw, found.submit));
    Ok(differences)
}

/// Writes the first difference, then the others grouped by draw.
fn write_differences(out: &mut dyn Write, found: &[Difference]) -> io::Result<()> {
    let Some((first, rest)) = found.split_first() else { return out.flush() };
    writeln!(out, "first: {first}")?;
    for group in rest.chunk_by(|a, b| a.draw == b.draw) {
        writeln!(out, "draw {} f{} submit {}", group[0].draw, group[0].frame_draw, group[0].submit)?;
        for Difference { what, old, new, .. } in group {
            writeln!(out, "  {what}: {old} -> {new}")?;
        }
    }
    out.flush()
}

/// Reads the state file at `path`, or replays the capture at `path` to its state.
fn load(path: &Path, options: &Options, shared: &Shared) -> anyhow::Result<(State, Status)> {
    match state_text(path, shared)? {
        Some(text) => {
            let mut budget = options.limits.work.budget(BASE);
            if !budget.take(Work::Assembly, text.len() as u64 / 4) {
                let message = format!("{}: {}", path.display(), budget.refusal().unwrap_or_default());
                return Err(Failure { status: Status::Unsupported, message }.into());
            }
            let state = golden::parse(&text).with_context(|| path.display().to_string())?;
            Ok((state, Status::Fine))
        }
        None => replayed(path, options, shared),
    }
}

/// Whether `path` begins like a state file.
///
/// # Errors
/// The call fails if it cannot be read.
pub fn is_state(path: &Path, shared: &Shared) -> anyhow::Result<bool> {
    Ok(state_text(path, shared)?.is_some())
}

/// Maximum size of a state file in bytes. The state of a second of a game has some megabytes.
const MAX_FILE: u64 = 1 << 28;

/// The text at `path` if it begins like a state file.
fn state_text(path: &Path, shared: &Shared) -> anyhow::Result<Option<String>> {
    let cannot = || format!("cannot read {}", path.display());
    let mut file = shared.inputs.open(path).with_context(cannot)?;
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(golden::MAGIC.len() as u64).read_to_end(&mut start).with_context(cannot)?;
    if start != golden::MAGIC.as_bytes() {
        return Ok(None);
    }
    let rest = read_bytes(file, MAX_FILE).with_context(cannot)?;
    start.extend(rest);
    Ok(Some(String::from_utf8(start).with_context(cannot)?))
}

fn replayed(path: &Path, options: &Options, shared: &Shared) -> anyhow::Result<(State, Status)> {
    let mut playback = options.limits.playback(path);
    let mut recorder = Recorder::new(State::default());
    let mut window = Window::new(options.selection, None);
    let sections = open_capture(path, &playback.gpu.budget, shared)?;
    playback.run(sections, &mut Skip::default(), &mut Tee(vec![&mut window, &mut recorder]));
    accepted(path, &playback.gpu.report)?;
    let state = recorder.end(&playback.gpu);
    Ok((state, shared.tell(&path.display().to_string(), &playback.gpu.report)))
}
