//! Streams of an A6xx through the commands that do not draw.

use std::fs;
use std::path::{Path, PathBuf};

use a4emu_decoder::asm::{Bounds, FileError, Files, Image, assemble, disassemble};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

use crate::captures::root;
use crate::other_chips::{Ended, run};

/// Most steps of the assembler for a capture of some megabytes.
const STEPS: u64 = 1 << 32;

/// A source names no other files here.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.to_owned()
    }

    fn text(&mut self, name: &str) -> Result<String, FileError> {
        Err(FileError(name.to_owned()))
    }

    fn image(&mut self, name: &str) -> Result<Image, FileError> {
        Err(FileError(name.to_owned()))
    }
}

/// The captures of `../shared/a6xx` of an A630, if they are there.
pub fn recorded() -> Vec<PathBuf> {
    let shared = std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let files = fs::read_dir(shared.join("a6xx")).into_iter().flatten().flatten().map(|file| file.path());
    let mut files: Vec<_> =
        files.filter(|path| path.to_str().is_some_and(|it| it.contains("a630"))).collect();
    files.sort();
    if files.is_empty() {
        eprintln!("\n*** SKIPPED: no captures of an A630 in {} ***\n", shared.join("a6xx").display());
    }
    files
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    let file = fs::File::open(path).unwrap();
    std::io::Read::read_to_end(&mut flate2::read::MultiGzDecoder::new(file), &mut bytes).unwrap();
    bytes
}

/// Assembles `source` to a file in `folder`.
fn made(folder: &Path, source: &str) -> PathBuf {
    let capture = assemble("it.a4", source, &mut NoFiles, Bounds::default()).unwrap();
    let path = folder.join("it.rd");
    fs::write(&path, capture).unwrap();
    path
}

/// The capture of `captures/a6xx-stream.a4`, made in `folder`.
fn stream(folder: &Path) -> PathBuf {
    made(folder, &fs::read_to_string(root().join("captures/a6xx-stream.a4")).unwrap())
}

fn decoded(command: &str, capture: &Path) -> Ended {
    let folder = TempDir::new().unwrap();
    run(command, capture, folder.path())
}

#[test]
fn a_source_gives_the_bytes_of_its_capture() {
    for path in recorded() {
        let capture = unpacked(&path);
        let source = disassemble(&capture).text;
        let bounds = Bounds::of_steps(STEPS);
        let again = assemble("it.a4", &source, &mut NoFiles, bounds).map_err(|error| error.to_string());
        assert!(again.as_deref() == Ok(&capture[..]), "{}", path.display());
        assert!(source.contains("CP_EVENT_WRITE"), "{}", path.display());
    }
}

#[test]
fn recorded_streams_are_read_to_their_end() {
    for path in recorded() {
        let ended = decoded("info IT", &path);
        assert!(ended.code == Some(0) && ended.stdout.starts_with("gpu              630\n"), "{ended}");
        let ended = decoded("decode IT --format summary", &path);
        assert!(ended.code == Some(0) && !ended.stdout.contains("error:"), "{ended}");
    }
}

#[test]
fn draws_and_dispatches_are_said_not_to_be_rendered() {
    let folder = TempDir::new().unwrap();
    let ended = decoded("replay IT", &stream(folder.path()));
    assert_eq!(ended.code, Some(4), "{ended}");
    for what in ["draws", "dispatches", "blits"] {
        let says = format!("{what} of an Adreno 630 are not rendered yet");
        assert!(ended.stderr.contains(&says), "{ended}");
    }
}

/// Four billion bins end at the budget. A table of bins that is missing ends them at once.
#[test]
fn a_loop_over_bins_is_paid() {
    let folder = TempDir::new().unwrap();
    for (prefix, status, says) in [
        ("PREFIX_DWORDS = 0", 4, "--max-work allows more"),
        ("PREFIX_ADDR = main, PREFIX_DWORDS = 0", 4, "--max-work allows more"),
        ("PREFIX_DWORDS = 1", 3, "command buffer of 1 dwords at 0x00000000 is in no buffer"),
        ("PREFIX_ADDR = 0x500000000, PREFIX_DWORDS = 4", 3, "of 4 dwords at 0x500000000 is in no buffer"),
    ] {
        let source = format!(
            "gpu_id 630\nbuffer main {{ CP_START_BIN(BIN_COUNT = 0xffffffff, {prefix}, BODY_DWORDS = 2)\n \
             PC_POWER_CNTL = 1\n CP_END_BIN }}\nsubmit main\n"
        );
        let ended = decoded("replay IT --max-work 20000000", &made(folder.path(), &source));
        assert!(ended.code == Some(status) && ended.stderr.contains(says), "{prefix}: {ended}");
    }
}

/// The first packet of the body stands at another place for each of these, so that a mistake shows.
#[test]
fn groups_run_in_their_pass_alone() {
    let query = |value: &str| format!("decode IT --query {value}");
    let folder = TempDir::new().unwrap();
    let stream = stream(folder.path());
    let [red, green, blue] = ["RB_BLEND_RED_F32", "RB_BLEND_GREEN_F32", "RB_BLEND_BLUE_F32"]
        .map(|register| decoded(&query(register), &stream).stdout);
    assert!(blue.contains("0.75") && !red.contains("0.25") && !green.contains("0.5"), "{red}{green}{blue}");
}
