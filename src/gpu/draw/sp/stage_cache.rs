//! Caches the state of a shader stage between draws, and rebuilds only what changed.

use std::sync::Arc;

use hashbrown::HashMap;

use super::buffer::Buffer;
use super::descriptors::DescriptorPlaces;
use super::programs::{Loaded, Programs};
use super::spare::SpareWarps;
use super::state::{CodePlace, StageReaders, StageState, code, constants, has_constants};
use crate::budget::Work;
use crate::draw::tpl1::TextureBank;
use crate::draw::vertices::SpareLists;
use crate::fault::{Fault, Miss};
use crate::limits::{PROGRAM_PLACES, SPARE_WARP_PROGRAMS};
use crate::machine::{CONSTANTS, ChipView, Stage};
use crate::memo::{BySlot, Memo};
use crate::memory::Memory;
use a4emu_shader::{BindlessSlot, Counting, Dialect, Program};

/// Cache of the last states of a stage and their parts.
#[derive(Default)]
pub struct StageCache {
    /// Programs in memory by location, with the time when they were read.
    programs: HashMap<ProgramPlace, (Loaded, u64)>,
    buffers: Memo<u64, Arc<[Buffer]>>,
    /// The textures, by the count of their changes and the descriptors at bindless bases.
    textures: Memo<(u64, Vec<BindlessSlot>), Arc<TextureBank>>,
    no_textures: Arc<TextureBank>,
    /// Cached states by slot.
    states: BySlot<Known>,
    /// Slot of the state that was returned last.
    last: usize,
    /// Spare warps of the latest programs, in no order.
    spares: Vec<(Arc<Program>, SpareWarps)>,
    /// Spare lists of all programs.
    lists: SpareLists,
    /// Count of restarts of the program cache at the last look-up.
    restarts: u64,
}

/// Where a program is, and what its words mean.
type ProgramPlace = (CodePlace, Dialect);

/// A cached state.
struct Known {
    state: Arc<StageState>,
    /// Counts of changes of constants and buffers.
    changes: [u64; 2],
    place: ProgramPlace,
    /// Time when the program was read.
    time: u64,
}

/// Reason why a stage cannot run.
pub enum NoStage {
    /// The program is missing.
    Missing(Miss),
    /// The program is invalid.
    Fault(Fault),
    /// The program is not lowered yet, and that costs more than the remaining budget.
    NotLowered,
}

/// A request for the state of a stage.
#[derive(Clone, Copy)]
pub struct Request {
    /// What to read its registers with.
    pub readers: &'static StageReaders,
    /// The stage.
    pub stage: Stage,
    /// Slot of the draw packet.
    pub slot: usize,
    /// What to count while warps run.
    pub counting: Counting,
    /// Which constants to keep.
    pub constants: Constants,
}

/// Which constants a state keeps.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Constants {
    /// The constants that the program reads.
    Read,
    /// All constants, for a tool that may show any.
    All,
}

impl Request {
    /// Requests the state of `stage` for a draw that no tool observes.
    pub fn of(readers: &'static StageReaders, stage: Stage, slot: usize) -> Self {
        let (counting, constants) = (Counting::Off, Constants::Read);
        Self { readers, stage, slot, counting, constants }
    }
}

impl StageCache {
    /// Returns the requested state, as the chip is now.
    ///
    /// # Errors
    /// The program is missing or invalid, or the budget is too small.
    pub fn get(
        &mut self,
        chip: ChipView<'_>,
        programs: &mut Programs,
        Request { readers, stage, slot, counting, constants: kept }: Request,
    ) -> Result<Arc<StageState>, NoStage> {
        let place = (CodePlace::of(readers, chip, stage), (readers.dialect)(chip, stage));
        if self.restarts != programs.restarts {
            self.restarts = programs.restarts;
            self.programs.clear();
            self.states = BySlot::default();
            self.spares.clear();
        }
        // Queued draws share all these parts with other threads, so borrow them here instead of cloning.
        let read;
        let (program, summary, time) = match Known::find(&self.states, [self.last, slot], place, chip.mem) {
            Some(known) => (&known.state.program, known.state.summary, known.time),
            None => {
                read = program(&mut self.programs, chip, programs, (readers, stage, place))?;
                (&read.0.program, read.0.summary, read.1)
            }
        };
        program.prepare(programs.jit);
        let (regs, state, ssbo) = (chip.regs, chip.loaded.stage(stage), chip.loaded.ssbo(stage));
        let textures_key = (state.changes.textures, program.bindless().to_vec());
        let textures = match summary.samples {
            true => self.textures.get_with_memory(slot, regs, chip.mem, textures_key, |_| {
                let textures = (readers.textures)(chip, stage, program.bindless());
                let borders = textures.places_read().to_vec();
                (Arc::new(textures), borders)
            }),
            false => &self.no_textures,
        };
        let buffers = self.buffers.get(slot, regs, ssbo.changes, |_| {
            ssbo.sizes.iter().map(|words| (readers.buffer)(*words)).collect()
        });
        let descriptors = readers.descriptors.map(|places| places(chip, stage));
        let (wanted, changes) =
            (constants_wanted(stage, program, kept), [state.changes.constants, ssbo.changes]);
        let private_bytes = (readers.private_bytes)(chip);
        let parts =
            Parts { program, textures, buffers, descriptors, private_bytes, counting, wanted, changes };
        let same = [self.last, slot]
            .into_iter()
            .find(|slot| self.states.get(*slot).is_some_and(|known| parts.are_of(known, chip)));
        let known = same.and_then(|slot| self.states.get(slot)).map(|known| known.state.clone());
        let state = known.unwrap_or_else(|| {
            Arc::new(StageState {
                stage,
                program: program.clone(),
                summary,
                textures: textures.clone(),
                constants: constants(readers, chip, stage, wanted),
                buffers: buffers.clone(),
                descriptors: parts.descriptors.clone(),
                private_bytes: parts.private_bytes,
                spare: spare(&mut self.spares, program),
                lists: self.lists.clone(),
                catch: None,
                counting,
            })
        });
        self.last = same.unwrap_or(slot);
        match self.states.get_mut(self.last).filter(|_| same.is_some()) {
            Some(known) => (known.changes, known.place, known.time) = (changes, place, time),
            None => self.states.put(slot, Known { state: state.clone(), changes, place, time }),
        }
        Ok(state)
    }
}

