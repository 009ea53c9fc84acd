//! Category 6 through descriptors: the words with opcode 0 that A6xx added (ir3-cat6.xml, `#instruction-cat6-a6xx`).
//!
//! ```text
//! 8 .baseN  3:1 N  7:6 mode (0 slot, 1 uniform register, 2 not)  48:41 slot  13:12 components-1  51:49 TYPE
//! 19:14 opcode  22 = 1  40 = 0 but for ldc.k  53 = 1  58:54 = 0 but for load and store
//! load, store  10:9 D-1  11 TYPED  23 has an offset  58:54 and 5:4 the offset  31:24 coordinates  39:32 value
//! atomic       10:9 D-1  11 TYPED  31:24 coordinates  39:32 data and DST  52 = 1
//! info, base   10:9 D-1  11 TYPED  39:32 DST
//! ldc          10:9 offset  11 .u  31:24 SRC1 (23 imm)  39:32 DST
//! ldc.k        31:24 SRC1 (23 imm)  39:32 count-1  52 = 1
//! identity     39:32 DST
//! ```
use super::bits::{bit, field, put};
use super::cat6::{reg, reg_or_imm, view};
use super::isa::Isa;
use super::line::Line;
use super::operand::{Reg, Type, named};
use super::{Cat6, Cat6Class, Cat6Form, Cat6Op, RegOrImm, View};

named! {
    /// Where the slot of a descriptor is.
    DescriptorMode {
        0 Immediate "imm",
        1 Uniform "uniform" /** A register with one value for all fibers. */,
        2 Nonuniform "nonuniform",
    }
}

/// A descriptor: a slot of the bindings, or of the memory that a bindless base names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Through {
    /// Where the slot is.
    pub mode: DescriptorMode,
    /// `.baseN`: the bindless base, 0 to 7.
    pub base: Option<u8>,
    /// The slot: an immediate, or the bits of a register's number in the other modes.
    pub slot: u8,
}

/// The forms that name a descriptor, and those without memory that share their encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// `dst, coordinates+offset, slot`: ldib.b.
    Load {
        /// The view of the buffer or image.
        view: View,
        /// First register written.
        dst: Reg,
        /// First register with the coordinates.
        coordinates: Reg,
        /// The offset that is added to the first coordinate: 0 to 127.
        offset: u8,
        /// The descriptor.
        through: Through,
    },
    /// `value, coordinates+offset, slot`: stib.b.
    Store {
        /// The view of the buffer or image.
        view: View,
        /// First register read.
        value: Reg,
        /// First register with the coordinates.
        coordinates: Reg,
        /// The offset that is added to the first coordinate: 0 to 127.
        offset: u8,
        /// The descriptor.
        through: Through,
    },
    /// `data, coordinates, slot`: atomic.b.
    Atomic {
        /// The view of the buffer or image.
        view: View,
        /// Register that receives the old value. Behind it are the compare value of cmpxchg and the data
        /// (ir3_a6xx.c, `emit_intrinsic_atomic_ssbo`).
        data: Reg,
        /// First register with the coordinates.
        coordinates: Reg,
        /// The descriptor.
        through: Through,
    },
    /// `dst, slot`: resinfo.b, resbase.
    Info {
        /// The view of the buffer or image.
        view: View,
        /// First register written.
        dst: Reg,
        /// The descriptor.
        through: Through,
    },
    /// `dst, src1, slot`: ldc.
    Uniforms {
        /// Components loaded, 1 to 4.
        components: u8,
        /// First component of the vector that is loaded, 0 to 3.
        offset: u8,
        /// `.u`: the destination is shared by the fibers.
        shared: bool,
        /// First register written.
        dst: Reg,
        /// The offset in the block, in vectors.
        src1: RegOrImm,
        /// The descriptor.
        through: Through,
    },
    /// `c[a1.x], src1, slot`: ldc.k.
    ToConstants {
        /// Vectors copied, 1 to 256.
        count: u16,
        /// The offset in the block, in vectors.
        src1: RegOrImm,
        /// The descriptor.
        through: Through,
    },
    /// `dst`: getspid, getwid, getfiberid.
    Identity {
        /// Register written.
        dst: Reg,
    },
}

