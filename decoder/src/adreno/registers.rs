//! The table of a generation's registers: rows by block, found by offset or by name.

use std::collections::HashMap;
use std::fmt;
use std::sync::OnceLock;

use crate::bits::{Certainty, FieldRow, Naming, RegRow};

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
    /// A block with these rows.
    pub const fn new(name: &'static str, about: &'static str, regs: &'static [RegRow]) -> Self {
        Self { name, about, regs }
    }
}

/// The registers of a generation.
#[derive(Debug)]
pub struct RegisterTable {
    blocks: &'static [Block],
    /// Block and row of every offset.
    index: &'static [Slot],
    /// Made when the first register is asked for by name.
    names: OnceLock<Names>,
}

/// The names of registers. Of equal names, the first row counts.
#[derive(Debug, Default)]
struct Names {
    /// Rows whose elements have an index, by the names of the row and of the register in an element.
    indexed: HashMap<[&'static str; 2], &'static RegRow>,
    /// Offsets of the other registers, by their whole names.
    flat: HashMap<String, u32>,
}

/// Block and row of an offset.
pub type Slot = (u8, u8);

/// The slot of an offset without a row.
const NOBODY: Slot = (u8::MAX, u8::MAX);

/// Block and row of each of the first `SPACE` offsets. A block has less than 255 rows.
pub const fn index<const SPACE: usize>(blocks: &[Block]) -> [Slot; SPACE] {
    let mut index = [NOBODY; SPACE];
    let mut block = 0;
    assert!(blocks.len() < u8::MAX as usize);
    while block < blocks.len() {
        assert!(blocks[block].regs.len() < u8::MAX as usize);
        let mut row = 0;
        while row < blocks[block].regs.len() {
            let reg = &blocks[block].regs[row];
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

impl RegisterTable {
    /// The table of `blocks`, with their [`index`].
    pub const fn new(blocks: &'static [Block], index: &'static [Slot]) -> Self {
        Self { blocks, index, names: OnceLock::new() }
    }

    /// Every hardware block.
    pub const fn blocks(&self) -> &'static [Block] {
        self.blocks
    }

    /// Number of register offsets that the generation has.
    pub const fn space(&self) -> usize {
        self.index.len()
    }

    /// The rows of all blocks.
    pub fn rows(&self) -> impl Iterator<Item = &'static RegRow> + use<> {
        self.blocks.iter().flat_map(|block| block.regs)
    }

    /// Every register, arrays element by element, block by block.
    pub fn all(&self) -> impl Iterator<Item = RegRef> + use<> {
        self.rows().flat_map(|row| (0..row.len).map(move |index| RegRef { row, index }))
    }

    /// The register at a dword offset; `None` if the offset has no row.
    pub fn lookup(&self, offset: u32) -> Option<RegRef> {
        let (block, row) = *self.index.get(offset as usize)?;
        let row = self.blocks.get(block as usize)?.regs.get(row as usize)?;
        let index = (offset - row.offset).checked_div(row.stride).unwrap_or(0);
        Some(RegRef { row, index })
    }

    /// The fields of the register at a dword offset, from bit 0 up; none if the offset has no row.
    pub fn fields(&self, offset: u32) -> &'static [FieldRow] {
        self.lookup(offset).map_or(&[], RegRef::fields)
    }

    /// The hardware block to which the register at a dword offset belongs.
    pub fn block(&self, offset: u32) -> Option<&'static Block> {
        let (block, _) = *self.index.get(offset as usize)?;
        self.blocks.get(usize::from(block))
    }

    /// The name of a dword offset: `NAME`, `NAME[i].SUB`, `NAME[i]` or `NAME_i`, with a decimal index, or `UNKNOWN_xxxx`.
    pub const fn name(&'static self, offset: u32) -> RegName {
        RegName { registers: self, offset }
    }

