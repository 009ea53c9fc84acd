//! The surfaces that a blit of an A6xx names: CP_BLIT between surfaces, and the event BLIT between tile memory and memory.

use std::sync::LazyLock;

use a4emu_decoder::a6xx::enums::VgtEventType;
use a4emu_decoder::a6xx::pm4::Pm4;
use a4emu_decoder::a6xx::regs::REGISTERS;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_decoder::bits::value::{FieldValue, Value, fields};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::regfile::RegFile;

use super::users::Access;

/// A field of a register, by the names of both.
type Field = (&'static str, &'static str);

/// What the last field of a [`Row`] counts.
#[derive(Clone, Copy)]
enum Rows {
    /// All rows.
    All(Field),
    /// All rows but the last one.
    BeforeLast(Field),
}

/// A surface: its name, the field with bytes from row to row, and the field with its rows.
type Row = (&'static str, Field, Rows);

/// What CP_BLIT reads and writes.
const COPIED: [Row; 2] = [
    ("SP_PS_2D_SRC", ("SP_PS_2D_SRC_PITCH", "PITCH"), Rows::All(("SP_PS_2D_SRC_SIZE", "HEIGHT"))),
    ("RB_2D_DST", ("RB_2D_DST_PITCH", "VALUE"), Rows::BeforeLast(("GRAS_2D_DST_BR", "Y"))),
];

/// What the event BLIT reads or writes.
const RESOLVED: Row =
    ("RB_BLIT_DST", ("RB_BLIT_DST_PITCH", "VALUE"), Rows::BeforeLast(("RB_BLIT_SCISSOR_BR", "Y")));

/// RB_BLIT_INFO.TYPE from 2 on does not write memory: BLIT_EVENT_CLEAR clears tile memory, BLIT_EVENT_LOAD fills it.
const KIND: Field = ("RB_BLIT_INFO", "TYPE");

static OFFSETS: LazyLock<[u32; 3]> = LazyLock::new(|| {
    [COPIED[0].0, COPIED[1].0, RESOLVED.0]
        .map(|name| REGISTERS.by_name(&format!("{name}_LO")).expect("a register of the A6xx"))
});

/// A use of memory by a blit: how, by which register, and the first and the last address behind it.
pub(super) type Blitted = (Access, &'static str, (u64, u64));

/// What `packet`, which is about to run on an A6xx, reads and writes as a blit.
pub(super) fn blitted(gpu: &Gpu, packet: &Packet<'_>) -> Vec<Blitted> {
    let Packet::Command { opcode, payload, .. } = *packet else { return Vec::new() };
    let [source, destination, resolved] = *OFFSETS;
    match Pm4::parse(opcode, payload) {
        Pm4::Blit(_) => [
            surface(&gpu.regs, Access::Read, source, &COPIED[0]),
            surface(&gpu.regs, Access::Written, destination, &COPIED[1]),
        ]
        .into_iter()
        .flatten()
        .collect(),
        Pm4::EventWrite(event) if event.event.EVENT() == VgtEventType::BLIT => {
            let access = match raw(&gpu.regs, KIND) {
                0 | 1 => Access::Written,
                2 => return Vec::new(),
                _ => Access::Read,
            };
            surface(&gpu.regs, access, resolved, &RESOLVED).into_iter().collect()
        }
        _ => Vec::new(),
    }
}

fn surface(regs: &RegFile, access: Access, low: u32, (name, pitch, rows): &Row) -> Option<Blitted> {
    let start = regs.address(low).get();
    let rows = match rows {
        Rows::All(field) => number(regs, *field),
        Rows::BeforeLast(field) => number(regs, *field) + 1,
    };
    let bytes = number(regs, *pitch) * rows;
    (start != 0).then(|| (access, *name, (start, start.saturating_add(bytes))))
}

fn found(regs: &RegFile, (register, field): Field) -> Option<FieldValue> {
    let offset = REGISTERS.by_name(register)?;
    fields(REGISTERS.fields(offset), regs.read(offset)).find(|it| it.row.name == field)
}

fn raw(regs: &RegFile, field: Field) -> u32 {
    found(regs, field).map_or(0, |it| it.raw)
}

/// The value of a field that is a number, shifted as its row says.
fn number(regs: &RegFile, field: Field) -> u64 {
    match found(regs, field).map(|it| it.value()) {
        Some(Value::Uint(value) | Value::Hex(value)) => value,
        _ => 0,
    }
}
