//! Explains a guess: a row of docs/guesses.md.

use std::fmt;

use a4emu_decoder::guesses::{Guess, Row};
use serde::Serialize;

/// A guess, and the reason for it.
#[derive(Serialize)]
pub struct Guessed {
    id: &'static str,
    confidence: String,
    says: &'static str,
    because: &'static str,
    settles: &'static str,
    counts: &'static str,
}

impl Guessed {
    /// The guess with this id, in any case.
    pub fn named(id: &str) -> Option<Self> {
        let Row { id, confidence, says, because, settles, counts } =
            Guess::from_id(&id.to_lowercase())?.row();
        Some(Self { id, confidence: confidence.to_string(), says, because, settles, counts })
    }
}

impl fmt::Display for Guessed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { id, confidence, says, because, settles, counts } = self;
        writeln!(f, "{id} {confidence}\n  {says}.\n  because  {because}\n  settles  {settles}")?;
        writeln!(f, "  counts   where {counts}")
    }
}
