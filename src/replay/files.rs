//! The files that a replay makes when it has run. Whether they can be made is asked before it runs.

use std::path::Path;

use super::Args;
use a4emu_inspect::options::Shared;
use a4emu_inspect::out_file::{OutFile, make_folder};
use a4emu_inspect::status::{Status, WithErrors};

/// Those that can be made.
pub struct Files<'a> {
    /// Of `--png`.
    pub png: Option<OutFile>,
    /// Of `--coverage`.
    pub coverage: Option<OutFile>,
    /// The folder of `--out`.
    pub out: Option<&'a Path>,
    /// That of `--dump-jit`.
    pub dump_jit: Option<&'a Path>,
    /// What becomes of the exit status if one cannot be made, which leaves the others alone.
    pub status: Status,
}

impl<'a> Files<'a> {
    /// Begins those that `args` ask for; one that cannot be made is said on stderr.
    pub fn begin(args: &'a Args, shared: &Shared) -> Self {
        let mut status = Status::Fine;
        let mut file = |path: &Option<_>| {
            path.as_deref().and_then(|path| status.take(OutFile::create(path, &shared.inputs)))
        };
        let [png, coverage] = [file(&args.png), file(&args.coverage)];
        let mut folder = |path: &'a Option<_>| {
            let path: &Path = path.as_deref()?;
            status.take(make_folder(path)).map(|()| path)
        };
        let [out, dump_jit] = [folder(&args.out), folder(&args.dump_jit)];
        Self { png, coverage, out, dump_jit, status }
    }
}
