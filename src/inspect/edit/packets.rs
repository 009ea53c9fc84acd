//! The packets of an edit: those that set what is edited before a draw, and those that set it back.

use a4emu_decoder::a4xx::enums::StateSrc;
use a4emu_decoder::a4xx::load_state::state_kind;
use a4emu_decoder::a4xx::pm4::{CP_LOAD_STATE4_0, CP_LOAD_STATE4_1};
use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::a6xx;
use a4emu_decoder::a6xx::pm4::{CP_LOAD_STATE6_0, CP_SET_DRAW_STATE_0};
use a4emu_decoder::adreno::load_state::{Stage, StateKind};
use a4emu_decoder::asm::pack::{command, writes};
use a4emu_decoder::bits::FieldRow;
use a4emu_decoder::generation::{DEFAULT, Framing};
use anyhow::{Context, ensure};

use super::{Change, LENGTH_UNIT, ProgramRegisters, What};
use a4emu_gpu::cp::GROUPS;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::machine::CodeSource;

/// The opcode of CP_LOAD_STATE4.
const LOAD_STATE4: u8 = 0x30;

/// The opcodes of CP_LOAD_STATE6 for the stages before the rasteriser, and for the others.
const LOAD_STATE6: [u8; 2] = [0x32, 0x34];

/// The opcode of CP_SET_DRAW_STATE.
const SET_DRAW_STATE: u8 = 0x43;

/// Packets around a draw.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Around {
    pub before: Vec<u32>,
    pub after: Vec<u32>,
    /// Packets in a group of state, which CP_SET_DRAW_STATE at the end of `before` names. They run behind the groups that
    /// the stream sets, and stand behind the end of the buffer.
    pub group: Vec<u32>,
    /// Programs that stand behind the end of the buffer, too.
    pub programs: Vec<Placed>,
}

/// A program of an A6xx, which packets name by its address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Placed {
    /// Where the two dwords of its address are, in `group`, or in `before` if there is no group.
    pub named: Vec<usize>,
    /// The dwords of the program.
    pub words: Vec<u32>,
}

impl Placed {
    /// Counts places from `dwords` earlier on.
    fn moved(mut self, dwords: usize) -> Self {
        self.named.iter_mut().for_each(|at| *at += dwords);
        self
    }
}

impl Around {
    /// Moves `before` into the last group of state, which runs behind all others, and puts it behind the `packets` of
    /// that group. Then `before` names the group, and `after` disables it.
    ///
    /// # Errors
    /// The call fails if the packets are too long for a group.
    pub fn behind(self, packets: &[u32]) -> anyhow::Result<Self> {
        let last = GROUPS as u32 - 1;
        let place = |name: &str| field(CP_SET_DRAW_STATE_0::FIELDS, name, "CP_SET_DRAW_STATE");
        let packet = |words: &[(&str, u32)]| -> anyhow::Result<Vec<u32>> {
            let set = |word: u32, (name, value): &(&str, u32)| Ok(place(name)?.insert(word, *value));
            let control = words.iter().try_fold(0, set);
            let header = command(Framing::Types4And7, SET_DRAW_STATE, 3);
            control.map(|control: u32| vec![header, control, 0, 0])
        };
        let group = [packets, &self.before].concat();
        let programs = self.programs.into_iter().map(|program| program.moved(packets.len())).collect();
        let flags = ["DIRTY", "BINNING", "GMEM", "SYSMEM"].map(|name| (name, 1));
        let count = [("COUNT", group.len() as u32), ("GROUP_ID", last)];
        ensure!(group.len() < 1 << 16, "the edits of the draw are too long for a group of state");
        let before = packet(&[&count[..], &flags].concat())?;
        let after = [packet(&[("DISABLE", 1), ("GROUP_ID", last)])?, self.after].concat();
        Ok(Self { before, after, group, programs })
    }
}

/// The packets that make `changes`, and those that take them back.
pub(super) fn around(gpu: &mut Gpu, changes: &[&Change]) -> anyhow::Result<Around> {
    let mut all = Around::default();
    let mut undo = Vec::new();
    let mut done = Ok(());
    for change in changes {
        match packets(&change.0, gpu) {
            Ok(Around { before, after, programs, .. }) => {
                let moved = programs.into_iter().map(|program| program.moved(all.before.len()));
                all.programs.extend(moved);
                all.before.extend(before);
                all.after.splice(..0, after);
                undo.push(change.apply(gpu));
            }
            Err(error) => done = Err(error),
        }
    }
    undo.into_iter().rev().for_each(|undo| undo(gpu));
    done.map(|()| all)
}

