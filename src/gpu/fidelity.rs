//! Guesses that a run rests on: `replay --fidelity`, `--stats`, `info`.
//!
//! A row of [`a4emu_decoder::guesses`] counts when the run uses it. In shaders, watched programs count it,
//! and also tell which results it may reach ([`a4emu_shader::Reach`]). Inferred registers and fields count
//! when a nonzero value is written to them.

use std::collections::BTreeMap;
use std::io::{self, Write};

use a4emu_decoder::guesses::{Guess, Row};
use serde::Serialize;

use crate::fault::Place;
use a4emu_shader::Reach;

/// Guesses that a result rests on, each with its reach.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rests(BTreeMap<Guess, Reach>);

impl Rests {
    /// Adds `guess` with its reach.
    pub fn add(&mut self, guess: Guess, reach: Reach) {
        *self.0.entry(guess).or_default() |= reach;
    }

    /// Adds all guesses of `other`.
    pub fn append(&mut self, other: Self) {
        other.0.into_iter().for_each(|(guess, reach)| self.add(guess, reach));
    }
}

/// The use of one guess in a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Exercise {
    /// Draws and dispatches that use it. Work between two draws counts for the next one.
    draws: u64,
    first: Place,
    last: u32,
    reach: Reach,
}

/// The guesses that a run rests on so far.
#[derive(Clone, Debug, Default)]
pub struct Fidelity(BTreeMap<Guess, Exercise>);

/// One guess in the output.
#[derive(Clone, Debug, Serialize)]
pub struct Line {
    /// Id of the guess.
    id: &'static str,
    /// `guess` or `inferred`.
    confidence: String,
    /// Number of draws and dispatches that rest on it.
    draws: u64,
    /// Number of the first of them.
    first: u32,
    /// The results that it may reach: `output`, `memory`, `control`, `address`.
    reaches: Vec<&'static str>,
    #[serde(skip)]
    row: Row,
}

impl Fidelity {
    /// Notes that the draw at `at` rests on `guess`, with its reach.
    pub fn note(&mut self, guess: Guess, reach: Reach, at: Place) {
        let new = Exercise { draws: 0, first: at, last: at.draws, reach };
        let known = self.0.entry(guess).or_insert(new);
        if known.draws == 0 || known.last != at.draws {
            known.draws += 1;
            known.last = at.draws;
        }
        known.reach |= reach;
    }

    /// Notes that the draw at `at` rests on all of `rests`.
    pub fn extend(&mut self, rests: Rests, at: Place) {
        rests.0.into_iter().for_each(|(guess, reach)| self.note(guess, reach, at));
    }

    /// The id of each guess, with the number of draws that rest on it.
    pub fn draws(&self) -> impl Iterator<Item = (String, u64)> {
        self.0.iter().map(|(guess, exercise)| (guess.row().id.to_owned(), exercise.draws))
    }

    /// The ids of the guesses.
    pub fn ids(&self) -> impl Iterator<Item = &'static str> {
        self.0.keys().map(|guess| guess.row().id)
    }

    /// One line for each guess, in the order of the table.
    pub fn lines(&self) -> Vec<Line> {
        let line = |(guess, exercise): (&Guess, &Exercise)| {
            let row = guess.row();
            Line {
                id: row.id,
                confidence: row.confidence.to_string(),
                draws: exercise.draws,
                first: exercise.first.draws,
                reaches: exercise.reach.names().collect(),
                row,
            }
        };
        self.0.iter().map(line).collect()
    }

    /// Writes the output of `--fidelity`.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        let known = Guess::ALL.len() - self.0.len();
        writeln!(out, "uses {} guesses; {known} others did not matter here", self.0.len())?;
        for line in self.lines() {
            let Line { id, confidence, draws, first, reaches, row } = line;
            let plural = if draws == 1 { "" } else { "s" };
            writeln!(
                out,
                "{id}  ({confidence}; {draws} draw{plural} from {first}; reaches {})",
                reaches.join(", ")
            )?;
            writeln!(out, "    {}", row.says)?;
            writeln!(out, "    because {}; to settle: {}", row.because, row.settles)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(draws: u32) -> Place {
        Place { draws, ..Place::default() }
    }

    #[test]
    fn a_draw_counts_once_and_reaches_add_up() {
        let mut fidelity = Fidelity::default();
        fidelity.note(Guess::NanCompare, Reach::OUTPUT, at(3));
        fidelity.note(Guess::NanCompare, Reach::CONTROL, at(3));
        fidelity.note(Guess::NanCompare, Reach::OUTPUT, at(5));
        let lines = fidelity.lines();
        let [line] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((line.draws, line.first, &line.reaches[..]), (2, 3, &["output", "control"][..]));
    }
}
