//! Code in which colours become pixels, for draws whose targets are common enough ([`Finish`]). How they do is part of the
//! code, so that there may be several ways.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::finish::Finish;
use super::super::program::Program;
use super::Routine;
use super::line::Line;
use super::machine::Machine;
use super::ways::Coded;

/// Ways to finish for which some code is there again at most. Draws that finish otherwise leave colours.
const WAYS: usize = 4;

/// Warps from which on such code pays: it spares less than the first code of a program does, and takes as long to make.
pub(super) const PAYS: u64 = 256;

/// The code of a [`Routine`] again, for different ways to finish.
#[derive(Default)]
pub struct EpilogueVariants([OnceLock<Variant>; WAYS]);

struct Variant {
    finish: Finish,
    /// Those that have come before there is code.
    warps: AtomicU64,
    routine: OnceLock<Option<Box<Routine>>>,
}

impl EpilogueVariants {
    /// The way through the code that finishes so, which has what is `coded` as well, and that code, for so many warps more;
    /// `None` if there is no such code, or not yet.
    pub fn get(
        &self,
        program: &Program,
        finish: &Finish,
        coded: &Coded,
        warps: usize,
    ) -> Option<(&Line, &Routine)> {
        let new = || Variant { finish: *finish, warps: AtomicU64::new(0), routine: OnceLock::new() };
        let mut variants = self.0.iter().map(|variant| variant.get_or_init(new));
        let variant = variants.find(|variant| variant.finish == *finish)?;
        let routine = match variant.routine.get() {
            Some(routine) => routine,
            None if variant.warps.fetch_add(warps as u64, Ordering::Relaxed) < PAYS => return None,
            None => variant.routine.get_or_init(|| {
                let mut coded = coded.clone();
                coded.finish = Some(*finish);
                let routine = Routine::with(program, Machine::Avx512, coded);
                routine.filter(Routine::has_end).map(Box::new)
            }),
        };
        let routine = routine.as_deref()?;
        Some((routine.line.as_ref()?, routine))
    }

    /// All of it that there is.
    pub fn all(&self) -> impl Iterator<Item = &Routine> {
        self.0.iter().filter_map(|variant| variant.get()?.routine.get()?.as_deref())
    }
}
