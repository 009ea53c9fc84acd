//! DuckDB from PyPI. It is installed below target/ if it is missing.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

use crate::root;

const PACKAGE: &str = "duckdb==2.0.0";

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
}

/// The folder with DuckDB, or the reason why it is missing.
pub fn library() -> Result<PathBuf, String> {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pip").join(PACKAGE);
    if folder.join("whole").exists() {
        return Ok(folder);
    }
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "install", "--quiet", "--upgrade", "--only-binary", ":all:", "--target"]);
    let output =
        pip.arg(&folder).arg(PACKAGE).output().map_err(|error| format!("no python3 for DuckDB: {error}"))?;
    match output.status.success() {
        true => fs::write(folder.join("whole"), "").map(|()| folder).map_err(|error| error.to_string()),
        false => Err(format!("no DuckDB: {}", said(&output).lines().last().unwrap_or("pip failed"))),
    }
}

/// DuckDB's answers to the questions of the page, for `tables` in `folder`.
pub fn answers(library: &Path, folder: &Path) -> Result<Vec<Value>, String> {
    let mut python = Command::new("python3");
    python.args(["export/tests/tables/questions.py", "docs/tables.md"].map(|name| root().join(name)));
    let output = python.env("PYTHONPATH", library).current_dir(folder).output().map_err(|e| e.to_string())?;
    if !output.status.success() {
        return Err(said(&output));
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().map(|line| serde_json::from_str(line).map_err(|error| error.to_string())).collect()
}
