//! `a4emu diff`: first difference in state between two captures or two state files.

mod compare;

use std::fs::File;
use std::io::{self, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use anyhow::Context;

use crate::golden::{self, Recorder, State};
use crate::options::{Shared, open_capture};
use crate::playback::Playback;
use crate::replay::{Window, tell};
use crate::status::Status;

pub use compare::{Difference, compare};

/// Arguments of `diff`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Capture or state file
    pub a: PathBuf,
    /// Capture or state file
    pub b: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let (a, status_a) = load(&args.a, shared)?;
    let (b, status_b) = load(&args.b, shared)?;
    let window = Window::new(shared, None);
    let mut found = compare(&a, &b);
    found.retain(|difference| window.contains(difference.submit, difference.draw));
    let mut out = BufWriter::new(io::stdout().lock());
    write_differences(&mut out, &found)?;
    out.flush()?;
    let differs = if found.is_empty() { Status::Fine } else { Status::Differs };
    Ok(differs.worse(status_a).worse(status_b))
}

/// The first difference, then the rest grouped by draw.
fn write_differences(out: &mut impl Write, found: &[Difference]) -> io::Result<()> {
    let Some((first, rest)) = found.split_first() else { return Ok(()) };
    writeln!(out, "first: {first}")?;
    for group in rest.chunk_by(|a, b| a.draw == b.draw) {
        writeln!(out, "draw {} submit {}", group[0].draw, group[0].submit)?;
        for Difference { what, old, new, .. } in group {
            writeln!(out, "  {what}: {old} -> {new}")?;
        }
    }
    Ok(())
}

/// The state in a state file, or that which a capture replays to.
fn load(path: &Path, shared: &Shared) -> anyhow::Result<(State, Status)> {
    match state_text(path)? {
        Some(text) => {
            let state = golden::parse(&text).with_context(|| path.display().to_string())?;
            Ok((state, Status::Fine))
        }
        None => replayed(path, shared),
    }
}

/// The text at `path` if it begins as a state file does.
fn state_text(path: &Path) -> anyhow::Result<Option<String>> {
    if path == Path::new("-") {
        return Ok(None);
    }
    let cannot = || format!("cannot read {}", path.display());
    let mut file = File::open(path).with_context(cannot)?;
    let mut start = Vec::new();
    Read::by_ref(&mut file).take(golden::MAGIC.len() as u64).read_to_end(&mut start).with_context(cannot)?;
    if start != golden::MAGIC.as_bytes() {
        return Ok(None);
    }
    file.read_to_end(&mut start).with_context(cannot)?;
    Ok(Some(String::from_utf8(start).with_context(cannot)?))
}

fn replayed(path: &Path, shared: &Shared) -> anyhow::Result<(State, Status)> {
    let mut playback = Playback::default();
    let mut recorder = Recorder::new(State::default());
    playback.run(open_capture(path, shared)?, &mut recorder);
    let state = recorder.end(&mut playback.gpu);
    Ok((state, tell(&playback, shared)))
}
