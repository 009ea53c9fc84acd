//! DuckDB from PyPI.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

use crate::root;

/// The packages of PyPI that [`answers`] needs.
pub const PACKAGES: [&str; 1] = ["duckdb==2.0.0"];

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).trim().to_owned()
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
