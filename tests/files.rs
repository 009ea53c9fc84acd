//! The files that commands write and may read: no file of the user is lost, and an input cannot name files
//! outside of its scope.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use tempfile::TempDir;

const SOURCE: &str = "gpu_id 420\nbuffer b { RB_MODE_CONTROL { WIDTH = 32 } }\nsubmit b\n";

/// A folder with files in which commands run.
struct Folder(TempDir);

impl Folder {
    fn with(files: &[(&str, &str)]) -> Self {
        let folder = Self(TempDir::new().unwrap());
        for (name, text) in files {
            let path = folder.path(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        folder
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    fn run(&self, command: &str) -> Output {
        let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        child.args(command.split(' ')).current_dir(self.0.path()).output().unwrap()
    }

    /// Runs a command that must fail with `status` and a message that contains `says`. Returns stderr.
    fn refuses(&self, command: &str, status: i32, says: &str) -> String {
        let output = self.run(command);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(status), "{command}: {stderr}");
        let all = format!("{}{stderr}", String::from_utf8_lossy(&output.stdout));
        assert!(all.contains(says), "{command}: {all}");
        all
    }

    fn accepts(&self, command: &str) -> Vec<u8> {
        let output = self.run(command);
        assert!(output.status.success(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        output.stdout
    }

    fn names(&self) -> Vec<String> {
        let entries = fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

/// The path of the project's capture of a triangle.
fn triangle() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures/triangle.rd.gz")
}

#[test]
fn no_input_is_written_over_by_whatever_name() {
    let folder =
        Folder::with(&[("t.a4", &format!("include \"part.a4i\"\n{SOURCE}")), ("part.a4i", "const A = 1\n")]);
    symlink("t.a4", folder.path("link.a4")).unwrap();
    fs::hard_link(folder.path("t.a4"), folder.path("hard.a4")).unwrap();
    let before = folder.text("t.a4");
    for output in ["t.a4", "./t.a4", "link.a4", "hard.a4", "part.a4i"] {
        folder.refuses(&format!("asm t.a4 -o {output}"), 2, "it is an input of this command");
    }
    assert_eq!((folder.text("t.a4"), folder.text("part.a4i").as_str()), (before, "const A = 1\n"));
    folder.accepts("asm t.a4 -o t.rd");
    let capture = fs::read(folder.path("t.rd")).unwrap();
    folder.refuses("disasm t.rd -o t.rd", 2, "it is an input of this command");
    folder.refuses("replay t.rd --state t.rd", 2, "it is an input of this command");
    assert_eq!(fs::read(folder.path("t.rd")).unwrap(), capture);
}

#[test]
fn failed_commands_neither_change_nor_add_files() {
    let folder = Folder::with(&[("bad.a4", "gpu_id\n"), ("out.rd", "precious")]);
    folder.refuses("asm bad.a4 -o out.rd", 2, "expected a value");
    fs::create_dir(folder.path("out.png")).unwrap();
    folder.refuses(&format!("replay {} --png out.png", triangle().display()), 2, "cannot write out.png");
    assert_eq!(folder.text("out.rd"), "precious");
    assert_eq!(folder.names(), ["bad.a4", "out.png", "out.rd"], "no temporary file stays");
}

#[test]
fn a_file_is_made_as_any_other_and_keeps_its_mode() {
    let folder = Folder::with(&[("t.a4", SOURCE), ("old.rd", ""), ("plain", "")]);
    fs::set_permissions(folder.path("old.rd"), fs::Permissions::from_mode(0o640)).unwrap();
    folder.accepts("asm t.a4 -o old.rd");
    folder.accepts("asm t.a4 -o new.rd");
    assert_eq!(mode(&folder.path("old.rd")), 0o640);
    assert_eq!(mode(&folder.path("new.rd")), mode(&folder.path("plain")), "the umask decides");
    assert_eq!(folder.names(), ["new.rd", "old.rd", "plain", "t.a4"], "no temporary file stays");
}

#[test]
fn links_stay_links_and_devices_devices() {
    let folder = Folder::with(&[("t.a4", SOURCE), ("real.rd", "old")]);
    symlink("real.rd", folder.path("link.rd")).unwrap();
    symlink("nowhere.rd", folder.path("loose.rd")).unwrap();
    folder.accepts("asm t.a4 -o link.rd");
    assert!(fs::symlink_metadata(folder.path("link.rd")).unwrap().is_symlink());
    assert_ne!(fs::read(folder.path("real.rd")).unwrap(), b"old");
    folder.refuses("asm t.a4 -o loose.rd", 2, "a symbolic link to nothing");
    folder.accepts("asm t.a4 -o /dev/null");
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}

#[test]
fn a_dash_is_stdout() {
    let folder = Folder::with(&[
        ("t.a4", SOURCE),
        ("s.pico", "#vertexShader\n#input r0.xyzw\n#output r1.xyzw\nmov r1 r0\n"),
    ]);
    folder.accepts("asm t.a4 -o t.rd");
    assert_eq!(folder.accepts("asm t.a4 -o -"), fs::read(folder.path("t.rd")).unwrap());
    folder.accepts("disasm t.rd -o t2.a4");
    assert_eq!(folder.accepts("disasm t.rd -o -"), folder.text("t2.a4").into_bytes());
    folder.accepts("pico asm s.pico -o s.bin");
    assert_eq!(folder.accepts("pico asm s.pico -o -"), fs::read(folder.path("s.bin")).unwrap());
    let replay = format!("replay {}", triangle().display());
    folder.accepts(&format!("{replay} --png t.png"));
    assert_eq!(folder.accepts(&format!("{replay} --png -")), fs::read(folder.path("t.png")).unwrap());
    assert!(!folder.names().contains(&"-".to_owned()));
}

#[test]
fn includes_stay_in_the_source_s_folder() {
    let folder = Folder::with(&[
        ("in/t.a4", "include \"../out/secret.a4i\"\n"),
        ("in/absolute.a4", "include \"/etc/passwd\"\n"),
        ("in/linked.a4", "include \"link.a4i\"\n"),
        ("in/other.a4", "include \"notes.txt\"\n"),
        ("in/picture.a4", "buffer b { png \"../out/secret.a4i\" }\n"),
        ("in/notes.txt", "password hunter2\n"),
        ("out/secret.a4i", "password hunter2\n"),
    ]);
    symlink(folder.path("out/secret.a4i"), folder.path("in/link.a4i")).unwrap();
    for (name, says) in [
        ("t", "outside the folders"),
        ("absolute", "outside the folders"),
        ("linked", "outside the folders"),
        ("picture", "outside the folders"),
        ("other", "is no source"),
    ] {
        let said = folder.refuses(&format!("asm in/{name}.a4 -o o.rd"), 2, says);
        assert!(!said.contains("hunter2") && !said.contains("root:"), "{said}");
    }
    let said = folder.refuses("asm in/t.a4 -o o.rd --include out", 2, "secret.a4i:1:1");
    assert!(said.contains("hunter2"), "a source that may be read shows its line: {said}");
}

/// A fixture with golden files, in `fixtures/one`.
fn fixture(capture: &str) -> Folder {
    let folder = Folder::with(&[
        ("repo/fixtures/one/case.toml", &format!("capture = \"{capture}\"\n")),
        ("repo/captures/t.a4", SOURCE),
        ("beside/t.a4", SOURCE),
        ("beside/secret", "hunter2\n"),
    ]);
    let golden =
        Folder::with(&[("fixtures/one/case.toml", "capture = \"t.a4\"\n"), ("fixtures/one/t.a4", SOURCE)]);
    golden.accepts("check --bless");
    for file in ["state.txt", "packets.txt"] {
        fs::copy(golden.path("fixtures/one").join(file), folder.path("repo/fixtures/one").join(file))
            .unwrap();
    }
    folder
}

#[test]
fn captures_of_fixtures_stay_in_their_repository() {
    fixture("../../captures/t.a4").accepts("check --fixtures repo/fixtures");
    let outside = fixture("../../../beside/t.a4");
    outside.refuses("check --fixtures repo/fixtures", 2, "outside the folders");
    outside.accepts("check --fixtures repo/fixtures --include beside");
    fixture("/etc/passwd").refuses("check --fixtures repo/fixtures", 2, "outside the folders");
}

#[test]
fn golden_files_are_not_read_or_written_through_links() {
    for file in ["state.txt", "packets.txt"] {
        let folder = fixture("../../captures/t.a4");
        let golden = folder.path("repo/fixtures/one").join(file);
        fs::remove_file(&golden).unwrap();
        symlink(folder.path("beside/secret"), &golden).unwrap();
        let said = folder.refuses("check --fixtures repo/fixtures", 2, "outside the folders");
        assert!(!said.contains("hunter2"), "{said}");
        folder.refuses("check --fixtures repo/fixtures --bless", 1, "is a symbolic link");
        assert_eq!(folder.text("beside/secret"), "hunter2\n");
    }
}

#[test]
fn a_case_that_is_a_link_is_not_blessed() {
    let folder = fixture("../../captures/t.a4");
    let (one, kept) = (folder.path("repo/fixtures/one"), folder.path("repo/kept/one"));
    fs::create_dir(folder.path("repo/kept")).unwrap();
    fs::rename(&one, &kept).unwrap();
    fs::write(kept.join("state.txt"), "mine\n").unwrap();
    symlink(&kept, &one).unwrap();
    folder.refuses("check --fixtures repo/fixtures --bless", 1, "is a symbolic link");
    assert_eq!(folder.text("repo/kept/one/state.txt"), "mine\n");
}

#[test]
fn shaders_of_a_scene_stay_in_its_folder() {
    let scene = "width = 4\nheight = 4\n[[draw]]\nvertex_shader = \"../out/secret\"\nfragment_shader = \"f\"\nvertices = []\n";
    let folder = Folder::with(&[("in/scene.toml", scene), ("out/secret", "hunter2\n")]);
    let said = folder.refuses("pico draw in/scene.toml --png o.png", 2, "outside the folders");
    assert!(!said.contains("hunter2"), "{said}");
}

/// No output of a command replaces a file that the command reads.
#[test]
fn no_file_that_a_command_reads_is_written_over() {
    let suppressions = "[[suppress]]\nrule = \"S1\"\nreason = \"x\"\n";
    let folder = Folder::with(&[
        ("s.toml", suppressions),
        ("t.a4", &SOURCE.replace("gpu_id", "include \"i.a4i\"\ngpu_id")),
        ("i.a4i", "// nothing\n"),
        ("s.pico", "#vertexShader\n#input r0.xyz\n#output r12.xyzw\nmov r12 r0\n"),
    ]);
    let capture = fs::read(triangle()).unwrap();
    ["c.rd.gz", "d.rd.gz", "run/log.jsonl"].iter().for_each(|name| {
        fs::create_dir_all(folder.path("run")).unwrap();
        fs::write(folder.path(name), &capture).unwrap();
    });
    fs::write(folder.path("run/log.jsonl"), "../c.rd.gz\n").unwrap();
    fs::create_dir(folder.path("pictures")).unwrap();
    fs::hard_link(folder.path("c.rd.gz"), folder.path("pictures/summary.json")).unwrap();
    fs::hard_link(folder.path("s.toml"), folder.path("link")).unwrap();
    let files = ["s.toml", "t.a4", "i.a4i", "s.pico", "c.rd.gz", "d.rd.gz", "run/log.jsonl"];
    let before = files.map(|name| fs::read(folder.path(name)).unwrap());
    for command in [
        "replay c.rd.gz --out pictures",
        "replay c.rd.gz --coverage c.rd.gz",
        "show c.rd.gz --draw f0 --after c.rd.gz",
        "asm t.a4 -o i.a4i",
        "asm t.a4 --validate --suppress s.toml -o s.toml",
        "asm t.a4 --validate --suppress s.toml -o link",
        "pico asm s.pico -o s.pico",
        "show c.rd.gz --overlay overdraw=c.rd.gz",
        "show c.rd.gz --draw f0 --mesh c.rd.gz",
        "reduce c.rd.gz --while-faults x -o c.rd.gz",
        "report c.rd.gz -o c.rd.gz",
        "disasm c.rd.gz -o c.rd.gz",
        "corpus run run/log.jsonl -o run",
    ] {
        folder.refuses(command, 2, "it is an input of this command");
    }
    assert_eq!(files.map(|name| fs::read(folder.path(name)).unwrap()), before);
}

#[test]
fn one_output_is_not_written_over_another() {
    let folder = Folder::with(&[]);
    fs::copy(triangle(), folder.path("c.rd.gz")).unwrap();
    let says = "it is another output of this command";
    folder.refuses("replay c.rd.gz --png x --state ./x", 2, says);
    folder.refuses("replay c.rd.gz --out o --timeline o/summary.json", 2, says);
    folder.refuses("show c.rd.gz --draw f0 --before x --after x", 2, says);
}

/// A long command checks before its work whether its output can be written.
#[test]
fn an_output_that_cannot_be_written_is_found_out_at_the_start() {
    let folder = Folder::with(&[]);
    for command in [
        "reduce nowhere.rd --while-faults x -o nowhere/x.rd",
        "report nowhere.rd -o nowhere/x.html",
        "show nowhere.rd --draw f0 --mesh nowhere/x.csv",
        "show nowhere.rd --overlay overdraw=nowhere/x.png",
        "show nowhere.rd --draw f0 --after nowhere/x.png",
    ] {
        folder.refuses(command, 2, "cannot write nowhere/x");
    }
}

/// A killed process leaves no partial output in the folder.
#[test]
#[cfg(target_os = "linux")]
fn a_killed_process_leaves_nothing_behind() {
    let folder = Folder::with(&[]);
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let command = ["replay", "fifo", "--png", "x.png", "--state", "y"];
    let mut child =
        Command::new(env!("CARGO_BIN_EXE_a4emu")).args(command).current_dir(folder.0.path()).spawn().unwrap();
    let mut writer = fs::File::options().write(true).open(&fifo).unwrap();
    let bytes = fs::read(triangle()).unwrap();
    writer.write_all(&bytes[..bytes.len() / 2]).unwrap();
    // The command has opened its outputs and waits for the rest of its input.
    let descriptors = format!("/proc/{}/fd", child.id());
    let place = fs::canonicalize(folder.0.path()).unwrap();
    let is_output = |link: PathBuf| link.starts_with(&place) && !link.ends_with("fifo");
    let begun = || {
        let entries = fs::read_dir(&descriptors).unwrap().flatten();
        entries.flat_map(|entry| fs::read_link(entry.path())).filter(|link| is_output(link.clone())).count()
    };
    let start = Instant::now();
    while begun() < 1 && start.elapsed() < Duration::from_secs(60) {
        std::thread::sleep(Duration::from_millis(10));
    }
    assert!(begun() > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    drop(writer);
    assert_eq!(folder.names(), ["fifo"]);
}

/// A capture from a pipe gives the results of a file, also if a command reads it twice.
#[test]
#[cfg(target_os = "linux")]
fn a_pipe_is_read_as_a_file() {
    let folder = Folder::with(&[]);
    fs::copy(triangle(), folder.path("c.rd.gz")).unwrap();
    let fifo = folder.path("fifo");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    for command in [
        "info FILE",
        "decode FILE",
        "show FILE",
        "show FILE --draw f0",
        "pixel FILE 128,128",
        "show FILE --draw f0 --after -",
        "replay FILE --png -",
        "diff FILE c.rd.gz",
        "diff FILE FILE",
        "disasm -q FILE --draw 0",
        "validate FILE",
    ] {
        let of_file = folder.run(&command.replace("FILE", "c.rd.gz"));
        let writer = std::thread::spawn({
            let (from, to) = (folder.path("c.rd.gz"), fifo.clone());
            move || fs::write(to, fs::read(from).unwrap())
        });
        let limited =
            format!("timeout 60 {} {}", env!("CARGO_BIN_EXE_a4emu"), command.replace("FILE", "fifo"));
        let of_pipe =
            Command::new("sh").args(["-c", &limited]).current_dir(folder.0.path()).output().unwrap();
        let _written = writer.join().unwrap();
        assert_eq!(of_pipe.status.code(), of_file.status.code(), "{command}: {of_pipe:?}");
        let text = |output: &Output| String::from_utf8_lossy(&output.stdout).replace("c.rd.gz", "fifo");
        assert!(text(&of_pipe) == text(&of_file), "{command}");
    }
    // Two arguments that read one pipe are an error, because its bytes can be read only once.
    let twice = format!("{} decode -q - - < fifo", env!("CARGO_BIN_EXE_a4emu"));
    let writer = std::thread::spawn({
        let (from, to) = (folder.path("c.rd.gz"), fifo.clone());
        move || fs::write(to, fs::read(from).unwrap())
    });
    let output = Command::new("sh").args(["-c", &twice]).current_dir(folder.0.path()).output().unwrap();
    let _written = writer.join().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(2) && said.contains("can be read only once"), "{said}");
}
