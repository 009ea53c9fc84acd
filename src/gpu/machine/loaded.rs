//! State that CP_LOAD_STATE4 loads, by stage: programs, constants and descriptors. Changes are counted.

use a4emu_decoder::adreno::load_state::{Pipe, Stage, StateKind};

/// Vec4s in a stage's constant file.
///
/// The chip has 512 for all stages together (docs/hardware/command-processor.md, section 7.2). Offsets in
/// packets are relative to the stage's own part. A full file for each stage is enough for any partition.
pub const CONSTANTS: usize = 512;
/// The first vec4 of the constants that stages share, from A6xx on (a6xx.xml, HLSQ_SHARED_CONSTS).
const SHARED: usize = 504;
/// Instructions in a stage's instruction store: 64 groups of 16.
pub const INSTRUCTIONS: usize = 64 * 16;
/// Texture and sampler slots of a stage. The driver uses 16; blob traces go higher.
pub const TEXTURES: usize = 128;
/// Slots of constant buffers. An A6xx has 32; the last ones are the driver's own.
pub const UBOS: usize = 64;
/// SSBO and image slots.
pub const SSBOS: usize = 64;

/// The location of a stage's program. The last packet that sets it counts
/// (docs/hardware/command-processor.md, section 7.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CodeSource {
    /// In memory at `SP_xS_OBJ_START`.
    #[default]
    Memory,
    /// In the stage's instruction store.
    Store,
}

/// State that CP_LOAD_STATE4 loaded for one stage.
#[derive(Clone)]
pub struct ShaderState {
    /// The constant file: [`CONSTANTS`] vec4s. A new program does not clear it.
    pub constants: Vec<[u32; 4]>,
    /// Texture descriptors, [`TEXTURES`] slots.
    pub textures: Vec<[u32; 8]>,
    /// Sampler descriptors, [`TEXTURES`] slots.
    pub samplers: Vec<[u32; 2]>,
    /// Constant buffers of an A6xx, [`UBOS`] slots: address and size.
    pub ubos: Vec<[u32; 2]>,
    /// The instruction store, [`INSTRUCTIONS`] words.
    pub code: Vec<u64>,
    /// Whether the store or OBJ_START was written last.
    pub source: CodeSource,
    /// Change counts of the parts.
    pub changes: StateChanges,
}

/// Change counts of the parts of a stage's loaded state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateChanges {
    /// Constants.
    pub constants: u64,
    /// Textures and samplers.
    pub textures: u64,
    /// Constant buffers.
    pub ubos: u64,
    /// The instruction store and `source`.
    pub code: u64,
}

impl Default for ShaderState {
    fn default() -> Self {
        Self {
            constants: vec![[0; 4]; CONSTANTS],
            textures: vec![[0; 8]; TEXTURES],
            samplers: vec![[0; 2]; TEXTURES],
            ubos: vec![[0; 2]; UBOS],
            code: vec![0; INSTRUCTIONS],
            source: CodeSource::Memory,
            changes: StateChanges::default(),
        }
    }
}

/// SSBO and image descriptors: one set for the 3D stages, one for compute.
#[derive(Clone)]
pub struct SsboState {
    /// Type 0: base, pitches (4 dwords).
    pub descriptors: Vec<[u32; 4]>,
    /// Type 1: format and sizes (2 dwords).
    pub sizes: Vec<[u32; 2]>,
    /// Type 2: addresses (2 dwords).
    pub addresses: Vec<[u32; 2]>,
    /// Change count of all three.
    pub changes: u64,
}

impl Default for SsboState {
    fn default() -> Self {
        Self {
            descriptors: vec![[0; 4]; SSBOS],
            sizes: vec![[0; 2]; SSBOS],
            addresses: vec![[0; 2]; SSBOS],
            changes: 0,
        }
    }
}

/// All state that CP_LOAD_STATE4 writes.
#[derive(Clone, Default)]
pub struct LoadedState {
    /// State of each stage, in the order of [`STAGES`].
    stages: [ShaderState; 6],
    /// SSBOs and images of the 3D stages (block 0xe).
    pub ssbo_3d: SsboState,
    /// SSBOs and images of compute (block 0xf).
    pub ssbo_compute: SsboState,
}

