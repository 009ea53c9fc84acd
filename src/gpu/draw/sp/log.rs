//! Logs of shaders: work and faults, collected where shared state must not be written.

use a4emu_decoder::adreno::address::Address;

use super::used::UsedBuffers;
use crate::draw::work::ShaderWork;
use crate::fault::{Fault, Missing};
use crate::fidelity::Rests;
use crate::machine::Stage;
use crate::memory::{Memory, PAGE};
use a4emu_shader::{Chosen, InstructionCount, ShaderFault};

/// Maximum number of things that are noted as not supported. Registers may name any number of descriptors.
const MAX_UNSUPPORTED: usize = 64;
/// Maximum number of recorded pages of invalid stores.
const MAX_LOST_PAGES: usize = 64;

/// Side results of the warps of one stage of a draw or dispatch.
#[derive(Default)]
pub struct ShaderLog {
    /// Reads of missing memory.
    pub missing: Missing,
    /// First pages of stores outside of all buffers.
    pub lost_pages: Vec<Address>,
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
    /// Buffers that it used, for hull and domain shaders.
    pub buffers: UsedBuffers,
    /// Work of the shader.
    pub work: ShaderWork,
    /// Execution count of each instruction, empty unless enabled.
    pub counts: Vec<InstructionCount>,
}

impl ShaderLog {
    /// Returns whether the log contains only work and accesses outside of inputs.
    pub fn is_quiet(&self) -> bool {
        self.missing.is_empty()
            && self.lost_pages.is_empty()
            && self.unsupported.is_empty()
            && self.fault.is_none()
    }

    /// Returns whether the log contains nothing that has to be reported.
    pub fn is_silent(&self) -> bool {
        self.is_quiet() && self.outside_inputs.is_empty() && self.rests.is_none() && self.chosen.is_none()
    }

    /// Returns the work, and the log itself if it contains anything else. Most logs do not, and there are many.
    pub fn split(self) -> (ShaderWork, Option<Box<Self>>) {
        let is_work_alone = self.is_silent() && self.counts.is_empty();
        let work = self.work;
        (work, (!is_work_alone).then(|| Self { work: ShaderWork::default(), ..self }.into()))
    }

    /// Appends a later log.
    pub fn append(&mut self, later: Self) {
        self.missing.extend(later.missing.iter());
        later.lost_pages.into_iter().for_each(|page| self.lose(page));
        later.unsupported.into_iter().for_each(|what| self.refuse(what));
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
        self.buffers.append(&later.buffers);
        self.work.add(&later.work);
        if !later.counts.is_empty() {
            InstructionCount::merge(&mut self.counts, &later.counts);
        }
    }

    /// Notes that `what` is not supported. The same is noted once, and no more than some.
    pub fn refuse(&mut self, what: String) {
        if self.unsupported.len() < MAX_UNSUPPORTED && !self.unsupported.contains(&what) {
            self.unsupported.push(what);
        }
    }

    /// Stores `bytes` at `address`. Records the first page of a store outside of all buffers.
    pub fn store(&mut self, memory: &mut Memory, address: u64, bytes: &[u8]) {
        if !memory.write(Address::new(address), bytes) {
            self.lose(Address::new(address - address % u64::from(PAGE)));
        }
    }

    /// Records a store to a page outside of all buffers.
    pub fn lose(&mut self, page: Address) {
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
    fn what_is_not_supported_is_not_kept_without_end() {
        let mut log = ShaderLog::default();
        (0..1000).for_each(|descriptor| log.refuse(format!("CS image {descriptor}")));
        assert_eq!(log.unsupported.len(), MAX_UNSUPPORTED);
    }

    #[test]
    fn stores_to_nowhere_are_not_kept_without_end() {
        let mut log = ShaderLog::default();
        for page in 0..1000 {
            let mut later = ShaderLog::default();
            later.lose((page << 12).into());
            log.append(later);
        }
        assert_eq!(log.lost_pages.len(), MAX_LOST_PAGES);
    }
}
