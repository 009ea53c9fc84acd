//! Packets that move values between registers, scratch and memory.

use a4emu_decoder::a4xx::enums::CpPerfcounterSelect;
use a4emu_decoder::a4xx::pm4::{
    CP_MEM_TO_REG_0, CP_REG_RMW_0, CP_REG_TO_MEM_0, CP_REG_TO_SCRATCH_0, CP_SCRATCH_TO_REG_0, MemToReg,
    RegToMem, RegisterWrites, SetConstant,
};
use a4emu_decoder::a4xx::regs::cp::CP_PERFCTR_CP_SEL;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::value::FieldValue;

use super::Cp;
use super::counters::CounterOf;
use crate::budget::Work;
use crate::fault::Client;
use crate::settled::Running;

impl Cp<'_> {
    /// The counter that a register is a half of.
    fn counter_of(&self, offset: u32) -> Option<CounterOf> {
        (self.commands.counter_of)(offset)
    }

    /// Reads a register for a packet. Reports a performance counter that is not counted (docs/hardware/counters.md,
    /// section 2).
    pub(super) fn read_reg(&mut self, offset: u32) -> u32 {
        if let Some(counter) = self.counter_of(offset) {
            match self.read_counter(offset, counter) {
                Some(value) => return value,
                None => self.refuse_counter(offset, counter),
            }
        }
        self.gpu.regs.read(offset)
    }

    /// Returns the half of a counter that the register at `offset` is, if it is counted.
    fn read_counter(&mut self, offset: u32, counter: CounterOf) -> Option<u32> {
        let ticks = self.commands.ticks;
        if (ticks..=ticks + 1).contains(&offset) && self.counts_ticks() {
            return Some(self.gpu.regs.read(offset));
        }
        let CounterOf::Block { number, .. } = counter else { return None };
        let value = self.counter(number)?;
        // Low halves have even offsets.
        Some(if offset.is_multiple_of(2) { value as u32 } else { (value >> 32) as u32 })
    }

    #[cold]
    fn refuse_counter(&mut self, offset: u32, counter: CounterOf) {
        let registers = self.gpu.chip.generation().registers;
        let name = registers.name(offset);
        let CounterOf::Block { select, .. } = counter else {
            return self.unsupported(&format!("counter {name}"));
        };
        let value = self.gpu.regs.read(select);
        let fields = registers.fields(select);
        let counted = fields.first().map(|row| FieldValue { row, raw: value }.value());
        let counted = counted.map_or_else(|| value.to_string(), |value| value.to_string());
        let select = registers.name(select);
        self.unsupported(&format!("counter {name} with {select} = {counted}"));
    }

    /// Writes one register and performs the side effect of the write.
    pub(super) fn write_reg(&mut self, offset: u32, value: u32) {
        let old = match self.gpu.regs.write(offset, value) {
            Ok(old) => old,
            Err(fault) => return self.trouble(fault),
        };
        if self.shows_packets {
            self.observer.register(&mut Running::of(self.gpu), offset, old);
        }
        if let Some(effect) = self.effect(offset) {
            self.set_off(effect, value);
        }
    }

    /// Writes `values` to registers from `first` on.
    pub(super) fn write_regs(&mut self, first: u32, values: &[u32]) {
        if !self.shows_packets
            && !self.have_effects(first, values.len())
            && self.gpu.regs.write_run(first, values)
        {
            return;
        }
        for (offset, value) in (first..).zip(values) {
            self.write_reg(offset, *value);
        }
    }

    /// CP_SET_CONSTANT: writes values to context registers, or the sum of a register and a constant to one.
    pub(super) fn set_constant(&mut self, packet: &SetConstant<'_>) {
        match packet.writes() {
            RegisterWrites::Values { first, values } => self.write_regs(first, values),
            RegisterWrites::Sum { register, addend, constant } => {
                let sum = self.read_reg(addend).wrapping_add(constant);
                self.write_reg(register, sum);
            }
            RegisterWrites::Nothing => self.unsupported("CP_SET_CONSTANT of A2xx constants"),
        }
    }

    /// CP_REG_RMW: `rotl(dst & source 0, rotate)` OR or plus source 1.
    pub(super) fn reg_rmw(&mut self, control: CP_REG_RMW_0, sources: [u32; 2]) {
        let value = control.apply(sources, |offset| self.read_reg(offset));
        self.write_reg(control.DST_REG(), value);
    }

    /// CP_REG_TO_MEM.
    pub(super) fn reg_to_mem(&mut self, packet: &RegToMem<'_>) {
        self.store_registers(packet.control, packet.DEST.into());
    }

    /// Stores registers as dwords or as 64-bit values, or adds them to memory.
    pub(super) fn store_registers(&mut self, control: CP_REG_TO_MEM_0, to: Address) {
        let step: u32 = if control._64B() { 2 } else { 1 };
        let len = 4 * step as usize;
        // Each is stored alone, and seen by the observer.
        if !self.charge(Work::Packet, u64::from(control.CNT())) {
            return;
        }
        if control.ACCUMULATE() {
            self.depends_on_draws("what CP_REG_TO_MEM adds to", to);
        }
        for index in (0..control.CNT().max(1)).step_by(step as usize) {
            let register = control.REG().wrapping_add(index);
            let address = self.behind(to, index);
            if register == self.commands.ticks && self.counts_ticks() {
                self.count_ticks();
                self.engine.mark_stale(address, 8);
            }
            if self.counter_of(register).is_some() {
                self.engine.mark_stale(address, 4 * step);
            }
            let value = self.gather(register, step);
            let before = if control.ACCUMULATE() { self.load_wide(address, len) } else { 0 };
            self.store(address, &before.wrapping_add(value).to_le_bytes()[..len]);
        }
    }

    /// The address `dwords` behind `address`.
    pub(super) fn behind(&self, address: Address, dwords: u32) -> Address {
        self.gpu.chip.generation().behind(address, u64::from(dwords) * 4)
    }

    /// Whether the counter of clock ticks counts them. The first one of the A4xx can count something else.
    fn counts_ticks(&self) -> bool {
        let selected = self.commands.ticks == super::counters::TICKS;
        !selected || self.gpu.regs.get::<CP_PERFCTR_CP_SEL>().VALUE() == CpPerfcounterSelect::CP_ALWAYS_COUNT
    }

    /// Writes the clock to the first counter of the CP, after running the queued draws.
    fn count_ticks(&mut self) {
        self.gpu.settle();
        let ticks = self.gpu.ticks();
        self.write_regs(self.commands.ticks, &[ticks as u32, (ticks >> 32) as u32]);
    }

    /// CP_MEM_TO_REG.
    pub(super) fn mem_to_reg(&mut self, packet: &MemToReg<'_>) {
        self.load_registers(packet.control, packet.SRC.into());
    }

    /// Loads registers with dwords of memory.
    pub(super) fn load_registers(&mut self, control: CP_MEM_TO_REG_0, from: Address) {
        // A read that finds nothing takes as long as a packet.
        if !self.charge(Work::Packet, u64::from(control.CNT())) {
            return;
        }
        self.depends_on_draws("the value of CP_MEM_TO_REG", from);
        for index in 0..control.CNT().max(1) {
            let value = self.gpu.fetch_u32(Client::Packet, self.behind(from, index));
            let value = if control.SHIFT_BY_2() { value.wrapping_mul(4) } else { value };
            self.write_reg(control.REG().wrapping_add(index), value);
        }
    }

    /// CP_REG_TO_SCRATCH: copies registers to the ME's own RAM. Slots past the last are dropped.
    pub(super) fn reg_to_scratch(&mut self, control: CP_REG_TO_SCRATCH_0) {
        let slots = control.SCRATCH() as usize..self.gpu.cp.scratch.len();
        for (slot, offset) in slots.zip(control.REG()..=control.REG() + control.CNT()) {
            self.gpu.cp.scratch[slot] = self.read_reg(offset);
        }
    }

    /// CP_SCRATCH_TO_REG: copies slots of the ME's own RAM to registers.
    pub(super) fn scratch_to_reg(&mut self, control: CP_SCRATCH_TO_REG_0) {
        let scratch = self.gpu.cp.scratch;
        let slots = scratch.iter().skip(control.SCRATCH() as usize);
        for (value, offset) in slots.zip(control.REG()..=control.REG() + control.CNT()) {
            self.write_reg(offset, *value);
        }
    }

    /// One or two consecutive registers as a number, low register first.
    fn gather(&mut self, register: u32, count: u32) -> u64 {
        let low = u64::from(self.read_reg(register));
        match count {
            1 => low,
            // A trouble names the low half alone.
            _ => {
                let second = register.wrapping_add(1);
                let counted = self.counter_of(second).and_then(|counter| self.read_counter(second, counter));
                wide(low as u32, counted.unwrap_or_else(|| self.gpu.regs.read(second)))
            }
        }
    }

    /// `len` (4 or 8) bytes of memory as a number.
    pub(super) fn load_wide(&mut self, address: impl Into<Address>, len: usize) -> u64 {
        let mut bytes = [0; 8];
        self.gpu.fetch(Client::Packet, address, &mut bytes[..len]);
        u64::from_le_bytes(bytes)
    }

    /// Stores for a packet, after the observer has seen it.
    pub(super) fn store(&mut self, address: impl Into<Address>, bytes: &[u8]) {
        self.store_for(Client::Packet, address, bytes);
    }

    /// Stores for `client`, after the observer has seen it.
    pub(super) fn store_for(&mut self, client: Client, address: impl Into<Address>, bytes: &[u8]) {
        let address = address.into();
        // The observer sees memory without queued draws, as the store finds it.
        self.gpu.settle();
        self.observer.store(&mut Running::of(self.gpu), address, bytes);
        self.gpu.machine.store(client, address, bytes);
    }
}

