//! Listings on a terminal: colours, the width of lines, progress.

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::process::{Command, Stdio};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

const COLUMNS: usize = 60;

/// Commands that print listings with lines of more than [`COLUMNS`] columns.
const LISTINGS: [&str; 8] = [
    "show captures/cube.rd.gz --draw f1",
    "pixel captures/cube.rd.gz 128,128",
    "info captures/cube.rd.gz",
    "decode captures/cube.rd.gz",
    "decode captures/cube.rd.gz --query RB_DEPTH_CONTROL",
    "diff captures/cube.rd.gz captures/torus.rd.gz",
    "replay captures/cube.rd.gz --trace",
    "replay captures/cube.rd.gz --list-draws",
];

fn a4emu(line: &str) -> Command {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("a4emu"));
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR"))).args(line.split_whitespace());
    command.env("TERM", "xterm").env_remove("NO_COLOR").stdin(Stdio::null());
    command
}

/// What `command` writes to a terminal of [`COLUMNS`] columns.
fn on_terminal(command: &mut Command) -> String {
    let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
    grantpt(&ours).unwrap();
    unlockpt(&ours).unwrap();
    let name = ptsname(&ours, Vec::new()).unwrap().into_string().unwrap();
    let theirs = File::options().read(true).write(true).open(name).unwrap();
    let size = Winsize { ws_row: 24, ws_col: COLUMNS as u16, ws_xpixel: 0, ws_ypixel: 0 };
    tcsetwinsize(&theirs, size).unwrap();
    let mut child = command.stdout(theirs.try_clone().unwrap()).stderr(theirs).spawn().unwrap();
    // The command holds the terminal too.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut bytes = Vec::new();
    // Reading ends with an error once nobody holds the other side.
    let _closed = File::from(ours).read_to_end(&mut bytes);
    child.wait().unwrap();
    String::from_utf8(bytes).unwrap()
}

/// What `line` writes to a pipe.
fn piped(line: &str) -> String {
    String::from_utf8(a4emu(line).output().unwrap().stdout).unwrap()
}

/// The lines of `text` without colours.
fn lines(text: &str) -> Vec<String> {
    anstream::adapter::strip_str(text).to_string().lines().map(str::to_owned).collect()
}

#[test]
fn listings_fit_the_terminal_and_are_whole_in_a_pipe() {
    for line in LISTINGS {
        let (seen, whole) = (on_terminal(a4emu(line).env("PAGER", "cat")), piped(line));
        assert!(seen.contains("\x1b["), "no colour: {line}\n{seen}");
        assert!(!whole.contains('\x1b') && !whole.contains('…'), "{line}");
        let (seen, whole) = (lines(&seen), lines(&whole));
        assert_eq!(seen.len(), whole.len(), "{line}");
        for (seen, whole) in seen.iter().zip(&whole) {
            assert!(seen.chars().count() <= COLUMNS, "{line}: {seen}");
            match whole.chars().count() > COLUMNS {
                true => assert!(whole.starts_with(seen.strip_suffix('…').unwrap()), "{line}: {seen}"),
                false => assert_eq!(seen, whole, "{line}"),
            }
        }
    }
}

/// The table of a frame has all its words also on a terminal that has too few columns for it.
#[test]
fn the_table_of_a_frame_is_narrow_on_a_narrow_terminal() {
    let line = "show captures/mrt.rd.gz";
    let (seen, whole) = (lines(&on_terminal(a4emu(line).env("PAGER", "cat"))), piped(line));
    assert!(
        whole.lines().any(|whole| whole.contains("color1 ") && whole.chars().count() > COLUMNS),
        "{whole}"
    );
    let words = |lines: &str| lines.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let targets = |words: Vec<String>| words.iter().filter(|word| word.starts_with("color")).count();
    assert_eq!(targets(words(&seen.join(" "))), targets(words(&whole)), "{seen:?}");
    assert!(seen.iter().filter(|line| line.contains("color")).all(|line| !line.ends_with('…')), "{seen:?}");
    assert!(seen.iter().all(|line| line.chars().count() <= COLUMNS), "{seen:?}");
}

#[test]
fn explanations_are_wrapped_at_the_width_of_the_terminal() {
    for line in ["explain RB_DEPTH_CONTROL", "explain level-of-detail"] {
        let (seen, whole) = (lines(&on_terminal(a4emu(line).env("PAGER", "cat"))), piped(line));
        assert!(whole.lines().any(|whole| whole.chars().count() > COLUMNS), "{line} fits");
        assert!(seen.iter().all(|seen| seen.chars().count() <= COLUMNS), "{line}: {seen:?}");
        assert!(seen.join(" ").split_whitespace().eq(whole.split_whitespace()), "{line}: {seen:?}");
    }
}

#[test]
fn colours_are_as_they_were_asked_for() {
    let line = "show captures/cube.rd.gz";
    assert!(!on_terminal(a4emu(line).envs([("PAGER", "cat"), ("NO_COLOR", "1")])).contains('\x1b'));
    assert!(!on_terminal(a4emu(&format!("{line} --color never")).env("PAGER", "cat")).contains('\x1b'));
    let coloured = piped(&format!("{line} --color always"));
    assert!(coloured.contains("\x1b[1m\x1b[33mf0\x1b[0m"), "{coloured}");
    assert_eq!(lines(&coloured), lines(&piped(line)));
    assert!(!piped(&format!("{line} --json --color always")).contains('\x1b'));
}

#[test]
fn a_long_run_shows_its_progress() {
    let folder = tempfile::tempdir().unwrap();
    let [mark, out] = ["mark", "out.rd"].map(|name| folder.path().join(name).display().to_string());
    // The first attempt succeeds, and all others take long.
    let script = format!(": {{}}; test -e {mark} && sleep 0.2 && exit 1; touch {mark}");
    let mut command = a4emu("reduce captures/cube.rd.gz --attempts 12 --while");
    let seen = on_terminal(command.args([&script, "-o", &out]));
    assert!(seen.contains(" attempts, ") && seen.contains("cut off after 12 attempts"), "{seen}");
    std::fs::remove_file(&mark).unwrap();
    let quiet =
        on_terminal(a4emu("reduce captures/cube.rd.gz --attempts 12 -q --while").args([&script, "-o", &out]));
    assert!(!quiet.contains(" attempts, "), "{quiet}");
}
