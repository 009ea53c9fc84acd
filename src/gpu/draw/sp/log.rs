//! What shaders did and what went wrong while they ran, collected where nobody else may write.

use crate::budget::{Budget, Work};
use crate::fault::{Fault, Missing};
use crate::fidelity::Rests;
use crate::gpu::Stage;
use a4emu_shader::{Chosen, InstructionCount, ShaderFault};

/// Pages of stores to nowhere that are kept.
const MAX_LOST_PAGES: usize = 64;

/// What the warps of one stage of a draw or dispatch leave besides their results.
#[derive(Default)]
pub struct ShaderLog {
    /// Reads that found nothing.
    pub missing: Missing,
    /// Pages of stores to nowhere: the first ones.
    pub lost_pages: Vec<u32>,
    /// What is not supported.
    pub unsupported: Vec<String>,
    /// Why a shader gave up.
    pub fault: Option<ShaderFault>,
    /// Accesses outside the primitive's inputs: the first of each lane, of one warp.
    pub outside_inputs: Vec<OutsideInputs>,
    /// Guesses that the program rests on, if it is watched.
    pub rests: Option<Box<Rests>>,
    /// What a0.x chose, if the program is watched for it.
    pub chosen: Option<Box<Chosen>>,
    /// What it took.
    pub work: ShaderWork,
    /// How often each instruction ran; empty if they are not counted.
    pub counts: Vec<InstructionCount>,
}

/// Work of shaders, by the kinds that a budget knows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaderWork {
    /// Warps started.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Those of them that were machine code, which costs the same.
    pub compiled: u64,
    /// Texels read.
    pub texels: u64,
    /// Loads, stores and atomics of single lanes.
    pub accesses: u64,
    /// 16 bytes of a shader's own memory cleared.
    pub cleared: u64,
}

impl ShaderWork {
    /// How much of each kind of work it is.
    fn kinds(&self) -> [(Work, u64); 5] {
        [
            (Work::Warp, self.warps),
            (Work::WarpInstruction, self.instructions),
            (Work::Texel, self.texels),
            (Work::LaneAccess, self.accesses),
            (Work::Copy16, self.cleared),
        ]
    }

    /// What it costs, in the budget's units.
    #[inline]
    pub fn units(&self) -> u64 {
        self.kinds().iter().fold(0, |units, (work, count)| units.saturating_add(count * work.price()))
    }

    /// Charges it to `budget`.
    pub fn settle(&self, budget: &mut Budget) {
        self.kinds().into_iter().for_each(|(work, count)| budget.settle(work, count));
    }

    fn add(&mut self, later: &Self) {
        self.warps += later.warps;
        self.instructions += later.instructions;
        self.compiled += later.compiled;
        self.texels += later.texels;
        self.accesses += later.accesses;
        self.cleared += later.cleared;
    }
}

impl ShaderLog {
    /// Whether there is nothing to say but what it took, and what lanes read outside the
    /// primitive's inputs.
    pub fn is_quiet(&self) -> bool {
        self.missing.is_empty()
            && self.lost_pages.is_empty()
            && self.unsupported.is_empty()
            && self.fault.is_none()
    }

    /// Adds what came later.
    pub fn append(&mut self, later: Self) {
        self.missing.extend(later.missing.iter());
        later.lost_pages.into_iter().for_each(|page| self.lose(page));
        self.unsupported.extend(later.unsupported);
        self.fault = self.fault.take().or(later.fault);
        if self.outside_inputs.is_empty() {
            self.outside_inputs = later.outside_inputs;
        }
        if let Some(later) = later.rests {
            self.rests.get_or_insert_default().append(*later);
        }
        if let Some(later) = later.chosen {
            self.chosen.get_or_insert_default().append(&later);
        }
        self.work.add(&later.work);
        if !later.counts.is_empty() {
            InstructionCount::merge(&mut self.counts, &later.counts);
        }
    }

    /// Notes a store to a page in no buffer.
    pub fn lose(&mut self, page: u32) {
        if self.lost_pages.len() < MAX_LOST_PAGES {
            self.lost_pages.push(page);
        }
    }
}

/// An access outside the inputs of a geometry or hull shader's primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideInputs {
    /// Whose shader.
    pub stage: Stage,
    /// In which lane.
    pub lane: usize,
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub len: usize,
    /// Bytes that the inputs have.
    pub size: usize,
}

impl OutsideInputs {
    /// As a fault of draw `draw`.
    pub fn fault(&self, draw: u32) -> Fault {
        let Self { stage, address, len, size, .. } = self;
        let what = format!("{len} bytes at {address:#x} of a local vertex buffer of {size:#x}");
        Fault::Shader(format!("draw {draw}: {stage:?} reads {what}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_fault_stays() {
        let of = |at| ShaderLog { fault: Some(ShaderFault::Invalid { at }), ..ShaderLog::default() };
        let mut log = of(1);
        log.append(of(2));
        assert_eq!(log.fault, Some(ShaderFault::Invalid { at: 1 }));
    }

    #[test]
    fn all_that_a_shader_does_costs() {
        let nothing = ShaderWork::default();
        for (work, kind) in [
            (ShaderWork { warps: 3, ..nothing }, Work::Warp),
            (ShaderWork { instructions: 3, ..nothing }, Work::WarpInstruction),
            (ShaderWork { texels: 3, ..nothing }, Work::Texel),
            (ShaderWork { accesses: 3, ..nothing }, Work::LaneAccess),
            (ShaderWork { cleared: 3, ..nothing }, Work::Copy16),
        ] {
            let mut budget = Budget::default();
            work.settle(&mut budget);
            let mut sum = nothing;
            sum.add(&work);
            assert_eq!((budget.spent(), sum.units()), (3 * kind.price(), 3 * kind.price()), "{kind}");
        }
    }

    #[test]
    fn stores_to_nowhere_are_not_kept_without_end() {
        let mut log = ShaderLog::default();
        for page in 0..1000 {
            let mut later = ShaderLog::default();
            later.lose(page << 12);
            log.append(later);
        }
        assert_eq!(log.lost_pages.len(), MAX_LOST_PAGES);
    }
}