/// Parts of a state.
struct Parts<'k> {
    program: &'k Arc<Program>,
    textures: &'k Arc<TextureBank>,
    buffers: &'k Arc<[Buffer]>,
    descriptors: Option<DescriptorPlaces>,
    private_bytes: usize,
    counting: Counting,
    /// Number of scalars of the constant file, or `None` for all.
    wanted: Option<usize>,
    /// Counts of changes of constants and buffers.
    changes: [u64; 2],
}

impl Parts<'_> {
    /// Returns whether a cached state has the same parts.
    fn are_of(&self, known: &Known, chip: ChipView<'_>) -> bool {
        let state = &known.state;
        Arc::ptr_eq(&state.program, self.program)
            && state.counting == self.counting
            && Arc::ptr_eq(&state.textures, self.textures)
            && Arc::ptr_eq(&state.buffers, self.buffers)
            && state.descriptors == self.descriptors
            && state.private_bytes == self.private_bytes
            && state.constants.len() >= self.wanted.unwrap_or(4 * CONSTANTS)
            && (known.changes == self.changes || self.wanted.is_some() && has_constants(state, chip))
    }
}

impl Known {
    /// Returns the first state of `slots` whose program is the one at `place`.
    fn find<'k>(
        states: &'k BySlot<Self>,
        slots: [usize; 2],
        place: ProgramPlace,
        memory: &Memory,
    ) -> Option<&'k Self> {
        let mut known = slots.into_iter().filter_map(|slot| states.get(slot));
        known.find(|known| known.place == place && place.0.is_unchanged(memory, known.time))
    }
}

/// Returns the spare warps of `program`.
fn spare(spares: &mut Vec<(Arc<Program>, SpareWarps)>, program: &Arc<Program>) -> SpareWarps {
    let known = spares.iter().position(|(known, _)| Arc::ptr_eq(known, program));
    let at = known.unwrap_or_else(|| {
        if spares.len() == SPARE_WARP_PROGRAMS {
            spares.remove(0);
        }
        spares.push((program.clone(), SpareWarps::default()));
        spares.len() - 1
    });
    spares[at].1.clone()
}

/// Returns the program at `place`, and the time when it was read.
fn program(
    known: &mut HashMap<ProgramPlace, (Loaded, u64)>,
    chip: ChipView<'_>,
    programs: &mut Programs,
    (readers, stage, place): (&StageReaders, Stage, ProgramPlace),
) -> Result<(Loaded, u64), NoStage> {
    if let Some((loaded, time)) = known.get(&place)
        && place.0.is_unchanged(chip.mem, *time)
    {
        return Ok((loaded.clone(), *time));
    }
    let words = code(readers, chip, stage).map_err(NoStage::Missing)?;
    let loaded = match programs.find(place.1, &words) {
        Some(loaded) => loaded,
        None => {
            let instructions = words.len() as u64;
            if !chip.budget.affords(Work::Lowering, instructions) {
                return Err(NoStage::NotLowered);
            }
            chip.budget.charge_later(Work::Lowering, instructions);
            programs.lower(place.1, &words).map_err(NoStage::Fault)?
        }
    };
    let now = chip.mem.now();
    if place.0.is_known(chip.mem) {
        if known.len() >= PROGRAM_PLACES {
            known.clear();
        }
        known.insert(place, (loaded.clone(), now));
    }
    Ok((loaded, now))
}

/// Returns how many scalars of the constant file to keep for `program`, or `None` for all.
fn constants_wanted(stage: Stage, program: &Program, kept: Constants) -> Option<usize> {
    let wanted = match stage {
        // Values that all workgroups share are written into the constants.
        Stage::CS => None,
        _ => program.constants_read().filter(|_| kept == Constants::Read),
    };
    wanted.map(|wanted| wanted.min(4 * CONSTANTS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use a4emu_shader::Warp;

    #[test]
    fn draws_that_take_turns_leave_each_other_warps() {
        let programs: Vec<Arc<Program>> =
            (0..=SPARE_WARP_PROGRAMS).map(|_| StageState::of("end").program.clone()).collect();
        let mut kept = StageCache::default();
        for program in &programs[..SPARE_WARP_PROGRAMS] {
            spare(&mut kept.spares, program).leave(Warp::new(program, &[]));
        }
        assert!(
            programs[..SPARE_WARP_PROGRAMS]
                .iter()
                .all(|program| spare(&mut kept.spares, program).take().is_some())
        );
        spare(&mut kept.spares, &programs[1]).leave(Warp::new(&programs[1], &[]));
        assert!(
            spare(&mut kept.spares, &programs[SPARE_WARP_PROGRAMS]).take().is_none(),
            "a warp is of one program"
        );
        assert!(spare(&mut kept.spares, &programs[1]).take().is_some());
        assert_eq!(kept.spares.len(), SPARE_WARP_PROGRAMS, "the oldest program is forgotten");
    }
}