/// The packets of a change, and those that take it back.
fn packets(what: &What, gpu: &Gpu) -> anyhow::Result<Around> {
    if let What::Program { stage, words } = what
        && gpu.chip.generation().number != DEFAULT.number
    {
        return program_a6xx(gpu, *stage, words);
    }
    let [before, after] = plain_packets(what, gpu)?;
    Ok(Around { before, after, ..Around::default() })
}

/// As [`packets`], where none of them names what stands elsewhere.
fn plain_packets(what: &What, gpu: &Gpu) -> anyhow::Result<[Vec<u32>; 2]> {
    let generation = gpu.chip.generation();
    let register = |offset: u32, value: u32| vec![writes(generation.framing, offset, 1), value];
    Ok(match what {
        What::Register { offset, field, value } => {
            let old = gpu.regs.read(*offset);
            [field.map_or(*value, |field| field.insert(old, *value)), old]
                .map(|value| register(*offset, value))
        }
        What::Constants { stage, first, values } => {
            let held = gpu.loaded.stage(*stage).constants[first / 4];
            let mut new = held;
            new[first % 4..][..values.len()].copy_from_slice(values);
            let kind = StateKind::Constants(*stage);
            let load = |values: &[u32]| match generation.number == DEFAULT.number {
                true => load_state(kind, (first / 4) as u32, values),
                false => load_state6(kind, (first / 4) as u32, values),
            };
            [load(&new)?, load(&held)?]
        }
        What::Program { stage, words } => {
            let named = |name: &str| REGISTERS.by_name(&format!("SP_{}_{name}", stage.name()));
            let [length, start] = ["LENGTH_REG", "OBJ_START"].map(named);
            let length = length.context("the stage has no register of its length")?;
            let held = gpu.loaded.stage(*stage);
            let code: Vec<u32> = held.code[..words.len() / 2]
                .iter()
                .flat_map(|word| [*word as u32, (*word >> 32) as u32])
                .collect();
            let new = register(length, (words.len() / 2 / LENGTH_UNIT) as u32);
            let old = register(length, gpu.regs.read(length));
            let mut after = [load_program(*stage, &code)?, old].concat();
            if held.source == CodeSource::Memory {
                // The write of its address makes the chip take the program from memory again.
                let start = start.context("the stage has no register of its program's address")?;
                after.extend(register(start, gpu.regs.read(start)));
            }
            [[load_program(*stage, words)?, new].concat(), after]
        }
    })
}

/// The packets that name another program of an A6xx, and those that name the old one again.
fn program_a6xx(gpu: &Gpu, stage: Stage, words: &[u32]) -> anyhow::Result<Around> {
    let ProgramRegisters { first, start, length } = ProgramRegisters::of(stage);
    let units = (words.len() / 2 / LENGTH_UNIT) as u32;
    let set = |first_executed: u32, [low, high]: [u32; 2], units: u32| -> anyhow::Result<Vec<u32>> {
        let framing = gpu.chip.generation().framing;
        let registers = vec![
            writes(framing, first, 1),
            first_executed,
            writes(framing, start, 2),
            low,
            high,
            writes(framing, length, 1),
            units,
        ];
        Ok([registers, named_load6(StateKind::Instructions(stage), units, [low, high])?].concat())
    };
    let before = set(0, [0; 2], units)?;
    let old = [gpu.regs.read(start), gpu.regs.read(start + 1)];
    let after = set(gpu.regs.read(first), old, gpu.regs.read(length))?;
    // The address is behind the header of the second packet, and at the end.
    let program = Placed { named: vec![3, before.len() - 2], words: words.to_vec() };
    Ok(Around { before, after, programs: vec![program], ..Around::default() })
}

/// A CP_LOAD_STATE6 of `units` from an address.
fn named_load6(kind: StateKind, units: u32, [low, high]: [u32; 2]) -> anyhow::Result<Vec<u32>> {
    let place = |name: &str| field(CP_LOAD_STATE6_0::FIELDS, name, "CP_LOAD_STATE6");
    let (opcode, head) = head6(kind)?;
    let head = place("STATE_SRC")?.insert(head, a6xx::pm4::StateSrc::SS6_INDIRECT.to_bits());
    let units = units.min(place("NUM_UNIT")?.mask() >> place("NUM_UNIT")?.lo);
    let head = place("NUM_UNIT")?.insert(head, units);
    Ok(vec![command(Framing::Types4And7, opcode, 3), head, low, high])
}

fn load_program(stage: Stage, words: &[u32]) -> anyhow::Result<Vec<u32>> {
    load_state(StateKind::Instructions(stage), 0, words)
}

