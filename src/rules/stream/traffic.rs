//! Checks F1 to F3 and F5: memory that a draw writes and a later packet or draw of the same batch reads.
//!
//! The exact bytes that a shader stores are unknown; memory only knows when a page changed last. So a page
//! that the command processor also stored to is not checked, and without draws nothing is reported.

use a4emu_decoder::a4xx::enums::VgtEventType;
use a4emu_decoder::a4xx::pm4::{CP_EVENT_WRITE_0, Pm4};
use a4emu_decoder::a4xx::regs::tex::TEX_CONST_4;
use a4emu_decoder::a4xx::regs::uche::UCHE_INVALIDATE1;
use a4emu_decoder::a4xx::regs::vfd::*;
use a4emu_decoder::adreno::load_state::StateSource;
use a4emu_decoder::bits::Register;

use crate::rules::Id;
use crate::state::{Extent, Scene, Violations};
use a4emu_gpu::a4xx;
use a4emu_gpu::draw::{DrawCall, IndexSource};
use a4emu_gpu::fault::Miss;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::memory::{PAGE, Provenance};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;

/// Maximum number of stores of the command processor. If there are more, nothing is checked.
const MAX_STORES: usize = 1024;

/// The writes of this batch's draws, and the flushes since.
#[derive(Default)]
pub struct Traffic {
    /// Memory time at which the last draw began.
    running: Option<u64>,
    /// Memory time of the first draw that wrote since the last completed flush of the caches.
    writes: Option<u64>,
    /// Pages that the command processor stored to.
    stored: Vec<(u32, u32)>,
    /// Ranges that the command processor stored to since the vertex fetch cache was invalidated.
    cp_stores: Vec<Extent>,
    /// Entries of VFD_FETCH whose address was written since the vertex fetch cache was invalidated.
    bound: u32,
    flush_written: bool,
    waited: bool,
    invalidated: bool,
}

impl Traffic {
    /// Called at the next packet or draw: the last draw has finished its writes.
    fn settle(&mut self, gpu: Synced<'_>) {
        let Some(before) = self.running.take().filter(|before| gpu.memory().now() > *before) else { return };
        self.writes.get_or_insert(before);
        (self.flush_written, self.waited, self.invalidated) = Default::default();
    }

    /// Checks a command that is about to execute.
    pub fn command(&mut self, gpu: Synced<'_>, packet: &Pm4<'_>, violations: &mut Violations) {
        self.settle(gpu);
        match packet {
            Pm4::WaitForIdle(_) => self.idle(),
            Pm4::EventWrite(packet) => self.event(packet.event),
            Pm4::DrawIndirect(packet) => self.parameters(gpu, packet.INDIRECT, 16, violations),
            Pm4::DrawIndxIndirect(packet) => self.parameters(gpu, packet.INDIRECT, 20, violations),
            Pm4::LoadState4(packet) => {
                if let StateSource::Memory { address } = packet.source()
                    && let Some(address) = address.narrow()
                    && self.is_fresh(gpu, address, u64::from(packet.dwords()) * 4)
                {
                    violations.report(
                        Id::F3,
                        format!("{:?} at {address:#010x} were written in this batch", packet.kind()),
                    );
                }
            }
            _ => {}
        }
    }

    fn event(&mut self, event: CP_EVENT_WRITE_0) {
        self.flush_written |= event.EVENT() == VgtEventType::CACHE_FLUSH;
    }

    fn idle(&mut self) {
        self.waited = true;
        if self.flush_written {
            self.writes = None;
        }
    }

    /// Records a write to register `offset`.
    pub fn register(&mut self, offset: u32) {
        if offset == UCHE_INVALIDATE1::ROW.offset {
            self.invalidated = true;
            self.cp_stores.clear();
            self.bound = 0;
        }
        if let Some(entry) = fetch_entry(offset) {
            self.bound |= 1 << entry;
        }
    }

    /// Records a store of the command processor.
    pub fn store(&mut self, address: u32, bytes: usize) {
        if self.stored.len() < MAX_STORES {
            self.stored.push((address / PAGE, address.saturating_add(bytes as u32) / PAGE));
        }
        if self.cp_stores.len() < MAX_STORES {
            self.cp_stores.push(Extent { base: address, bytes: bytes as u64 });
        }
    }

    /// Whether a draw of this batch changed the `bytes` at `address`, and the caches were not flushed since.
    fn is_fresh(&self, gpu: Synced<'_>, address: u32, bytes: u64) -> bool {
        let Some(time) = self.writes.filter(|_| self.stored.len() < MAX_STORES) else { return false };
        let Ok(bytes) = u32::try_from(bytes) else { return false };
        let (first, last) = (address / PAGE, address.saturating_add(bytes.saturating_sub(1)) / PAGE);
        let apart = self.stored.iter().all(|(from, to)| last < *from || *to < first);
        let held = bytes > 0 && gpu.memory().room(address) >= bytes;
        held && apart && !gpu.memory().is_unchanged(address, bytes, time)
    }

