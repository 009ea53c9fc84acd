//! Category 6: memory (ir3-cat6.xml, the forms of A3xx and A4xx).
//!
//! ```text
//! 51:49 TYPE  58:54 opcode; the rest by form:
//! load      0 = 1  13:1 offset  21:14 address  23 = 1  31:24 count  39:32 DST
//! varying   13:1 location  23:22 = 3  31:24 count  39:32 DST
//! store     8:1 value  13:9 offset 12:8  23 = 1  31:24 count  39:32 offset 7:0  40 = 1  48:41 address
//! buffer    10:9 D-1  11 TYPED  13:12 components-1  48:41 slot  53 slot is immediate
//!   load    0 = 1  21:14 SRC1 (22 imm)  31:24 SRC2 (23 imm)  39:32 DST
//!   store   8:1 value  31:24 SRC2 (23 imm)  39:32 SRC3 (40 imm)
//! constant  0 = 1  13:12 components-1  21:14 SRC1 (22 imm)  31:24 SRC2 (23 imm)  39:32 DST  48:41 slot (53 imm)
//!   atomic  8:1 SRC3  21:14 SRC1 (22 imm)  31:24 SRC2 (23 imm)  39:32 DST  52 global
//! ```
use super::bits::{bit, field, put, put_signed, signed};
use super::operand::{Reg, Type};
use super::rows::opcodes;

/// The form of a category-6 op.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat6Class {
    /// Load from global memory: `g[]`.
    LoadGlobal,
    /// Load from local memory: `l[]`.
    LoadLocal,
    /// Load from private memory: `p[]`.
    LoadPrivate,
    /// Store to global memory.
    StoreGlobal,
    /// Store to local memory.
    StoreLocal,
    /// Store to private memory.
    StorePrivate,
    /// Load from varying storage.
    Varying,
    /// Load through a storage slot.
    BufferLoad,
    /// Store through a storage slot.
    BufferStore,
    /// Load from a uniform block that a slot names.
    ConstantLoad,
    /// Atomic, local or through a storage slot.
    Atomic,
    /// Size of the buffer or image in a storage slot.
    Info,
}

/// Category 6 rows: `{ opcode, Variant, "mnemonic", Class }`. An atomic is
/// written `atomic.` + mnemonic on local memory, `atomic.s.` + mnemonic on a slot.
#[macro_export]
macro_rules! for_each_cat6 {
    ($callback:ident $(, $($arg:tt)*)?) => {
        $callback! { $($($arg)*;)?
            { 0, Ldg, "ldg", LoadGlobal }
            { 1, Ldl, "ldl", LoadLocal }
            { 2, Ldp, "ldp", LoadPrivate }
            { 3, Stg, "stg", StoreGlobal }
            { 4, Stl, "stl", StoreLocal }
            { 5, Stp, "stp", StorePrivate }
            { 6, Ldib, "ldib", BufferLoad }
            { 10, Ldlw, "ldlw", LoadLocal }
            { 11, Stlw, "stlw", StoreLocal }
            { 15, Resinfo, "resinfo", Info }
            { 16, AtomicAdd, "add", Atomic }
            { 17, AtomicSub, "sub", Atomic }
            { 18, AtomicXchg, "xchg", Atomic }
            { 19, AtomicInc, "inc", Atomic }
            { 20, AtomicDec, "dec", Atomic }
            { 21, AtomicCmpxchg, "cmpxchg", Atomic }
            { 22, AtomicMin, "min", Atomic }
            { 23, AtomicMax, "max", Atomic }
            { 24, AtomicAnd, "and", Atomic }
            { 25, AtomicOr, "or", Atomic }
            { 26, AtomicXor, "xor", Atomic }
            { 27, Ldgb, "ldgb", BufferLoad }
            { 28, Stgb, "stgb", BufferStore }
            { 29, Stib, "stib", BufferStore }
            { 30, Ldc, "ldc", ConstantLoad }
            { 31, Ldlv, "ldlv", Varying }
        }
    };
}

for_each_cat6!(
    opcodes,
    /// The ops of category 6.
    Cat6Op,
    Cat6Class
);

/// A register or an immediate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegOrImm {
    /// A full register.
    Reg(Reg),
    /// 0 to 255.
    Immediate(u8),
}

/// How an instruction views the contents of a storage slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct View {
    /// Whether the descriptor's format applies.
    pub typed: bool,
    /// Dimensions, 1 to 4; 4 for a buffer.
    pub dims: u8,
    /// Components moved, 1 to 4.
    pub components: u8,
}

