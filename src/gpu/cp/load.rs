//! CP_LOAD_STATE4: loads shader code, constants and descriptors into per-stage state.

use a4emu_decoder::a4xx::pm4::LoadState4;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::{StateKind, StateSource};

use super::Cp;
use super::observer::Load;
use crate::budget::Work;
use crate::draw;
use crate::fault::Client;
use crate::settled::Running;

/// Bytes of the type-3 header and of CP_LOAD_STATE4 in front of inline data.
const INLINE_OFFSET: u64 = 12;

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
        if let StateSource::Memory { address } = packet.source() {
            self.depends_on_draws("state that CP_LOAD_STATE4 loads", address);
            let dwords = packet.dwords();
            if !self.charge(Work::Copy16, u64::from(dwords).div_ceil(4)) {
                return self.load(packet, address, &[]);
            }
            self.gpu.sync_reads([draw::MemoryRead::Bytes(address, u64::from(dwords) * 4)]);
        }
        self.load_paid(packet);
    }

    /// CP_LOAD_STATE4 without the charge to the budget. No queued work may write the memory that it reads.
    pub(super) fn load_paid(&mut self, packet: &LoadState4<'_>) {
        match packet.source() {
            StateSource::Inline(data) => {
                let address = self.gpu.chip.generation().behind(self.gpu.at.address, INLINE_OFFSET);
                self.load(packet, address, data);
            }
            StateSource::Memory { address } => {
                let data = self.fetch_state(client(packet.kind()), address, packet.dwords());
                self.load(packet, address, &data);
            }
        }
    }

    /// The dwords that an indirect load names, up to the first missing one. The slots of missing dwords keep
    /// their values.
    fn fetch_state(&mut self, client: Client, address: Address, dwords: u32) -> Vec<u32> {
        let data = self.gpu.mem.known_dwords(address, dwords as usize);
        let known = data.len() as u32;
        if known < dwords {
            let first = self.gpu.chip.generation().behind(address, u64::from(known) * 4);
            self.gpu.report.miss(client, first, (dwords - known) * 4);
        }
        data
    }

    fn load(&mut self, packet: &LoadState4<'_>, address: Address, data: &[u32]) {
        let (kind, first, announced) = (packet.kind(), packet.dst.DST_OFF(), packet.dwords());
        if !data.is_empty() {
            self.gpu.loaded.load(kind, first, data);
        }
        let generation = self.gpu.chip.generation();
        self.observer
            .load(&mut Running::of(self.gpu), Load { generation, kind, first, address, announced, data });
    }
}
