//! Category 5: textures and derivatives (ir3-cat5.xml).
//!
//! ```text
//! 0 FULL  8:1 SRC1  16:9 SRC2  24:21 SAMP  31:25 TEX  39:32 DST  43:40 WRMASK  46:44 TYPE
//! 48 .3d  49 .a  50 .s  51 indirect  52 .o  53 .p  58:54 opcode
//! indirect: 28:21 SRC3  31:29 mode (0 uniform, 4 not)
//! ```
use super::bits::{bit, field, put};
use super::operand::{Reg, Type};
use super::rows::opcodes;

/// The operands of a category-5 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat5Class {
    /// One source, sampler and texture.
    Sample1,
    /// Two sources, sampler and texture.
    Sample2,
    /// One source and a texture.
    Texture1,
    /// A texture.
    Texture0,
    /// One source.
    Value1,
    /// No source.
    Value0,
    /// One source; the text does not show the type.
    Untyped1,
}

impl Cat5Class {
    /// Number of sources of an op without `.o`.
    pub const fn sources(self) -> usize {
        match self {
            Self::Texture0 | Self::Value0 => 0,
            Self::Sample1 | Self::Texture1 | Self::Value1 | Self::Untyped1 => 1,
            Self::Sample2 => 2,
        }
    }

    /// Whether the op names a sampler.
    pub const fn has_sampler(self) -> bool {
        matches!(self, Self::Sample1 | Self::Sample2)
    }

    /// Whether the op names a texture.
    pub const fn has_texture(self) -> bool {
        !matches!(self, Self::Value1 | Self::Value0 | Self::Untyped1)
    }
}

/// Category 5 rows: `{ opcode, Variant, "mnemonic", Class }`.
#[macro_export]
macro_rules! for_each_cat5 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Isam, "isam", Sample1 }
            { 1, Isaml, "isaml", Sample2 }
            { 2, Isamm, "isamm", Sample1 }
            { 3, Sam, "sam", Sample1 }
            { 4, Samb, "samb", Sample2 }
            { 5, Saml, "saml", Sample2 }
            { 6, Samgq, "samgq", Sample1 }
            { 7, Getlod, "getlod", Sample1 }
            { 8, Conv, "conv", Sample2 }
            { 9, Convm, "convm", Sample2 }
            { 10, Getsize, "getsize", Texture1 }
            { 11, Getbuf, "getbuf", Texture0 }
            { 12, Getpos, "getpos", Texture1 }
            { 13, Getinfo, "getinfo", Texture0 }
            { 14, Dsx, "dsx", Value1 }
            { 15, Dsy, "dsy", Value1 }
            { 16, Gather4r, "gather4r", Sample1 }
            { 17, Gather4g, "gather4g", Sample1 }
            { 18, Gather4b, "gather4b", Sample1 }
            { 19, Gather4a, "gather4a", Sample1 }
            { 20, Samgp0, "samgp0", Sample1 }
            { 21, Samgp1, "samgp1", Sample1 }
            { 22, Samgp2, "samgp2", Sample1 }
            { 23, Samgp3, "samgp3", Sample1 }
            { 24, Dsxpp1, "dsxpp.1", Untyped1 }
            { 25, Dsypp1, "dsypp.1", Untyped1 }
            { 26, Rgetpos, "rgetpos", Value1 }
            { 27, Rgetinfo, "rgetinfo", Value0 }
        }
    };
}

for_each_cat5!(
    opcodes,
    /// The ops of category 5.
    Cat5Op,
    Cat5Class
);

/// The sampler and texture slots of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat5Slots {
    /// Slots in the instruction; 0 if the op has none.
    Immediate {
        /// Sampler slot, 0 to 15.
        sampler: u8,
        /// Texture slot, 0 to 127.
        texture: u8,
    },
    /// `.s2en`: slots in two half registers, first the sampler's, then the texture's.
    Indirect {
        /// The first of the two registers.
        reg: Reg,
        /// Whether the value may differ between the fibers of a wave.
        nonuniform: bool,
    },
}

