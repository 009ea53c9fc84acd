//! The registers of two commands, field by field.

use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::bits::Kind;
use a4emu_decoder::bits::value::{FieldValue, fields, is_bare, unnamed_bits};

use super::Addresses;
use super::compare::Difference;

/// Registers, or fields of them, that drivers write only to divide a frame into tiles. Arrays have no index
/// here.
const OF_PASSES: &[(&str, Option<&str>)] = &[
    ("GRAS_DEPTH_CONTROL", None),
    ("GRAS_SC_CONTROL", Some("RENDER_MODE")),
    ("GRAS_SC_EXTENT_WINDOW_BR", None),
    ("GRAS_SC_EXTENT_WINDOW_TL", None),
    ("GRAS_SC_SCREEN_SCISSOR_BR", None),
    ("GRAS_SC_SCREEN_SCISSOR_TL", None),
    ("PC_BINNING_COMMAND", None),
    ("PC_VSTREAM_CONTROL", None),
    ("RB_BIN_OFFSET", None),
    ("RB_COPY_CONTROL", None),
    ("RB_COPY_DEST_BASE", None),
    ("RB_COPY_DEST_INFO", None),
    ("RB_COPY_DEST_PITCH", None),
    ("RB_DEPTH_INFO", None),
    ("RB_DEPTH_PITCH", None),
    ("RB_DEPTH_PITCH2", None),
    ("RB_MODE_CONTROL", None),
    ("RB_MRT[].BASE", None),
    ("RB_MRT[].BUF_INFO", Some("COLOR_BUF_PITCH")),
    ("RB_MRT[].BUF_INFO", Some("COLOR_TILE_MODE")),
    ("RB_MRT[].CONTROL3", None),
    ("RB_STENCIL_INFO", None),
    ("RB_STENCIL_PITCH", None),
    ("VSC_BIN_SIZE", None),
    ("VSC_PIPE_CONFIG[].REG", None),
    ("VSC_PIPE_DATA_ADDRESS[].REG", None),
    ("VSC_PIPE_DATA_LENGTH[].REG", None),
    ("VSC_SIZE_ADDRESS", None),
    ("VSC_SIZE_ADDRESS2", None),
];

/// Whether the registers of [`OF_PASSES`] are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PassRegisters {
    /// The registers are compared, since both frames have equal tiles.
    Compared,
    /// The registers are ignored, since the frames have different tiles.
    LeftOut,
}

/// `name` without the numbers in its brackets.
fn without_index(name: &str) -> String {
    let mut inside = false;
    let keep = |c: &char| {
        if *c == ']' {
            inside = false;
        }
        let kept = !inside;
        inside |= *c == '[';
        kept
    };
    name.chars().filter(keep).collect()
}

/// Whether `name` with `field` (none: the whole register) is only written to divide a frame into tiles.
fn is_of_passes(name: &str, field: Option<&str>) -> bool {
    let name = without_index(name);
    OF_PASSES.iter().any(|(known, only)| *known == name && (only.is_none() || *only == field))
}

/// Whether the register `name` belongs to a vertex input from number `inputs` on, which no draw reads.
pub fn is_unused_input(name: &str, inputs: usize) -> bool {
    let rest = name.strip_prefix("VFD_FETCH[").or_else(|| name.strip_prefix("VFD_DECODE["));
    let index = rest.and_then(|rest| rest.split(']').next()?.parse::<usize>().ok());
    index.is_some_and(|index| index >= inputs)
}

/// The fields of register `offset` that differ.
pub fn differences(
    registers: &'static RegisterTable,
    offset: u32,
    values: [Option<u32>; 2],
    addresses: Addresses,
    passes: PassRegisters,
) -> Vec<Difference> {
    let name = registers.name(offset).to_string();
    let left_out = |field| passes == PassRegisters::LeftOut && is_of_passes(&name, field);
    if left_out(None) {
        return Vec::new();
    }
    let rows = registers.fields(offset);
    let [Some(old), Some(new)] = values else {
        let [old, new] =
            values.map(|value| value.map_or_else(|| "not written".to_owned(), |it| format!("{it:#x}")));
        return vec![Difference::new(name, old, new)];
    };
    let differs = |(old, new): &(FieldValue, FieldValue)| {
        let is_address = matches!(old.row.kind, Kind::Addr(_)) && addresses == Addresses::Renamed;
        let is_place = is_address && (old.raw != 0) == (new.raw != 0);
        old.raw != new.raw && !is_place && !left_out(Some(old.row.name))
    };
    let pairs = fields(rows, old).zip(fields(rows, new)).filter(differs);
    let line = |(old, new): (FieldValue, FieldValue)| {
        let what = if is_bare(rows) { name.clone() } else { format!("{name}.{}", old.row.name) };
        Difference::new(what, old.to_string(), new.to_string())
    };
    let mut found: Vec<Difference> = pairs.map(line).collect();
    let [old, new] = [old, new].map(|word| unnamed_bits(rows, word));
    if old != new {
        found.push(Difference::new(name, format!("{old:#x}"), format!("{new:#x}")));
    }
    found
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::regs::REGISTERS;

    use super::*;

    #[test]
    fn every_register_of_the_table_exists() {
        let names: Vec<String> =
            (0..0x4000).map(|offset| without_index(&REGISTERS.name(offset).to_string())).collect();
        for (name, field) in OF_PASSES {
            let offset = names.iter().position(|known| known == name).unwrap_or_else(|| panic!("{name}"));
            let rows = REGISTERS.lookup(offset as u32).expect(name).fields();
            assert!(field.is_none_or(|field| rows.iter().any(|row| row.name == field)), "{name}.{field:?}");
        }
    }

    #[test]
    fn inputs_behind_the_last_are_unused() {
        for (name, inputs, expected) in [
            ("VFD_FETCH[2].INSTR_1", 2, true),
            ("VFD_FETCH[1].INSTR_1", 2, false),
            ("VFD_DECODE[31].INSTR", 31, true),
            ("VFD_CONTROL_0", 0, false),
        ] {
            assert_eq!(is_unused_input(name, inputs), expected, "{name}");
        }
    }

    #[test]
    fn addresses_are_renamed_and_nothing_else() {
        let offset = REGISTERS.by_name("SP_VS_OBJ_START").expect("a register");
        let of = |values, addresses| {
            differences(&REGISTERS, offset, values, addresses, PassRegisters::Compared).len()
        };
        assert_eq!(of([Some(0x1000), Some(0x2000)], Addresses::Renamed), 0);
        assert_eq!(of([Some(0x1000), Some(0x2000)], Addresses::Compared), 1);
        assert_eq!(of([Some(0x1000), Some(0)], Addresses::Renamed), 1, "an address is not nothing");
        assert_eq!(of([Some(0x1000), None], Addresses::Renamed), 1);
    }
}
