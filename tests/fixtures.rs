//! One test for each fixture, with the verdict of `a4emu check`.

use std::path::Path;
use std::process::ExitCode;

use a4emu::check::{Case, Run, Verdict, find, judge, reach};
use a4emu_support::out_file::Inputs;
use libtest_mimic::{Arguments, Failed, Trial};

fn main() -> ExitCode {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures");
    let cases = find(&folder, &[], &reach(&folder, &[]), &Inputs::default()).expect("the fixtures");
    let trials = cases.into_iter().map(|case| Trial::test(case.name.clone(), move || test(&case))).collect();
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

fn test(case: &Case) -> Result<(), Failed> {
    let outcome = judge(case, &Run::default());
    match outcome.result {
        Verdict::Same | Verdict::KnownFailure => Ok(()),
        _ => {
            let differences = outcome.differences.iter().map(ToString::to_string);
            Err(differences.chain(outcome.notes).collect::<Vec<_>>().join("\n").into())
        }
    }
}
