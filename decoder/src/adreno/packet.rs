//! Packet framing: splits dwords into [`Packet`]s, which borrow them.
//!
//! Source: docs/hardware/command-processor.md, section 1. A4xx streams hold types 0, 2 and 3; type 1 is
//! decoded too. A5xx and later hold types 4 and 7. Headers of the other framing are recognised, so that the error can
//! name the generation.

use nom::bytes::complete::take;
use nom::error::{ErrorKind, ParseError};
use nom::{IResult, Input, Needed, Parser};

use crate::adreno::generation::Framing;
use crate::bits::{Bool, Hex, Uint};
use crate::error::PacketError;

descriptors! {
    /// Header of a run of register writes.
    PKT0 { 0..14 REG: Hex; 15..15 ONE_REG: Bool; 16..29 COUNT: Uint; 30..31 TYPE: Uint; }
    /// Header of a pair of register writes.
    PKT1 { 0..11 REG0: Hex; 12..23 REG1: Hex; 24..29 RESERVED: Uint; 30..31 TYPE: Uint; }
    /// Header of a command.
    PKT3 { 0..0 PREDICATED: Bool; 1..7 RESERVED: Uint; 8..14 OPCODE: Uint; 15..15 RESERVED2: Bool;
        16..29 COUNT: Uint; 30..31 TYPE: Uint; }
    /// Header of a register write on A5xx and later.
    PKT4 { 0..6 COUNT: Uint; 7..7 COUNT_PARITY: Uint; 8..26 REG: Hex; 27..27 REG_PARITY: Uint; 28..31 TYPE: Uint; }
    /// Header of a command on A5xx and later.
    PKT7 { 0..13 COUNT: Uint; 14..14 RESERVED: Uint; 15..15 COUNT_PARITY: Uint; 16..22 OPCODE: Uint;
        23..23 OPCODE_PARITY: Uint; 24..27 RESERVED2: Uint; 28..31 TYPE: Uint; }
}

/// The one-dword filler, whole.
pub const TYPE2: u32 = 0x8000_0000;

/// One packet. Its slices borrow from the command buffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Packet<'a> {
    /// Writes to consecutive registers, or several writes to one: types 0 and 4.
    Registers {
        /// First register (dword offset).
        reg: u32,
        /// All values go to `reg`, one after another.
        one_reg: bool,
        /// The values; at least one in a packet of type 0.
        values: &'a [u32],
    },
    /// Two single register writes: type 1. Not emitted for A4xx.
    TwoRegisters {
        /// The registers (dword offsets).
        regs: [u32; 2],
        /// Two values.
        values: &'a [u32],
    },
    /// A filler of one dword: type 2.
    Filler,
    /// A command: types 3 and 7.
    Command {
        /// Opcode, 0 to 0x7f.
        opcode: u8,
        /// Execute only if the predicate is set; type 7 has no such bit.
        predicated: bool,
        /// The dwords after the header; at least one in a packet of type 3.
        payload: &'a [u32],
    },
}

impl<'a> Packet<'a> {
    /// The register writes of the packet's header, in order: `(register, value)`. Empty for fillers and commands.
    pub fn writes(&self) -> impl Iterator<Item = (u32, u32)> + use<'a> {
        let (first, second, step, values): (u32, u32, u32, &'a [u32]) = match *self {
            Self::Registers { reg, one_reg: true, values } => (reg, reg, 0, values),
            Self::Registers { reg, one_reg: false, values } => (reg, reg + 1, 1, values),
            Self::TwoRegisters { regs, values } => (regs[0], regs[1], 0, values),
            Self::Filler | Self::Command { .. } => (0, 0, 0, &[]),
        };
        values.iter().zip(0u32..).map(move |(&value, i)| match i {
            0 => (first, value),
            _ => (second + step * (i - 1), value),
        })
    }
}

/// A slice of dwords that nom can parse.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Dwords<'a>(pub &'a [u32]);

impl<'a> Input for Dwords<'a> {
    type Item = u32;
    type Iter = std::iter::Copied<std::slice::Iter<'a, u32>>;
    type IterIndices = std::iter::Enumerate<Self::Iter>;

