//! `a4emu corpus`: the results for captures that crash, hang or use much memory, for killed runs, and for
//! parts.

#[cfg(unix)]
mod ends;
mod engines;
mod runs;
mod smaller;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;
use tempfile::TempDir;

/// Captures of the tree that are replayed quickly.
const CAPTURES: [&str; 6] = ["attribs", "blend", "compute", "depth", "triangle", "xfb"];

/// A folder with a corpus and its runs.
struct Corpus(TempDir);

impl Corpus {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        fs::create_dir_all(folder.path().join("corpus/below")).unwrap();
        for (index, name) in CAPTURES.iter().enumerate() {
            let below = if index % 2 == 0 { "" } else { "below/" };
            fs::copy(capture(name), folder.path().join(format!("corpus/{below}{name}.rd.gz"))).unwrap();
        }
        fs::write(folder.path().join("corpus/notes.txt"), "no capture").unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// `a4emu corpus` with these arguments, in the folder, without variables of an engine.
    fn a4emu(&self, args: &[&str]) -> Command {
        let mut command = Command::cargo_bin("a4emu").unwrap();
        command.current_dir(self.0.path()).arg("corpus").args(args);
        for variable in ["CI_NODE_INDEX", "SLURM_ARRAY_TASK_ID", "JOB_COMPLETION_INDEX"] {
            command.env_remove(variable);
        }
        command
    }

    /// Runs the corpus and checks the exit status.
    fn run(&self, to: &str, more: &[&str], status: i32) -> Output {
        let output = self.a4emu(&[&["run", "corpus", "-o", to], more].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(status), "{}", String::from_utf8_lossy(&output.stderr));
        output
    }

    fn results(&self, run: &str) -> String {
        fs::read_to_string(self.path(run).join("results.jsonl")).unwrap()
    }

    fn rows(&self, run: &str) -> Vec<Value> {
        self.results(run).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    }

    /// Lines of the log; the last may be incomplete.
    fn log(&self, run: &str) -> Vec<String> {
        let text = fs::read_to_string(self.path(run).join("log.jsonl")).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Makes a program that runs `what` (a line of shell, with `$name` for the capture) and then a4emu.
    #[cfg(unix)]
    fn wrapper(&self, what: &str) -> String {
        use std::os::unix::fs::PermissionsExt;
        let path = self.path("wrapper");
        let a4emu = assert_cmd::cargo::cargo_bin("a4emu");
        let script = format!(
            "#!/bin/sh\nfor last; do :; done\nname=$(basename \"$last\" .rd.gz)\n{what}\nexec {} \"$@\"\n",
            a4emu.display()
        );
        fs::write(&path, script).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

fn capture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("captures/{name}.rd.gz"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
