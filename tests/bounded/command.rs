//! Runs a4emu with limits, and measures its time and memory.

#[path = "limits.rs"]
pub mod limits;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// Largest resident memory of a run, in bytes.
const PEAK_BYTES: u64 = 1 << 30;

/// The result of a run.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// The text on stderr.
    pub stderr: String,
    /// Processor time that the run used.
    pub cpu: Duration,
    /// Wall-clock time of the run.
    pub wall: Duration,
    /// Largest resident memory of the run, in bytes.
    pub peak: u64,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let megabytes = self.peak >> 20;
        let [cpu, wall] = [self.cpu, self.wall].map(|time| time.as_secs_f64());
        write!(f, "{}, {cpu:.1} CPU s, {wall:.1} s, {megabytes} MB", self.status)
    }
}

impl Ended {
    /// The exit status of the run. A panic or a signal has none.
    ///
    /// # Errors
    /// The run has no documented exit status, or used too much memory.
    pub fn code(&self) -> Result<i32, String> {
        match (self.status.code(), self.status.signal()) {
            _ if self.peak > PEAK_BYTES => Err(format!("too much memory: {self}")),
            (Some(code @ 0..=4), None) => Ok(code),
            _ => Err(format!("{self}\n{}", self.stderr.lines().take(12).collect::<Vec<_>>().join("\n"))),
        }
    }
}

/// The output of a run as text.
pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a4emu with limits and with `input` on stdin, and discards its stdout. `limited` is one of the
/// functions of [`limits`].
///
/// # Errors
/// The program cannot be started.
pub fn a4emu<S: AsRef<OsStr>>(
    limited: Command,
    arguments: impl IntoIterator<Item = S>,
    input: &str,
) -> io::Result<Ended> {
    a4emu_into(limited, arguments, input, Stdio::null())
}

/// Runs [`a4emu`] with a given `stdout`.
///
/// # Errors
/// The program cannot be started.
pub fn a4emu_into<S: AsRef<OsStr>>(
    mut limited: Command,
    arguments: impl IntoIterator<Item = S>,
    input: &str,
    stdout: Stdio,
) -> io::Result<Ended> {
    let start = Instant::now();
    let mut stdin = tempfile::tempfile()?;
    stdin.write_all(input.as_bytes())?;
    stdin.rewind()?;
    limited.arg(env!("CARGO_BIN_EXE_a4emu")).args(arguments).stdin(stdin).stdout(stdout);
    let mut child = limited.stderr(Stdio::piped()).spawn()?;
    let mut said = Vec::new();
    child.stderr.take().map_or(Ok(0), |mut stderr| stderr.read_to_end(&mut said))?;
    let used = child.wait4()?;
    Ok(Ended {
        status: used.status,
        stderr: text_of(&said),
        wall: start.elapsed(),
        cpu: used.rusage.utime + used.rusage.stime,
        peak: used.rusage.maxrss,
    })
}
