//! Performance counters: what they count, and the registers that select, switch, load and read them
//! (docs/hardware/counters.md, section 2).

use a4emu_decoder::a4xx::enums::{
    HlsqPerfcounterSelect as Hlsq, PcPerfcounterSelect as Pc, RbPerfcounterSelect as Rb,
    SpPerfcounterSelect as Sp, VfdPerfcounterSelect as Vfd,
};
use a4emu_decoder::a4xx::regs::cp::CP_PERFCTR_CP_SEL;
use a4emu_decoder::a4xx::regs::gras::{GRAS_PERFCTR_RAS_SEL, GRAS_PERFCTR_TSE_SEL};
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_PERFCTR_HLSQ_SEL;
use a4emu_decoder::a4xx::regs::pc::PC_PERFCTR_PC_SEL;
use a4emu_decoder::a4xx::regs::rb::{RB_PERFCTR_CCU_SEL, RB_PERFCTR_RB_SEL};
use a4emu_decoder::a4xx::regs::rbbm_perfctr::*;
use a4emu_decoder::a4xx::regs::sp::SP_PERFCTR_SP_SEL;
use a4emu_decoder::a4xx::regs::tpl1::TPL1_PERFCTR_TP_SEL;
use a4emu_decoder::a4xx::regs::uche::UCHE_PERFCTR_UCHE_SEL;
use a4emu_decoder::a4xx::regs::vfd::VFD_PERFCTR_VFD_SEL;
use a4emu_decoder::a4xx::regs::vpc::VPC_PERFCTR_VPC_SEL;
use a4emu_decoder::a4xx::regs::vsc::{VSC_PERFCTR_VSC_SEL_0, VSC_PERFCTR_VSC_SEL_1};
use a4emu_decoder::bits::Register;

use super::Cp;
use crate::gpu::Gpu;
use crate::machine::Stage;
use a4emu_shader::InstructionClass;

/// Number of counters: a low and a high half each, from the first of the CP on. PWR's are apart.
pub(super) const COUNT: usize = 90;

/// Low half of the first counter.
const FIRST: u32 = RBBM_PERFCTR_CP_LO::ROW.offset;

/// The blocks' counters: low half of the first, number of counters, and the select register of the first. VSC's
/// select registers lie apart.
pub(super) const BLOCKS: [(u32, u32, u32); 15] = [
    (RBBM_PERFCTR_CP_LO::ROW.offset, 8, CP_PERFCTR_CP_SEL::ROW.offset),
    (RBBM_PERFCTR_RBBM_LO::ROW.offset, 4, RBBM_PERFCTR_RBBM_SEL::ROW.offset),
    (RBBM_PERFCTR_PC_LO::ROW.offset, 8, PC_PERFCTR_PC_SEL::ROW.offset),
    (RBBM_PERFCTR_VFD_LO::ROW.offset, 8, VFD_PERFCTR_VFD_SEL::ROW.offset),
    (RBBM_PERFCTR_HLSQ_LO::ROW.offset, 8, HLSQ_PERFCTR_HLSQ_SEL::ROW.offset),
    (RBBM_PERFCTR_VPC_LO::ROW.offset, 4, VPC_PERFCTR_VPC_SEL::ROW.offset),
    (RBBM_PERFCTR_CCU_LO::ROW.offset, 4, RB_PERFCTR_CCU_SEL::ROW.offset),
    (RBBM_PERFCTR_TSE_LO::ROW.offset, 4, GRAS_PERFCTR_TSE_SEL::ROW.offset),
    (RBBM_PERFCTR_RAS_LO::ROW.offset, 4, GRAS_PERFCTR_RAS_SEL::ROW.offset),
    (RBBM_PERFCTR_UCHE_LO::ROW.offset, 8, UCHE_PERFCTR_UCHE_SEL::ROW.offset),
    (RBBM_PERFCTR_TP_LO::ROW.offset, 8, TPL1_PERFCTR_TP_SEL::ROW.offset),
    (RBBM_PERFCTR_SP_LO::ROW.offset, 12, SP_PERFCTR_SP_SEL::ROW.offset),
    (RBBM_PERFCTR_RB_LO::ROW.offset, 8, RB_PERFCTR_RB_SEL::ROW.offset),
    (RBBM_PERFCTR_VSC_0_LO::ROW.offset, 1, VSC_PERFCTR_VSC_SEL_0::ROW.offset),
    (RBBM_PERFCTR_VSC_1_LO::ROW.offset, 1, VSC_PERFCTR_VSC_SEL_1::ROW.offset),
];

