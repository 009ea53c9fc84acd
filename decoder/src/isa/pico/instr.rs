//! Encodes and decodes instructions.
use std::fmt;

use super::ops::{Form, Op};
use crate::bits::Uint;

descriptors! {
    /// First dword of every instruction: what all of them share.
    PICO_HEADER { 0..5 OPCODE: Uint; 6..9 DST: Uint; }
    /// dst.mask, src
    PICO_UNARY { 0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 SRC: Uint; 14..17 MASK: Uint; }
    /// dst.mask, two sources
    PICO_BINARY { 0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 SRC1: Uint; 14..17 SRC2: Uint; 18..21 MASK: Uint; }
    /// dst.mask, three sources
    PICO_TERNARY {
        0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 SRC1: Uint; 14..17 SRC2: Uint; 18..21 SRC3: Uint; 22..25 MASK: Uint;
    }
    /// dst.mask and immediates
    PICO_UNARY_IMM { 0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 MASK: Uint; 14..15 COUNT_MINUS_1: Uint; }
    /// dst.mask, src and immediates
    PICO_BINARY_IMM {
        0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 SRC: Uint; 14..17 MASK: Uint; 18..19 COUNT_MINUS_1: Uint;
    }
    /// dst, src and a selector per component
    PICO_SWIZZLE {
        0..5 OPCODE: Uint; 6..9 DST: Uint; 10..13 SRC: Uint; 14..15 X: Uint; 16..17 Y: Uint; 18..19 Z: Uint; 20..21 W: Uint;
    }
}

/// Components that an instruction writes. Bit 3 is x, bit 0 is w, as in the encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Mask(u8);

impl Mask {
    /// x, y, z and w.
    pub const ALL: Self = Self(0xf);

    /// The mask of bits 3 (x) to 0 (w).
    pub const fn from_bits(bits: u32) -> Self {
        Self((bits & 0xf) as u8)
    }

    /// Bits 3 (x) to 0 (w).
    pub const fn bits(self) -> u32 {
        self.0 as u32
    }

    /// The mask of component numbers (0 is x).
    pub fn of(components: &[u8]) -> Self {
        Self(components.iter().fold(0, |mask, component| mask | 8 >> component))
    }

    /// The component numbers in the mask, x first.
    pub fn components(self) -> impl Iterator<Item = usize> {
        (0..4).filter(move |component| self.0 & (8 >> component) != 0)
    }

    /// The number of components, if they are x, xy, xyz or xyzw.
    pub fn prefix_len(self) -> Option<usize> {
        let len = self.0.count_ones() as usize;
        (len > 0 && self.components().eq(0..len)).then_some(len)
    }
}

impl fmt::Display for Mask {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.components().try_for_each(|component| write!(f, "{}", NAMES[component]))
    }
}

/// Names of the components.
pub(super) const NAMES: [char; 4] = ['x', 'y', 'z', 'w'];

/// 1 to 4 immediate dwords; none for a form without immediates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Immediates {
    len: u8,
    values: [u32; 4],
}

impl Immediates {
    /// The first four of `values`.
    pub fn new(values: &[u32]) -> Self {
        let len = values.len().min(4);
        let mut all = [0; 4];
        all[..len].copy_from_slice(&values[..len]);
        Self { len: len as u8, values: all }
    }

    /// The dwords in the program.
    pub fn as_slice(&self) -> &[u32] {
        &self.values[..self.len as usize]
    }

    /// The value for the `n`th component of the mask. The last immediate repeats.
    pub fn nth(&self, n: usize) -> u32 {
        self.as_slice().get(n).or(self.as_slice().last()).copied().unwrap_or(0)
    }
}

/// One instruction. Fields that the op's form does not have are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// The op.
    pub op: Op,
    /// Register written.
    pub dst: u8,
    /// Registers read.
    pub src: [u8; 3],
    /// Components written.
    pub mask: Mask,
    /// Component of the source for each component of the result (swizzle).
    pub pattern: [u8; 4],
    /// Immediate values, which follow the instruction's dword.
    pub immediates: Immediates,
    /// Bits of the dword that belong to no field of the op's form, in place. Shading units ignore them;
    /// PicoGpu's assembler sets some.
    pub unread: u32,
}

impl Instr {
    /// An instruction with `op`, r0 and all components.
    pub const fn new(op: Op) -> Self {
        Self {
            op,
            dst: 0,
            src: [0; 3],
            mask: Mask::ALL,
            pattern: [0; 4],
            immediates: Immediates { len: 0, values: [0; 4] },
            unread: 0,
        }
    }

