//! One row per op.
use crate::evaluate;

/// The form of an op: the layout of its operands in the dword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Only the opcode.
    Nullary,
    /// dst, src, mask.
    Unary,
    /// dst, two sources, mask.
    Binary,
    /// dst, three sources, mask.
    Ternary,
    /// dst, mask, and 1 to 4 immediates.
    UnaryImm,
    /// dst, src, mask, and 1 to 4 immediates.
    BinaryImm,
    /// dst, src, four selectors.
    Swizzle,
}

impl Form {
    /// Number of source registers.
    pub const fn sources(self) -> usize {
        match self {
            Self::Nullary | Self::UnaryImm => 0,
            Self::Unary | Self::BinaryImm | Self::Swizzle => 1,
            Self::Binary => 2,
            Self::Ternary => 3,
        }
    }

    /// Whether immediates follow the dword.
    pub const fn has_immediates(self) -> bool {
        matches!(self, Self::UnaryImm | Self::BinaryImm)
    }
}

/// PicoGpu's rows: `{ opcode, Variant, "mnemonic", Form, Class, denormals, use, semantics }`.
///
/// `for_each_pico!(callback, args)` expands to `callback! { args; rows }`. Class `FloatN` has semantics `|a:
/// f32, ..| -> f32`, and `IntN` has `|a: i32, ..| -> i32`; both compute component by component (the columns
/// are those of [`for_each_cat2!`](crate::for_each_cat2)).
///
/// Ops that mix components or have other effects have no semantics here. Ops with immediates have those of
/// the op without immediates. The row of fnorm computes the length to divide by, from its square.
///
/// PicoGpu computes with its host's floats, which keep denormals. NaN and zeros in fmax and fmin follow C++'s
/// `std::max` and `std::min`, which PicoGpu calls. PicoGpu leaves a division by zero to the host, where it
/// traps; here it gives 0.
#[macro_export]
macro_rules! for_each_pico {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Fadd, "fadd", Binary, Float2, Keep, Common, |a, b| a + b }
            { 1, FaddImm, "fadd", BinaryImm }
            { 2, Fsub, "fsub", Binary, Float2, Keep, Common, |a, b| a - b }
            { 3, FsubImm, "fsub", BinaryImm }
            { 4, Fmul, "fmul", Binary, Float2, Keep, Common, |a, b| a * b }
            { 5, FmulImm, "fmul", BinaryImm }
            { 6, Fdiv, "fdiv", Binary, Float2, Keep, Common, |a, b| a / b }
            { 7, FdivImm, "fdiv", BinaryImm }
            { 8, Fneg, "fneg", Unary, Float1, Keep, Common, |a| -a }
            { 9, Fdot, "fdot", Binary }
            { 10, Fcross, "fcross", Binary }
            { 11, Fcross2, "fcross2", Binary }
            { 12, Fmad, "fmad", Ternary, Float3, Keep, Common, |a, b, c| a * b + c }
            { 13, Frcp, "frcp", Unary, Float1, Keep, Common, |a| 1.0 / a }
            { 14, Fnorm, "fnorm", Unary, Float1, Keep, Common, |a| a.sqrt() }
            { 15, Fmax, "fmax", Binary, Float2, Keep, Common, |a, b| if a < b { b } else { a } }
            { 16, Fmin, "fmin", Binary, Float2, Keep, Common, |a, b| if b < a { b } else { a } }
            { 17, Iadd, "iadd", Binary, Int2, Keep, Common, |a, b| a.wrapping_add(b) }
            { 18, IaddImm, "iadd", BinaryImm }
            { 19, Isub, "isub", Binary, Int2, Keep, Common, |a, b| a.wrapping_sub(b) }
            { 20, IsubImm, "isub", BinaryImm }
            { 21, Imul, "imul", Binary, Int2, Keep, Common, |a, b| a.wrapping_mul(b) }
            { 22, ImulImm, "imul", BinaryImm }
            { 23, Idiv, "idiv", Binary, Int2, Keep, Common, |a, b| if b == 0 { 0 } else { a.wrapping_div(b) } }
            { 24, IdivImm, "idiv", BinaryImm }
            { 25, Ineg, "ineg", Unary, Int1, Keep, Common, |a| a.wrapping_neg() }
            { 26, Imax, "imax", Binary, Int2, Keep, Common, |a, b| a.max(b) }
            { 27, Imin, "imin", Binary, Int2, Keep, Common, |a, b| a.min(b) }
            { 28, Init, "init", UnaryImm }
            { 29, Swizzle, "swizzle", Swizzle }
            { 30, Mov, "mov", Unary, Int1, Keep, Common, |a| a }
            { 31, Trap, "trap", Nullary }
            { 32, Lduni, "lduni", Nullary }
            { 33, Initregs, "initregs", Nullary }
        }
    };
}

macro_rules! ops {
    ($({ $opcode:literal, $op:ident, $text:literal, $form:ident $($rest:tt)* })*) => {
        /// A PicoGpu op. An op that also takes immediates has a second row for that form.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[repr(u8)]
        pub enum Op {
            $(#[doc = concat!("`", $text, "`")] $op = $opcode,)*
        }

        impl Op {
            /// Every op, in the order of the opcodes.
            pub const ALL: &'static [Self] = &[$(Self::$op,)*];

            /// The op with this opcode, if there is one.
            pub const fn from_bits(bits: u32) -> Option<Self> {
                match bits {
                    $($opcode => Some(Self::$op),)*
                    _ => None,
                }
            }

            /// The mnemonic; shared by an op and its immediate form.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$op => $text,)*
                }
            }

            /// The layout of the operands.
            pub const fn form(self) -> Form {
                match self {
                    $(Self::$op => Form::$form,)*
                }
            }
        }
    };
}
for_each_pico!(ops);
for_each_pico!(evaluate, Op);

impl Op {
    /// The op of this mnemonic and form, if there is one.
    pub fn from_name(name: &str, form: Form) -> Option<Self> {
        Self::ALL.iter().copied().find(|op| op.name() == name && op.form() == form)
    }

    /// The op with a register in place of the immediates.
    pub fn without_immediates(self) -> Self {
        let form = match self.form() {
            Form::UnaryImm => return Self::Mov,
            Form::BinaryImm => Form::Binary,
            form => form,
        };
        Self::from_name(self.name(), form).unwrap_or(self)
    }

    /// Whether the immediates are integers. Otherwise they are floats. `init` takes both.
    pub fn takes_integers(self) -> bool {
        self.name().starts_with('i')
    }
}
