//! Type-3 and type-7 packets: the table of a generation's opcodes, and what a reader of any generation's streams wants to
//! know of a packet.

use std::fmt;

use crate::adreno::address::Address;
use crate::bits::{Certainty, FieldRow, FieldType};

/// One dword of a packet's payload.
#[derive(Clone, Copy, Debug)]
pub struct DwordRow {
    /// Fields of the dword; a dword that is one number has one field of 32 bits.
    pub fields: &'static [FieldRow],
}

/// One opcode.
#[derive(Clone, Copy, Debug)]
pub struct PacketRow {
    /// The opcode, 0 to 0x7f.
    pub opcode: u8,
    /// Name in the packet database.
    pub name: &'static str,
    /// The dwords whose layout is known, from the first on. The last `optional` of them may be absent.
    pub dwords: &'static [DwordRow],
    /// How many of `dwords` may be absent.
    pub optional: usize,
    /// The dwords that repeat after `dwords`; empty if none are known to.
    pub repeat: &'static [DwordRow],
    /// The row with the layout that a payload selects, where there are several.
    pub form: fn(&[u32]) -> Option<&'static PacketRow>,
    /// The doc comment of the row; empty if the row has none.
    pub doc: &'static str,
}

/// Other names of packets in Mesa's history, and the names that the rows have.
const ALIASES: [(&str, &str); 1] = [("CP_INDIRECT_BUFFER_PFE", "CP_INDIRECT_BUFFER")];

impl PacketRow {
    /// The name of the row, and older names of the packet.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        let name = self.name;
        let older = ALIASES.into_iter().filter(move |(_, new)| *new == name).map(|(old, _)| old);
        std::iter::once(name).chain(older)
    }

    /// How many dwords of the payload have a name: those whose layout is known, and at least one.
    pub fn named_dwords(&self) -> usize {
        (self.dwords.len() + self.repeat.len()).max(1)
    }

    /// The name of payload dword `index` below [`PacketRow::named_dwords`] as Mesa's headers have it: `CP_LOAD_STATE4_0`,
    /// and with two underscores where dwords repeat, `CP_SET_DRAW_STATE__1`.
    pub fn dword_name(&self, index: usize) -> String {
        match index.checked_sub(self.dwords.len()).filter(|_| !self.repeat.is_empty()) {
            None => format!("{}_{index}", self.name),
            Some(index) => format!("{}__{index}", self.name),
        }
    }

    /// The row with the layout of `payload`: another one of the same packet where a dword selects it.
    pub fn laid_out(&'static self, payload: &[u32]) -> &'static Self {
        (self.form)(payload).unwrap_or(self)
    }

    /// The row of payload dword `index`, if its layout is known.
    pub fn dword(&self, index: usize) -> Option<&'static DwordRow> {
        let known = self.dwords.get(index);
        known.or_else(|| match self.repeat.len() {
            0 => None,
            period => self.repeat.get((index - self.dwords.len()) % period),
        })
    }
}

/// Field table of a dword that is one value of type `T`.
pub(crate) const fn whole<T: FieldType>(name: &'static str) -> FieldRow {
    FieldRow { name, lo: 0, hi: 31, kind: T::KIND, certainty: Certainty::Known, doc: "" }
}

/// The rows of `parts` in one list of `N` rows.
pub(crate) const fn joined<const N: usize>(parts: &[&[DwordRow]]) -> [DwordRow; N] {
    let mut rows = [DwordRow { fields: &[] }; N];
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

/// The packets of a generation.
#[derive(Debug)]
pub struct PacketTable {
    rows: &'static [PacketRow],
    /// Place of each opcode in `rows`; `NOBODY` for one without a row.
    index: [u8; OPCODES],
}

/// Number of opcodes that a header can hold.
const OPCODES: usize = 0x80;

/// The place of an opcode without a row.
const NOBODY: u8 = u8::MAX;

impl PacketTable {
    /// The table of `rows`.
    pub const fn new(rows: &'static [PacketRow]) -> Self {
        let mut index = [NOBODY; OPCODES];
        let mut i = 0;
        while i < rows.len() {
            index[rows[i].opcode as usize] = i as u8;
            i += 1;
        }
        Self { rows, index }
    }

    /// Every row, in the order of the table.
    pub const fn rows(&self) -> &'static [PacketRow] {
        self.rows
    }

    /// The row of `opcode`.
    pub fn row(&self, opcode: u8) -> Option<&'static PacketRow> {
        self.rows.get(usize::from(*self.index.get(usize::from(opcode))?))
    }

    /// The row of the packet called `name`, also by an older name.
    pub fn by_name(&self, name: &str) -> Option<&'static PacketRow> {
        self.rows.iter().find(|row| row.names().any(|known| known == name))
    }

    /// The name of `opcode` as text, or `UNKNOWN_xx`.
    pub fn name(&self, opcode: u8) -> PacketName {
        PacketName { opcode, row: self.row(opcode) }
    }
}

/// Displays the name of an opcode; `UNKNOWN_xx` if it has none.
#[derive(Clone, Copy, Debug)]
pub struct PacketName {
    opcode: u8,
    row: Option<&'static PacketRow>,
}

impl fmt::Display for PacketName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.row {
            Some(row) => f.write_str(row.name),
            None => write!(f, "UNKNOWN_{:02X}", self.opcode),
        }
    }
}

/// A call of another command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct IndirectBufferCall {
    /// GPU address of the buffer.
    pub address: Address,
    /// Length of the buffer in dwords.
    pub dwords: u32,
}

/// What a packet does, as far as all readers of streams treat it alike.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outline<'a> {
    /// Calls a buffer.
    Call(IndirectBufferCall),
    /// Loads state, which is shown unit by unit.
    Load,
    /// Does nothing; the dwords may hold a text.
    Nop(&'a [u32]),
    /// Anything else.
    Other,
}

