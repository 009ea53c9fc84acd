//! Packages of the npm registry for tests. They are installed below target/ if they are missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The folder with the `node_modules` of `package` at `version`, or the reason why it is missing.
pub fn installed(package: &str, version: &str) -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("npm").join(package.replace('/', "-"));
    if folder.join("node_modules").join(package).join("package.json").exists() {
        return Ok(folder);
    }
    let failed = |error: std::io::Error| format!("no npm: {error}");
    fs::create_dir_all(&folder).map_err(failed)?;
    let mut npm = Command::new("npm");
    npm.current_dir(&folder).args([
        "install",
        "--no-fund",
        "--no-audit",
        "--ignore-scripts",
        "--prefix",
        ".",
    ]);
    let output = npm.arg(format!("{package}@{version}")).output().map_err(failed)?;
    match output.status.success() {
        true => Ok(folder),
        false => Err(String::from_utf8_lossy(&output.stderr).trim().to_owned()),
    }
}
