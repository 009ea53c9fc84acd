//! `corpus reduce`: selects few captures that together use everything that all captures use.
//!
//! The smallest selection cannot be computed in reasonable time. This is the usual greedy algorithm: always
//! take the capture that adds most; among equals the smallest file, then the first name. The result has at
//! most ln(n) times the smallest number of captures.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};
use std::io::Write;
use std::path::PathBuf;

use anyhow::Context;

use super::log::Log;
use super::row::{End, Row};
use a4emu_support::options::Shared;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal::{self, Form, Shown};

/// Arguments of `corpus reduce`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Folders of runs with --coverage
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
}

/// The set of things that a capture uses, as small numbers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Set(Vec<u64>);

impl Set {
    fn insert(&mut self, item: usize) {
        let word = item / 64;
        if self.0.len() <= word {
            self.0.resize(word + 1, 0);
        }
        self.0[word] |= 1 << (item % 64);
    }

    fn len(&self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Number of items that `other` does not have.
    fn beyond(&self, other: &Self) -> u32 {
        let others = other.0.iter().copied().chain(std::iter::repeat(0));
        self.0.iter().zip(others).map(|(mine, other)| (mine & !other).count_ones()).sum()
    }

    fn add(&mut self, other: &Self) {
        self.0.resize(self.0.len().max(other.0.len()), 0);
        self.0.iter_mut().zip(&other.0).for_each(|(mine, other)| *mine |= other);
    }
}

/// A capture that may be selected.
#[derive(Clone, Debug)]
struct Candidate {
    name: String,
    bytes: u64,
    uses: Set,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if a run cannot be read, or was made without `--coverage`.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut numbers = HashMap::new();
    let mut candidates = Vec::new();
    for folder in &args.runs {
        for row in Log::input(folder, &shared.inputs)?.all() {
            candidates.extend(candidate(row?, &mut numbers)?);
        }
    }
    let all = candidates.len();
    let chosen = choose(candidates);
    if !shared.quiet {
        let (few, uses) = (chosen.len(), numbers.len());
        terminal::say(format_args!(
            "{few} of {all} captures use all {uses} packets, registers, enumerators, ops and states"
        ));
    }
    let mut out = terminal::stdout(Form::Lines);
    let written = chosen.iter().try_for_each(|name| writeln!(out, "{}", Shown(name)));
    Ok(Status::Fine.and(written.and_then(|()| out.flush())))
}

fn candidate(row: Row, numbers: &mut HashMap<String, usize>) -> anyhow::Result<Option<Candidate>> {
    let Row { name, bytes, end: End::Played, played: Some(played), .. } = row else { return Ok(None) };
    let used =
        played.used.with_context(|| format!("no coverage of {name}: `corpus run --coverage` notes it"))?;
    let mut uses = Set::default();
    for (kind, counts) in used.kinds() {
        for (what, _) in counts.iter().filter(|(_, met)| **met > 0) {
            let next = numbers.len();
            uses.insert(*numbers.entry(format!("{kind} {what}")).or_insert(next));
        }
    }
    Ok(Some(Candidate { name, bytes, uses }))
}

/// Sorted names of few candidates that together use everything that all candidates use.
fn choose(candidates: Vec<Candidate>) -> Vec<String> {
    // The number of added items only decreases. So a candidate that is still at the top after a recount adds
    // most.
    let rank = |adds: u32, index: usize| {
        let Candidate { name, bytes, .. } = &candidates[index];
        (adds, Reverse(*bytes), Reverse(name.clone()), index)
    };
    let mut heap: BinaryHeap<_> =
        (0..candidates.len()).map(|index| rank(candidates[index].uses.len(), index)).collect();
    let (mut covered, mut chosen) = (Set::default(), Vec::new());
    while let Some((adds, _, name, index)) = heap.pop() {
        let uses = &candidates[index].uses;
        match uses.beyond(&covered) {
            0 => {}
            now if now < adds => heap.push(rank(now, index)),
            _ => {
                covered.add(uses);
                chosen.push(name.0);
            }
        }
    }
    chosen.sort();
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(name: &str, bytes: u64, uses: &[usize]) -> Candidate {
        let mut set = Set::default();
        uses.iter().for_each(|item| set.insert(*item));
        Candidate { name: name.to_owned(), bytes, uses: set }
    }

    #[test]
    fn few_use_all_and_the_smaller_of_equals_is_taken() {
        let all = vec![
            candidate("a", 9, &[1, 2, 3]),
            candidate("b", 5, &[1, 2, 3]),
            candidate("c", 5, &[3, 200]),
            candidate("d", 1, &[2]),
            candidate("e", 5, &[200]),
            candidate("nothing", 0, &[]),
        ];
        assert_eq!(choose(all.clone()), ["b", "c"]);
        let backwards: Vec<_> = all.into_iter().rev().collect();
        assert_eq!(choose(backwards), ["b", "c"], "in any order");
    }

    /// Items that another candidate has covered do not count.
    #[test]
    fn greedy_cover_takes_the_capture_with_most_uncovered_items() {
        let all = vec![
            candidate("a", 1, &[1, 2, 3, 4, 5, 6]),
            candidate("b", 1, &[1, 2, 3, 4, 7]),
            candidate("c", 1, &[5, 6, 7, 8]),
        ];
        assert_eq!(choose(all), ["a", "c"]);
    }
}
