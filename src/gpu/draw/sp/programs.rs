//! Cache of lowered shader programs.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::fault::Fault;
use crate::limits::{PROGRAM_INSTRUCTIONS, PROGRAMS};
use crate::machine::Stage;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_shader::{Granularity, Jit, Program, Summary, SyncFlag};

/// Lowered programs by their words.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    lowered: HashMap<Vec<u64>, Loaded>,
    /// Programs of hull shaders, in which (ss) can mean more.
    hull: HashMap<Vec<u64>, Loaded>,
    /// Number of cached instructions.
    kept: usize,
    /// Number of restarts of the cache. Other caches drop their programs when it changes.
    pub restarts: u64,
    /// What programs are watched for.
    pub watched: Watched,
    /// Selects programs to compile.
    pub jit: Jit,
}

/// What programs are watched for while they run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Watched {
    /// Programs are not watched.
    #[default]
    Nothing,
    /// Registers selected by a0.x.
    Choices,
    /// Registers selected by a0.x, and guesses.
    Guesses,
}

/// A program and a summary of it.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// The lowered program.
    pub program: Arc<Program>,
    /// Capabilities that it uses.
    pub summary: Summary,
}

/// What (ss) means in programs of `stage`.
pub fn sync_flag(stage: Stage) -> SyncFlag {
    if stage == Stage::HS { SyncFlag::Barrier } else { SyncFlag::Scheduling }
}

impl Programs {
    /// Returns the programs that have machine code, with their words and a file name suffix.
    pub fn compiled(&self) -> impl Iterator<Item = (&[u64], &Program, &'static str)> {
        let all = self.lowered.iter().map(|known| (known, ".txt"));
        let all = all.chain(self.hull.iter().map(|known| (known, ".hs.txt")));
        let compiled = all.filter(|((_, loaded), _)| loaded.program.routine().is_some());
        compiled.map(|((words, loaded), kind)| (words.as_slice(), &*loaded.program, kind))
    }

    /// Returns the program of `stage` with these `words`, if it is lowered.
    pub fn find(&self, stage: Stage, words: &[u64]) -> Option<Loaded> {
        let known = if stage == Stage::HS { &self.hull } else { &self.lowered };
        known.get(words).cloned()
    }

    /// Lowers the program of `stage` with these `words` of the instruction set, and keeps it.
    ///
    /// # Errors
    /// A fault when the program is too long.
    pub fn lower(&mut self, isa: Isa, stage: Stage, words: &[u64]) -> Result<Loaded, Fault> {
        let known = if stage == Stage::HS { &self.hull } else { &self.lowered };
        let granularity = match self.watched {
            Watched::Nothing => Granularity::Runs,
            Watched::Choices => Granularity::Choices,
            Watched::Guesses => Granularity::Watched,
        };
        let program = Program::lowered(isa, sync_flag(stage), granularity, words);
        let program = program.map_err(|error| Fault::Shader(error.to_string()))?;
        self.kept += words.len();
        if known.len() >= PROGRAMS || self.kept > PROGRAM_INSTRUCTIONS {
            self.lowered.clear();
            self.hull.clear();
            self.kept = words.len();
            self.restarts += 1;
        }
        let known = if stage == Stage::HS { &mut self.hull } else { &mut self.lowered };
        let loaded = Loaded { summary: program.summary(), program: Arc::new(program) };
        known.insert(words.to_vec(), loaded.clone());
        Ok(loaded)
    }
}
