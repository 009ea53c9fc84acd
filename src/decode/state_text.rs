//! What CP_LOAD_STATE4 loads, as lines of text.

use std::fmt;

use a4emu_decoder::bits::WordRow;
use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::load_state::StateKind;

use super::sink::instructions;
use crate::cp::observer::Load;

/// Dwords on a line where nothing is known about them.
const RAW: usize = 4;

/// The lines that describe `loaded`, in order; the last says what is missing.
pub fn lines<'a>(loaded: &'a Load<'a>) -> Box<dyn Iterator<Item = String> + 'a> {
    let body: Box<dyn Iterator<Item = String>> = match loaded.kind {
        StateKind::Instructions(_) => Box::new(code(loaded)),
        StateKind::Constants(_) => Box::new(constants(loaded)),
        kind if !kind.words().is_empty() => Box::new(descriptors(loaded, kind.words())),
        _ => Box::new(raw(loaded)),
    };
    Box::new(body.chain(missing(loaded)))
}

fn code(loaded: &Load<'_>) -> impl Iterator<Item = String> {
    instructions(loaded).map(|code| format!("{:4}: {:08x}_{:08x}  {code}", code.index, code.hi, code.lo))
}

fn constants(loaded: &Load<'_>) -> impl Iterator<Item = String> {
    (loaded.first..).zip(loaded.data.chunks(RAW)).map(|(index, vec4)| format!("c{index}:{}", Vec4(vec4)))
}

/// Four dwords in hexadecimal, then as floats.
struct Vec4<'a>(&'a [u32]);

impl fmt::Display for Vec4<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|dword| write!(f, " {dword:08x}"))?;
        f.write_str(" ")?;
        self.0.iter().try_for_each(|&dword| write!(f, " {:?}", f32::from_bits(dword)))
    }
}

fn descriptors<'a>(loaded: &'a Load<'a>, words: &'static [WordRow]) -> impl Iterator<Item = String> + 'a {
    let units = (loaded.first..).zip(loaded.data.chunks(words.len()));
    units.flat_map(move |(slot, unit)| {
        words.iter().zip(unit).map(move |(row, &word)| {
            let text = WordText { rows: row.fields, word, show: Show::Full };
            format!("[{slot}] {:12} {word:08x} {text}", row.name)
        })
    })
}

fn raw(loaded: &Load<'_>) -> impl Iterator<Item = String> {
    loaded.data.chunks(RAW).map(|line| {
        let hex: Vec<_> = line.iter().map(|dword| format!("{dword:08x}")).collect();
        hex.join(" ")
    })
}

fn missing(loaded: &Load<'_>) -> Option<String> {
    let held = loaded.data.len() as u32;
    (held < loaded.announced).then(|| {
        let address = loaded.address.wrapping_add(held * 4);
        format!("{} dwords at {address:08x} are not in the capture", loaded.announced - held)
    })
}
