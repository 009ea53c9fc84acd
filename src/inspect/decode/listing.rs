//! The listing of packets, for callers that pass packets one by one.

use std::io;

use a4emu_decoder::adreno::packet::Packet;

use super::jsonl::Shaders;
use super::output::Output;
use super::sink::Sink;
use super::text::{Detail, Text};
use a4emu_gpu::cp::observer::Load;
use a4emu_gpu::gpu::Gpu;

/// The lines that `decode` prints, without colour. The first write error ends the output and is kept.
pub struct Listing<'a> {
    text: Text<'a>,
    error: io::Result<()>,
}

impl<'a> Listing<'a> {
    /// Makes a listing into `out`.
    pub fn plain(out: Output<'a>) -> Self {
        Self { text: Text::new(out, Detail::Full, Shaders::Hide), error: Ok(()) }
    }

    /// Lists `packet`, which is about to execute. The text before it is charged to the budget.
    pub fn packet(&mut self, gpu: &Gpu, packet: &Packet<'_>) {
        self.text.pay(&gpu.budget);
        self.put(|text| text.packet(gpu, packet));
    }

    /// Lists the write of the register at `offset` by the packet.
    pub fn register(&mut self, gpu: &Gpu, offset: u32) {
        self.put(|text| text.register(gpu, offset));
    }

    /// Lists the state that the packet loaded.
    pub fn load(&mut self, gpu: &Gpu, load: &Load<'_>) {
        self.put(|text| text.load(gpu, load));
        self.text.pay(&gpu.budget);
    }

    /// Writes the buffered output.
    ///
    /// # Errors
    /// The call fails with the first write error of the listing.
    pub fn finish(self) -> io::Result<()> {
        self.error.and_then(|()| Box::new(self.text).finish())
    }

    fn put(&mut self, put: impl FnOnce(&mut Text<'a>) -> io::Result<()>) {
        if self.error.is_ok() {
            self.error = put(&mut self.text);
        }
    }
}
