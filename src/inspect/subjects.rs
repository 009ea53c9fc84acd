//! What `--query` asks for, by any of its names: registers, dwords of packets, words of descriptors, and fields of them.

use a4emu_decoder::adreno::pm4::PacketRow;
use a4emu_decoder::adreno::registers::{RegName, RegRef};
use a4emu_decoder::bits::{EnumTable, FieldRow, Kind, WordRow};
use a4emu_decoder::generation::Generation;
use a4emu_decoder::names::{fits, is_pattern};
use a4emu_decoder::similar::{hint, near};

use crate::register_names::{Asked, found, near_names, unknown};
use a4emu_support::status::Failure;

/// A word that has a name.
#[derive(Clone, Copy, Debug)]
pub enum Source {
    /// A register.
    Register(RegName),
    /// A dword of a packet's payload, below [`PacketRow::named_dwords`].
    Dword(&'static PacketRow, usize),
    /// A word of a descriptor in memory.
    Word(&'static WordRow),
}

/// A word, one field of it, or one value of the field.
#[derive(Clone, Copy, Debug)]
pub struct Subject {
    /// The word.
    pub source: Source,
    /// The field, if only one is asked for.
    pub field: Option<&'static FieldRow>,
    /// The value, if the text names an enumerator: bits of `field`.
    pub value: Option<u32>,
    /// Whether the text may match several words.
    pub by_pattern: bool,
}

impl Source {
    /// All fields of the word.
    pub fn fields(self) -> &'static [FieldRow] {
        match self {
            Self::Register(register) => register.registers.fields(register.offset),
            Self::Dword(row, index) => row.dword(index).map_or(&[], |dword| dword.fields),
            Self::Word(row) => row.fields,
        }
    }

    /// The name of the word.
    pub fn name(self) -> String {
        match self {
            Self::Register(register) => register.to_string(),
            Self::Dword(row, index) => row.dword_name(index),
            Self::Word(row) => row.name.to_owned(),
        }
    }

    fn whole(self) -> Subject {
        Subject { source: self, field: None, value: None, by_pattern: false }
    }

    /// The fields that `is_asked` selects, each as a subject.
    fn some_fields(self, is_asked: impl Fn(&FieldRow) -> bool) -> impl Iterator<Item = Subject> {
        let fields = self.fields().iter().filter(move |row| is_asked(row));
        fields.map(move |row| Subject { field: Some(row), by_pattern: true, ..self.whole() })
    }
}

impl From<Asked> for Subject {
    fn from(asked: Asked) -> Self {
        let Asked { field, by_pattern, .. } = asked;
        Self { source: Source::Register(asked.register()), field, value: None, by_pattern }
    }
}

impl Subject {
    /// The fields that are asked for.
    pub fn fields(&self) -> &'static [FieldRow] {
        self.field.map_or_else(|| self.source.fields(), std::slice::from_ref)
    }

    /// The mask of the bits that are asked for.
    pub fn mask(&self) -> u32 {
        self.field.map_or(u32::MAX, FieldRow::mask)
    }

    /// Whether `word` has the value that is asked for.
    pub fn fits(&self, word: u32) -> bool {
        self.value.is_none_or(|value| self.field.is_some_and(|field| field.raw(word) == value))
    }
}

