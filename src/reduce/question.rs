//! The condition that a reduced capture has to fulfil.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use anyhow::{Context, bail, ensure};

use crate::corpus::{Ended, Played, Starter, Surface, ended_within};
use a4emu_gpu::ambient;
use a4emu_support::limits::Limits;

/// Memory limit of a process of an attempt, in bytes.
const MEMORY: u64 = 4 << 30;

/// The question.
#[derive(clap::Args, Clone, Debug)]
pub struct Asked {
    /// This shell command, in which {} is the capture, exits with 0
    #[arg(long = "while", value_name = "COMMAND", required_unless_present_any = ["differs", "faults"],
        conflicts_with_all = ["differs", "faults"])]
    pub command: Option<String>,
    /// This build of a4emu renders something else than the running one
    #[arg(long = "while-differs", value_name = "BINARY", conflicts_with = "faults")]
    pub differs: Option<PathBuf>,
    /// It has a fault, or something not supported, whose message has this text in it
    #[arg(long = "while-faults", value_name = "TEXT")]
    pub faults: Option<String>,
    /// Time limit of an attempt, in seconds; an attempt that takes longer fails
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    pub timeout: u32,
}

/// The condition, ready for tests.
pub enum Question {
    /// A shell command succeeds.
    Command(String, Duration),
    /// Two binaries render different pictures.
    Differs([Starter; 2]),
    /// A message is among the faults.
    Faults(Starter, String),
}

impl Question {
    /// Makes the condition from the arguments.
    ///
    /// # Errors
    /// The call fails if the command has no place for the capture, or if this program cannot be found.
    pub fn new(args: &Asked, limits: &Limits) -> anyhow::Result<Self> {
        let timeout = Duration::from_secs(args.timeout.into());
        let starter = |binary: PathBuf| Starter::plain(binary, limits, timeout, MEMORY);
        let this = || env::current_exe().context("where is this program?");
        Ok(match (&args.command, &args.differs, &args.faults) {
            (Some(command), ..) => {
                ensure!(command.contains("{}"), "the command has no {{}}, which is the capture");
                Self::Command(command.clone(), timeout)
            }
            (_, Some(other), _) => {
                ensure!(other.is_file(), "there is no {}", other.display());
                Self::Differs([starter(this()?), starter(other.clone())])
            }
            (.., Some(text)) => Self::Faults(starter(this()?), text.clone()),
            (None, None, None) => bail!("nothing has to hold"),
        })
    }

    /// Whether the condition holds for the capture at `path`. Each process that this starts is killed after
    /// `most`.
    ///
    /// # Errors
    /// The call fails if no process can be started.
    pub fn holds(&self, path: &Path, most: Duration) -> anyhow::Result<bool> {
        match self {
            Self::Command(command, timeout) => succeeds(command, path, (*timeout).min(most)),
            Self::Differs(starters) => differs(starters, path, most),
            Self::Faults(starter, text) => {
                let played = play(starter, path, most)?.played.unwrap_or_default();
                Ok(played.faults.iter().chain(&played.unsupported).any(|said| said.message.contains(text)))
            }
        }
    }
}

impl fmt::Display for Question {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command(command, _) => write!(f, "`{command}` fails"),
            Self::Differs([_, other]) => write!(f, "{} renders the same", other.binary.display()),
            Self::Faults(_, text) => write!(f, "no fault says `{text}`"),
        }
    }
}

/// Whether two binaries, running in parallel, render different pictures.
fn differs([one, other]: &[Starter; 2], path: &Path, most: Duration) -> anyhow::Result<bool> {
    let ends = thread::scope(|scope| {
        let one = ambient::spawn_scoped(scope, "a4emu-one", || play(one, path, most));
        let join = |one: ScopedJoinHandle<'_, _>| one.join().unwrap_or_else(|_| bail!("a thread ended"));
        [play(other, path, most), one.map_err(anyhow::Error::from).and_then(join)]
    });
    let [a, b] = ends;
    Ok(match (a?, b?) {
        (Ended { played: Some(a), .. }, Ended { played: Some(b), .. }) => pictures(&a) != pictures(&b),
        (a, b) => a.end != b.end,
    })
}

fn play(starter: &Starter, path: &Path, most: Duration) -> anyhow::Result<Ended> {
    let starter = Starter { timeout: starter.timeout.min(most), ..starter.clone() };
    starter.play(path, &AtomicBool::new(false))?.context("stopped")
}

/// The hashes of all pictures. Their addresses are not compared.
fn pictures(played: &Played) -> Vec<&Option<String>> {
    played.surfaces.iter().map(|Surface { hash, .. }| hash).collect()
}

/// Whether the shell command succeeds in time.
fn succeeds(command: &str, path: &Path, timeout: Duration) -> anyhow::Result<bool> {
    let path = path.display().to_string();
    let command = command.replace("{}", &format!("'{}'", path.replace('\'', r"'\''")));
    let shell = if cfg!(windows) { ["cmd", "/C"] } else { ["sh", "-c"] };
    let mut shell_command = Command::new(shell[0]);
    shell_command.args([shell[1], &command]);
    shell_command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let status = ended_within(&mut shell_command, timeout).context("cannot run a shell")?;
    Ok(status.is_some_and(|status| status.success()))
}
