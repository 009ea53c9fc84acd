//! What code contains besides operations.
use hashbrown::HashMap;

use super::super::epilogue::Epilogue;
use super::super::reading::Reading;

/// The contents of a variant besides operations: texture reads and a conversion.
#[derive(Clone, Default)]
pub struct Coded {
    /// The number of each sample in the code, by its step.
    pub numbers: HashMap<u32, usize>,
    /// The readings, by number.
    pub readings: Vec<Reading>,
    /// Conversion of the colour at the end, if it is in the code.
    pub epilogue: Option<Epilogue>,
    /// Whether adjacent texels are read together, which is faster on some processors.
    pub gather_pairs: bool,
}

impl Coded {
    /// The number of the sample in `step`, if it is in the code.
    pub fn number(&self, step: u32) -> Option<usize> {
        self.numbers.get(&step).copied()
    }
}
