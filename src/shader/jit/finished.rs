//! Code in which colours become pixels, for draws whose targets are common enough ([`Finish`]). How they do is part of the
//! code, so that there may be several ways.
use std::sync::OnceLock;

use super::super::finish::Finish;
use super::super::program::Program;
use super::Routine;
use super::line::Line;
use super::machine::Machine;
use super::ways::Coded;

/// Ways to finish for which some code is there again at most. Draws that finish otherwise leave colours.
const WAYS: usize = 4;

/// The code of a [`Routine`] again, for different ways to finish.
#[derive(Default)]
pub struct Finished([OnceLock<Variant>; WAYS]);

struct Variant {
    finish: Finish,
    routine: Option<Box<Routine>>,
}

impl Finished {
    /// The way through the code that finishes so, which has what is `coded` as well, and that code; `None` if there is no
    /// such code.
    pub fn get(&self, program: &Program, finish: &Finish, coded: &Coded) -> Option<(&Line, &Routine)> {
        let make = || {
            let mut coded = coded.clone();
            coded.finish = Some(*finish);
            let routine = Routine::with(program, Machine::Avx512, coded);
            Variant { finish: *finish, routine: routine.filter(Routine::has_end).map(Box::new) }
        };
        let mut variants = self.0.iter().map(|variant| variant.get_or_init(make));
        let routine = variants.find(|variant| variant.finish == *finish)?.routine.as_deref()?;
        Some((routine.line.as_ref()?, routine))
    }

    /// All of it that there is.
    pub fn all(&self) -> impl Iterator<Item = &Routine> {
        self.0.iter().filter_map(|variant| variant.get()?.routine.as_deref())
    }
}
