//! The names of a lane's registers and constants.

use std::fmt;
use std::str::FromStr;

use a4emu_inspect::describe::Number;
use a4emu_shader::Warp;

/// Number of vec4 registers with names per register file.
pub const REGISTERS: u32 = 48;

/// Number of constants with names: the vec4 of the largest constant file.
const CONSTANTS: u32 = 1024;

/// One 32-bit value of a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Scalar {
    /// `r0.x`: number * 4 + component.
    Full(u32),
    /// `hr0.x`: 16 bits.
    Half(u32),
    /// `c0.x`.
    Constant(u32),
    /// `a0.x`.
    Address,
    /// `p0.x`.
    Predicate(u32),
}

impl Scalar {
    /// The value in the lane.
    pub fn read(self, warp: &Warp, lane: usize) -> u32 {
        match self {
            Self::Full(id) => warp.full(id)[lane],
            Self::Half(id) => warp.half(id)[lane],
            Self::Constant(id) => warp.constants().get(id as usize).copied().unwrap_or(0),
            Self::Address => warp.a0()[lane],
            Self::Predicate(component) => warp.predicate(component)[lane],
        }
    }

    /// The value `bits` as text: as a float or an integer, whichever it seems to be, and in hexadecimal.
    pub fn text(self, bits: u32) -> String {
        match self {
            Self::Full(_) | Self::Constant(_) => match Number::guess([bits]) {
                number if number.text(bits).starts_with("0x") => format!("{bits:#010x}"),
                number => format!("{} ({bits:#010x})", number.text(bits)),
            },
            Self::Half(_) => format!("{:?} ({bits:#06x})", half::f16::from_bits(bits as u16).to_f32()),
            Self::Address => format!("{}", bits as i32),
            Self::Predicate(_) => format!("{}", bits != 0),
        }
    }
}

impl fmt::Display for Scalar {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, id) = match *self {
            Self::Full(id) => ("r", id),
            Self::Half(id) => ("hr", id),
            Self::Constant(id) => ("c", id),
            Self::Address => ("a", 0),
            Self::Predicate(id) => ("p", id),
        };
        write!(f, "{file}{}.{}", id / 4, ["x", "y", "z", "w"][id as usize % 4])
    }
}

/// One scalar, or all components of a vec4 register: `r0.x`, `hr1`, `c3`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Name(pub Vec<Scalar>);

impl FromStr for Name {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no register or constant (r0.x, hr1, c3.y, p0.x, a0.x)");
        let (register, component) = text.split_once('.').map_or((text, None), |(a, b)| (a, Some(b)));
        let at = register.find(|c: char| c.is_ascii_digit()).ok_or_else(wrong)?;
        let (file, number) = register.split_at(at);
        let number: u32 = number.parse().map_err(|_| wrong())?;
        let scalar = |component: u32| match file {
            "r" if number < REGISTERS => Some(Scalar::Full(4 * number + component)),
            "hr" if number < REGISTERS => Some(Scalar::Half(4 * number + component)),
            "c" if number < CONSTANTS => Some(Scalar::Constant(4 * number + component)),
            "a" if number == 0 && component == 0 => Some(Scalar::Address),
            "p" if number == 0 => Some(Scalar::Predicate(component)),
            _ => None,
        };
        let scalars: Vec<Scalar> = match component {
            Some(letter) => {
                let at = ["x", "y", "z", "w"].iter().position(|known| *known == letter).ok_or_else(wrong)?;
                scalar(at as u32).into_iter().collect()
            }
            None => (0..4).filter_map(scalar).collect(),
        };
        if scalars.is_empty() { Err(wrong()) } else { Ok(Self(scalars)) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_floats_or_integers() {
        let text = |bits| Scalar::Constant(0).text(bits);
        assert_eq!(text(2.0f32.to_bits()), "2.0 (0x40000000)");
        assert_eq!(text(5), "5 (0x00000005)");
        assert_eq!(text(0xfff6_3000), "0xfff63000");
    }

    #[test]
    fn names_are_read_and_written() {
        for name in ["r0.x", "r47.w", "hr12.y", "c255.z", "a0.x", "p0.w"] {
            let Name(scalars) = name.parse().expect(name);
            assert_eq!(scalars.iter().map(ToString::to_string).collect::<Vec<_>>(), [name]);
        }
        assert_eq!("r1".parse(), Ok(Name((4..8).map(Scalar::Full).collect())));
        for wrong in ["", "r", "r48.x", "r0.q", "q0.x", "p1.x", "a0.y", "r-1.x", "c99999999999.x", "r0.x.x"] {
            assert!(wrong.parse::<Name>().is_err(), "{wrong}");
        }
    }
}
