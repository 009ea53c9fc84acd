//! Collects the data of `--fidelity` and `--coverage`.

use std::io::{self, Write};

use super::Args;
use super::inferred::Inferred;
use a4emu_gpu::cp::Observer;
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::coverage::Coverage;
use a4emu_support::out_file::OutFile;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal;

/// The observers of a run for these options.
pub struct Noted {
    inferred: Option<Inferred>,
    coverage: Option<Coverage>,
}

impl Noted {
    /// Makes the observers that the arguments request. `gpu` then records its guesses.
    pub fn new(args: &Args, gpu: &mut Gpu) -> Self {
        if args.fidelity {
            gpu.watch_guesses();
        }
        Self {
            inferred: args.fidelity.then(Inferred::default),
            coverage: args.coverage.is_some().then(Coverage::default),
        }
    }

    /// The observers.
    pub fn observers(&mut self) -> impl Iterator<Item = &mut dyn Observer> {
        let inferred = self.inferred.as_mut().map(|inferred| inferred as &mut dyn Observer);
        inferred.into_iter().chain(self.coverage.as_mut().map(|coverage| coverage as &mut dyn Observer))
    }

    /// Writes the data, the coverage into `coverage`. If one output fails, the other is still written.
    pub fn put_out(self, args: &Args, gpu: &Gpu, coverage: Option<OutFile>) -> Status {
        let guesses = match (&gpu.fidelity, self.inferred) {
            (Some(fidelity), Some(inferred)) if !args.stats => {
                let mut out = terminal::lines();
                fidelity.write(&mut out).and_then(|()| inferred.write(&mut out)).and_then(|()| out.flush())
            }
            _ => io::Result::Ok(()),
        };
        let coverage = match (coverage, self.coverage) {
            (Some(out), Some(coverage)) => coverage.write(out),
            _ => Ok(()),
        };
        Status::Fine.and(guesses).and(coverage)
    }
}
