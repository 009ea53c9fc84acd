//! Registers, sources and small enumerations that several categories share.
use super::isa::Isa;

/// A scalar register id: register number * 4 + component.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Reg(pub u8);

impl Reg {
    /// `a0.x`, the address register.
    pub const A0: Self = Self(0xf4);
    /// `a0.y`, written `a1.x` in text by `mova1`.
    pub const A1: Self = Self(0xf5);
    /// `r48.x`, the first register that all fibers of a wave share, from A5xx on.
    pub const SHARED: Self = Self(4 * 48);
    /// `r63.x`: no register; as a destination, discard.
    pub const NONE: Self = Self(0xfc);

    /// Register number, 0 to 63.
    pub const fn number(self) -> u8 {
        self.0 >> 2
    }

    /// Component, 0 (x) to 3 (w).
    pub const fn component(self) -> u8 {
        self.0 & 3
    }

    /// Whether the register is one of `p0.x` to `p0.w`.
    pub const fn is_predicate(self) -> bool {
        self.number() == 62
    }

    /// Whether the register is one of `a0.x` to `a0.w`.
    pub const fn is_address(self) -> bool {
        self.number() == 61
    }

    /// Whether the register may be a half register as a destination. Predicates and r63 have one form only
    /// (ir3-common.xml, `#dest-half`).
    pub const fn has_halves(self) -> bool {
        self.0 <= 0xf7
    }
}

/// Where a source value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Src {
    /// A register.
    Gpr(Reg),
    /// A scalar of the constant file: `c<index / 4>.<index % 4>`.
    Const(u16),
    /// `r<a0.x + offset>`, in scalar registers.
    RelativeGpr(i16),
    /// `c<a0.x + offset>`, in scalar constants.
    RelativeConst(i16),
    /// An integer, -1024 to 1023.
    Immediate(i16),
    /// An entry of [`FLUT`].
    Flut {
        /// Index into the table, below 12.
        index: u8,
        /// Whether the encoding marks the value as f16.
        half: bool,
    },
}

impl Default for Src {
    fn default() -> Self {
        Self::Gpr(Reg(0))
    }
}

/// A source with its modifiers. What `neg` means depends on the op's class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Operand {
    /// The source without its modifiers.
    pub src: Src,
    /// (neg): negate, after `abs`; bitwise NOT on logic ops.
    pub neg: bool,
    /// (abs): absolute value.
    pub abs: bool,
    /// (r): step to the next register or constant in each repeat.
    pub step: bool,
    /// (last): last use of this register; a hint of later generations.
    pub last: bool,
}

/// The float immediates of the source encoding, as f32 bits: 0.0, 0.5, 1.0,
/// 2.0, e, pi, 1/pi, 1/log2(e), log2(e), 1/log2(10), log2(10), 4.0.
pub const FLUT: [u32; 12] = [
    0x0000_0000,
    0x3f00_0000,
    0x3f80_0000,
    0x4000_0000,
    0x402d_f854,
    0x4049_0fdb,
    0x3ea2_f983,
    0x3f31_7218,
    0x3fb8_aa3b,
    0x3e9a_209b,
    0x4054_9a78,
    0x4080_0000,
];

/// The text of each entry of [`FLUT`].
pub const FLUT_TEXT: [&str; 12] = [
    "(0.0)",
    "(0.5)",
    "(1.0)",
    "(2.0)",
    "(e)",
    "(pi)",
    "(1/pi)",
    "(1/log2(e))",
    "(log2(e))",
    "(1/log2(10))",
    "(log2(10))",
    "(4.0)",
];

/// Makes a small enumeration whose values have bits and a text.
macro_rules! named {
    ($(#[$meta:meta])* $name:ident {
        $($value:literal $variant:ident $text:literal $(or $old:literal)? $(#[$doc:meta])*,)*
    }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $($(#[$doc])* #[doc = concat!("`", $text, "`")] $variant = $value,)*
        }

        impl $name {
            /// Every value, in the order of their bits.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The value with these bits, if there is one.
            pub const fn from_bits(bits: u8) -> Option<Self> {
                match bits {
                    $($value => Some(Self::$variant),)*
                    _ => None,
                }
            }

            /// The text of the value.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                }
            }

            /// The value with this text, if there is one. `or` in a row gives the text of older assemblers.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text $(| $old)? => Some(Self::$variant),)*
                    _ => None,
                }
            }
        }
    };
}

pub(super) use named;

named! {
    /// The type of a value that an instruction moves, converts, loads, stores or samples.
    Type {
        0 F16 "f16",
        1 F32 "f32",
        2 U16 "u16",
        3 U32 "u32",
        4 S16 "s16",
        5 S32 "s32",
        6 U8 "u8",
        7 U8Wide "u8_32" or "s8" /** An 8-bit value in memory, a full register. */,
    }
}

impl Type {
    /// Whether values of the type are in half registers: all types but the 32-bit ones and `u8_32`.
    pub const fn is_half(self) -> bool {
        !matches!(self, Self::F32 | Self::U32 | Self::S32 | Self::U8Wide)
    }

    /// The name of the type in an atomic of global memory, which from A5xx on has 64 bits in place of 8.
    pub(super) const fn atomic_name(self, isa: Isa) -> &'static str {
        match (self, isa) {
            (Self::U8, Isa::A5xx | Isa::A6xx) => "u64",
            _ => self.name(),
        }
    }

    /// Full registers of a value of an atomic from A6xx on: 2 of a u64.
    pub(super) const fn atomic_registers(self) -> u8 {
        if matches!(self, Self::U8) { 2 } else { 1 }
    }

    /// Size of the type in memory, in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::F32 | Self::U32 | Self::S32 => 4,
            Self::F16 | Self::U16 | Self::S16 => 2,
            Self::U8 | Self::U8Wide => 1,
        }
    }

    /// Whether the type is f16 or f32.
    pub const fn is_float(self) -> bool {
        matches!(self, Self::F16 | Self::F32)
    }

    /// Whether the type is s16 or s32.
    pub const fn is_signed(self) -> bool {
        matches!(self, Self::S16 | Self::S32)
    }
}

named! {
    /// The condition of a compare.
    Cond {
        0 Lt "lt",
        1 Le "le",
        2 Gt "gt",
        3 Ge "ge",
        4 Eq "eq",
        5 Ne "ne",
    }
}

impl Cond {
    /// Whether `a COND b` holds. Compares are ordered: with a NaN, each but `ne` is false (guess
    /// `nan-compare`).
    #[inline(always)]
    pub fn test<T: PartialOrd>(self, a: T, b: T) -> bool {
        match self {
            Self::Lt => a < b,
            Self::Le => a <= b,
            Self::Gt => a > b,
            Self::Ge => a >= b,
            Self::Eq => a == b,
            Self::Ne => a != b,
        }
    }
}

named! {
    /// The rounding of a conversion.
    Round {
        0 Default "",
        1 Even "(even)",
        2 Up "(pos_infinity)",
        3 Down "(neg_infinity)",
    }
}
