//! The A4xx register database, one file per hardware block.
//!
//! Source: a4xx.xml and adreno_common.xml of Mesa, docs/hardware/registers.md. Rows marked `inferred` have no
//! public name. Their comments give the reason, and what would settle it.
//!
//! Printed text differs from that of Mesa's decoder in spelling: array indices are decimal, whole numbers
//! have at most one zero after the point, and zero fields may be hidden. It also has fields that Mesa does
//! not have, which `tests/register_facts.rs` lists.
use std::fmt;

use crate::bits::{Certainty, FieldRow, Naming, RegRow};

pub mod cp;
pub mod enums;
pub mod gras;
pub mod groups;
pub mod hlsq;
pub mod pc;
pub mod rb;
pub mod rbbm;
pub mod rbbm_clock;
pub mod rbbm_perfctr;
pub mod sp;
pub mod sp_geometry;
pub mod tex;
pub mod tpl1;
pub mod uche;
pub mod vbif;
pub mod vfd;
pub mod vpc;
pub mod vsc;

/// A hardware block, or a part of one that has a file of its own.
#[derive(Clone, Copy, Debug)]
pub struct Block {
    /// Name of the block, which is also the prefix of most of its register names.
    pub name: &'static str,
    /// What the block does.
    pub about: &'static str,
    /// Registers of the block.
    pub regs: &'static [RegRow],
}

impl Block {
    const fn new(name: &'static str, about: &'static str, regs: &'static [RegRow]) -> Self {
        Self { name, about, regs }
    }
}

/// Every hardware block.
pub static BLOCKS: [Block; 16] = [
    Block::new("RBBM", "register bus, reset, power, interrupts and status", rbbm::REGS),
    Block::new("RBBM", "clock gating", rbbm_clock::REGS),
    Block::new("RBBM", "performance counters", rbbm_perfctr::REGS),
    Block::new("CP", "command processor", cp::REGS),
    Block::new("VSC", "visibility stream compressor", vsc::REGS),
    Block::new("GRAS", "clipping, viewport, triangle set-up and scissors", gras::REGS),
    Block::new("RB", "render backend: colour, depth, stencil, blending, copies", rb::REGS),
    Block::new("PC", "primitive control, index handling, tessellation", pc::REGS),
    Block::new("VFD", "vertex fetch and decode", vfd::REGS),
    Block::new("VPC", "varyings and stream-out", vpc::REGS),
    Block::new("SP", "shader processor: vertex, fragment and compute stages", sp::REGS),
    Block::new("SP", "shader processor: hull, domain and geometry stages", sp_geometry::REGS),
    Block::new("TPL1", "texture pipe", tpl1::REGS),
    Block::new(
        "HLSQ",
        "high level sequencer: constant and program stores, fragment inputs, compute dispatch",
        hlsq::REGS,
    ),
    Block::new("UCHE", "unified cache", uche::REGS),
    Block::new("VBIF", "bus interface", vbif::REGS),
];

/// The rows of all blocks.
pub fn rows() -> impl Iterator<Item = &'static RegRow> {
    BLOCKS.iter().flat_map(|block| block.regs)
}

/// Number of register offsets on A4xx. Type-0 packets have 15 bits for an offset.
pub const SPACE: usize = 0x4000;

/// Block and row of every offset; `NOBODY` for an offset without a row.
static INDEX: [(u8, u8); SPACE] = index();
const NOBODY: (u8, u8) = (u8::MAX, u8::MAX);

const fn index() -> [(u8, u8); SPACE] {
    let mut index = [NOBODY; SPACE];
    let mut block = 0;
    while block < BLOCKS.len() {
        let mut row = 0;
        while row < BLOCKS[block].regs.len() {
            let reg = &BLOCKS[block].regs[row];
            let mut i = 0;
            while i < reg.len {
                index[(reg.offset + i * reg.stride) as usize] = (block as u8, row as u8);
                i += 1;
            }
            row += 1;
        }
        block += 1;
    }
    index
}

/// One register: its row, and its element in an array.
#[derive(Clone, Copy, Debug)]
pub struct RegRef {
    /// The row of the database.
    pub row: &'static RegRow,
    /// Index of the array element; 0 outside arrays.
    pub index: u32,
}

impl RegRef {
    /// Dword offset of the register.
    pub const fn offset(self) -> u32 {
        self.row.offset + self.index * self.row.stride
    }

