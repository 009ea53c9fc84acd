//! Looking for a Mesa that has freedreno, to say what is missing before a program falls
//! back to software silently.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// Where distributions keep libraries.
const LIBRARIES: [&str; 6] = [
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib/aarch64-linux-gnu",
    "/usr/lib64",
    "/usr/lib",
    "/usr/local/lib64",
    "/usr/local/lib",
];

/// The driver's file, as the loader looks for it.
const DRIVER: &str = "msm_dri.so";

/// One line about what is missing; `None` when a driver is there.
pub fn missing() -> Option<String> {
    let folders = driver_folders(env::var_os("LIBGL_DRIVERS_PATH").as_deref());
    let libraries = library_folders(env::var_os("LD_LIBRARY_PATH").as_deref());
    if folders.iter().any(|folder| folder.join(DRIVER).exists()) || libraries.iter().any(|l| has_freedreno(l))
    {
        return None;
    }
    let looked: Vec<String> =
        folders.iter().filter(|f| f.is_dir()).map(|f| f.display().to_string()).collect();
    Some(format!(
        "no Mesa with freedreno found ({DRIVER} is not in {}): build Mesa with -Dgallium-drivers=freedreno and set \
         LD_LIBRARY_PATH to its lib folder and LIBGL_DRIVERS_PATH to the dri folder in that",
        if looked.is_empty() { "any library folder".into() } else { looked.join(":") },
    ))
}

/// Where the loader looks for drivers: the variable's folders if it is set.
fn driver_folders(variable: Option<&OsStr>) -> Vec<PathBuf> {
    match variable {
        Some(list) => env::split_paths(list).collect(),
        None => LIBRARIES.iter().map(|folder| Path::new(folder).join("dri")).collect(),
    }
}

fn library_folders(variable: Option<&OsStr>) -> Vec<PathBuf> {
    let first: Vec<PathBuf> = variable.map(|list| env::split_paths(list).collect()).unwrap_or_default();
    first.into_iter().chain(LIBRARIES.map(PathBuf::from)).collect()
}

/// Whether the folder has the one library that newer Mesas put all drivers in, with ours.
fn has_freedreno(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let gallium =
        |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libgallium-"));
    let mut paths = files.map(|file| file.path()).filter(|path| gallium(path));
    paths.any(|path| fs::read(path).is_ok_and(|bytes| bytes.windows(9).any(|text| text == b"freedreno")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_variable_replaces_the_systems_folders() {
        assert_eq!(driver_folders(Some("/a:/b".as_ref())), [Path::new("/a"), Path::new("/b")]);
        assert!(driver_folders(None).contains(&PathBuf::from("/usr/lib/dri")));
        assert_eq!(library_folders(Some("/a".as_ref()))[0], Path::new("/a"));
    }
}
