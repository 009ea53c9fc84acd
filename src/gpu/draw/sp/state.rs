//! The registers of a shader stage: where its program, constants and descriptors are.

use std::sync::Arc;

use a4emu_decoder::regs::sp::*;
use a4emu_decoder::regs::sp_geometry::*;

use crate::fault::{Client, Miss};
use crate::gpu::{CodeSource, Gpu, INSTRUCTIONS, Stage};
use crate::memory::Memory;
use crate::regfile::RegFile;
use a4emu_shader::{Counting, Program, Summary, Warp};

use super::buffer::Buffer;
use super::catch::Catch;
use super::spare::SpareWarps;
use crate::draw::tpl1::TextureBank;
use crate::draw::vertices::SpareLists;

/// First vec4 of the constant file that mirrors SSBO descriptors.
const SSBO_MIRROR: usize = 448;

/// Instructions in one unit of the length registers.
const LENGTH_UNIT: u32 = 16;

/// What a stage runs with, the same for all of a draw.
#[derive(Clone)]
pub struct StageState {
    /// Which stage.
    pub stage: Stage,
    /// The program.
    pub program: Arc<Program>,
    /// What the program can do.
    pub summary: Summary,
    /// Textures and samplers.
    pub textures: Arc<TextureBank>,
    /// The constant file, with the SSBO mirror in place: as much of it as the program can read, or all.
    pub constants: Arc<[u32]>,
    /// Storage buffers and images.
    pub(super) buffers: Arc<[Buffer]>,
    /// Warps that draws with this program have left.
    pub(super) spare: SpareWarps,
    /// Lists that draws have left.
    pub lists: SpareLists,
    /// Who waits for one of its warps.
    pub(super) catch: Option<Arc<Catch>>,
    /// Whether its instructions are counted.
    pub(super) counting: Counting,
}

impl StageState {
    /// Whether the other makes the same of the same inputs, as long as memory stays as it is. Storage buffers are not
    /// compared.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.program, &other.program)
            && (Arc::ptr_eq(&self.constants, &other.constants)
                || self.program.reads_alike(&self.constants, &other.constants))
            && (!self.summary.samples || self.textures == other.textures)
    }

    /// The same with another program.
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, spare: SpareWarps::default(), ..self.clone() }
    }

    /// The same, one of whose warps `catch` takes.
    pub fn caught_by(self, catch: Arc<Catch>) -> Self {
        Self { catch: Some(catch), ..self }
    }

    /// Whether the warp that somebody waits for has come, so that no other runs.
    pub(super) fn is_caught(&self) -> bool {
        self.catch.as_ref().is_some_and(|catch| catch.is_caught())
    }

    /// Whether somebody looks at single warps, or counts what they do.
    pub fn is_looked_at(&self) -> bool {
        self.catch.is_some() || self.counting != Counting::Off
    }

    /// A warp of the program, which [`Warp::restart`] makes ready.
    pub(super) fn warp(&self) -> Warp {
        match self.spare.take() {
            Some(mut warp) => {
                warp.set_constants(&self.program, &self.constants);
                warp
            }
            None => Warp::with_constants(&self.program, self.constants.clone()),
        }
    }

    /// Whether its warps need no memory of their own to work on, and so can run beside others.
    pub fn only_reads(&self) -> bool {
        !self.stores() && self.catch.is_none()
    }

    /// Whether it writes memory, so that warps must run in order.
    pub fn stores(&self) -> bool {
        self.summary.stores
    }

    /// Whether its results depend on memory other than attributes and textures.
    pub fn reads_buffers(&self) -> bool {
        self.summary.loads || self.summary.stores
    }

    /// Whether it discards lanes.
    pub fn kills(&self) -> bool {
        self.summary.kills
    }

    /// Whether its outputs are the same whenever its input registers are.
    pub fn is_uniform(&self) -> bool {
        !self.summary.varies && !self.summary.stores && !self.summary.kills
    }
}

/// The first `wanted` scalars of the constant file of `stage`, or all of it, with the SSBO mirror in place.
pub(super) fn constants(gpu: &Gpu, stage: Stage, wanted: Option<usize>) -> Arc<[u32]> {
    let (held, ssbo) = (gpu.loaded.stage(stage).constants.as_flattened(), gpu.loaded.ssbo(stage));
    let used = ssbo.descriptors.iter().rposition(|d| *d != [0; 4]).map_or(0, |last| last + 1);
    match used {
        0 => held[..wanted.unwrap_or(held.len())].into(),
        _ => mirrored(&ssbo.descriptors[..used], held.to_vec()).into(),
    }
}

/// Whether the program of `state` would read the same of the constant file as it is now.
pub(super) fn has_constants(state: &StageState, gpu: &Gpu) -> bool {
    let held = gpu.loaded.stage(state.stage).constants.as_flattened();
    gpu.loaded.ssbo(state.stage).changes == 0 && state.program.reads_alike(&state.constants, held)
}

