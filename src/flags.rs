//! Options of several commands, which fill types of the libraries.
//!
//! The libraries do not depend on clap. [`Flags<T>`] is a library type `T` that clap reads: the struct of the
//! same name here has the flags, their values and help.

use std::ops::Deref;
use std::path::PathBuf;

use anstream::ColorChoice;
use clap::builder::{PathBufValueParser, Resettable, Str, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches, Id};

use crate::named;
use a4emu_decoder::adreno::capture::ProcessPattern;
use a4emu_gpu::ambient::MOST_THREADS;
use a4emu_gpu::gpu::Model;
use a4emu_inspect::selection::{Draws, Span};
use a4emu_inspect::{limits, options, selection, validate};
use a4emu_shader::Jit;

/// A library type that is read from flags.
pub trait FromFlags: Sized {
    /// The flags.
    type Flags: Args;

    /// The value that `flags` give.
    fn from_flags(flags: Self::Flags) -> Self;
}

/// A `T`, read from flags.
#[derive(Clone, Copy, Debug, Default)]
pub struct Flags<T>(pub T);

impl<T> Deref for Flags<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: FromFlags> FromArgMatches for Flags<T> {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        T::Flags::from_arg_matches(matches).map(T::from_flags).map(Self)
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

impl<T: FromFlags> Args for Flags<T> {
    fn group_id() -> Option<Id> {
        T::Flags::group_id()
    }

    /// Adds the flags. Later arguments of the command have the heading that they would have without them.
    fn augment_args(command: Command) -> Command {
        let heading = match command.get_next_help_heading() {
            Some(heading) => Resettable::Value(Str::from(heading.to_owned())),
            None => Resettable::Reset,
        };
        T::Flags::augment_args(command).next_help_heading(heading)
    }

    fn augment_args_for_update(command: Command) -> Command {
        T::Flags::augment_args_for_update(command)
    }
}

/// Heading of the options that say how a capture is played.
pub const RUN: &str = "Run";

/// Heading of the options that end a run.
const LIMITS: &str = "Limits";

/// Heading of the options that name a part of a capture.
pub const SELECTION: &str = "Selection";

/// Heading of the options that choose rules.
const RULES: &str = "Rules";

/// Flags of all commands.
#[derive(Args)]
pub struct Shared {
    /// Print nothing on stderr but errors
    #[arg(short, long, global = true)]
    quiet: bool,
    /// Colour the text on stdout
    #[arg(long, global = true, value_name = "WHEN", value_parser = named::color(), default_value = "auto")]
    color: ColorChoice,
    /// Treat warnings as errors: exit with 3 (damaged) or 4 (not supported)
    #[arg(long, global = true)]
    strict: bool,
}

impl FromFlags for options::Shared {
    type Flags = Shared;

    fn from_flags(Shared { quiet, color, strict }: Shared) -> Self {
        // What writes to stdout or stderr asks for the choice: see `terminal::Look`.
        color.write_global();
        Self { quiet, strict, ..Self::default() }
    }
}

/// `--threads`.
#[derive(Args)]
#[command(next_help_heading = RUN)]
pub struct Threads {
    /// Worker threads (default: one per core)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=i64::from(MOST_THREADS)))]
    threads: Option<u16>,
}

impl FromFlags for options::Threads {
    type Flags = Threads;

    fn from_flags(Threads { threads }: Threads) -> Self {
        Self { threads }
    }
}

/// How much a run may do; the default grows with what a capture holds.
#[derive(Args)]
#[command(next_help_heading = LIMITS)]
pub struct WorkLimits {
    /// Stop after this much work
    ///
    /// A unit is about 16 bytes moved, or 1/16 of an instruction of a warp. The default is 16G, and, once 256M
    /// are spent, 64K for each dword of memory in the capture that is not repeated.
    #[arg(long, value_name = "UNITS", value_parser = amount)]
    max_work: Option<u64>,
    /// Stop after this many seconds
    ///
    /// Where a run then stops is not reproducible.
    #[arg(long, value_name = "SECONDS")]
    time_limit: Option<u32>,
}

impl FromFlags for limits::WorkLimits {
    type Flags = WorkLimits;

    fn from_flags(WorkLimits { max_work, time_limit }: WorkLimits) -> Self {
        Self { max_work, time_limit, ..Self::default() }
    }
}

/// How a run plays a capture, and its bounds.
#[derive(Args)]
#[command(next_help_heading = RUN)]
pub struct Limits {
    /// How much it may do
    #[command(flatten)]
    work: Flags<limits::WorkLimits>,
    /// Hold at most this many bytes of GPU memory
    ///
    /// Collected output may take half as many (at least 16M). The default is 512M, and 16 for each byte of the
    /// capture's file.
    #[arg(long, value_name = "BYTES", value_parser = amount, help_heading = LIMITS)]
    max_memory: Option<u64>,
    /// The behaviour where a real board differs from the OpenGL specification
    #[arg(long, value_name = "MODEL", value_parser = named::model(), default_value = "board")]
    model: Model,
    /// Which shaders to compile to machine code; the output is the same
    #[arg(long, value_name = "WHICH", value_parser = named::jit(), default_value = "auto")]
    jit: Jit,
    /// Only the submits of this process: NAME, NAME/PID or PID; * and ? fit any text and character
    ///
    /// The names are those that `info` lists. Memory is that which the process has dumped, and draws are counted
    /// over its submits.
    #[arg(long, value_name = "NAME", help_heading = SELECTION)]
    process: Option<ProcessPattern>,
    /// Run the commands of a capture of another generation (A3xx, A6xx ..) as an A4xx's
    #[arg(long)]
    force: bool,
    /// Run the reference model, which is slow
    ///
    /// Each draw runs alone, in order, interpreted, without queues and caches.
    #[arg(long)]
    reference: bool,
}

impl FromFlags for limits::Limits {
    type Flags = Limits;

