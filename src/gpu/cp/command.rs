//! Dispatch of type-3 packets by opcode.

use a4emu_decoder::a4xx::pm4::{PACKETS, Pm4};

use super::Cp;
use super::stream::Step;
use crate::fault::Fault;

/// The packet's name, or its number.
pub(super) fn packet_name(opcode: u8) -> String {
    PACKETS.row(opcode).map_or_else(|| format!("opcode {opcode:#04x}"), |row| row.name.to_owned())
}

impl Cp<'_> {
    /// Executes a type-3 packet.
    pub(super) fn command(&mut self, opcode: u8, payload: &[u32]) -> Step {
        let packet = Pm4::parse(opcode, payload);
        match &packet {
            Pm4::CondIndirectBufferPfd(_) | Pm4::CondIndirectBufferPfe(_) => {
                let call = packet.call();
                return call.map_or(Step::Next, |call| self.conditional_call(&packet_name(opcode), call));
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
            Pm4::RegRmw(packet) => self.reg_rmw(packet),
            Pm4::RegToMem(packet) => self.reg_to_mem(packet),
            Pm4::MemToReg(packet) => self.mem_to_reg(packet),
            Pm4::RegToScratch(packet) => self.reg_to_scratch(packet),
            Pm4::ScratchToReg(packet) => self.scratch_to_reg(packet),
            Pm4::WideRegWrite(packet) => self.write_regs(packet.reg.REG(), packet.rest),
            Pm4::RegWrNoCtxt(packet) => self.write_reg(packet.REG, packet.VALUE),
            Pm4::MemWrite(packet) => self.mem_write(packet),
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
            _ => self.unsupported(&packet_name(opcode)),
        }
    }
}
