//! Mutated captures through every command that reads captures. Half of them have changed bytes, half are
//! assembled from changed statements.
//!
//! Each command runs in a child process with limits. It must end with a documented exit status within the
//! limits of `tests/bounded/command.rs`. `replay` must write equal bytes for 1, 2 and 5 threads, compiled or
//! not, with any additional output ([`same`]). A run makes a few mutants; `A4EMU_MUTANTS=N` makes N
//! (scripts/fuzz does), `A4EMU_SEED=S` starts at another one, and `A4EMU_SOURCES=TEXT` takes only sources whose
//! path has the text. Under CI the seed is random, and printed.
//!
//! `replays_write_the_same` needs only this program and the folder `captures`. On another machine,
//! `A4EMU_ROOT` names the folder that contains `captures`, and `A4EMU_KEEP` the folder for failed mutants.

mod bytes;
mod choices;
#[path = "../bounded/command.rs"]
mod command;
mod commands;
mod same;
mod sources;
mod statements;

use std::path::PathBuf;
use std::process::{ExitCode, Termination};

use choices::Choices;
use commands::Worst;
use libtest_mimic::{Arguments, Failed, Trial};
use rayon::prelude::*;
use sources::Source;

/// Number of mutants in a run of the test suite.
const MUTANTS: u64 = 40;

/// Number of mutants that are made at once. Then the commands run on them in parallel.
const BATCH: u64 = 64;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The first mutant's number: fixed by default, random under CI.
fn seed() -> u64 {
    let fresh = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs() % 1_000_000_000)
    };
    number("A4EMU_SEED").unwrap_or_else(|| if std::env::var_os("CI").is_some() { fresh() } else { 0 })
}

/// Mutant `number`; `None` if the changed source does not assemble.
fn mutant(sources: &[Source], number: u64) -> Option<Vec<u8>> {
    let input = number.to_le_bytes();
    let mut choices = Choices::new(&input);
    let source = &sources[choices.below(sources.len())];
    match number % 2 {
        0 => Some(bytes::mutant(&source.capture, &mut choices)),
        _ => source.assemble(statements::mutant(source.block.clone(), &mut choices)),
    }
}

/// Makes the mutants `first..end` and calls `run` for them on all cores. Returns their number and the
/// failures.
fn batch(sources: &[Source], first: u64, end: u64, run: &Run<'_>) -> (usize, Vec<String>) {
    let mutants: Vec<(u64, Vec<u8>)> =
        (first..end).filter_map(|number| Some((number, mutant(sources, number)?))).collect();
    let wrong = mutants.par_iter().filter_map(|(number, capture)| {
        let message = run(capture).err()?;
        let kept = kept().join(format!("mutant-{number}.rd"));
        let is_kept = std::fs::write(&kept, capture).is_ok();
        let kept = if is_kept { kept.display().to_string() } else { "not kept".to_owned() };
        Some(format!("mutant {number}, {kept}: {message}"))
    });
    (mutants.len(), wrong.collect())
}

/// Runs commands on a mutant; an error describes the failure.
type Run<'a> = dyn Fn(&[u8]) -> Result<(), String> + Sync + 'a;

/// The folder in which failed mutants are kept.
fn kept() -> PathBuf {
    std::env::var_os("A4EMU_KEEP").map_or_else(|| env!("CARGO_TARGET_TMPDIR").into(), PathBuf::from)
}

fn mutants_end_well() -> Result<(), Failed> {
    let worst = Worst::default();
    all_mutants(&|capture| commands::run(capture, &worst), &|| worst.to_string())
}

fn replays_write_the_same() -> Result<(), Failed> {
    let tally = same::Tally::default();
    all_mutants(&|capture| same::run(capture, &tally), &|| tally.to_string())
}

/// Calls `run` for all mutants, and prints the result of `tally`.
fn all_mutants(run: &Run<'_>, tally: &dyn Fn() -> String) -> Result<(), Failed> {
    let (first, count) = (seed(), number("A4EMU_MUTANTS").unwrap_or(MUTANTS));
    let sources = sources::all();
    let (mut made, mut wrong) = (0, Vec::new());
    for start in (first..first + count).step_by(BATCH as usize) {
        let (some, failures) = batch(&sources, start, (start + BATCH).min(first + count), run);
        made += some;
        failures.iter().for_each(|failure| eprintln!("{failure}"));
        wrong.extend(failures);
        let seeds = (start + BATCH).min(first + count) - first;
        eprintln!(
            "A4EMU_SEED={first}: {made} mutants of {seeds} seeds, {} went wrong, {}",
            wrong.len(),
            tally()
        );
    }
    match wrong.is_empty() && made as u64 * 4 > count {
        true => Ok(()),
        false => Err(format!("A4EMU_SEED={first}, {made} mutants: {wrong:#?}").into()),
    }
}

/// Mutants that failed once.
fn finds_end_well() -> Result<(), Failed> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/found");
    let mut found: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    found.sort_by_key(std::fs::DirEntry::path);
    if found.is_empty() {
        return Err(format!("nothing is in {folder}").into());
    }
    let worst = Worst::default();
    for file in &found {
        let capture = std::fs::read(file.path())?;
        let told = |message| format!("{}: {message}", file.path().display());
        commands::run(&capture, &worst).map_err(told)?;
        same::run(&capture, &same::Tally::default()).map_err(told)?;
    }
    Ok(())
}

fn main() -> ExitCode {
    if same::is_command() {
        return a4emu::cli::main().report();
    }
    let trials = vec![
        Trial::test("mutants_end_well", mutants_end_well),
        Trial::test("replays_write_the_same", replays_write_the_same),
        Trial::test("finds_end_well", finds_end_well),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}
