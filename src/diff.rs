//! `a4emu diff`: what changed between two captures, or two state files.
//!
//! Captures are compared command by command, tiles folded:
//!
//! - `side`: the commands of a capture, each with its state and hashes of what it fetches;
//! - `player`: the runs that this takes, which share what the limits allow;
//! - `visit`: those that look at what draws fetch;
//! - `align`: which command of one is which of the other;
//! - `compare`, `registers`: what differs between two; `contents`: the bytes of what is fetched, looked at only
//!   where the hashes differ;
//! - `rendered`: what earlier draws made of what is fetched, if nothing else differs;
//! - `cause`: the packet that made a difference; `images`: pictures after each; `report`: what is put out.
//!
//! `states` compares state files.
mod align;
mod cause;
mod compare;
mod contents;
mod images;
mod player;
mod registers;
mod rendered;
mod report;
mod side;
mod states;
mod visit;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::inspect::Capture;
use crate::limits::Limits;
use crate::options::Shared;
use crate::selection::{Draws, Selection};
use crate::status::{Failure, Status, WithErrors};
use crate::terminal::{self, Form};
use align::{Pair, align};
use compare::{Comparison, Difference};
use player::Player;
use report::Report;
use side::{Side, Tiles};
use visit::Play;

/// Arguments of `diff`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Capture or state file; `A:5` and `B:f9` compare two draws
    pub a: PathBuf,
    /// Capture or state file
    pub b: PathBuf,
    /// Each run of a draw for itself, with the registers of the tile
    #[arg(long)]
    pub tiles: bool,
    /// Addresses count: a buffer that moved is a difference
    #[arg(long)]
    pub addresses: bool,
    /// Stop at the first draw that differs, and name the packet that made the difference
    #[arg(long)]
    pub first: bool,
    /// One JSON object instead of lines
    #[arg(long)]
    pub json: bool,
    /// Render too: compare the targets after each draw that differs and after the last, and write pictures of the
    /// difference here
    #[arg(long, value_name = "DIR")]
    pub images: Option<PathBuf>,
    /// Compares only these
    #[command(flatten)]
    pub selection: Selection,
    /// Bounds of the runs
    #[command(flatten)]
    pub limits: Limits,
}

/// Whether addresses count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// What lies there counts.
    Renamed,
    /// They do.
    Compared,
}

/// An input: a file, and the one draw of it that is meant.
struct Input {
    path: PathBuf,
    draw: Option<Draws>,
}

impl Input {
    /// `FILE:5` unless there is a file of that name.
    fn new(path: &Path) -> anyhow::Result<Self> {
        let text = path.to_string_lossy();
        match text.rsplit_once(':') {
            Some((file, draw)) if !path.exists() && !file.is_empty() => {
                let draw = Draws::one(draw).map_err(anyhow::Error::msg).with_context(|| text.to_string())?;
                Ok(Self { path: file.into(), draw: Some(draw) })
            }
            _ => Ok(Self { path: path.to_owned(), draw: None }),
        }
    }
}

/// Runs the subcommand.
///
/// # Errors
/// Wrong use or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    run_to(&mut terminal::stdout(Form::of(args.json)), args, shared)
}

/// The same, told to `out`.
///
/// # Errors
/// Wrong use or I/O.
pub fn run_to(out: &mut dyn Write, args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let (a, b) = (Input::new(&args.a)?, Input::new(&args.b)?);
    for path in [&a.path, &b.path] {
        shared.inputs.keep(path)?;
    }
    let is_state = |path| states::is_state(path, shared).is_ok_and(|is_state| is_state);
    if is_state(&a.path) || is_state(&b.path) {
        let is_of_captures = args.tiles || args.addresses || args.first || args.json || args.images.is_some();
        let named = a.draw.is_some() || b.draw.is_some();
        ensure!(
            !is_of_captures && !named,
            "state files compare as a whole, or with --draw and --submit, as lines"
        );
        return states::diff(out, &a.path, &b.path, args, shared);
    }
    let captures = [Capture::new(&a.path, shared)?, Capture::new(&b.path, shared)?];
    let (status, compared) = compare(captures, [a.draw, b.draw], out, args, shared);
    Ok(status.and(compared))
}

