//! Category 5: textures and derivatives (ir3-cat5.xml).
//!
//! ```text
//! 0 FULL  8:1 SRC1  16:9 SRC2  24:21 SAMP  31:25 TEX  39:32 DST  43:40 WRMASK  46:44 TYPE
//! 48 .3d  49 .a  50 .s  51 indirect  52 .o  53 .p  58:54 opcode
//! indirect: 28:21 SRC3  31:29 mode; 47 and 20:19 the base (low bit, high bits) if the mode has one
//!   mode 0 uniform, 4 not: slots in two half registers
//!   from A5xx on: 5 uniform, 2 not, 1 and 3 the same with a1.x: slots in a full register
//!                 6 SRC3 is TEX << 4 | SAMP, 7 SRC3 is SAMP and a1.x has TEX
//! isam from A5xx on: 18 not .1d  50 .v  53 SRC2 is an offset
//! opcode 31: 20:19 log2 of the cluster's fibers, minus 1; with 53 set which quad_shuffle
//! ```
use super::bits::{bit, field, put};
use super::isa::Isa;
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
    /// One source and the size of a cluster of fibers.
    Cluster1,
    /// One source of another fiber.
    Shuffle1,
    /// One source of another fiber, which the second one selects.
    Shuffle2,
    /// No operand at all.
    Plain,
}

impl Cat5Class {
    /// Number of sources of an op without `.o`.
    pub const fn sources(self) -> usize {
        match self {
            Self::Texture0 | Self::Value0 | Self::Plain => 0,
            Self::Sample1 | Self::Texture1 | Self::Value1 | Self::Untyped1 => 1,
            Self::Cluster1 | Self::Shuffle1 => 1,
            Self::Sample2 | Self::Shuffle2 => 2,
        }
    }

    /// Whether the op names a sampler.
    pub const fn has_sampler(self) -> bool {
        matches!(self, Self::Sample1 | Self::Sample2)
    }

    /// Whether the op names a texture.
    pub const fn has_texture(self) -> bool {
        matches!(self, Self::Sample1 | Self::Sample2 | Self::Texture1 | Self::Texture0)
    }

    /// Whether the op has the flags .3d to .s and slots.
    pub const fn has_flags(self) -> bool {
        !matches!(self, Self::Cluster1 | Self::Shuffle1 | Self::Shuffle2 | Self::Plain)
    }
}

/// Category 5 rows: `{ opcode, Variant, "mnemonic", Class }`. Opcode 31 has bit 53 above it, and bits 20:19 if that
/// is set.
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
            { 28, Tcinv, "tcinv" since A5xx, Plain }
            { 0x1f, BrcstActive, "brcst.active" since A6xx, Cluster1 }
            { 0x3f, QuadShuffleBrcst, "quad_shuffle.brcst" since A6xx, Shuffle2 }
            { 0x7f, QuadShuffleHoriz, "quad_shuffle.horiz" since A6xx, Shuffle1 }
            { 0xbf, QuadShuffleVert, "quad_shuffle.vert" since A6xx, Shuffle1 }
            { 0xff, QuadShuffleDiag, "quad_shuffle.diag" since A6xx, Shuffle1 }
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
    /// `.s2en`: slots in two half registers, first the texture's, then the sampler's (Mesa: ir3_cp.c).
    Indirect {
        /// The first of the two registers.
        reg: Reg,
        /// Whether the value may differ between the fibers of a wave.
        nonuniform: bool,
    },
    /// `.baseN`: descriptors of the memory that one of the bindless bases names.
    Bindless {
        /// Which base, 0 to 7. With `a1` it is that of the texture.
        base: u8,
        /// `a1.x`: bits 2:0 of it are the base of the sampler, and bits 10:3 the texture if the index has slots.
        a1: bool,
        /// Where the descriptors are.
        index: BindlessIndex,
    },
}

/// The place of descriptors at a bindless base.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BindlessIndex {
    /// Slots in the instruction; 0 if the op has none.
    Immediate {
        /// Sampler slot, 0 to 15; with `a1.x` on A6xx 0 to 255.
        sampler: u8,
        /// Texture slot, 0 to 15; with `a1.x` on A6xx it is there.
        texture: u8,
    },
    /// `.s2en`: slots in two full registers, first the texture's, then the sampler's (Mesa: ir3_compiler_nir.c).
    Register {
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
    /// `.s`: shadow compare; `.v` of `isam` from A5xx on.
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
    /// `.1d` of `isam` from A5xx on; the vendor's name of it.
    pub one_d: bool,
    /// `r0.x+N` of `isam` from A5xx on: an offset instead of a second source.
    pub offset: u8,
    /// Logarithm of the fibers of a cluster, minus 1.
    pub cluster: u8,
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

    /// Decodes `word`; `None` if a field has no meaning in the generation.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        let op = Cat5Op::of(word).filter(|op| op.is_in(isa))?;
        if isa.is_strict() && word & op.zeros() != 0 {
            return None;
        }
        let class = op.class();
        let flag = |at| class.has_flags() && bit(word, at);
        let is_isam = op.is_isam(isa);
        let mut instr = Self {
            op,
            three_d: flag(48),
            array: flag(49),
            shadow: flag(50),
            offsets: flag(52),
            projective: flag(53) && !is_isam,
            ty: result_type(op, Type::from_bits(field(word, 44, 3) as u8)?),
            wrmask: field(word, 40, 4) as u8,
            dst: Reg(field(word, 32, 8) as u8),
            half: true,
            src1: Reg(0),
            src2: Reg(0),
            slots: slots(isa, word, op)?,
            one_d: is_isam && !bit(word, 18),
            offset: 0,
            cluster: if class == Cat5Class::Cluster1 { field(word, 19, 2) as u8 } else { 0 },
        };
        if class == Cat5Class::Plain {
            (instr.ty, instr.wrmask, instr.dst) = (Type::F16, 0, Reg(0));
        }
        if instr.has_src1() {
            instr.src1 = Reg(field(word, 1, 8) as u8);
        }
        if instr.has_src2() {
            instr.src2 = Reg(field(word, 9, 8) as u8);
        } else if is_isam && bit(word, 53) {
            instr.offset = field(word, 9, 8) as u8;
        }
        if instr.has_src1() || instr.has_src2() {
            instr.half = !bit(word, 0);
        }
        Some(instr)
    }

    /// Encodes the fields that the text shows.
    pub(super) fn encode(&self, isa: Isa) -> u64 {
        let key = self.op.bits();
        let variant = match self.op.class() {
            Cat5Class::Cluster1 => self.cluster & 3,
            _ => key >> 6,
        };
        put(5u8, 61)
            | put(key & 0x1f, 54)
            | put(self.projective || self.offset != 0 || key & 0x20 != 0, 53)
            | put(self.offsets, 52)
            | put(self.shadow, 50)
            | put(self.array, 49)
            | put(self.three_d, 48)
            | put(self.ty as u8, 44)
            | put(self.wrmask & 0xf, 40)
            | put(self.dst.0, 32)
            | put(variant, 19)
            | put(self.op.is_isam(isa) && !self.one_d, 18)
            | put(self.src2.0 | self.offset, 9)
            | put(self.src1.0, 1)
            | put(!self.half, 0)
            | self.slots.encode(isa)
    }
}

