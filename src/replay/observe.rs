//! Observers of `replay`: the list of draws, the state file, and the frame of `--loop`.

use a4emu_decoder::adreno::address::Address;
use std::io::{self, Write};

use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::gpu::{Chip, Gpu};
use a4emu_gpu::settled::Running;
use a4emu_inspect::golden::{Record, RecordText, Recorder, Sink, call_text, header};
use a4emu_inspect::selection::Selection;

/// `--list-draws`: writes a line for each draw and dispatch.
pub struct Listing<W> {
    out: W,
    selection: Selection,
    error: Option<io::Error>,
}

impl<W: Write> Listing<W> {
    /// Makes a listing of `selection` into `out`.
    pub fn new(out: W, selection: Selection) -> Self {
        Self { out, selection, error: None }
    }

    /// Writes the buffered output.
    ///
    /// # Errors
    /// The call fails with the first write error of the listing.
    pub fn finish(mut self) -> io::Result<()> {
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }
}

impl<W: Write> Observer for Listing<W> {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        let (number, frame_draw, submit) = (call.number(), call.frame_draw(), call.submit());
        if self.error.is_none() && self.selection.has(call) {
            let text = call_text(call);
            gpu.budget.observe(Work::Text16, text.len().div_ceil(16) as u64 + 2);
            self.error = writeln!(self.out, "draw {number} f{frame_draw} submit {submit} {text}").err();
        }
        Flow::Continue
    }
}

/// `--state`: writes records as text.
pub struct StateFile<W> {
    out: W,
    selection: Selection,
    begun: bool,
    error: Option<io::Error>,
}

impl<W: Write> StateFile<W> {
    /// Makes a state file of `selection` into `out`.
    pub fn new(out: W, selection: Selection) -> Self {
        Self { out, selection, begun: false, error: None }
    }

    /// Returns the output.
    ///
    /// # Errors
    /// The call fails with the first write error.
    pub fn finish(self) -> io::Result<W> {
        self.error.map_or(Ok(self.out), Err)
    }

    fn write(&mut self, chip: Chip, record: &Record) -> io::Result<()> {
        if !self.begun {
            self.begun = true;
            self.out.write_all(header(chip).as_bytes())?;
        }
        write!(self.out, "{}", RecordText { record, registers: chip.generation().registers })
    }
}

impl<W: Write> Sink for StateFile<W> {
    fn record(&mut self, gpu: &Gpu, record: Record) {
        let shown = self.selection.contains(record.submit, record.number, record.frame_draw);
        if self.error.is_none() && (record.is_end() || shown) {
            self.error = self.write(gpu.chip, &record).err();
        }
    }
}

/// Records only the whole state at the end.
pub struct AtEnd<'a, S>(pub &'a mut Recorder<S>);

impl<S: Sink> Observer for AtEnd<'_, S> {
    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, old: Option<u32>) {
        self.0.register(gpu, offset, old);
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        self.0.load(gpu, load);
    }
}

/// A submit that was executed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Submit {
    /// Number of the submit.
    pub index: u32,
    /// Address of its first command buffer.
    pub address: Address,
    /// Length of its first command buffer.
    pub dwords: u32,
    /// Number of draws and dispatches in it.
    pub draws: u32,
    /// Number of groups of buffers announced before it.
    pub group: u32,
}

/// An observer that records the submits.
#[derive(Default)]
pub struct Submits(Vec<Submit>);

impl Submits {
    /// Number of executed submits.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// All submits of the last group in which a submit drew. The driver passed them to the kernel in one
    /// call.
    pub fn last_that_drew(&self) -> Vec<Submit> {
        let last = self.0.iter().rev().find(|submit| submit.draws > 0);
        let group = last.map(|submit| submit.group);
        self.0.iter().filter(|submit| Some(submit.group) == group).copied().collect()
    }
}

impl Observer for Submits {
    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        let (index, group) = (gpu.at.submit, gpu.group());
        if gpu.budget.keep(2 * size_of::<Submit>() as u64) {
            self.0.push(Submit { index, address, dwords, draws: 0, group });
        }
        Flow::Continue
    }

    fn call(&mut self, gpu: &mut Running<'_>, _: &Call) -> Flow {
        if let Some(submit) = self.0.last_mut().filter(|submit| submit.index == gpu.at.submit) {
            submit.draws += 1;
        }
        Flow::Continue
    }
}
