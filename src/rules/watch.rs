//! The observer that checks a run for broken rules.

use a4emu_decoder::a4xx::pm4::Pm4;
use a4emu_decoder::a4xx::regs::gras::GRAS_DEBUG_ECO_CONTROL;
use a4emu_decoder::a4xx::regs::rbbm_perfctr::RBBM_PERFCTR_CTL;
use a4emu_decoder::a6xx::regs::blit::RB_CCU_CNTL;
use a4emu_decoder::a6xx::{A6XX, pm4 as a6xx_pm4};
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::bits::Register;

use super::a6xx;
use super::finding::{Broken, Findings};
use super::programs::Programs;
use super::rules::Id;
use super::state::{self, Highest, Scene, Violations};
use super::stream::{self, Bins, Packets, Tiles, Traffic, Waits, Writers};
use a4emu_decoder::generation::DEFAULT;
use a4emu_gpu::a4xx;
use a4emu_gpu::a4xx::pc::initiator;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::observer::{Announced, Load};
use a4emu_gpu::cp::{Call, Flow, Observer};
use a4emu_gpu::draw::{DispatchCall, DrawCall};
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::gpu::{Gpu, STAGES};
use a4emu_gpu::memory::PAGE;
use a4emu_gpu::regfile::RegSet;
use a4emu_gpu::settled::{Running, Synced};

/// Loaded texture and sampler slots per stage, one bit each.
type Slots = [[u128; 2]; STAGES.len()];

/// An observer that checks the rules.
#[derive(Default)]
pub struct Watch {
    /// The findings so far.
    pub findings: Findings,
    /// The programs that ran.
    pub programs: Programs,
    highest: Highest,
    batch: Batch,
    /// What units of an A6xx wrote in this submit.
    traffic_a6xx: a6xx::Traffic,
    /// Whether the last register write was to RBBM_PERFCTR_CTL. It belongs to the batch of the next one.
    held: bool,
    /// Whether a submit is running, or the run ended within one.
    running: bool,
    /// Whether the capture names all buffers completely. Only then is memory outside of them an error. Some
    /// recorders name only the parts of pages that they hold, and omit most buffers.
    names_all: bool,
}

/// Rules about memory inside of buffers.
const IN_MEMORY: [Id; 6] = [Id::M1, Id::M3, Id::M4, Id::M5, Id::M6, Id::M7];

/// The state of a batch.
#[derive(Default)]
struct Batch {
    waits: Waits,
    packets: Packets,
    bins: Bins,
    tiles: Tiles,
    traffic: Traffic,
    writers: Writers,
    written: RegSet,
    slots: Slots,
}

impl Watch {
    /// Makes a watch for a run on `gpu`, and records the registers that a0.x selects in it.
    pub fn of_run(gpu: &mut Gpu) -> Self {
        gpu.watch_choices();
        Self::default()
    }

    /// Makes a watch for a device, which knows all buffers.
    pub fn of_device(gpu: &mut Gpu) -> Self {
        Self { names_all: true, ..Self::of_run(gpu) }
    }

    /// Adds findings at the end of the run of `gpu`. For an incomplete frame, missing tiles are not
    /// reported.
    pub(super) fn end(&mut self, gpu: Synced<'_>) {
        let mut violations = Violations::default();
        if !self.running && gpu.budget.cut().is_none() {
            self.batch.tiles.end(&mut violations);
        }
        stream::unwritten(gpu, &mut violations);
        self.tell(&gpu, violations);
        self.chosen(&gpu);
    }

    /// Adds findings about the registers that a0.x has selected so far.
    fn chosen(&mut self, gpu: &Gpu) {
        let violations = Violations(self.programs.placed(&gpu.chosen));
        self.tell(gpu, violations);
    }

    fn tell(&mut self, gpu: &Gpu, violations: Violations) {
        let generation = gpu.chip.generation();
        let counts = |broken: &Broken| {
            broken.rule.rule().holds_for(generation) && (self.names_all || !IN_MEMORY.contains(&broken.rule))
        };
        violations.0.into_iter().filter(counts).for_each(|broken| self.findings.add(gpu, broken));
    }

