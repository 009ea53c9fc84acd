//! Bit fields, and the macros that make every register, descriptor and enumeration from one row each.
//!
//! `enums!` makes a Rust enum and its table of names. The enum has a variant `Other(u32)`, which keeps
//! unknown values. `registers!` makes, from one row, a newtype with a getter per field, which the emulator
//! uses, and the [`RegRow`], which `decode` prints and golden files name. `descriptors!` makes words that lie
//! in memory and have no register offset.

pub mod parse;
pub mod value;

/// How the bits of a field are read and printed.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// One bit.
    Bool,
    /// Unsigned integer, shown in decimal.
    Uint,
    /// Unsigned integer, shown in hexadecimal.
    Hex,
    /// Two's complement integer of the field's width.
    Int,
    /// Unsigned integer stored shifted right by this many bits, decimal.
    Shl(u32),
    /// Address stored shifted right by this many bits, hexadecimal.
    Addr(u32),
    /// Two's complement fixed point with this many fraction bits.
    Fixed(u32),
    /// Unsigned fixed point with this many fraction bits.
    UFixed(u32),
    /// IEEE 754 binary32.
    Float,
    /// IEEE 754 binary16.
    Half,
    /// Shader register id: register number * 4 + component.
    RegId,
    /// Shader register id of 8 bits with "half register" in bit 8.
    HalfRegId,
    /// A named value.
    Enum(&'static EnumTable),
}

/// The names of an enumeration's values.
#[derive(Debug)]
pub struct EnumTable {
    /// Name in the register database.
    pub name: &'static str,
    /// Value and name, in the order of the rows.
    pub values: &'static [(u32, &'static str)],
    /// The name of a value, as a `match` that the compiler can turn into a table.
    pub lookup: fn(u32) -> Option<&'static str>,
}

impl EnumTable {
    /// The name of `value`, if it has one.
    pub fn name_of(&self, value: u32) -> Option<&'static str> {
        (self.lookup)(value)
    }

    /// The value called `name`, if there is one.
    pub fn value_of(&self, name: &str) -> Option<u32> {
        self.values.iter().find(|row| row.1 == name).map(|row| row.0)
    }
}

/// How certain a row of the tables is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// A public database or the open driver has it.
    Known,
    /// Concluded from its place or from how drivers use it. The row's comment gives the reason.
    Inferred,
}

/// One field of a word.
#[derive(Clone, Copy, Debug)]
pub struct FieldRow {
    /// Name in the register database.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u32,
    /// Highest bit, inclusive.
    pub hi: u32,
    /// How the field's bits are read and printed.
    pub kind: Kind,
    /// How certain the field's name and place are.
    pub certainty: Certainty,
    /// The doc comment of the row; empty if the row has none.
    pub doc: &'static str,
}

impl FieldRow {
    /// Number of bits.
    pub const fn width(&self) -> u32 {
        self.hi - self.lo + 1
    }

    /// The field's own bits of `word`, moved to bit 0.
    pub const fn raw(&self, word: u32) -> u32 {
        extract(word, self.lo, self.hi)
    }

    /// A mask with a 1 for each bit of the word that this field covers.
    pub const fn mask(&self) -> u32 {
        (u32::MAX >> (32 - self.width())) << self.lo
    }

    /// `word` with this field's bits replaced by the low bits of `raw`.
    pub const fn insert(&self, word: u32, raw: u32) -> u32 {
        (word & !self.mask()) | ((raw << self.lo) & self.mask())
    }
}

/// One register, or one register of every element of an array.
#[derive(Clone, Copy, Debug)]
pub struct RegRow {
    /// Dword offset of element 0.
    pub offset: u32,
    /// Database name; for an array the array's name.
    pub name: &'static str,
    /// Name of the register within an array element; empty outside arrays.
    pub sub: &'static str,
    /// Elements (1 outside arrays).
    pub len: u32,
    /// Dwords from one element to the next (0 outside arrays).
    pub stride: u32,
    /// Fields from bit 0 up; a register without named fields has one of 32 bits.
    pub fields: &'static [FieldRow],
    /// How the names of an array's elements are formed.
    pub naming: Naming,
    /// How certain the register's name and place are.
    pub certainty: Certainty,
    /// The doc comment of the row; empty if the row has none.
    pub doc: &'static str,
}

impl RegRow {
    /// This row with other names, `behind` dwords further.
    pub const fn renamed(self, name: &'static str, sub: &'static str, behind: u32) -> Self {
        Self { offset: self.offset + behind, name, sub, ..self }
    }
}

