//! Writes the data of CP_LOAD_STATE4 as JSON: constants as numbers, descriptors by their fields.

use a4emu_decoder::adreno::load_state::StateKind;
use a4emu_decoder::bits::WordRow;
use serde::ser::{Serialize, SerializeMap, Serializer};

use super::jsonl::Fields;
use a4emu_gpu::cp::observer::Load;

/// The units of a load.
pub struct Units<'a>(Load<'a>);

impl<'a> Units<'a> {
    /// The units of `load`.
    pub fn of(load: &Load<'a>) -> Self {
        Self(*load)
    }
}

impl Serialize for Units<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let (kind, words) = (self.0.kind, self.0.words());
        serializer.collect_seq(self.0.units().map(|dwords| Unit { kind, words, dwords }))
    }
}

/// One constant or descriptor.
struct Unit<'a> {
    kind: StateKind,
    words: &'static [WordRow],
    dwords: &'a [u32],
}

impl Serialize for Unit<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("dwords", self.dwords)?;
        if let StateKind::Constants(_) = self.kind {
            let floats = self.dwords.iter().map(|&dword| f32::from_bits(dword));
            let floats: Vec<_> = floats.map(|float| float.is_finite().then_some(float)).collect();
            map.serialize_entry("floats", &floats)?;
        }
        if !self.words.is_empty() {
            map.serialize_entry("words", &Words { rows: self.words, dwords: self.dwords })?;
        }
        map.end()
    }
}

/// The words of a descriptor, by name.
struct Words<'a> {
    rows: &'static [WordRow],
    dwords: &'a [u32],
}

impl Serialize for Words<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let words = self.rows.iter().zip(self.dwords);
        serializer.collect_map(words.map(|(row, &word)| (row.name, Fields { rows: row.fields, word })))
    }
}