    /// Fields of the register, from bit 0 up.
    pub const fn fields(self) -> &'static [FieldRow] {
        self.row.fields
    }

    /// The hardware block to which the register belongs.
    pub fn block(self) -> Option<&'static Block> {
        let (block, _) = *INDEX.get(self.offset() as usize)?;
        BLOCKS.get(usize::from(block))
    }

    /// Whether a public source names the register.
    pub const fn certainty(self) -> Certainty {
        self.row.certainty
    }

    /// The name in the database: `NAME`, `NAME[i].SUB` or `NAME_i`, with a decimal index.
    pub const fn name(self) -> RegName {
        RegName { offset: self.offset() }
    }
}

/// Displays the name of an offset; `UNKNOWN_xxxx` if it has none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegName {
    /// Dword offset.
    pub offset: u32,
}

impl fmt::Display for RegName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match lookup(self.offset) {
            None => write!(f, "UNKNOWN_{:04X}", self.offset),
            Some(reg) if reg.row.sub.is_empty() => f.write_str(reg.row.name),
            Some(RegRef { row, index }) => match (row.naming, row.sub) {
                (Naming::Indexed, sub) => write!(f, "{}[{index}].{sub}", row.name),
                (Naming::Flat, "REG") => write!(f, "{}_{index}", row.name),
                (Naming::Flat, sub) => write!(f, "{}_{index}_{sub}", row.name),
            },
        }
    }
}

/// The register at a dword offset; `None` if the offset has no row.
pub fn lookup(offset: u32) -> Option<RegRef> {
    let (block, row) = *INDEX.get(offset as usize)?;
    let row = BLOCKS.get(block as usize)?.regs.get(row as usize)?;
    let index = (offset - row.offset).checked_div(row.stride).unwrap_or(0);
    Some(RegRef { row, index })
}

/// Every register of the database, arrays element by element, block by block.
pub fn all() -> impl Iterator<Item = RegRef> {
    rows().flat_map(|row| (0..row.len).map(move |index| RegRef { row, index }))
}

/// Parses a register as a user writes it, to a dword offset.
///
/// Accepted are a database name (`RB_MRT[0].CONTROL`, the index decimal or `0x` hexadecimal), the name in Mesa's
/// headers (`REG_A4XX_RB_MRT_CONTROL(0)`, `A4XX_RB_DEPTH_CONTROL`), `UNKNOWN_xxxx`, or an offset in decimal or `0x`
/// hexadecimal. `None` if the text is none of them or outside of the register space.
pub fn by_name(text: &str) -> Option<u32> {
    let of_database = |text| named(text).or_else(|| flat(text));
    let of_headers = || of_database(without_prefix(text)?).or_else(|| element(without_prefix(text)?));
    let offset = number(text).or_else(|| of_database(text)).or_else(of_headers).or_else(|| unknown(text))?;
    ((offset as usize) < SPACE).then_some(offset)
}

/// The name behind the prefix of Mesa's headers: `REG_A4XX_`, `A4XX_`, and `AXXX_` of registers of all generations.
pub fn without_prefix(text: &str) -> Option<&str> {
    let text = text.strip_prefix("REG_").unwrap_or(text);
    text.strip_prefix("A4XX_").or_else(|| text.strip_prefix("AXXX_"))
}

/// An element of an array in the words of the headers: `RB_MRT_CONTROL(0)`, or `RB_MRT(0)`, which is its first register.
fn element(text: &str) -> Option<u32> {
    let (name, index) = text.strip_suffix(')')?.split_once('(')?;
    let index = number(index)?;
    let is_named = |row: &&RegRow| {
        let sub = name.strip_prefix(row.name).and_then(|rest| rest.strip_prefix('_'));
        row.naming == Naming::Indexed && index < row.len && (name == row.name || sub == Some(row.sub))
    };
    let found = rows().filter(|row| !row.sub.is_empty()).filter(is_named);
    found.map(|row| row.offset + index * row.stride).min()
}

fn named(text: &str) -> Option<u32> {
    let (name, index, sub) = match text.split_once('[') {
        None => (text, 0, ""),
        Some((name, rest)) => {
            let (index, sub) = rest.split_once("].")?;
            (name, number(index)?, sub)
        }
    };
    let row = rows().find(|row| row.name == name && row.sub == sub && row.naming == Naming::Indexed)?;
    (index < row.len).then(|| row.offset + index * row.stride)
}

fn flat(text: &str) -> Option<u32> {
    all()
        .filter(|reg| reg.row.naming == Naming::Flat)
        .map(RegRef::offset)
        .find(|&offset| RegName { offset }.to_string() == text)
}

fn unknown(text: &str) -> Option<u32> {
    let digits = text.strip_prefix("UNKNOWN_")?;
    u32::from_str_radix(digits, 16).ok()
}

fn number(text: &str) -> Option<u32> {
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}
