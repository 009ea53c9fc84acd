//! `corpus run`: plays every capture of a corpus, each in its own process.

use std::collections::BTreeMap;
use std::env;
use std::io::Write;
use std::num::NonZeroU16;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::{self, ScopedJoinHandle};
use std::time::{Duration, Instant};

use anyhow::Context;
use indicatif::ProgressBar;
use xxhash_rust::xxh3::Xxh3;

use super::child::{Ended, Starter};
use super::list::{Entry, captures, content};
use super::log::{Growing, Log, PICTURES, copy_pictures};
use super::play::Play;
use super::row::{End, Row};
use super::system;
use crate::flags::amount;
use crate::shard::{Sharding, heaviest_first};
use a4emu_gpu::ambient;
use a4emu_support::options::Shared;
use a4emu_support::out_file::Inputs;
use a4emu_support::progress::rated;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Shown};

/// Exit status of a shell for a command that ctrl-C ended.
const INTERRUPTED: i32 = 130;

/// Arguments of `corpus run`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A folder, whose .rd and .rd.gz files count wherever they are in it, one such file, or a file with a path in
    /// each line (- for stdin)
    #[arg(value_name = "DIR|LIST")]
    pub corpus: PathBuf,
    /// Folder of the run; captures that it already has are not run again
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,
    /// Folder that a list's paths start from (default: that of the list)
    #[arg(long, value_name = "DIR")]
    pub root: Option<PathBuf>,
    /// Captures that run at a time (default: one per core)
    #[arg(short, long, value_name = "N")]
    pub jobs: Option<NonZeroU16>,
    /// Threads of each (default: cores by jobs)
    #[arg(long, value_name = "N")]
    pub threads: Option<NonZeroU16>,
    /// Stop the process of a capture after this many seconds
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout: u32,
    /// Bytes of memory of its own that a capture's process may have (Linux)
    #[arg(long, value_name = "BYTES", value_parser = amount, default_value = "4G")]
    pub process_memory: u64,
    /// Keep the picture of every surface, for `corpus compare --html`
    #[arg(long)]
    pub pictures: bool,
    /// An earlier run: results of the same capture, binary and options are taken over, and its times balance the
    /// parts (repeatable)
    #[arg(long, value_name = "RUN")]
    pub earlier: Vec<PathBuf>,
    /// The a4emu that plays the captures (default: this one)
    #[arg(long, value_name = "PROGRAM")]
    pub binary: Option<PathBuf>,
    /// Which part of the captures
    #[command(flatten)]
    pub sharding: Sharding,
    /// How each is played
    #[command(flatten)]
    pub play: Play,
}

/// The shared state of all jobs.
struct Work<'a> {
    args: &'a Args,
    starter: Starter,
    key: String,
    earlier: &'a [(PathBuf, Log)],
    /// Existing rows of this run.
    known: &'a Log,
    out: Growing,
    inputs: &'a Inputs,
    next: AtomicUsize,
    stop: &'a AtomicBool,
    bar: ProgressBar,
    tally: Mutex<Tally>,
}

/// Counts of the captures by origin of their rows.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    kept: usize,
    taken_over: usize,
    played: usize,
    status: Status,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let earlier = args.earlier.iter().map(|folder| Ok((folder.clone(), Log::read(folder)?)));
    let earlier: Vec<(PathBuf, Log)> = earlier.collect::<anyhow::Result<_>>()?;
    let (entries, names) = entries(args, &earlier, shared)?;
    let binary = args.binary.clone().map_or_else(env::current_exe, Ok)?;
    let (out, known) = Growing::open(&args.output, &shared.inputs)?;
    if known.damaged > 0 {
        shared.warn(format_args!("{} lines of the log are no rows: their captures run again", known.damaged));
    }
    out.begin()?;
    let stop = system::interrupts()?;
    let Some(key) = key(args, shared, &binary, &stop)? else { interrupted(0, entries.len()) };
    let work = Work {
        key,
        starter: starter(args, shared, binary),
        args,
        earlier: &earlier,
        known: &known,
        out,
        inputs: &shared.inputs,
        next: AtomicUsize::new(0),
        stop: &stop,
        bar: rated(entries.len() as u64, shared),
        tally: Mutex::default(),
    };
    let done = work.all(&entries);
    work.bar.finish_and_clear();
    done?;
    let Work { out, tally, .. } = work;
    let tally = tally.into_inner().unwrap_or_else(|poisoned| poisoned.into_inner());
    // From here on a signal ends the process at once.
    if stop.swap(true, Ordering::Relaxed) {
        interrupted(tally.kept + tally.taken_over + tally.played, entries.len());
    }
    let log = out.finish(names)?;
    Ok(tally.status.and(tell(&log, &entries, tally)))
}

