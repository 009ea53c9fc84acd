//! What the packets of a generation do: a [`CommandSet`] each. The one of the A4xx dispatches type-3 packets by opcode.

use a4emu_decoder::a4xx::pm4::{PACKETS, Pm4};
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::generation::Generation;

use super::Cp;
use super::counters::{self, CounterOf};
use super::effects::{BY_OFFSET, Effect};
use super::stream::Step;
use crate::fault::Fault;
use crate::gpu::Gpu;
use crate::pass::Pass;

/// What the packets and registers of a generation do, as the command processor executes them.
pub(super) struct CommandSet {
    /// Number of the generation.
    pub(super) generation: u32,
    /// Executes a command.
    pub(super) command: fn(&mut Cp<'_>, u8, &[u32]) -> Step,
    /// The side effects of register writes, by offset. Registers behind the end have none.
    pub(super) effects: &'static [Option<Effect>],
    /// The counter that a register is a half of.
    pub(super) counter_of: fn(u32) -> Option<CounterOf>,
    /// Low half of the counter of clock ticks. The high half follows it.
    pub(super) ticks: u32,
    /// Whether loaded state of this kind stays in the chip. What does not is only a prefetch of memory.
    pub(super) keeps: fn(StateKind) -> bool,
    /// The pass of a draw.
    pub(super) pass: fn(&Gpu) -> Pass,
}

static A4XX: CommandSet = CommandSet {
    generation: 4,
    command: |cp, opcode, payload| cp.command_a4xx(opcode, payload),
    effects: &BY_OFFSET,
    counter_of: counters::counter_of,
    ticks: counters::TICKS,
    keeps: |_| true,
    pass: |gpu| crate::a4xx::pass::pass(&gpu.regs),
};

impl CommandSet {
    /// The one of `generation`.
    pub(super) fn of(generation: &Generation) -> &'static Self {
        [&super::a6xx::COMMANDS].into_iter().find(|set| set.generation == generation.number).unwrap_or(&A4XX)
    }
}

/// The packet's name, or its number.
pub(super) fn packet_name(generation: &Generation, opcode: u8) -> String {
    let row = generation.packets.row(opcode);
    row.map_or_else(|| format!("opcode {opcode:#04x}"), |row| row.name.to_owned())
}

