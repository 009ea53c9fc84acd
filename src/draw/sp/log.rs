//! What shaders have to say while they run, collected where nobody else may write.

use crate::fault::{Fault, Miss};
use crate::gpu::Stage;

/// Warp instructions that a stage may run for a draw or dispatch, where they are counted in one
/// place: seconds of work.
pub const MAX_INSTRUCTIONS: u64 = 1 << 29;

/// What shaders reported while they ran.
#[derive(Default)]
pub struct Reports {
    /// Reads that found nothing.
    pub misses: Vec<Miss>,
    /// Pages of stores to nowhere.
    pub lost: Vec<u32>,
    /// What is not supported.
    pub unsupported: Vec<String>,
    /// Why a shader gave up.
    pub fault: Option<Fault>,
    /// Accesses outside the local vertex buffer: the first of each lane, of one warp.
    pub strays: Vec<Stray>,
    /// Warps run.
    pub warps: u64,
    /// Warp instructions run.
    pub instructions: u64,
}

impl Reports {
    /// Whether there is nothing to say but what it took, and what lanes read outside the
    /// local vertex buffer.
    pub fn is_quiet(&self) -> bool {
        self.misses.is_empty() && self.lost.is_empty() && self.unsupported.is_empty() && self.fault.is_none()
    }

    /// Adds what came later.
    pub fn append(&mut self, later: Self) {
        self.misses.extend(later.misses);
        self.lost.extend(later.lost);
        self.unsupported.extend(later.unsupported);
        self.fault = self.fault.take().or(later.fault);
        if self.strays.is_empty() {
            self.strays = later.strays;
        }
        self.warps += later.warps;
        self.instructions += later.instructions;
    }

    /// Makes it a fault to have run more than `limit` warp instructions, so that a shader that
    /// loops long for many lanes is cut off like one that never ends.
    pub fn enforce(&mut self, limit: u64) {
        if self.instructions > limit && self.fault.is_none() {
            let ran = self.instructions;
            self.fault = Some(Fault::Shader(format!("stage cut off after {ran} warp instructions")));
        }
    }
}

/// An access outside the local vertex buffer of a geometry or hull shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stray {
    /// Whose shader.
    pub stage: Stage,
    /// In which lane.
    pub lane: usize,
    /// First byte.
    pub address: u32,
    /// Bytes.
    pub len: usize,
    /// Bytes that the buffer has.
    pub size: usize,
}

impl Stray {
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
        let mut reports = Reports { instructions: 5, ..Reports::default() };
        reports.enforce(5);
        assert_eq!(reports.fault, None);
        reports.enforce(4);
        let cut = Some(Fault::Shader("stage cut off after 5 warp instructions".into()));
        assert_eq!(reports.fault, cut);
        reports.instructions = 9;
        reports.enforce(4);
        assert_eq!(reports.fault, cut);
    }
}
