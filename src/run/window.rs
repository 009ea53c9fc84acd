//! `--window`: runs programs for an X server (GLX, or EGL on X), although the device has no screen.
//!
//! VirtualGL makes the program render off screen, through EGL on a4emu's device, and copies each frame into
//! the program's window. Its launcher `vglrun` is a separate program.

use std::env;
use std::ffi::{OsStr, OsString};
use std::path::PathBuf;

use a4emu_support::status::{Failure, Status};

/// Name of VirtualGL's launcher.
const LAUNCHER: &str = "vglrun";
/// Folder of the launcher in VirtualGL's own packages.
const USUAL: &str = "/opt/VirtualGL/bin";

/// Variables of each run, unless the user has set them. Frames go to a window on this machine, and have
/// alpha, so that reading them back is a copy.
const SETTINGS: [(&str, &str); 3] = [("VGL_COMPRESS", "proxy"), ("VGL_FORCEALPHA", "1"), ("VGL_LOGO", "0")];

/// The command that runs `program` with its windows.
///
/// # Errors
/// The call fails if there is no VirtualGL or no X server.
pub fn wrapped(program: &[OsString]) -> anyhow::Result<Vec<OsString>> {
    let failure = |message: String| Failure { status: Status::Usage, message };
    let launcher = launcher(env::var_os("PATH").as_deref()).ok_or_else(|| {
        failure(format!(
            "--window needs VirtualGL, and there is no {LAUNCHER} in PATH or {USUAL}, where VirtualGL's own packages put it"
        ))
    })?;
    if env::var_os("DISPLAY").is_none_or(|display| display.is_empty()) {
        return Err(failure(
            "--window needs an X server: DISPLAY is not set (xvfb-run makes one without a screen)".into(),
        )
        .into());
    }
    // The device of a4emu is the only one in the program's /dev/dri, so it is the first in EGL's list.
    let first = [launcher.as_os_str(), "-d".as_ref(), "egl0".as_ref()];
    Ok(first.into_iter().map(OsString::from).chain(program.iter().cloned()).collect())
}

/// The variables to set, without those that the user has set.
pub fn environment() -> impl Iterator<Item = (&'static str, &'static str)> {
    SETTINGS.into_iter().filter(|(name, _)| env::var_os(name).is_none())
}

fn launcher(path: Option<&OsStr>) -> Option<PathBuf> {
    let named = path.map(|path| env::split_paths(path).collect::<Vec<_>>()).unwrap_or_default();
    let places = named.into_iter().chain([PathBuf::from(USUAL)]).map(|folder| folder.join(LAUNCHER));
    places.into_iter().find(|place| place.is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_launcher_is_the_first_of_the_path() {
        let folder = tempfile::tempdir().unwrap();
        let folders = ["a", "b"].map(|name| folder.path().join(name));
        folders.iter().for_each(|folder| std::fs::create_dir(folder).unwrap());
        std::fs::write(folders[1].join(LAUNCHER), "").unwrap();
        let found = |folders: &[PathBuf]| launcher(Some(&env::join_paths(folders).unwrap()));
        assert_eq!(found(&folders), Some(folders[1].join(LAUNCHER)));
        assert_ne!(found(&folders[..1]), Some(folders[1].join(LAUNCHER)));
    }
}