/// The bit of each word here.
const ALWAYS: u64 = 1 << 22 | 1 << 53;
/// Bits 21:20, as Mesa sets them.
const MIDDLE: u64 = 1 << 21;

impl Descriptor {
    /// Decodes `word`, if it is one of these forms.
    pub(super) fn decode(word: u64) -> Option<Cat6> {
        if word & ALWAYS != ALWAYS {
            return None;
        }
        let op = Cat6Op::from_bits(field(word, 14, 6) as u8)?;
        let (ones, zeros) = fixed(op, word)?;
        if word & ones != ones || word & zeros != 0 {
            return None;
        }
        let ty = Type::from_bits(field(word, 49, 3) as u8)?;
        let ty = if op == Cat6Op::Ldc { Type::U32 } else { ty };
        let (view, value, coordinates) = (view(word), reg(word, 32), reg(word, 24));
        let through = || Through::of(word);
        let offset = if bit(word, 23) { (field(word, 4, 2) << 5 | field(word, 54, 5)) as u8 } else { 0 };
        let form = match op.class() {
            Cat6Class::BufferLoad => {
                Self::Load { view, dst: value, coordinates, offset, through: through()? }
            }
            Cat6Class::BufferStore => Self::Store { view, value, coordinates, offset, through: through()? },
            Cat6Class::Atomic => Self::Atomic { view, data: value, coordinates, through: through()? },
            Cat6Class::Info | Cat6Class::Base => Self::Info { view, dst: value, through: through()? },
            Cat6Class::ConstantLoad if bit(word, 52) => Self::ToConstants {
                count: field(word, 32, 8) as u16 + 1,
                src1: reg_or_imm(word, 24, 23),
                through: through()?,
            },
            Cat6Class::ConstantLoad => Self::Uniforms {
                components: view.components,
                offset: view.dims - 1,
                shared: view.typed,
                dst: value,
                src1: reg_or_imm(word, 24, 23),
                through: through()?,
            },
            _ => Self::Identity { dst: value },
        };
        Some(Cat6 { op, ty, form: Cat6Form::Descriptor(form) })
    }

    /// The bits beside the category and the type.
    pub(super) fn encode(&self, op: Cat6Op) -> u64 {
        ALWAYS | put(op.bits() & 0x3f, 14) | self.operands(op)
    }

    fn operands(&self, op: Cat6Op) -> u64 {
        match *self {
            Self::Load { view, dst: value, coordinates, offset, through }
            | Self::Store { view, value, coordinates, offset, through } => {
                let placed = put(true, 23) | put(offset >> 5 & 3, 4) | put(offset & 0x1f, 54);
                MIDDLE
                    | view.encode()
                    | put(value.0, 32)
                    | put(coordinates.0, 24)
                    | if offset == 0 { 0 } else { placed }
                    | through.encode()
            }
            Self::Atomic { view, data, coordinates, through } => {
                MIDDLE
                    | view.encode()
                    | put(data.0, 32)
                    | put(coordinates.0, 24)
                    | put(true, 52)
                    | through.encode()
            }
            Self::Info { view, dst, through } => MIDDLE | view.encode() | put(dst.0, 32) | through.encode(),
            Self::Uniforms { components, offset, shared, dst, src1, through } => {
                let view = View { typed: shared, dims: offset + 1, components };
                view.encode() | put(dst.0, 32) | src1.encode(24, 23) | through.encode()
            }
            Self::ToConstants { count, src1, through } => {
                put(count.wrapping_sub(1) & 0xff, 32) | src1.encode(24, 23) | put(true, 52) | through.encode()
            }
            Self::Identity { dst } => put(op == Cat6Op::Getfiberid, 23) | put(dst.0, 32),
        }
    }
}