/// Low half of the counter that time queries read. The high half follows it (docs/hardware/registers.md).
pub(super) const TICKS: u32 = FIRST;

/// The counters that count time alone, without a select register.
const OF_POWER: std::ops::RangeInclusive<u32> =
    RBBM_PERFCTR_PWR_0_LO::ROW.offset..=RBBM_PERFCTR_PWR_1_HI::ROW.offset;

/// A counter that a register is a half of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CounterOf {
    /// The counter of this number, with its select register.
    Block { number: usize, select: u32 },
    /// A counter of the clock and power block.
    Power,
}

/// The block of the counter that the register at `offset` is a half of: low half of its first counter, and the select
/// register of that one.
fn block_of(offset: u32) -> Option<(u32, u32)> {
    let block = BLOCKS.into_iter().find(|(first, count, _)| (*first..first + 2 * count).contains(&offset));
    block.map(|(first, _, select)| (first, select))
}

/// The counter that the register at `offset` is a half of.
pub(super) fn counter_of(offset: u32) -> Option<CounterOf> {
    if OF_POWER.contains(&offset) {
        return Some(CounterOf::Power);
    }
    let (first, select) = block_of(offset)?;
    let number = ((offset - FIRST) / 2) as usize;
    Some(CounterOf::Block { number, select: select + (offset - first) / 2 })
}

/// The number of the first counter of the block whose low half is at `first`.
pub(super) const fn number_of(first: u32) -> u8 {
    ((first - FIRST) / 2) as u8
}

/// An event that is counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// Instructions of a stage.
    Instructions(Stage),
    /// Instructions of a stage that belong to a class.
    Class(Stage, InstructionClass),
    /// Vertices shaded.
    Vertices,
    /// Fragments shaded.
    Fragments,
    /// Samples that passed depth and stencil.
    Samples,
    /// Patches.
    Patches,
    /// Points of the domain.
    DomainPoints,
    /// Primitives of the tessellator.
    DomainPrimitives,
    /// Primitives of geometry shaders.
    GeometryPrimitives,
}

