//! CP_LOAD_STATE4 and CP_LOAD_STATE6: load shader code, constants and descriptors into per-stage state.

use a4emu_decoder::a4xx::pm4::LoadState4;
use a4emu_decoder::a6xx::load_state::Source;
use a4emu_decoder::a6xx::pm4::LoadState6;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::{StateKind, StateSource};

use super::Cp;
use super::observer::Load;
use crate::bindless::BindlessBase;
use crate::budget::Work;
use crate::draw;
use crate::fault::Client;
use crate::settled::Running;

/// Dwords of the header and of a load in front of inline data: of CP_LOAD_STATE4, and of CP_LOAD_STATE6.
const HEADS: [u32; 2] = [3, 4];

/// A load, whatever packet it comes from.
#[derive(Clone, Copy)]
struct StateLoad<'a> {
    kind: StateKind,
    /// First unit.
    first: u32,
    /// Dwords that the packet announces.
    dwords: u32,
    source: StateSource<'a>,
    /// Dwords of the packet in front of inline data.
    head: u32,
}

impl<'a> StateLoad<'a> {
    fn of_a4xx(packet: &LoadState4<'a>) -> Self {
        let (kind, first, dwords) = (packet.kind(), packet.dst.DST_OFF(), packet.dwords());
        Self { kind, first, dwords, source: packet.source(), head: HEADS[0] }
    }
}

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
        self.pay_and_load(&StateLoad::of_a4xx(packet), "state that CP_LOAD_STATE4 loads");
    }

    /// CP_LOAD_STATE6, in each of its three opcodes.
    pub(super) fn load_state_a6xx(&mut self, packet: &LoadState6<'_>) {
        let (kind, first, dwords) = (packet.kind(), packet.dst.DST_OFF(), packet.dwords());
        let source = match packet.source() {
            Source::Inline(data) => StateSource::Inline(data),
            Source::Memory { address } => StateSource::Memory { address },
            Source::Bindless { base, offset } => {
                let base = BindlessBase::of(&self.gpu.regs, kind.stage(), base);
                let start = base.map_or(Address::default(), |base| base.start);
                StateSource::Memory { address: self.behind(start, offset) }
            }
            Source::Ubo { ubo, offset } => StateSource::Memory { address: self.in_ubo(kind, ubo, offset) },
        };
        let load = StateLoad { kind, first, dwords, source, head: HEADS[1] };
        self.pay_and_load(&load, "state that CP_LOAD_STATE6 loads");
    }

    /// The address `offset` bytes behind the start of a constant buffer of the stage that `kind` belongs to.
    fn in_ubo(&self, kind: StateKind, ubo: u32, offset: u32) -> Address {
        let ubos = kind.stage().map(|stage| &self.gpu.loaded.stage(stage).ubos);
        let base = ubos.and_then(|ubos| ubos.get(ubo as usize)).map_or(Address::default(), |words| {
            use a4emu_decoder::a6xx::regs::tex::{UBO_0, UBO_1};
            Address::wide(UBO_0(words[0]).BASE_LO(), UBO_1(words[1]).BASE_HI())
        });
        self.gpu.chip.generation().behind(base, offset.into())
    }

    fn pay_and_load(&mut self, load: &StateLoad<'_>, what: &str) {
        if let StateSource::Memory { address } = load.source {
            self.depends_on_draws(what, address);
            if !self.charge(Work::Copy16, u64::from(load.dwords).div_ceil(4)) {
                return self.load(load, address, &[]);
            }
            self.gpu.sync_reads([draw::MemoryRead::Bytes(address, u64::from(load.dwords) * 4)]);
        }
        self.load_paid(load);
    }

    /// A load without the charge to the budget. No queued work may write the memory that it reads.
    fn load_paid(&mut self, load: &StateLoad<'_>) {
        match load.source {
            StateSource::Inline(data) => {
                let address = self.behind(self.gpu.at.address, load.head);
                self.load(load, address, data);
            }
            StateSource::Memory { address } => {
                let data = self.fetch_state(client(load.kind), address, load.dwords);
                self.load(load, address, &data);
            }
        }
    }

    /// The dwords that an indirect load names, up to the first missing one. The slots of missing dwords keep
    /// their values.
    fn fetch_state(&mut self, client: Client, address: Address, dwords: u32) -> Vec<u32> {
        let data = self.gpu.mem.known_dwords(address, dwords as usize);
        let known = data.len() as u32;
        if known < dwords {
            let first = self.behind(address, known);
            self.gpu.report.miss(client, first, (dwords - known) * 4);
        }
        data
    }

    fn load(&mut self, load: &StateLoad<'_>, address: Address, data: &[u32]) {
        let StateLoad { kind, first, dwords: announced, .. } = *load;
        if !data.is_empty() && (self.commands.keeps)(kind) {
            self.gpu.loaded.load(kind, first, data);
        }
        let generation = self.gpu.chip.generation();
        self.observer
            .load(&mut Running::of(self.gpu), Load { generation, kind, first, address, announced, data });
    }
}
