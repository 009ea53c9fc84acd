//! Reports a device that could not be made: the program gets an error number, the user a message.

use std::sync::Once;

use a4emu_inspect::run_files::report::Writer;
use a4emu_inspect::run_files::summary::Summary;
use a4emu_inspect::terminal;
use rustix::io::Errno;

use crate::record::process;
use crate::settings;

/// Reports once why the device cannot be opened: to the launcher, or on stderr without one.
pub fn tell(errno: Errno) {
    static TOLD: Once = Once::new();
    TOLD.call_once(|| {
        let trouble = Some(format!("the device cannot be opened: {}", reason(errno)));
        let summary = Summary { pid: std::process::id(), process: process(), trouble, ..Summary::default() };
        let folder = settings::get().folder.as_deref();
        let left =
            folder.is_some_and(|folder| Writer::new(folder).is_ok_and(|mut out| out.put(&summary).is_ok()));
        if !left {
            terminal::say_lines(&summary);
        }
    });
}

fn reason(errno: Errno) -> String {
    match errno {
        Errno::NOMEM => "the process has no room for the GPU's 4 GiB of addresses (ulimit -v)".into(),
        Errno::AGAIN => "the process cannot start a thread (ulimit -u, ulimit -v)".into(),
        Errno::NODEV => {
            "FD_CHIP_ID or FD_GPU_ID names a chip that a4emu is not: it is an Adreno 405, 420 or 430".into()
        }
        Errno::NOSYS => "threads cannot have descriptors of their own here, which takes Linux 5.9".into(),
        other => other.to_string(),
    }
}
