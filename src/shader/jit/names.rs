//! Names of compiled code for Linux `perf`.
use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::sync::{Mutex, OnceLock, PoisonError};

/// Whether `A4EMU_PERF_MAP=1` is set.
pub fn wanted() -> bool {
    static WANTED: OnceLock<bool> = OnceLock::new();
    *WANTED.get_or_init(|| std::env::var_os("A4EMU_PERF_MAP").is_some_and(|value| value == "1"))
}

/// Adds code at `address` of length `bytes` to `/tmp/perf-PID.map`. The file belongs to this process: the
/// first call replaces an existing file, and links are not followed.
///
/// # Errors
/// The file cannot be written.
pub fn note((address, bytes): (usize, usize), name: std::fmt::Arguments<'_>) -> io::Result<()> {
    static BEGUN: Mutex<bool> = Mutex::new(false);
    let mut begun = BEGUN.lock().unwrap_or_else(PoisonError::into_inner);
    let path = format!("/tmp/perf-{}.map", std::process::id());
    let mut options = OpenOptions::new();
    let mut file = if *begun {
        options.append(true).custom_flags(rustix::fs::OFlags::NOFOLLOW.bits() as i32).open(path)?
    } else {
        let _ = fs::remove_file(&path);
        options.write(true).create_new(true).mode(0o600).open(path)?
    };
    *begun = true;
    writeln!(file, "{address:x} {bytes:x} {name}")
}
