//! Messages on stderr. Errors of stderr are dropped and change no exit status, but for `run`, whose answers stand
//! there ([`has_lost_text`]).

use std::fmt::Display;
use std::io::{self, Write};
use std::sync::atomic::{AtomicBool, Ordering};

use crate::text::{Colours, Shown, escaped};

/// The file of stderr when the process began. A program around this library may close stderr and open a file
/// of its own in its place.
#[cfg(target_os = "linux")]
#[ctor::ctor(unsafe)]
static STDERR: Option<(u64, u64)> = stderr_file();

/// Device and inode of stderr.
#[cfg(target_os = "linux")]
fn stderr_file() -> Option<(u64, u64)> {
    let stat = rustix::fs::fstat(rustix::stdio::stderr()).ok()?;
    Some((stat.st_dev as u64, stat.st_ino as u64))
}

/// Whether descriptor 2 is still the stderr with which the process began.
#[cfg(target_os = "linux")]
fn is_stderr() -> bool {
    STDERR.is_some() && *STDERR == stderr_file()
}

#[cfg(not(target_os = "linux"))]
fn is_stderr() -> bool {
    true
}

/// Prints one line on stderr, after `a4emu: `.
pub fn say(message: impl Display) {
    put(&format!("a4emu: {}\n", Shown(message)));
}

/// Prints a text on stderr as it is. The call does not allocate.
#[cfg(target_os = "linux")]
pub fn say_text(text: &'static str) {
    if is_stderr() {
        let _dropped = rustix::io::write(rustix::stdio::stderr(), text.as_bytes());
    }
}

/// Prints one line on stderr without `a4emu: ` before it.
pub fn say_plainly(message: impl Display) {
    put(&format!("{}\n", Shown(message)));
}

/// Prints lines on stderr. Characters that are not plain are escaped.
pub fn say_lines(message: impl Display) {
    let text = message.to_string();
    put(&text.split('\n').map(|line| format!("{}\n", Shown(line))).collect::<String>());
}

/// Prints lines on stderr that may hold colours.
pub fn say_coloured(text: &str) {
    put(&escaped(text.as_bytes(), Colours::Kept));
}

/// Prints lines on stderr. Characters that are not plain are escaped, except tabs.
pub fn say_bytes(text: &[u8]) {
    put(&escaped(text, Colours::Escaped));
}

/// Writes to stderr, if it is still that of the process's start. An error is dropped: if stderr is closed or full, it cannot be reported.
fn put(text: &str) {
    put_bytes(&mut io::stderr(), text.as_bytes());
}

/// Writes to `out`, which is stderr, as [`say`] does, but `bytes` as they are.
pub fn put_bytes(out: &mut impl Write, bytes: &[u8]) {
    if is_stderr()
        && let Err(error) = out.write_all(bytes)
        && error.kind() != io::ErrorKind::BrokenPipe
    {
        HAS_LOST_TEXT.store(true, Ordering::Relaxed);
    }
}

/// Whether text for stderr could not be written.
static HAS_LOST_TEXT: AtomicBool = AtomicBool::new(false);

/// Whether text for stderr could not be written, although its reader has not gone away.
pub fn has_lost_text() -> bool {
    HAS_LOST_TEXT.load(Ordering::Relaxed)
}
