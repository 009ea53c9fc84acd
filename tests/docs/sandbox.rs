//! The folder in which the commands of a page run.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;
use std::{env, fs, io};

use tempfile::TempDir;

use crate::blocks::Block;
use crate::root;

/// The parts of the tree that a page may use.
const PARTS: [&str; 3] = ["captures", "fixtures", "scripts"];

/// A replacement for `cargo run .. -- ARGUMENTS` that starts the program already built.
const CARGO: &str = r#"#!/bin/sh
while [ "$1" != -- ]; do [ $# -gt 0 ] || exit 97; shift; done
shift
exec a4emu "$@"
"#;

/// A temporary folder with the layout of the tree.
pub struct Sandbox {
    folder: TempDir,
}

fn copy(from: &Path, to: &Path) -> io::Result<()> {
    if !from.is_dir() {
        return fs::copy(from, to).map(|_| ());
    }
    fs::create_dir(to)?;
    fs::read_dir(from)?.try_for_each(|entry| {
        let entry = entry?;
        copy(&entry.path(), &to.join(entry.file_name()))
    })
}

impl Sandbox {
    pub fn new() -> io::Result<Self> {
        let folder = tempfile::tempdir()?;
        let tree = folder.path().join("a4emu");
        fs::create_dir(&tree)?;
        for part in PARTS {
            copy(&root().join(part), &tree.join(part))?;
        }
        let bin = folder.path().join("bin");
        fs::create_dir(&bin)?;
        fs::write(bin.join("cargo"), CARGO)?;
        #[cfg(unix)]
        fs::set_permissions(bin.join("cargo"), std::os::unix::fs::PermissionsExt::from_mode(0o755))?;
        Ok(Self { folder })
    }

    /// Runs a command. Returns its exit status and its output.
    pub fn run(&self, command: &str) -> io::Result<(i32, String)> {
        let path = env::join_paths([self.folder.path().join("bin")].into_iter().chain(folders()));
        let mut bash = Command::new("bash");
        bash.args(["-c", &format!("exec 2>&1\n{command}")])
            .current_dir(self.folder.path().join("a4emu"))
            .env("PATH", path.map_err(io::Error::other)?)
            .env("HOME", self.folder.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null());
        if let Some(library) = library() {
            bash.env("A4EMU_LIBRARY", library);
        }
        let output = bash.output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        Ok((output.status.code().unwrap_or(-1), text))
    }
}

/// The search path for programs: a4emu's folder first, then the path, then the folder of games.
fn folders() -> impl Iterator<Item = PathBuf> {
    let own = Path::new(env!("CARGO_BIN_EXE_a4emu")).parent().expect("a folder").to_path_buf();
    let path = env::var_os("PATH").unwrap_or_default();
    let more: Vec<PathBuf> = env::split_paths(&path).collect();
    [own].into_iter().chain(more).chain(["/usr/games", "/opt/VirtualGL/bin"].map(PathBuf::from))
}

/// The device's library, which cargo builds beside the tests.
fn library() -> Option<PathBuf> {
    let tests = env::current_exe().ok()?.parent()?.to_path_buf();
    let places = [tests.join("liba4emu_drm.so"), tests.join("../liba4emu_drm.so")];
    places.into_iter().find(|place| place.exists())
}

/// Whether `a4emu run` finds a Mesa with the driver.
fn has_mesa() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        command.args(["run", "--", "true"]).envs(library().map(|library| ("A4EMU_LIBRARY", library)));
        let output = command.output();
        output.is_ok_and(|output| {
            output.status.success()
                && !String::from_utf8_lossy(&output.stderr).contains("no Mesa with freedreno")
        })
    })
}

/// Whether `python3` has tinygrad, and Mesa's compiler for it.
fn has_tinygrad() -> bool {
    static FOUND: OnceLock<bool> = OnceLock::new();
    *FOUND.get_or_init(|| {
        let output = Command::new("python3").args(["-c", "import tinygrad, tinymesa"]).output();
        output.is_ok_and(|output| output.status.success())
    })
}

/// The needs of a block that this machine lacks.
pub fn missing(block: &Block) -> Vec<String> {
    let has = |need: &str| match need {
        "mesa" => has_mesa(),
        "tinygrad" => has_tinygrad(),
        "board" => false,
        program => folders().any(|folder| folder.join(program).is_file()),
    };
    let needs = ["bash"].into_iter().chain(block.needs.iter().map(String::as_str));
    needs.filter(|need| !has(need)).map(str::to_owned).collect()
}