    /// Appends the instruction's dwords.
    pub fn encode(&self, out: &mut Vec<u32>) {
        let src = self.src.map(u32::from);
        let count_minus_1 = u32::from(self.immediates.len.saturating_sub(1));
        let pattern = self.pattern.map(u32::from);
        let (opcode, dst, mask) = (self.op as u32, u32::from(self.dst), self.mask.bits());
        out.push(
            self.unread
                | match self.op.form() {
                    Form::Nullary => opcode,
                    Form::Unary => opcode | dst << 6 | src[0] << 10 | mask << 14,
                    Form::Binary => opcode | dst << 6 | src[0] << 10 | src[1] << 14 | mask << 18,
                    Form::Ternary => {
                        opcode | dst << 6 | src[0] << 10 | src[1] << 14 | src[2] << 18 | mask << 22
                    }
                    Form::UnaryImm => opcode | dst << 6 | mask << 10 | count_minus_1 << 14,
                    Form::BinaryImm => opcode | dst << 6 | src[0] << 10 | mask << 14 | count_minus_1 << 18,
                    Form::Swizzle => {
                        let selectors = pattern[0] | pattern[1] << 2 | pattern[2] << 4 | pattern[3] << 6;
                        opcode | dst << 6 | src[0] << 10 | selectors << 14
                    }
                },
        );
        out.extend(self.immediates.as_slice());
    }

    /// Decodes the instruction at the start of `words`, without unread bits. Returns it with the number of
    /// its dwords; `None` for an unknown opcode or immediates past the end.
    pub fn decode(words: &[u32]) -> Option<(Self, usize)> {
        let word = *words.first()?;
        let mut instr = Self::new(Op::from_bits(PICO_HEADER(word).OPCODE())?);
        let count = instr.read_operands(word);
        let immediates = words.get(1..1 + count)?;
        instr.immediates = Immediates::new(immediates);
        Some((instr, 1 + count))
    }

    /// Reads the operands of `word`. Returns the number of immediates that follow.
    fn read_operands(&mut self, word: u32) -> usize {
        let set = |this: &mut Self, src: [u32; 3], mask: u32| {
            this.dst = PICO_HEADER(word).DST() as u8;
            this.src = src.map(|register| register as u8);
            this.mask = Mask::from_bits(mask);
        };
        match self.op.form() {
            Form::Nullary => {}
            Form::Unary => set(self, [PICO_UNARY(word).SRC(), 0, 0], PICO_UNARY(word).MASK()),
            Form::Binary => {
                let word = PICO_BINARY(word);
                set(self, [word.SRC1(), word.SRC2(), 0], word.MASK());
            }
            Form::Ternary => {
                let word = PICO_TERNARY(word);
                set(self, [word.SRC1(), word.SRC2(), word.SRC3()], word.MASK());
            }
            Form::UnaryImm => {
                set(self, [0; 3], PICO_UNARY_IMM(word).MASK());
                return PICO_UNARY_IMM(word).COUNT_MINUS_1() as usize + 1;
            }
            Form::BinaryImm => {
                let word = PICO_BINARY_IMM(word);
                set(self, [word.SRC(), 0, 0], word.MASK());
                return word.COUNT_MINUS_1() as usize + 1;
            }
            Form::Swizzle => {
                let word = PICO_SWIZZLE(word);
                set(self, [word.SRC(), 0, 0], Mask::ALL.bits());
                self.pattern = [word.X(), word.Y(), word.Z(), word.W()].map(|selector| selector as u8);
            }
        }
        0
    }
}

/// Decodes the instructions of `words`, each with the index of its first dword.
///
/// # Errors
/// The index of the first dword that is no instruction.
pub fn decode_program(words: &[u32]) -> Result<Vec<(usize, Instr)>, usize> {
    let mut program = Vec::new();
    let mut at = 0;
    while at < words.len() {
        let (instr, len) = Instr::decode(&words[at..]).ok_or(at)?;
        program.push((at, instr));
        at += len;
    }
    Ok(program)
}

/// Prints the instruction in the assembler's syntax.
///
/// `init` prints as `iinit` with its bits as integers. Immediates of integer ops print as integers.
/// Immediates of float ops print as floats if the assembler's decimal floats can express them.
impl fmt::Display for Instr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.op == Op::Init { "i" } else { "" };
        write!(f, "{prefix}{}", self.op.name())?;
        if self.op.form() == Form::Nullary {
            return Ok(());
        }
        write!(f, " r{}", self.dst)?;
        if self.op.form() != Form::Swizzle && self.op != Op::Fcross && self.mask != Mask::ALL {
            write!(f, ".{}", self.mask)?;
        }
        self.src[..self.op.form().sources()].iter().try_for_each(|src| write!(f, " r{src}"))?;
        if self.op.form() == Form::Swizzle {
            f.write_str(".")?;
            self.pattern.iter().try_for_each(|&component| write!(f, "{}", NAMES[component as usize & 3]))?;
        }
        let integers = self.op.takes_integers();
        self.immediates.as_slice().iter().try_for_each(|&value| match integers {
            true => write!(f, " {}", value as i32),
            false => write!(f, " {:?}", f32::from_bits(value)),
        })
    }
}
