//! The messages for mistakes that people make: each says what is wrong, and what to do.

use std::fs;
use std::process::{Command, Stdio};

use snapbox::{IntoData, assert_data_eq};

/// Command lines and what they print, in the form of a terminal: status last.
const MISTAKES: &str = include_str!("mistakes.txt");

/// What `line` prints on both streams, with its status.
fn printed(folder: &std::path::Path, line: &str) -> String {
    let (line, stdout) = match line.split_once(" >") {
        Some((line, "/dev/full")) => {
            (line, Stdio::from(fs::File::options().write(true).open("/dev/full").unwrap()))
        }
        _ => (line, Stdio::piped()),
    };
    let mut command = Command::new(assert_cmd::cargo::cargo_bin("a4emu"));
    command.current_dir(folder).args(line.split_whitespace()).env_remove("NO_COLOR");
    let output = command.stdin(Stdio::null()).stdout(stdout).output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    // The last line of clap's messages says the same everywhere.
    let errors = errors.replace("\nFor more information, try '--help'.\n", "").replace("\n\n", "\n");
    format!("{out}{}\n[{}]\n", errors.trim_end(), output.status.code().unwrap())
}

#[test]
fn mistakes_are_explained() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name);
    let cube = fs::read("captures/cube.rd.gz").unwrap();
    fs::write(path("cube.rd.gz"), &cube).unwrap();
    fs::write(path("cut.rd.gz"), &cube[..3000]).unwrap();
    fs::write(path("empty.rd"), "").unwrap();
    fs::write(path("triangle.a4"), fs::read("captures/triangle-by-hand.a4").unwrap()).unwrap();
    // A section with the id of a chip: GPU_ID, four bytes, 530.
    let other = [13u32, 4, 530].map(u32::to_le_bytes).concat();
    fs::write(path("a5xx.rd"), [&[1u8, 0, 0, 0, 8, 0, 0, 0][..], b"program\0", &other].concat()).unwrap();
    fs::write(path("wrong.ir3"), "mov.u32u32 r0.x, c0.x\nmvo r0.y, c0.y\nend\n").unwrap();
    fs::create_dir(path("folder")).unwrap();
    fs::create_dir_all(path("fixtures/triangle")).unwrap();
    fs::write(path("fixtures/triangle/case.toml"), "capture = \"../../cube.rd.gz\"\n").unwrap();
    let lines: Vec<&str> = MISTAKES.lines().filter_map(|line| line.strip_prefix("$ a4emu ")).collect();
    let all = lines.iter().map(|line| format!("$ a4emu {line}\n{}", printed(folder.path(), line)));
    assert!(lines.len() >= 20);
    let expected = snapbox::Data::read_from(std::path::Path::new("tests/mistakes.txt"), None);
    assert_data_eq!(all.collect::<String>().into_data(), expected);
}
