//! `a4emu run --frames`: the frames of the program equal those of `replay` for its recording.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;

use crate::captures::Capture;
use crate::{INSIDE, library};

/// Number of frames of the long run.
const FRAMES: u32 = 30;
/// The captures that the run submits in turn. They draw to one target.
const CAPTURES: [&str; 5] = ["triangle", "blend", "cube", "scissor", "points"];

fn a4emu(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.args(arguments).env("A4EMU_LIBRARY", library()).env(INSIDE, "1");
    command.env("LIBGL_DRIVERS_PATH", "/nonexistent");
    command
}

/// Runs a test of this program under `a4emu run` with `options`.
fn run(options: &[&str], test: &str) -> Output {
    let mut command = a4emu(&["run"]);
    command.args(options).arg("--").arg(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|name| name.into_string().unwrap()).collect();
    names.sort();
    names
}

/// A client that submits frames of several captures in turn.
#[test]
fn program() {
    if std::env::var_os(INSIDE).is_none() {
        return;
    }
    let captures = CAPTURES.map(Capture::read);
    for frame in 0..FRAMES {
        crate::captures::run(&captures[frame as usize % CAPTURES.len()]);
    }
}

#[test]
fn thirty_frames_are_what_replay_makes_of_the_recording() {
    let folder = tempfile::tempdir().unwrap();
    let [frames, recording] = ["frames", "run.rd"].map(|name| folder.path().join(name));
    let output = run(&["--frames", text(&frames), "--record", text(&recording)], "frames::program");
    assert!(String::from_utf8_lossy(&output.stderr).contains("a4emu: 30 frames\n"));
    let expect: Vec<String> = (0..FRAMES).map(|frame| format!("frame-{frame:05}.png")).collect();
    assert_eq!(names(&frames), expect);
    let replayed = replayed(&recording);
    assert_eq!(replayed.len(), expect.len());
    for (name, png) in expect.iter().zip(replayed) {
        assert!(fs::read(frames.join(name)).unwrap() == png, "{name}");
    }
    assert_ne!(fs::read(frames.join(&expect[0])).unwrap(), fs::read(frames.join(&expect[1])).unwrap());
}

/// The last colour surface after each submit, as `replay` writes it.
fn replayed(recording: &Path) -> Vec<Vec<u8>> {
    let (mut playback, mut pictures) = (Playback::default(), Vec::new());
    for section in Sections::new(fs::File::open(recording).unwrap()).unwrap() {
        playback.section(&section.unwrap(), &mut Renderer, &mut Silent);
        if playback.gpu.at.submit as usize > pictures.len() {
            let surface = *playback.gpu.pipeline.surfaces.last_color().unwrap();
            let mut png = Vec::new();
            Picture::of(&surface, playback.gpu.settle().memory()).unwrap().write(&mut png).unwrap();
            pictures.push(png);
        }
    }
    pictures
}

#[test]
fn video_goes_to_stdout_alone_and_the_number_of_frames_has_a_limit() {
    let output = run(&["--frames", "-", "--max-frames", "5"], "frames::program");
    let header = output.stdout.split(|byte| *byte == b'\n').next().unwrap();
    let header = String::from_utf8_lossy(header).into_owned();
    let size =
        |letter| header.split(' ').find_map(|word| word.strip_prefix(letter)?.parse::<usize>().ok()).unwrap();
    assert!(header.starts_with("YUV4MPEG2 W"), "{header}");
    let frame = b"FRAME\n".len() + 3 * size('W') * size('H');
    assert_eq!((output.stdout.len() - header.len() - 1) % frame, 0, "{header}");
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("5 frames; 25 more were left out (--max-frames 5)"), "{told}");
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}
