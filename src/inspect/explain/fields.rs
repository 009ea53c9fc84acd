//! The fields of a word: their bits, their types and their values.

use std::fmt;

use a4emu_decoder::bits::value::{FieldValue, unnamed_bits};
use a4emu_decoder::bits::{Certainty, EnumTable, FieldRow, Kind};
use serde::Serialize;

/// Maximum width of a line of enumerators.
const COLUMNS: usize = 100;

/// A field of a word.
#[derive(Clone, Debug, Serialize)]
pub struct Field {
    name: &'static str,
    /// Lowest bit.
    lo: u32,
    /// Highest bit.
    hi: u32,
    #[serde(rename = "type")]
    ty: String,
    /// Whether no public source names it.
    guess: bool,
    about: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    values: Vec<Enumerator>,
    /// Its bits in the given word.
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<u32>,
    /// The decoded value.
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<String>,
}

/// A named value.
#[derive(Clone, Copy, Debug, Serialize)]
struct Enumerator {
    value: u32,
    name: &'static str,
}

impl Field {
    fn new(row: &'static FieldRow, word: Option<u32>) -> Self {
        let held = word.map(|word| FieldValue { row, raw: row.raw(word) });
        let values = match row.kind {
            Kind::Enum(EnumTable { values, .. }) => *values,
            _ => &[],
        };
        Self {
            name: row.name,
            lo: row.lo,
            hi: row.hi,
            ty: kind_text(row.kind),
            guess: row.certainty == Certainty::Inferred,
            about: about(row.doc),
            values: values.iter().map(|&(value, name)| Enumerator { value, name }).collect(),
            raw: held.map(|held| held.raw),
            value: held.map(|held| held.to_string()),
        }
    }

    fn bits(&self) -> String {
        match self.lo == self.hi {
            true => self.lo.to_string(),
            false => format!("{}..{}", self.lo, self.hi),
        }
    }

    /// The named values, broken into lines.
    fn enumerators(&self) -> Vec<String> {
        let mut lines = vec![String::new()];
        for Enumerator { value, name } in &self.values {
            let next = format!("{value} {name}");
            match lines.last_mut() {
                Some(line) if line.is_empty() => *line = next,
                Some(line) if line.len() + next.len() < COLUMNS => *line += &format!(", {next}"),
                _ => lines.push(next),
            }
        }
        lines.retain(|line| !line.is_empty());
        lines
    }
}

/// The fields of a word, with their values if the word is given.
#[derive(Clone, Debug, Serialize)]
pub struct Fields {
    fields: Vec<Field>,
    /// The set bits of the word that no field covers.
    #[serde(skip_serializing_if = "Option::is_none")]
    unnamed: Option<u32>,
}

impl Fields {
    /// The fields `rows`, with their values in `word`.
    pub fn new(rows: &'static [FieldRow], word: Option<u32>) -> Self {
        let fields = rows.iter().map(|row| Field::new(row, word)).collect();
        Self { fields, unnamed: word.map(|word| unnamed_bits(rows, word)) }
    }
}

impl fmt::Display for Fields {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let widest = self.fields.iter().map(|field| field.name.len()).max().unwrap_or(0);
        for field in &self.fields {
            write!(f, "  {:7} {:widest$}  ", field.bits(), field.name)?;
            match &field.value {
                Some(value) => write!(f, "= {value}")?,
                None => f.write_str(&field.ty)?,
            }
            let guess = if field.guess { "  (a guess)" } else { "" };
            let about = if field.about.is_empty() { String::new() } else { format!("  {}", field.about) };
            writeln!(f, "{guess}{about}")?;
            if field.value.is_none() {
                field.enumerators().iter().try_for_each(|line| writeln!(f, "            {line}"))?;
            }
        }
        match self.unnamed {
            None | Some(0) => Ok(()),
            Some(bits) => writeln!(f, "  bits {bits:#x} are set, and no field covers them"),
        }
    }
}

/// The type of a field as text.
fn kind_text(kind: Kind) -> String {
    match kind {
        Kind::Bool => "flag".into(),
        Kind::Uint => "unsigned".into(),
        Kind::Hex => "bits".into(),
        Kind::Int => "signed".into(),
        Kind::Shl(shift) => format!("unsigned, in units of {}", 1u64 << shift),
        Kind::Addr(0) => "address".into(),
        Kind::Addr(shift) => format!("address, in units of {} bytes", 1u64 << shift),
        Kind::Fixed(bits) => format!("signed, {bits} bits behind the point"),
        Kind::UFixed(bits) => format!("unsigned, {bits} bits behind the point"),
        Kind::Float => "float".into(),
        Kind::Half => "half float".into(),
        Kind::RegId | Kind::HalfRegId => "shader register".into(),
        Kind::Enum(table) => table.name.into(),
    }
}

/// The text of a doc comment without links.
pub fn about(doc: &str) -> String {
    let words: Vec<&str> = doc.split_whitespace().collect();
    words.join(" ").replace("[`", "`").replace("`]", "`")
}
