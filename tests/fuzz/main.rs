//! Captures that nobody meant, through every command that reads captures: half of them have
//! changed bytes, half are assembled from changed statements.
//!
//! Each command runs in a child with limits: it has to end by itself with a documented exit
//! status within the limits of `tests/bounded/command.rs`, and `replay` has to write the same bytes
//! for 1, 2 and 5 threads. A run makes a few mutants; `A4EMU_MUTANTS=N` makes N (scripts/fuzz
//! does), `A4EMU_SEED=S` begins elsewhere. Under CI the seed is a fresh one, and printed.

mod bytes;
mod choices;
#[path = "../bounded/command.rs"]
mod command;
mod commands;
mod sources;
mod statements;

use choices::Choices;
use commands::Worst;
use libtest_mimic::{Arguments, Failed, Trial};
use rayon::prelude::*;
use sources::Source;

/// Mutants of a run of the test suite.
const MUTANTS: u64 = 40;

/// Mutants made before the commands run on them, side by side.
const BATCH: u64 = 64;

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

/// The first mutant's number: the same on every run, but a fresh one under CI.
fn seed() -> u64 {
    let fresh = || {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(0, |now| now.as_secs() % 1_000_000_000)
    };
    number("A4EMU_SEED").unwrap_or_else(|| if std::env::var_os("CI").is_some() { fresh() } else { 0 })
}

/// Mutant `number`; `None` where the changed source is none.
fn mutant(sources: &[Source], number: u64) -> Option<Vec<u8>> {
    let input = number.to_le_bytes();
    let mut choices = Choices::new(&input);
    let source = &sources[choices.below(sources.len())];
    match number % 2 {
        0 => Some(bytes::mutant(&source.capture, &mut choices)),
        _ => source.assemble(statements::mutant(source.block.clone(), &mut choices)),
    }
}

/// Mutants `first..end`: makes them here, runs the commands on all cores; what went wrong.
fn batch(sources: &[Source], first: u64, end: u64, worst: &Worst) -> (usize, Vec<String>) {
    let mutants: Vec<(u64, Vec<u8>)> =
        (first..end).filter_map(|number| Some((number, mutant(sources, number)?))).collect();
    let wrong =
        mutants.par_iter().filter_map(|(number, capture)| commands::run(*number, capture, worst).err());
    (mutants.len(), wrong.collect())
}

fn mutants_end_well() -> Result<(), Failed> {
    let (first, count) = (seed(), number("A4EMU_MUTANTS").unwrap_or(MUTANTS));
    let sources = sources::all();
    let (mut made, mut wrong, worst) = (0, Vec::new(), Worst::default());
    for start in (first..first + count).step_by(BATCH as usize) {
        let (some, failures) = batch(&sources, start, (start + BATCH).min(first + count), &worst);
        made += some;
        failures.iter().for_each(|failure| eprintln!("{failure}"));
        wrong.extend(failures);
        let seeds = (start + BATCH).min(first + count) - first;
        eprintln!("A4EMU_SEED={first}: {made} mutants of {seeds} seeds, {} went wrong, {worst}", wrong.len());
    }
    match wrong.is_empty() && made as u64 * 4 > count {
        true => Ok(()),
        false => Err(format!("A4EMU_SEED={first}, {made} mutants: {wrong:#?}").into()),
    }
}

/// Mutants that broke something once.
fn finds_end_well() -> Result<(), Failed> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fuzz/found");
    let mut found: Vec<_> = std::fs::read_dir(folder)?.collect::<Result<_, _>>()?;
    found.sort_by_key(std::fs::DirEntry::path);
    if found.is_empty() {
        return Err(format!("nothing is in {folder}").into());
    }
    let worst = Worst::default();
    for (number, file) in found.iter().enumerate() {
        commands::run(number as u64, &std::fs::read(file.path())?, &worst)?;
    }
    Ok(())
}

fn main() {
    let trials = vec![
        Trial::test("mutants_end_well", mutants_end_well),
        Trial::test("finds_end_well", finds_end_well),
    ];
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
