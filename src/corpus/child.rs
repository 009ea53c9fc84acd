//! Starts a process that plays one capture, and reports how it ended.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;

use super::log::MAX_ROW;
use super::play::Play;
use super::row::{End, Machine, Played};
use super::system;
use super::worker::Answer;
use crate::flags::Flags;
use a4emu_support::limits::Limits;

/// Maximum size of an answer in bytes. A row has it, and some bytes more.
const MAX_ANSWER: u64 = MAX_ROW / 2;

/// Bytes at the end of stderr that are read.
const LAST_WORDS: u64 = 4096;

/// Messages that mean that memory ran out: of Rust, of the C library, and of a failed start of a thread.
const OUT_OF_MEMORY: [&str; 3] = ["memory allocation of", "Cannot allocate memory", "failed to spawn thread"];

/// Least and greatest time between two checks whether the process has ended.
const LOOKS: [Duration; 2] = [Duration::from_micros(200), Duration::from_millis(20)];

/// The time between two checks is the run time so far divided by this, within [`LOOKS`].
const PATIENCE: u32 = 20;

/// The arguments and limits of every process.
#[derive(Clone, Debug)]
pub struct Starter {
    /// Path of the a4emu that plays.
    pub binary: PathBuf,
    /// Arguments after the capture.
    pub arguments: Vec<std::ffi::OsString>,
    /// Time limit of each process.
    pub timeout: Duration,
    /// Memory limit of each process in bytes.
    pub memory: u64,
}

/// The result of a process.
pub struct Ended {
    /// How the process ended.
    pub end: End,
    /// Why it ended so.
    pub cause: Option<String>,
    /// Its answer.
    pub played: Option<Played>,
    /// Values that depend on the machine; the key is not set.
    pub machine: Machine,
}

impl Starter {
    /// Makes a starter that records only the default data.
    pub fn plain(binary: PathBuf, limits: &Limits, timeout: Duration, memory: u64) -> Self {
        let play = Play { limits: Flags(limits.clone()), ..Play::default() };
        Self { binary, arguments: play.arguments(), timeout, memory }
    }

    /// Plays the capture at `path`. Returns `None` if `stop` is set first.
    ///
    /// # Errors
    /// The call fails if no process can be started.
    pub fn play(&self, path: &Path, stop: &AtomicBool) -> anyhow::Result<Option<Ended>> {
        let [mut answer, mut words] = [tempfile::tempfile()?, tempfile::tempfile()?];
        let mut command = Command::new(&self.binary);
        command.args(["corpus", "play", "--quiet"]).args(&self.arguments).arg("--").arg(path);
        // Only the message before a backtrace is kept. And a process without memory may hang while making
        // one.
        command.env("RUST_BACKTRACE", "0");
        command.stdin(Stdio::null()).stdout(answer.try_clone()?).stderr(words.try_clone()?);
        system::in_own_group(&mut command);
        let start = Instant::now();
        let mut child = command.spawn().with_context(|| format!("cannot start {}", self.binary.display()))?;
        if let Err(error) = system::limit_memory(&child, self.memory) {
            end(&mut child)?;
            return Err(error).context("cannot limit the memory of a process");
        }
        let waited = wait(&mut child, start + self.timeout, stop)?;
        let process_ms = start.elapsed().as_secs_f64() * 1e3;
        let machine = Machine { process_ms, ..Machine::default() };
        Ok(match waited {
            Waited::Stopped => None,
            Waited::Late => {
                let cause = format!("more than {} s", self.timeout.as_secs_f64());
                Some(Ended { end: End::Timeout, cause: Some(cause), played: None, machine })
            }
            Waited::Ended(status) => Some(judge(status, &mut answer, &last_words(&mut words)?, machine)),
        })
    }
}

/// The status of `command`, if it ends within `time`. Otherwise the command and all processes it started are
/// killed.
///
/// # Errors
/// The call fails if the command cannot be started.
pub fn ended_within(command: &mut Command, time: Duration) -> io::Result<Option<ExitStatus>> {
    system::in_own_group(command);
    let mut child = command.spawn()?;
    Ok(match wait(&mut child, Instant::now() + time, &AtomicBool::new(false))? {
        Waited::Ended(status) => Some(status),
        Waited::Late | Waited::Stopped => None,
    })
}

enum Waited {
    Ended(ExitStatus),
    Late,
    Stopped,
}

fn wait(child: &mut Child, deadline: Instant, stop: &AtomicBool) -> io::Result<Waited> {
    let start = Instant::now();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Waited::Ended(status));
        }
        let now = Instant::now();
        if stop.load(Ordering::Relaxed) {
            end(child)?;
            return Ok(Waited::Stopped);
        }
        if now >= deadline {
            end(child)?;
            return Ok(Waited::Late);
        }
        let [least, most] = LOOKS;
        thread::sleep(((now - start) / PATIENCE).clamp(least, most).min(deadline - now));
    }
}

/// Kills `child` and waits for it.
fn end(child: &mut Child) -> io::Result<()> {
    let _may_have_ended = system::end(child);
    child.kill()?;
    child.wait().map(drop)
}

fn judge(status: ExitStatus, answer: &mut File, words: &str, machine: Machine) -> Ended {
    let last = words.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it said nothing").trim();
    let of =
        |end: End, cause: String| Ended { end, cause: Some(cause), played: None, machine: machine.clone() };
    if let Some(line) = words.lines().find(|line| OUT_OF_MEMORY.iter().any(|what| line.contains(what))) {
        return of(End::Memory, line.trim().to_owned());
    }
    if let Some((signal, may_be_memory)) = system::signal(status) {
        let end = if may_be_memory { End::Memory } else { End::Crash };
        return of(end, format!("{signal}: {last}"));
    }
    match (status.code(), read_answer(answer)) {
        (Some(0), Ok(answer)) => {
            let Answer { played, ms, peak_bytes } = answer;
            let machine = Machine { ms: Some(ms), peak_bytes, ..machine };
            Ended { end: End::Played, cause: None, played: Some(played), machine }
        }
        (Some(0), Err(error)) => of(End::Crash, format!("no answer: {error:#}")),
        // The exit status of a panic.
        (Some(101), _) => of(End::Crash, panic_words(words).unwrap_or_else(|| last.to_owned())),
        (code, _) => {
            let code = code.map_or_else(|| "no exit status".to_owned(), |code| format!("exit status {code}"));
            of(End::Failed, format!("{code}: {last}"))
        }
    }
}

/// The place and message of a panic, without the hint after it.
fn panic_words(words: &str) -> Option<String> {
    let mut lines = words.lines().skip_while(|line| !line.contains("panicked at"));
    Some(format!("{} {}", lines.next()?.trim(), lines.next().unwrap_or_default().trim()))
}

fn read_answer(file: &mut File) -> anyhow::Result<Answer> {
    file.seek(SeekFrom::Start(0))?;
    let mut text = Vec::new();
    file.take(MAX_ANSWER).read_to_end(&mut text)?;
    Ok(serde_json::from_slice(&text)?)
}

fn last_words(file: &mut File) -> io::Result<String> {
    let length = file.seek(SeekFrom::End(0))?;
    file.seek(SeekFrom::Start(length.saturating_sub(LAST_WORDS)))?;
    let mut words = Vec::new();
    file.take(LAST_WORDS).read_to_end(&mut words)?;
    Ok(String::from_utf8_lossy(&words).into_owned())
}
