//! Paths of captures: those in the tree and the shared ones beside it. Each test uses a part of this module.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// The root folder of the tree.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Capture `name` of `captures/`.
pub fn own(name: &str) -> PathBuf {
    root().join(format!("captures/{name}.rd.gz"))
}

fn shared_folder() -> PathBuf {
    std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from).join("captures")
}

/// Path of capture `name` in `$A4EMU_SHARED/captures` or `../shared/captures`. If it does not exist, a
/// message is printed.
pub fn shared(name: &str) -> PathBuf {
    let path = shared_folder().join(format!("{name}.rd.gz"));
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
    }
    path
}

/// Paths of all shared captures.
pub fn all_shared() -> Vec<PathBuf> {
    below(&shared_folder())
}

fn below(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let (folders, files): (Vec<_>, Vec<_>) = entries.partition(|path| path.is_dir());
    let is_capture =
        |path: &PathBuf| path.to_str().is_some_and(|name| name.ends_with(".rd.gz") || name.ends_with(".rd"));
    folders.iter().flat_map(|folder| below(folder)).chain(files.into_iter().filter(is_capture)).collect()
}