impl Cp<'_> {
    /// The packet's name, or its number.
    pub(super) fn packet_name(&self, opcode: u8) -> String {
        packet_name(self.gpu.chip.generation(), opcode)
    }

    /// Executes a type-3 packet.
    fn command_a4xx(&mut self, opcode: u8, payload: &[u32]) -> Step {
        let packet = Pm4::parse(opcode, payload);
        match &packet {
            Pm4::CondIndirectBufferPfd(_) | Pm4::CondIndirectBufferPfe(_) => {
                let call = packet.call();
                return call
                    .map_or(Step::Next, |call| self.conditional_call(&self.packet_name(opcode), call));
            }
            Pm4::IndirectBuffer(_) | Pm4::IndirectBufferPfd(_) => {
                return packet.call().map_or(Step::Next, |call| self.indirect_buffer(call));
            }
            Pm4::CondExec(packet) => return self.cond_exec(packet),
            Pm4::CondRegExec(packet) => return self.cond_reg_exec(packet),
            Pm4::SetDrawState(packet) => return self.set_draw_state(packet),
            Pm4::DrawIndxOffset(packet) => return self.draw_indx_offset(packet),
            Pm4::DrawIndirect(packet) => return self.draw_indirect(packet),
            Pm4::DrawIndxIndirect(packet) => return self.draw_indx_indirect(packet),
            Pm4::DrawIndx(packet) => return self.draw_indx(packet),
            Pm4::DrawIndx2(packet) => return self.draw_indx_2(packet),
            Pm4::DrawAuto(packet) => return self.draw_auto(packet),
            Pm4::DrawIndxBin(_) => return self.draw_uncounted("CP_DRAW_INDX_BIN", None, None),
            Pm4::DrawIndx2Bin(_) => return self.draw_uncounted("CP_DRAW_INDX_2_BIN", None, None),
            Pm4::ExecCs(packet) => return self.exec_cs(packet),
            Pm4::ExecCsIndirect(packet) => return self.exec_cs_indirect(packet),
            Pm4::RunOpencl(_) => return self.run_opencl(),
            _ => self.state_command(opcode, &packet),
        }
        Step::Next
    }

    /// Packets that only change state: registers, memory, loaded state.
    fn state_command(&mut self, opcode: u8, packet: &Pm4<'_>) {
        match packet {
            Pm4::SetConstant(packet) => self.set_constant(packet),
            Pm4::RegRmw(packet) => self.reg_rmw(packet.control, [packet.SRC0, packet.SRC1]),
            Pm4::RegToMem(packet) => self.reg_to_mem(packet),
            Pm4::MemToReg(packet) => self.mem_to_reg(packet),
            Pm4::RegToScratch(packet) => self.reg_to_scratch(packet.control),
            Pm4::ScratchToReg(packet) => self.scratch_to_reg(packet.control),
            Pm4::WideRegWrite(packet) => self.write_regs(packet.reg.REG(), packet.rest),
            Pm4::RegWrNoCtxt(packet) => self.write_reg(packet.REG, packet.VALUE),
            Pm4::MemWrite(packet) => self.mem_write(packet.ADDR, packet.rest),
            Pm4::MemToMem(packet) => self.mem_to_mem(packet),
            Pm4::CondWrite(packet) => self.cond_write(packet),
            Pm4::WaitRegMem(packet) => self.wait_reg_mem(packet),
            Pm4::LoadState4(packet) => self.load_state(packet),
            Pm4::EventWrite(packet) => self.event(packet.event, packet.ADDR.zip(packet.DATA)),
            Pm4::EventWriteShd(packet) => self.event(packet.event, Some((packet.ADDR, packet.DATA))),
            Pm4::EventWriteCfl(packet) => self.event(packet.event, Some((packet.ADDR, packet.DATA))),
            Pm4::EventWriteZpd(packet) => self.event(packet.event, Some((packet.ADDR, packet.DATA))),
            Pm4::DrawPredEnableGlobal(packet) => self.draw_pred_global(packet),
            Pm4::DrawPredEnableLocal(packet) => self.gpu.cp.draw_predicate.local = packet.enable.ENABLE(),
            Pm4::DrawPredSet(packet) => self.draw_pred_set(packet),
            Pm4::SetDrawInitFlags(packet) => self.gpu.cp.init_flags = packet.MASK,
            _ => self.without_effect(opcode, packet),
        }
    }

    /// Packets without an effect on an in-order chip without a clock, and unsupported packets.
    fn without_effect(&mut self, opcode: u8, packet: &Pm4<'_>) {
        match packet {
            // Waits, flushes, hints and the kernel's own packets.
            Pm4::Nop(_)
            | Pm4::RecordPfpTimestamp(_)
            | Pm4::WaitMemWrites(_)
            | Pm4::WaitForMe(_)
            | Pm4::IbPrefetchEnd(_)
            | Pm4::PreemptEnable(_)
            | Pm4::PreemptToken(_)
            | Pm4::SubblkPrefetch(_)
            | Pm4::InstrPrefetch(_)
            | Pm4::VizQuery(_)
            | Pm4::SetState(_)
            | Pm4::WaitForIdle(_)
            | Pm4::InvalidateState(_)
            | Pm4::Interrupt(_)
            | Pm4::MeInit(_)
            | Pm4::WaitRegEq(_)
            | Pm4::WaitRegGte(_)
            | Pm4::IncrUpdtState(_)
            | Pm4::IncrUpdtConst(_)
            | Pm4::IncrUpdtInstr(_)
            | Pm4::WaitUntilRead(_)
            | Pm4::WaitIbPfdComplete(_)
            | Pm4::ContextUpdate(_)
            | Pm4::SetProtectedMode(_)
            | Pm4::SetSecureMode(_)
            | Pm4::BootstrapUcode(_) => {}
            // Bins are not used: every primitive is drawn in every bin, clipped by its scissor.
            Pm4::SetBinData(_) | Pm4::SetBin(_) | Pm4::SetBinMask(_) | Pm4::SetBinSelect(_) => {}
            Pm4::Short { payload, .. } => {
                let name = PACKETS.row(opcode).map_or("a packet", |row| row.name);
                self.trouble(Fault::ShortPacket { name, dwords: payload.len() });
            }
            _ => self.unsupported(&self.packet_name(opcode)),
        }
    }
}
