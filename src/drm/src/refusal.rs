//! Reports a device that could not be made: the program gets an error number, the user a message.

use std::io;
use std::sync::Once;

use a4emu_process::ledger::Word;
use a4emu_process::stderr;
use a4emu_process::summary::Summary;
use rustix::io::Errno;

use crate::ffi::signals;
use crate::ledger::{Reporter, Row};
use crate::record::process;
use crate::settings;

/// Reports once why the device cannot be opened: to the launcher, or on stderr without one.
pub fn tell(errno: Errno) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| leave(format!("the device cannot be opened: {}", reason(errno))));
}

/// Reports that the device's files could not be made.
pub fn tell_no_files(error: &io::Error) {
    if let Some(Ok(row)) = settings::get().folder.as_deref().map(Row::take) {
        row.fail(Word::DeviceError, error);
    }
    leave(format!("no device files: {error}"));
}

/// Reports that there is not even memory for a report.
pub fn tell_no_room(errno: Errno) {
    stderr::say_text(match errno {
        Errno::PERM => {
            "a4emu: no device: the process locks its memory (mlockall), and may not lock more (ulimit -l)\n"
        }
        _ => "a4emu: no device: the process has no memory left for it (ulimit -d, ulimit -v)\n",
    });
}

/// Reports once that the run has ended, which made the device.
pub fn tell_ended() {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        let _signals = signals::hold();
        let _writes = signals::keep_from_writes();
        stderr::say("no device: the run of `a4emu run` that this process belongs to has ended");
    });
}

/// Leaves `trouble` for the launcher, or says it on stderr.
fn leave(trouble: String) {
    let _signals = signals::keep_from_writes();
    let (pid, process) = (std::process::id(), process());
    let summary = Summary { pid, process, trouble: Some(trouble), ..Summary::default() };
    let folder = settings::get().folder.as_deref();
    let reporter = folder.and_then(|folder| Reporter::new(folder).ok());
    if reporter.is_none_or(|mut reporter| reporter.put(&summary).is_err()) {
        stderr::say_lines(&summary);
    }
}

fn reason(errno: Errno) -> String {
    match errno {
        Errno::PERM => {
            "the process locks its memory (mlockall), and may not lock the GPU's 4 GiB of addresses (ulimit -l)".into()
        }
        Errno::NOMEM => "the process has no room for the GPU's 4 GiB of addresses (ulimit -v)".into(),
        Errno::AGAIN => "the process cannot start a thread (ulimit -u, ulimit -v)".into(),
        Errno::NODEV => {
            "FD_CHIP_ID or FD_GPU_ID names a chip that a4emu is not: it is an Adreno 405, 420 or 430".into()
        }
        Errno::NOSYS => "threads cannot have descriptors of their own here, which takes Linux 5.9".into(),
        other => other.to_string(),
    }
}
