//! Shader programs: fetched from where the chip would fetch them, lowered once.

use std::sync::Arc;

use a4emu_decoder::regs::sp::*;
use a4emu_decoder::regs::sp_geometry::*;
use hashbrown::HashMap;

use crate::fault::{Client, Fault, Miss};
use crate::gpu::{CodeSource, Gpu, INSTRUCTIONS, Stage};
use crate::regfile::RegFile;
use crate::shader::{Program, Summary};

/// Instructions in one unit of the length registers.
const GROUP: u32 = 16;

/// Lowered programs by their words.
#[derive(Clone, Debug, Default)]
pub struct Programs {
    lowered: HashMap<Vec<u64>, Loaded>,
    /// Those of hull shaders, in which (ss) can mean more.
    hull: HashMap<Vec<u64>, Loaded>,
}

/// A program and what it can do.
#[derive(Clone, Debug)]
pub struct Loaded {
    /// Ready to run.
    pub program: Arc<Program>,
    /// What it can do.
    pub summary: Summary,
}

/// Programs kept before the cache starts over.
const MAX_PROGRAMS: usize = 4096;

impl Programs {
    /// The program that `stage` makes of `words`.
    fn get(&mut self, stage: Stage, words: &[u64]) -> Result<Loaded, Fault> {
        let known = if stage == Stage::HS { &mut self.hull } else { &mut self.lowered };
        if let Some(loaded) = known.get(words) {
            return Ok(loaded.clone());
        }
        let program = if stage == Stage::HS { Program::new_hull(words) } else { Program::new(words) };
        let program = program.map_err(|error| Fault::Shader(error.to_string()))?;
        if known.len() >= MAX_PROGRAMS {
            known.clear();
        }
        let loaded = Loaded { summary: program.summary(), program: Arc::new(program) };
        known.insert(words.to_vec(), loaded.clone());
        Ok(loaded)
    }
}

/// Address and length in instructions of a stage's program.
fn place(regs: &RegFile, stage: Stage) -> (u32, u32) {
    let (start, groups) = match stage {
        Stage::VS => (regs.get::<SP_VS_OBJ_START>().VALUE(), regs.get::<SP_VS_LENGTH_REG>().VALUE()),
        Stage::FS => (regs.get::<SP_FS_OBJ_START>().VALUE(), regs.get::<SP_FS_LENGTH_REG>().VALUE()),
        Stage::CS => (regs.get::<SP_CS_OBJ_START>().VALUE(), regs.get::<SP_CS_LENGTH_REG>().VALUE()),
        Stage::HS => (regs.get::<SP_HS_OBJ_START>().VALUE(), regs.get::<SP_HS_LENGTH_REG>().VALUE()),
        Stage::DS => (regs.get::<SP_DS_OBJ_START>().VALUE(), regs.get::<SP_DS_LENGTH_REG>().VALUE()),
        Stage::GS => (regs.get::<SP_GS_OBJ_START>().VALUE(), regs.get::<SP_GS_LENGTH_REG>().VALUE()),
    };
    (start, groups.saturating_mul(GROUP).min(Program::MAX_INSTRUCTIONS as u32))
}

/// The program of `stage`, ready to run.
///
/// # Errors
/// A fault when there are no instructions.
pub fn load(gpu: &mut Gpu, stage: Stage) -> Result<Loaded, Fault> {
    let words = words(gpu, stage)?;
    gpu.pipeline.programs.get(stage, &words)
}

/// The instructions of `stage`, from memory or the instruction store, whichever was said
/// last. When the memory is not in the capture, the store has to do.
///
/// # Errors
/// A fault when there are none.
pub fn words(gpu: &mut Gpu, stage: Stage) -> Result<Vec<u64>, Fault> {
    let (start, length) = place(&gpu.regs, stage);
    let loaded = gpu.loaded.stage(stage);
    let mut bytes = vec![0; length as usize * 8];
    let in_memory = loaded.source == CodeSource::Memory && length > 0 && gpu.mem.read(start, &mut bytes);
    let words: Vec<u64> = if in_memory {
        bytes.chunks_exact(8).map(|b| u64::from_le_bytes(std::array::from_fn(|i| b[i]))).collect()
    } else {
        let length = if length == 0 { INSTRUCTIONS } else { length as usize };
        loaded.code[..length.min(loaded.code.len())].to_vec()
    };
    if words.iter().all(|word| *word == 0) {
        gpu.report.missing.note(Miss { client: Client::ShaderCode, address: start, len: length * 8 });
        return Err(Fault::Shader(format!("{stage:?} program at {start:#010x} is missing")));
    }
    Ok(words)
}
