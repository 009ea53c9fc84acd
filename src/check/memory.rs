//! Memory that a case holds: ranges of its manifest, as they are at the end of the replay.

use std::fmt::Write;

use a4emu_decoder::adreno::address::Address;
use a4emu_gpu::memory::Memory;
use a4emu_inspect::memory::Place;
use serde::{Deserialize, Deserializer};

/// Most bytes of the ranges of a case: a golden is text that people read.
const MAX_BYTES: u64 = 1 << 20;
/// Bytes of a line.
const LINE: usize = 16;

/// Ranges of memory, in whole dwords.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ranges(Vec<(Address, u64)>);

impl Ranges {
    /// Whether the case holds no memory.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The contents, in the golden format: for each range a line with its address and length, and lines of four dwords.
    pub fn text(&self, memory: &Memory) -> String {
        let mut text = String::new();
        for (start, bytes) in &self.0 {
            let _ = writeln!(text, "{start}+{bytes}");
            for line in (0..*bytes).step_by(LINE) {
                let at = |offset: u64| Address::new(start.get().wrapping_add(offset));
                let _ = write!(text, "  {:x}:", at(line).get());
                for offset in (line..(line + LINE as u64).min(*bytes)).step_by(4) {
                    let _ = match memory.read_u32(at(offset)) {
                        Some(word) => write!(text, " {word:08x}"),
                        None => write!(text, " missing"),
                    };
                }
                text.push('\n');
            }
        }
        text
    }
}

impl<'de> Deserialize<'de> for Ranges {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let range = |text: String| {
            let place: Place = text.parse()?;
            let range = place.range().filter(|(start, bytes)| {
                start.get().is_multiple_of(4) && bytes.is_multiple_of(4) && *bytes > 0
            });
            range.ok_or_else(|| format!("`{text}` is no range of dwords such as 0x1040000+64"))
        };
        let texts = Vec::<String>::deserialize(from)?;
        let ranges = texts.into_iter().map(range).collect::<Result<Vec<_>, String>>();
        let ranges = ranges.map_err(serde::de::Error::custom)?;
        if ranges.iter().fold(0, |sum: u64, (_, bytes)| sum.saturating_add(*bytes)) > MAX_BYTES {
            return Err(serde::de::Error::custom(format!("the ranges have more than {MAX_BYTES} bytes")));
        }
        Ok(Self(ranges))
    }
}
