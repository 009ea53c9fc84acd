//! Field values from text: the inverse of [`super::value`].
use thiserror::Error;

use super::value::{fraction, is_bare};
use super::{EnumTable, FieldRow, Kind};
use crate::similar::{hint, near};

/// Why a text cannot be read as the value of a field.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum ValueError {
    /// The text does not have the form that the field's kind requires.
    #[error("field {field}: `{text}` is not {wanted}")]
    Malformed {
        /// Name of the field.
        field: &'static str,
        /// The text that was given.
        text: String,
        /// The form that the field requires.
        wanted: &'static str,
    },
    /// The text is neither a number nor an enumerator of the field.
    #[error("field {field}: `{text}` is no value of {table}{near}")]
    UnknownName {
        /// Name of the field.
        field: &'static str,
        /// The text that was given.
        text: String,
        /// Name of the enumeration.
        table: &'static str,
        /// The values like it, or all if they are few.
        near: String,
    },
    /// The value does not fit the field's bits.
    #[error("field {field}: `{text}` does not fit {bits} bits")]
    TooLarge {
        /// Name of the field.
        field: &'static str,
        /// The text that was given.
        text: String,
        /// Number of bits of the field.
        bits: u32,
    },
    /// The value lies between two values that the field can hold.
    #[error("field {field}: `{text}` is not a multiple of {step}")]
    Inexact {
        /// Name of the field.
        field: &'static str,
        /// The text that was given.
        text: String,
        /// Distance between two values that the field can hold.
        step: String,
    },
    /// The word has no field of that name.
    #[error("no field `{0}`")]
    UnknownField(String),
    /// A part of the word is neither a field's name nor a number.
    #[error("`{0}` is neither a field nor a number of 32 bits")]
    UnknownPart(String),
}

impl FieldRow {
    /// Parses the text of a value into the field's bits, moved to bit 0.
    ///
    /// Every form that printing gives is accepted. Numbers may be decimal or `0x` hexadecimal, and a number
    /// may stand for an enumerator's name. A float is rounded to the nearest; a hexadecimal float gives its
    /// bits.
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

    /// Checks the sign bit of a positive number: a hexadecimal one may set it, a decimal one may not.
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
            near: near_values(text, table),
        })
    }
}

/// What may follow a message that `text` is no value of `table`: values like it, or all if they are few.
fn near_values(text: &str, table: &EnumTable) -> String {
    const FEW: usize = 8;
    let names = || table.values.iter().map(|(_, name)| (*name).to_owned());
    let near = near(text, names());
    match near.is_empty() && table.values.len() <= FEW {
        true => format!(": {}", names().collect::<Vec<_>>().join(", ")),
        false => hint(&near),
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

/// Parses the text of a word: `{ A = 1 | B | 0x40 }`, as [`super::value::WordText`] prints it.
///
/// A word without named parts is a plain value. Fields that the text does not mention are zero.
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
