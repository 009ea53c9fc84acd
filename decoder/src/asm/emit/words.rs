//! Values of registers and dwords: fields by name.

use super::super::ast::{Expr, ExprKind, Part, RegName, Word};
use super::value::Value;
use super::{Emitter, Result};
use crate::bits::value::is_bare;
use crate::bits::{FieldRow, Kind, parse};

impl Emitter<'_, '_> {
    /// The text of an expression of one token: a literal or a name, perhaps with a minus.
    fn token(&self, expr: &Expr) -> Option<String> {
        match &expr.kind {
            ExprKind::Number(text) => Some(text.clone()),
            ExprKind::Name(name) => Some(self.alias(name).to_owned()),
            ExprKind::Unary('-', inner) => self.token(inner).map(|text| format!("-{text}")),
            _ => None,
        }
    }

    /// Evaluates `word` to a dword with the fields `rows`.
    pub(super) fn word(&self, rows: &'static [FieldRow], word: &Word) -> Result<u32> {
        match (word, rows) {
            (Word::Fields(parts), _) => parts.iter().try_fold(0, |word, part| self.part(rows, word, part)),
            (Word::Plain(value), [row]) if is_bare(rows) || row.width() == 32 => self.field(row, value),
            (Word::Plain(value), _) => self.dword(value),
        }
    }

    fn part(&self, rows: &'static [FieldRow], word: u32, part: &Part) -> Result<u32> {
        match part {
            Part::Set(name, value) => match parse::field(rows, &name.text) {
                Some(row) => Ok(row.insert(word, self.field(row, value)?)),
                None => self.fail(name.span, no_field(rows, &name.text)),
            },
            Part::Bare(value) => {
                let flag = match &value.kind {
                    ExprKind::Name(name) => parse::field(rows, self.alias(name)),
                    _ => None,
                };
                match flag {
                    Some(row) if matches!(row.kind, Kind::Bool) => Ok(row.insert(word, 1)),
                    Some(row) => self.fail(value.span, format!("field `{}` wants a value", row.name)),
                    None => Ok(word | self.dword(value)?),
                }
            }
        }
    }

    /// Evaluates the bits of one field, from the field's own notation or from a value.
    pub(super) fn field(&self, row: &'static FieldRow, expr: &Expr) -> Result<u32> {
        let direct = self.token(expr).map(|text| row.parse(&text));
        if let Some(Ok(raw)) = direct {
            return Ok(raw);
        }
        let value = match (self.value(expr), direct) {
            (Ok(value), _) => value,
            // The field's own error explains more than an unknown name.
            (Err(_), Some(direct)) => return self.at(expr.span, direct),
            (Err(error), None) => return Err(error),
        };
        match value {
            Value::Unknown => Ok(0),
            Value::Int(value) => self.at(expr.span, row.parse(&value.to_string())),
            Value::Float(value) => self.at(expr.span, row.parse(&format!("{value:?}"))),
        }
    }

    fn register_text(&self, reg: &RegName) -> Result<String> {
        Ok(match &reg.element {
            None => reg.name.clone(),
            Some((index, sub)) if sub.is_empty() => format!("{}({})", reg.name, self.whole(index)?),
            Some((index, sub)) => format!("{}[{}].{sub}", reg.name, self.whole(index)?),
        })
    }

    /// The offset of a register.
    pub(super) fn register(&self, reg: &RegName) -> Result<u32> {
        let text = self.register_text(reg)?;
        match self.generation().register(&text) {
            Some(offset) => Ok(offset),
            None => self.fail(reg.span, format!("no register, packet or statement is called `{text}`")),
        }
    }

    /// The offset of the low half of an address, if `reg` names the two registers `NAME_LO` and `NAME_HI`.
    pub(super) fn wide_register(&self, reg: &RegName) -> Result<Option<u32>> {
        let text = self.register_text(reg)?;
        let half = |half: &str| self.generation().register(&format!("{text}_{half}"));
        let is_one = self.generation().register(&text).is_some();
        Ok(half("LO").filter(|low| !is_one && half("HI") == Some(low + 1)))
    }
}

fn no_field(rows: &[FieldRow], name: &str) -> String {
    let names: Vec<&str> = rows.iter().map(|row| row.name).collect();
    format!("no field `{name}`; there are {}", names.join(", "))
}