    fn parameters(&self, gpu: Synced<'_>, address: u32, bytes: u64, violations: &mut Violations) {
        if self.is_fresh(gpu, address, bytes) {
            violations.report(
                Id::F2,
                "a draw of this batch wrote the parameters: without CACHE_FLUSH the old ones are read",
            );
        }
    }

    /// Checks a draw that is about to run.
    pub fn draw(&mut self, scene: &Scene<'_>, call: &DrawCall, violations: &mut Violations) {
        let gpu = scene.gpu;
        self.settle(gpu);
        self.stored_attributes(&gpu, violations);
        self.bound_attributes(&gpu, violations);
        if self.writes.is_some() && matches!(call.pass, Pass::Gmem | Pass::Bypass | Pass::Binning) {
            self.attributes(gpu, violations);
            if let IndexSource::Memory { base, size, .. } = call.indices
                && let Some(base) = base.narrow()
                && self.is_fresh(gpu, base, size.into())
            {
                violations.report(Id::F3, "a draw of this batch wrote the indices");
            }
            self.textures(scene, violations);
        }
    }

    /// Records that a draw or dispatch begins.
    pub fn begin(&mut self, gpu: Synced<'_>) {
        self.settle(gpu);
        self.running = Some(gpu.memory().now());
    }

    fn attributes(&self, gpu: Synced<'_>, violations: &mut Violations) {
        let regs = &gpu.regs;
        if self.invalidated && self.waited {
            return;
        }
        for i in 0..regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len) {
            let base = regs.at::<VFD_FETCH_INSTR_1>(i).VALUE();
            if self.is_fresh(gpu, base, regs.at::<VFD_FETCH_INSTR_2>(i).SIZE().into()) {
                let lacks = if self.invalidated { "a wait" } else { "UCHE_INVALIDATE" };
                violations.report(
                    Id::F1,
                    format!("attribute {i} was written in this batch, without {lacks} since"),
                );
            }
        }
    }

    /// Checks F1 for vertices that the command processor stored, as the driver does for restores.
    fn stored_attributes(&self, gpu: &Gpu, violations: &mut Violations) {
        let regs = &gpu.regs;
        if self.cp_stores.is_empty() {
            return;
        }
        for i in 0..regs.get::<VFD_CONTROL_0>().STRMDECINSTRCNT().min(VFD_DECODE_INSTR::ROW.len) {
            let (base, size) =
                (regs.at::<VFD_FETCH_INSTR_1>(i).VALUE(), regs.at::<VFD_FETCH_INSTR_2>(i).SIZE());
            let fetched = Extent { base, bytes: size.into() };
            if self.cp_stores.iter().any(|stored| stored.meets(fetched)) {
                violations.report(
                    Id::F1,
                    format!("attribute {i} was stored by a packet, without UCHE_INVALIDATE since"),
                );
            }
        }
    }

    /// Checks F5.
    fn bound_attributes(&self, gpu: &Gpu, violations: &mut Violations) {
        let count = gpu.regs.get::<VFD_CONTROL_0>().STRMFETCHINSTRCNT().min(VFD_FETCH_INSTR_1::ROW.len);
        for i in (0..count).filter(|i| self.bound >> i & 1 != 0) {
            violations
                .report(Id::F5, format!("attribute {i} has another address, without UCHE_INVALIDATE since"));
        }
    }

    fn textures(&self, scene: &Scene<'_>, violations: &mut Violations) {
        for checked in &scene.programs {
            let stage = checked.program.stage;
            let loaded = scene.gpu.loaded.stage(stage);
            for (_, slot) in &checked.program.shader.uses.samples {
                let Some(words) = loaded.textures.get(usize::from(*slot)) else { continue };
                let Ok(texture) = a4xx::tpl1::texture(words, scene.gpu.model) else { continue };
                let base = TEX_CONST_4(words[4]).BASE();
                if self.is_fresh(scene.gpu, base, texture.bytes_spanned()) {
                    violations.report(
                        Id::F3,
                        format!("{}: a draw of this batch wrote texture {slot}", stage.name()),
                    );
                }
            }
        }
    }
}

/// The entry of VFD_FETCH whose address is in register `offset`.
fn fetch_entry(offset: u32) -> Option<u32> {
    let row = &VFD_FETCH_INSTR_1::ROW;
    let behind = offset.checked_sub(row.offset)?;
    (behind.is_multiple_of(row.stride) && behind / row.stride < row.len).then(|| behind / row.stride)
}

/// Maximum number of reported reads of blank memory.
const MAX_BLANK: usize = 64;

/// Checks M8: reads of buffers that are unwritten according to the capture.
pub fn unwritten(gpu: Synced<'_>, violations: &mut Violations) {
    let blank =
        gpu.report.missing.iter().filter(|miss| gpu.memory().provenance(miss.address) == Provenance::Blank);
    for Miss { client, address, len } in blank.take(MAX_BLANK) {
        violations
            .report(Id::M8, format!("{client}: {len} bytes at {address} are read, and nobody wrote them"));
    }
}