/// An instruction of category 5. Fields that the op does not use are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat5 {
    /// The op.
    pub op: Cat5Op,
    /// `.3d`: three coordinates (3D or cube).
    pub three_d: bool,
    /// `.a`: array.
    pub array: bool,
    /// `.s`: shadow compare.
    pub shadow: bool,
    /// `.o`: texel offsets in the second source.
    pub offsets: bool,
    /// `.p`: projective.
    pub projective: bool,
    /// Type of the result. It decides whether `dst` is a half register.
    pub ty: Type,
    /// Bit c: component c is written, to register `dst + c`.
    pub wrmask: u8,
    /// Register of component x.
    pub dst: Reg,
    /// Whether the sources are half registers.
    pub half: bool,
    /// First source register.
    pub src1: Reg,
    /// Second source register.
    pub src2: Reg,
    /// Sampler and texture.
    pub slots: Cat5Slots,
}

impl Cat5 {
    /// Whether SRC1 is an operand.
    pub const fn has_src1(&self) -> bool {
        self.op.class().sources() > 0
    }

    /// Whether SRC2 is an operand.
    pub const fn has_src2(&self) -> bool {
        self.offsets || self.op.class().sources() > 1
    }

    /// Decodes `word`; `None` if a field is not known on A4xx.
    pub(super) fn decode(word: u64) -> Option<Self> {
        let op = Cat5Op::from_bits(field(word, 54, 5) as u8)?;
        let mut instr = Self {
            op,
            three_d: bit(word, 48),
            array: bit(word, 49),
            shadow: bit(word, 50),
            offsets: bit(word, 52),
            projective: bit(word, 53),
            ty: result_type(op, Type::from_bits(field(word, 44, 3) as u8)?),
            wrmask: field(word, 40, 4) as u8,
            dst: Reg(field(word, 32, 8) as u8),
            half: true,
            src1: Reg(0),
            src2: Reg(0),
            slots: slots(word, op)?,
        };
        if instr.has_src1() {
            instr.src1 = Reg(field(word, 1, 8) as u8);
        }
        if instr.has_src2() {
            instr.src2 = Reg(field(word, 9, 8) as u8);
        }
        if instr.has_src1() || instr.has_src2() {
            instr.half = !bit(word, 0);
        }
        Some(instr)
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self) -> u64 {
        let slots = match self.slots {
            Cat5Slots::Immediate { sampler, texture } => put(sampler & 0xf, 21) | put(texture & 0x7f, 25),
            Cat5Slots::Indirect { reg, nonuniform } => put(reg.0, 21) | put(nonuniform, 31) | put(true, 51),
        };
        put(5u8, 61)
            | put(self.op.bits(), 54)
            | put(self.projective, 53)
            | put(self.offsets, 52)
            | put(self.shadow, 50)
            | put(self.array, 49)
            | put(self.three_d, 48)
            | put(self.ty as u8, 44)
            | put(self.wrmask & 0xf, 40)
            | put(self.dst.0, 32)
            | put(self.src2.0, 9)
            | put(self.src1.0, 1)
            | put(!self.half, 0)
            | slots
    }
}

/// The type of the result. An op whose text has no type shows only the precision of the destination.
pub(super) fn result_type(op: Cat5Op, ty: Type) -> Type {
    match (op.class(), ty.is_half()) {
        (Cat5Class::Untyped1, true) => Type::F16,
        (Cat5Class::Untyped1, false) => Type::F32,
        _ => ty,
    }
}

fn slots(word: u64, op: Cat5Op) -> Option<Cat5Slots> {
    if bit(word, 51) {
        let nonuniform = match field(word, 29, 3) {
            0 => false,
            4 => true,
            _ => return None,
        };
        return Some(Cat5Slots::Indirect { reg: Reg(field(word, 21, 8) as u8), nonuniform });
    }
    let sampler = if op.class().has_sampler() { field(word, 21, 4) as u8 } else { 0 };
    let texture = if op.class().has_texture() { field(word, 25, 7) as u8 } else { 0 };
    Some(Cat5Slots::Immediate { sampler, texture })
}
