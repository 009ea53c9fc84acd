//! State of a shader stage: its program, constants and descriptors.

use std::sync::Arc;

use a4emu_decoder::adreno::address::Address;

use crate::fault::{Client, Miss};
use crate::machine::{ChipView, CodeSource, INSTRUCTIONS, Stage};
use crate::memory::Memory;
use a4emu_shader::{BindlessSlot, Counting, Dialect, INSTRUCTION_LIMIT, Program, Summary, Warp};

use super::buffer::Buffer;
use super::catch::Catch;
use super::descriptors::DescriptorPlaces;
use super::spare::SpareWarps;
use crate::draw::tpl1::TextureBank;
use crate::draw::vertices::SpareLists;

/// What a generation of the chip reads the state of a stage with.
#[derive(Debug)]
pub struct StageReaders {
    /// Returns address and length in instructions of a stage's program.
    pub place: fn(ChipView<'_>, Stage) -> (Address, u32),
    /// Returns the textures and samplers of a stage, with those of bindless bases that its program names.
    pub textures: fn(ChipView<'_>, Stage, &[BindlessSlot]) -> TextureBank,
    /// Decodes the sizes of a storage buffer or image.
    pub buffer: fn([u32; 2]) -> Buffer,
    /// Where programs find descriptors in memory, on chips without a store for them.
    pub descriptors: Option<fn(ChipView<'_>, Stage) -> DescriptorPlaces>,
    /// Returns the size of the private memory of a lane in bytes, at least 1.
    pub private_bytes: fn(ChipView<'_>) -> usize,
    /// First vec4 of the constant file that mirrors descriptors of storage buffers.
    pub mirror: usize,
    /// Returns what the words of a stage's program mean.
    pub dialect: fn(ChipView<'_>, Stage) -> Dialect,
}

/// State that a stage runs with, constant during a draw.
#[derive(Clone)]
pub struct StageState {
    /// Which stage.
    pub stage: Stage,
    /// The program.
    pub program: Arc<Program>,
    /// Capabilities that the program uses.
    pub summary: Summary,
    /// Textures and samplers.
    pub textures: Arc<TextureBank>,
    /// The constant file with the SSBO mirror, all of it or the part that the program can read.
    pub constants: Arc<[u32]>,
    /// Storage buffers and images.
    pub(super) buffers: Arc<[Buffer]>,
    /// Where descriptors are in memory, on chips without a store for them.
    pub(super) descriptors: Option<DescriptorPlaces>,
    /// Size of the private memory of a lane in bytes.
    pub(super) private_bytes: usize,
    /// Spare warps of this program.
    pub(super) spare: SpareWarps,
    /// Spare lists.
    pub lists: SpareLists,
    /// Catch that waits for one of its warps.
    pub(super) catch: Option<Arc<Catch>>,
    /// Whether to count its instructions.
    pub(super) counting: Counting,
}

impl StageState {
    /// Returns whether both states give the same results for the same inputs and memory. Storage buffers are
    /// not compared.
    pub fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.program, &other.program)
            && (Arc::ptr_eq(&self.constants, &other.constants)
                || self.program.reads_alike(&self.constants, &other.constants))
            && (!self.summary.samples || self.textures == other.textures)
    }

    /// Returns whether both states find the same storage buffers.
    pub fn has_same_buffers(&self, other: &Self) -> bool {
        self.descriptors.is_none() && other.descriptors.is_none() && self.buffers == other.buffers
    }

    /// Returns the state with another program.
    pub fn with_program(&self, program: Arc<Program>) -> Self {
        Self { program, spare: SpareWarps::default(), ..self.clone() }
    }

    /// Returns the state with a `catch` for one of its warps.
    pub fn caught_by(self, catch: Arc<Catch>) -> Self {
        Self { catch: Some(catch), ..self }
    }

    /// Returns whether the catch has its warp, so that no other warp runs.
    pub(super) fn is_caught(&self) -> bool {
        self.catch.as_ref().is_some_and(|catch| catch.is_caught())
    }

    /// Returns whether a catch or instruction counts observe single warps.
    pub fn is_observed(&self) -> bool {
        self.catch.is_some() || self.counting != Counting::Off
    }

    /// Returns a warp of the program. The caller resets it with [`Warp::restart`].
    pub(super) fn warp(&self) -> Warp {
        match self.spare.take() {
            Some(mut warp) => {
                warp.set_constants(&self.program, &self.constants);
                warp
            }
            None => Warp::with_constants(&self.program, self.constants.clone()),
        }
    }

    /// Returns how many instructions a warp may run, beside what the budget allows. Kernels of an A6xx may loop for long.
    pub fn instruction_limit(&self) -> u64 {
        if self.descriptors.is_some() { u64::MAX } else { INSTRUCTION_LIMIT }
    }

    /// Returns whether its warps need no exclusive memory, so that they can run in parallel.
    pub fn only_reads(&self) -> bool {
        !self.stores() && self.catch.is_none()
    }

    /// Returns whether it writes memory, so that warps must run in order.
    pub fn stores(&self) -> bool {
        self.summary.stores
    }

    /// Returns whether its results depend on memory other than attributes and textures.
    pub fn reads_buffers(&self) -> bool {
        self.summary.loads || self.summary.stores
    }

    /// Returns whether it discards lanes.
    pub fn kills(&self) -> bool {
        self.summary.kills
    }

    /// Returns whether equal input registers always give equal outputs.
    pub fn is_uniform(&self) -> bool {
        !self.summary.varies && !self.summary.stores && !self.summary.kills
    }
}

/// Returns the first `wanted` scalars of the constant file of `stage`, or all of it, with the SSBO mirror.
pub(super) fn constants(
    readers: &StageReaders,
    chip: ChipView<'_>,
    stage: Stage,
    wanted: Option<usize>,
) -> Arc<[u32]> {
    let (held, ssbo) = (chip.loaded.stage(stage).constants.as_flattened(), chip.loaded.ssbo(stage));
    let used = ssbo.descriptors.iter().rposition(|d| *d != [0; 4]).map_or(0, |last| last + 1);
    match used {
        0 => held[..wanted.unwrap_or(held.len())].into(),
        _ => mirrored(readers.mirror, &ssbo.descriptors[..used], held.to_vec()).into(),
    }
}

/// Returns whether the program of `state` would read the same values from the current constant file.
pub(super) fn has_constants(state: &StageState, chip: ChipView<'_>) -> bool {
    let held = chip.loaded.stage(state.stage).constants.as_flattened();
    chip.loaded.ssbo(state.stage).changes == 0 && state.program.reads_alike(&state.constants, held)
}

/// Location of a stage's program.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub enum CodePlace {
    /// In memory: address and number of instructions.
    Memory(Address, u32),
    /// In the instruction store: its count of changes, and number of instructions.
    Store(u64, u32),
}

impl CodePlace {
    /// Returns the location of the program of `stage`.
    pub fn of(readers: &StageReaders, chip: ChipView<'_>, stage: Stage) -> Self {
        let (start, length) = (readers.place)(chip, stage);
        let loaded = chip.loaded.stage(stage);
        match loaded.source == CodeSource::Memory && length > 0 {
            true => Self::Memory(start, length),
            false => Self::Store(loaded.changes.code, length),
        }
    }

    /// Returns address and size in bytes of a program in memory.
    pub fn in_memory(self) -> Option<(Address, u32)> {
        match self {
            Self::Memory(start, length) => Some((start, length * 8)),
            Self::Store(..) => None,
        }
    }

    /// Returns the number of instructions in the store, from the first on.
    pub fn in_store(self) -> usize {
        match self {
            Self::Memory(..) => 0,
            Self::Store(_, length) => stored(length),
        }
    }

    /// Returns whether memory contains the program.
    pub fn is_known(self, memory: &Memory) -> bool {
        self.in_memory().is_none_or(|(start, bytes)| memory.slice(start, bytes as usize).is_some())
    }

    /// Returns whether the program is unchanged since `time`.
    pub fn is_unchanged(self, memory: &Memory, time: u64) -> bool {
        self.in_memory().is_none_or(|(start, bytes)| memory.is_unchanged(start, bytes, time))
    }
}

/// Writes descriptors of storage buffers to constants from vec4 `first` on.
fn mirrored(first: usize, descriptors: &[[u32; 4]], mut constants: Vec<u32>) -> Vec<u32> {
    let (start, end) = (4 * first, 4 * (first + descriptors.len()));
    constants.resize(constants.len().max(end), 0);
    constants[start..end].copy_from_slice(descriptors.as_flattened());
    constants
}

/// Returns the number of instructions in the store for a length register. Zero means the whole store.
fn stored(length: u32) -> usize {
    if length == 0 { INSTRUCTIONS } else { INSTRUCTIONS.min(length as usize) }
}

/// Returns the instructions of `stage`, from memory or the instruction store, whichever was set last. Falls
/// back to the store when the capture lacks the memory.
///
/// # Errors
/// The address that should have them, when there are none.
pub fn code(readers: &StageReaders, chip: ChipView<'_>, stage: Stage) -> Result<Vec<u64>, Miss> {
    let (start, length) = (readers.place)(chip, stage);
    let loaded = chip.loaded.stage(stage);
    let mut bytes = vec![0; length as usize * 8];
    let in_memory = loaded.source == CodeSource::Memory && length > 0 && chip.mem.read(start, &mut bytes);
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
    /// Creates a stage that runs `text` without bindings.
    pub fn of(text: &str) -> Self {
        let words = a4emu_decoder::adreno::ir3::program::assemble(text).expect("text");
        Self {
            stage: Stage::VS,
            program: Arc::new(Program::new(&words).expect("a program")),
            summary: Summary::default(),
            textures: Arc::default(),
            constants: Arc::default(),
            buffers: Arc::default(),
            descriptors: None,
            private_bytes: super::memory::PRIVATE_BYTES,
            counting: Counting::Off,
            spare: SpareWarps::default(),
            lists: SpareLists::default(),
            catch: None,
        }
    }
}