impl LoadedState {
    /// The state of `stage`.
    pub fn stage(&self, stage: Stage) -> &ShaderState {
        &self.stages[stage as usize]
    }

    fn stage_mut(&mut self, stage: Stage) -> &mut ShaderState {
        &mut self.stages[stage as usize]
    }

    /// Stores `data` as state of `kind`, from unit `first` on.
    pub fn load(&mut self, kind: StateKind, first: u32, data: &[u32]) {
        match kind {
            StateKind::Instructions(stage) => {
                let state = self.stage_mut(stage);
                state.source = CodeSource::Store;
                state.changes.code += 1;
                fill_code(&mut state.code, first, data);
            }
            StateKind::Constants(stage) => {
                let state = self.stage_mut(stage);
                fill(&mut state.constants, &mut state.changes.constants, first, data);
            }
            StateKind::SharedConstants(Pipe::Compute) => {
                let state = self.stage_mut(Stage::CS);
                let shared = state.constants[SHARED..].as_flattened_mut().as_chunks_mut::<1>().0;
                fill(shared, &mut state.changes.constants, first, data);
            }
            StateKind::Textures(stage) => {
                let state = self.stage_mut(stage);
                fill(&mut state.textures, &mut state.changes.textures, first, data);
            }
            StateKind::Samplers(stage) => {
                let state = self.stage_mut(stage);
                fill(&mut state.samplers, &mut state.changes.textures, first, data);
            }
            StateKind::SsboDescriptors(pipe) => {
                let SsboState { descriptors, changes, .. } = self.ssbo_mut(pipe);
                fill(descriptors, changes, first, data);
            }
            StateKind::SsboSizes(pipe) => {
                let SsboState { sizes, changes, .. } = self.ssbo_mut(pipe);
                fill(sizes, changes, first, data);
            }
            StateKind::SsboAddresses(pipe) => {
                let SsboState { addresses, changes, .. } = self.ssbo_mut(pipe);
                fill(addresses, changes, first, data);
            }
            // On an A4xx probably bookkeeping for preemption (docs/hardware/command-processor.md, section 7.1).
            StateKind::Ubos(stage) => {
                let state = self.stage_mut(stage);
                fill(&mut state.ubos, &mut state.changes.ubos, first, data);
            }
            // Draws of an A6xx are not rendered.
            StateKind::SharedConstants(Pipe::Graphics) | StateKind::Unknown => {}
        }
    }

    fn ssbo_mut(&mut self, pipe: Pipe) -> &mut SsboState {
        match pipe {
            Pipe::Compute => &mut self.ssbo_compute,
            Pipe::Graphics => &mut self.ssbo_3d,
        }
    }

    /// Makes `stage` run its program from memory from now on.
    pub fn take_code_from_memory(&mut self, stage: Stage) {
        let state = self.stage_mut(stage);
        let is_new = state.source != CodeSource::Memory;
        state.changes.code += u64::from(is_new);
        state.source = CodeSource::Memory;
    }

    /// The SSBOs and images that `stage` sees.
    pub fn ssbo(&self, stage: Stage) -> &SsboState {
        match stage {
            Stage::CS => &self.ssbo_compute,
            _ => &self.ssbo_3d,
        }
    }
}

/// Copies `data` to `slots` from slot `first` on, `N` dwords each. Increments `changes` if a slot changes.
/// Data past the end is dropped, as the chip has no such slot.
fn fill<const N: usize>(slots: &mut [[u32; N]], changes: &mut u64, first: u32, data: &[u32]) {
    let slots = slots.get_mut(first as usize..).unwrap_or_default();
    let words = data.as_chunks::<N>().0;
    let count = slots.len().min(words.len());
    if slots[..count] != words[..count] {
        slots[..count].copy_from_slice(&words[..count]);
        *changes += 1;
    }
}

/// Copies instructions to the store. `first` counts groups of 16.
fn fill_code(store: &mut [u64], first: u32, data: &[u32]) {
    let store = store.iter_mut().skip(first as usize * 16);
    for (slot, [low, high]) in store.zip(data.as_chunks::<2>().0) {
        *slot = u64::from(*high) << 32 | u64::from(*low);
    }
}
