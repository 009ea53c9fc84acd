//! The values of fields, and how a word is printed.
//!
//! Printing allocates nothing. [`FieldRow::parse`] reads each printed value back to the bits it came from.
use std::fmt;

use super::{FieldRow, Kind, sign_extend};

/// The meaning of a field's bits.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Value {
    /// A flag.
    Bool(bool),
    /// A number that is printed in decimal.
    Uint(u64),
    /// A mask, an address, or an enumerator without a name; printed in hexadecimal.
    Hex(u64),
    /// A signed number.
    Int(i32),
    /// A fixed-point number.
    Fixed(f64),
    /// A floating-point number, and its bits.
    Float(f32, u32),
    /// Shader register: number * 4 + component.
    RegId(u32),
    /// Half shader register: number * 4 + component.
    HalfRegId(u32),
    /// An enumerator.
    Name(&'static str),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Bool(value) => f.write_str(if value { "true" } else { "false" }),
            Self::Uint(value) => fmt::Display::fmt(&value, f),
            Self::Hex(0) => f.write_str("0"),
            Self::Hex(value) => write!(f, "{value:#x}"),
            Self::Int(value) => fmt::Display::fmt(&value, f),
            Self::Fixed(value) => fmt::Debug::fmt(&value, f),
            Self::Float(value, raw) if value.is_nan() => write!(f, "{raw:#x}"),
            Self::Float(value, _) => fmt::Debug::fmt(&value, f),
            Self::RegId(id) => write_register(f, "r", id),
            Self::HalfRegId(id) => write_register(f, "hr", id),
            Self::Name(name) => f.write_str(name),
        }
    }
}

fn write_register(f: &mut fmt::Formatter<'_>, bank: &str, id: u32) -> fmt::Result {
    f.write_str(bank)?;
    fmt::Display::fmt(&(id >> 2), f)?;
    f.write_str([".x", ".y", ".z", ".w"][(id & 3) as usize])
}

/// One field of one word.
#[derive(Clone, Copy, Debug)]
pub struct FieldValue {
    /// The field.
    pub row: &'static FieldRow,
    /// Its bits, moved to bit 0.
    pub raw: u32,
}

impl FieldValue {
    /// Whether the value is zero or false. Output may leave out such fields.
    pub const fn is_zero(&self) -> bool {
        self.raw == 0
    }

    /// The meaning of the bits.
    pub fn value(&self) -> Value {
        let (raw, width) = (self.raw, self.row.width());
        match self.row.kind {
            Kind::Bool => Value::Bool(raw != 0),
            Kind::Uint => Value::Uint(raw.into()),
            Kind::Hex => Value::Hex(raw.into()),
            Kind::Int => Value::Int(sign_extend(raw, width)),
            Kind::Shl(n) => Value::Uint(u64::from(raw) << n),
            Kind::Addr(n) => Value::Hex(u64::from(raw) << n),
            Kind::Fixed(n) => Value::Fixed(f64::from(sign_extend(raw, width)) / fraction(n)),
            Kind::UFixed(n) => Value::Fixed(f64::from(raw) / fraction(n)),
            Kind::Float => Value::Float(f32::from_bits(raw), raw),
            Kind::Half => Value::Float(half::f16::from_bits(raw as u16).to_f32(), raw),
            Kind::HalfRegId if raw & 0x100 != 0 => Value::HalfRegId(raw & 0xff),
            Kind::RegId | Kind::HalfRegId => Value::RegId(raw),
            Kind::Enum(table) => table.name_of(raw).map_or(Value::Hex(raw.into()), Value::Name),
        }
    }
}

/// The divisor of a fixed-point number: 2 to the power of `bits`.
pub(super) fn fraction(bits: u32) -> f64 {
    (1u64 << bits) as f64
}

impl fmt::Display for FieldValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.value(), f)
    }
}

/// The fields of `word`, from bit 0 up.
pub fn fields(rows: &'static [FieldRow], word: u32) -> impl Iterator<Item = FieldValue> {
    rows.iter().map(move |row| FieldValue { row, raw: row.raw(word) })
}

/// The bits of `word` that no field covers, in place.
pub fn unnamed_bits(rows: &[FieldRow], word: u32) -> u32 {
    rows.iter().fold(word, |rest, row| rest & !row.mask())
}

/// Whether the word is one value without named parts (a single `VALUE`).
pub fn is_bare(rows: &[FieldRow]) -> bool {
    matches!(rows, [row] if row.name == "VALUE" && row.width() == 32)
}

/// Which fields to print.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Show {
    /// Leave out fields that are zero or false.
    NonZero,
    /// Leave out only flags that are clear, as Mesa's decoder does.
    Full,
}

/// Displays a word: `{ WIDTH = 320 | ENABLE_GMEM | 0x40 }`, where the last part holds the bits without a
/// name. A word without named parts is displayed as a plain value.
#[derive(Clone, Copy, Debug)]
pub struct WordText {
    /// The fields of the register or descriptor.
    pub rows: &'static [FieldRow],
    /// The word itself.
    pub word: u32,
    /// Which fields to print.
    pub show: Show,
}

impl WordText {
    fn shows(&self, field: &FieldValue) -> bool {
        !field.is_zero() || (self.show == Show::Full && !matches!(field.row.kind, Kind::Bool))
    }

    fn write_fields(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut separator = "{ ";
        for field in fields(self.rows, self.word).filter(|field| self.shows(field)) {
            f.write_str(separator)?;
            f.write_str(field.row.name)?;
            if !matches!(field.row.kind, Kind::Bool) {
                f.write_str(" = ")?;
                fmt::Display::fmt(&field, f)?;
            }
            separator = " | ";
        }
        match (unnamed_bits(self.rows, self.word), separator) {
            (0, "{ ") => f.write_str("{ 0 }"),
            (0, _) => f.write_str(" }"),
            (rest, _) => write!(f, "{separator}{rest:#x} }}"),
        }
    }
}

impl fmt::Display for WordText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.rows.first() {
            Some(row) if is_bare(self.rows) => fmt::Display::fmt(&FieldValue { row, raw: self.word }, f),
            _ => self.write_fields(f),
        }
    }
}
