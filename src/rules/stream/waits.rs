//! Checks C1 to C9: missing waits for idle, and missing cache flushes.

use a4emu_decoder::a4xx::enums::{VgtEventType, VisCullMode};
use a4emu_decoder::a4xx::pm4::{CP_EVENT_WRITE_0, Pm4, RegisterWrites};
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::a4xx::regs::cp::CP_SCRATCH;
use a4emu_decoder::a4xx::regs::gras::{GRAS_CL_VPORT_XOFFSET_0, GRAS_CL_VPORT_ZSCALE_0};
use a4emu_decoder::a4xx::regs::hlsq::HLSQ_UPDATE_CONTROL;
use a4emu_decoder::a4xx::regs::pc::PC_VSTREAM_CONTROL;
use a4emu_decoder::a4xx::regs::uche::{UCHE_INVALIDATE0, UCHE_INVALIDATE1};
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::bits::Register;

use crate::rules::Id;
use crate::state::Violations;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::cp::Call;
use a4emu_gpu::draw::DrawCall;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;

/// The context registers. The chip keeps one set for each draw in flight.
pub const BANKED: std::ops::Range<u32> = 0x2000..0x2400;

/// The scratch register with the base address of a tile's queries.
const QUERY_BASE: u32 = CP_SCRATCH::ROW.offset + 4;

/// The progress of a flush.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Flush {
    /// The flush is needed.
    Needed,
    /// The event was written.
    Written,
    /// The event was written and waited for.
    Done,
}

/// The state of the visibility streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Streams {
    Made,
    Waited,
    Flushed,
    Usable,
}

/// The pending work of the chip.
pub struct Waits {
    /// Whether a draw, dispatch or event was not waited for.
    busy: bool,
    /// Flush of the caches since the last draw or dispatch.
    caches: Flush,
    /// Flush of HLSQ since the last draw.
    hlsq: Flush,
    streams: Streams,
    /// Whether the viewport was written while the chip was busy.
    viewport: bool,
    /// Whether the base of a tile's queries was written while the chip was busy.
    query_base: bool,
    dispatched: bool,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            busy: false,
            caches: Flush::Needed,
            hlsq: Flush::Done,
            streams: Streams::Usable,
            viewport: false,
            query_base: false,
            dispatched: false,
        }
    }
}

impl Waits {
    /// Checks `packet`, which is about to execute.
    pub fn packet(&mut self, packet: &Pm4<'_>, violations: &mut Violations) {
        match packet {
            Pm4::WaitForIdle(_) => self.idle(),
            Pm4::EventWrite(packet) => self.event(packet.event),
            Pm4::EventWriteShd(packet) => self.event(packet.event),
            Pm4::EventWriteCfl(packet) => self.event(packet.event),
            Pm4::EventWriteZpd(packet) => self.event(packet.event),
            Pm4::RegRmw(packet) if self.busy => {
                let register = REGISTERS.name(packet.control.DST_REG());
                violations.report(Id::C2, format!("CP_REG_RMW of {register} while the chip is busy"));
            }
            Pm4::SetBinData(_) => self.tile_stream("CP_SET_BIN_DATA", violations),
            Pm4::ExecCsIndirect(_) if self.caches != Flush::Done => {
                violations
                    .report(Id::C5, "indirect parameters may be stale: no CACHE_FLUSH and wait before them");
            }
            Pm4::SetConstant(packet) => {
                let reads = matches!(packet.writes(), RegisterWrites::Sum { addend: QUERY_BASE, .. });
                if reads && std::mem::take(&mut self.query_base) {
                    violations.report(Id::C8, "the base of queries changed under a draw");
                }
            }
            _ => {}
        }
    }

    fn idle(&mut self) {
        self.busy = false;
        for flush in [&mut self.caches, &mut self.hlsq] {
            if *flush == Flush::Written {
                *flush = Flush::Done;
            }
        }
        self.streams = match self.streams {
            Streams::Made => Streams::Waited,
            Streams::Flushed => Streams::Usable,
            other => other,
        };
    }

