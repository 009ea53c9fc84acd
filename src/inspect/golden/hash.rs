//! A hash of all state that packets can set. It is updated as state changes.
//!
//! All hashes are XXH3 (64 bit). The registers are a sum of one hash each. So a draw costs only what it
//! changed.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::{Pipe, StateKind};
use xxhash_rust::xxh3::xxh3_64;

use a4emu_gpu::cp::CpState;
use a4emu_gpu::gpu::{CodeSource, Gpu, LoadedState, STAGES, SsboState, Stage};

/// Number of separately hashed parts of the loaded state: four per stage, and two SSBO sets.
const PARTS: usize = STAGES.len() * 4 + 2;

/// The hash of all state that was reported to it.
#[derive(Clone, Debug)]
pub struct StateHash {
    registers: u64,
    parts: [u64; PARTS],
    stale: [bool; PARTS],
}

impl Default for StateHash {
    fn default() -> Self {
        Self { registers: 0, parts: [0; PARTS], stale: [true; PARTS] }
    }
}

/// The hash of one register with its value.
fn register(offset: u32, value: u32) -> u64 {
    xxh3_64(bytemuck::cast_slice(&[offset.to_le_bytes(), value.to_le_bytes()]))
}

/// The part that a load changes, if that state is kept.
fn part_of(kind: StateKind) -> Option<usize> {
    let of_stage = |stage: Stage, part: usize| stage as usize * 4 + part;
    let of_pipe = |pipe: Pipe| STAGES.len() * 4 + pipe as usize;
    Some(match kind {
        StateKind::Instructions(stage) => of_stage(stage, 0),
        StateKind::Constants(stage) => of_stage(stage, 1),
        StateKind::SharedConstants(Pipe::Compute) => of_stage(Stage::CS, 1),
        StateKind::Samplers(stage) => of_stage(stage, 2),
        StateKind::Textures(stage) => of_stage(stage, 3),
        StateKind::SsboDescriptors(pipe) | StateKind::SsboSizes(pipe) | StateKind::SsboAddresses(pipe) => {
            of_pipe(pipe)
        }
        StateKind::SharedConstants(Pipe::Graphics) | StateKind::Ubos(_) | StateKind::Unknown => return None,
    })
}

fn dwords(words: &[u32]) -> u64 {
    hash_words(words.iter().copied())
}

/// XXH3 of dwords as little-endian bytes.
pub(super) fn hash_words(words: impl Iterator<Item = u32>) -> u64 {
    let bytes: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    xxh3_64(&bytes)
}

fn ssbo(state: &SsboState) -> u64 {
    let descriptors = state.descriptors.as_flattened().iter();
    let rest = state.sizes.as_flattened().iter().chain(state.addresses.as_flattened());
    hash_words(descriptors.chain(rest).copied())
}

fn part(loaded: &LoadedState, index: usize) -> u64 {
    let Some(stage) = STAGES.get(index / 4) else {
        return ssbo(if index.is_multiple_of(4) { &loaded.ssbo_3d } else { &loaded.ssbo_compute });
    };
    let state = loaded.stage(*stage);
    match index % 4 {
        0 => xxh3_64(&state.code.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()),
        1 => dwords(state.constants.as_flattened()),
        2 => dwords(state.samplers.as_flattened()),
        _ => dwords(state.textures.as_flattened()),
    }
}

fn command_processor(cp: &CpState) -> u64 {
    // Both halves of an address count; the upper one is 0 on an A4xx.
    let folded = |address: Address| (address.get() ^ address.get() >> 32) as u32;
    let groups = cp.groups.iter();
    let groups = groups.flat_map(|group| group.map_or([0, 0], |it| [folded(it.address), it.dwords]));
    let draws = cp.draw_predicate;
    let flags = [cp.predicate != Some(false), draws.global, draws.local, draws.pass].map(u32::from);
    let rest = [cp.init_flags, cp.nrt_offset].into_iter().chain(flags).chain(cp.scratch);
    hash_words(groups.chain(rest))
}

impl StateHash {
    /// Updates register `offset` from `old` (`None`: unwritten) to `new`.
    pub fn register(&mut self, offset: u32, old: Option<u32>, new: u32) {
        let before = old.map_or(0, |old| register(offset, old));
        self.registers = self.registers.wrapping_sub(before).wrapping_add(register(offset, new));
    }

    /// Marks state of `kind` as changed by a load.
    pub fn loaded(&mut self, kind: StateKind) {
        if let Some(part) = part_of(kind) {
            self.stale[part] = true;
        }
    }

    /// The hash of all state.
    pub fn finish(&mut self, gpu: &Gpu) -> u64 {
        for (index, stale) in self.stale.iter_mut().enumerate().filter(|(_, stale)| **stale) {
            self.parts[index] = part(&gpu.loaded, index);
            *stale = false;
        }
        let sources = STAGES.map(|stage| u64::from(gpu.loaded.stage(stage).source == CodeSource::Store));
        let all = [self.registers, command_processor(&gpu.cp)];
        let all = all.into_iter().chain(self.parts).chain(sources);
        xxh3_64(&all.flat_map(u64::to_le_bytes).collect::<Vec<u8>>())
    }
}
