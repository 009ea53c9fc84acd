//! `a4emu bisect`: finds where the runs of one capture in two builds of a4emu begin to differ.
//!
//! The hashes of `corpus play --draws` give the first draw whose targets differ. The pictures after it give
//! the first pixel. `debug` steps through the same warps in both builds and gives the instruction and the
//! lane ([`steps`]). Only these commands of the builds are used.

mod steps;

use std::borrow::Cow;
use std::fmt;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::thread::{self, ScopedJoinHandle};
use std::time::Duration;

use a4emu_decoder::generation::{DEFAULT, Generation};
use anyhow::{Context, bail, ensure};
use indicatif::ProgressBar;

use crate::corpus::{DrawHash, End, Ended, Kept, Played, Starter, differences};
use crate::flags::Flags;
use a4emu_gpu::ambient;
use a4emu_inspect::describe::Capture;
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::out_file::folder_in;
use a4emu_support::progress;
use a4emu_support::status::Status;
use a4emu_support::terminal::{self, Shown};
use steps::{Parting, Warp};

/// Arguments of `bisect`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A build of a4emu
    #[arg(value_name = "A")]
    pub a: PathBuf,
    /// Another one
    #[arg(value_name = "B")]
    pub b: PathBuf,
    /// A .rd or .rd.gz file
    pub capture: Option<PathBuf>,
    /// Seconds that each run may take
    #[arg(long, value_name = "SECONDS", default_value_t = 600)]
    pub timeout: u32,
    /// Bounds of each run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

/// Memory limit of a process in bytes.
const MEMORY: u64 = 8 << 30;

/// Stages before the rasteriser.
const EARLY: [&str; 5] = ["cs", "vs", "hs", "ds", "gs"];

/// Number of warps of a stage that are stepped through.
const WARPS: u32 = 8;

/// Number of steps that the progress bar shows: the run, the pictures, and the warps, with the one of the pixel.
const STEPS: u64 = 2 + 1 + WARPS as u64 * (EARLY.len() as u64 + 1);

/// The two builds and the capture.
struct Builds<'a> {
    binaries: [&'a Path; 2],
    capture: &'a Path,
    /// Shows what the builds do.
    bar: ProgressBar,
}

/// The first pixel that differs, with both values.
struct PixelDifference {
    pixel: [u32; 2],
    values: [[u8; 4]; 2],
}

/// Runs `run` for both builds at the same time. Returns both results.
fn both<T: Send>(run: impl Fn(usize) -> anyhow::Result<T> + Sync) -> anyhow::Result<[T; 2]> {
    let [one, other] = thread::scope(|scope| {
        let first = ambient::spawn_scoped(scope, "a4emu-first", || run(0));
        let other = run(1);
        let join = |first: ScopedJoinHandle<'_, _>| first.join().unwrap_or_else(|_| bail!("a thread ended"));
        [first.map_err(anyhow::Error::from).and_then(join), other]
    });
    Ok([one?, other?])
}

/// What the command compares, for messages about its arguments.
const TWO_BUILDS: &str = "`a4emu bisect OLD NEW CAPTURE` compares two builds of a4emu on one capture; `a4emu diff A B` compares two captures";

/// Whether the name is that of a capture.
fn is_capture(path: &Path) -> bool {
    let name = path.to_string_lossy();
    name.ends_with(".rd") || name.ends_with(".rd.gz") || name.ends_with(".a4")
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if a build cannot be run, or if it does not know the commands.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    for binary in [&args.a, &args.b] {
        ensure!(binary.is_file(), "{} is no build of a4emu: there is no such file", binary.display());
        ensure!(!is_capture(binary), "{} is a capture and no build of a4emu: {TWO_BUILDS}", binary.display());
    }
    let capture = args.capture.as_ref().with_context(|| format!("the capture is missing: {TWO_BUILDS}"))?;
    ensure!(capture.is_file(), "there is no file {}", capture.display());
    // Builds do nothing with a capture of another generation, and so do the same.
    let read = Capture::new(capture, shared)?;
    read.accept(&args.limits, shared)?;
    let generation = read.generation(&args.limits, shared)?;
    let bar = progress::named(STEPS, shared);
    let builds = Builds { binaries: [&args.a, &args.b], capture, bar };
    builds.step("both builds play the capture");
    let [a, b] = both(|index| builds.play(index, args))?;
    let (a, b) = match [a, b] {
        [Ended { played: Some(a), .. }, Ended { played: Some(b), .. }] => (a, b),
        [a, b] => {
            let words =
                |ended: &Ended| format!("{}: {}", ended.end.words(), ended.cause.as_deref().unwrap_or("-"));
            builds.put([format!("A {}; B {}", words(&a), words(&b))])?;
            return Ok(if (a.end, &a.cause) == (b.end, &b.cause) { Status::Fine } else { Status::Differs });
        }
    };
    let Some(draw) = first_draw(&a, &b) else {
        let status = without_draw(&builds, &a, &b)?;
        return Ok(status.worse(left_out(generation, capture, [&a, &b])));
    };
    builds.put([format!(
        "draw {} (f{}), packet at {:#010x}: the first whose targets differ",
        draw.draw, draw.frame_draw, draw.address
    )])?;
    let place = builds.first_pixel(draw)?;
    match &place {
        Some(PixelDifference { pixel: [x, y], values: [a, b] }) => {
            builds.put([format!("pixel {x},{y}: A {} B {}", Rgba(*a), Rgba(*b))])?;
        }
        None => builds.bar.suspend(|| {
            shared.warn(
                "the pictures after that draw are the same: the difference is below their 8 bits, or in depth",
            );
        }),
    }
    match builds.first_instruction(draw, place.as_ref())? {
        Some(Parting { warp, lane, instruction, values }) => {
            let [a, b] = values.each_ref().map(Shown);
            builds.put([
                format!("{warp}, lane {lane}: {instruction}"),
                format!("  A {a}"),
                format!("  B {b}"),
            ])?;
        }
        None => builds.put([
            "no shader instruction of the warps that were looked at differs: look at fixed functions",
        ])?,
    }
    Ok(Status::Differs)
}

