//! `a4emu reduce`: finds the smallest capture that still fulfils a condition.
//!
//! The capture becomes statements of the assembler ([`tree`]). [`minimise`] removes as many as possible:
//! draws first, then submits, packets, buffers, data and shader instructions, until nothing can be removed.
//! Each attempt is assembled, written to a file and tested ([`question`]).

mod minimise;
mod question;
mod tree;

use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::flags::Flags;
use a4emu_decoder::asm::{Bounds, assemble_block, ast, parse};
use anyhow::{Context, bail};
use tempfile::TempDir;

use a4emu_gpu::budget::{BASE, Ends};
use a4emu_inspect::asm::Disk;
use a4emu_inspect::disasm;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::out_file::{self, Inputs, OutFile, folder_in};
use a4emu_support::progress::Counted;
use a4emu_support::status::{Failure, Status};
use a4emu_support::terminal;
use minimise::Minimiser;
use question::Question;
use tree::{Class, Tree};

/// Arguments of `reduce`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file
    pub capture: PathBuf,
    /// The capture to write; with the ending .a4 its source
    #[arg(short, long, value_name = "FILE")]
    pub output: PathBuf,
    /// What has to hold
    #[command(flatten)]
    pub question: question::Asked,
    /// Stop after this many attempts, with the smallest capture so far
    #[arg(long, value_name = "N", default_value_t = 20_000)]
    pub attempts: u64,
    /// Bounds of each run, and of reading the capture; --time-limit ends all of it
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Names of the classes in messages.
const CLASSES: [(Class, &str); 6] = [
    (Class::Draw, "draws"),
    (Class::Submit, "submits"),
    (Class::Packet, "packets"),
    (Class::Section, "sections"),
    (Class::Data, "pieces of data"),
    (Class::Instruction, "instructions"),
];

/// The attempts to reduce a capture.
struct Attempts<'a> {
    source: &'a str,
    block: ast::Block,
    question: Question,
    folder: TempDir,
    count: u64,
    most: u64,
    /// Time after which no more attempts are made.
    ends: Option<Ends>,
}

impl Attempts<'_> {
    /// The capture without the nodes in `removed`; none if it does not assemble.
    fn capture(&self, removed: &[bool]) -> Option<Vec<u8>> {
        let block = tree::without(&self.block, removed);
        assemble_block("capture", self.source, block, &mut Disk::default(), bounds(self.source)).ok()
    }

    /// Whether no more attempts are made.
    fn is_over(&self) -> bool {
        self.count >= self.most || self.is_late()
    }

    /// Whether the time is over.
    fn is_late(&self) -> bool {
        self.ends.as_ref().is_some_and(Ends::are_reached)
    }

    /// Whether the condition holds for the capture without the nodes in `removed`.
    fn holds(&mut self, removed: &[bool]) -> anyhow::Result<bool> {
        if self.is_over() {
            return Ok(false);
        }
        self.count += 1;
        let Some(bytes) = self.capture(removed) else { return Ok(false) };
        let path = self.folder.path().join("attempt.rd");
        out_file::write(&path, &bytes, &Inputs::default())?;
        let left = self.ends.as_ref().and_then(Ends::time_left).unwrap_or(Duration::MAX);
        let holds = self.question.holds(&path, left)?;
        // The result of an attempt that was killed at the end of the time is unknown.
        Ok(holds && !self.is_late())
    }
}

/// The bounds of the assembler. They are large, since a4emu made the source.
fn bounds(source: &str) -> Bounds {
    Bounds { steps: (64 * source.len() as u64).max(1 << 28), ..Bounds::default() }
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails on wrong use, on I/O errors, or if the condition does not hold for the capture itself.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let start = Instant::now();
    args.question.differs.iter().for_each(|binary| shared.inputs.add(binary));
    shared.inputs.add(&args.capture);
    let out = OutFile::create(&args.output, &shared.inputs)?;
    let limits = args.limits.begun();
    let ends = limits.work.budget(BASE).ends();
    let source = disasm::source(&args.capture, &limits, shared)?;
    let block =
        parse("capture", &source).map_err(|error| anyhow::anyhow!("{}: {error}", args.capture.display()))?;
    let tree = Tree::of(&block);
    let question = Question::new(&args.question, &limits)?;
    let folder = folder_in(&std::env::temp_dir()).context("cannot make a folder for attempts")?;
    let mut attempts =
        Attempts { source: &source, block, question, folder, count: 0, most: args.attempts, ends };
    let mut kept = Minimiser::new(tree.len());
    if !attempts.holds(&kept.removed)? {
        let question = &attempts.question;
        if attempts.is_late() {
            let message = format!(
                "--time-limit is over before it was known whether it holds for the capture itself: {question}"
            );
            return Err(Failure { status: Status::Unsupported, message }.into());
        }
        bail!("it does not hold for the capture itself: {question}");
    }
    let told = |class: &str, before: usize, after: usize, count: u64| {
        if !shared.quiet {
            let seconds = start.elapsed().as_secs_f64();
            terminal::say(format_args!("{class}: {before} -> {after} ({count} attempts, {seconds:.1} s)"));
        }
    };
    loop {
        let mut progress = false;
        for (class, name) in CLASSES {
            let units = tree.units(class, &kept.removed);
            let before = units.len();
            let mut counted = Counted::new("attempts", shared.shows());
            let after = kept.minimise(units, &mut |removed| {
                counted.next();
                attempts.holds(removed)
            })?;
            drop(counted);
            progress |= after < before;
            if after < before {
                told(name, before, after, attempts.count);
            }
        }
        if !progress || attempts.is_over() {
            break;
        }
    }
    let cut = attempts.is_over();
    if cut {
        shared.warn(format_args!("cut off after {} attempts (--attempts, --time-limit)", attempts.count));
    }
    write(args, out, &attempts, &kept.removed)?;
    summary(&tree, &kept.removed, start.elapsed(), shared);
    Ok(if cut { Status::Unsupported } else { Status::Fine })
}

/// Writes the reduced capture.
fn write(args: &Args, mut out: OutFile, attempts: &Attempts<'_>, removed: &[bool]) -> anyhow::Result<()> {
    let bytes = attempts.capture(removed).context("what held cannot be assembled")?;
    let bytes = match args.output.extension().is_some_and(|ending| ending == "a4") {
        true => disasm::source_of(&bytes)?.into_bytes(),
        false => bytes,
    };
    out.write_all(&bytes).with_context(|| format!("cannot write {}", args.output.display()))?;
    out.finish()
}

/// Prints the size of the reduced capture.
fn summary(tree: &Tree, removed: &[bool], took: Duration, shared: &Shared) {
    if !shared.quiet {
        let counts = CLASSES.map(|(class, name)| format!("{} {name}", tree.count(class, removed)));
        terminal::say(format_args!("left are {}, after {:.1} s", counts.join(", "), took.as_secs_f64()));
    }
}