/// Makes the packet bodies, `Pm4` and the rows of opcodes from rows.
///
/// ```text
/// 0x3d CP_MEM_WRITE: MemWrite { ADDR: Hex } ? { OPTIONAL: Uint } * { word as WORD_TYPE, NAME: Kind }
/// 0x2a CP_DRAW_INDIRECT_MULTI: DrawIndirectMulti { control as WORD_TYPE } by function
/// ```
/// A dword is either `NAME: Kind`, one value, or `name as WORD`, a word with fields. `NAME: Wide` is an address in
/// two dwords, `NAME_LO` and `NAME_HI`; `NAME: Split` is one whose dwords Mesa calls `NAME` and `NAME_HI`. The dwords
/// after `?` may be absent. The dwords after `*` repeat to the end and are reached through `rest`. The function
/// after `by` is [`PacketRow::form`].
macro_rules! packets {
    ($($(#[doc = $doc:literal])* $opcode:literal $name:ident : $body:ident
        { $($dword:ident $(: $kind:ident)? $(as $word:ident)?),* }
        $(? { $($odword:ident $(: $okind:ident)? $(as $oword:ident)?),* })?
        $(* { $($rdword:ident $(: $rkind:ident)? $(as $rword:ident)?),* })? $(by $form:ident)?)*) => {
        $(
            $(#[doc = $doc])*
            #[allow(non_snake_case, missing_docs)]
            #[derive(Clone, Copy, Debug, PartialEq)]
            pub struct $body<'a> {
                $(pub $dword: packets!(@type $($kind)? $($word)?, $($word)?),)*
                $($(pub $odword: Option<packets!(@type $($okind)? $($oword)?, $($oword)?)>,)*)?
                /// The dwords that are in none of the fields above.
                pub rest: &'a [u32],
            }

            impl<'a> $body<'a> {
                #[allow(non_snake_case, unused_mut)]
                fn parse(payload: &'a [u32]) -> Option<Self> {
                    let mut dwords = payload.iter();
                    $(let $dword = packets!(@value dwords, $($kind)?, $($word)?);)*
                    $($(let $odword = (|| Some(packets!(@value dwords, $($okind)?, $($oword)?)))();)*)?
                    Some(Self { $($dword,)* $($($odword,)*)? rest: dwords.as_slice() })
                }
            }
        )*

        /// A packet by its opcode.
        #[allow(missing_docs)]
        #[derive(Clone, Copy, Debug, PartialEq)]
        pub enum Pm4<'a> {
            $($body($body<'a>),)*
            /// An opcode of the table whose payload is shorter than its fixed part.
            Short { opcode: u8, payload: &'a [u32] },
            /// An opcode that is not in the table.
            Unknown { opcode: u8, payload: &'a [u32] },
        }

        impl<'a> Pm4<'a> {
            /// The typed body of a packet.
            pub fn parse(opcode: u8, payload: &'a [u32]) -> Self {
                match opcode {
                    $($opcode => $body::parse(payload).map(Self::$body),)*
                    _ => return Self::Unknown { opcode, payload },
                }
                .unwrap_or(Self::Short { opcode, payload })
            }
        }

        /// Every opcode that has a row, in the order of the rows.
        pub(super) const ROWS: &[PacketRow] = &[$(PacketRow {
            opcode: $opcode,
            name: stringify!($name),
            dwords: &joined::<{ 0 $(+ packets!(@count $($kind)?))* $($(+ packets!(@count $($okind)?))*)? }>(&[
                $(packets!(@row $dword, $($kind)?, $($word)?),)*
                $($(packets!(@row $odword, $($okind)?, $($oword)?),)*)?]),
            optional: 0 $($(+ packets!(@count $($okind)?))*)?,
            repeat: &joined::<{ 0 $($(+ packets!(@count $($rkind)?))*)? }>(
                &[$($(packets!(@row $rdword, $($rkind)?, $($rword)?)),*)?]),
            form: packets!(@form $($form)?),
            doc: concat!($($doc),*),
        }),*];
    };
    (@form) => { |_| None };
    (@form $form:ident) => { $form };
    (@type Wide,) => { Address };
    (@type Split,) => { Address };
    (@type $kind:ident,) => { <$kind as FieldType>::Value };
    (@type $word:ident, $same:ident) => { $word };
    (@value $dwords:ident, Wide,) => { Address::wide(*$dwords.next()?, *$dwords.next()?) };
    (@value $dwords:ident, Split,) => { Address::wide(*$dwords.next()?, *$dwords.next()?) };
    (@value $dwords:ident, $kind:ident,) => { <$kind as FieldType>::get(*$dwords.next()?, 32) };
    (@value $dwords:ident, , $word:ident) => { $word(*$dwords.next()?) };
    (@row $name:ident, Wide,) => { &[packets!(@half $name, "_LO"), packets!(@half $name, "_HI")] };
    (@row $name:ident, Split,) => { &[packets!(@half $name, ""), packets!(@half $name, "_HI")] };
    (@row $name:ident, $kind:ident,) => { &[DwordRow { fields: &[whole::<$kind>(stringify!($name))] }] };
    (@row $name:ident, , $word:ident) => { &[DwordRow { fields: $word::FIELDS }] };
    (@half $name:ident, $suffix:literal) => {
        DwordRow { fields: &[whole::<Hex>(concat!(stringify!($name), $suffix))] }
    };
    (@count Wide) => { 2 };
    (@count Split) => { 2 };
    (@count $($kind:ident)?) => { 1 };
}
pub(crate) use packets;