/// Where a stage's program is.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodePlace {
    /// In memory, at this address, so many instructions.
    Memory(u32, u32),
    /// In the instruction store, after so many changes, so many instructions.
    Store(u64, u32),
}

impl CodePlace {
    /// Of `stage`.
    pub fn of(gpu: &Gpu, stage: Stage) -> Self {
        let (start, length) = place(&gpu.regs, stage);
        let loaded = gpu.loaded.stage(stage);
        match loaded.source == CodeSource::Memory && length > 0 {
            true => Self::Memory(start, length),
            false => Self::Store(loaded.changes.code, length),
        }
    }

    /// Address and bytes of what is in memory.
    pub fn in_memory(self) -> Option<(u32, u32)> {
        match self {
            Self::Memory(start, length) => Some((start, length * 8)),
            Self::Store(..) => None,
        }
    }

    /// Instructions of what is in the store, from the first on.
    pub fn in_store(self) -> usize {
        match self {
            Self::Memory(..) => 0,
            Self::Store(_, length) => stored(length),
        }
    }

    /// Whether the program really is there.
    pub fn is_known(self, memory: &Memory) -> bool {
        self.in_memory().is_none_or(|(start, bytes)| memory.slice(start, bytes as usize).is_some())
    }

    /// Whether it is still what it was at `time`.
    pub fn is_unchanged(self, memory: &Memory, time: u64) -> bool {
        self.in_memory().is_none_or(|(start, bytes)| memory.is_unchanged(start, bytes, time))
    }
}

/// Constants from c448 on read the SSBO descriptors (docs/hardware/ir3-isa.md, section 9.3).
fn mirrored(descriptors: &[[u32; 4]], mut constants: Vec<u32>) -> Vec<u32> {
    let (start, end) = (4 * SSBO_MIRROR, 4 * (SSBO_MIRROR + descriptors.len()));
    constants.resize(constants.len().max(end), 0);
    constants[start..end].copy_from_slice(descriptors.as_flattened());
    constants
}

/// Address and length in instructions of a stage's program.
pub fn place(regs: &RegFile, stage: Stage) -> (u32, u32) {
    let (start, units) = match stage {
        Stage::VS => (regs.get::<SP_VS_OBJ_START>().VALUE(), regs.get::<SP_VS_LENGTH_REG>().VALUE()),
        Stage::FS => (regs.get::<SP_FS_OBJ_START>().VALUE(), regs.get::<SP_FS_LENGTH_REG>().VALUE()),
        Stage::CS => (regs.get::<SP_CS_OBJ_START>().VALUE(), regs.get::<SP_CS_LENGTH_REG>().VALUE()),
        Stage::HS => (regs.get::<SP_HS_OBJ_START>().VALUE(), regs.get::<SP_HS_LENGTH_REG>().VALUE()),
        Stage::DS => (regs.get::<SP_DS_OBJ_START>().VALUE(), regs.get::<SP_DS_LENGTH_REG>().VALUE()),
        Stage::GS => (regs.get::<SP_GS_OBJ_START>().VALUE(), regs.get::<SP_GS_LENGTH_REG>().VALUE()),
    };
    (start, units.saturating_mul(LENGTH_UNIT).min(Program::MAX_INSTRUCTIONS as u32))
}

/// Instructions in the store of a program whose length register says so many: of none, all count.
fn stored(length: u32) -> usize {
    if length == 0 { INSTRUCTIONS } else { INSTRUCTIONS.min(length as usize) }
}

/// The instructions of `stage`, from memory or the instruction store, whichever was said
/// last. When the memory is not in the capture, the store has to do.
///
/// # Errors
/// Where they should be, when there are none.
pub fn code(gpu: &Gpu, stage: Stage) -> Result<Vec<u64>, Miss> {
    let (start, length) = place(&gpu.regs, stage);
    let loaded = gpu.loaded.stage(stage);
    let mut bytes = vec![0; length as usize * 8];
    let in_memory = loaded.source == CodeSource::Memory && length > 0 && gpu.mem.read(start, &mut bytes);
    let words: Vec<u64> = if in_memory {
        bytes.chunks_exact(8).map(|b| u64::from_le_bytes(std::array::from_fn(|i| b[i]))).collect()
    } else {
        loaded.code[..stored(length)].to_vec()
    };
    match words.iter().all(|word| *word == 0) {
        true => Err(Miss { client: Client::ShaderCode, address: start, len: length * 8 }),
        false => Ok(words),
    }
}

#[cfg(test)]
impl StageState {
    /// A stage that runs `text` and is bound to nothing.
    pub fn of(text: &str) -> Self {
        let words = a4emu_decoder::isa::ir3::program::assemble(text).expect("text");
        Self {
            stage: Stage::VS,
            program: Arc::new(Program::new(&words).expect("a program")),
            summary: Summary::default(),
            textures: Arc::default(),
            constants: Arc::default(),
            buffers: Arc::default(),
            counting: Counting::Off,
            spare: SpareWarps::default(),
            lists: SpareLists::default(),
            catch: None,
        }
    }
}
