//! `debug --dap`, driven by a client library: dap-python of PyPI, which is installed below target/ when it is not
//! there yet. Ignored, and said so, where there is no Python or nothing to install from; under CI that
//! fails.

use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

/// The client library, and the folder below target/ that it is in.
const LIBRARY: &str = "dap-python==0.5.0";

/// Where the library is, or why not.
fn library() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(LIBRARY);
    if folder.join("dap/client.py").exists() {
        return Ok(folder);
    }
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--target"]).arg(&folder);
    match pip.arg(LIBRARY).output() {
        Ok(output) if output.status.success() => Ok(folder),
        Ok(output) => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
        Err(error) => Err(format!("no python3: {error}")),
    }
}

fn session(library: &Path) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut python = Command::new("python3");
    python.env("PYTHONPATH", library).arg(root.join("tests/dap/session.py"));
    python.arg(env!("CARGO_BIN_EXE_a4emu")).arg(root.join("captures/triangle.rd.gz"));
    let output = python.arg(root.join("captures/pico/rings.fs.pico")).output()?;
    match output.status.success() && output.stdout == b"ok\n" {
        true => Ok(()),
        false => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
    }
}

fn main() {
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let trial = match library() {
        Ok(library) => Trial::test("a client library", move || session(&library)),
        Err(why) if ci => Trial::test("a client library", move || Err(why.into())),
        Err(why) => Trial::test(format!("a client library ({why})"), || Ok(())).with_ignored_flag(true),
    };
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}
