//! The options of playing a capture on which its result depends.

use std::ffi::OsString;
use std::path::PathBuf;

use crate::flags::Flags;
use a4emu_support::limits::Limits;

/// Options of `corpus run` that its processes get.
#[derive(clap::Args, Clone, Debug, Default)]
pub struct Play {
    /// Also record a hash of the targets after each draw
    #[arg(long)]
    pub draws: bool,
    /// Also note what of the chip each capture uses and which guesses it rests on (for `corpus coverage` and
    /// `corpus reduce`)
    #[arg(long)]
    pub coverage: bool,
    /// Also record the findings of `validate`
    #[arg(long)]
    pub validate: bool,
    /// Keep the picture of every surface in this folder, named by its hash
    #[arg(long, value_name = "DIR", hide = true)]
    pub pictures_to: Option<PathBuf>,
    /// Bounds of each run
    #[command(flatten)]
    pub limits: Flags<Limits>,
}

impl Play {
    /// The arguments for these options, except the folder of pictures. Results depend on them.
    pub fn arguments(&self) -> Vec<OsString> {
        let flags = [("--draws", self.draws), ("--coverage", self.coverage), ("--validate", self.validate)];
        let flags =
            flags.into_iter().chain([("--force", self.limits.force), ("--reference", self.limits.reference)]);
        let flags = flags.filter(|(_, given)| *given).map(|(name, _)| OsString::from(name));
        let work = &self.limits.work;
        let numbers = [
            ("--max-work", work.max_work),
            ("--time-limit", work.time_limit.map(u64::from)),
            ("--max-memory", self.limits.max_memory),
        ];
        let numbers =
            numbers.into_iter().filter_map(|(name, value)| Some(format!("{name}={}", value?).into()));
        let named = [("--model", self.limits.model.name()), ("--jit", self.limits.jit.name())];
        let named = named.into_iter().map(|(name, value)| OsString::from(format!("{name}={value}")));
        let process = self.limits.process.iter().map(|process| format!("--process={process}").into());
        flags.chain(numbers).chain(named).chain(process).collect()
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        play: Play,
    }

    fn arguments(line: &[&str]) -> Vec<String> {
        let play = Line::try_parse_from(std::iter::once(&"play").chain(line)).unwrap().play;
        play.arguments().into_iter().map(|argument| argument.into_string().unwrap()).collect()
    }

    /// Every option is passed to the process. So it is also part of the key of results.
    #[test]
    fn every_option_is_passed_on() {
        let given = [
            "--draws",
            "--coverage",
            "--validate",
            "--force",
            "--reference",
            "--max-work=5",
            "--time-limit=7",
            "--max-memory=9",
            "--model=strict-gl",
            "--jit=off",
        ];
        assert_eq!(arguments(&given), given);
        assert_eq!(arguments(&["--pictures-to=x"]), arguments(&[]), "where pictures go is no matter");
    }
}