/// The field `name` of a word of `packet`.
fn field(fields: &'static [FieldRow], name: &str, packet: &str) -> anyhow::Result<&'static FieldRow> {
    fields.iter().find(|field| field.name == name).with_context(|| format!("{packet} has no {name}"))
}

/// A CP_LOAD_STATE4 with `values` in it, for whole units from unit `first` on.
fn load_state(kind: StateKind, first: u32, values: &[u32]) -> anyhow::Result<Vec<u32>> {
    let place = |name: &str| field(CP_LOAD_STATE4_0::FIELDS, name, "CP_LOAD_STATE4");
    let types = field(CP_LOAD_STATE4_1::FIELDS, "STATE_TYPE", "CP_LOAD_STATE4")?;
    let block = place("STATE_BLOCK")?;
    let all = (0..16).flat_map(|number| (0..4).map(move |ty| (block.insert(0, number), types.insert(0, ty))));
    let is_it = |(block, ty): &(u32, u32)| {
        state_kind(CP_LOAD_STATE4_0(*block).STATE_BLOCK(), CP_LOAD_STATE4_1(*ty).STATE_TYPE()) == kind
    };
    let (block, ty) = all.into_iter().find(is_it).context("no packet loads this state")?;
    let units = values.len() as u32 / (DEFAULT.loads.unit_dwords)(kind);
    let head = place("NUM_UNIT")?.insert(place("DST_OFF")?.insert(block, first), units);
    debug_assert_eq!(CP_LOAD_STATE4_0(head).STATE_SRC(), StateSrc::SS4_DIRECT);
    let header = command(Framing::Types0To3, LOAD_STATE4, 2 + values.len() as u32);
    Ok([&[header, head, ty], values].concat())
}

/// As [`load_state`], a CP_LOAD_STATE6.
fn load_state6(kind: StateKind, first: u32, values: &[u32]) -> anyhow::Result<Vec<u32>> {
    let place = |name: &str| field(CP_LOAD_STATE6_0::FIELDS, name, "CP_LOAD_STATE6");
    let (opcode, head) = head6(kind)?;
    let units = values.len() as u32 / a6xx::load_state::unit_dwords(kind);
    let head = place("NUM_UNIT")?.insert(place("DST_OFF")?.insert(head, first), units);
    let header = command(Framing::Types4And7, opcode, 3 + values.len() as u32);
    Ok([&[header, head, 0, 0], values].concat())
}

/// The opcode of a CP_LOAD_STATE6 of `kind`, and its first dword with the block and type.
fn head6(kind: StateKind) -> anyhow::Result<(u8, u32)> {
    let place = |name: &str| field(CP_LOAD_STATE6_0::FIELDS, name, "CP_LOAD_STATE6");
    let (block, types) = (place("STATE_BLOCK")?, place("STATE_TYPE")?);
    let all = (0..16).flat_map(|number| (0..4).map(move |ty| types.insert(block.insert(0, number), ty)));
    let is_it = |head: &u32| {
        let head = CP_LOAD_STATE6_0(*head);
        a6xx::load_state::state_kind(head.STATE_BLOCK(), head.STATE_TYPE()) == kind
    };
    let head = all.into_iter().find(is_it).context("no packet loads this state")?;
    let [geometry, fragments] = LOAD_STATE6;
    let opcode = match kind.stage() {
        Some(Stage::FS | Stage::CS) => fragments,
        _ => geometry,
    };
    Ok((opcode, head))
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::pm4::Pm4;
    use a4emu_decoder::adreno::packet::{Packet, Packets};

    use super::*;

    #[test]
    fn state_is_loaded_by_its_packet() {
        let words = load_state(StateKind::Constants(Stage::FS), 4, &[1, 2, 3, 4]).unwrap();
        let mut packets = Packets::new(DEFAULT.framing, &words);
        let Some(Ok(Packet::Command { opcode, payload, .. })) = packets.next() else { panic!("no packet") };
        let Pm4::LoadState4(load) = Pm4::parse(opcode, payload) else { panic!("another packet") };
        assert_eq!((load.kind(), load.dst.DST_OFF(), load.dwords()), (StateKind::Constants(Stage::FS), 4, 4));
        assert!(packets.next().is_none());
    }

    #[test]
    fn state_of_an_a6xx_is_loaded_by_its_packets() {
        for (stage, opcode) in [(Stage::VS, 0x32), (Stage::FS, 0x34), (Stage::CS, 0x34)] {
            let words = load_state6(StateKind::Constants(stage), 4, &[1, 2, 3, 4]).unwrap();
            let mut packets = Packets::new(Framing::Types4And7, &words);
            let Some(Ok(Packet::Command { opcode: is, payload, .. })) = packets.next() else {
                panic!("none")
            };
            let load = a6xx::pm4::Pm4::parse(is, payload).load().unwrap();
            let found = (is, load.kind(), load.dst.DST_OFF(), load.source());
            let values = a6xx::load_state::Source::Inline(&[1, 2, 3, 4]);
            assert_eq!(found, (opcode, StateKind::Constants(stage), 4, values));
        }
    }
}