/// Ends the process after a signal.
fn interrupted(done: usize, all: usize) -> ! {
    terminal::say(format_args!("interrupted after {done} of {all}; the same command goes on from here"));
    std::process::exit(INTERRUPTED);
}

/// The captures of this part, the slowest first, and their names in order.
fn entries(
    args: &Args,
    earlier: &[(PathBuf, Log)],
    shared: &Shared,
) -> anyhow::Result<(Vec<Entry>, Vec<String>)> {
    let entries = captures(&args.corpus, args.root.as_deref(), &shared.inputs)?;
    let guess = Expected::of(earlier);
    let shard = args.sharding.shard(shared)?;
    let mut entries = shard.of(entries, |entry| &entry.name, |entry| guess.ms(entry));
    let names = entries.iter().map(|entry| entry.name.clone()).collect();
    heaviest_first(&mut entries, |entry| guess.ms(entry));
    Ok((entries, names))
}

/// Bytes of a capture whose playing takes about as long as the start of a process.
const START: u64 = 1 << 16;

/// The expected run times of captures.
struct Expected<'a> {
    earlier: BTreeMap<&'a str, f64>,
    /// Estimate for captures without an earlier run.
    ms_per_byte: f64,
}

impl<'a> Expected<'a> {
    fn of(earlier: &'a [(PathBuf, Log)]) -> Self {
        let rows = earlier.iter().flat_map(|(_, log)| &log.rows);
        let known = rows.filter_map(|(name, row)| Some((name.as_str(), row.process_ms?, row.bytes)));
        let (mut earlier, mut ms, mut bytes) = (BTreeMap::new(), 0.0, 0);
        for (name, took, length) in known {
            earlier.insert(name, took);
            (ms, bytes) = (ms + took, bytes + length + START);
        }
        let ms_per_byte = if bytes > 0 { ms / bytes as f64 } else { 1.0 };
        Self { earlier, ms_per_byte }
    }

    fn ms(&self, entry: &Entry) -> f64 {
        let known = self.earlier.get(entry.name.as_str()).copied();
        known.unwrap_or((entry.bytes + START) as f64 * self.ms_per_byte)
    }
}

fn starter(args: &Args, shared: &Shared, binary: PathBuf) -> Starter {
    let cores = thread::available_parallelism().map_or(1, usize::from);
    let threads = args.threads.map_or((cores / jobs(args)).max(1), |threads| usize::from(threads.get()));
    let mut arguments = args.play.arguments();
    arguments.push(format!("--threads={threads}").into());
    arguments.extend(shared.strict.then(|| "--strict".into()));
    if args.pictures {
        arguments.extend(["--pictures-to".into(), args.output.join(PICTURES).into()]);
    }
    let timeout = Duration::from_secs(args.timeout.into());
    Starter { binary, arguments, timeout, memory: args.process_memory }
}

fn jobs(args: &Args) -> usize {
    let cores = || thread::available_parallelism().map_or(1, usize::from);
    args.jobs.map_or_else(cores, |jobs| usize::from(jobs.get()))
}

/// Whether a signal has come, or so much time has passed from now on.
fn over(stop: &AtomicBool, timeout: Duration) -> impl Fn() -> bool {
    let start = Instant::now();
    move || stop.load(Ordering::Relaxed) || start.elapsed() >= timeout
}

/// The hash of everything that results depend on besides the capture: the binary and the options. `None` after a
/// signal.
fn key(args: &Args, shared: &Shared, binary: &Path, stop: &AtomicBool) -> anyhow::Result<Option<String>> {
    let timeout = Duration::from_secs(args.timeout.into());
    let cannot = || format!("cannot read {}", binary.display());
    let content = content(binary, &shared.inputs, &mut over(stop, timeout)).with_context(cannot)?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let content = content.context("it takes longer than --timeout").with_context(cannot)?;
    let options = args.play.arguments();
    let limits = (args.timeout, args.process_memory, args.pictures, shared.strict);
    let mut hash = Xxh3::new();
    hash.update(format!("{content} {options:?} {limits:?}").as_bytes());
    Ok(Some(format!("{:016x}", hash.digest())))
}

