//! Where captures are: those of the tree, and those beside it, which are shared. Each test takes
//! what it needs of them.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

/// The folder of the tree.
pub fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Capture `name` of `captures/`.
pub fn own(name: &str) -> PathBuf {
    root().join(format!("captures/{name}.rd.gz"))
}

/// Capture `name` of `$A4EMU_SHARED/captures` or `../shared/captures`, which need not be there: says so if not.
pub fn shared(name: &str) -> PathBuf {
    let folder = std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from);
    let path = folder.join("captures").join(format!("{name}.rd.gz"));
    if !path.exists() {
        eprintln!("skipped: {} is not there", path.display());
    }
    path
}
