//! The output files of a replay. They are opened before the run, so that errors appear early.

use std::path::Path;

use super::Args;
use a4emu_support::options::Shared;
use a4emu_support::out_file::{OutFile, make_folder};
use a4emu_support::status::{Status, WithErrors};

/// The output files that could be opened.
pub struct Files<'a> {
    /// File of `--png`.
    pub png: Option<OutFile>,
    /// File of `--coverage`.
    pub coverage: Option<OutFile>,
    /// Folder of `--out`.
    pub out: Option<&'a Path>,
    /// Folder of `--dump-jit`.
    pub dump_jit: Option<&'a Path>,
    /// Status of files that could not be opened. The other files are still written.
    pub status: Status,
}

impl<'a> Files<'a> {
    /// Opens the files that `args` request. Errors are printed on stderr.
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
