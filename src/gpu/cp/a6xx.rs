//! What the packets of an A6xx do (type 7). What both generations do is in the files beside this one.
//!
//! Source: adreno_pm4.xml of Mesa 25.0.7, and what its cffdec.c makes of groups and passes.

use std::sync::LazyLock;

use a4emu_decoder::a4xx::pm4 as old;
use a4emu_decoder::a6xx::enums::{DrawPredSrc, DrawPredTest, PollMemoryType, VgtEventType};
use a4emu_decoder::a6xx::pm4::{
    CP_EVENT_WRITE_0, CP_REG_TEST_0, CP_SET_DRAW_STATE_0, CP_SET_MARKER_0, CondExecRange, CondRegExec,
    CondWrite5, DrawIndirectMulti, DrawIndirectOpcode, DrawPredSet, Marker, MarkerMode, Memcpy, Pm4,
    SetDrawState, StartBin, WaitTwoRegs,
};
use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::a6xx::regs::compute::{
    CP_ALWAYS_ON_COUNTER_LO, HLSQ_CS_KERNEL_GROUP_X, HLSQ_CS_KERNEL_GROUP_Y, HLSQ_CS_KERNEL_GROUP_Z,
};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::{Pipe, StateKind};
use a4emu_decoder::bits::Register;

use super::command::CommandSet;
use super::counters::CounterOf;
use super::draws::{Draw, counted_indices};
use super::engine::Surfaces;
use super::memory::Comparison;
use super::state::{Group, Passes};
use super::stream::{Bins, Step};
use super::{Cp, DrawPredicate, GROUPS};
use crate::a6xx::blit::Blit;
use crate::budget::Work;
use crate::fault::{Client, Fault};
use crate::gpu::Gpu;

/// Low half of the counter of clock ticks, which nothing selects.
const TICKS: u32 = CP_ALWAYS_ON_COUNTER_LO::ROW.offset;

/// Registers of performance counters: RBBM_PERFCTR_CP and those behind it.
const COUNTERS: std::ops::Range<u32> = 0x400..0x500;

/// Bytes that a sample count takes.
const SAMPLE_COUNT: u32 = 8;

/// How many packets take as long as a draw whose parameters are in memory, or are missing there. Measure: `scripts/prices`.
const DRAW_FROM_MEMORY: u64 = 8;

pub(super) static COMMANDS: CommandSet = CommandSet {
    generation: 6,
    command: |cp, opcode, payload| cp.command_a6xx(opcode, payload),
    effects: &[],
    counter_of,
    ticks: TICKS,
    // Descriptors of textures, samplers and images are read where SP_xS_TEX_CONST and its like point.
    // Programs are read where SP_xS_OBJ_START points: a load of them fills a cache of the chip.
    keeps: |kind| {
        use StateKind::{Constants, SharedConstants, Ubos};
        matches!(kind, Constants(_) | SharedConstants(Pipe::Compute) | Ubos(_))
    },
    pass: |gpu| gpu.cp.pass(),
};

/// Low halves of registers that hold the address of what the GPU writes.
struct Places {
    /// Targets of draws and blits, and stream-out.
    written: Vec<u32>,
    /// Where a count of samples goes.
    samples: u32,
}

static PLACES: LazyLock<Places> = LazyLock::new(|| {
    let offset = |name: &str| REGISTERS.by_name(name).expect("a register of the A6xx");
    let elements = |name: &str, count: u32| {
        (0..count).map(|index| offset(&name.replace('#', &index.to_string()))).collect::<Vec<_>>()
    };
    let alone = [
        "RB_DEPTH_BUFFER_BASE_LO",
        "RB_STENCIL_BUFFER_BASE_LO",
        "RB_BLIT_DST_LO",
        "RB_BLIT_FLAG_DST_LO",
        "RB_2D_DST_LO",
        "RB_2D_DST_FLAGS_LO",
        "VPC_SO_STREAM_COUNTS_LO",
    ];
    let arrays = [("RB_MRT[#].BASE_LO", 8), ("VPC_SO[#].BUFFER_BASE_LO", 4), ("VPC_SO[#].FLUSH_BASE_LO", 4)];
    let arrays = arrays.into_iter().flat_map(|(name, count)| elements(name, count));
    Places {
        written: alone.into_iter().map(offset).chain(arrays).collect(),
        samples: offset("RB_SAMPLE_COUNT_ADDR_LO"),
    }
});

