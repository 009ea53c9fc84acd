//! Cache of lowered shader programs.

use std::sync::Arc;

use hashbrown::HashMap;

use crate::fault::Fault;
use crate::limits::{PROGRAM_INSTRUCTIONS, PROGRAMS};
use a4emu_shader::{Dialect, Granularity, Jit, Program, Summary, SyncFlag};

/// Lowered programs by what their words mean, and by their words.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    lowered: HashMap<Dialect, HashMap<Vec<u64>, Loaded>>,
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

impl Programs {
    /// Returns the programs that have machine code, with their words and a file name suffix.
    pub fn compiled(&self) -> impl Iterator<Item = (&[u64], &Program, &'static str)> {
        let of = |(dialect, programs)| Self::with_suffix(dialect, programs);
        let all = self.lowered.iter().flat_map(of);
        let compiled = all.filter(|(_, loaded, _)| loaded.program.routine().is_some());
        compiled.map(|(words, loaded, suffix)| (words.as_slice(), &*loaded.program, suffix))
    }

    fn with_suffix<'p>(
        dialect: &Dialect,
        programs: &'p HashMap<Vec<u64>, Loaded>,
    ) -> impl Iterator<Item = (&'p Vec<u64>, &'p Loaded, &'static str)> + use<'p> {
        let suffix = if dialect.sync == SyncFlag::Barrier { ".hs.txt" } else { ".txt" };
        programs.iter().map(move |(words, loaded)| (words, loaded, suffix))
    }

    /// Returns the program with these `words`, if it is lowered.
    pub fn find(&self, dialect: Dialect, words: &[u64]) -> Option<Loaded> {
        self.lowered.get(&dialect)?.get(words).cloned()
    }

    /// Lowers the program with these `words`, and keeps it.
    ///
    /// # Errors
    /// A fault when the program is too long.
    pub fn lower(&mut self, dialect: Dialect, words: &[u64]) -> Result<Loaded, Fault> {
        let granularity = match self.watched {
            Watched::Nothing => Granularity::Runs,
            Watched::Choices => Granularity::Choices,
            Watched::Guesses => Granularity::Watched,
        };
        let program = Program::lowered(dialect, granularity, words);
        let program = program.map_err(|error| Fault::Shader(error.to_string()))?;
        self.kept += words.len();
        let of_dialect = self.lowered.get(&dialect).map_or(0, HashMap::len);
        if of_dialect >= PROGRAMS || self.kept > PROGRAM_INSTRUCTIONS {
            self.lowered.clear();
            self.kept = words.len();
            self.restarts += 1;
        }
        let loaded = Loaded { summary: program.summary(), program: Arc::new(program) };
        self.lowered.entry(dialect).or_default().insert(words.to_vec(), loaded.clone());
        Ok(loaded)
    }
}