    /// Parses a register as a user writes it, to a dword offset.
    ///
    /// Accepted are a database name (`RB_MRT[0].CONTROL`, the index decimal or `0x` hexadecimal), `UNKNOWN_xxxx`,
    /// or an offset in decimal or `0x` hexadecimal. `None` if the text is none of them or outside of the register
    /// space.
    pub fn by_name(&self, text: &str) -> Option<u32> {
        let offset = number(text)
            .or_else(|| self.named(text))
            .or_else(|| self.flat(text))
            .or_else(|| unknown(text))?;
        ((offset as usize) < self.space()).then_some(offset)
    }

    /// The register that headers call `name`, without their prefix: `RB_DEPTH_CONTROL`, `RB_MRT_CONTROL(0)`.
    pub(crate) fn by_header(&self, name: &str) -> Option<u32> {
        self.named(name).or_else(|| self.flat(name)).or_else(|| self.element(name))
    }

    /// An element of an array in the words of the headers: `RB_MRT_CONTROL(0)`, or `RB_MRT(0)`, which is its first register.
    fn element(&self, text: &str) -> Option<u32> {
        let (name, index) = text.strip_suffix(')')?.split_once('(')?;
        let index = number(index)?;
        let is_named = |row: &&RegRow| {
            let sub = name.strip_prefix(row.name).and_then(|rest| rest.strip_prefix('_'));
            row.naming == Naming::Indexed && index < row.len && (name == row.name || sub == Some(row.sub))
        };
        let found = self.rows().filter(|row| !row.sub.is_empty()).filter(is_named);
        found.map(|row| row.offset + index * row.stride).min()
    }

    fn named(&self, text: &str) -> Option<u32> {
        let (name, index, sub) = match text.split_once('[') {
            None => (text, 0, ""),
            Some((name, rest)) => {
                let (index, sub) = rest.split_once(']')?;
                let sub = if sub.is_empty() { sub } else { sub.strip_prefix('.')? };
                (name, number(index)?, sub)
            }
        };
        let row = self.names().indexed.get(&[name, sub])?;
        (index < row.len).then(|| row.offset + index * row.stride)
    }

    fn flat(&self, text: &str) -> Option<u32> {
        self.names().flat.get(text).copied()
    }

    fn names(&self) -> &Names {
        self.names.get_or_init(|| {
            let mut names = Names::default();
            for row in self.rows() {
                match row.naming {
                    Naming::Indexed => drop(names.indexed.entry([row.name, row.sub]).or_insert(row)),
                    Naming::Flat => {
                        for reg in (0..row.len).map(|index| RegRef { row, index }) {
                            names.flat.entry(reg.to_string()).or_insert(reg.offset());
                        }
                    }
                }
            }
            names
        })
    }
}

/// One register: its row, and its element in an array. Displays as its name.
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

    /// Whether a public source names the register.
    pub const fn certainty(self) -> Certainty {
        self.row.certainty
    }
}

impl fmt::Display for RegRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { row, index } = *self;
        match (row.naming, row.sub) {
            (_, "") if row.len > 1 => write!(f, "{}[{index}]", row.name),
            (_, "") => f.write_str(row.name),
            (Naming::Indexed, sub) => write!(f, "{}[{index}].{sub}", row.name),
            (Naming::Flat, "REG") => write!(f, "{}_{index}", row.name),
            (Naming::Flat, sub) => write!(f, "{}_{index}_{sub}", row.name),
        }
    }
}

/// Displays the name of an offset; `UNKNOWN_xxxx` if it has none.
#[derive(Clone, Copy, Debug)]
pub struct RegName {
    /// The registers in which it was found.
    pub registers: &'static RegisterTable,
    /// Dword offset.
    pub offset: u32,
}

impl fmt::Display for RegName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.registers.lookup(self.offset) {
            Some(reg) => reg.fmt(f),
            None => write!(f, "UNKNOWN_{:04X}", self.offset),
        }
    }
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
