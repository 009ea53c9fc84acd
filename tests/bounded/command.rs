//! a4emu with limits, and what it took.

#[path = "limits.rs"]
pub mod limits;

use std::ffi::OsStr;
use std::fmt;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use wait4::Wait4;

/// Memory that a run may really hold at a time.
const PEAK_BYTES: u64 = 1 << 30;

/// How a run ended.
#[derive(Debug)]
pub struct Ended {
    pub status: ExitStatus,
    /// What it said.
    pub stderr: String,
    /// Processor time that it took.
    pub cpu: Duration,
    /// Time by the clock.
    pub wall: Duration,
    /// The most memory that it had, in bytes.
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
    /// The documented exit status that it has; a panic or a signal is none.
    ///
    /// # Errors
    /// It has none, or took too much memory.
    pub fn code(&self) -> Result<i32, String> {
        match (self.status.code(), self.status.signal()) {
            _ if self.peak > PEAK_BYTES => Err(format!("too much memory: {self}")),
            (Some(code @ 0..=4), None) => Ok(code),
            _ => Err(format!("{self}\n{}", self.stderr.lines().take(12).collect::<Vec<_>>().join("\n"))),
        }
    }
}

/// What was put out, as text.
pub fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Runs a4emu, whose output nobody reads and which is told `input`, with limits: `limited` is one of [`limits`].
///
/// # Errors
/// It cannot be started.
pub fn a4emu<S: AsRef<OsStr>>(
    limited: Command,
    arguments: impl IntoIterator<Item = S>,
    input: &str,
) -> io::Result<Ended> {
    a4emu_into(limited, arguments, input, Stdio::null())
}

/// [`a4emu`] with `stdout`.
///
/// # Errors
/// It cannot be started.
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