    fn event(&mut self, event: CP_EVENT_WRITE_0) {
        self.busy = true;
        match event.EVENT() {
            VgtEventType::CACHE_FLUSH => {
                self.caches = self.caches.max(Flush::Written);
                if self.streams == Streams::Waited {
                    self.streams = Streams::Flushed;
                }
            }
            VgtEventType::HLSQ_FLUSH => self.hlsq = self.hlsq.max(Flush::Written),
            _ => {}
        }
    }

    /// Checks a write to register `offset`.
    pub fn register(&mut self, gpu: &Gpu, offset: u32, violations: &mut Violations) {
        if offset == PC_VSTREAM_CONTROL::ROW.offset && gpu.regs.read(offset) != 0 {
            self.tile_stream("PC_VSTREAM_CONTROL", violations);
        }
        if !self.busy {
            self.query_base &= offset != QUERY_BASE;
            return;
        }
        let viewport = GRAS_CL_VPORT_XOFFSET_0::ROW.offset..=GRAS_CL_VPORT_ZSCALE_0::ROW.offset;
        self.viewport |= viewport.contains(&offset);
        self.query_base |= offset == QUERY_BASE;
        if !BANKED.contains(&offset) && !is_exempt(offset) {
            violations.report(
                Id::C1,
                format!("{} is not banked, written while the chip is busy", REGISTERS.name(offset)),
            );
        }
    }

    fn tile_stream(&self, what: &str, violations: &mut Violations) {
        if self.hlsq != Flush::Done {
            violations.report(Id::C6, format!("{what} while the state of the last tile is pending"));
        }
    }

    /// Checks a load of state.
    pub fn load(&self, kind: StateKind, pass: Pass, violations: &mut Violations) {
        if let StateKind::Constants(stage) = kind
            && self.busy
        {
            let rule = if pass == Pass::Binning { Id::X4 } else { Id::C3 };
            violations.report(
                rule,
                format!("constants of {} are overwritten while draws may read them", stage.name()),
            );
        }
    }

    /// Checks `call`, which is about to run.
    pub fn call(&mut self, gpu: &Gpu, call: &Call, violations: &mut Violations) {
        match call {
            Call::Draw(call) => self.draw(gpu, call, violations),
            Call::Dispatch(_) => self.dispatched = true,
            Call::Uncounted(_) | Call::Blit(_) => {}
        }
        self.busy = true;
        self.caches = Flush::Needed;
        self.hlsq = Flush::Needed;
        self.streams = match call.pass() {
            Some(Pass::Binning) => Streams::Made,
            _ => self.streams,
        };
    }

    fn draw(&mut self, gpu: &Gpu, call: &DrawCall, violations: &mut Violations) {
        // Exception X5: restores write the viewport while the last tile's resolve runs.
        if std::mem::take(&mut self.viewport) && call.pass != Pass::Restore {
            let rule = if call.pass == Pass::Binning { Id::X4 } else { Id::C4 };
            violations.report(rule, "the viewport is written without a wait");
        }
        if call.count == 0 {
            return;
        }
        let culls = initiator(call).VIS_CULL() == VisCullMode::USE_VISIBILITY;
        if culls && self.streams != Streams::Usable {
            violations.report(Id::C7, "the visibility streams were not flushed");
        }
        let update = gpu.regs.get::<HLSQ_UPDATE_CONTROL>().VALUE();
        if self.dispatched && update == 0 {
            violations.report(Id::C9, "HLSQ_UPDATE_CONTROL is 0, as a dispatch left it");
        }
    }
}

/// Whether the driver may write the register at any time: scratch (X13), and cache invalidation.
fn is_exempt(offset: u32) -> bool {
    let scratch = CP_SCRATCH::ROW.offset..CP_SCRATCH::ROW.offset + CP_SCRATCH::ROW.len;
    let drops = [UCHE_INVALIDATE0::ROW.offset, UCHE_INVALIDATE1::ROW.offset];
    scratch.contains(&offset) || drops.contains(&offset)
}