/// The events that are counted: the low half of the block's first counter, the value of the select register, the event.
const COUNTED: [(u32, u32, Event); 24] = {
    use InstructionClass::{Efu, Flow, FullAlu, HalfAlu, Texture};
    use Stage::{CS, DS, FS, GS, HS, VS};
    const SP: u32 = RBBM_PERFCTR_SP_LO::ROW.offset;
    const PC: u32 = RBBM_PERFCTR_PC_LO::ROW.offset;
    const HLSQ: u32 = RBBM_PERFCTR_HLSQ_LO::ROW.offset;
    const VFD: u32 = RBBM_PERFCTR_VFD_LO::ROW.offset;
    const RB: u32 = RBBM_PERFCTR_RB_LO::ROW.offset;
    [
        (SP, Sp::SP_VS_STAGE_TEX_INSTRUCTIONS.to_bits(), Event::Class(VS, Texture)),
        (SP, Sp::SP_VS_STAGE_CFLOW_INSTRUCTIONS.to_bits(), Event::Class(VS, Flow)),
        (SP, Sp::SP_VS_STAGE_EFU_INSTRUCTIONS.to_bits(), Event::Class(VS, Efu)),
        (SP, Sp::SP_VS_STAGE_FULL_ALU_INSTRUCTIONS.to_bits(), Event::Class(VS, FullAlu)),
        (SP, Sp::SP_VS_STAGE_HALF_ALU_INSTRUCTIONS.to_bits(), Event::Class(VS, HalfAlu)),
        (SP, Sp::SP_FS_STAGE_TEX_INSTRUCTIONS.to_bits(), Event::Class(FS, Texture)),
        (SP, Sp::SP_FS_STAGE_CFLOW_INSTRUCTIONS.to_bits(), Event::Class(FS, Flow)),
        (SP, Sp::SP_FS_STAGE_EFU_INSTRUCTIONS.to_bits(), Event::Class(FS, Efu)),
        (SP, Sp::SP_FS_STAGE_FULL_ALU_INSTRUCTIONS.to_bits(), Event::Class(FS, FullAlu)),
        (SP, Sp::SP_FS_STAGE_HALF_ALU_INSTRUCTIONS.to_bits(), Event::Class(FS, HalfAlu)),
        (SP, Sp::SP_VS_INSTRUCTIONS.to_bits(), Event::Instructions(VS)),
        (SP, Sp::SP_FS_INSTRUCTIONS.to_bits(), Event::Instructions(FS)),
        (SP, Sp::SP_HS_INSTRUCTIONS.to_bits(), Event::Instructions(HS)),
        (SP, Sp::SP_DS_INSTRUCTIONS.to_bits(), Event::Instructions(DS)),
        (SP, Sp::SP_GS_INSTRUCTIONS.to_bits(), Event::Instructions(GS)),
        (SP, Sp::SP_CS_INSTRUCTIONS.to_bits(), Event::Instructions(CS)),
        (HLSQ, Hlsq::HLSQ_PIXELS.to_bits(), Event::Fragments),
        (HLSQ, Hlsq::HLSQ_VERTICES.to_bits(), Event::Vertices),
        (VFD, Vfd::VFD_NUM_VERTICES_TOTAL.to_bits(), Event::Vertices),
        (PC, Pc::PC_HS_INVOCATIONS.to_bits(), Event::Patches),
        (PC, Pc::PC_DS_INVOCATIONS.to_bits(), Event::DomainPoints),
        (PC, Pc::PC_DS_PRIMITIVES.to_bits(), Event::DomainPrimitives),
        (PC, Pc::PC_GS_PRIMITIVES.to_bits(), Event::GeometryPrimitives),
        (RB, Rb::RB_TOTAL_PASS.to_bits(), Event::Samples),
    ]
};

impl Event {
    /// The event that the counter of this number counts with `select`, if it is counted.
    fn selected(number: usize, select: u32) -> Option<Self> {
        let (block, _) = block_of(FIRST + 2 * number as u32)?;
        let row = COUNTED.into_iter().find(|(first, value, _)| (*first, *value) == (block, select));
        row.map(|(.., event)| event)
    }

    /// How often it has occurred.
    fn total(self, gpu: &Gpu) -> u64 {
        let (stats, tessellation) = (&gpu.pipeline.stats, &gpu.pipeline.tessellation);
        match self {
            Self::Instructions(stage) => stats.stages[stage as usize].instructions,
            Self::Class(stage, class) => stats.stages[stage as usize].classes[class as usize],
            Self::Vertices => stats.vertices,
            Self::Fragments => stats.fragments,
            Self::Samples => stats.pixels,
            Self::Patches => tessellation.patches,
            Self::DomainPoints => tessellation.points,
            Self::DomainPrimitives => tessellation.primitives,
            Self::GeometryPrimitives => gpu.pipeline.dispatches.emitted(),
        }
    }
}

/// The state of the performance counters.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PerformanceCounters {
    /// RBBM_PERFCTR_CTL bit 0. The kernel sets it at start.
    is_enabled: bool,
    all: Vec<Counter>,
}

impl Default for PerformanceCounters {
    fn default() -> Self {
        Self { is_enabled: true, all: vec![Counter::default(); COUNT] }
    }
}

/// A performance counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counter {
    /// What it counts, if that is counted.
    event: Option<Event>,
    /// Its value, without what occurred since `base`.
    kept: u64,
    /// How often the event had occurred when it began to count it.
    base: u64,
    /// Whether it has counted an event that is not counted, so that its value is not known.
    is_unknown: bool,
}

