//! Where captures are: those of the tree, and those beside it, which are shared. Each test takes
//! what it needs of them.
#![allow(dead_code)]

use std::fs;
use std::path::{Path, PathBuf};

/// The folder of the tree.
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

/// Capture `name` of `$A4EMU_SHARED/captures` or `../shared/captures`, which need not be there: says so if not.
pub fn shared(name: &str) -> PathBuf {
    let path = shared_folder().join(format!("{name}.rd.gz"));
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
    }
    path
}

/// All captures that are shared.
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
