//! The options that every subcommand shares, and how captures are opened.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;
use std::str::FromStr;

use a4emu_decoder::capture::Sections;
use anyhow::Context;
use clap::{Args, ValueEnum};

use crate::progress::{Watched, is_wanted};
use crate::status::Status;

/// Shared by all subcommands.
#[derive(Args, Clone, Debug, Default)]
pub struct Shared {
    /// Only these submits (`3`, `3..7`, `..7`), counted from 0 over the whole capture
    #[arg(long, global = true, value_name = "RANGE")]
    pub submit: Option<Span>,
    /// Only these draws, counted from 0 over the whole capture
    #[arg(long, global = true, value_name = "RANGE")]
    pub draw: Option<Span>,
    /// Worker threads (default: one per core)
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub threads: Option<u16>,
    /// Nothing on stderr but errors
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// More on stderr (repeat for still more)
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub verbose: u8,
    /// Colour on stdout
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: When,
    /// Warnings count: exit with 3 (damaged) or 4 (not supported)
    #[arg(long, global = true)]
    pub strict: bool,
}

/// When to colour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal, unless `NO_COLOR` says otherwise.
    #[default]
    Auto,
    /// Also into a file or pipe.
    Always,
    /// Never.
    Never,
}

impl Shared {
    /// The status that a warning leaves: `strict_status` under `--strict`, none otherwise.
    pub fn warning(&self, strict_status: Status) -> Status {
        match self.strict {
            true => strict_status,
            false => Status::Fine,
        }
    }

    /// Puts a warning on stderr, unless told to be quiet.
    pub fn warn(&self, message: impl std::fmt::Display) {
        if !self.quiet {
            eprintln!("a4emu: warning: {message}");
        }
    }
}

/// A half-open range of indices: `3`, `3..7`, `3..`, `..7`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    /// First index inside.
    pub start: u64,
    /// First index behind.
    pub end: u64,
}

impl Span {
    /// Every index.
    pub const ALL: Self = Self { start: 0, end: u64::MAX };

    /// Whether `index` is inside.
    pub fn contains(&self, index: u64) -> bool {
        (self.start..self.end).contains(&index)
    }
}

impl FromStr for Span {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let number = |text: &str| text.trim().parse().map_err(|_| format!("`{text}` is not a number"));
        let Some((start, end)) = text.split_once("..") else {
            let start: u64 = number(text)?;
            return Ok(Self { start, end: start.saturating_add(1) });
        };
        let start = if start.trim().is_empty() { 0 } else { number(start)? };
        let end = match end.trim().strip_prefix('=') {
            Some(last) => number(last)?.saturating_add(1),
            None if end.trim().is_empty() => u64::MAX,
            None => number(end)?,
        };
        match start < end {
            true => Ok(Self { start, end }),
            false => Err(format!("`{text}` is empty")),
        }
    }
}

/// The sections of the capture at `path`; `-` is stdin.
///
/// # Errors
/// When it cannot be opened or read.
pub fn open_capture(path: &Path, shared: &Shared) -> anyhow::Result<Sections<Box<dyn Read>>> {
    let reader = match path == Path::new("-") {
        true => Box::new(io::stdin()),
        false => open_file(path, shared).with_context(|| format!("cannot open {}", path.display()))?,
    };
    Sections::new(reader).with_context(|| path.display().to_string())
}

fn open_file(path: &Path, shared: &Shared) -> io::Result<Box<dyn Read>> {
    let file = File::open(path)?;
    match is_wanted(shared) {
        true => {
            let bytes = file.metadata()?.len();
            Ok(Box::new(Watched::new(file, bytes)))
        }
        false => Ok(Box::new(file)),
    }
}