    fn from_flags(Limits { work, max_memory, model, jit, process, force, reference }: Limits) -> Self {
        Self { work: work.0, max_memory, model, jit, process, force, reference }
    }
}

/// Bounds of an assembler.
#[derive(Args)]
#[command(next_help_heading = LIMITS)]
pub struct StepLimit {
    /// Stop after this many steps of the assembler
    ///
    /// A step is a token or 16 bytes. The default is 64M, and 16 for each byte of source.
    #[arg(long, value_name = "STEPS", value_parser = amount)]
    max_work: Option<u64>,
}

impl FromFlags for limits::StepLimit {
    type Flags = StepLimit;

    fn from_flags(StepLimit { max_work }: StepLimit) -> Self {
        Self { max_work }
    }
}

/// The options that name a part of a capture.
#[derive(Args)]
#[command(next_help_heading = SELECTION)]
pub struct Selection {
    /// Only these submits (`3`, `3..7`, `..7`)
    ///
    /// Submits are counted from 0 over the whole capture.
    #[arg(long, value_name = "RANGE")]
    submit: Option<Span>,
    /// Only these draws: frame draws (`f3`, `f3..f7`) or single runs (`3`, `3..7`)
    ///
    /// A frame draw has its runs for all tiles; a run is one execution of a draw packet. Both are counted from
    /// 0 over the whole capture.
    #[arg(long, value_name = "RANGE")]
    draw: Option<Draws>,
}

impl FromFlags for selection::Selection {
    type Flags = Selection;

    fn from_flags(Selection { submit, draw }: Selection) -> Self {
        Self { submit, draw }
    }
}

/// Which findings count.
#[derive(Args)]
#[command(next_help_heading = RULES)]
pub struct Choice {
    /// Check only this rule (D1), or the rules of this family (D); repeatable
    #[arg(long, value_name = "RULE")]
    rule: Vec<String>,
    /// Skip this rule or family; repeatable
    #[arg(long, value_name = "RULE")]
    no_rule: Vec<String>,
    /// A TOML file of findings to ignore
    ///
    /// The file has [[suppress]] tables with rule and reason, and optionally what and program.
    #[arg(long, value_name = "FILE")]
    suppress: Option<PathBuf>,
}

impl FromFlags for validate::Choice {
    type Flags = Choice;

    fn from_flags(Choice { rule, no_rule, suppress }: Choice) -> Self {
        Self { rule, no_rule, suppress }
    }
}

/// Endings of names of pictures that a4emu does not write.
const OTHER_PICTURES: [&str; 10] = ["jpg", "jpeg", "bmp", "gif", "webp", "tga", "tif", "tiff", "ppm", "dds"];

/// The parser of a file to which a PNG is written. A name with the ending of another format is refused.
pub fn png() -> impl TypedValueParser<Value = PathBuf> {
    PathBufValueParser::new().try_map(|path: PathBuf| {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        match OTHER_PICTURES.iter().any(|other| ending.eq_ignore_ascii_case(other)) {
            true => Err(format!("pictures are written as PNG, not {}", ending.to_uppercase())),
            false => Ok(path),
        }
    })
}

/// A whole number, in 1024s, their squares or their cubes if K, M or G stands behind it.
pub fn amount(text: &str) -> Result<u64, String> {
    let (digits, shift) = match text.as_bytes().last() {
        Some(b'K' | b'k') => (&text[..text.len() - 1], 10),
        Some(b'M' | b'm') => (&text[..text.len() - 1], 20),
        Some(b'G' | b'g') => (&text[..text.len() - 1], 30),
        _ => (text, 0),
    };
    let number: u64 =
        digits.parse().map_err(|_| format!("`{text}` is no number such as 4000, 64K, 512M or 2G"))?;
    number.checked_mul(1 << shift).ok_or_else(|| format!("`{text}` is too large"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn amounts_take_binary_suffixes() {
        assert_eq!(amount("7"), Ok(7));
        assert_eq!(amount("64K"), Ok(64 << 10));
        assert_eq!(amount("512M"), Ok(512 << 20));
        assert_eq!(amount("2g"), Ok(2 << 30));
        for wrong in ["", "K", "-1", "1.5M", "99999999999G"] {
            assert!(amount(wrong).is_err(), "{wrong}");
        }
    }
}