impl Descriptor {
    /// Appends the text behind the flags.
    pub(super) fn print(&self, line: &mut Line, op: Cat6Op, ty: Type) {
        line.put(if op.class() == Cat6Class::Atomic { "atomic.b." } else { "" });
        line.put(op.name());
        match *self {
            Self::Load { view, dst: value, coordinates, offset, through }
            | Self::Store { view, value, coordinates, offset, through } => {
                line.put(".b");
                line.view(view, ty.name(), ".");
                line.through(through);
                line.half_reg(ty.is_half(), value);
                line.put(", ");
                line.reg(coordinates);
                line.offset(offset.into());
                line.reg_or_imm(through.operand());
            }
            Self::Atomic { view, data, coordinates, through } => {
                line.view(view, ty.atomic_name(Isa::A6xx), ".");
                line.through(through);
                line.reg(data);
                line.put(", ");
                line.reg(coordinates);
                line.reg_or_imm(through.operand());
            }
            Self::Info { view, dst, through } => {
                line.flag(op == Cat6Op::Resinfo, ".b");
                line.view(view, ty.name(), ".");
                line.through(through);
                line.reg(dst);
                line.reg_or_imm(through.operand());
            }
            Self::Uniforms { components, offset, shared, dst, src1, through } => {
                line.flag(shared, ".u");
                line.put(".offset");
                line.number(offset.into());
                line.put(".");
                line.number(components.into());
                line.put(".");
                line.through(through);
                line.reg(dst);
                line.reg_or_imm(src1);
                line.reg_or_imm(through.operand());
            }
            Self::ToConstants { count, src1, through } => {
                line.put(".");
                line.number(count.into());
                line.put(".k.");
                line.through(through);
                line.put("c[a1.x]");
                line.reg_or_imm(src1);
                line.reg_or_imm(through.operand());
            }
            Self::Identity { dst } => {
                line.suffix(ty);
                line.reg(dst);
            }
        }
    }
}

impl Line {
    /// Appends the mode and the base, and a blank.
    fn through(&mut self, through: Through) {
        self.put(through.mode.name());
        if let Some(base) = through.base {
            self.put(".base");
            self.number(base.into());
        }
        self.put(" ");
    }
}

/// The bits that must be 1 and those that must be 0 in a word of the op; `None` if the op has no form here.
fn fixed(op: Cat6Op, word: u64) -> Option<(u64, u64)> {
    // Bits 5:4 and 58:54, in which loads and stores have an offset.
    const OFFSET: u64 = 3 << 4 | 0x1f << 54;
    const SECOND: u64 = 1 << 20;
    Some(match op {
        Cat6Op::Ldib => (MIDDLE, SECOND | 1 << 40 | 1 << 52),
        Cat6Op::Stib => (MIDDLE, SECOND | 1 << 40 | 1 << 52 | 1),
        Cat6Op::Resinfo | Cat6Op::Resbase => (MIDDLE, SECOND | 1 << 40 | OFFSET | 1 | 1 << 23),
        Cat6Op::Ldc => (3 << 49, 1 << 40 | OFFSET),
        Cat6Op::Getspid | Cat6Op::Getwid => (0, 1 << 40 | OFFSET | 1),
        Cat6Op::Getfiberid => (1 << 23, 1 << 40 | OFFSET | 1),
        Cat6Op::AtomicInc | Cat6Op::AtomicDec => return None,
        op if op.class() == Cat6Class::Atomic => (MIDDLE | 1 << 52, SECOND | 1 << 40 | OFFSET | 1 << 23),
        _ => return None,
    })
    // Without an offset its bits are 0: what else is the word of another opcode.
    .filter(|_| bit(word, 23) || word & OFFSET == 0)
}

impl Through {
    fn of(word: u64) -> Option<Self> {
        let mode = DescriptorMode::from_bits(field(word, 6, 2) as u8)?;
        let base = bit(word, 8).then(|| field(word, 1, 3) as u8);
        Some(Self { mode, base, slot: field(word, 41, 8) as u8 })
    }

    fn encode(self) -> u64 {
        let base = self.base.map_or(0, |base| put(base & 7, 1) | put(true, 8));
        put(self.mode as u8, 6) | put(self.slot, 41) | base
    }

    /// The slot: an immediate, or a register.
    pub const fn operand(self) -> RegOrImm {
        match self.mode {
            DescriptorMode::Immediate => RegOrImm::Immediate(self.slot),
            DescriptorMode::Uniform | DescriptorMode::Nonuniform => RegOrImm::Reg(Reg(self.slot)),
        }
    }
}