impl Cat5Op {
    /// The op of `word`, by its opcode and the bits above it in the rows.
    fn of(word: u64) -> Option<Self> {
        let opcode = field(word, 54, 5);
        let above = match (opcode, bit(word, 53)) {
            (0x1f, true) => 1 | field(word, 19, 2) << 1,
            _ => 0,
        };
        Self::from_bits((opcode | above << 5) as u8)
    }

    /// Whether the op is `isam` in its form of A5xx and later.
    pub(super) fn is_isam(self, isa: Isa) -> bool {
        self == Self::Isam && isa.is_strict()
    }

    /// The text of bit 50.
    pub(super) fn shadow_name(self, isa: Isa) -> &'static str {
        if self.is_isam(isa) { ".v" } else { ".s" }
    }

    /// The bits that are 0 in each word of the op.
    const fn zeros(self) -> u64 {
        match self.class() {
            Cat5Class::Plain => 0,
            Cat5Class::Cluster1 | Cat5Class::Shuffle1 | Cat5Class::Shuffle2 => 1 << 18 | 1 << 50,
            _ if matches!(self, Self::Isam) => 0,
            _ => 1 << 18,
        }
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

fn slots(isa: Isa, word: u64, op: Cat5Op) -> Option<Cat5Slots> {
    let class = op.class();
    if class.has_flags() && bit(word, 51) {
        return indirect(isa, word, class);
    }
    let sampler = if class.has_sampler() { field(word, 21, 4) as u8 } else { 0 };
    let texture = if class.has_texture() { field(word, 25, 7) as u8 } else { 0 };
    Some(Cat5Slots::Immediate { sampler, texture })
}

/// The slots of an instruction whose bit 51 is set, by the mode. A4xx has modes 0 and 4.
fn indirect(isa: Isa, word: u64, class: Cat5Class) -> Option<Cat5Slots> {
    let mode = field(word, 29, 3);
    let reg = Reg(field(word, 21, 8) as u8);
    if matches!(mode, 0 | 4) {
        return Some(Cat5Slots::Indirect { reg, nonuniform: mode == 4 });
    }
    if isa == Isa::A4xx {
        return None;
    }
    let a1 = matches!(mode, 1 | 3 | 7);
    let index = match mode {
        6 | 7 => {
            let wide = mode == 7 && isa == Isa::A6xx;
            let sampler = field(word, 21, if wide { 8 } else { 4 }) as u8;
            let texture = if wide { 0 } else { field(word, 25, 4) as u8 };
            BindlessIndex::Immediate {
                sampler: if class.has_sampler() { sampler } else { 0 },
                texture: if class.has_texture() { texture } else { 0 },
            }
        }
        _ => BindlessIndex::Register { reg, nonuniform: matches!(mode, 2 | 3) },
    };
    let base = (field(word, 19, 2) << 1 | field(word, 47, 1)) as u8;
    Some(Cat5Slots::Bindless { base, a1, index })
}

impl Cat5Slots {
    fn encode(&self, isa: Isa) -> u64 {
        match *self {
            Self::Immediate { sampler, texture } => put(sampler & 0xf, 21) | put(texture & 0x7f, 25),
            Self::Indirect { reg, nonuniform } => put(reg.0, 21) | put(nonuniform, 31) | put(true, 51),
            Self::Bindless { base, a1, index } => {
                let (mode, src3) = match index {
                    BindlessIndex::Immediate { sampler, .. } if a1 && isa == Isa::A6xx => (7u8, sampler),
                    BindlessIndex::Immediate { sampler, texture } => {
                        (if a1 { 7 } else { 6 }, texture << 4 | sampler & 0xf)
                    }
                    BindlessIndex::Register { reg, nonuniform: true } => (if a1 { 3 } else { 2 }, reg.0),
                    BindlessIndex::Register { reg, nonuniform: false } => (if a1 { 1 } else { 5 }, reg.0),
                };
                put(mode, 29) | put(src3, 21) | put(true, 51) | put(base & 1, 47) | put(base >> 1 & 3, 19)
            }
        }
    }
}
