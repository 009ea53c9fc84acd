//! The trait that all output formats implement.

use a4emu_decoder::adreno::address::Address;
use std::io;

use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::adreno::packet::Packet;

use super::output::Hold;
use super::tracker::Tracker;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::Call;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Synced;

/// A submit of the capture.
#[derive(Clone, Debug)]
pub struct Submit {
    /// Number of the submit, from 0 over the capture.
    pub index: u32,
    /// The process, as the capture names it, e.g. `glxgears/23375: fence=7`.
    pub command: String,
    /// Address of its command buffer.
    pub address: Address,
    /// Length of its command buffer.
    pub dwords: u32,
}

impl Submit {
    /// The name of the process alone.
    pub fn comm(&self) -> &str {
        comm(&self.command)
    }
}

/// The name of the process in the `command` of a capture.
pub fn comm(command: &str) -> &str {
    command.rsplit_once('/').map_or(command, |(comm, _)| comm)
}

/// An output format. Calls come in execution order, already filtered, and `gpu.at` is the place. A format
/// ignores what it does not show.
pub trait Sink {
    /// Whether the format has lines for packets, register writes and loads. Otherwise it is not called for
    /// them.
    fn lists_packets(&self) -> bool;
    /// Whether the format lists the submits of a capture of another generation, which do not run.
    fn reads_container(&self) -> bool {
        false
    }
    /// Charges `budget` for the text since the last call.
    fn pay(&mut self, budget: &Budget);
    /// Begins to hold output, or decides whether the held output is kept.
    fn hold(&mut self, hold: Hold) -> io::Result<()>;
    /// The chip that the capture names.
    fn gpu(&mut self, id: u32) -> io::Result<()> {
        let _ = id;
        Ok(())
    }
    /// A submit begins.
    fn submit(&mut self, submit: &Submit) -> io::Result<()> {
        let _ = submit;
        Ok(())
    }
    /// A packet is about to execute.
    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) -> io::Result<()> {
        let _ = (gpu, packet);
        Ok(())
    }
    /// The packet has written the register at `offset`.
    fn register(&mut self, gpu: &Gpu, offset: u32) -> io::Result<()> {
        let _ = (gpu, offset);
        Ok(())
    }
    /// The packet has loaded state.
    fn load(&mut self, gpu: &Gpu, load: &Load<'_>) -> io::Result<()> {
        let _ = (gpu, load);
        Ok(())
    }
    /// Shows the state that a selected draw or dispatch uses, whenever it was set.
    fn in_effect(&mut self, gpu: Synced<'_>, call: &Call) -> io::Result<()> {
        let _ = (gpu, call);
        Ok(())
    }
    /// The packet is a draw or a dispatch.
    fn call(&mut self, gpu: &Gpu, call: &Call, tracker: &Tracker) -> io::Result<()>;
    /// Reports a problem.
    fn trouble(&mut self, gpu: &Gpu, trouble: &Trouble) -> io::Result<()> {
        let _ = (gpu, trouble);
        Ok(())
    }
    /// Ends the output.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// The instructions of a program without its padding: up to the last one that is not zero.
pub fn instructions<'a>(load: &Load<'a>) -> impl Iterator<Item = Code> + use<'a> {
    let (words, _) = load.data.as_chunks();
    let shown = words.iter().rposition(|word| *word != [0; 2]).map_or(0, |last| last + 1);
    let (len, isa) = (words.len(), load.generation.isa());
    words[..shown].iter().enumerate().map(move |(index, &[lo, hi])| Code { index, hi, lo, len, isa })
}

/// An instruction of a program.
#[derive(Clone, Copy, Debug)]
pub struct Code {
    /// Index of the instruction, from 0 at the first one loaded.
    pub index: usize,
    /// The high dword.
    pub hi: u32,
    /// The low dword.
    pub lo: u32,
    /// Number of instructions in the program. Branch targets after its end have no label.
    len: usize,
    /// The generation of the instruction set.
    isa: Isa,
}

impl std::fmt::Display for Code {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let instr = self.isa.decode(u64::from(self.hi) << 32 | u64::from(self.lo));
        instr.in_program(self.index, self.len).fmt(f)
    }
}
