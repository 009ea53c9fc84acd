//! Logs of shaders: work and faults, collected where shared state must not be written.

use crate::budget::{Budget, Work};
use crate::fault::{Fault, Missing};
use crate::fidelity::Rests;
use crate::machine::Stage;
use a4emu_shader::{Chosen, InstructionCount, ShaderFault};

/// Maximum number of recorded pages of invalid stores.
const MAX_LOST_PAGES: usize = 64;

/// Side results of the warps of one stage of a draw or dispatch.
#[derive(Default)]
pub struct ShaderLog {
    /// Reads of missing memory.
    pub missing: Missing,
    /// First pages of stores outside of all buffers.
    pub lost_pages: Vec<u32>,
    /// Unsupported features.
    pub unsupported: Vec<String>,
    /// Reason why a shader stopped.
    pub fault: Option<ShaderFault>,
    /// Accesses outside the primitive's inputs: the first of each lane, for one warp.
    pub outside_inputs: Vec<OutsideInputs>,
    /// Guesses that the program rests on, if it is watched.
    pub rests: Option<Box<Rests>>,
    /// Registers selected by a0.x, if the program is watched for that.
    pub chosen: Option<Box<Chosen>>,
    /// Work of the shader.
    pub work: ShaderWork,
    /// Execution count of each instruction, empty unless enabled.
    pub counts: Vec<InstructionCount>,
}

/// Work of shaders, by the kinds of work in a budget.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ShaderWork {
    /// Warps started.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
    /// Instructions of `instructions` that ran as machine code, at the same cost.
    pub compiled: u64,
    /// Texels read.
    pub texels: u64,
    /// Loads, stores and atomics of single lanes.
    pub accesses: u64,
    /// 16 bytes of a shader's own memory cleared.
    pub cleared: u64,
}

impl ShaderWork {
    /// Returns the amount of each kind of work.
    fn kinds(&self) -> [(Work, u64); 5] {
        [
            (Work::Warp, self.warps),
            (Work::WarpInstruction, self.instructions),
            (Work::Texel, self.texels),
            (Work::LaneAccess, self.accesses),
            (Work::Copy16, self.cleared),
        ]
    }

    /// Returns the cost in budget units.
    #[inline]
    pub fn units(&self) -> u64 {
        self.kinds().iter().fold(0, |units, (work, count)| units.saturating_add(count * work.price()))
    }

    /// Charges the work to `budget`.
    pub fn settle(&self, budget: &mut Budget) {
        self.kinds().into_iter().for_each(|(work, count)| budget.settle(work, count));
    }

    /// Adds later work.
    pub fn add(&mut self, later: &Self) {
        self.warps += later.warps;
        self.instructions += later.instructions;
        self.compiled += later.compiled;
        self.texels += later.texels;
        self.accesses += later.accesses;
        self.cleared += later.cleared;
    }
}

impl ShaderLog {
    /// Returns whether the log contains only work and accesses outside of inputs.
    pub fn is_quiet(&self) -> bool {
        self.missing.is_empty()
            && self.lost_pages.is_empty()
            && self.unsupported.is_empty()
            && self.fault.is_none()
    }

    /// Returns the work, and the log itself if it contains anything else. Most logs do not, and there are many.
    pub fn split(self) -> (ShaderWork, Option<Box<Self>>) {
        let is_work_alone = self.is_quiet()
            && self.outside_inputs.is_empty()
            && self.rests.is_none()
            && self.chosen.is_none()
            && self.counts.is_empty();
        let work = self.work;
        (work, (!is_work_alone).then(|| Self { work: ShaderWork::default(), ..self }.into()))
    }

    /// Appends a later log.
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

    /// Records a store to a page outside of all buffers.
    pub fn lose(&mut self, page: u32) {
        if self.lost_pages.len() < MAX_LOST_PAGES {
            self.lost_pages.push(page);
        }
    }
}

/// An access outside the inputs of a geometry or hull shader's primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutsideInputs {
    /// Stage of the shader.
    pub stage: Stage,
    /// Lane of the warp.
    pub lane: usize,
    /// Address of the first byte.
    pub address: u32,
    /// Number of bytes.
    pub len: usize,
    /// Size of the inputs in bytes.
    pub size: usize,
}

impl OutsideInputs {
    /// Converts the access to a fault of draw `draw`.
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
