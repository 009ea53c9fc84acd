//! Evaluates expressions.

use std::cmp::Ordering;

use super::super::ast::{Expr, ExprKind, Name, Span};
use super::value::{Bound, Value, literal};
use super::{Emitter, Extent, Pass, Result};

/// Bytes of one group of 16 instructions, the unit in which shaders are counted.
const GROUP_BYTES: u64 = 128;

impl Emitter<'_, '_> {
    pub(super) fn value(&self, expr: &Expr) -> Result<Value> {
        // A name is searched in each scope around it.
        self.charge(expr.span, 1 + self.scopes.len() / 4)?;
        match &expr.kind {
            ExprKind::Number(text) => match literal(text) {
                Some(value) => Ok(value),
                None => self.fail(expr.span, format!("`{text}` is no number of 64 bits")),
            },
            ExprKind::Name(name) => self.named(expr.span, name),
            ExprKind::Element(name, index, sub) => {
                let index = self.whole(index)?;
                self.register_offset(expr.span, &format!("{name}[{index}].{sub}"))
            }
            ExprKind::Unary(sign, inner) => {
                let value = self.value(inner)?;
                self.at(expr.span, Value::unary(*sign, value))
            }
            ExprKind::Binary(op, left, right) => {
                let (left, right) = (self.value(left)?, self.value(right)?);
                self.at(expr.span, Value::binary(*op, left, right))
            }
            ExprKind::Call(name, arguments) => self.function(expr.span, name, arguments),
        }
    }

    fn binding(&self, name: &str) -> Option<&Bound> {
        self.scopes.iter().rev().find_map(|scope| scope.get(name))
    }

    /// The name that `name` stands for, if it is a parameter; else `name`.
    pub(super) fn alias<'a>(&'a self, name: &'a str) -> &'a str {
        match self.binding(name) {
            Some(Bound::Token(token)) => token,
            _ => name,
        }
    }

    /// Evaluates an argument, or the value of a constant. A name that is neither a constant nor a parameter
    /// stays a name: only its use shows whether it is an enumerator or a label.
    pub(super) fn bound(&self, expr: &Expr) -> Result<Bound> {
        match &expr.kind {
            ExprKind::Name(name) => {
                let binding = self.binding(name).cloned();
                Ok(binding.unwrap_or_else(|| Bound::Token(name.clone())))
            }
            _ => self.value(expr).map(Bound::Value),
        }
    }

    /// Evaluates a name: a constant, a label or a register, which gives its offset.
    fn named(&self, span: Span, name: &str) -> Result<Value> {
        let name = match self.binding(name) {
            Some(Bound::Value(value)) => return Ok(*value),
            Some(Bound::Token(token)) => token,
            None => name,
        };
        if let Some(extent) = self.label(name) {
            return Ok(Value::Int(extent.address.into()));
        }
        self.register_offset(span, name)
    }

    fn register_offset(&self, span: Span, name: &str) -> Result<Value> {
        match (self.generation().register(name), self.pass) {
            (Some(offset), _) => Ok(Value::Int(offset.into())),
            (None, Pass::Layout) => Ok(Value::Unknown),
            (None, Pass::Final) => self.fail(span, format!("nothing is called `{name}`")),
        }
    }

    fn label(&self, name: &str) -> Option<Extent> {
        self.labels.get(name).or_else(|| self.known.labels.get(name)).copied()
    }

    /// The size in bytes of the label that `argument` names.
    pub(super) fn extent(&self, argument: &Expr) -> Result<Value> {
        let ExprKind::Name(name) = &argument.kind else {
            return self.fail(argument.span, "expected a label");
        };
        let name = self.alias(name);
        // An open block has no size yet. The previous pass may know it.
        let bytes = |extent: Option<&Extent>| extent.and_then(|extent| extent.bytes);
        let found = bytes(self.labels.get(name)).or_else(|| bytes(self.known.labels.get(name)));
        match (found, self.pass) {
            (Some(bytes), _) => Ok(Value::Int(bytes.into())),
            (None, Pass::Layout) => Ok(Value::Unknown),
            (None, Pass::Final) if self.label(name).is_some() => {
                self.fail(argument.span, format!("`{name}` has no size: write `{name}: {{ .. }}`"))
            }
            (None, Pass::Final) => self.fail(argument.span, format!("no label `{name}`")),
        }
    }

