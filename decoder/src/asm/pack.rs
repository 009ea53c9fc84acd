//! Encodes packet headers and CP_LOAD_STATE4 heads from their parts: the inverse of [`crate::adreno::packet`] and
//! [`crate::adreno::load_state`].

use std::fmt;

use crate::a4xx::enums::{StateBlock, StateSrc, StateType};
use crate::a4xx::load_state::state_kind;
use crate::a4xx::pm4::{CP_LOAD_STATE4_0, CP_LOAD_STATE4_1};
use crate::adreno::load_state::{Pipe, StateKind};
use crate::adreno::packet::{PKT0, PKT3, PKT4, PKT7, odd_parity};
use crate::bits::{FieldRow, parse};
use crate::generation::Framing;

/// Largest number of payload dwords of a packet.
pub const MAX_COUNT: u32 = 0x4000;
/// Opcode of CP_LOAD_STATE4.
pub const LOAD_STATE4: u8 = 0x30;

/// Opcode of CP_NOP.
const NOP: u8 = 0x10;

/// Builds a word from the values of its fields.
fn assemble(rows: &'static [FieldRow], values: &[(&str, u32)]) -> u32 {
    values.iter().fold(0, |word, (name, value)| match parse::field(rows, name) {
        Some(row) => row.insert(word, *value),
        None => word,
    })
}

/// Header of `count` (1 to [`MAX_COUNT`]) register writes from `reg` on.
pub fn type0(reg: u32, count: u32) -> u32 {
    assemble(PKT0::FIELDS, &[("REG", reg), ("COUNT", count.wrapping_sub(1))])
}

/// Header of `count` writes to `reg`.
pub fn type0_one_reg(reg: u32, count: u32) -> u32 {
    assemble(PKT0::FIELDS, &[("REG", reg), ("ONE_REG", 1), ("COUNT", count.wrapping_sub(1))])
}

/// Header of a command of `count` (1 to [`MAX_COUNT`]) dwords.
pub fn type3(opcode: u8, count: u32) -> u32 {
    assemble(PKT3::FIELDS, &[("OPCODE", opcode.into()), ("COUNT", count.wrapping_sub(1)), ("TYPE", 3)])
}

/// As [`type3`], of a command that executes only if the predicate is set.
pub fn type3_predicated(opcode: u8, count: u32) -> u32 {
    type3(opcode, count) | assemble(PKT3::FIELDS, &[("PREDICATED", 1)])
}

/// Header of `count` register writes from `reg` on (type 4).
pub fn type4(reg: u32, count: u32) -> u32 {
    let parity = [("COUNT_PARITY", odd_parity(count)), ("REG_PARITY", odd_parity(reg)), ("TYPE", 4)];
    assemble(PKT4::FIELDS, &[("COUNT", count), ("REG", reg)]) | assemble(PKT4::FIELDS, &parity)
}

/// Header of a command of `count` dwords (type 7).
pub fn type7(opcode: u8, count: u32) -> u32 {
    let parity =
        [("COUNT_PARITY", odd_parity(count)), ("OPCODE_PARITY", odd_parity(opcode.into())), ("TYPE", 7)];
    assemble(PKT7::FIELDS, &[("COUNT", count), ("OPCODE", opcode.into())]) | assemble(PKT7::FIELDS, &parity)
}

/// Header of `count` register writes from `reg` on, as streams of `framing` have it.
pub fn writes(framing: Framing, reg: u32, count: u32) -> u32 {
    match framing {
        Framing::Types0To3 => type0(reg, count),
        Framing::Types4And7 => type4(reg, count),
    }
}

/// Header of a command of `count` dwords, as streams of `framing` have it.
pub fn command(framing: Framing, opcode: u8, count: u32) -> u32 {
    match framing {
        Framing::Types0To3 => type3(opcode, count),
        Framing::Types4And7 => type7(opcode, count),
    }
}

/// Most registers that one packet of `framing` writes, and most dwords of a command.
pub const fn most(framing: Framing) -> [u32; 2] {
    match framing {
        Framing::Types0To3 => [MAX_COUNT; 2],
        Framing::Types4And7 => [0x7f, 0x3fff],
    }
}

/// The header of a CP_NOP with as many dwords as the command of `header`.
pub fn silenced(framing: Framing, header: u32) -> u32 {
    match framing {
        Framing::Types0To3 => type3(NOP, PKT3(header).COUNT() + 1),
        Framing::Types4And7 => type7(NOP, PKT7(header).COUNT()),
    }
}

/// Block and type of a state load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StateTarget {
    block: StateBlock,
    kind: StateType,
}

