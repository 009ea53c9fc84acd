//! The state of a shader stage from draw to draw: only what changed is made anew.

use std::sync::Arc;

use hashbrown::HashMap;

use super::buffer::Buffer;
use super::programs::{Loaded, Programs};
use super::spare::SpareWarps;
use super::state::{CodePlace, StageState, code, constants};
use crate::draw::memo::Memo;
use crate::draw::tpl1::TextureBank;
use crate::draw::tpl1::state::textures;
use crate::fault::{Fault, Miss};
use crate::gpu::{Gpu, Stage};

/// Places of programs that are remembered.
const MAX_PLACES: usize = 4096;

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
        let constants = self.constants.get(regs, key, |_| constants(gpu, stage).into());
        let buffers = self
            .buffers
            .get(regs, ssbo.changes, |_| ssbo.sizes.iter().map(|words| Buffer::new(*words)).collect());
        let last = self.last.as_ref().filter(|last| Arc::ptr_eq(&last.program, &loaded.program));
        let is_same = |last: &Arc<StageState>| {
            Arc::ptr_eq(&last.constants, &constants)
                && Arc::ptr_eq(&last.textures, &textures)
                && Arc::ptr_eq(&last.buffers, &buffers)
        };
        if let Some(last) = last.filter(|last| is_same(last)) {
            return Ok(last.clone());
        }
        let spare = last.map_or(SpareWarps::default(), |last| last.spare.clone());
        let Loaded { program, summary } = loaded;
        let made = Arc::new(StageState { stage, program, summary, textures, constants, buffers, spare });
        self.last = Some(made.clone());
        Ok(made)
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
    use a4emu_decoder::bits::Register;
    use a4emu_decoder::isa::ir3::program::assemble;
    use a4emu_decoder::load_state::{Pipe, StateKind};
    use a4emu_decoder::regs::sp::{SP_FS_LENGTH_REG, SP_FS_OBJ_START};
    use a4emu_decoder::regs::tpl1::TPL1_TP_FS_BORDER_COLOR_BASE_ADDR;

    use super::*;
    use crate::gpu::Chip;

    const CODE: u32 = 0x1000;
    const BORDERS: u32 = 0x4000;

    /// A fragment shader in memory that samples, with a sampler that clamps to its border.
    fn machine() -> Gpu {
        let mut gpu = Gpu::new(Chip::default());
        gpu.mem.announce(CODE, 0x2000, Some(&[0; 0x2000]));
        gpu.mem.announce(BORDERS, 0x1000, Some(&[1; 0x1000]));
        put_code(&mut gpu, "sam (f32)(xyzw)r0.x, r0.x, s#0, t#0\nend\n");
        write(&mut gpu, SP_FS_OBJ_START::ROW.offset, CODE);
        write(&mut gpu, SP_FS_LENGTH_REG::ROW.offset, 1);
        write(&mut gpu, TPL1_TP_FS_BORDER_COLOR_BASE_ADDR::ROW.offset, BORDERS);
        gpu.loaded.load(StateKind::Samplers(Stage::FS), 0, &[3 << 5, 0]);
        gpu
    }

    fn put_code(gpu: &mut Gpu, text: &str) {
        for (i, word) in assemble(text).expect("text").iter().enumerate() {
            assert!(gpu.mem.write(CODE + 8 * i as u32, &word.to_le_bytes()));
        }
    }

    fn write(gpu: &mut Gpu, offset: u32, value: u32) {
        gpu.regs.write(offset, value).expect("a register");
    }

    /// Whether the state after `change` is another one than before.
    fn is_new_after(change: impl FnOnce(&mut Gpu)) -> bool {
        let (mut gpu, mut programs, mut kept) = (machine(), Programs::default(), KeptStage::default());
        let mut get = |gpu: &Gpu| kept.get(gpu, &mut programs, Stage::FS).ok().expect("a program");
        let before = get(&gpu);
        assert!(Arc::ptr_eq(&before, &get(&gpu)), "nothing changed");
        change(&mut gpu);
        !Arc::ptr_eq(&before, &get(&gpu))
    }

    #[test]
    fn what_changes_a_stage_makes_its_state_anew() {
        assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Constants(Stage::FS), 3, &[1, 2, 3, 4])));
        assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Textures(Stage::FS), 0, &[9; 8])));
        assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::Samplers(Stage::FS), 1, &[9; 2])));
        assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::SsboSizes(Pipe::Graphics), 0, &[9; 2])));
        assert!(is_new_after(|gpu| gpu.loaded.load(StateKind::SsboDescriptors(Pipe::Graphics), 0, &[9; 4])));
        assert!(is_new_after(|gpu| write(gpu, TPL1_TP_FS_BORDER_COLOR_BASE_ADDR::ROW.offset, BORDERS + 64)));
        assert!(is_new_after(|gpu| assert!(gpu.mem.write(BORDERS + 32, &[7; 4]))), "a border colour");
        assert!(is_new_after(|gpu| put_code(gpu, "nop\nend\n")), "a program in the place of another");
        assert!(is_new_after(|gpu| {
            let code: Vec<u32> = vec![1, 0x0300_0000];
            gpu.loaded.load(StateKind::Instructions(Stage::FS), 0, &code);
        }));
    }

    #[test]
    fn what_does_not_leaves_it() {
        assert!(
            !is_new_after(|gpu| gpu.loaded.load(StateKind::Samplers(Stage::FS), 0, &[3 << 5, 0])),
            "the same"
        );
        assert!(
            !is_new_after(|gpu| gpu.loaded.load(StateKind::Constants(Stage::VS), 0, &[1; 4])),
            "another's"
        );
        assert!(!is_new_after(|gpu| gpu.loaded.load(StateKind::SsboSizes(Pipe::Compute), 0, &[9; 2])));
        assert!(!is_new_after(|gpu| write(gpu, 0x2000, 77)), "a register that it does not read");
        assert!(!is_new_after(|gpu| assert!(gpu.mem.write(CODE + 0x1000, &[7; 4]))), "memory behind it");
    }
}
