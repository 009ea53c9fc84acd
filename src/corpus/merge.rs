//! `corpus merge`: merges the runs of all parts into one.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anyhow::ensure;

use super::log::{LOG, Log, RESULTS, copy_pictures, write_rows};
use a4emu_support::options::Shared;
use a4emu_support::out_file::make_folder;
use a4emu_support::status::{Failure, Status};

/// Arguments of `corpus merge`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Folders of complete runs
    #[arg(required = true, value_name = "RUN")]
    pub runs: Vec<PathBuf>,
    /// Folder of the merged run
    #[arg(short, long, value_name = "RUN")]
    pub output: PathBuf,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if a run is missing or unfinished, if two runs have different results of a capture, or on
/// I/O errors.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let mut logs = Vec::new();
    for folder in &args.runs {
        let log = Log::input(folder, &shared.inputs)?;
        ensure!(log.finished, "{} has not come to its end: run the same command again", folder.display());
        logs.push(log);
    }
    let holders = holders(args, &logs)?;
    make_folder(&args.output)?;
    for (name, holder) in &holders {
        copy_pictures(&logs[*holder].row(name)?, &args.runs[*holder], &args.output)?;
    }
    let rows = || holders.iter().map(|(name, holder)| logs[*holder].row(name));
    write_rows(&args.output.join(LOG), rows(), &shared.inputs)?;
    write_rows(&args.output.join(RESULTS), rows().map(|row| Ok(row?.anywhere())), &shared.inputs)?;
    Ok(Status::Fine)
}

/// The run from which the row of each capture is taken: the first, if several have an equal row.
fn holders<'a>(args: &Args, logs: &'a [Log]) -> anyhow::Result<BTreeMap<&'a str, usize>> {
    let mut holders: BTreeMap<&str, usize> = BTreeMap::new();
    for (index, log) in logs.iter().enumerate() {
        for name in log.rows.keys() {
            let first = *holders.entry(name).or_insert(index);
            if first != index && logs[first].row(name)?.anywhere() != log.row(name)?.anywhere() {
                let [one, other] = [first, index].map(|index| args.runs[index].display());
                let message = format!("{name} has different results in {one} and {other}");
                return Err(Failure { status: Status::Differs, message }.into());
            }
        }
    }
    Ok(holders)
}
