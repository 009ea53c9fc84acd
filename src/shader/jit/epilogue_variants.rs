//! Variants of code that convert colours to pixels, for draws with common render targets ([`Epilogue`]). The
//! conversion is part of the code, so there are several variants.
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use super::super::epilogue::Epilogue;
use super::super::lowered::Lowered;
use super::Routine;
use super::coded::Coded;
use super::machine::Machine;
use super::straight_line::Line;
use crate::limits::{EPILOGUE_VARIANTS, VARIANT_WARPS};

/// Variants of a [`Routine`] with different conversions.
#[derive(Default)]
pub struct EpilogueVariants([OnceLock<Variant>; EPILOGUE_VARIANTS]);

struct Variant {
    epilogue: Epilogue,
    /// Warps that ran before the variant was compiled.
    warps: AtomicU64,
    routine: OnceLock<Option<Box<Routine>>>,
}

impl EpilogueVariants {
    /// The line and the routine of the variant for `machine` with `epilogue` and the readings of `coded`. Counts
    /// `warps` more warps. `None` if the variant does not exist, or not yet.
    pub fn get(
        &self,
        program: &Lowered,
        epilogue: &Epilogue,
        (machine, coded): (Machine, &Coded),
        warps: usize,
    ) -> Option<(&Line, &Routine)> {
        let new = || Variant { epilogue: *epilogue, warps: AtomicU64::new(0), routine: OnceLock::new() };
        let mut variants = self.0.iter().map(|variant| variant.get_or_init(new));
        let variant = variants.find(|variant| variant.epilogue == *epilogue)?;
        let routine = match variant.routine.get() {
            Some(routine) => routine,
            None if variant.warps.fetch_add(warps as u64, Ordering::Relaxed) < VARIANT_WARPS => return None,
            None => variant.routine.get_or_init(|| {
                let mut coded = coded.clone();
                coded.epilogue = Some(*epilogue);
                let routine = Routine::with(program, machine, coded);
                routine.filter(Routine::has_end).map(Box::new)
            }),
        };
        let routine = routine.as_deref()?;
        Some((routine.line.as_ref()?, routine))
    }

    /// The code of all existing variants.
    pub fn all(&self) -> impl Iterator<Item = &Routine> {
        self.0.iter().filter_map(|variant| variant.get()?.routine.get()?.as_deref())
    }
}
