//! Finds a Mesa with freedreno for a program. If there is none, explains what is missing, before the program
//! silently falls back to software.
//!
//! The first of these is used: `--mesa`; `A4EMU_MESA`; the one in the program's environment; `mesa` next to
//! the folder of this program, which `scripts/mesa` makes for a build of the checkout; `a4emu/mesa` of the
//! user's data; the system's.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use super::advice;

/// Folders of libraries in distributions, relative to a prefix.
const LIBRARIES: [&str; 4] = ["lib", "lib64", "lib/x86_64-linux-gnu", "lib/aarch64-linux-gnu"];
/// Prefixes of the system's libraries.
const SYSTEM: [&str; 2] = ["/usr", "/usr/local"];

/// File name of the driver, as the loader looks for it.
const DRIVER: &str = "msm_dri.so";

/// Looks up a variable of the launcher's environment.
pub trait Variables: Fn(&str) -> Option<OsString> {}
impl<F: Fn(&str) -> Option<OsString>> Variables for F {}

/// The Mesa of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Mesa {
    /// A Mesa that needs environment variables: its prefix, and the folder of its libraries.
    At(PathBuf, PathBuf),
    /// The Mesa that the program finds without help.
    InPlace,
    /// No Mesa was found, with the reason.
    Missing(String),
}

impl Mesa {
    /// Finds the Mesa for a program: the one at the prefix `chosen`, if given. `binary` is the path of
    /// a4emu.
    pub fn find(chosen: Option<&Path>, binary: &Path, variable: &impl Variables) -> Self {
        let named = chosen.map(PathBuf::from).or_else(|| variable("A4EMU_MESA").map(PathBuf::from));
        if let Some(prefix) = named {
            return Self::at(&prefix)
                .unwrap_or_else(|| Self::Missing(no_driver(&prefix.display().to_string())));
        }
        let drivers = variable("LIBGL_DRIVERS_PATH");
        if is_in_place(drivers.as_deref(), variable("LD_LIBRARY_PATH").as_deref()) {
            return Self::InPlace;
        }
        if let Some(drivers) = drivers {
            return Self::Missing(no_driver(&drivers.to_string_lossy()));
        }
        let found = places(binary, variable).find_map(|prefix| Self::at(&prefix));
        found.unwrap_or_else(|| match SYSTEM.iter().any(|prefix| Self::at(Path::new(prefix)).is_some()) {
            true => Self::InPlace,
            false => Self::Missing(not_on_this_system(&advice::for_this_system())),
        })
    }

    fn at(prefix: &Path) -> Option<Self> {
        let prefix = prefix.canonicalize().ok()?;
        let libraries = LIBRARIES.map(|folder| prefix.join(folder)).into_iter().find(|l| has_freedreno(l))?;
        Some(Self::At(prefix, libraries))
    }

    /// This Mesa, or for a program that may not need one the system's libraries.
    pub fn or_in_place(self) -> Self {
        if matches!(self, Self::Missing(_)) { Self::InPlace } else { self }
    }

    /// Environment variables with which a program finds this Mesa.
    pub fn environment(&self, variable: &impl Variables) -> Vec<(&'static str, OsString)> {
        let Self::At(prefix, libraries) = self else { return Vec::new() };
        let mut set = vec![("LD_LIBRARY_PATH", before(libraries, variable("LD_LIBRARY_PATH")))];
        let folders =
            [("LIBGL_DRIVERS_PATH", libraries.join("dri")), ("GBM_BACKENDS_PATH", libraries.join("gbm"))];
        set.extend(folders.into_iter().filter(|(_, folder)| folder.is_dir()).map(|(n, f)| (n, f.into())));
        // For a Mesa built for libglvnd, the system's libEGL and libGL use these variables.
        let vendor = prefix.join("share/glvnd/egl_vendor.d/50_mesa.json");
        if vendor.exists() {
            set.push(("__EGL_VENDOR_LIBRARY_FILENAMES", vendor.into()));
            set.push(("__GLX_VENDOR_LIBRARY_NAME", "mesa".into()));
        }
        set
    }
}

/// Places where a Mesa may be without being named.
fn places(binary: &Path, variable: &impl Variables) -> impl Iterator<Item = PathBuf> {
    let beside = binary.parent().and_then(Path::parent).map(|folder| folder.join("mesa"));
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let data = absolute("XDG_DATA_HOME").or_else(|| Some(absolute("HOME")?.join(".local/share")));
    beside.into_iter().chain(data.map(|folder| folder.join("a4emu/mesa")))
}

/// Whether the variables already point to a driver.
fn is_in_place(drivers: Option<&OsStr>, libraries: Option<&OsStr>) -> bool {
    let folders =
        |list: Option<&OsStr>| list.map(|list| env::split_paths(list).collect()).unwrap_or_default();
    let (drivers, libraries): (Vec<PathBuf>, Vec<PathBuf>) = (folders(drivers), folders(libraries));
    drivers.iter().any(|folder| folder.join(DRIVER).exists()) || libraries.iter().any(|l| has_freedreno(l))
}

