//! Field values from text: the way back from what [`super::value`] prints.
use thiserror::Error;

use super::value::{fraction, is_bare};
use super::{EnumTable, FieldRow, Kind};

/// Why a text is not the value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// Not of the form that the field's kind wants.
    #[error("field {field}: `{text}` is not {wanted}")]
    Malformed {
        /// The field.
        field: &'static str,
        /// The text.
        text: String,
        /// What would do.
        wanted: &'static str,
    },
    /// Neither a number nor an enumerator.
    #[error("field {field}: `{text}` is no value of {table}")]
    UnknownName {
        /// The field.
        field: &'static str,
        /// The text.
        text: String,
        /// The enumeration.
        table: &'static str,
    },
    /// More than the field's bits hold.
    #[error("field {field}: `{text}` does not fit {bits} bits")]
    TooLarge {
        /// The field.
        field: &'static str,
        /// The text.
        text: String,
        /// Bits of the field.
        bits: u32,
    },
    /// Between two values that the field can hold.
    #[error("field {field}: `{text}` is not a multiple of {step}")]
    Inexact {
        /// The field.
        field: &'static str,
        /// The text.
        text: String,
        /// Distance of the values that it can hold.
        step: String,
    },
    /// No field of that name.
    #[error("no field `{0}`")]
    UnknownField(String),
    /// Neither a field nor bits.
    #[error("`{0}` is neither a field nor a number of 32 bits")]
    UnknownPart(String),
}

impl FieldRow {
    /// The field's bits (moved to bit 0) from the text of its value, in any form
    /// that printing gives; numbers may be decimal or `0x` hexadecimal, and the
    /// number of an enumerator stands for its name. Floats round to the nearest;
    /// a hexadecimal float is its bits.
    pub fn parse(&self, text: &str) -> Result<u32, ValueError> {
        let raw = match self.kind {
            Kind::Bool => self.flag(text)?,
            Kind::Uint | Kind::Hex => self.number(text)?,
            Kind::Int => self.signed(text)?,
            Kind::Shl(n) | Kind::Addr(n) => self.scaled(text, n)?,
            Kind::Fixed(n) => self.fixed(text, n, -(1i64 << (self.width() - 1)))?,
            Kind::UFixed(n) => self.fixed(text, n, 0)?,
            Kind::Float => self.float(text, |value| value.to_bits())?,
            Kind::Half => self.float(text, |value| half::f16::from_f32(value).to_bits().into())?,
            Kind::RegId => self.register(text)?,
            Kind::HalfRegId => self.any_register(text)?,
            Kind::Enum(table) => self.enumerator(text, table)?,
        };
        let fits = raw >> self.width() == 0;
        fits.then_some(raw as u32).ok_or_else(|| self.too_large(text))
    }

    fn malformed(&self, text: &str, wanted: &'static str) -> ValueError {
        ValueError::Malformed { field: self.name, text: text.into(), wanted }
    }

    fn too_large(&self, text: &str) -> ValueError {
        ValueError::TooLarge { field: self.name, text: text.into(), bits: self.width() }
    }

    fn flag(&self, text: &str) -> Result<u64, ValueError> {
        match text {
            "true" | "1" => Ok(1),
            "false" | "0" => Ok(0),
            _ => Err(self.malformed(text, "true or false")),
        }
    }

    fn number(&self, text: &str) -> Result<u64, ValueError> {
        number(text).ok_or_else(|| self.malformed(text, "a number"))
    }

    fn signed(&self, text: &str) -> Result<u64, ValueError> {
        let Some(magnitude) = text.strip_prefix('-') else {
            return self.fits_positive(text, self.number(text)?);
        };
        let magnitude = self.number(magnitude)?;
        let least = 1u64 << (self.width() - 1);
        let fits = magnitude <= least;
        fits.then(|| magnitude.wrapping_neg() & (2 * least - 1)).ok_or_else(|| self.too_large(text))
    }

    /// Hexadecimal may use the sign bit, decimal may not.
    fn fits_positive(&self, text: &str, value: u64) -> Result<u64, ValueError> {
        let sign = value >> (self.width() - 1) & 1;
        let fits = sign == 0 || text.starts_with("0x");
        fits.then_some(value).ok_or_else(|| self.too_large(text))
    }