impl Default for Counter {
    /// A counter before any packet selects an event. It counts event 0, which is no counted one.
    fn default() -> Self {
        Self { event: None, kept: 0, base: 0, is_unknown: true }
    }
}

impl Counter {
    /// Adds what occurred since `base` to `kept`.
    fn settle(&mut self, gpu: &Gpu, is_enabled: bool) {
        if let Some(event) = self.event {
            let total = event.total(gpu);
            self.kept = self.value(total, is_enabled);
            self.base = total;
        }
    }

    fn value(&self, total: u64, is_enabled: bool) -> u64 {
        match is_enabled {
            true => self.kept.wrapping_add(total.wrapping_sub(self.base)),
            false => self.kept,
        }
    }

    /// Begins to count its event.
    fn begin(&mut self, gpu: &Gpu, is_enabled: bool) {
        match self.event {
            Some(event) => self.base = event.total(gpu),
            None => self.is_unknown |= is_enabled,
        }
    }
}

impl Cp<'_> {
    /// Changes the counters, after all draws before have been counted.
    fn change_counters(&mut self, change: impl FnOnce(&mut PerformanceCounters, &Gpu)) {
        self.gpu.settle();
        let mut counters = std::mem::take(&mut self.gpu.cp.counters);
        change(&mut counters, self.gpu);
        self.gpu.cp.counters = counters;
    }

    /// A select register has been written.
    pub(super) fn select_counter(&mut self, number: usize, value: u32) {
        let event = Event::selected(number, value);
        let Counter { event: before, is_unknown, .. } = self.gpu.cp.counters.all[number];
        if event == before && (event.is_some() || is_unknown) {
            return;
        }
        self.change_counters(|counters, gpu| {
            let (counter, is_enabled) = (&mut counters.all[number], counters.is_enabled);
            counter.settle(gpu, is_enabled);
            counter.event = event;
            if event.is_some() && std::mem::take(&mut counter.is_unknown) {
                counter.kept = 0;
            }
            counter.begin(gpu, is_enabled);
        });
        let all = &self.gpu.cp.counters.all;
        self.gpu.pipeline.counts_classes =
            all.iter().any(|counter| matches!(counter.event, Some(Event::Class(..))));
    }

    /// RBBM_PERFCTR_CTL has been written.
    pub(super) fn switch_counters(&mut self, value: u32) {
        let is_enabled = value & 1 != 0;
        if is_enabled == self.gpu.cp.counters.is_enabled {
            return;
        }
        self.change_counters(|counters, gpu| {
            for counter in &mut counters.all {
                counter.settle(gpu, counters.is_enabled);
                counter.begin(gpu, is_enabled);
            }
            counters.is_enabled = is_enabled;
        });
    }

    /// RBBM_PERFCTR_LOAD_CMD0 to 2 has been written: `value` is for 32 counters from `first` on.
    pub(super) fn load_counters(&mut self, first: usize, value: u32) {
        let [low, high] = [RBBM_PERFCTR_LOAD_VALUE_LO::ROW.offset, RBBM_PERFCTR_LOAD_VALUE_HI::ROW.offset];
        let loaded = super::registers::wide(self.gpu.regs.read(low), self.gpu.regs.read(high));
        self.change_counters(|counters, gpu| {
            for (bit, counter) in counters.all.iter_mut().skip(first).take(32).enumerate() {
                if value >> bit & 1 != 0 {
                    (counter.kept, counter.is_unknown) = (loaded, false);
                    counter.begin(gpu, counters.is_enabled);
                }
            }
        });
    }

    /// The value of the counter of this number, if it is known.
    pub(super) fn counter(&mut self, number: usize) -> Option<u64> {
        self.gpu.settle();
        let PerformanceCounters { is_enabled, all } = &self.gpu.cp.counters;
        let counter = all[number];
        let total = counter.event.map_or(counter.base, |event| event.total(self.gpu));
        (!counter.is_unknown).then(|| counter.value(total, *is_enabled))
    }
}
