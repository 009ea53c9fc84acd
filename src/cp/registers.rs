//! Packets that move values between registers, scratch and memory.

use a4emu_decoder::bits::Register;
use a4emu_decoder::pm4::{
    MemToReg, RegRmw, RegToMem, RegToScratch, RegisterWrites, ScratchToReg, SetConstant,
};
use a4emu_decoder::regs::cp::CP_PERFCTR_CP_SEL;
use a4emu_decoder::regs::enums::CpPerfcounterSelect;
use a4emu_decoder::regs::rbbm_perfctr::RBBM_PERFCTR_CP_LO;

use super::Cp;
use super::effects::effect;
use crate::budget::Work;
use crate::draw;
use crate::fault::Client;

/// Low half of the counter that queries of time read; the high half is behind it (docs/hardware/registers.md).
const TICKS: u32 = RBBM_PERFCTR_CP_LO::ROW.offset;

impl Cp<'_> {
    /// Writes one register, with what that sets off.
    pub(super) fn write_reg(&mut self, offset: u32, value: u32) {
        let old = match self.gpu.regs.write(offset, value) {
            Ok(old) => old,
            Err(fault) => return self.trouble(fault),
        };
        self.observer.register(self.gpu, offset, old);
        if let Some(effect) = effect(offset) {
            self.set_off(effect, value);
        }
    }

    /// Writes `values` to registers from `first` on.
    pub(super) fn write_regs(&mut self, first: u32, values: &[u32]) {
        for (offset, value) in (first..).zip(values) {
            self.write_reg(offset, *value);
        }
    }

    /// CP_SET_CONSTANT: values into context registers, or the sum of a register and a constant.
    pub(super) fn set_constant(&mut self, packet: &SetConstant<'_>) {
        match packet.writes() {
            RegisterWrites::Values { first, values } => self.write_regs(first, values),
            RegisterWrites::Sum { register, addend, constant } => {
                let sum = self.gpu.regs.read(addend).wrapping_add(constant);
                self.write_reg(register, sum);
            }
            RegisterWrites::Nothing => self.unsupported("CP_SET_CONSTANT of A2xx constants"),
        }
    }

    /// CP_REG_RMW: `rotl(dst & src0, rotate)` OR or plus `src1`.
    pub(super) fn reg_rmw(&mut self, packet: &RegRmw<'_>) {
        let control = packet.control;
        let value = packet.apply(|offset| self.gpu.regs.read(offset));
        self.write_reg(control.DST_REG(), value);
    }

    /// CP_REG_TO_MEM: registers to dwords or 64-bit values, or added to what is there.
    pub(super) fn reg_to_mem(&mut self, packet: &RegToMem<'_>) {
        let control = packet.control;
        let step: u32 = if control.B64() { 2 } else { 1 };
        let len = 4 * step as usize;
        if !self.charge(Work::Dword, u64::from(control.CNT())) {
            return;
        }
        if control.ACCUMULATE() {
            self.depends_on_draws("what CP_REG_TO_MEM adds to", packet.DEST);
        }
        for index in (0..control.CNT().max(1)).step_by(step as usize) {
            let register = control.REG().wrapping_add(index);
            let address = packet.DEST.wrapping_add(index * 4);
            if register == TICKS && self.counts_ticks() {
                self.count_ticks();
                self.engine.stored_stale(address, 8);
            }
            let value = self.gather(register, step);
            let before = if control.ACCUMULATE() { self.load_wide(address, len) } else { 0 };
            self.store(address, &before.wrapping_add(value).to_le_bytes()[..len]);
        }
    }

    /// Whether the first counter of the CP is to count clock ticks.
    fn counts_ticks(&self) -> bool {
        self.gpu.regs.get::<CP_PERFCTR_CP_SEL>().VALUE() == CpPerfcounterSelect::CP_ALWAYS_COUNT
    }

    /// The first counter of the CP comes to where the clock is, behind the draws so far.
    fn count_ticks(&mut self) {
        draw::flush(self.gpu);
        let ticks = self.gpu.ticks();
        self.write_regs(TICKS, &[ticks as u32, (ticks >> 32) as u32]);
    }

    /// CP_MEM_TO_REG: dwords to registers.
    pub(super) fn mem_to_reg(&mut self, packet: &MemToReg<'_>) {
        let control = packet.control;
        if !self.charge(Work::Dword, u64::from(control.CNT())) {
            return;
        }
        self.depends_on_draws("the value of CP_MEM_TO_REG", packet.SRC);
        for index in 0..control.CNT().max(1) {
            let value = self.gpu.fetch_u32(Client::Packet, packet.SRC.wrapping_add(index * 4));
            let value = if control.SHIFT_BY_2() { value.wrapping_mul(4) } else { value };
            self.write_reg(control.REG().wrapping_add(index), value);
        }
    }

    /// CP_REG_TO_SCRATCH: registers to the ME's own RAM; slots past the last are dropped.
    pub(super) fn reg_to_scratch(&mut self, packet: &RegToScratch<'_>) {
        let control = packet.control;
        let slots = self.gpu.cp.scratch.iter_mut().skip(control.SCRATCH() as usize);
        for (slot, offset) in slots.zip(control.REG()..=control.REG() + control.CNT()) {
            *slot = self.gpu.regs.read(offset);
        }
    }

    /// CP_SCRATCH_TO_REG: the way back.
    pub(super) fn scratch_to_reg(&mut self, packet: &ScratchToReg<'_>) {
        let control = packet.control;
        let scratch = self.gpu.cp.scratch;
        let slots = scratch.iter().skip(control.SCRATCH() as usize);
        for (value, offset) in slots.zip(control.REG()..=control.REG() + control.CNT()) {
            self.write_reg(offset, *value);
        }
    }

    /// One or two consecutive registers as a number.
    fn gather(&self, register: u32, count: u32) -> u64 {
        let low = u64::from(self.gpu.regs.read(register));
        match count {
            1 => low,
            _ => wide(low as u32, self.gpu.regs.read(register.wrapping_add(1))),
        }
    }

    /// `len` (4 or 8) bytes of memory as a number.
    pub(super) fn load_wide(&mut self, address: u32, len: usize) -> u64 {
        let mut bytes = [0; 8];
        self.gpu.fetch(Client::Packet, address, &mut bytes[..len]);
        u64::from_le_bytes(bytes)
    }

    /// Stores for a packet, where the observer sees it.
    pub(super) fn store(&mut self, address: u32, bytes: &[u8]) {
        self.gpu.store(Client::Packet, address, bytes);
        self.observer.store(self.gpu, address, bytes);
    }
}

/// Two dwords as one number, low first.
pub(super) fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) * (1 << 32) + u64::from(low)
}