/// The number of rows in `parts`.
pub const fn total(parts: &[&[RegRow]]) -> usize {
    let (mut part, mut sum) = (0, 0);
    while part < parts.len() {
        (sum, part) = (sum + parts[part].len(), part + 1);
    }
    sum
}

/// The rows of `parts`, one after another, which are `N` in total.
pub const fn joined<const N: usize>(parts: &[&[RegRow]]) -> [RegRow; N] {
    let mut rows = [*parts[0].first().unwrap(); N];
    let (mut part, mut next) = (0, 0);
    while part < parts.len() {
        let mut i = 0;
        while i < parts[part].len() {
            rows[next] = parts[part][i];
            (next, i) = (next + 1, i + 1);
        }
        part += 1;
    }
    rows
}

/// How the database names the registers of an array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Naming {
    /// `NAME[i].SUB`: the database has the registers as an array.
    Indexed,
    /// `NAME_i`, or `NAME_i_SUB` if an element has several registers: the database lists each register.
    Flat,
}

/// One word of a descriptor in memory: its name and fields.
#[derive(Clone, Copy, Debug)]
pub struct WordRow {
    /// Name of the type.
    pub name: &'static str,
    /// Fields from bit 0 up.
    pub fields: &'static [FieldRow],
}

/// Bits `lo..=hi` of `word`, moved to bit 0.
pub const fn extract(word: u32, lo: u32, hi: u32) -> u32 {
    (word >> lo) & (u32::MAX >> (31 - (hi - lo)))
}

/// A register that has a Rust type of its own, with a getter per field.
pub trait Register: Copy {
    /// The row that this type was made from.
    const ROW: RegRow;
    /// The register holding `word`.
    fn from_word(word: u32) -> Self;
}

/// A Rust type for a field: it converts the field's bits to a value.
pub trait FieldType {
    /// Type of the value that the getter returns.
    type Value;
    /// How the value is printed.
    const KIND: Kind;
    /// The value of a field of `width` bits.
    fn get(raw: u32, width: u32) -> Self::Value;
}

