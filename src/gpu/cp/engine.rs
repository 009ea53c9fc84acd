//! Engines, which run or skip draws and dispatches.

use a4emu_decoder::adreno::address::Address;
use std::collections::BTreeMap;

use a4emu_decoder::a4xx::regs::rb::{RB_COPY_DEST_BASE, RB_DEPTH_INFO, RB_MRT_BASE, TARGETS};
use a4emu_decoder::a4xx::regs::vpc::{VPC_SO_BUFFER_BASE, VPC_SO_BUFFER_SIZE};

use super::observer::BlitCall;
use super::{Call, Flow};
use crate::a6xx::blit::Blit;
use crate::budget::Work;
use crate::draw;
use crate::fault::Trouble;
use crate::gpu::Gpu;
use crate::machine::SsboState;
use crate::pass::Pass;

/// Stream-out buffers.
const STREAM_OUT_BUFFERS: u32 = 4;

/// The surfaces of a blit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surfaces {
    /// Two in memory (CP_BLIT). `None` if what it does is not supported.
    Memory(Option<Blit>),
    /// One of them in tile memory (the event BLIT).
    TileMemory,
}

/// Runs the draws, dispatches and blits of the command processor.
pub trait Engine {
    /// Runs `call`, or skips it.
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow;

    /// Whether a skipped draw may have written to `address`.
    fn is_stale(&self, address: Address) -> bool {
        let _ = address;
        false
    }

    /// Marks the `bytes` at `address` as stale. They were stored from a value that draws change, such as a
    /// counter.
    fn mark_stale(&mut self, address: Address, bytes: u32) {
        let _ = (address, bytes);
    }
}

/// Runs every draw, dispatch and blit. Draws of a chip that does not render are left out, and reported.
#[derive(Clone, Copy, Debug, Default)]
pub struct Renderer;

impl Engine for Renderer {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        match call {
            Call::Draw(_) | Call::Uncounted(_) if !gpu.chip.renders() => not_rendered(gpu, "draws"),
            Call::Draw(call) => draw::run(&mut gpu.draws(), call),
            Call::Dispatch(call) => draw::dispatch(&mut gpu.draws(), call),
            Call::Uncounted(call) => gpu.machine.unsupported(call.packet),
            Call::Blit(BlitCall { between: Surfaces::Memory(Some(blit)), .. }) => blit.run(gpu),
            Call::Blit(_) => not_rendered(gpu, "blits"),
        }
        Flow::Continue
    }
}

/// Reports that the chip does not run `what` yet.
fn not_rendered(gpu: &mut Gpu, what: &str) {
    let what = format!("{what} of an Adreno {} are not rendered yet", gpu.chip.id);
    gpu.machine.report.troubles.note(Trouble::NotRendered(what), gpu.machine.at);
}

/// Skips every draw, dispatch and blit, and remembers which buffers they could have written. Packets that read
/// there get the contents of the capture, not what the chip would see.
#[derive(Clone, Debug, Default)]
pub struct Skip {
    /// Ends (exclusive) of stale ranges, by their start.
    stale: BTreeMap<Address, Address>,
    /// Whether a draw or dispatch has been skipped.
    skipped: bool,
}

impl Skip {
    /// Marks the buffer that holds `address` as stale. Which part a draw writes is not known.
    fn buffer(&mut self, gpu: &Gpu, address: impl Into<Address>) {
        let address = address.into();
        if address == Address::default() || self.is_stale(address) {
            return;
        }
        if let Some((base, len)) = gpu.mem.buffer_at(address) {
            self.range(base, len);
        }
    }

    fn range(&mut self, base: Address, len: u32) {
        let end = self.stale.entry(base).or_default();
        *end = (*end).max(base + len.into());
    }

    fn targets(&mut self, gpu: &Gpu, pass: Pass) {
        match pass {
            Pass::Resolve => self.buffer(gpu, gpu.regs.get::<RB_COPY_DEST_BASE>().BASE()),
            Pass::Bypass => {
                (0..TARGETS).for_each(|i| self.buffer(gpu, gpu.regs.at::<RB_MRT_BASE>(i).VALUE()));
                self.buffer(gpu, gpu.regs.get::<RB_DEPTH_INFO>().DEPTH_BASE());
            }
            Pass::Binning | Pass::Gmem | Pass::Restore => {}
        }
    }

    fn stream_out(&mut self, gpu: &mut Gpu) {
        for i in 0..STREAM_OUT_BUFFERS {
            let (base, size) =
                (gpu.regs.at::<VPC_SO_BUFFER_BASE>(i).VALUE(), gpu.regs.at::<VPC_SO_BUFFER_SIZE>(i).VALUE());
            self.buffer(gpu, base);
            if base != 0 && size != 0 {
                let what =
                    "skipped draws would have moved VPC_SO.BUFFER_OFFSET on; it is as packets wrote it";
                gpu.machine.report.troubles.note(Trouble::Stale(what.to_owned()), gpu.machine.at);
            }
        }
    }

    fn ssbos(&mut self, gpu: &Gpu, ssbos: &SsboState) {
        let addresses = ssbos.addresses.iter().map(|[address, _]| *address);
        let bases = ssbos.descriptors.iter().map(|[base, ..]| *base);
        addresses.chain(bases).filter(|address| *address != 0).for_each(|address| self.buffer(gpu, address));
    }
}

impl Engine for Skip {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        self.skipped = true;
        gpu.budget.charge_later(Work::Packet, 2);
        if !gpu.chip.renders() {
            super::a6xx::written(gpu).for_each(|address| self.buffer(gpu, address));
            return Flow::Continue;
        }
        match call.pass() {
            Some(pass) => {
                self.targets(gpu, pass);
                self.stream_out(gpu);
                self.ssbos(gpu, &gpu.loaded.ssbo_3d);
            }
            None => self.ssbos(gpu, &gpu.loaded.ssbo_compute),
        }
        Flow::Continue
    }

    fn is_stale(&self, address: Address) -> bool {
        self.stale.range(..=address).next_back().is_some_and(|(_, end)| *end > address)
    }

    fn mark_stale(&mut self, address: Address, bytes: u32) {
        if self.skipped {
            self.range(address, bytes);
        }
    }
}
