//! Makes types from the tables of instruction rows.
//!
//! The rows of a category are in a `for_each_…!` macro, which passes them to a callback. A row is `{ opcode,
//! Variant, "mnemonic", Class … }`. The columns after the class (the semantics of a pure ALU op) are for
//! callbacks that need them. Behind the mnemonic stand the generations that have the op, if not all do: `since
//! A6xx`, `until A4xx`, or both. Where bits beside the opcode select the op, the opcode of the row has them above
//! its own; the category's file says which.

/// Makes the opcode enumeration of a category from its rows.
///
/// The macro is a callback for every `for_each_…!`; `Name, Class;` come before the rows.
macro_rules! opcodes {
    ($(#[$meta:meta])* $name:ident, $class:ident;
     $({ $opcode:literal, $op:ident, $text:literal $(since $since:ident)? $(until $until:ident)?,
         $kind:ident $($rest:tt)* })*) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $op = $opcode,)*
        }

        impl $name {
            /// Every op, in the order of the rows.
            pub const ALL: &'static [Self] = &[$(Self::$op,)*];

            /// The op with this opcode, if there is one.
            pub const fn from_bits(bits: u8) -> Option<Self> {
                match bits {
                    $($opcode => Some(Self::$op),)*
                    _ => None,
                }
            }

            /// The op with this mnemonic, if there is one.
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($text => Some(Self::$op),)*
                    _ => None,
                }
            }

            /// The opcode.
            pub const fn bits(self) -> u8 {
                self as u8
            }

            /// The mnemonic.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$op => $text,)*
                }
            }

            /// For each generation, a bit for each opcode that it has.
            const KNOWN: [[u64; 4]; 3] = {
                use $crate::adreno::ir3::Isa;
                let mut known = [[0u64; 4]; 3];
                $(
                    let mut isa = Isa::or(&[$(Isa::$since)?], Isa::A4xx) as usize;
                    while isa <= Isa::or(&[$(Isa::$until)?], Isa::A6xx) as usize {
                        known[isa][($opcode >> 6) as usize] |= 1 << ($opcode & 63);
                        isa += 1;
                    }
                )*
                known
            };

            /// Whether the generation has the op.
            #[inline]
            pub const fn is_in(self, isa: $crate::adreno::ir3::Isa) -> bool {
                let bits = self as u8;
                Self::KNOWN[isa as usize][(bits >> 6) as usize] >> (bits & 63) & 1 != 0
            }

            /// The class of the op.
            pub const fn class(self) -> $class {
                match self {
                    $(Self::$op => $class::$kind,)*
                }
            }
        }
    };
}
pub(super) use opcodes;
