//! Checks C20 to C26, C30 and C31: single packets.

use a4emu_decoder::a4xx::pm4::{LoadState4, Pm4, RegisterWrites};
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::adreno::load_state::{StateKind, StateSource};
use a4emu_decoder::adreno::packet::Packet;

use super::waits::BANKED;
use crate::rules::Id;
use crate::state::{Scene, Violations, hlsq};
use a4emu_gpu::a4xx::sp::place;
use a4emu_gpu::fault::{Fault, Trouble};
use a4emu_gpu::gpu::{Gpu, Stage};
use a4emu_gpu::pass::Pass;
use a4emu_gpu::settled::Synced;

/// Registers that the kernel protects (CP_PROTECT 0 to 11): first and last.
const PROTECTED: [(u32, u32); 7] = [
    (0x4, 0x8f),
    (0x200, 0x27f),
    (0x580, 0x58f),
    (0xcc0, 0xcc0),
    (0xe00, 0xe00),
    (0xe60, 0xe61),
    (0x4000, 0x7fff),
];

/// Number of vec4 in a block of constants.
const BLOCK: u32 = 4;
/// Alignment of addresses of blocks, in bytes.
const BLOCK_BYTES: u64 = 64;
/// Maximum size of a called buffer in dwords.
const MAX_CALL: u32 = 0xf_ffff;
/// Maximum call depth of a packet that may call a state group.
const MAX_DEPTH: u32 = 2;

/// Loads that are checked at the next draw.
#[derive(Default)]
pub struct Packets {
    /// The number of samplers in the last load, if it was odd.
    odd_samplers: Option<u32>,
    /// Programs that were loaded into the store from memory: address and number of groups.
    stored: [Option<(Address, u32)>; 6],
}

/// Checks C20 for `packet`, of type 0 or 1, which is about to execute.
pub fn protected(packet: &Packet<'_>, violations: &mut Violations) {
    let registers = packet.writes().map(|(register, _)| register);
    for register in registers.filter(|register| is_protected(*register)) {
        violations.report(Id::C20, format!("{} is protected: CP fault", REGISTERS.name(register)));
    }
}

impl Packets {
    /// Checks a command that is about to execute.
    pub fn command(&mut self, gpu: Synced<'_>, packet: &Pm4<'_>, violations: &mut Violations) {
        match packet {
            Pm4::Unknown { opcode, .. } => {
                violations.report(Id::C21, format!("opcode {opcode:#04x} is unknown"))
            }
            Pm4::LoadState4(packet) => self.load(gpu, packet, violations),
            Pm4::SetConstant(packet) => {
                if let RegisterWrites::Sum { register, .. } = packet.writes()
                    && !BANKED.contains(&register)
                {
                    let name = REGISTERS.name(register);
                    violations
                        .report(Id::C30, format!("the sum goes to {name}, which is no context register"));
                }
            }
            _ => {}
        }
        if let Some(call) = packet.call() {
            let fits = (1..=MAX_CALL).contains(&call.dwords);
            violations.unless(fits, Id::C31, || format!("call of {} dwords", call.dwords));
            violations
                .unless(gpu.at.depth < MAX_DEPTH, Id::C31, || format!("call at depth {}", gpu.at.depth));
        }
    }

    fn load(&mut self, gpu: Synced<'_>, packet: &LoadState4<'_>, violations: &mut Violations) {
        let (kind, first, units) = (packet.kind(), packet.dst.DST_OFF(), packet.dst.NUM_UNIT());
        let source = packet.source();
        if let StateSource::Inline(_) = source {
            let (has, needs) = (packet.rest.len(), packet.dwords());
            violations.unless(has == needs as usize, Id::C22, || {
                format!("{kind:?}: {has} dwords for {units} units, needs {needs}")
            });
        }
        match (kind, source) {
            (StateKind::Constants(stage), source) => {
                constants(&gpu, stage, [first, units], source, violations)
            }
            (StateKind::Samplers(_), _) if units % 2 != 0 => self.odd_samplers = Some(units),
            (StateKind::Instructions(stage), StateSource::Memory { address }) => {
                self.stored[stage as usize] = Some((address, units));
            }
            _ => {}
        }
        if let StateSource::Memory { address } = source {
            let bytes = packet.dwords() * 4;
            violations.unless(gpu.memory().room(address) >= bytes, Id::M7, || {
                format!("{kind:?}: {bytes} bytes at {address:#010x} are in no one buffer")
            });
        }
    }

    /// Checks a draw that is about to run.
    pub fn draw(&mut self, scene: &Scene<'_>, violations: &mut Violations) {
        if let Some(units) = self.odd_samplers.take().filter(|_| scene.pass != Pass::Restore) {
            violations.report(Id::C25, format!("{units} samplers are loaded, an odd number"));
        }
        self.programs(scene, violations);
    }

    /// Checks a dispatch that is about to run.
    pub fn dispatch(&mut self, scene: &Scene<'_>, violations: &mut Violations) {
        self.odd_samplers = None;
        self.programs(scene, violations);
    }

    fn programs(&self, scene: &Scene<'_>, violations: &mut Violations) {
        for checked in &scene.programs {
            let stage = checked.program.stage;
            let Some((address, units)) = self.stored[stage as usize] else { continue };
            let (start, length) = place(scene.regs, stage);
            let same = (address, units * 16) == (start.into(), length);
            violations.unless(same || scene.runs_from_memory(stage) && !is_in_store(scene, stage), Id::C26, || {
                format!(
                    "{}: the store holds {units} groups of {address:#010x}, OBJ_START {start:#010x}, LENGTH {}",
                    stage.name(),
                    length / 16
                )
            });
            let groups = hlsq(scene.regs, stage).INSTRLENGTH();
            violations.unless(groups == 0 || groups == units || stage == Stage::CS, Id::C26, || {
                format!("{}: INSTRLENGTH {groups}, the store holds {units} groups", stage.name())
            });
        }
    }
}

/// Whether the stage runs from the instruction store.
fn is_in_store(scene: &Scene<'_>, stage: Stage) -> bool {
    hlsq(scene.regs, stage).INSTRLENGTH() > 0
}

fn is_protected(register: u32) -> bool {
    PROTECTED.iter().any(|(first, last)| (*first..=*last).contains(&register))
}

/// Checks C23 and C24.
fn constants(
    gpu: &Gpu,
    stage: Stage,
    [first, units]: [u32; 2],
    source: StateSource<'_>,
    violations: &mut Violations,
) {
    if let StateSource::Memory { address } = source {
        let aligned = first % BLOCK == 0 && units % BLOCK == 0 && address.get() % BLOCK_BYTES == 0;
        violations.unless(aligned, Id::C23, || {
            format!("{}: {units} vec4 from {address:#010x} to c{first} are not aligned", stage.name())
        });
    }
    let length = hlsq(&gpu.regs, stage).CONSTLENGTH() * BLOCK;
    violations.unless(first + units <= length, Id::C24, || {
        format!(
            "{}: c{first} to c{} are loaded, the stage has {length} vec4",
            stage.name(),
            first + units - 1
        )
    });
}

/// Checks C21: the error that stopped the packet parser.
pub fn trouble(trouble: &Trouble, violations: &mut Violations) {
    match trouble {
        Trouble::Fault(Fault::Stream(what)) => violations.report(Id::C21, what.clone()),
        Trouble::Fault(Fault::ShortPacket { name, dwords }) => {
            violations.report(Id::C21, format!("{name} with {dwords} dwords"));
        }
        _ => {}
    }
}
