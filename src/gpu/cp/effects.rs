//! Side effects of register writes: one table.

use a4emu_decoder::a4xx::regs::SPACE;
use a4emu_decoder::a4xx::regs::cp::{CP_ME_NRT_ADDR, CP_ME_NRT_DATA};
use a4emu_decoder::a4xx::regs::rbbm_perfctr::{
    RBBM_PERFCTR_CTL, RBBM_PERFCTR_LOAD_CMD0, RBBM_PERFCTR_LOAD_CMD1, RBBM_PERFCTR_LOAD_CMD2,
};
use a4emu_decoder::a4xx::regs::sp::{SP_CS_OBJ_START, SP_FS_OBJ_START, SP_VS_OBJ_START};
use a4emu_decoder::a4xx::regs::sp_geometry::{SP_DS_OBJ_START, SP_GS_OBJ_START, SP_HS_OBJ_START};
use a4emu_decoder::a4xx::regs::vpc::{VPC_SO_CNTL, VPC_SO_PROG};
use a4emu_decoder::adreno::load_state::Stage;
use a4emu_decoder::bits::Register;

use super::Cp;
use super::counters::{BLOCKS, number_of};

/// A side effect of a register write, besides the new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// The stage's program comes from memory from now on.
    ProgramInMemory(Stage),
    /// The stream-out program starts over.
    StreamOutReset,
    /// The value is the next word of the stream-out program.
    StreamOutWord,
    /// CP_ME_NRT_DATA starts at this address.
    NrtAddress,
    /// The value is stored through CP_ME_NRT_ADDR.
    NrtData,
    /// The performance counter of this number counts another event.
    CounterSelect(u8),
    /// The performance counters go on or stop.
    CounterControl,
    /// Performance counters are loaded: 32 from this number on, a bit each.
    CounterLoad(u8),
}

/// The registers whose writes have a side effect.
const EFFECTS: &[(u32, Effect)] = &[
    (SP_VS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::VS)),
    (SP_HS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::HS)),
    (SP_DS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::DS)),
    (SP_GS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::GS)),
    (SP_FS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::FS)),
    (SP_CS_OBJ_START::ROW.offset, Effect::ProgramInMemory(Stage::CS)),
    (VPC_SO_CNTL::ROW.offset, Effect::StreamOutReset),
    (VPC_SO_PROG::ROW.offset, Effect::StreamOutWord),
    (CP_ME_NRT_ADDR::ROW.offset, Effect::NrtAddress),
    (CP_ME_NRT_DATA::ROW.offset, Effect::NrtData),
    (RBBM_PERFCTR_CTL::ROW.offset, Effect::CounterControl),
    (RBBM_PERFCTR_LOAD_CMD0::ROW.offset, Effect::CounterLoad(0)),
    (RBBM_PERFCTR_LOAD_CMD1::ROW.offset, Effect::CounterLoad(32)),
    (RBBM_PERFCTR_LOAD_CMD2::ROW.offset, Effect::CounterLoad(64)),
];

/// The side effect of each register of the A4xx, by offset.
pub(super) static BY_OFFSET: [Option<Effect>; SPACE] = {
    let mut table = [None; SPACE];
    let mut row = 0;
    while row < EFFECTS.len() {
        table[EFFECTS[row].0 as usize] = Some(EFFECTS[row].1);
        row += 1;
    }
    // The CP's counters count nothing but the clock, whatever was selected before.
    let mut block = 1;
    while block < BLOCKS.len() {
        let (first, count, select) = BLOCKS[block];
        let mut index = 0;
        while index < count {
            let number = number_of(first) + index as u8;
            table[(select + index) as usize] = Some(Effect::CounterSelect(number));
            index += 1;
        }
        block += 1;
    }
    table
};

impl Cp<'_> {
    /// The side effect of a write to the register at `offset`. Every write calls this.
    pub(super) fn effect(&self, offset: u32) -> Option<Effect> {
        self.commands.effects.get(offset as usize).copied().flatten()
    }

    /// Whether one of the `count` registers from `first` on has a side effect.
    pub(super) fn have_effects(&self, first: u32, count: usize) -> bool {
        let (effects, first) = (self.commands.effects, first as usize);
        let end = effects.len().min(first + count);
        effects.get(first..end).is_some_and(|run| run.iter().any(Option::is_some))
    }

    /// Performs the side effect of writing `value` to a register.
    pub(super) fn set_off(&mut self, effect: Effect, value: u32) {
        match effect {
            Effect::ProgramInMemory(stage) => self.gpu.loaded.take_code_from_memory(stage),
            Effect::StreamOutReset => self.gpu.stream_out.clear(),
            Effect::StreamOutWord => self.gpu.add_stream_out(value),
            Effect::NrtAddress => self.gpu.cp.nrt_offset = 0,
            Effect::NrtData => self.store_nrt(value),
            Effect::CounterSelect(number) => self.select_counter(number.into(), value),
            Effect::CounterControl => self.switch_counters(value),
            Effect::CounterLoad(first) => self.load_counters(first.into(), value),
        }
    }

    /// Stores `value` through CP_ME_NRT_ADDR, which advances by 4 a write. Two writes of CP_ME_NRT_DATA store
    /// a low and a high half (docs/hardware/command-processor.md, section 3.5).
    fn store_nrt(&mut self, value: u32) {
        let base = self.gpu.regs.get::<CP_ME_NRT_ADDR>().VALUE();
        let address = base.wrapping_add(self.gpu.cp.nrt_offset);
        self.gpu.cp.nrt_offset = self.gpu.cp.nrt_offset.wrapping_add(4);
        self.store(address, &value.to_le_bytes());
    }
}