macro_rules! field_types {
    ($($(#[$doc:meta])* $name:ident $(<$n:ident>)? : $value:ty, $kind:expr, |$raw:ident, $width:ident| $get:expr;)*) => {$(
        $(#[$doc])*
        pub struct $name $(<const $n: u32>)?;
        impl $(<const $n: u32>)? FieldType for $name $(<$n>)? {
            type Value = $value;
            const KIND: Kind = $kind;
            fn get($raw: u32, $width: u32) -> $value {
                let _ = $width;
                $get
            }
        }
    )*};
}

field_types! {
    /// One bit.
    Bool: bool, Kind::Bool, |raw, width| raw != 0;
    /// Unsigned, decimal.
    Uint: u32, Kind::Uint, |raw, width| raw;
    /// Unsigned, hexadecimal.
    Hex: u32, Kind::Hex, |raw, width| raw;
    /// Two's complement.
    Int: i32, Kind::Int, |raw, width| sign_extend(raw, width);
    /// Unsigned, stored shifted right by `N`.
    Shl<N>: u32, Kind::Shl(N), |raw, width| raw << N;
    /// GPU address, stored shifted right by `N`.
    Addr<N>: u32, Kind::Addr(N), |raw, width| raw << N;
    /// Signed fixed point, `N` fraction bits.
    Fixed<N>: f32, Kind::Fixed(N), |raw, width| sign_extend(raw, width) as f32 / (1u32 << N) as f32;
    /// Unsigned fixed point, `N` fraction bits.
    UFixed<N>: f32, Kind::UFixed(N), |raw, width| raw as f32 / (1u32 << N) as f32;
    /// IEEE binary32.
    Float: f32, Kind::Float, |raw, width| f32::from_bits(raw);
    /// IEEE binary16.
    Half: f32, Kind::Half, |raw, width| half::f16::from_bits(raw as u16).to_f32();
    /// Shader register id (number * 4 + component; 0xfc is "none").
    RegId: u32, Kind::RegId, |raw, width| raw;
    /// Shader register id with "half register" in bit 8.
    HalfRegId: u32, Kind::HalfRegId, |raw, width| raw;
}

/// `raw`, a two's complement number of `width` bits, as an `i32`.
pub const fn sign_extend(raw: u32, width: u32) -> i32 {
    let shift = 32 - width;
    ((raw << shift) as i32) >> shift
}

/// Makes enumerations that keep unknown values.
///
/// The form is `[ALL] database_name => RustName { NAME = value, .. }`. The optional `[ALL]` names a list of
/// all the tables of the block.
#[macro_export]
macro_rules! enums {
    ([$all:ident] $($(#[$doc:meta])* $db:ident => $name:ident $body:tt)*) => {
        $crate::enums! { $($(#[$doc])* $db => $name $body)* }
        /// Every enumeration of this block, in the order of the rows.
        pub static $all: &[&$crate::bits::EnumTable] = &[$(&$name::TABLE),*];
    };
    ($($(#[$doc:meta])* $db:ident => $name:ident { $($variant:ident = $value:expr),* $(,)? })*) => {$(
        $(#[$doc])*
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name { $($variant,)* Other(u32) }

        impl $name {
            /// The table of names, for printing and parsing.
            pub const TABLE: $crate::bits::EnumTable = $crate::bits::EnumTable {
                name: stringify!($db),
                values: &[$(($value, stringify!($variant))),*],
                lookup: |raw| match raw { $($value => Some(stringify!($variant)),)* _ => None },
            };

            /// The enumerator whose value is `raw`; `Other(raw)` if none has it.
            pub const fn from_bits(raw: u32) -> Self {
                match raw { $($value => Self::$variant,)* other => Self::Other(other) }
            }

            /// The value of the enumerator, as the field holds it.
            pub const fn to_bits(self) -> u32 {
                match self { $(Self::$variant => $value,)* Self::Other(other) => other }
            }
        }

        impl $crate::bits::FieldType for $name {
            type Value = Self;
            const KIND: $crate::bits::Kind = $crate::bits::Kind::Enum(&Self::TABLE);
            fn get(raw: u32, _: u32) -> Self { Self::from_bits(raw) }
        }
    )*
    };
}

/// Makes enumerations that only print and parse: a table of names without a Rust enum. The form is that of [`enums!`]
/// with a list. A field of such a type reads as its number.
#[macro_export]
macro_rules! enum_tables {
    ([$all:ident] $($(#[$doc:meta])* $db:ident => $name:ident { $($variant:ident = $value:expr),* $(,)? })*) => {
        $(
            $(#[$doc])*
            #[allow(missing_docs)]
            #[derive(Clone, Copy, Debug)]
            pub struct $name;

            impl $name {
                /// The table of names, for printing and parsing.
                pub const TABLE: $crate::bits::EnumTable = $crate::bits::EnumTable {
                    name: stringify!($db),
                    values: &[$(($value, stringify!($variant))),*],
                    lookup: |raw| match raw { $($value => Some(stringify!($variant)),)* _ => None },
                };
            }

            impl $crate::bits::FieldType for $name {
                type Value = u32;
                const KIND: $crate::bits::Kind = $crate::bits::Kind::Enum(&Self::TABLE);
                fn get(raw: u32, _: u32) -> u32 { raw }
            }
        )*
        /// Every enumeration of this block, in the order of the rows.
        pub static $all: &[&$crate::bits::EnumTable] = &[$(&$name::TABLE),*];
    };
}

/// Makes typed registers and their table `REGS` from rows.
///
/// ```text
/// 0x20a0 RB_MODE_CONTROL { 0..5 WIDTH: Shl<5>; inferred 22..23 BYPASS: Hex; }
/// 0x20a6 RB_MRT[8 x 5].BASE as RB_MRT_BASE { 0..31 VALUE: Hex; }
/// inferred 0x230b SP_HS_CTRL_REG0 { 0..31 VALUE: Hex; }
/// ```
/// Bit ranges are inclusive on both ends, low first. A register without named fields has one called `VALUE`.
/// `inferred` marks what no public source names. `{ like OTHER }` gives the register the fields and methods
/// of another one. `flat` marks an array whose registers the database lists one by one
/// ([`bits::Naming`](crate::bits::Naming)).
#[macro_export]
macro_rules! registers {
    ($($(#[doc = $doc:literal])* $($sure:ident)? $offset:literal $name:ident
        $([$len:literal x $stride:literal] $(. $sub:ident)? as $alias:ident)? { $($fields:tt)* })*) => {
        $($crate::registers!(@type [$($doc)*] [$($sure)?] $offset $name ($name $($alias)?)
            [$($len, $stride, $($sub)?)?] { $($fields)* });)*

        /// Every register of this block, in the order of the rows.
        pub static REGS: &[$crate::bits::RegRow] = &[$($crate::registers!(@row $name $($alias)?)),*];
    };
    (@row $name:ident) => { <$name as $crate::bits::Register>::ROW };
    (@row $name:ident $alias:ident) => { <$alias as $crate::bits::Register>::ROW };
    (@type $doc:tt $sure:tt $offset:literal $name:ident ($n:ident) [] $fields:tt) => {
        $crate::registers!(@word $doc $sure $name, $offset, $name, "", 1, 0, $fields);
    };
    (@type $doc:tt $sure:tt $offset:literal $name:ident ($n:ident $alias:ident) [$len:literal, $stride:literal,] $fields:tt) => {
        $crate::registers!(@word $doc $sure $alias, $offset, $name, "REG", $len, $stride, $fields);
    };
    (@type $doc:tt $sure:tt $offset:literal $name:ident ($n:ident $alias:ident) [$len:literal, $stride:literal, $sub:ident] $fields:tt) => {
        $crate::registers!(@word $doc $sure $alias, $offset, $name, stringify!($sub), $len, $stride, $fields);
    };
    (@word [$($doc:literal)*] [$($sure:ident)?] $type:ident, $offset:literal, $name:ident, $sub:expr, $len:literal, $stride:literal, $fields:tt) => {
        $crate::word_type! { [$($doc)*] $type $fields }
        impl $crate::bits::Register for $type {
            const ROW: $crate::bits::RegRow = $crate::bits::RegRow {
                offset: $offset, name: stringify!($name), sub: $sub, len: $len, stride: $stride,
                fields: $type::FIELDS, naming: $crate::naming!($($sure)?), certainty: $crate::certainty!($($sure)?),
                doc: concat!($($doc),*),
            };
            fn from_word(word: u32) -> Self { Self(word.into()) }
        }
    };
}

/// Makes the table `REGS` alone, for registers that nothing reads: such a row costs no type and no getters.
///
/// ```text
/// 0x8804 RB_DITHER_CNTL { 0..1 DITHER_MODE_MRT0: DitherMode; }
/// wide 0x8825 RB_MRT[8 x 8].BASE {}
/// 0x8c17 RB_2D_DST_INFO { like RB_2D_SURFACE_INFO }
/// ```
/// `wide` stands for two registers, `NAME_LO` and `NAME_HI`, which hold one number of 64 bits; a row without fields holds
/// one number. An array without a register of its own, `NAME[14 x 1]`, has elements `NAME[0]`, and a wide one
/// `NAME[0].LO`. For the rest see [`registers!`]; a register that is read moves to a table of typed ones.
#[macro_export]
macro_rules! register_rows {
    ($($(#[doc = $doc:literal])* $($mark:ident)? $offset:literal $name:ident
        $([$len:literal x $stride:literal] $(. $sub:ident)?)? { $($fields:tt)* })*) => {
        const PARTS: &[&[$crate::bits::RegRow]] = &[$(
            $crate::register_rows!(@part [$($mark)?] $name [$($([$sub])? $len $stride)?] {
                offset: $offset,
                name: stringify!($name),
                sub: "",
                len: 1 $(* $len)?,
                stride: 0 $(+ $stride)?,
                fields: $crate::register_rows!(@fields $($fields)*),
                naming: $crate::naming!($($mark)?),
                certainty: $crate::certainty!($($mark)?),
                doc: concat!($($doc),*),
            })
        ),*];

        static ROWS: [$crate::bits::RegRow; $crate::bits::total(PARTS)] = $crate::bits::joined(PARTS);

        /// Every register of this block, in the order of the rows.
        pub static REGS: &[$crate::bits::RegRow] = &ROWS;
    };
    (@part [wide] $name:ident [] $row:tt) => {
        &[$crate::register_rows!(@half concat!(stringify!($name), "_LO"), "", 0, $row),
            $crate::register_rows!(@half concat!(stringify!($name), "_HI"), "", 1, $row)]
    };
    (@part [wide] $name:ident [[$sub:ident] $len:literal $stride:literal] $row:tt) => {
        &[$crate::register_rows!(@half stringify!($name), concat!(stringify!($sub), "_LO"), 0, $row),
            $crate::register_rows!(@half stringify!($name), concat!(stringify!($sub), "_HI"), 1, $row)]
    };
    (@part [wide] $name:ident [$len:literal $stride:literal] $row:tt) => {
        &[$crate::register_rows!(@half stringify!($name), "LO", 0, $row),
            $crate::register_rows!(@half stringify!($name), "HI", 1, $row)]
    };
    (@part [$($mark:ident)?] $name:ident [$([$sub:ident] $len:literal $stride:literal)?] $row:tt) => {
        &[$crate::register_rows!(@half stringify!($name), concat!($(stringify!($sub))?), 0, $row)]
    };
    (@part [$($mark:ident)?] $name:ident [$len:literal $stride:literal] $row:tt) => {
        &[$crate::register_rows!(@half stringify!($name), "", 0, $row)]
    };
    (@half $name:expr, $sub:expr, $behind:literal, { $($row:tt)* }) => {
        $crate::bits::RegRow { $($row)* }.renamed($name, $sub, $behind)
    };
    (@fields) => { $crate::word_fields!(0..31 VALUE: $crate::bits::Hex;) };
    (@fields like $other:ident) => { $other::FIELDS };
    (@fields $($fields:tt)+) => { $crate::word_fields!($($fields)+) };
}

/// The [`Certainty`](crate::bits::Certainty) for the marker in front of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! certainty {
    () => {
        $crate::bits::Certainty::Known
    };
    (flat) => {
        $crate::bits::Certainty::Known
    };
    (wide) => {
        $crate::bits::Certainty::Known
    };
    (inferred) => {
        $crate::bits::Certainty::Inferred
    };
}

/// The [`Naming`](crate::bits::Naming) for the marker in front of a row.
#[doc(hidden)]
#[macro_export]
macro_rules! naming {
    (flat) => {
        $crate::bits::Naming::Flat
    };
    ($($other:ident)?) => {
        $crate::bits::Naming::Indexed
    };
}

/// The name of a field whose getter is called `getter`. A getter cannot begin with a digit: that of `64B` is `_64B`.
#[doc(hidden)]
pub const fn field_name(getter: &'static str) -> &'static str {
    match getter.as_bytes() {
        [b'_', digit, ..] if digit.is_ascii_digit() => getter.split_at(1).1,
        _ => getter,
    }
}

/// Makes typed words that have no register offset: descriptors, packet dwords.
///
/// `NAME { 0..5 FIELD: Type; .. }`
#[macro_export]
macro_rules! descriptors {
    ($($(#[doc = $doc:literal])* $name:ident $fields:tt)*) => {$(
        $crate::word_type! { [$($doc)*] $name $fields }

        impl $name {
            /// The word's name and fields, for printing and parsing.
            pub const ROW: $crate::bits::WordRow =
                $crate::bits::WordRow { name: stringify!($name), fields: Self::FIELDS };
        }
    )*};
}

/// The field table of a word.
#[doc(hidden)]
#[macro_export]
macro_rules! word_fields {
    ($($(#[doc = $fdoc:literal])* $($sure:ident)? $lo:literal .. $hi:literal $field:ident : $ty:ty;)*) => {
        &[$($crate::bits::FieldRow {
            name: $crate::bits::field_name(stringify!($field)), lo: $lo, hi: $hi, kind: <$ty as $crate::bits::FieldType>::KIND,
            certainty: $crate::certainty!($($sure)?), doc: concat!($($fdoc),*),
        }),*]
    };
}

/// The part that registers and descriptors share: newtype, getters, field table.
#[doc(hidden)]
#[macro_export]
macro_rules! word_type {
    ([$($doc:literal)*] $type:ident { like $other:ident }) => {
        $(#[doc = $doc])*
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $type(pub $other);

        impl $type {
            /// The fields, from bit 0 up.
            pub const FIELDS: &'static [$crate::bits::FieldRow] = $other::FIELDS;
        }

        impl std::ops::Deref for $type {
            type Target = $other;
            fn deref(&self) -> &$other { &self.0 }
        }
    };
    ([$($doc:literal)*] $type:ident { $($(#[doc = $fdoc:literal])* $($sure:ident)? $lo:literal .. $hi:literal $field:ident : $ty:ty;)* }) => {
        $(#[doc = $doc])*
        #[allow(non_camel_case_types, missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
        pub struct $type(pub u32);

        impl From<u32> for $type {
            fn from(word: u32) -> Self { Self(word) }
        }

        #[allow(non_snake_case, missing_docs)]
        impl $type {
            /// The fields, from bit 0 up.
            pub const FIELDS: &'static [$crate::bits::FieldRow] =
                $crate::word_fields!($($(#[doc = $fdoc])* $($sure)? $lo..$hi $field: $ty;)*);

            $($(#[doc = $fdoc])*
            pub fn $field(self) -> <$ty as $crate::bits::FieldType>::Value {
                <$ty as $crate::bits::FieldType>::get($crate::bits::extract(self.0, $lo, $hi), $hi - $lo + 1)
            })*
        }
    };
}
