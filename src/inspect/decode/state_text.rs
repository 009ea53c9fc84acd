//! Writes the data of CP_LOAD_STATE4 as lines of text.

use a4emu_decoder::adreno::address::Address;
use std::fmt;

use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::bits::WordRow;
use a4emu_decoder::bits::value::{Show, WordText};

use super::sink::{Code, instructions};
use a4emu_gpu::cp::observer::Load;

/// Dwords on a line of unknown data.
const RAW: usize = 4;

/// A line about loaded state.
pub enum Line<'a> {
    /// An instruction.
    Code(Code),
    /// A vec4 of constants, with its number.
    Constant(u32, &'a [u32]),
    /// A word of the descriptor in a slot.
    Descriptor(u32, &'static WordRow, u32),
    /// Dwords of unknown data.
    Raw(&'a [u32]),
    /// A number of dwords at an address that are missing.
    Missing(u32, Address),
}

/// The lines that describe `loaded`, in order. The last line reports missing data.
pub fn lines<'a>(loaded: &'a Load<'a>) -> impl Iterator<Item = Line<'a>> {
    let numbered = |len| (loaded.first..).zip(loaded.data.chunks(len));
    let body: Box<dyn Iterator<Item = Line<'a>>> = match loaded.kind {
        StateKind::Instructions(_) => Box::new(instructions(loaded).map(Line::Code)),
        StateKind::Constants(_) => Box::new(numbered(RAW).map(|(index, vec4)| Line::Constant(index, vec4))),
        _ if !loaded.words().is_empty() => {
            let rows = loaded.words();
            Box::new(numbered(rows.len()).flat_map(move |(slot, unit)| {
                rows.iter().zip(unit).map(move |(row, &word)| Line::Descriptor(slot, row, word))
            }))
        }
        _ => Box::new(loaded.data.chunks(RAW).map(Line::Raw)),
    };
    body.chain(missing(loaded))
}

fn missing(loaded: &Load<'_>) -> Option<Line<'static>> {
    loaded.missing().map(|(dwords, address)| Line::Missing(dwords, address))
}

impl fmt::Display for Line<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Code(code) => write!(f, "{:4}: {:08x}_{:08x}  {code}", code.index, code.hi, code.lo),
            Self::Constant(index, vec4) => {
                write!(f, "c{index}:")?;
                vec4.iter().try_for_each(|dword| write!(f, " {dword:08x}"))?;
                f.write_str(" ")?;
                vec4.iter().try_for_each(|&dword| write!(f, " {:?}", f32::from_bits(dword)))
            }
            Self::Descriptor(slot, row, word) => {
                let text = WordText { rows: row.fields, word, show: Show::Full };
                write!(f, "[{slot}] {:12} {word:08x} {text}", row.name)
            }
            Self::Raw(dwords) => dwords.iter().enumerate().try_for_each(|(i, dword)| {
                f.write_str(if i == 0 { "" } else { " " })?;
                write!(f, "{dword:08x}")
            }),
            Self::Missing(dwords, address) => {
                write!(f, "{dwords} dwords at {address:08x} are not in the capture")
            }
        }
    }
}
