//! Makes types from the tables of instruction rows.
//!
//! The rows of a category are in a `for_each_…!` macro, which passes them to a callback. A row is `{ opcode,
//! Variant, "mnemonic", Class … }`. The columns after the class (the semantics of a pure ALU op) are for
//! callbacks that need them.

/// Makes the opcode enumeration of a category from its rows.
///
/// The macro is a callback for every `for_each_…!`; `Name, Class;` come before the rows.
macro_rules! opcodes {
    ($(#[$meta:meta])* $name:ident, $class:ident;
     $({ $opcode:literal, $op:ident, $text:literal, $kind:ident $($rest:tt)* })*) => {
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
