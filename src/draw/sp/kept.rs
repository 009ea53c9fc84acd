//! The state of a shader stage from draw to draw: only what changed is made anew.

use std::sync::Arc;

use hashbrown::HashMap;

use super::buffer::Buffer;
use super::programs::{Loaded, Programs};
use super::spare::SpareWarps;
use super::state::{CodePlace, StageState, code, constants};
use crate::draw::tpl1::TextureBank;
use crate::draw::tpl1::state::textures;
use crate::fault::{Fault, Miss};
use crate::gpu::{Gpu, Stage};
use crate::memo::Memo;
use crate::shader::{Counting, Program};

/// Places of programs that are remembered.
const MAX_PLACES: usize = 4096;

/// Programs whose warps are kept for the next draw with them.
const MAX_SPARES: usize = 8;

/// The last state of a stage, by its parts.
#[derive(Default)]
pub struct KeptStage {
    /// Programs in memory, by where they are, and when they were read.
    programs: HashMap<CodePlace, (Loaded, u64)>,
    constants: Memo<[u64; 2], Arc<[u32]>>,
    buffers: Memo<u64, Arc<[Buffer]>>,
    textures: Memo<u64, Arc<TextureBank>>,
    no_textures: Arc<TextureBank>,
    last: Option<Arc<StageState>>,
    /// What draws with the latest programs have left, in no order.
    spares: Vec<(Arc<Program>, SpareWarps)>,
}

/// Why a stage cannot run.
pub enum NoStage {
    /// Its program is not there.
    Missing(Miss),
    /// Its program is none.
    Fault(Fault),
}

impl KeptStage {
    /// The state of `stage` now.
    ///
    /// # Errors
    /// There is no program.
    pub fn get(
        &mut self,
        gpu: &Gpu,
        programs: &mut Programs,
        stage: Stage,
    ) -> Result<Arc<StageState>, NoStage> {
        let loaded = self.program(gpu, programs, stage)?;
        loaded.program.prepare(programs.jit);
        let (regs, state, ssbo) = (&gpu.regs, gpu.loaded.stage(stage), gpu.loaded.ssbo(stage));
        let textures = match loaded.summary.samples {
            true => self.textures.get_with_memory(regs, &gpu.mem, state.changes.textures, |_| {
                let textures = textures(gpu, stage);
                let borders = textures.border_places().to_vec();
                (Arc::new(textures), borders)
            }),
            false => self.no_textures.clone(),
        };
        let key = [state.changes.constants, ssbo.changes];
        let constants = self.constants.get(regs, key, |_| constants(gpu, stage));
        let buffers = self
            .buffers
            .get(regs, ssbo.changes, |_| ssbo.sizes.iter().map(|words| Buffer::new(*words)).collect());
        let counting = gpu.pipeline.costs.as_ref().map_or(Counting::Off, |costs| costs.counting);
        let last = self.last.as_ref().filter(|last| Arc::ptr_eq(&last.program, &loaded.program));
        let is_same = |last: &Arc<StageState>| {
            last.counting == counting
                && Arc::ptr_eq(&last.constants, &constants)
                && Arc::ptr_eq(&last.textures, &textures)
                && Arc::ptr_eq(&last.buffers, &buffers)
        };
        if let Some(last) = last.filter(|last| is_same(last)) {
            return Ok(last.clone());
        }
        let Loaded { program, summary } = loaded;
        let spare = self.spare(&program);
        let made = Arc::new(StageState {
            stage,
            program,
            summary,
            textures,
            constants,
            buffers,
            spare,
            catch: None,
            counting,
        });
        self.last = Some(made.clone());
        Ok(made)
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

    fn program(&mut self, gpu: &Gpu, programs: &mut Programs, stage: Stage) -> Result<Loaded, NoStage> {
        let place = CodePlace::of(gpu, stage);
        if let Some((loaded, time)) = self.programs.get(&place)
            && place.is_unchanged(&gpu.mem, *time)
        {
            return Ok(loaded.clone());
        }
        let words = code(gpu, stage).map_err(NoStage::Missing)?;
        let loaded = programs.get(stage, &words).map_err(NoStage::Fault)?;
        if place.is_known(&gpu.mem) {
            if self.programs.len() >= MAX_PLACES {
                self.programs.clear();
            }
            self.programs.insert(place, (loaded.clone(), gpu.mem.now()));
        }
        Ok(loaded)
    }
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
