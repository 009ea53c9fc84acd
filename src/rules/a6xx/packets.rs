//! Checks C20 to C22, C31, C34 and M7: single packets.

use a4emu_decoder::a6xx::load_state::Source;
use a4emu_decoder::a6xx::pm4::{LoadState6, Pm4};
use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::settled::Synced;

use super::holds;
use crate::rules::Id;
use crate::state::Violations;

/// Registers that the kernel protects against writes, on all chips from the A615 to the A680: first and last.
///
/// Source: the ranges that a630_protect, a650_protect and a660_protect of the kernel's a6xx_catalog.c have in common.
const PROTECTED: [(u32, u32); 25] = [
    (0x0, 0x4ff),
    (0x501, 0x506),
    (0x50b, 0x7ff),
    (0x800, 0x882),
    (0x8a0, 0x8a8),
    (0x8ab, 0x8cf),
    (0x8de, 0x98c),
    (0x98d, 0xbff),
    (0xe00, 0xe01),
    (0xe03, 0xe0f),
    (0x3c00, 0x3cc3),
    (0x3cc4, 0x5cc3),
    (0x8630, 0x87ff),
    (0x8e00, 0x8e00),
    (0x8e08, 0x8e08),
    (0x8e50, 0x8e6f),
    (0x9624, 0x97ff),
    (0x9e70, 0x9e71),
    (0x9e78, 0x9fff),
    (0xa630, 0xa7ff),
    (0xae02, 0xae02),
    (0xae50, 0xaf7f),
    (0xb604, 0xb604),
    (0xbe02, 0xbe03),
    (0xbe20, 0xbf7f),
];

/// Maximum size of a called buffer in dwords: IB_SIZE has 20 bits.
const MAX_CALL: u32 = 0xf_ffff;
/// Maximum call depth of a packet that may call a state group.
const MAX_DEPTH: u32 = 2;

/// Checks C20 and C34 for `packet`, of type 4, which is about to execute. The ring of a kernel dump is the kernel's.
pub fn registers(gpu: &Gpu, packet: &Packet<'_>, violations: &mut Violations) {
    let is_kernel = gpu.hang.is_some() && gpu.at.depth == 0;
    for (register, _) in packet.writes() {
        let is_protected = PROTECTED.iter().any(|(first, last)| (*first..=*last).contains(&register));
        violations.unless(is_kernel || !is_protected, Id::C20, || {
            format!("{} is protected: CP fault", REGISTERS.name(register))
        });
        violations.unless(REGISTERS.lookup(register).is_some(), Id::C34, || {
            format!("register {register:#06x} is unknown")
        });
    }
}

/// Checks a command that is about to execute.
pub fn command(gpu: Synced<'_>, packet: &Pm4<'_>, violations: &mut Violations) {
    if let Pm4::Unknown { opcode, .. } = packet {
        violations.report(Id::C21, format!("opcode {opcode:#04x} is unknown"));
    }
    if let Some(load) = packet.load() {
        loaded(gpu, &load, violations);
    }
    if let Some(call) = packet.call() {
        let fits = (1..=MAX_CALL).contains(&call.dwords);
        violations.unless(fits, Id::C31, || format!("call of {} dwords", call.dwords));
        let is_nested = gpu.at.depth >= MAX_DEPTH;
        violations.unless(!is_nested, Id::C31, || format!("call at depth {}", gpu.at.depth));
    }
}

/// Checks C22 and M7.
fn loaded(gpu: Synced<'_>, load: &LoadState6<'_>, violations: &mut Violations) {
    let (kind, units, needs) = (load.kind(), load.dst.NUM_UNIT(), load.dwords());
    if kind == StateKind::Unknown {
        return;
    }
    match load.source() {
        Source::Inline(_) => {
            let has = load.rest.len();
            violations.unless(has == needs as usize, Id::C22, || {
                format!("{kind:?}: {has} dwords for {units} units, needs {needs}")
            });
        }
        Source::Memory { address } => {
            let bytes = u64::from(needs) * 4;
            violations.unless(holds(gpu, address, bytes), Id::M7, || {
                format!("{kind:?}: {bytes} bytes at {address} are in no one buffer")
            });
        }
        Source::Bindless { .. } | Source::Ubo { .. } => {}
    }
}
