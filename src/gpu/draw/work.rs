//! The work of shaders: what the emulator ran, and what the chip runs.

use crate::budget::{Budget, Work};
use crate::machine::Stage;
use a4emu_shader::{InstructionClass, InstructionCount};
use serde::Serialize;

use super::gs::cost::Cost;
use super::gs::dispatch::Choice;
use super::sp::used::UsedBuffers;

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
    /// 16 bytes of a shader's own memory cleared, or the time that this takes.
    pub cleared: u64,
    /// Lanes started, without helper lanes. Not charged.
    pub lanes: u64,
    /// Samples that passed depth and stencil: `pixels` of `Stats`. Not charged.
    pub samples: u64,
    /// Instructions by class, with those of the warps that did not run. Counted only with counts of instructions.
    pub classes: [u64; InstructionClass::COUNT],
    /// Warps that did not run, because their results are known. Not charged.
    pub known: KnownWarps,
}

/// Warps that the chip runs and the emulator does not, because their results are known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct KnownWarps {
    /// Warps.
    pub warps: u64,
    /// Their instructions.
    pub instructions: u64,
    /// Their lanes, without helper lanes.
    pub lanes: u64,
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
        self.lanes += later.lanes;
        self.samples += later.samples;
        self.classes.iter_mut().zip(later.classes).for_each(|(all, more)| *all += more);
        self.known.warps += later.known.warps;
        self.known.instructions += later.known.instructions;
        self.known.lanes += later.known.lanes;
    }

    /// Returns the work of the chip: this work, and that of the warps with known results.
    #[must_use]
    pub fn of_chip(&self) -> Self {
        let KnownWarps { warps, instructions, lanes, .. } = self.known;
        let known = KnownWarps::default();
        let mut all = Self { known, ..*self };
        all.add(&Self { warps, instructions, lanes, ..Self::default() });
        all
    }
}

/// What each warp of a program runs that has the same results in all warps.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct KnownRun {
    /// Number of instructions.
    pub instructions: u64,
    /// Execution counts of each instruction in one warp, empty unless enabled.
    pub counts: Vec<InstructionCount>,
}

/// What the chip runs to make the primitives of a draw.
#[derive(Clone, Debug, Default)]
pub struct Geometry {
    /// Vertices shaded.
    pub vertices: u64,
    /// Primitives that reached the rasteriser.
    pub primitives: u64,
    /// Work of the vertex shader.
    pub work: ShaderWork,
    /// Execution count of each instruction, empty unless enabled.
    pub counts: Vec<InstructionCount>,
    /// What the stages behind the vertex shader run, if there are any.
    pub later: Option<Box<LaterStages>>,
}

/// Cost of tessellation so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct TessellationCost {
    /// Number of patches.
    pub patches: u64,
    /// Number of patches without points.
    pub culled: u64,
    /// Number of domain points.
    pub points: u64,
    /// Number of output points, lines and triangles.
    pub primitives: u64,
}

impl TessellationCost {
    /// Adds the cost of a later draw.
    pub fn add(&mut self, later: &Self) {
        self.patches += later.patches;
        self.culled += later.culled;
        self.points += later.points;
        self.primitives += later.primitives;
    }
}

/// What the stages between vertex shader and set-up ran for a draw.
#[derive(Clone, Debug, Default)]
pub struct LaterStages {
    /// The work of each stage that ran.
    pub work: Vec<(Stage, ShaderWork)>,
    /// Cost of tessellation.
    pub tessellation: TessellationCost,
    /// Assignment of the geometry shader's invocations to lanes, with its cost.
    pub dispatch: Option<(Choice, Cost)>,
    /// Base addresses of the buffers that hull and domain shader used.
    pub buffers: Vec<u64>,
    /// Base addresses of those that the hull shader stored to.
    pub written: Vec<u64>,
    /// Whether a second run could do something else, or has something to report.
    pub is_single: bool,
}

impl LaterStages {
    /// Adds the work of the next stage, and the buffers that it used.
    pub fn add(&mut self, stage: Stage, work: ShaderWork, buffers: &UsedBuffers) {
        let UsedBuffers { read, written, has_others } = buffers;
        self.work.push((stage, work));
        self.buffers.extend(read.iter().chain(written));
        let reads_its_stores = read.iter().any(|base| written.contains(base));
        let stores_late = stage != Stage::HS && !written.is_empty();
        self.written.extend(written);
        self.is_single |= *has_others || reads_its_stores || stores_late;
    }
}

impl Geometry {
    /// Adds a later part of the draw.
    pub fn add(&mut self, later: &Self) {
        self.vertices += later.vertices;
        self.primitives += later.primitives;
        self.work.add(&later.work);
        InstructionCount::merge(&mut self.counts, &later.counts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
}
