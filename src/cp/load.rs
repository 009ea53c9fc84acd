//! CP_LOAD_STATE4: shader code, constants and descriptors into per-stage state.

use a4emu_decoder::load_state::{Pipe, StateKind, StateSource};
use a4emu_decoder::pm4::LoadState4;

use super::Cp;
use super::observer::Load;
use crate::budget::Work;
use crate::fault::Client;
use crate::gpu::{CodeSource, LoadedState, SsboState};

/// Bytes of a type-3 header and of CP_LOAD_STATE4 before inline data.
const INLINE_OFFSET: u32 = 12;

fn client(kind: StateKind) -> Client {
    match kind {
        StateKind::Instructions(_) => Client::ShaderCode,
        StateKind::Constants(_) => Client::Constants,
        _ => Client::Descriptors,
    }
}

impl Cp<'_> {
    /// CP_LOAD_STATE4.
    pub(super) fn load_state(&mut self, packet: &LoadState4<'_>) {
        let (kind, first, announced) = (packet.kind(), packet.dst.DST_OFF(), packet.dwords());
        match packet.source() {
            StateSource::Inline(data) => {
                let address = self.gpu.at.address.wrapping_add(INLINE_OFFSET);
                self.load(Load { kind, first, address, announced, data });
            }
            StateSource::Memory { address } => {
                self.depends_on_draws("state that CP_LOAD_STATE4 loads", address);
                let data = self.fetch_state(client(kind), address, announced);
                self.load(Load { kind, first, address, announced, data: &data });
            }
        }
    }

    /// The dwords that an indirect load names, up to the first that is missing: what is not
    /// there leaves the slots as they were.
    fn fetch_state(&mut self, client: Client, address: u32, dwords: u32) -> Vec<u32> {
        if !self.charge(Work::Copy16, u64::from(dwords).div_ceil(4)) {
            return Vec::new();
        }
        let data = self.gpu.mem.known_dwords(address, dwords as usize);
        let known = data.len() as u32;
        if known < dwords {
            self.gpu.report.miss(client, address.wrapping_add(known * 4), (dwords - known) * 4);
        }
        data
    }

    fn load(&mut self, load: Load<'_>) {
        if !load.data.is_empty() {
            store(&mut self.gpu.loaded, load.kind, load.first, load.data);
        }
        self.observer.load(self.gpu, load);
    }
}

/// Copies `data` into `slots` from `first` on, `N` dwords each, and counts in `changes` if that makes
/// a difference. What lies past the end is dropped: the chip has no such slot.
fn fill<const N: usize>(slots: &mut [[u32; N]], changes: &mut u64, first: u32, data: &[u32]) {
    let slots = slots.get_mut(first as usize..).unwrap_or_default();
    let words = data.as_chunks::<N>().0;
    let count = slots.len().min(words.len());
    if slots[..count] != words[..count] {
        slots[..count].copy_from_slice(&words[..count]);
        *changes += 1;
    }
}

/// Copies instructions into the store; `first` counts groups of 16.
fn fill_code(store: &mut [u64], first: u32, data: &[u32]) {
    let store = store.iter_mut().skip(first as usize * 16);
    for (slot, [low, high]) in store.zip(data.as_chunks::<2>().0) {
        *slot = super::registers::wide(*low, *high);
    }
}

fn ssbo(loaded: &mut LoadedState, pipe: Pipe) -> &mut SsboState {
    match pipe {
        Pipe::Compute => &mut loaded.ssbo_compute,
        Pipe::Graphics => &mut loaded.ssbo_3d,
    }
}

fn store(loaded: &mut LoadedState, kind: StateKind, first: u32, data: &[u32]) {
    match kind {
        StateKind::Instructions(stage) => {
            let state = loaded.stage_mut(stage);
            state.source = CodeSource::Store;
            state.changes.code += 1;
            fill_code(&mut state.code, first, data);
        }
        StateKind::Constants(stage) => {
            let state = loaded.stage_mut(stage);
            fill(&mut state.constants, &mut state.changes.constants, first, data);
        }
        StateKind::Textures(stage) => {
            let state = loaded.stage_mut(stage);
            fill(&mut state.textures, &mut state.changes.textures, first, data);
        }
        StateKind::Samplers(stage) => {
            let state = loaded.stage_mut(stage);
            fill(&mut state.samplers, &mut state.changes.textures, first, data);
        }
        StateKind::SsboDescriptors(pipe) => {
            let SsboState { descriptors, changes, .. } = ssbo(loaded, pipe);
            fill(descriptors, changes, first, data);
        }
        StateKind::SsboSizes(pipe) => {
            let SsboState { sizes, changes, .. } = ssbo(loaded, pipe);
            fill(sizes, changes, first, data);
        }
        StateKind::SsboAddresses(pipe) => {
            let SsboState { addresses, changes, .. } = ssbo(loaded, pipe);
            fill(addresses, changes, first, data);
        }
        // Bookkeeping for preemption as far as anybody knows
        // (docs/hardware/command-processor.md, section 7.1).
        StateKind::Ubos(_) | StateKind::Unknown => {}
    }
}