impl Work<'_> {
    fn all(&self, entries: &[Entry]) -> anyhow::Result<()> {
        let job = || -> anyhow::Result<()> {
            while let Some(entry) = entries.get(self.next.fetch_add(1, Ordering::Relaxed)) {
                if self.stop.load(Ordering::Relaxed) {
                    break;
                }
                // A failed write or start will fail again, so the other jobs take no more captures.
                self.one(entry).inspect_err(|_| self.stop_taking(entries))?;
                self.bar.inc(1);
            }
            Ok(())
        };
        thread::scope(|scope| {
            let start = |_| ambient::spawn_scoped(scope, "a4emu-job", job);
            let jobs: Vec<_> = (0..jobs(self.args).min(entries.len())).map(start).collect();
            let end =
                |job: ScopedJoinHandle<'_, _>| job.join().unwrap_or_else(|_| anyhow::bail!("a job ended"));
            let ends = jobs.into_iter().map(|job| job.map_err(anyhow::Error::from).and_then(end));
            ends.collect::<Vec<_>>().into_iter().collect()
        })
    }

    fn stop_taking(&self, entries: &[Entry]) {
        self.next.store(entries.len(), Ordering::Relaxed);
    }

    /// Gets the row of a capture: an existing one, one of an earlier run, or a new one.
    fn one(&self, entry: &Entry) -> anyhow::Result<()> {
        let timeout = self.starter.timeout;
        let content = match content(&entry.path, self.inputs, &mut over(self.stop, timeout)) {
            Ok(Some(content)) => content,
            Ok(None) if self.stop.load(Ordering::Relaxed) => return Ok(()),
            Ok(None) => {
                let cause = format!("its bytes are not read in {} s", timeout.as_secs_f64());
                return self.keep(&unread(entry, End::Timeout, cause), |tally| tally.played += 1);
            }
            Err(error) => {
                let row = unread(entry, End::Failed, error.to_string());
                return self.keep(&row, |tally| tally.played += 1);
            }
        };
        let is_same = |log: &Log| {
            log.rows.get(&entry.name).is_some_and(|row| row.content == content && row.key == self.key)
        };
        if is_same(self.known) {
            let status = self.known.row(&entry.name)?.status();
            self.count(status, |tally| tally.kept += 1);
            return Ok(());
        }
        // A process that was killed once may succeed the next time.
        let mut logs = self.earlier.iter();
        if let Some((folder, log)) =
            logs.find(|(_, log)| is_same(log) && log.rows[&entry.name].end == End::Played)
        {
            let row = log.row(&entry.name)?;
            copy_pictures(&row, folder, &self.args.output)?;
            return self.keep(&row, |tally| tally.taken_over += 1);
        }
        let Some(ended) = self.starter.play(&entry.path, self.stop)? else { return Ok(()) };
        let Ended { end, cause, played, mut machine } = ended;
        machine.key.clone_from(&self.key);
        let (name, bytes) = (entry.name.clone(), entry.bytes);
        let row = Row { name, content, bytes, end, cause, played, machine: Some(machine) };
        self.keep(&row, |tally| tally.played += 1)
    }

    fn keep(&self, row: &Row, counted: impl FnOnce(&mut Tally)) -> anyhow::Result<()> {
        self.out.add(row)?;
        self.count(row.status(), counted);
        Ok(())
    }

    fn count(&self, status: Status, counted: impl FnOnce(&mut Tally)) {
        let mut tally = self.tally.lock().unwrap_or_else(|poisoned| poisoned.into_inner());
        tally.status = tally.status.worse(status);
        counted(&mut tally);
    }
}

/// The row of a capture whose bytes are not known. The next run looks for them again.
fn unread(entry: &Entry, end: End, cause: String) -> Row {
    let (name, cause) = (entry.name.clone(), Some(cause));
    Row { name, content: String::new(), bytes: 0, end, cause, played: None, machine: None }
}

/// Prints the captures that were not played, and the counts.
fn tell(log: &Log, entries: &[Entry], tally: Tally) -> anyhow::Result<()> {
    let mut out = terminal::lines();
    let mut names: Vec<&String> = entries.iter().map(|entry| &entry.name).collect();
    names.sort();
    for name in names.iter().filter(|name| log.rows[name.as_str()].end != End::Played) {
        let row = log.row(name)?;
        writeln!(out, "{name}: {}: {}", row.end.words(), Shown(row.cause.unwrap_or_default()))?;
    }
    write!(out, "{} captures", entries.len())?;
    for end in End::ALL {
        let count = names.iter().filter(|name| log.rows[name.as_str()].end == end).count();
        if count > 0 {
            write!(out, ", {count} {}", end.words())?;
        }
    }
    let Tally { kept, taken_over, played, .. } = tally;
    writeln!(out, "; {played} run, {kept} already done, {taken_over} reused")?;
    Ok(out.flush()?)
}