    fn draw(&mut self, gpu: Synced<'_>, call: &DrawCall) -> Violations {
        let mut violations = Violations::default();
        self.batch.bins.draw(gpu, call, &mut violations);
        let scene = Scene::of_draw(gpu, call.pass, initiator(call), &mut self.programs);
        self.batch.packets.draw(&scene, &mut violations);
        self.batch.traffic.draw(&scene, call, &mut violations);
        state::check_programs(&scene, &mut violations);
        state::check_unset(&scene, &mut self.programs, &mut violations);
        state::check_draw(&scene, call, self.highest.of(gpu, call), &mut violations);
        self.batch.tiles.draw(&scene, call, &mut violations);
        self.batch.writers.call(&scene, &mut violations);
        state::written::check(&scene, call, &self.batch.written, &mut violations);
        slots(&scene, &self.batch.slots, &mut violations);
        violations
    }

    fn dispatch(&mut self, gpu: Synced<'_>, call: &DispatchCall) -> Violations {
        let mut violations = Violations::default();
        let scene = Scene::of_dispatch(gpu, &mut self.programs);
        self.batch.packets.dispatch(&scene, &mut violations);
        state::check_programs(&scene, &mut violations);
        state::check_unset(&scene, &mut self.programs, &mut violations);
        self.batch.writers.call(&scene, &mut violations);
        state::written::check_dispatch(&scene, &self.batch.written, &mut violations);
        state::check_dispatch(&scene, call.local_size, call.groups, &mut violations);
        slots(&scene, &self.batch.slots, &mut violations);
        violations
    }

    fn call_a6xx(&mut self, gpu: Synced<'_>, call: &Call) -> Violations {
        let mut violations = Violations::default();
        match call {
            Call::Draw(call) if call.count > 0 && call.instances > 0 => {
                a6xx::draw(gpu, call, &mut self.programs, &mut self.traffic_a6xx, &mut violations);
            }
            Call::Dispatch(_) => {
                a6xx::dispatch(gpu, &mut self.programs, &mut self.traffic_a6xx, &mut violations);
            }
            Call::Blit(call) => a6xx::blit(gpu, call, &mut self.traffic_a6xx, &mut violations),
            Call::Draw(_) | Call::Uncounted(_) => {}
        }
        violations
    }

    fn written(&mut self, gpu: &Gpu, offset: u32) {
        let mut violations = Violations::default();
        self.batch.written.insert(offset);
        self.batch.tiles.register(offset, &mut violations);
        self.batch.waits.register(gpu, offset, &mut violations);
        self.batch.traffic.register(offset);
        self.tell(gpu, violations);
    }
}

/// Checks S28: slots that were never loaded.
fn slots(scene: &Scene<'_>, loaded: &Slots, violations: &mut Violations) {
    for checked in &scene.programs {
        let stage = checked.program.stage;
        let [textures, samplers] = loaded[stage as usize];
        for (sampler, texture) in &checked.program.shader.uses.samples {
            let named = [("texture", Some(*texture), textures), ("sampler", *sampler, samplers)];
            for (what, slot, loaded) in named {
                let slot = slot.filter(|slot| loaded >> slot & 1 == 0);
                let name = |slot| format!("{}: {what} {slot} was never loaded in this batch", stage.name());
                slot.into_iter().for_each(|slot| violations.report(Id::S28, name(slot)));
            }
        }
    }
}

/// The bits of slots `first` to `first + count`.
fn bits(first: u32, count: u32) -> u128 {
    (first..first.saturating_add(count).min(u128::BITS)).fold(0, |bits, slot| bits | 1 << slot)
}

/// Whether rules of packets, registers and draws are those of the A4xx. Others, such as those of damaged streams, hold
/// for each generation.
fn is_a4xx(gpu: &Gpu) -> bool {
    gpu.chip.generation().number == DEFAULT.number
}

/// Whether there are rules of packets and draws of the A6xx.
fn is_a6xx(gpu: &Gpu) -> bool {
    gpu.chip.generation().number == A6XX.number
}

/// Checks a packet of an A6xx that is about to execute.
fn packet_a6xx(
    gpu: &mut Running<'_>,
    packet: &Packet<'_>,
    traffic: &mut a6xx::Traffic,
    violations: &mut Violations,
) {
    let Packet::Command { opcode, payload, .. } = *packet else {
        return a6xx::registers(gpu, packet, violations);
    };
    let command = a6xx_pm4::Pm4::parse(opcode, payload);
    a6xx::command(gpu.sync(), &command, violations);
    traffic.command(gpu.sync(), &command, violations);
}

impl Observer for Watch {
    fn buffer(&mut self, _: &mut Running<'_>, buffer: Announced) {
        self.names_all |=
            buffer.captured < buffer.bytes || (buffer.bytes > 0 && buffer.bytes.is_multiple_of(PAGE));
    }

