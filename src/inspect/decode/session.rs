//! The filter between the command processor and the output: it leaves out what the options exclude.

use a4emu_decoder::adreno::address::Address;
use std::io;

use a4emu_decoder::adreno::capture::AddressRecord;
use a4emu_decoder::adreno::packet::Packet;

use super::output::Hold;
use super::sink::{Sink, Submit};
use super::tracker::Tracker;
use crate::selection::{Numbering, Selection, Window};
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::fault::{Place, Severity, Trouble};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Running;

/// Whether command buffers that run once per tile are shown each time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repeats {
    /// Repeated command buffers are shown each time.
    Show,
    /// Repeated command buffers are shown only the first time in a submit.
    Hide,
}

/// An observer that passes the selected part of a run to a sink.
pub struct Session<'a> {
    /// The result of the sink's `lists_packets`, cached since each register write needs it.
    lists_packets: bool,
    sink: Box<dyn Sink + 'a>,
    selection: Selection,
    /// Ends the run after the selection.
    window: Window,
    repeats: Repeats,
    tracker: Tracker,
    /// The process, as the capture names it.
    command: String,
    /// The submit, until a command of it is shown.
    heading: Option<Submit>,
    /// Whether the executing packet is passed to the sink.
    shown: bool,
    error: io::Result<()>,
}

impl<'a> Session<'a> {
    /// Makes a session that passes `selection` to `sink`.
    pub fn new(sink: Box<dyn Sink + 'a>, selection: Selection, repeats: Repeats) -> Self {
        Self {
            lists_packets: sink.lists_packets(),
            sink,
            selection,
            window: Window::new(selection, None),
            repeats,
            tracker: Tracker::default(),
            command: String::new(),
            heading: None,
            shown: false,
            error: Ok(()),
        }
    }

    /// Writes the buffered output after the run on `gpu`.
    ///
    /// # Errors
    /// The call fails if output could not be written, or if nothing was in the selection.
    pub fn finish(mut self, gpu: &Gpu) -> anyhow::Result<()> {
        if self.holds() {
            self.put(|sink| sink.hold(Hold::Drop));
        }
        self.error?;
        self.sink.finish()?;
        Ok(self.window.finish(gpu)?)
    }

    /// Calls the sink, unless it has failed before. The run goes on for its exit status.
    fn put(&mut self, put: impl FnOnce(&mut (dyn Sink + 'a)) -> io::Result<()>) {
        if self.error.is_ok()
            && let Err(error) = put(&mut *self.sink)
        {
            self.error = Err(error);
        }
    }

    /// Whether output is held until its draw runs. Only then is the number of the frame draw known.
    fn holds(&self) -> bool {
        self.selection.draw.is_some_and(|draws| draws.numbering == Numbering::Frame)
    }

    fn shows(&self, at: &Place) -> bool {
        let runs = self.selection.draw.filter(|draws| draws.numbering == Numbering::Execution);
        self.selection.has_submit(at.submit)
            && runs.is_none_or(|draws| draws.contains(at.draws, at.frame_draw))
            && !(at.repeated && self.repeats == Repeats::Hide)
    }

    /// Passes the heading of the submit before its first shown command.
    fn put_heading(&mut self) {
        if let Some(submit) = self.heading.take() {
            self.put(|sink| sink.submit(&submit));
            self.heading = self.holds().then_some(submit);
        }
    }

    fn hold(&mut self) {
        self.put(|sink| sink.hold(Hold::Begin));
        self.put_heading();
    }
}

impl Observer for Session<'_> {
    fn chip(&mut self, gpu: &mut Running<'_>) {
        // A chip of another generation may have no number.
        if gpu.chip.id != 0 {
            self.put(|sink| sink.gpu(gpu.chip.id));
        }
    }

    fn process(&mut self, command: &str) {
        command.clone_into(&mut self.command);
    }

    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        if self.window.submit(gpu, address, dwords) == Flow::Stop {
            return Flow::Stop;
        }
        let submit = Submit { index: gpu.at.submit, command: self.command.clone(), address, dwords };
        self.heading = self.selection.has_submit(submit.index).then_some(submit);
        if self.holds() {
            self.put(|sink| sink.hold(Hold::Drop));
            self.hold();
        } else if self.selection.draw.is_none() {
            self.put_heading();
        }
        Flow::Continue
    }

    fn reads_container(&self) -> bool {
        self.sink.reads_container()
    }

    fn passed_over(&mut self, gpu: &mut Running<'_>, submit: AddressRecord) {
        let (address, dwords) = (Address::new(submit.address), submit.length);
        let submit = Submit { index: gpu.at.submit, command: self.command.clone(), address, dwords };
        self.put(|sink| sink.submit(&submit));
    }

    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        self.window.submitted(gpu)
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        self.sink.pay(&gpu.budget);
        let shown = self.shows(&gpu.at);
        if shown && !self.holds() {
            self.put_heading();
        }
        self.shown = shown && self.lists_packets;
        if self.shown {
            self.put(|sink| sink.packet(gpu, packet));
        }
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, old: Option<u32>) {
        self.tracker.write(offset, old);
        if self.shown {
            self.put(|sink| sink.register(gpu, offset));
        }
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        if self.shown {
            self.put(|sink| sink.load(gpu, &load));
            self.sink.pay(&gpu.budget);
        }
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if self.window.call(gpu, call) == Flow::Stop {
            return Flow::Stop;
        }
        if self.shows(&gpu.at) {
            if self.selection.draw.is_some() && self.selection.has(call) {
                self.put(|sink| sink.in_effect(gpu.sync(), call));
            }
            if self.error.is_ok() {
                self.error = self.sink.call(gpu, call, &self.tracker);
            }
            self.sink.pay(&gpu.budget);
        }
        self.tracker.next_draw();
        if self.holds() {
            let keep = self.selection.has(call);
            self.put(|sink| sink.hold(if keep { Hold::Keep } else { Hold::Drop }));
            self.heading.take_if(|_| keep);
            self.hold();
        }
        Flow::Continue
    }

    fn trouble(&mut self, gpu: &mut Running<'_>, trouble: &Trouble) {
        if trouble.severity() != Severity::Warning {
            self.put(|sink| sink.trouble(gpu, trouble));
        }
    }
}