/// What `text` names: registers as [`found`] finds them; else a packet, one of its dwords (`CP_LOAD_STATE4_0`), a word of
/// a descriptor (`TEX_CONST_0`), or a field of one; else an enumerator or an enumeration; else a field by its name alone.
///
/// # Errors
/// The call fails if `text` names nothing. The message has similar names.
pub fn subjects(generation: &'static Generation, text: &str) -> Result<Vec<Subject>, Failure> {
    let registers = |generation, text: &str| found(generation, text).into_iter().map(Subject::from).collect();
    let ways: [fn(&'static Generation, &str) -> Vec<Subject>; 5] =
        [registers, packets, words, values, fields];
    let found = ways.iter().map(|way| way(generation, text)).find(|found| !found.is_empty());
    found.ok_or_else(|| {
        let unknown = unknown(generation.registers, text);
        if near(text, packet_names(generation)).is_empty() {
            return unknown;
        }
        let near = hint(&near_names(generation.registers, text, packet_names(generation)));
        Failure { message: format!("`{text}` is no register or packet{near}"), ..unknown }
    })
}

fn packet_names(generation: &Generation) -> impl Iterator<Item = String> + use<> {
    generation.packets.rows().iter().map(|row| row.name.to_owned())
}

/// All words that are no registers: the dwords of packets, then the words of descriptors.
fn all_words(generation: &Generation) -> impl Iterator<Item = Source> + use<> {
    let dwords =
        |row: &'static PacketRow| (0..row.named_dwords()).map(move |index| Source::Dword(row, index));
    generation.packets.rows().iter().flat_map(dwords).chain(generation.descriptor_words().map(Source::Word))
}

/// All registers, packets' dwords and descriptors' words.
fn all(generation: &'static Generation) -> impl Iterator<Item = Source> {
    let registers = generation.registers;
    let of_register = |reg: RegRef| Source::Register(registers.name(reg.offset()));
    registers.all().map(of_register).chain(all_words(generation))
}

/// All dwords of the packets that `text` names.
fn packets(generation: &'static Generation, text: &str) -> Vec<Subject> {
    let rows = generation.packets.rows().iter().filter(|row| row.names().any(|name| fits(text, name)));
    let dwords =
        |row: &'static PacketRow| (0..row.named_dwords()).map(move |index| Source::Dword(row, index).whole());
    rows.flat_map(dwords).collect()
}

/// The words of packets and descriptors that `text` names, or the fields of them: `CP_LOAD_STATE4_0`,
/// `CP_LOAD_STATE4.DST_OFF`, `REG_CP_SET_DRAW_STATE__0(1)`, `CP_LOAD_STATE4_0_DST_OFF__MASK`, `TEX_SAMP_1.MAX_LOD`, and
/// `SSBO_0` for all words of that descriptor.
pub fn words(generation: &'static Generation, text: &str) -> Vec<Subject> {
    let upper = text.to_ascii_uppercase();
    let name = upper.strip_prefix("REG_").unwrap_or(&upper);
    let name = generation.unprefixed(name);
    let name = ["__MASK", "__SHIFT"].iter().find_map(|suffix| name.strip_suffix(suffix)).unwrap_or(name);
    let name = name.split_once('(').map_or(name, |(name, _)| name);
    let by_pattern = is_pattern(name);
    let of = |source: Source| {
        let owners: Vec<&str> = match source {
            Source::Dword(row, _) => row.names().collect(),
            Source::Register(_) | Source::Word(_) => Vec::new(),
        };
        let word = source.name();
        // Each dword of a packet has its number behind any of the packet's names.
        let number = owners.first().map_or("", |owner| &word[owner.len()..]);
        let mut words: Vec<String> = owners.iter().map(|owner| format!("{owner}{number}")).collect();
        let of_descriptor = matches!(source, Source::Word(_))
            && name.contains('_')
            && word.strip_prefix(name).is_some_and(|rest| rest.starts_with('_'));
        if of_descriptor {
            return vec![source.whole()];
        }
        if owners.is_empty() {
            words.push(word);
        }
        if words.iter().any(|word| fits(name, word)) {
            return vec![source.whole()];
        }
        let is_asked = |row: &FieldRow| {
            let field = row.name.to_ascii_uppercase();
            if !by_pattern && !name.ends_with(&field) {
                return false;
            }
            let mut heads = words.iter().map(String::as_str).chain(owners.iter().copied());
            let header = words.iter().any(|word| fits(name, &format!("{word}_{field}")));
            header || heads.any(|head| fits(name, &format!("{head}.{field}")))
        };
        source.some_fields(is_asked).map(|subject| Subject { by_pattern, ..subject }).collect()
    };
    all_words(generation).flat_map(of).collect()
}

/// The fields whose type has an enumerator that `text` names, with its value, or is an enumeration of this name.
fn values(generation: &'static Generation, text: &str) -> Vec<Subject> {
    let asked = |table: &EnumTable| -> Vec<Option<u32>> {
        let values = table.values.iter().filter(|(_, name)| fits(text, name)).map(|(value, _)| Some(*value));
        if fits(text, table.name) { vec![None] } else { values.collect() }
    };
    let tables: Vec<(&EnumTable, Vec<Option<u32>>)> = generation
        .enums()
        .map(|table| (table, asked(table)))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    if tables.is_empty() {
        return Vec::new();
    }
    let fields =
        all(generation).flat_map(|source| source.some_fields(|row| matches!(row.kind, Kind::Enum(_))));
    let of_field = |subject: Subject| {
        let is_its = |table: &EnumTable| matches!(subject.field.map(|row| row.kind), Some(Kind::Enum(of)) if of.name == table.name);
        let values = tables.iter().filter(|(table, _)| is_its(table)).flat_map(|(_, values)| values);
        values.map(|&value| Subject { value, ..subject }).collect::<Vec<_>>()
    };
    fields.flat_map(of_field).collect()
}

/// The fields with this name, of all words.
fn fields(generation: &'static Generation, text: &str) -> Vec<Subject> {
    all(generation).flat_map(|source| source.some_fields(|row| fits(text, row.name))).collect()
}
