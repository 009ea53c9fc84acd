//! Several observers at once.

use a4emu_decoder::packet::Packet;

use super::observer::Load;
use super::{Call, Flow, Observer};
use crate::gpu::Gpu;

/// Shows everything to each of its observers, in order; the first that wants to skip or
/// stop decides, and those behind it do not see that call.
#[derive(Default)]
pub struct Tee<'a>(pub Vec<&'a mut dyn Observer>);

impl Tee<'_> {
    fn first_objection(&mut self, mut show: impl FnMut(&mut dyn Observer) -> Flow) -> Flow {
        for observer in &mut self.0 {
            let flow = show(*observer);
            if flow != Flow::Continue {
                return flow;
            }
        }
        Flow::Continue
    }
}

impl Observer for Tee<'_> {
    fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>, depth: u32) {
        self.0.iter_mut().for_each(|observer| observer.packet(gpu, packet, depth));
    }

    fn register(&mut self, gpu: &Gpu, offset: u32, old: u32) {
        self.0.iter_mut().for_each(|observer| observer.register(gpu, offset, old));
    }

    fn store(&mut self, gpu: &Gpu, address: u32, bytes: &[u8]) {
        self.0.iter_mut().for_each(|observer| observer.store(gpu, address, bytes));
    }

    fn load(&mut self, gpu: &Gpu, load: Load<'_>) {
        self.0.iter_mut().for_each(|observer| observer.load(gpu, load));
    }

    fn call(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.first_objection(|observer| observer.call(gpu, call))
    }

    fn submit(&mut self, gpu: &mut Gpu, address: u32, dwords: u32) -> Flow {
        self.first_objection(|observer| observer.submit(gpu, address, dwords))
    }
}
