//! Events that write memory or use counters. Flush events do nothing, as the chip is in-order.

use a4emu_decoder::a4xx::enums::VgtEventType;
use a4emu_decoder::a4xx::pm4::CP_EVENT_WRITE_0;
use a4emu_decoder::a4xx::regs::rb::RB_SAMPLE_COUNT_CONTROL;

use super::Cp;
use crate::fault::Client;

/// Bytes of a sample count record: 16 counters of 64 bits. Drivers read the first one
/// (docs/hardware/command-processor.md, section 10).
const SAMPLE_RECORD: usize = 128;

impl Cp<'_> {
    /// Runs an event packet. `write` is the address and value of the long form.
    pub(super) fn event(&mut self, event: CP_EVENT_WRITE_0, write: Option<(u32, u32)>) {
        match event.EVENT() {
            VgtEventType::ZPASS_DONE => self.write_sample_count(),
            VgtEventType::RST_PIX_CNT => {
                self.gpu.settle();
                self.gpu.counters.samples_passed = 0;
            }
            _ => {}
        }
        if let Some((address, value)) = write {
            let value = if event.TIMESTAMP() { self.stamp() } else { value };
            self.store(address, &value.to_le_bytes());
        }
    }

    fn stamp(&mut self) -> u32 {
        self.gpu.counters.stamps = self.gpu.counters.stamps.wrapping_add(1);
        self.gpu.counters.stamps
    }

    /// ZPASS_DONE with RB_SAMPLE_COUNT_CONTROL.COPY: writes the counter to the first slot and zeros to the
    /// others.
    fn write_sample_count(&mut self) {
        let control = self.gpu.regs.get::<RB_SAMPLE_COUNT_CONTROL>();
        if !control.COPY() {
            return;
        }
        self.gpu.settle();
        let mut record = [0; SAMPLE_RECORD];
        record[..8].copy_from_slice(&self.gpu.counters.samples_passed.to_le_bytes());
        self.store_for(Client::Query, control.ADDR(), &record);
        self.engine.mark_stale(control.ADDR().into(), SAMPLE_RECORD as u32);
    }
}