/// Compares two captures, or `draws` of them, whatever `args` call them; the worst status met, and what ended it early.
pub fn compare(
    captures: [Capture; 2],
    draws: [Option<Draws>; 2],
    out: &mut dyn Write,
    args: &Args,
    shared: &Shared,
) -> (Status, anyhow::Result<()>) {
    // What is wrong with one capture counts, whatever is wrong with the other.
    let mut status = Status::Fine;
    let compared = compared(captures, draws, out, args, shared, &mut status);
    (status, compared)
}

/// Compares two captures; `status` is the worst met, also where it ends early.
///
/// # Errors
/// Wrong use or I/O.
fn compared(
    captures: [Capture; 2],
    draws: [Option<Draws>; 2],
    out: &mut dyn Write,
    args: &Args,
    shared: &Shared,
    status: &mut Status,
) -> anyhow::Result<()> {
    let tiles = if args.tiles { Tiles::Apart } else { Tiles::Folded };
    let mut players = captures.map(|capture| Player::new(capture, &args.limits));
    let mut sides = Vec::new();
    for player in &mut players {
        let (side, told) = Side::of(player, tiles, shared)?;
        *status = status.worse(told);
        sides.push(side);
    }
    let [old, new] = [&sides[0], &sides[1]];
    let pairs = match draws.into() {
        (None, None) => selected(args.selection, old, new, align(old, new, tiles))?,
        (Some(one), other) => vec![Pair::Both(old.find(one)?, new.find(other.unwrap_or(one))?)],
        (None, Some(one)) => vec![Pair::Both(old.find(one)?, new.find(one)?)],
    };
    let addresses = if args.addresses { Addresses::Compared } else { Addresses::Renamed };
    let is_whole = args.selection.draw.is_none() && draws == [None, None];
    let mut comparison = Comparison::of(old, new, &pairs, addresses);
    contents::resolve(&mut comparison, Play::Captured, &mut players, [old, new], shared)?;
    *status = status.worse(rendered::compare(&mut comparison, &pairs, &mut players, [old, new], shared)?);
    *status = status.worse(comparison.tell(shared));
    let mut report = Report::new([old, new], comparison, is_whole && !args.tiles);
    if args.first {
        report.keep_first();
        cause::add(&mut report, &mut players, shared)?;
    }
    if let Some(folder) = &args.images {
        *status = status.worse(images::add(&mut report, &mut players, [old, new], &pairs, folder, shared)?);
    }
    let differs = if report.is_same() { Status::Fine } else { Status::Differs };
    *status = status.worse(differs);
    report.write(out, args)
}

/// The pairs of which one is inside the selection.
///
/// # Errors
/// None is.
fn selected(selection: Selection, a: &Side, b: &Side, pairs: Vec<Pair>) -> Result<Vec<Pair>, Failure> {
    let inside = |side: &Side, index: Option<usize>| {
        let command = index.and_then(|index| side.commands.get(index));
        command.is_some_and(|it| it.is_inside(selection))
    };
    let kept: Vec<Pair> =
        pairs.into_iter().filter(|pair| inside(a, pair.a()) || inside(b, pair.b())).collect();
    let found = !kept.is_empty() || (selection.draw.is_none() && selection.submit.is_none());
    selection.must_have_found(found, a.draws.max(b.draws), a.submits.max(b.submits))?;
    Ok(kept)
}

/// A difference where it was found.
#[derive(Clone, Debug)]
pub struct Found {
    /// The commands.
    pub pair: Pair,
    /// What differs.
    pub difference: Difference,
}