/// The operands of a category-6 instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cat6Form {
    /// `dst, x[address + offset], count`
    Load {
        /// First register written.
        dst: Reg,
        /// Register with the byte address.
        address: Reg,
        /// Offset in bytes, -4096 to 4095.
        offset: i16,
        /// Number of components.
        count: u8,
    },
    /// `x[address + offset], value, count`
    Store {
        /// First register read.
        value: Reg,
        /// Register with the byte address.
        address: Reg,
        /// Offset in bytes, -4096 to 4095.
        offset: i16,
        /// Number of components.
        count: u8,
    },
    /// `dst, l[location], count`
    Varying {
        /// First register written.
        dst: Reg,
        /// Component location, 0 to 8191.
        location: u16,
        /// Number of components.
        count: u8,
    },
    /// `dst, g[slot], src1, src2`
    BufferLoad {
        /// The view of the slot.
        view: View,
        /// First register written.
        dst: Reg,
        /// Storage slot.
        slot: RegOrImm,
        /// Absolute byte address.
        src1: RegOrImm,
        /// Dword offset or coordinates.
        src2: RegOrImm,
    },
    /// `dst, g[src1], src2, slot`: 32-bit values of a uniform block.
    ///
    /// The vendor's compiler emits it for a block that is selected by an index (an A418's word in Mesa's
    /// ir3/tests/disasm.c). The units of SRC1 and SRC2 are not known. Bits 11:9, an offset on A6xx, have no
    /// known meaning.
    ConstantLoad {
        /// Components loaded, 1 to 4.
        components: u8,
        /// First register written.
        dst: Reg,
        /// The first operand, which is in brackets in the vendor's text.
        src1: RegOrImm,
        /// The second operand.
        src2: RegOrImm,
        /// Slot of the uniform block.
        slot: RegOrImm,
    },
    /// `g[slot], value, src2, src3`
    BufferStore {
        /// The view of the slot.
        view: View,
        /// Storage slot.
        slot: RegOrImm,
        /// First register read.
        value: Reg,
        /// Dword offset or coordinates.
        src2: RegOrImm,
        /// Absolute byte address.
        src3: RegOrImm,
    },
    /// `dst, l[address], data`
    AtomicLocal {
        /// The view of the memory.
        view: View,
        /// Register that receives the old value.
        dst: Reg,
        /// Byte address.
        address: RegOrImm,
        /// Data; new value and compare value for cmpxchg.
        data: RegOrImm,
    },
    /// `dst, g[slot], data, src2, src3`
    AtomicSlot {
        /// The view of the slot.
        view: View,
        /// Register that receives the old value.
        dst: Reg,
        /// Storage slot.
        slot: RegOrImm,
        /// Data; new value and compare value for cmpxchg.
        data: RegOrImm,
        /// Dword offset or coordinates.
        src2: RegOrImm,
        /// Absolute byte address.
        src3: Reg,
    },
    /// `dst, g[slot]`
    Info {
        /// Dimensions, 1 to 4.
        dims: u8,
        /// First of three registers written.
        dst: Reg,
        /// Storage slot.
        slot: RegOrImm,
    },
}

/// An instruction of category 6.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cat6 {
    /// The op.
    pub op: Cat6Op,
    /// Type of the values that are moved.
    pub ty: Type,
    /// The operands, in the form of the op's class.
    pub form: Cat6Form,
}

impl Cat6 {
    /// Decodes `word`; `None` if a field is not known on A4xx.
    pub(super) fn decode(word: u64) -> Option<Self> {
        let op = Cat6Op::from_bits(field(word, 54, 5) as u8)?;
        let ty = Type::from_bits(field(word, 49, 3) as u8)?;
        let form = match op.class() {
            Cat6Class::LoadGlobal if bit(word, 22) => return None,
            Cat6Class::StoreGlobal if bit(word, 52) => return None,
            Cat6Class::LoadGlobal | Cat6Class::LoadLocal | Cat6Class::LoadPrivate => load(word),
            Cat6Class::StoreGlobal | Cat6Class::StoreLocal | Cat6Class::StorePrivate => store(word),
            Cat6Class::Varying => Cat6Form::Varying {
                dst: reg(word, 32),
                location: field(word, 1, 13) as u16,
                count: count(word),
            },
            Cat6Class::BufferLoad => buffer_load(word),
            Cat6Class::BufferStore => buffer_store(word),
            Cat6Class::ConstantLoad if ty != Type::U32 => return None,
            Cat6Class::ConstantLoad => constant_load(word),
            Cat6Class::Atomic if bit(word, 52) => atomic_slot(word),
            Cat6Class::Atomic => atomic_local(word),
            Cat6Class::Info => {
                Cat6Form::Info { dims: field(word, 9, 2) as u8 + 1, dst: reg(word, 32), slot: slot(word) }
            }
        };
        Some(Self { op, ty, form })
    }

    /// Encodes the fields that the text shows, and the bits that Mesa always sets.
    pub(super) fn encode(&self) -> u64 {
        put(6u8, 61) | put(self.op.bits(), 54) | put(self.ty as u8, 49) | self.form.encode()
    }
}

fn reg(word: u64, lo: u32) -> Reg {
    Reg(field(word, lo, 8) as u8)
}

fn count(word: u64) -> u8 {
    field(word, 24, 8) as u8
}

fn reg_or_imm(word: u64, lo: u32, immediate_bit: u32) -> RegOrImm {
    match bit(word, immediate_bit) {
        true => RegOrImm::Immediate(field(word, lo, 8) as u8),
        false => RegOrImm::Reg(reg(word, lo)),
    }
}