    fn input_len(&self) -> usize {
        self.0.len()
    }
    fn take(&self, index: usize) -> Self {
        Self(&self.0[..index])
    }
    fn take_from(&self, index: usize) -> Self {
        Self(&self.0[index..])
    }
    fn take_split(&self, index: usize) -> (Self, Self) {
        let (before, after) = self.0.split_at(index);
        (Self(after), Self(before))
    }
    fn position<P: Fn(u32) -> bool>(&self, predicate: P) -> Option<usize> {
        self.0.iter().position(|&dword| predicate(dword))
    }
    fn iter_elements(&self) -> Self::Iter {
        self.0.iter().copied()
    }
    fn iter_indices(&self) -> Self::IterIndices {
        self.0.iter().copied().enumerate()
    }
    fn slice_index(&self, count: usize) -> Result<usize, Needed> {
        self.0.len().checked_sub(count).map(|_| count).ok_or(Needed::Unknown)
    }
}

/// A framing error whose offset is not known yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Damage {
    Header(u32),
    Generation(u32, &'static str),
    PastEnd { header: u32, needed: usize, have: usize },
    End,
}

impl<'a> ParseError<Dwords<'a>> for Damage {
    fn from_error_kind(_: Dwords<'a>, _: ErrorKind) -> Self {
        Self::End
    }
    fn append(_: Dwords<'a>, _: ErrorKind, other: Self) -> Self {
        other
    }
}

impl Damage {
    fn at(self, offset: usize) -> PacketError {
        match self {
            Self::Header(header) => PacketError::BadHeader { offset, header },
            Self::Generation(header, of) => PacketError::WrongGeneration { offset, header, of },
            Self::PastEnd { header, needed, have } => PacketError::PastEnd { offset, header, needed, have },
            Self::End => PacketError::PastEnd { offset, header: 0, needed: 1, have: 0 },
        }
    }
}

type Parsed<'a, T> = IResult<Dwords<'a>, T, Damage>;

