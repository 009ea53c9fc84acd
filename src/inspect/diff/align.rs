//! Pairs the commands of two captures: first a longest common subsequence of equal commands, then a looser
//! one between them. So a draw whose shader or count has changed still finds its pair.

use std::hash::Hash;
use std::ops::Range;

use hashbrown::HashMap;
use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::side::{Command, Side, Tiles};
use crate::describe;
use a4emu_gpu::pass::Pass;

/// A command of both captures, or of one, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pair {
    /// A command of both captures.
    Both(usize, usize),
    /// A command of the first capture only.
    OnlyA(usize),
    /// A command of the second capture only.
    OnlyB(usize),
}

impl Pair {
    /// Its index in the first capture.
    pub fn a(self) -> Option<usize> {
        match self {
            Self::Both(a, _) | Self::OnlyA(a) => Some(a),
            Self::OnlyB(_) => None,
        }
    }

    /// Its index in the second capture.
    pub fn b(self) -> Option<usize> {
        match self {
            Self::Both(_, b) | Self::OnlyB(b) => Some(b),
            Self::OnlyA(_) => None,
        }
    }
}

/// The purpose of a command, whatever memory it renders to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Purpose {
    Draw,
    Dispatch,
    Tiles(Pass),
}

fn purpose(command: &Command) -> Purpose {
    match command.draw.pass {
        None => Purpose::Dispatch,
        Some(Pass::Gmem | Pass::Bypass) => Purpose::Draw,
        Some(pass) => Purpose::Tiles(pass),
    }
}

/// Key of a command for the first pass: its purpose, its packet and its shaders.
fn strict(command: &Command) -> impl Hash + Eq + use<> {
    let shaders = command.draw.shaders.iter();
    let shaders: Vec<Option<u64>> = shaders.map(|it| it.shader.as_ref().map(|shader| shader.hash)).collect();
    (purpose(command), format!("{:?}", command.draw.command), shaders)
}

/// Key of a command for the second pass: its purpose and primitive type.
fn loose(command: &Command) -> impl Hash + Eq + use<> {
    let primitive = match &command.draw.command {
        describe::Command::Draw { primitive, .. } => format!("{primitive:?}"),
        describe::Command::Blit { does, .. } => does.clone(),
        describe::Command::Dispatch { .. } | describe::Command::Uncounted { .. } => String::new(),
    };
    (purpose(command), primitive)
}

/// The pairs, in order. If the frames are divided into different tiles, the commands for tiles are left out.
pub fn align(a: &Side, b: &Side, tiles: Tiles) -> Vec<Pair> {
    let other_passes = tiles == Tiles::Folded && a.passes != b.passes;
    let places = |side: &Side| -> Vec<usize> {
        let commands = side.commands.iter().enumerate();
        commands.filter(|(_, it)| !(other_passes && it.is_machinery())).map(|(index, _)| index).collect()
    };
    let (old, new) = (places(a), places(b));
    let mut aligned = Aligned { sides: [a, b], places: [&old, &new], pairs: Vec::new() };
    aligned.by(0..old.len(), 0..new.len(), strict, |aligned, a, b| {
        aligned.by(a, b, loose, Aligned::in_order);
    });
    aligned.pairs
}

struct Aligned<'s> {
    sides: [&'s Side; 2],
    places: [&'s [usize]; 2],
    pairs: Vec<Pair>,
}

/// The edits that turn `old` into `new`. Each distinct item becomes a number, so the algorithm is compiled
/// only once.
pub fn edits<K: Hash + Eq>(old: &[K], new: &[K]) -> Vec<DiffOp> {
    let mut known = HashMap::new();
    let mut numbers = Vec::with_capacity(old.len() + new.len());
    for item in old.iter().chain(new) {
        let next = known.len();
        numbers.push(*known.entry(item).or_insert(next));
    }
    let (old, new) = numbers.split_at(old.len());
    capture_diff_slices(Algorithm::Myers, old, new)
}

impl Aligned<'_> {
    /// Pairs commands with equal `key`; `rest` handles the commands between them.
    fn by<K: Hash + Eq>(
        &mut self,
        a: Range<usize>,
        b: Range<usize>,
        key: impl Fn(&Command) -> K,
        mut rest: impl FnMut(&mut Self, Range<usize>, Range<usize>),
    ) {
        let [old, new] = [(&a, 0), (&b, 1)].map(|(range, side)| &self.places[side][range.clone()]);
        let keys = |side: usize, places: &[usize]| -> Vec<K> {
            places.iter().map(|place| key(&self.sides[side].commands[*place])).collect()
        };
        let ops = edits(&keys(0, old), &keys(1, new));
        let at = |from: &Range<usize>, index: usize, len: usize| from.start + index..from.start + index + len;
        for op in ops {
            match op {
                DiffOp::Equal { old_index, new_index, len } => {
                    let range = at(&a, old_index, len).zip(at(&b, new_index, len));
                    range.for_each(|(a, b)| self.pairs.push(self.both(a, b)));
                }
                DiffOp::Delete { old_index, old_len, new_index } => {
                    rest(self, at(&a, old_index, old_len), at(&b, new_index, 0));
                }
                DiffOp::Insert { old_index, new_index, new_len } => {
                    rest(self, at(&a, old_index, 0), at(&b, new_index, new_len));
                }
                DiffOp::Replace { old_index, old_len, new_index, new_len } => {
                    rest(self, at(&a, old_index, old_len), at(&b, new_index, new_len));
                }
            }
        }
    }

    fn both(&self, a: usize, b: usize) -> Pair {
        Pair::Both(self.places[0][a], self.places[1][b])
    }

    /// Adds commands without a pair.
    fn in_order(&mut self, a: Range<usize>, b: Range<usize>) {
        self.pairs.extend(a.map(|a| Pair::OnlyA(self.places[0][a])));
        self.pairs.extend(b.map(|b| Pair::OnlyB(self.places[1][b])));
    }
}