    fn function(&self, span: Span, name: &Name, arguments: &[Expr]) -> Result<Value> {
        let values = |count: usize| -> Result<Vec<Value>> {
            if arguments.len() != count {
                return self.fail(span, format!("`{}` wants {count} values", name.text));
            }
            arguments.iter().map(|argument| self.value(argument)).collect()
        };
        let per = |bytes: u64| -> Result<Value> {
            let [argument] = arguments else {
                return self.fail(span, format!("`{}` wants a label", name.text));
            };
            Ok(match self.extent(argument)? {
                Value::Int(size) => Value::Int((size + i128::from(bytes) - 1) / i128::from(bytes)),
                other => other,
            })
        };
        match name.text.as_str() {
            "bytes" => per(1),
            "dwords" => per(4),
            "groups" => per(GROUP_BYTES),
            "here" => values(0).map(|_| self.here()),
            "bits" => values(1)
                .map(|values| map_float(values[0], |value| Value::Int((value as f32).to_bits().into()))),
            "half" => values(1).map(|values| {
                map_float(values[0], |value| Value::Int(half::f16::from_f64(value).to_bits().into()))
            }),
            "float" => values(1).map(|values| map_float(values[0], Value::Float)),
            "int" => values(1).map(|values| map_float(values[0], |value| Value::Int(value as i64 as i128))),
            "sqrt" => values(1).map(|values| map_float(values[0], |value| Value::Float(value.sqrt()))),
            "min" => values(2).map(|values| pick(values[0], values[1], Ordering::Less)),
            "max" => values(2).map(|values| pick(values[0], values[1], Ordering::Greater)),
            other => match (self.generation().without_prefix(other), arguments) {
                (Some(_), [index]) => self.register_offset(span, &format!("{other}({})", self.whole(index)?)),
                _ => self.fail(name.span, format!("no function `{other}`")),
            },
        }
    }

    /// The address of the next byte.
    fn here(&self) -> Value {
        self.body.as_ref().map_or(Value::Unknown, |body| Value::Int(body.address().into()))
    }

    /// Evaluates a whole number; 0 if it depends on an unknown label.
    pub(super) fn whole(&self, expr: &Expr) -> Result<i128> {
        match self.value(expr)? {
            Value::Unknown => Ok(0),
            Value::Int(value) => Ok(value),
            Value::Float(value) => self.fail(expr.span, format!("{value} is not a whole number")),
        }
    }

    /// Evaluates a whole number from 0 to 2^32 - 1.
    pub(super) fn size(&self, expr: &Expr) -> Result<usize> {
        let value = self.whole(expr)?;
        match u32::try_from(value) {
            Ok(size) => Ok(size as usize),
            Err(_) => self.fail(expr.span, format!("{value} is not a size of 32 bits")),
        }
    }

    /// Evaluates a dword: a whole number, which may be negative.
    pub(super) fn dword(&self, expr: &Expr) -> Result<u32> {
        let value = self.whole(expr)?;
        let dword = u32::try_from(value).ok().or_else(|| i32::try_from(value).ok().map(|value| value as u32));
        dword.map_or_else(|| self.fail(expr.span, format!("{value:#x} does not fit 32 bits")), Ok)
    }
}

fn map_float(value: Value, map: impl Fn(f64) -> Value) -> Value {
    match value {
        Value::Unknown => Value::Unknown,
        known => map(known.as_float()),
    }
}

/// Returns the one of two values that compares as `wanted` with the other: minimum or maximum.
fn pick(left: Value, right: Value, wanted: Ordering) -> Value {
    match (left, right) {
        (Value::Unknown, _) | (_, Value::Unknown) => Value::Unknown,
        (Value::Int(a), Value::Int(b)) => Value::Int(if a.cmp(&b) == wanted { a } else { b }),
        _ => {
            let chosen = left.as_float().partial_cmp(&right.as_float()) == Some(wanted);
            if chosen { left } else { right }
        }
    }
}