#[inline]
fn dword(input: Dwords<'_>) -> Parsed<'_, u32> {
    take(1usize).map(|taken: Dwords<'_>| taken.0[0]).parse(input)
}

#[inline]
fn payload(input: Dwords<'_>, header: u32, needed: usize) -> Parsed<'_, &[u32]> {
    let short = Damage::PastEnd { header, needed, have: input.0.len() };
    let taken: Parsed<'_, Dwords<'_>> = take(needed)(input);
    taken.map(|(rest, taken)| (rest, taken.0)).map_err(|_| nom::Err::Failure(short))
}

#[inline]
fn packet(input: Dwords<'_>) -> Parsed<'_, Packet<'_>> {
    let (rest, header) = dword(input)?;
    match PKT0(header).TYPE() {
        0 => type0(rest, PKT0(header)),
        1 => type1(rest, PKT1(header)),
        2 if header == TYPE2 => Ok((rest, Packet::Filler)),
        3 => type3(rest, PKT3(header)),
        _ => Err(nom::Err::Failure(Damage::Header(header))),
    }
}

#[inline]
fn type0(input: Dwords<'_>, header: PKT0) -> Parsed<'_, Packet<'_>> {
    let (rest, values) = payload(input, header.0, header.COUNT() as usize + 1)?;
    Ok((rest, Packet::Registers { reg: header.REG(), one_reg: header.ONE_REG(), values }))
}

#[inline]
fn type1(input: Dwords<'_>, header: PKT1) -> Parsed<'_, Packet<'_>> {
    if header.RESERVED() != 0 {
        let later = is_packet4(PKT4(header.0)) || is_packet7(PKT7(header.0));
        let damage = if later { Damage::Generation(header.0, LATER) } else { Damage::Header(header.0) };
        return Err(nom::Err::Failure(damage));
    }
    let (rest, values) = payload(input, header.0, 2)?;
    Ok((rest, Packet::TwoRegisters { regs: [header.REG0(), header.REG1()], values }))
}

#[inline]
fn type3(input: Dwords<'_>, header: PKT3) -> Parsed<'_, Packet<'_>> {
    if !is_packet3(header) {
        return Err(nom::Err::Failure(Damage::Header(header.0)));
    }
    let (rest, payload) = payload(input, header.0, header.COUNT() as usize + 1)?;
    let opcode = header.OPCODE() as u8;
    Ok((rest, Packet::Command { opcode, predicated: header.PREDICATED(), payload }))
}

// Not inlined: it would lengthen the loop of the other framing.
#[inline(never)]
fn packet4or7(input: Dwords<'_>) -> Parsed<'_, Packet<'_>> {
    let (rest, header) = dword(input)?;
    let (writes, command) = (PKT4(header), PKT7(header));
    if is_packet7(command) {
        let (rest, payload) = payload(rest, header, command.COUNT() as usize)?;
        let opcode = command.OPCODE() as u8;
        return Ok((rest, Packet::Command { opcode, predicated: false, payload }));
    }
    if is_packet4(writes) {
        let (rest, values) = payload(rest, header, writes.COUNT() as usize)?;
        return Ok((rest, Packet::Registers { reg: writes.REG(), one_reg: false, values }));
    }
    Err(nom::Err::Failure(match is_packet3(PKT3(header)) {
        true => Damage::Generation(header, EARLIER),
        false => Damage::Header(header),
    }))
}

/// The generations whose headers are of types 4 and 7.
const LATER: &str = "A5xx or later";

/// The generations whose headers are of types 0 to 3.
const EARLIER: &str = "A4xx or earlier";

/// The parity bit of A5xx headers: value and bit together have an odd number of ones.
pub(crate) fn odd_parity(value: u32) -> u32 {
    (value.count_ones() + 1) % 2
}

fn is_packet3(header: PKT3) -> bool {
    header.TYPE() == 3 && header.RESERVED() == 0 && !header.RESERVED2()
}

fn is_packet4(header: PKT4) -> bool {
    header.TYPE() == 4
        && header.COUNT_PARITY() == odd_parity(header.COUNT())
        && header.REG_PARITY() == odd_parity(header.REG())
}

fn is_packet7(header: PKT7) -> bool {
    header.TYPE() == 7
        && header.RESERVED() == 0
        && header.RESERVED2() == 0
        && header.COUNT_PARITY() == odd_parity(header.COUNT())
        && header.OPCODE_PARITY() == odd_parity(header.OPCODE())
}

/// An iterator over the packets of a command buffer, in order. It ends after the first error, because the
/// start of the next packet is then unknown.
#[derive(Clone, Debug)]
pub struct Packets<'a> {
    framing: Framing,
    rest: Dwords<'a>,
    offset: usize,
}

impl<'a> Packets<'a> {
    /// Starts at the first dword of a command buffer.
    pub fn new(framing: Framing, dwords: &'a [u32]) -> Self {
        Self { framing, rest: Dwords(dwords), offset: 0 }
    }

    /// Dword offset of the next packet's header.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// The dwords from the next packet's header on.
    pub fn rest(&self) -> &'a [u32] {
        self.rest.0
    }

    /// Skips `dwords`, or to the end. Conditional packets use it.
    pub fn skip(&mut self, dwords: usize) {
        let taken = dwords.min(self.rest.0.len());
        self.advance(Dwords(&self.rest.0[taken..]));
    }

    fn advance(&mut self, rest: Dwords<'a>) {
        self.offset += self.rest.0.len() - rest.0.len();
        self.rest = rest;
    }
}

impl<'a> Iterator for Packets<'a> {
    type Item = Result<Packet<'a>, PacketError>;

    // Inlined: a packet that is returned through memory delays the caller.
    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.0.is_empty() {
            return None;
        }
        let packet = match self.framing {
            Framing::Types0To3 => packet(self.rest),
            Framing::Types4And7 => packet4or7(self.rest),
        };
        match packet {
            Ok((rest, packet)) => {
                self.advance(rest);
                Some(Ok(packet))
            }
            Err(nom::Err::Error(damage) | nom::Err::Failure(damage)) => {
                self.rest = Dwords(&[]);
                Some(Err(damage.at(self.offset)))
            }
            Err(nom::Err::Incomplete(_)) => None,
        }
    }
}
