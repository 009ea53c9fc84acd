//! Values of expressions.

use thiserror::Error;

use super::super::ast::Op;

/// Why an expression has no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub(super) enum ValueError {
    /// The value does not fit into its type.
    #[error("the result is too large")]
    Overflow,
    /// A divisor is 0.
    #[error("division by zero")]
    DivisionByZero,
    /// `~` of a number with a point.
    #[error("`~` wants a whole number")]
    NotWhole,
    /// An operation on bits of a number with a point.
    #[error("bits of a number with a point")]
    BitsOfFloat,
}

/// The value of an expression.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value {
    /// Depends on a label that this pass has not reached yet.
    Unknown,
    /// A whole number, wide enough for any 64-bit field.
    Int(i128),
    /// A number with a point.
    Float(f64),
}

/// The value or name that a constant or parameter stands for.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Bound {
    /// A value.
    Value(Value),
    /// A name that is not defined in the source: a label, an enumerator, a shader register.
    Token(String),
}

impl Value {
    pub(super) fn as_float(self) -> f64 {
        match self {
            Self::Unknown => 0.0,
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    pub(super) fn holds(self) -> bool {
        !matches!(self, Self::Int(0))
    }

    /// Evaluates `-a` or `~a`.
    pub(super) fn unary(sign: char, value: Self) -> Result<Self, ValueError> {
        match (sign, value) {
            (_, Self::Unknown) => Ok(Self::Unknown),
            ('-', Self::Int(value)) => value.checked_neg().map(Self::Int).ok_or(ValueError::Overflow),
            ('-', Self::Float(value)) => Ok(Self::Float(-value)),
            (_, Self::Int(value)) => Ok(Self::Int(!value & i128::from(u32::MAX))),
            (_, Self::Float(_)) => Err(ValueError::NotWhole),
        }
    }

    /// Evaluates an operator. A whole number and a float give a float.
    pub(super) fn binary(op: Op, left: Self, right: Self) -> Result<Self, ValueError> {
        match (left, right) {
            (Self::Unknown, _) | (_, Self::Unknown) => Ok(Self::Unknown),
            (Self::Int(left), Self::Int(right)) => whole(op, left, right),
            _ => float(op, left.as_float(), right.as_float()),
        }
    }
}

fn whole(op: Op, left: i128, right: i128) -> Result<Value, ValueError> {
    let truth = |holds: bool| Some(i128::from(holds));
    let distance = |right: i128| u32::try_from(right).ok().filter(|&n| n < 64);
    let value = match op {
        Op::Or => Some(left | right),
        Op::Xor => Some(left ^ right),
        Op::And => Some(left & right),
        Op::Equal => truth(left == right),
        Op::NotEqual => truth(left != right),
        Op::Less => truth(left < right),
        Op::Greater => truth(left > right),
        Op::Shl => distance(right).and_then(|n| left.checked_mul(1 << n)),
        Op::Shr => distance(right).map(|n| left >> n),
        Op::Add => left.checked_add(right),
        Op::Sub => left.checked_sub(right),
        Op::Mul => left.checked_mul(right),
        Op::Div | Op::Rem if right == 0 => return Err(ValueError::DivisionByZero),
        Op::Div => left.checked_div(right),
        Op::Rem => left.checked_rem(right),
    };
    value.map(Value::Int).ok_or(ValueError::Overflow)
}

fn float(op: Op, left: f64, right: f64) -> Result<Value, ValueError> {
    let truth = |holds: bool| Ok(Value::Int(holds.into()));
    Ok(Value::Float(match op {
        Op::Add => left + right,
        Op::Sub => left - right,
        Op::Mul => left * right,
        Op::Div => left / right,
        Op::Rem => left % right,
        Op::Equal => return truth(left == right),
        Op::NotEqual => return truth(left != right),
        Op::Less => return truth(left < right),
        Op::Greater => return truth(left > right),
        Op::Or | Op::Xor | Op::And | Op::Shl | Op::Shr => return Err(ValueError::BitsOfFloat),
    }))
}

/// The value of a number literal.
pub(super) fn literal(text: &str) -> Option<Value> {
    let radix = |digits, radix| u64::from_str_radix(digits, radix).ok().map(|value| Value::Int(value.into()));
    match (text.strip_prefix("0x"), text.strip_prefix("0b")) {
        (Some(digits), _) => radix(digits, 16),
        (_, Some(digits)) => radix(digits, 2),
        _ if text.bytes().all(|byte| byte.is_ascii_digit()) => radix(text, 10),
        _ => text.parse().ok().map(Value::Float),
    }
}
