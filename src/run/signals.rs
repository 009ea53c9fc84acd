//! Signals that end the launcher end the program instead: the launcher stays to clean up.

use std::io;
use std::process::{Child, Command, ExitStatus};
use std::thread;

use rustix::process::{Pid, Signal, kill_process};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

/// Runs `command` to its end. SIGTERM and SIGHUP are passed on; SIGINT and SIGQUIT come from
/// the terminal, which sends them to the program as well.
///
/// # Errors
/// The program cannot be started.
pub fn status(command: &mut Command) -> io::Result<ExitStatus> {
    let mut signals = Signals::new([SIGINT, SIGQUIT, SIGTERM, SIGHUP])?;
    let handle = signals.handle();
    let mut child = command.spawn()?;
    let pid = Pid::from_child(&child);
    let passing = thread::spawn(move || signals.forever().for_each(|signal| pass_on(pid, signal)));
    let status = Child::wait(&mut child);
    handle.close();
    let _ = passing.join();
    status
}

fn pass_on(pid: Pid, signal: i32) {
    let signal = match signal {
        SIGTERM => Signal::TERM,
        SIGHUP => Signal::HUP,
        _ => return,
    };
    // Fails only if the program has ended.
    let _ = kill_process(pid, signal);
}
