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

use crate::describe::Capture;
use crate::limits::Limits;
use crate::options::Shared;
use crate::selection::{Draws, Selection};
use crate::status::{Failure, Status, WithErrors};
use align::{Pair, align};
use compare::{Comparison, Difference};
use player::Player;
use report::Report;
use side::{Side, Tiles};
use visit::Play;

/// How captures are compared, and which parts of them.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Each run of a draw is compared for itself, with the registers of the tile.
    pub tiles: bool,
    /// Addresses count: a buffer that moved is a difference.
    pub addresses: bool,
    /// The comparison stops at the first draw that differs, and names the packet that made the difference.
    pub first: bool,
    /// One JSON object is put out instead of lines.
    pub json: bool,
    /// The captures are rendered too, and pictures of differences are written into this folder.
    pub images: Option<PathBuf>,
    /// Only these are compared.
    pub selection: Selection,
    /// Bounds of the runs.
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

/// Compares the inputs `a` and `b`: captures, state files, or one draw of a capture (`FILE:5`, `FILE:f9`). Differences go to
/// `out`.
///
/// # Errors
/// Wrong use or I/O.
pub fn run_to(
    out: &mut dyn Write,
    [a, b]: [&Path; 2],
    options: &Options,
    shared: &Shared,
) -> anyhow::Result<Status> {
    let (a, b) = (Input::new(a)?, Input::new(b)?);
    for path in [&a.path, &b.path] {
        shared.inputs.keep(path)?;
    }
    let is_state = |path| states::is_state(path, shared).is_ok_and(|is_state| is_state);
    if is_state(&a.path) || is_state(&b.path) {
        let is_of_captures =
            options.tiles || options.addresses || options.first || options.json || options.images.is_some();
        let named = a.draw.is_some() || b.draw.is_some();
        ensure!(
            !is_of_captures && !named,
            "state files compare as a whole, or with --draw and --submit, as lines"
        );
        return states::diff(out, &a.path, &b.path, options, shared);
    }
    let captures = [Capture::new(&a.path, shared)?, Capture::new(&b.path, shared)?];
    let (status, compared) = compare(captures, [a.draw, b.draw], out, options, shared);
    Ok(status.and(compared))
}

/// Compares two captures, or `draws` of them, the worst status met, and what ended it early.
pub fn compare(
    captures: [Capture; 2],
    draws: [Option<Draws>; 2],
    out: &mut dyn Write,
    options: &Options,
    shared: &Shared,
) -> (Status, anyhow::Result<()>) {
    // What is wrong with one capture counts, whatever is wrong with the other.
    let mut status = Status::Fine;
    let compared = compared(captures, draws, out, options, shared, &mut status);
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
    options: &Options,
    shared: &Shared,
    status: &mut Status,
) -> anyhow::Result<()> {
    let tiles = if options.tiles { Tiles::Apart } else { Tiles::Folded };
    let mut players = captures.map(|capture| Player::new(capture, &options.limits));
    let mut sides = Vec::new();
    for player in &mut players {
        let (side, told) = Side::of(player, tiles, shared)?;
        *status = status.worse(told);
        sides.push(side);
    }
    let [old, new] = [&sides[0], &sides[1]];
    let pairs = match draws.into() {
        (None, None) => selected(options.selection, old, new, align(old, new, tiles))?,
        (Some(one), other) => vec![Pair::Both(old.find(one)?, new.find(other.unwrap_or(one))?)],
        (None, Some(one)) => vec![Pair::Both(old.find(one)?, new.find(one)?)],
    };
    let addresses = if options.addresses { Addresses::Compared } else { Addresses::Renamed };
    let is_whole = options.selection.draw.is_none() && draws == [None, None];
    let mut comparison = Comparison::of(old, new, &pairs, addresses);
    contents::resolve(&mut comparison, Play::Captured, &mut players, [old, new], shared)?;
    *status = status.worse(rendered::compare(&mut comparison, &pairs, &mut players, [old, new], shared)?);
    *status = status.worse(comparison.tell(shared));
    let mut report = Report::new([old, new], comparison, is_whole && !options.tiles);
    if options.first {
        report.keep_first();
        cause::add(&mut report, &mut players, shared)?;
    }
    if let Some(folder) = &options.images {
        *status = status.worse(images::add(&mut report, &mut players, [old, new], &pairs, folder, shared)?);
    }
    let differs = if report.is_same() { Status::Fine } else { Status::Differs };
    *status = status.worse(differs);
    report.write(out, options)
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