impl StateTarget {
    /// Every target that has a name.
    fn all() -> impl Iterator<Item = Self> {
        let kinds = [StateType::ST4_SHADER, StateType::ST4_CONSTANTS, StateType::ST4_UBO];
        let targets = (0..16)
            .flat_map(move |block| kinds.map(|kind| Self { block: StateBlock::from_bits(block), kind }));
        targets.filter(|target| target.kind() != StateKind::Unknown)
    }

    /// The kind of state that is loaded.
    pub fn kind(self) -> StateKind {
        state_kind(self.block, self.kind)
    }

    /// The target with this name, e.g. `FS.constants`.
    pub fn by_name(name: &str) -> Option<Self> {
        Self::all().find(|target| target.to_string() == name)
    }
}

impl fmt::Display for StateTarget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut write = |owner: &dyn fmt::Debug, what: &str| write!(f, "{owner:?}.{what}");
        match self.kind() {
            StateKind::Instructions(stage) => write(&stage, "shader"),
            StateKind::Constants(stage) => write(&stage, "constants"),
            StateKind::SharedConstants(_) => f.write_str("shared_constants"),
            StateKind::Samplers(stage) => write(&stage, "samplers"),
            StateKind::Textures(stage) => write(&stage, "textures"),
            StateKind::Ubos(stage) => match self.block.to_bits() < SHADER_BLOCKS {
                true => write(&stage, "texture_ubos"),
                false => write(&stage, "ubos"),
            },
            StateKind::SsboDescriptors(pipe) => {
                f.write_str(ssbo(pipe)).and_then(|()| f.write_str("descriptors"))
            }
            StateKind::SsboSizes(pipe) => f.write_str(ssbo(pipe)).and_then(|()| f.write_str("sizes")),
            StateKind::SsboAddresses(pipe) => f.write_str(ssbo(pipe)).and_then(|()| f.write_str("addresses")),
            StateKind::Unknown => f.write_str("unknown"),
        }
    }
}

/// The first block of the shaders; all later ones are shaders too.
const SHADER_BLOCKS: u32 = StateBlock::SB4_VS_SHADER.to_bits();

fn ssbo(pipe: Pipe) -> &'static str {
    match pipe {
        Pipe::Graphics => "SSBO.",
        Pipe::Compute => "CS_SSBO.",
    }
}

/// Why a load cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoadError {
    /// Too many units: NUM_UNIT has 10 bits.
    #[error("{0} units; a load has at most 1023")]
    Units(u32),
    /// The first unit is too large: DST_OFF has 14 bits.
    #[error("unit {0} is out of reach; a load starts at most at 16383")]
    First(u32),
    /// The address is not a multiple of 4: EXT_SRC_ADDR has no low bits.
    #[error("{0:#x} is not a multiple of 4")]
    Unaligned(u32),
}

fn head(
    target: StateTarget,
    src: StateSrc,
    first: u32,
    units: u32,
    address: u32,
) -> Result<[u32; 2], LoadError> {
    match (first, units, address) {
        (_, 0x400.., _) => return Err(LoadError::Units(units)),
        (0x4000.., _, _) => return Err(LoadError::First(first)),
        _ if !address.is_multiple_of(4) => return Err(LoadError::Unaligned(address)),
        _ => {}
    }
    let dst = [
        ("DST_OFF", first),
        ("STATE_SRC", src.to_bits()),
        ("STATE_BLOCK", target.block.to_bits()),
        ("NUM_UNIT", units),
    ];
    let src = assemble(CP_LOAD_STATE4_1::FIELDS, &[("STATE_TYPE", target.kind.to_bits())]);
    Ok([assemble(CP_LOAD_STATE4_0::FIELDS, &dst), src | address])
}

/// The first two dwords of a load whose data follows in the packet.
///
/// # Errors
/// A number does not fit its field.
pub fn load_state_inline(target: StateTarget, first: u32, units: u32) -> Result<[u32; 2], LoadError> {
    head(target, StateSrc::SS4_DIRECT, first, units, 0)
}

/// The dwords of a load from memory.
///
/// # Errors
/// A number does not fit its field.
pub fn load_state_memory(
    target: StateTarget,
    first: u32,
    units: u32,
    address: u32,
) -> Result<[u32; 2], LoadError> {
    head(target, StateSrc::SS4_INDIRECT, first, units, address)
}

impl From<(StateBlock, StateType)> for StateTarget {
    fn from((block, kind): (StateBlock, StateType)) -> Self {
        Self { block, kind }
    }
}
