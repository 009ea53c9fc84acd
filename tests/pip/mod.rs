//! Packages of PyPI for tests. They are installed below target/ if they are missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

/// Seconds without data after which a download fails.
const PATIENCE: &str = "30";

/// The folder with `packages` (for `PYTHONPATH`), or the reason why it is missing.
pub fn installed(packages: &[&str]) -> Result<PathBuf, String> {
    let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pip");
    let folder = place.join(packages.join(" "));
    if folder.exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&place).map_err(|error| error.to_string())?;
    // Installed beside its place and then renamed: what is there is whole.
    let made = tempfile::tempdir_in(&place).map_err(|error| error.to_string())?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--only-binary", ":all:"]);
    pip.args(["--timeout", PATIENCE, "--target"]).arg(made.path()).args(packages);
    let output = pip.stdin(Stdio::null()).output().map_err(|error| format!("no python3: {error}"))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(said.trim().lines().last().unwrap_or("pip failed").to_owned());
    }
    let renamed = fs::rename(made.keep(), &folder);
    // Another run may have been faster.
    if folder.exists() { Ok(folder) } else { Err(format!("{renamed:?}")) }
}