/// Displays a pixel as a hexadecimal colour.
struct Rgba([u8; 4]);

impl fmt::Display for Rgba {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// The first draw whose targets differ.
fn first_draw<'a>(a: &'a Played, b: &'a Played) -> Option<&'a DrawHash> {
    let [a, b] = [a, b].map(|played| played.draw_hashes.as_deref().unwrap_or_default());
    a.iter().zip(b).find(|(a, b)| a != b).map(|(a, _)| a)
}

/// Reports other differences, if the targets of all draws are equal.
fn without_draw(builds: &Builds<'_>, a: &Played, b: &Played) -> anyhow::Result<Status> {
    let differences = differences(a, b);
    if differences.is_empty() {
        builds.put(["same"])?;
        return Ok(Status::Fine);
    }
    builds.put(["the targets of all draws are the same, but:"])?;
    builds.put(differences.iter().map(|difference| format!("  {}", Shown(difference))))?;
    Ok(Status::Differs)
}

/// Reports what both builds leave out of a capture whose draws are not rendered yet.
fn left_out(generation: &Generation, capture: &Path, both: [&Played; 2]) -> Status {
    if generation.number == DEFAULT.number || both.iter().any(|played| played.unsupported.is_empty()) {
        return Status::Fine;
    }
    for it in &both[0].unsupported {
        terminal::say(format_args!("{}: {}", capture.display(), it.message));
    }
    Status::Unsupported
}

impl Builds<'_> {
    /// Shows the next step of the work.
    fn step(&self, what: impl Into<Cow<'static, str>>) {
        self.bar.set_message(what);
        self.bar.inc(1);
    }

    /// Prints lines on stdout and flushes, since the next ones may take long.
    fn put(&self, lines: impl IntoIterator<Item = impl fmt::Display>) -> io::Result<()> {
        self.bar.suspend(|| {
            let mut out = terminal::lines();
            lines.into_iter().try_for_each(|line| writeln!(out, "{line}"))?;
            out.flush()
        })
    }

    fn play(&self, index: usize, args: &Args) -> anyhow::Result<Ended> {
        let timeout = Duration::from_secs(args.timeout.into());
        let binary = self.binaries[index].to_owned();
        let mut starter = Starter::plain(binary, &args.limits, timeout, MEMORY);
        starter.arguments.push("--draws".into());
        let ended = starter.play(self.capture, &AtomicBool::new(false))?.context("stopped")?;
        if ended.end == End::Failed {
            let cause = ended.cause.unwrap_or_default();
            bail!("{} cannot play {}: {cause}", self.binaries[index].display(), self.capture.display());
        }
        Ok(ended)
    }

    /// The first pixel, by rows, that differs after the draw.
    fn first_pixel(&self, draw: &DrawHash) -> anyhow::Result<Option<PixelDifference>> {
        self.step(format!("pictures after f{}", draw.frame_draw));
        let folder = folder_in(&std::env::temp_dir())?;
        let pictures = both(|index| {
            let png = folder.path().join(format!("{index}.png"));
            let number = format!("f{}", draw.frame_draw);
            let mut command = Command::new(self.binaries[index]);
            command
                .args(["show", "--quiet", "--draw", &number, "--after"])
                .arg(&png)
                .arg("--")
                .arg(self.capture);
            let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status()?;
            if status.success() || png.exists() {
                Kept::decode(std::fs::read(&png)?).map(Some)
            } else {
                Ok(None)
            }
        })?;
        let [Some(a), Some(b)] = pictures else { return Ok(None) };
        Ok(Kept::first_difference(&a, &b).map(|(pixel, values)| PixelDifference { pixel, values }))
    }

    /// The first instruction with different results: of vertex stages first, of the pixel's fragment last.
    fn first_instruction(
        &self,
        draw: &DrawHash,
        place: Option<&PixelDifference>,
    ) -> anyhow::Result<Option<Parting>> {
        let early =
            EARLY.into_iter().flat_map(|stage| (0..WARPS).map(move |warp| Warp::numbered(stage, warp)));
        let fragment = place.map(|place| Warp::of_pixel(place.pixel));
        let fragments = (0..WARPS).map(|warp| Warp::numbered("fs", warp));
        let mut absent = "";
        for warp in early.chain(fragment).chain(fragments) {
            self.step(warp.to_string());
            if warp.stage == absent {
                continue;
            }
            let said =
                both(|index| steps::transcript(self.binaries[index], self.capture, draw.frame_draw, &warp))?;
            match said {
                [Some(a), Some(b)] => {
                    if let Some(parting) = steps::parting(&a, &b, &warp) {
                        return Ok(Some(parting));
                    }
                }
                // There are no more warps of this stage, or none at all.
                _ => absent = if warp.pixel.is_none() { warp.stage } else { absent },
            }
        }
        Ok(None)
    }
}