/// Two dwords as one number.
pub(super) fn wide(low: u32, high: u32) -> u64 {
    u64::from(high) * (1 << 32) + u64::from(low)
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::regs::REGISTERS;
    use a4emu_decoder::a4xx::regs::cp::{CP_ME_NRT_ADDR, CP_ME_NRT_DATA};
    use a4emu_decoder::a4xx::regs::sp::{SP_FS_OBJ_START, SP_VS_OBJ_START};
    use a4emu_decoder::a4xx::regs::vpc::{VPC_SO_CNTL, VPC_SO_PROG};
    use a4emu_decoder::asm::pack;
    use a4emu_decoder::bits::Register;

    use super::*;
    use crate::cp::{Observer, Renderer, Silent};
    use crate::gpu::Gpu;
    use crate::machine::{Chip, Stage};

    const STREAM: u32 = 0x1000;
    const STORED: u32 = 0x8000;

    /// An observer that sees packets and registers.
    struct Watching;

    impl Observer for Watching {}

    /// The state after `words` ran: registers, program sources, the stream-out program, some memory, reports.
    fn left(words: &[u32], observer: &mut dyn Observer) -> impl PartialEq + std::fmt::Debug + use<> {
        let mut gpu = Gpu::new(Chip::default());
        gpu.mem.announce(STREAM, 4 * words.len() as u32, Some(bytemuck::cast_slice(words)));
        gpu.mem.announce(STORED, 0x1000, Some(&[0; 0x1000]));
        // The program comes from CP_LOAD_STATE4 until a packet changes that.
        for stage in [Stage::VS, Stage::FS] {
            gpu.loaded.load(a4emu_decoder::adreno::load_state::StateKind::Instructions(stage), 0, &[1, 2]);
        }
        Cp::new(&mut gpu, &mut Renderer, observer).submit(STREAM, words.len() as u32);
        let sources = [Stage::VS, Stage::FS].map(|stage| gpu.loaded.stage(stage).source);
        let troubles: Vec<String> = gpu.report.troubles.iter().map(|(it, ..)| it.to_string()).collect();
        let stored = gpu.mem.slice(STORED, 0x1000).map(<[u8]>::to_vec);
        (gpu.regs.iter().collect::<Vec<_>>(), sources, gpu.machine.stream_out, stored, troubles)
    }

    #[test]
    fn register_runs_have_the_same_effect_with_an_observer() {
        let effects = [
            SP_VS_OBJ_START::ROW.offset,
            SP_FS_OBJ_START::ROW.offset,
            VPC_SO_CNTL::ROW.offset,
            VPC_SO_PROG::ROW.offset,
            CP_ME_NRT_DATA::ROW.offset,
        ];
        let mut words = vec![pack::type0(CP_ME_NRT_ADDR::ROW.offset, 1), STORED];
        for (number, effect) in effects.into_iter().enumerate() {
            // Runs that end at, begin at and span the register; within a page and across its end.
            for (before, count) in [(1, 1), (0, 1), (3, 4), (40, 41), (1, 3), (70, 90)] {
                words.push(pack::type0(effect - before, count));
                words.extend((0..count).map(|i| 0x100 * (number as u32 + 1) + i));
            }
        }
        for (first, count) in [(0x2100, 1), (0x2100, 40), (0x20fe, 4), (REGISTERS.space() as u32 - 2, 4)] {
            words.push(pack::type0(first, count));
            words.extend((0..count).map(|i| i % 3));
        }
        assert_eq!(left(&words, &mut Silent), left(&words, &mut Watching));
    }
}