    fn submit(&mut self, _: &mut Running<'_>, _: Address, _: u32) -> Flow {
        self.running = true;
        self.traffic_a6xx = a6xx::Traffic::default();
        Flow::Continue
    }

    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        self.running = false;
        self.chosen(gpu);
        Flow::Continue
    }

    fn packet(&mut self, gpu: &mut Running<'_>, packet: &Packet<'_>) {
        let mut violations = Violations::default();
        if is_a6xx(gpu) {
            packet_a6xx(gpu, packet, &mut self.traffic_a6xx, &mut violations);
            return self.tell(gpu, violations);
        }
        if !is_a4xx(gpu) {
            return;
        }
        match *packet {
            Packet::Command { predicated: true, .. } if gpu.cp.predicate == Some(false) => {}
            Packet::Command { opcode, payload, .. } => {
                let command = Pm4::parse(opcode, payload);
                state::written::check_event(&command, &self.batch.written, &mut violations);
                self.batch.waits.packet(&command, &mut violations);
                self.batch.packets.command(gpu.sync(), &command, &mut violations);
                self.batch.bins.command(&command);
                self.batch.traffic.command(gpu.sync(), &command, &mut violations);
            }
            _ => stream::protected(packet, &mut violations),
        }
        self.tell(gpu, violations);
    }

    fn register(&mut self, gpu: &mut Running<'_>, offset: u32, _: Option<u32>) {
        if is_a6xx(gpu) && offset == RB_CCU_CNTL::ROW.offset {
            let mut violations = Violations::default();
            self.traffic_a6xx.ccu_control(gpu.regs.read(offset), &mut violations);
            self.tell(gpu, violations);
        }
        if !is_a4xx(gpu) {
            return;
        }
        let held = std::mem::replace(&mut self.held, offset == RBBM_PERFCTR_CTL::ROW.offset);
        // Two registers begin a batch: docs/hardware/hazards.md, "Where a submit begins".
        if held && offset == GRAS_DEBUG_ECO_CONTROL::ROW.offset {
            let mut violations = Violations::default();
            self.batch.tiles.end(&mut violations);
            self.batch = Batch::default();
            self.tell(gpu, violations);
        }
        if held {
            self.written(gpu, RBBM_PERFCTR_CTL::ROW.offset);
        }
        if !self.held {
            self.written(gpu, offset);
        }
    }

    fn store(&mut self, gpu: &mut Running<'_>, address: Address, bytes: &[u8]) {
        if is_a6xx(gpu) {
            return self.traffic_a6xx.store(address, bytes.len());
        }
        if let Some(address) = address.narrow() {
            self.batch.traffic.store(address, bytes.len());
        }
    }

    fn load(&mut self, gpu: &mut Running<'_>, load: Load<'_>) {
        if !is_a4xx(gpu) {
            return;
        }
        let mut violations = Violations::default();
        self.batch.waits.load(load.kind, a4xx::pass::pass(&gpu.regs), &mut violations);
        let units = (load.data.len() / load.unit_dwords()) as u32;
        let slot = match load.kind {
            StateKind::Textures(stage) => Some((stage, 0)),
            StateKind::Samplers(stage) => Some((stage, 1)),
            _ => None,
        };
        if let Some((stage, kind)) = slot {
            self.batch.slots[stage as usize][kind] |= bits(load.first, units);
        }
        self.tell(gpu, violations);
    }

    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        gpu.budget.observe(Work::Draw, 1);
        if is_a6xx(gpu) {
            let violations = self.call_a6xx(gpu.sync(), call);
            self.tell(gpu, violations);
        }
        if !is_a4xx(gpu) {
            return Flow::Continue;
        }
        let mut violations = match call {
            Call::Draw(call) if call.count > 0 && call.instances > 0 => self.draw(gpu.sync(), call),
            Call::Dispatch(call) => self.dispatch(gpu.sync(), call),
            Call::Draw(_) | Call::Uncounted(_) | Call::Blit(_) => Violations::default(),
        };
        self.batch.waits.call(gpu, call, &mut violations);
        self.batch.traffic.begin(gpu.sync());
        self.tell(gpu, violations);
        Flow::Continue
    }

    fn trouble(&mut self, gpu: &mut Running<'_>, trouble: &Trouble) {
        let mut violations = Violations::default();
        stream::trouble(trouble, &mut violations);
        self.tell(gpu, violations);
    }
}