/// The addresses at which draws and blits write.
pub(super) fn written(gpu: &Gpu) -> impl Iterator<Item = Address> {
    PLACES.written.iter().map(|low| gpu.regs.address(*low))
}

fn counter_of(offset: u32) -> Option<CounterOf> {
    let counts = (TICKS..=TICKS + 1).contains(&offset) || COUNTERS.contains(&offset);
    counts.then_some(CounterOf::Power)
}

impl From<CP_SET_DRAW_STATE_0> for Passes {
    fn from(control: CP_SET_DRAW_STATE_0) -> Self {
        Self::of([control.BINNING(), control.GMEM(), control.SYSMEM()])
    }
}

impl Cp<'_> {
    /// Executes a type-7 packet.
    fn command_a6xx(&mut self, opcode: u8, payload: &[u32]) -> Step {
        let packet = Pm4::parse(opcode, payload);
        match &packet {
            Pm4::IndirectBuffer(_) | Pm4::IndirectBufferPfd(_) => {
                packet.call().map_or(Step::Next, |call| self.indirect_buffer(call))
            }
            Pm4::IndirectBufferChain(_) => packet.call().map_or(Step::Next, Step::Chain),
            Pm4::CondExec(it) => self.skip_unless([it.ADDR0, it.ADDR1], it.REF, it.DWORDS),
            Pm4::CondRegExec(it) => self.cond_reg_exec_a6xx(it),
            Pm4::SetDrawState(it) => self.set_draw_state_a6xx(it),
            Pm4::StartBin(it) => self.start_bin(it),
            Pm4::DrawIndxOffset(it) => {
                let buffer = it.INDX_BASE.zip(it.MAX_INDICES);
                let initiator = old::VGT_DRAW_INITIATOR_A4XX(it.initiator.0);
                let indices = counted_indices(initiator, buffer, it.FIRST_INDX.unwrap_or(0));
                self.draw(Draw::direct(initiator, it.NUM_INDICES, it.NUM_INSTANCES, indices))
            }
            Pm4::DrawIndirect(it) => self.draw_from_memory(it.initiator.0, it.INDIRECT),
            Pm4::DrawIndxIndirect(it) => {
                self.draw_indexed_from_memory(it.initiator.0, (it.INDX_BASE, it.MAX_INDICES), it.INDIRECT)
            }
            Pm4::DrawIndirectMulti(it) => self.draw_indirect_multi(it),
            Pm4::DrawAuto(it) => {
                let initiator = old::VGT_DRAW_INITIATOR_A4XX(it.initiator.0);
                self.draw_uncounted("CP_DRAW_AUTO", Some(initiator), Some(it.NUM_INSTANCES))
            }
            Pm4::ExecCs(it) => self.dispatch([it.NGROUPS_X, it.NGROUPS_Y, it.NGROUPS_Z], None),
            Pm4::ExecCsIndirect(it) => {
                let groups = self.fetch_parameters(it.ADDR);
                self.dispatch(groups, Some(it.local_size.local_size()))
            }
            Pm4::RunOpencl(_) => self.run_opencl_a6xx(),
            Pm4::Blit(_) => self.copy(),
            Pm4::EventWrite(it) => self.event_a6xx(it.event, it.ADDR_0.zip(it.DATA)),
            _ => {
                self.state_command_a6xx(opcode, &packet);
                Step::Next
            }
        }
    }

    /// Packets that only change state: registers, memory, loaded state.
    fn state_command_a6xx(&mut self, opcode: u8, packet: &Pm4<'_>) {
        match packet {
            Pm4::RegRmw(it) => self.reg_rmw(it.control, [it.SRC0, it.SRC1]),
            Pm4::RegToMem(it) => self.store_registers(it.control, it.DEST),
            Pm4::RegToMemOffsetReg(it) => {
                let offset = match it.offset.OFFSET0_SCRATCH() {
                    true => self.scratch(it.offset.OFFSET0()),
                    false => self.read_reg(it.offset.OFFSET0()),
                };
                self.store_registers(it.control, self.gpu.chip.generation().behind(it.DEST, offset.into()));
            }
            Pm4::RegToMemOffsetMem(it) => {
                self.depends_on_draws("the offset of CP_REG_TO_MEM_OFFSET_MEM", it.OFFSET);
                let offset = self.gpu.fetch_u32(Client::Packet, it.OFFSET);
                self.store_registers(it.control, self.gpu.chip.generation().behind(it.DEST, offset.into()));
            }
            Pm4::MemToReg(it) => self.load_registers(it.control, it.SRC),
            Pm4::RegToScratch(it) => self.reg_to_scratch(it.control),
            Pm4::ScratchToReg(it) => self.scratch_to_reg(it.control),
            Pm4::ScratchWrite(it) => {
                let slots = self.gpu.cp.scratch.iter_mut().skip(it.control.SCRATCH() as usize);
                slots.zip(it.rest).for_each(|(slot, value)| *slot = *value);
            }
            Pm4::RegWrite(it) => self.write_regs(it.REG & 0x3_ffff, it.rest),
            Pm4::ContextRegBunch(it) => {
                it.rest.as_chunks().0.iter().for_each(|&[offset, value]| self.write_reg(offset, value));
            }
            Pm4::MemWrite(it) => self.mem_write(it.ADDR, it.rest),
            Pm4::MemToMem(it) => self.add_memory(it.control, it.DST, &it.sources().collect::<Vec<_>>()),
            Pm4::Memcpy(it) => self.memcpy(it),
            Pm4::CondWrite5(it) => self.cond_write5(it),
            Pm4::SetMarker(it) => self.set_marker(it.marker),
            Pm4::RegTest(it) => self.reg_test(it.control, it.PRED_MASK.zip(it.PRED_VAL)),
            Pm4::DrawPredEnableGlobal(it) => {
                let global = it.enable.ENABLE();
                self.gpu.cp.draw_predicate = DrawPredicate { global, ..DrawPredicate::default() };
            }
            Pm4::DrawPredEnableLocal(it) => self.gpu.cp.draw_predicate.local = it.enable.ENABLE(),
            Pm4::DrawPredSet(it) => self.draw_pred_set_a6xx(it),
            Pm4::SetDrawInitFlags(it) => self.gpu.cp.init_flags = it.MASK.unwrap_or(0),
            _ => self.wait_command_a6xx(opcode, packet),
        }
    }

    /// Waits and loads.
    fn wait_command_a6xx(&mut self, opcode: u8, packet: &Pm4<'_>) {
        match packet {
            Pm4::WaitRegMem(it) => {
                let (polled, reference, mask) = (it.POLL_ADDR, it.REF, it.MASK);
                self.wait(Comparison { control: it.control, polled, reference, mask });
            }
            Pm4::WaitMemGte(it) => self.wait(Comparison::memory_at_least(it.POLL_ADDR, it.REF)),
            Pm4::WaitTwoRegs(it) => self.wait_two_regs(it),
            _ => match packet.load() {
                Some(load) => self.load_state_a6xx(&load),
                None => self.without_effect_a6xx(opcode, packet),
            },
        }
    }

    /// Packets without an effect on an in-order chip without a clock, and unsupported packets.
    fn without_effect_a6xx(&mut self, opcode: u8, packet: &Pm4<'_>) {
        match packet {
            // Waits, flushes, hints and the kernel's own packets. An end of bins is met where it has no start.
            Pm4::Nop(_)
            | Pm4::RecordPfpTimestamp(_)
            | Pm4::WaitMemWrites(_)
            | Pm4::WaitForMe(_)
            | Pm4::WaitForIdle(_)
            | Pm4::WaitRegEq(_)
            | Pm4::InvalidateState(_)
            | Pm4::Interrupt(_)
            | Pm4::MeInit(_)
            | Pm4::ContextUpdate(_)
            | Pm4::SetProtectedMode(_)
            | Pm4::SetSecureMode(_)
            | Pm4::BootstrapUcode(_)
            | Pm4::SmmuTableUpdate(_)
            | Pm4::ContextSwitch(_)
            | Pm4::ContextSwitchYield(_)
            | Pm4::PreemptDisable(_)
            | Pm4::WhereAmI(_)
            | Pm4::EndBin(_) => {}
            // Buffers for a change of context, which never happens here, and registers that only those use.
            Pm4::SetAmble(_) | Pm4::SetPseudoReg(_) | Pm4::SetSubdrawSize(_) => {}
            // Visibility is not used: every primitive is drawn in every bin, clipped by its scissor.
            Pm4::SetBinData5(_)
            | Pm4::SetBinData5Offset(_)
            | Pm4::SetMode(_)
            | Pm4::SetVisibilityOverride(_)
            | Pm4::SkipIb2EnableGlobal(_)
            | Pm4::SkipIb2EnableLocal(_) => {}
            Pm4::Short { payload, .. } => {
                let name = self.gpu.chip.generation().packets.row(opcode).map_or("a packet", |row| row.name);
                self.trouble(Fault::ShortPacket { name, dwords: payload.len() });
            }
            _ => self.unsupported(&self.packet_name(opcode)),
        }
    }

    /// The value of a slot of the command processor's own RAM.
    fn scratch(&self, slot: u32) -> u32 {
        self.gpu.cp.scratch.get(slot as usize).copied().unwrap_or(0)
    }

    /// CP_COND_REG_EXEC: skips the next dwords if the condition does not hold.
    fn cond_reg_exec_a6xx(&mut self, packet: &CondRegExec<'_>) -> Step {
        let (execute, dwords) = match packet.range() {
            Some(CondExecRange::Predicate { bit, dwords }) => {
                (self.gpu.cp.predicates_off >> (bit & 31) & 1 == 0, dwords)
            }
            Some(CondExecRange::Registers { reg0, reg1, dwords }) => {
                (self.read_reg(reg0) == self.read_reg(reg1), dwords)
            }
            Some(CondExecRange::Pass { passes, dwords }) => {
                let passes = Passes::of([passes.BINNING(), passes.GMEM(), passes.SYSMEM()]);
                (passes.meet(self.gpu.cp.passes), dwords)
            }
            None => {
                self.unsupported(&format!("CP_COND_REG_EXEC mode {:?}", packet.control.MODE()));
                return Step::Next;
            }
        };
        if execute { Step::Next } else { Step::Skip(dwords) }
    }

    /// CP_REG_TEST: a predicate bit becomes a bit of a register, or predicate bits are set directly.
    fn reg_test(&mut self, control: CP_REG_TEST_0, direct: Option<(u32, u32)>) {
        let before = !self.gpu.cp.predicates_off;
        let after = match direct.filter(|_| control.PRED_UPDATE()) {
            Some((mask, value)) => before & !mask | value & mask,
            None => {
                // A register that only the chip writes, such as VSC_STATE, has no value here. Its bit counts as set, so
                // that nothing is left out.
                let value = self.gpu.regs.written(control.REG()).unwrap_or(u32::MAX);
                let bit = value >> control.BIT() & 1;
                before & !(1 << control.PRED_BIT()) | bit << control.PRED_BIT()
            }
        };
        self.gpu.cp.predicates_off = !after;
    }

    /// CP_SET_DRAW_STATE: sets or removes state groups, or runs them at once.
    fn set_draw_state_a6xx(&mut self, packet: &SetDrawState<'_>) -> Step {
        for entry in packet.groups() {
            let control = entry.control;
            let groups = &mut self.gpu.cp.groups;
            if control.DISABLE_ALL_GROUPS() {
                *groups = [None; GROUPS];
                continue;
            }
            let slot = &mut groups[control.GROUP_ID() as usize];
            *slot = None;
            if control.DISABLE() || control.COUNT() == 0 {
                continue;
            }
            let group = Group { address: entry.address, dwords: control.COUNT(), passes: control.into() };
            if !control.LOAD_IMMED() {
                *slot = Some(group);
            } else if let Step::Stop = self.run_group(group) {
                return Step::Stop;
            }
        }
        Step::Next
    }

    /// CP_SET_MARKER: says in which pass the commands after it are.
    fn set_marker(&mut self, marker: CP_SET_MARKER_0) {
        if marker.MARKER_MODE() != MarkerMode::SET_RENDER_MODE {
            return;
        }
        let (passes, resolves) = match marker.MODE() {
            Marker::RM6_DIRECT_RENDER => (Passes::SYSMEM, false),
            Marker::RM6_BIN_VISIBILITY => (Passes::BINNING, false),
            Marker::RM6_BIN_RESOLVE => (Passes::GMEM, true),
            Marker::RM6_BIN_DIRECT
            | Marker::RM6_BIN_RENDER_START
            | Marker::RM6_BIN_END_OF_DRAWS
            | Marker::RM6_BIN_RENDER_END => (Passes::GMEM, false),
            // The pass of draws stays.
            _ => return,
        };
        (self.gpu.cp.passes, self.gpu.cp.resolves) = (passes, resolves);
    }

    /// CP_START_BIN: runs what follows once for each bin. The bins of one loop have no loop of their own.
    fn start_bin(&mut self, packet: &StartBin<'_>) -> Step {
        let StartBin { BIN_COUNT, PREFIX_ADDR, PREFIX_DWORDS, BODY_DWORDS, .. } = *packet;
        Step::Bins(Bins {
            count: BIN_COUNT,
            prefix: PREFIX_ADDR,
            prefix_dwords: PREFIX_DWORDS,
            body: BODY_DWORDS,
        })
    }

    /// CP_DRAW_PRED_SET: tests a 64-bit value in memory.
    fn draw_pred_set_a6xx(&mut self, packet: &DrawPredSet<'_>) {
        let (DrawPredSrc::PRED_SRC_MEM, Some(address)) = (packet.control.SRC(), packet.MEM_ADDR) else {
            return self.unsupported(&format!("CP_DRAW_PRED_SET from {:?}", packet.control.SRC()));
        };
        self.depends_on_draws("the predicate of CP_DRAW_PRED_SET", address);
        let zero = self.load_wide(address, 8) == 0;
        self.gpu.cp.draw_predicate.pass = zero == (packet.control.TEST() == DrawPredTest::EQ_0_PASS);
    }

    /// CP_MEMCPY: copies dwords of memory.
    fn memcpy(&mut self, packet: &Memcpy<'_>) {
        // Each dword is read and stored alone, and seen by the observer.
        if !self.charge(Work::Packet, packet.DWORDS.into()) {
            return;
        }
        self.depends_on_draws("what CP_MEMCPY copies", packet.SRC);
        let stale = self.engine.is_stale(packet.SRC);
        for index in 0..packet.DWORDS {
            let (from, to) = (self.behind(packet.SRC, index), self.behind(packet.DST, index));
            // The copy ends where a buffer does: a long packet over no memory costs as little as a short one.
            if self.gpu.mem.room(from) == 0 || self.gpu.mem.room(to) == 0 {
                let bytes = (packet.DWORDS - index).saturating_mul(4);
                return self.gpu.report.miss(Client::Packet, from, bytes);
            }
            let value = self.gpu.fetch_u32(Client::Packet, from);
            self.store(to, &value.to_le_bytes());
        }
        if stale {
            self.engine.mark_stale(packet.DST, packet.DWORDS.saturating_mul(4));
        }
    }

    /// CP_COND_WRITE5: stores if the comparison of memory or a register holds.
    fn cond_write5(&mut self, packet: &CondWrite5<'_>) {
        let CondWrite5 { control, POLL_ADDR, REF, MASK, .. } = *packet;
        let comparison = Comparison { control, polled: POLL_ADDR, reference: REF, mask: MASK };
        if !self.is_met(comparison, "the condition of CP_COND_WRITE5") {
            return;
        }
        match control.WRITE_MEMORY() {
            true => self.store(packet.WRITE_ADDR, &packet.WRITE_DATA.to_le_bytes()),
            false => self.write_reg(packet.WRITE_ADDR.get() as u32, packet.WRITE_DATA),
        }
    }

    /// CP_WAIT_TWO_REGS: the first register is not 0, or the second one is not REF.
    fn wait_two_regs(&mut self, packet: &WaitTwoRegs<'_>) {
        let [first, second] = [packet.first.REG0(), packet.second.REG1()];
        let value = self.read_reg(second);
        if self.read_reg(first) == 0 && value == packet.REF {
            let polled = Address::from(second);
            self.trouble(Fault::EndlessWait { polled, value, reference: packet.REF });
        }
    }

    /// Runs an event. `write` is the address and value of the long form.
    fn event_a6xx(&mut self, event: CP_EVENT_WRITE_0, write: Option<(Address, u32)>) -> Step {
        let step = match event.EVENT() {
            VgtEventType::ZPASS_DONE => {
                self.store_sample_count();
                return Step::Next;
            }
            VgtEventType::BLIT => self.launch(|at, pass| at.blit(Some(pass), Surfaces::TileMemory)),
            _ => Step::Next,
        };
        self.store_of_event(event, write);
        step
    }

    /// What an event stores: the time, or a value.
    fn store_of_event(&mut self, event: CP_EVENT_WRITE_0, write: Option<(Address, u32)>) {
        let Some((address, value)) = write else { return };
        if event.TIMESTAMP() {
            self.gpu.settle();
            let ticks = self.gpu.ticks();
            self.store(address, &ticks.to_le_bytes());
            self.engine.mark_stale(address, 8);
        } else {
            self.store(address, &value.to_le_bytes());
        }
    }

    /// ZPASS_DONE: the count of samples goes to where RB_SAMPLE_COUNT_ADDR points.
    fn store_sample_count(&mut self) {
        let address = self.gpu.regs.address(PLACES.samples);
        if address == Address::default() {
            return;
        }
        self.gpu.settle();
        let count = self.gpu.counters.samples_passed;
        self.store_for(Client::Query, address, &count.to_le_bytes());
        self.engine.mark_stale(address, SAMPLE_COUNT);
    }

    /// CP_BLIT: copies between surfaces in memory.
    fn copy(&mut self) -> Step {
        let blit = Blit::of(&self.gpu.regs, &self.gpu.mem);
        match self.charge(Work::Copy16, blit.map_or(0, |blit| blit.cost())) {
            true => self.launch(|at, _| at.blit(None, Surfaces::Memory(blit))),
            false => Step::Next,
        }
    }

    /// CP_RUN_OPENCL: registers hold the group counts.
    fn run_opencl_a6xx(&mut self) -> Step {
        let regs = &self.gpu.regs;
        let groups = [
            HLSQ_CS_KERNEL_GROUP_X::ROW.offset,
            HLSQ_CS_KERNEL_GROUP_Y::ROW.offset,
            HLSQ_CS_KERNEL_GROUP_Z::ROW.offset,
        ];
        let groups = groups.map(|offset| regs.read(offset));
        self.dispatch(groups, None)
    }

    /// A draw with {vertices, instances, first vertex, first instance} in memory.
    fn draw_from_memory(&mut self, initiator: u32, at: Address) -> Step {
        match self.run_groups() {
            Step::Stop => Step::Stop,
            _ => self.launch_from_memory(initiator, None, at),
        }
    }

    /// A draw with {indices, instances, first index, base vertex, first instance} in memory.
    fn draw_indexed_from_memory(&mut self, initiator: u32, buffer: (Address, u32), at: Address) -> Step {
        match self.run_groups() {
            Step::Stop => Step::Stop,
            _ => self.launch_from_memory(initiator, Some(buffer), at),
        }
    }

    /// Launches a draw whose parameters are in memory. `buffer` has the indices: address and number.
    fn launch_from_memory(&mut self, initiator: u32, buffer: Option<(Address, u32)>, at: Address) -> Step {
        let initiator = old::VGT_DRAW_INITIATOR_A4XX(initiator);
        let (counts, first, [base, instance]) = match buffer {
            None => {
                let [count, instances, first, instance] = self.fetch_parameters(at);
                ([count, instances], 0, [first, instance])
            }
            Some(_) => {
                let [count, instances, first, base, instance] = self.fetch_parameters(at);
                ([count, instances], first, [base, instance])
            }
        };
        let indices = counted_indices(initiator, buffer, first);
        let draw = Draw::direct(initiator, counts[0], counts[1], indices);
        self.launch_draw(draw.based(base, instance))
    }

    /// CP_DRAW_INDIRECT_MULTI: up to DRAW_COUNT draws, or as many as memory says.
    fn draw_indirect_multi(&mut self, packet: &DrawIndirectMulti<'_>) -> Step {
        use DrawIndirectOpcode as Op;
        let wide = |low: u32, high: u32| Address::wide(low, high);
        let (buffer, at, count_at, stride) = match (packet.control.OPCODE(), packet.rest) {
            (Op::INDIRECT_OP_NORMAL, &[low, high, stride, ..]) => (None, wide(low, high), None, stride),
            (Op::INDIRECT_OP_INDEXED, &[index, index_high, most, low, high, stride, ..]) => {
                (Some((wide(index, index_high), most)), wide(low, high), None, stride)
            }
            (Op::INDIRECT_OP_INDIRECT_COUNT, &[low, high, count, count_high, stride, ..]) => {
                (None, wide(low, high), Some(wide(count, count_high)), stride)
            }
            (
                Op::INDIRECT_OP_INDIRECT_COUNT_INDEXED,
                &[index, index_high, most, low, high, count, count_high, stride, ..],
            ) => {
                let buffer = Some((wide(index, index_high), most));
                (buffer, wide(low, high), Some(wide(count, count_high)), stride)
            }
            (opcode, _) => {
                self.unsupported(&format!("CP_DRAW_INDIRECT_MULTI of {opcode:?}"));
                return Step::Next;
            }
        };
        if let Step::Stop = self.run_groups() {
            return Step::Stop;
        }
        let most = count_at.map_or(packet.DRAW_COUNT, |count_at| {
            self.depends_on_draws("the count of CP_DRAW_INDIRECT_MULTI", count_at);
            self.gpu.fetch_u32(Client::Indirect, count_at).min(packet.DRAW_COUNT)
        });
        for number in 0..most {
            let at = self.gpu.chip.generation().behind(at, u64::from(number) * u64::from(stride));
            if !self.charge(Work::Packet, DRAW_FROM_MEMORY) {
                return Step::Stop;
            }
            if let Step::Stop = self.launch_from_memory(packet.initiator.0, buffer, at) {
                return Step::Stop;
            }
        }
        Step::Next
    }
}

impl Comparison {
    /// Whether a dword of memory is at least `reference`, as signed numbers.
    fn memory_at_least(polled: Address, reference: u32) -> Self {
        use old::CP_WAIT_REG_MEM_0 as Control;
        const GREATER_OR_EQUAL: u32 = 5;
        const SIGNED: u32 = 1 << 3;
        let control = Control(GREATER_OR_EQUAL | SIGNED | PollMemoryType::POLL_MEMORY.to_bits() << 4);
        Self { control, polled, reference, mask: u32::MAX }
    }
}