fn slot(word: u64) -> RegOrImm {
    reg_or_imm(word, 41, 53)
}

fn view(word: u64) -> View {
    let components = field(word, 12, 2) as u8 + 1;
    View { typed: bit(word, 11), dims: field(word, 9, 2) as u8 + 1, components }
}

fn load(word: u64) -> Cat6Form {
    let offset = signed(word, 1, 13) as i16;
    Cat6Form::Load { dst: reg(word, 32), address: reg(word, 14), offset, count: count(word) }
}

fn store(word: u64) -> Cat6Form {
    let offset = (signed(word, 9, 5) << 8) as i16 | field(word, 32, 8) as i16;
    Cat6Form::Store { value: reg(word, 1), address: reg(word, 41), offset, count: count(word) }
}

fn buffer_load(word: u64) -> Cat6Form {
    Cat6Form::BufferLoad {
        view: view(word),
        dst: reg(word, 32),
        slot: slot(word),
        src1: reg_or_imm(word, 14, 22),
        src2: reg_or_imm(word, 24, 23),
    }
}

fn constant_load(word: u64) -> Cat6Form {
    Cat6Form::ConstantLoad {
        components: view(word).components,
        dst: reg(word, 32),
        src1: reg_or_imm(word, 14, 22),
        src2: reg_or_imm(word, 24, 23),
        slot: slot(word),
    }
}

fn buffer_store(word: u64) -> Cat6Form {
    Cat6Form::BufferStore {
        view: view(word),
        slot: slot(word),
        value: reg(word, 1),
        src2: reg_or_imm(word, 24, 23),
        src3: reg_or_imm(word, 32, 40),
    }
}

fn atomic_local(word: u64) -> Cat6Form {
    Cat6Form::AtomicLocal {
        view: view(word),
        dst: reg(word, 32),
        address: reg_or_imm(word, 14, 22),
        data: reg_or_imm(word, 24, 23),
    }
}

fn atomic_slot(word: u64) -> Cat6Form {
    Cat6Form::AtomicSlot {
        view: view(word),
        dst: reg(word, 32),
        slot: slot(word),
        data: reg_or_imm(word, 14, 22),
        src2: reg_or_imm(word, 24, 23),
        src3: reg(word, 1),
    }
}

impl Cat6Form {
    fn encode(&self) -> u64 {
        match *self {
            Self::Load { dst, address, offset, count } => {
                1 | put_signed(offset.into(), 1, 13)
                    | put(address.0, 14)
                    | put(true, 23)
                    | put(count, 24)
                    | put(dst.0, 32)
            }
            Self::Store { value, address, offset, count } => {
                put(value.0, 1)
                    | put_signed((offset >> 8).into(), 9, 5)
                    | put(true, 23)
                    | put(count, 24)
                    | put_signed(offset.into(), 32, 8)
                    | put(true, 40)
                    | put(address.0, 41)
            }
            Self::Varying { dst, location, count } => {
                put(location & 0x1fff, 1) | put(3u8, 22) | put(count, 24) | put(dst.0, 32)
            }
            Self::BufferLoad { view, dst, slot, src1, src2 } => {
                1 | view.encode()
                    | put(dst.0, 32)
                    | slot.encode(41, 53)
                    | src1.encode(14, 22)
                    | src2.encode(24, 23)
            }
            Self::ConstantLoad { components, dst, src1, src2, slot } => {
                1 | put(components.wrapping_sub(1) & 3, 12)
                    | put(dst.0, 32)
                    | slot.encode(41, 53)
                    | src1.encode(14, 22)
                    | src2.encode(24, 23)
            }
            Self::BufferStore { view, slot, value, src2, src3 } => {
                view.encode()
                    | slot.encode(41, 53)
                    | put(value.0, 1)
                    | src2.encode(24, 23)
                    | src3.encode(32, 40)
            }
            Self::AtomicLocal { view, dst, address, data } => {
                1 | view.encode() | put(dst.0, 32) | address.encode(14, 22) | data.encode(24, 23)
            }
            Self::AtomicSlot { view, dst, slot, data, src2, src3 } => {
                view.encode()
                    | put(src3.0, 1)
                    | put(dst.0, 32)
                    | slot.encode(41, 53)
                    | data.encode(14, 22)
                    | src2.encode(24, 23)
                    | put(true, 52)
            }
            Self::Info { dims, dst, slot } => {
                put(dims.wrapping_sub(1) & 3, 9) | put(dst.0, 32) | slot.encode(41, 53)
            }
        }
    }
}

impl View {
    fn encode(self) -> u64 {
        put(self.dims.wrapping_sub(1) & 3, 9)
            | put(self.typed, 11)
            | put(self.components.wrapping_sub(1) & 3, 12)
    }
}

impl RegOrImm {
    fn encode(self, lo: u32, immediate_bit: u32) -> u64 {
        match self {
            Self::Reg(reg) => put(reg.0, lo),
            Self::Immediate(value) => put(value, lo) | put(true, immediate_bit),
        }
    }
}
