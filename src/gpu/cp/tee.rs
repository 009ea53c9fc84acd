//! Distribution of events to several observers.

use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::capture::AddressRecord;
use a4emu_decoder::adreno::packet::Packet;

use super::observer::{Announced, Load};
use super::{Call, Flow, Observer};
use crate::fault::Trouble;
use crate::settled::Running;

/// Shows everything to each of its observers, in order. The first observer that stops the run ends the
/// distribution; later ones do not see that call.
#[derive(Default)]
pub struct Tee<'a>(pub Vec<&'a mut dyn Observer>);

impl Tee<'_> {
    fn all(&mut self, show: impl FnMut(&mut &mut dyn Observer)) {
        self.0.iter_mut().for_each(show);
    }

    fn until_stop(&mut self, mut show: impl FnMut(&mut dyn Observer) -> Flow) -> Flow {
        let stops = self.0.iter_mut().any(|observer| show(*observer) == Flow::Stop);
        if stops { Flow::Stop } else { Flow::Continue }
    }
}

impl Observer for Tee<'_> {
    fn chip(&mut self, gpu: &mut Running<'_>) {
        self.all(|observer| observer.chip(gpu));
    }

    fn process(&mut self, command: &str) {
        self.all(|observer| observer.process(command));
    }

    fn buffer(&mut self, gpu: &mut Running<'_>, buffer: Announced) {
        self.all(|observer| observer.buffer(gpu, buffer));
    }

    fn submit(&mut self, gpu: &mut Running<'_>, address: Address, dwords: u32) -> Flow {
        self.until_stop(|observer| observer.submit(gpu, address, dwords))
    }

    fn devcore(&mut self, text: &str) {
        self.all(|observer| observer.devcore(text));
    }

    fn hang(&mut self, gpu: &mut Running<'_>) {
        self.all(|observer| observer.hang(gpu));
    }

    fn passed_over(&mut self, gpu: &mut Running<'_>, submit: AddressRecord) {
        self.all(|observer| observer.passed_over(gpu, submit));
    }

    fn reads_container(&self) -> bool {
        self.0.iter().any(|observer| observer.reads_container())
    }

    /// Shows it to all observers, also after one stops the run, as the submit is over.
    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        let mut flow = Flow::Continue;
        self.all(|observer| {
            if observer.submitted(gpu) == Flow::Stop {
                flow = Flow::Stop;
            }
        });
        flow
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        self.all(|observer| observer.packet(gpu, packet));
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, old: Option<u32>) {
        self.all(|observer| observer.register(gpu, offset, old));
    }

    fn store(&mut self, gpu: &mut Running<'_>, address: Address, bytes: &[u8]) {
        self.all(|observer| observer.store(gpu, address, bytes));
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        self.all(|observer| observer.load(gpu, load));
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        self.until_stop(|observer| observer.call(gpu, call))
    }

    fn trouble(&mut self, gpu: &mut Running<'_>, trouble: &Trouble) {
        self.all(|observer| observer.trouble(gpu, trouble));
    }
}
