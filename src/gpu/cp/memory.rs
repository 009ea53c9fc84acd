//! Packets that store, copy, compare and wait on memory.

use a4emu_decoder::a4xx::enums::{CondFunction, PollMemoryType};
use a4emu_decoder::a4xx::pm4::{CondExec, CondWrite, MemToMem, MemWrite, WaitRegMem};

use super::Cp;
use super::stream::Step;
use crate::fault::{Client, Fault};

/// Whether `value` FUNCTION `reference` holds. Unknown functions hold.
fn holds<T: Ord>(function: CondFunction, value: T, reference: T) -> bool {
    match function {
        CondFunction::WRITE_ALWAYS | CondFunction::Other(_) => true,
        CondFunction::WRITE_LT => value < reference,
        CondFunction::WRITE_LE => value <= reference,
        CondFunction::WRITE_EQ => value == reference,
        CondFunction::WRITE_NE => value != reference,
        CondFunction::WRITE_GE => value >= reference,
        CondFunction::WRITE_GT => value > reference,
    }
}

impl Cp<'_> {
    /// CP_MEM_WRITE: stores the dwords that follow the address.
    pub(super) fn mem_write(&mut self, packet: &MemWrite<'_>) {
        let bytes: Vec<u8> = packet.rest.iter().flat_map(|word| word.to_le_bytes()).collect();
        self.store(packet.ADDR, &bytes);
    }

    /// CP_MEM_TO_MEM: stores the sum of up to three sources. Each may be negated.
    pub(super) fn mem_to_mem(&mut self, packet: &MemToMem<'_>) {
        let control = packet.control;
        let len = if control.DOUBLE() { 8 } else { 4 };
        let negate = [control.NEG_A(), control.NEG_B(), control.NEG_C()];
        let mut sum = 0u64;
        let stale =
            packet.rest.iter().take(negate.len()).any(|source| self.engine.is_stale((*source).into()));
        for (source, negate) in packet.rest.iter().zip(negate) {
            self.depends_on_draws("what CP_MEM_TO_MEM copies", *source);
            let value = self.load_wide(*source, len);
            sum = if negate { sum.wrapping_sub(value) } else { sum.wrapping_add(value) };
        }
        self.store(packet.DST, &sum.to_le_bytes()[..len]);
        if stale {
            self.engine.mark_stale(packet.DST.into(), len as u32);
        }
    }

    /// CP_COND_WRITE: stores if the comparison of memory or a register holds.
    pub(super) fn cond_write(&mut self, packet: &CondWrite<'_>) {
        let control = packet.control;
        let polled = match control.POLL_MEMORY() {
            true => {
                self.depends_on_draws("the condition of CP_COND_WRITE", packet.POLL_ADDR);
                self.gpu.fetch_u32(Client::Packet, packet.POLL_ADDR)
            }
            false => self.read_reg(packet.POLL_ADDR),
        };
        if !holds(control.FUNCTION(), polled & packet.MASK, packet.REF) {
            return;
        }
        match control.WRITE_MEMORY() {
            true => self.store(packet.WRITE_ADDR, &packet.WRITE_DATA.to_le_bytes()),
            false => self.write_reg(packet.WRITE_ADDR, packet.WRITE_DATA),
        }
    }

    /// CP_WAIT_REG_MEM: tests the condition once, as memory does not change during a wait. A wait that would
    /// never end is a fault; execution continues.
    pub(super) fn wait_reg_mem(&mut self, packet: &WaitRegMem<'_>) {
        let control = packet.control;
        self.gpu.mem.host_may_have_written();
        let polled = match control.POLL() {
            PollMemoryType::POLL_REGISTER => self.read_reg(packet.POLL_ADDR),
            _ => {
                self.depends_on_draws("the condition of CP_WAIT_REG_MEM", packet.POLL_ADDR);
                self.gpu.fetch_u32(Client::Packet, packet.POLL_ADDR)
            }
        };
        let (value, reference) = (polled & packet.MASK, packet.REF);
        let over = match control.SIGNED_COMPARE() {
            true => holds(control.FUNCTION(), value.cast_signed(), reference.cast_signed()),
            false => holds(control.FUNCTION(), value, reference),
        };
        if !over {
            let fault = Fault::EndlessWait { polled: packet.POLL_ADDR, value, reference };
            self.trouble(fault);
        }
    }

    /// CP_COND_EXEC: skips the next dwords unless `*ADDR0 != 0` and `*ADDR1 < REF`.
    pub(super) fn cond_exec(&mut self, packet: &CondExec<'_>) -> Step {
        for address in [packet.ADDR0, packet.ADDR1] {
            self.depends_on_draws("the condition of CP_COND_EXEC", address);
        }
        let first = self.gpu.fetch_u32(Client::Packet, packet.ADDR0);
        let second = self.gpu.fetch_u32(Client::Packet, packet.ADDR1);
        let execute = first != 0 && second.cast_signed() < packet.REF.cast_signed();
        if execute { Step::Next } else { Step::Skip(packet.DWORDS) }
    }
}