    fn scaled(&self, text: &str, shift: u32) -> Result<u64, ValueError> {
        let value = self.number(text)?;
        let exact = value >> shift << shift == value;
        exact.then_some(value >> shift).ok_or_else(|| self.inexact(text, (1u64 << shift).to_string()))
    }

    fn inexact(&self, text: &str, step: String) -> ValueError {
        ValueError::Inexact { field: self.name, text: text.into(), step }
    }

    fn fixed(&self, text: &str, bits: u32, least: i64) -> Result<u64, ValueError> {
        let value: f64 = text.parse().map_err(|_| self.malformed(text, "a number"))?;
        let steps = value * fraction(bits);
        if steps.fract() != 0.0 {
            return Err(self.inexact(text, (1.0 / fraction(bits)).to_string()));
        }
        let most = least + (1i64 << self.width()) - 1;
        let fits = steps >= least as f64 && steps <= most as f64;
        let mask = (1u64 << self.width()) - 1;
        fits.then_some(steps as i64 as u64 & mask).ok_or_else(|| self.too_large(text))
    }

    fn float(&self, text: &str, to_bits: impl Fn(f32) -> u32) -> Result<u64, ValueError> {
        if text.starts_with("0x") {
            return self.number(text);
        }
        let value = text.parse().map_err(|_| self.malformed(text, "a number"))?;
        Ok(to_bits(value).into())
    }

    fn register(&self, text: &str) -> Result<u64, ValueError> {
        let id = text.strip_prefix('r').map_or_else(|| number(text), register_id);
        id.ok_or_else(|| self.malformed(text, "a register such as r0.x"))
    }

    fn any_register(&self, text: &str) -> Result<u64, ValueError> {
        match text.strip_prefix("hr").and_then(register_id) {
            Some(id) if id < 0x100 => Ok(id | 0x100),
            Some(_) => Err(self.too_large(text)),
            None => self.register(text),
        }
    }

    fn enumerator(&self, text: &str, table: &EnumTable) -> Result<u64, ValueError> {
        let value = table.value_of(text).map(u64::from).or_else(|| number(text));
        value.ok_or_else(|| ValueError::UnknownName {
            field: self.name,
            text: text.into(),
            table: table.name,
        })
    }
}

/// Decimal digits, or `0x` and hexadecimal digits; no sign.
fn number(text: &str) -> Option<u64> {
    let (digits, radix) = text.strip_prefix("0x").map_or((text, 10), |digits| (digits, 16));
    let unsigned = digits.starts_with(|first: char| first.is_ascii_hexdigit());
    unsigned.then(|| u64::from_str_radix(digits, radix).ok()).flatten()
}

/// `12.z` as number * 4 + component.
fn register_id(text: &str) -> Option<u64> {
    let (register, component) = text.split_once('.')?;
    let component = ["x", "y", "z", "w"].iter().position(|name| *name == component)?;
    number(register)?.checked_mul(4)?.checked_add(component as u64)
}

/// The field called `name`.
pub fn field(rows: &'static [FieldRow], name: &str) -> Option<&'static FieldRow> {
    rows.iter().find(|row| row.name == name)
}

/// A word from the text that [`super::value::WordText`] prints: `{ A = 1 | B | 0x40 }`, or
/// a plain value where the word has no named parts. Fields that are not
/// mentioned are zero.
pub fn word(rows: &'static [FieldRow], text: &str) -> Result<u32, ValueError> {
    if let (true, Some(row)) = (is_bare(rows), rows.first()) {
        return row.parse(text.trim());
    }
    let inner = text.trim().strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
    let inner = inner.ok_or_else(|| ValueError::UnknownPart(text.into()))?;
    inner.split('|').try_fold(0, |word, part| with_part(rows, word, part.trim()))
}

fn with_part(rows: &'static [FieldRow], word: u32, part: &str) -> Result<u32, ValueError> {
    let (name, value) = match part.split_once('=') {
        Some((name, value)) => (name.trim(), value.trim()),
        None => (part, "true"),
    };
    if let Some(row) = field(rows, name) {
        return Ok(row.insert(word, row.parse(value)?));
    }
    if part.contains('=') {
        return Err(ValueError::UnknownField(name.into()));
    }
    let bits = number(part).and_then(|bits| u32::try_from(bits).ok());
    bits.map(|bits| word | bits).ok_or_else(|| ValueError::UnknownPart(part.into()))
}