/// Whether the folder of libraries has the driver, either as its own file or in the single library that
/// holds all drivers of newer Mesas.
fn has_freedreno(folder: &Path) -> bool {
    let files = fs::read_dir(folder).into_iter().flatten().flatten();
    let gallium =
        |path: &Path| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with("libgallium-"));
    let mut paths = files.map(|file| file.path()).filter(|path| gallium(path));
    folder.join("dri").join(DRIVER).exists()
        || paths
            .any(|path| fs::read(path).is_ok_and(|bytes| bytes.windows(9).any(|text| text == b"freedreno")))
}

fn before(first: &Path, list: Option<OsString>) -> OsString {
    let mut joined = first.as_os_str().to_owned();
    if let Some(list) = list.filter(|list| !list.is_empty()) {
        joined.push(":");
        joined.push(list);
    }
    joined
}

/// The message for a Mesa that the user named.
fn no_driver(place: &str) -> String {
    format!(
        "no Mesa with freedreno found ({DRIVER} is not in {place}): build one with scripts/mesa, or name the prefix \
         of one with --mesa, or its folders in LD_LIBRARY_PATH and LIBGL_DRIVERS_PATH"
    )
}

/// The message if nothing is named and the system's Mesa lacks the driver.
fn not_on_this_system(advice: &str) -> String {
    format!(
        "no Mesa with freedreno found, so the program draws without the device; {advice} (--mesa names the prefix of \
         another)"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Makes a prefix with a driver.
    fn prefix(folder: &Path, name: &str) -> PathBuf {
        let prefix = folder.join(name);
        fs::create_dir_all(prefix.join("lib/dri")).unwrap();
        fs::write(prefix.join("lib/dri").join(DRIVER), "").unwrap();
        prefix.canonicalize().unwrap()
    }

    fn at(prefix: &Path) -> Mesa {
        Mesa::At(prefix.into(), prefix.join("lib"))
    }

    #[test]
    fn the_first_place_that_has_one_counts() {
        let folder = tempfile::tempdir().unwrap();
        let names = ["chosen", "named", "environment", "target/mesa", "data/a4emu/mesa"];
        let [chosen, named, environment, beside, data] = names.map(|name| prefix(folder.path(), name));
        let binary = folder.path().join("target/release/a4emu");
        let find = |chosen: Option<&Path>, set: &[(&str, &Path)]| {
            let value = |name: &str| set.iter().find(|(n, _)| *n == name).map(|(_, path)| path.into());
            Mesa::find(chosen, &binary, &value)
        };
        let dri = environment.join("lib/dri");
        let home = folder.path().join("data");
        let all = [("A4EMU_MESA", &*named), ("LIBGL_DRIVERS_PATH", &*dri), ("XDG_DATA_HOME", &*home)];
        assert_eq!(find(Some(&chosen), &all), at(&chosen));
        assert_eq!(find(None, &all), at(&named));
        assert_eq!(find(None, &all[1..]), Mesa::InPlace);
        assert_eq!(find(None, &[("LD_LIBRARY_PATH", &environment.join("lib"))]), Mesa::InPlace);
        assert_eq!(find(None, &all[2..]), at(&beside));
        fs::remove_dir_all(beside).unwrap();
        assert_eq!(find(None, &all[2..]), at(&data));
        // A requested Mesa that does not exist is never replaced by another.
        fs::remove_dir_all(&chosen).unwrap();
        assert!(matches!(find(Some(&chosen), &all), Mesa::Missing(_)));
        assert!(matches!(find(None, &[("LIBGL_DRIVERS_PATH", &chosen), all[2]]), Mesa::Missing(_)));
    }

    #[test]
    fn a_program_is_pointed_at_all_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let mesa = prefix(folder.path(), "mesa");
        let vendor = mesa.join("share/glvnd/egl_vendor.d");
        fs::create_dir_all(&vendor).unwrap();
        fs::write(vendor.join("50_mesa.json"), "").unwrap();
        let old = |name: &str| (name == "LD_LIBRARY_PATH").then(|| "/old".into());
        let set = at(&mesa).environment(&old);
        let names: Vec<&str> = set.iter().map(|(name, _)| *name).collect();
        let vendors = ["__EGL_VENDOR_LIBRARY_FILENAMES", "__GLX_VENDOR_LIBRARY_NAME"];
        assert_eq!(names, [["LD_LIBRARY_PATH", "LIBGL_DRIVERS_PATH"], vendors].concat());
        assert_eq!(set[0].1, format!("{}/lib:/old", mesa.display()).as_str());
        assert!(Mesa::InPlace.environment(&old).is_empty());
    }
}
