//! `a4emu diff`: what changed between two captures, or two state files.
//!
//! Captures are compared command by command. The runs of a draw for several tiles count as one.
//!
//! - `side`: the commands of a capture, each with its state and hashes of the memory it fetches;
//! - `player`: the runs of each capture, which share the limits;
//! - `visit`: observers that look at the memory that draws fetch;
//! - `align`: finds which command of one capture is which command of the other;
//! - `compare`, `registers`: the differences between two commands;
//! - `contents`: compares fetched bytes, only where the hashes differ;
//! - `rendered`: finds the earlier draws that wrote the fetched memory, if nothing else differs;
//! - `stored`: compares what selected draws store to memory, apart from their targets;
//! - `cause`: the packet that made a difference; `images`: pictures after each; `report`: the output.
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
mod stored;
mod visit;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};

use crate::describe::Capture;
use crate::selection::{Draws, Selection};
use a4emu_support::limits::Limits;
use a4emu_support::options::Shared;
use a4emu_support::status::{Failure, Status, WithErrors};
use align::{Pair, align};
use compare::{Comparison, Difference};
use player::Player;
use report::Report;
use side::{Side, Tiles};
use visit::Play;

/// Options of a comparison of captures.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Compares each run of a draw separately, with the registers of its tile.
    pub tiles: bool,
    /// Compares addresses too: a buffer that moved is a difference.
    pub addresses: bool,
    /// Stops at the first draw that differs, and names the packet that made the difference.
    pub first: bool,
    /// Prints one JSON object instead of lines.
    pub json: bool,
    /// Renders the captures too, and writes pictures of differences into this folder.
    pub images: Option<PathBuf>,
    /// The part of the captures that is compared.
    pub selection: Selection,
    /// Limits of the runs.
    pub limits: Limits,
}

/// Whether addresses are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Addresses {
    /// Addresses are ignored; the memory at them is compared.
    Renamed,
    /// Addresses are compared.
    Compared,
}

/// An input: a file, and optionally one draw of it.
struct Input {
    path: PathBuf,
    draw: Option<Draws>,
}

impl Input {
    /// Parses `FILE:5`. The whole text is the path if such a file exists.
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

/// Compares the inputs `a` and `b` and writes the differences to `out`.
///
/// An input is a capture, a state file, or one draw of a capture (`FILE:5`, `FILE:f9`).
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
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

/// Compares two captures, or `draws` of them. Returns the worst status, and the error that ended the
/// comparison early.
pub fn compare(
    captures: [Capture; 2],
    draws: [Option<Draws>; 2],
    out: &mut dyn Write,
    options: &Options,
    shared: &Shared,
) -> (Status, anyhow::Result<()>) {
    // The status counts the problems of both captures, also if one comparison fails.
    let mut status = Status::Fine;
    let compared = compared(captures, draws, out, options, shared, &mut status);
    (status, compared)
}

/// Compares two captures. `status` becomes the worst status, also if the comparison ends early.
///
/// # Errors
/// The call fails on wrong use and on I/O errors.
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
    if options.selection.draw.is_some() || draws != [None, None] {
        let how = (tiles, addresses);
        *status =
            status.worse(stored::compare(&mut comparison, &pairs, &mut players, [old, new], how, shared)?);
    }
    *status = status.worse(comparison.tell(shared));
    let mut report = Report::new([old, new], comparison);
    if is_whole && !options.tiles {
        report.compare_tiles();
    }
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

/// The pairs of which at least one command is inside the selection.
///
/// # Errors
/// The call fails if the selection holds no command.
fn selected(selection: Selection, a: &Side, b: &Side, pairs: Vec<Pair>) -> Result<Vec<Pair>, Failure> {
    let inside = |side: &Side, index: Option<usize>| {
        let command = index.and_then(|index| side.commands.get(index));
        command.is_some_and(|it| it.is_inside(selection))
    };
    let kept: Vec<Pair> =
        pairs.into_iter().filter(|pair| inside(a, pair.a()) || inside(b, pair.b())).collect();
    let found = !kept.is_empty() || (selection.draw.is_none() && selection.submit.is_none());
    if !found {
        selection.found_none(a.draws.max(b.draws), a.submits.max(b.submits))?;
    }
    Ok(kept)
}

/// A difference, and the pair of commands that has it.
#[derive(Clone, Debug)]
pub struct Found {
    /// The pair of commands.
    pub pair: Pair,
    /// The difference between the two commands.
    pub difference: Difference,
}
