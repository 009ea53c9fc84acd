//! The state of a shader stage from draw to draw: only what changed is made anew.

use std::sync::Arc;

use hashbrown::HashMap;

use super::buffer::Buffer;
use super::programs::{Loaded, Programs};
use super::spare::SpareWarps;
use super::state::{CodePlace, StageState, code, constants, has_constants};
use crate::draw::tpl1::TextureBank;
use crate::draw::tpl1::state::textures;
use crate::fault::{Fault, Miss};
use crate::gpu::{CONSTANTS, Gpu, Stage};
use crate::memo::{BySlot, Memo};
use crate::shader::{Counting, Program};

/// Places of programs that are remembered.
const MAX_PLACES: usize = 4096;

/// Programs whose warps are kept for the next draw with them.
const MAX_SPARES: usize = 8;

/// The last states of a stage, by their parts.
#[derive(Default)]
pub struct KeptStage {
    /// Programs in memory, by where they are, and when they were read.
    programs: HashMap<CodePlace, (Loaded, u64)>,
    buffers: Memo<u64, Arc<[Buffer]>>,
    textures: Memo<u64, Arc<TextureBank>>,
    no_textures: Arc<TextureBank>,
    /// By slot.
    states: BySlot<Known>,
    /// The slot whose state was given last.
    last: usize,
    /// What draws with the latest programs have left, in no order.
    spares: Vec<(Arc<Program>, SpareWarps)>,
}

/// A state that was given.
struct Known {
    state: Arc<StageState>,
    /// How often constants and buffers had changed.
    changes: [u64; 2],
    place: CodePlace,
    /// When the program was read.
    time: u64,
}

/// Why a stage cannot run.
pub enum NoStage {
    /// Its program is not there.
    Missing(Miss),
    /// Its program is none.
    Fault(Fault),
}

impl KeptStage {
    /// The state of `stage` now, for `slot`.
    ///
    /// # Errors
    /// There is no program.
    pub fn get(
        &mut self,
        gpu: &Gpu,
        programs: &mut Programs,
        stage: Stage,
        slot: usize,
    ) -> Result<Arc<StageState>, NoStage> {
        let place = CodePlace::of(gpu, stage);
        let (loaded, time) = self.program(gpu, programs, stage, place, slot)?;
        loaded.program.prepare(programs.jit);
        let (regs, state, ssbo) = (&gpu.regs, gpu.loaded.stage(stage), gpu.loaded.ssbo(stage));
        let textures = match loaded.summary.samples {
            true => self.textures.get_with_memory(slot, regs, &gpu.mem, state.changes.textures, |_| {
                let textures = textures(gpu, stage);
                let borders = textures.border_places().to_vec();
                (Arc::new(textures), borders)
            }),
            false => self.no_textures.clone(),
        };
        let wanted = constants_wanted(gpu, stage, &loaded.program);
        let buffers = self
            .buffers
            .get(slot, regs, ssbo.changes, |_| ssbo.sizes.iter().map(|words| Buffer::new(*words)).collect());
        let counting = gpu.pipeline.costs.as_ref().map_or(Counting::Off, |costs| costs.counting);
        let changes = [state.changes.constants, ssbo.changes];
        for slot in [self.last, slot] {
            let Some(known) = self.states.get_mut(slot) else { continue };
            let state = &known.state;
            if Arc::ptr_eq(&state.program, &loaded.program)
                && state.counting == counting
                && Arc::ptr_eq(&state.textures, &textures)
                && Arc::ptr_eq(&state.buffers, &buffers)
                && state.constants.len() >= wanted.unwrap_or(4 * CONSTANTS)
                && (known.changes == changes || wanted.is_some() && has_constants(state, gpu))
            {
                self.last = slot;
                (known.changes, known.place, known.time) = (changes, place, time);
                return Ok(known.state.clone());
            }
        }
        let Loaded { program, summary } = loaded;
        let spare = self.spare(&program);
        let state = Arc::new(StageState {
            stage,
            program,
            summary,
            textures,
            constants: constants(gpu, stage, wanted),
            buffers,
            spare,
            catch: None,
            counting,
        });
        self.states.put(slot, Known { state: state.clone(), changes, place, time });
        self.last = slot;
        Ok(state)
    }

    /// The warps that draws with `program` have left.
    fn spare(&mut self, program: &Arc<Program>) -> SpareWarps {
        let known = self.spares.iter().position(|(known, _)| Arc::ptr_eq(known, program));
        let at = known.unwrap_or_else(|| {
            if self.spares.len() == MAX_SPARES {
                self.spares.remove(0);
            }
            self.spares.push((program.clone(), SpareWarps::default()));
            self.spares.len() - 1
        });
        self.spares[at].1.clone()
    }

    /// The program at `place`, and when it was read.
    fn program(
        &mut self,
        gpu: &Gpu,
        programs: &mut Programs,
        stage: Stage,
        place: CodePlace,
        slot: usize,
    ) -> Result<(Loaded, u64), NoStage> {
        for slot in [self.last, slot] {
            if let Some(known) = self.states.get(slot)
                && known.place == place
                && place.is_unchanged(&gpu.mem, known.time)
            {
                let StageState { program, summary, .. } = &*known.state;
                return Ok((Loaded { program: program.clone(), summary: *summary }, known.time));
            }
        }
        if let Some((loaded, time)) = self.programs.get(&place)
            && place.is_unchanged(&gpu.mem, *time)
        {
            return Ok((loaded.clone(), *time));
        }
        let words = code(gpu, stage).map_err(NoStage::Missing)?;
        let loaded = programs.get(stage, &words).map_err(NoStage::Fault)?;
        let now = gpu.mem.now();
        if place.is_known(&gpu.mem) {
            if self.programs.len() >= MAX_PLACES {
                self.programs.clear();
            }
            self.programs.insert(place, (loaded.clone(), now));
        }
        Ok((loaded, now))
    }
}

/// How many scalars of the constant file are kept for `program`; `None` for all.
fn constants_wanted(gpu: &Gpu, stage: Stage, program: &Program) -> Option<usize> {
    let wanted = match stage {
        // What is the same for all work groups is put into them.
        Stage::CS => None,
        // Who looks may ask for any.
        _ => program.constants_read().filter(|_| gpu.pipeline.watch.is_none()),
    };
    wanted.map(|wanted| wanted.min(4 * CONSTANTS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::shader::Warp;

    #[test]
    fn draws_that_take_turns_leave_each_other_warps() {
        let programs: Vec<Arc<Program>> =
            (0..=MAX_SPARES).map(|_| StageState::of("end").program.clone()).collect();
        let mut kept = KeptStage::default();
        for program in &programs[..MAX_SPARES] {
            kept.spare(program).leave(Warp::new(program, &[]));
        }
        assert!(programs[..MAX_SPARES].iter().all(|program| kept.spare(program).take().is_some()));
        kept.spare(&programs[1]).leave(Warp::new(&programs[1], &[]));
        assert!(kept.spare(&programs[MAX_SPARES]).take().is_none(), "a warp is of one program");
        assert!(kept.spare(&programs[1]).take().is_some());
        assert_eq!(kept.spares.len(), MAX_SPARES, "the oldest program is forgotten");
    }
}
