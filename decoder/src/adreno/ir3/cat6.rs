//! Category 6: memory (ir3-cat6.xml). `super::descriptor` has the forms with opcode 0 of A6xx.
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
//! from A5xx on: bit 0 is set in stores and atomics through a slot; counts of global memory have 3 bits
//! from A6xx on:
//! ldg.a     0 = 1  8:1 index  10:9 offset  13:12 shift-2  21:14 address  23:22 = 3  26:24 count  39:32 DST
//! stg.a     8:1 value  10:9 offset  13:12 shift-2  23 = 1  26:24 count  39:32 index  48:41 address  52 = 1
//! ldg.k     0 = 1  13:1 offset  21:14 address  26:23 count  40:32 target  52 = 1
//! stc       8:1 value  23 = 1  26:24 count  40:32 target (40: a1.x + 39:32)
//! shfl      8:1 SRC1  31:24 SRC2 (23 imm)  39:32 DST  47:45 mode  53 = 1
//! atomic.g  as the local atomic, with 52 set
//! ```
use super::bits::{bit, field, put, put_signed, signed};
use super::descriptor::Descriptor;
use super::isa::Isa;
use super::operand::{Reg, Type, named};
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
    /// Store to constants.
    StoreConstants,
    /// Read a register of another fiber.
    Shuffle,
    /// The address of a descriptor.
    Base,
    /// A number that the chip has of the wave.
    Identity,
}

/// Category 6 rows: `{ opcode, Variant, "mnemonic", Class }`. An atomic is
/// written `atomic.` + mnemonic on local memory, `atomic.s.` + mnemonic on a slot; from A6xx on `atomic.b.` through a
/// descriptor and `atomic.g.` on global memory. Bit 6 is above the opcodes that have another meaning from A6xx on.
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
            { 12, Resbase, "resbase" since A6xx, Base }
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
            { 27, Ldgb, "ldgb" until A5xx, BufferLoad }
            { 28, Stgb, "stgb" until A5xx, BufferStore }
            { 29, Stib, "stib", BufferStore }
            { 30, Ldc, "ldc", ConstantLoad }
            { 31, Ldlv, "ldlv", Varying }
            { 36, Getspid, "getspid" since A6xx, Identity }
            { 37, Getwid, "getwid" since A6xx, Identity }
            { 38, Getfiberid, "getfiberid" since A6xx, Identity }
            { 0x5b, Shfl, "shfl" since A6xx, Shuffle }
            { 0x5c, Stc, "stc" since A6xx, StoreConstants }
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

/// The first constant that an instruction writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConstantTarget {
    /// The number of the constant, in scalars; what is added to a1.x if that is set.
    pub offset: u8,
    /// Whether it counts from a1.x.
    pub a1: bool,
}

named! {
    /// Which fiber `shfl` reads.
    ShuffleMode {
        1 Xor "xor",
        2 Up "up",
        3 Down "down",
        6 RotateUp "rup",
        7 RotateDown "rdown",
    }
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
    /// `dst, g[address+(index+offset)<<2], count`, or with a larger shift `dst, g[address+index<<shift+offset<<2],
    /// count`: ldg.a.
    IndexedLoad {
        /// First register written.
        dst: Reg,
        /// First of two registers with the byte address.
        address: Reg,
        /// Register with the index.
        index: Reg,
        /// By what the index is shifted, 2 to 5.
        shift: u8,
        /// Dwords that are added, 0 to 3.
        offset: u8,
        /// Number of components.
        count: u8,
    },
    /// `g[address+(index+offset)<<2], value, count`: stg.a. As `IndexedLoad`.
    IndexedStore {
        /// First register read.
        value: Reg,
        /// First of two registers with the byte address.
        address: Reg,
        /// Register with the index.
        index: Reg,
        /// By what the index is shifted, 2 to 5.
        shift: u8,
        /// Dwords that are added, 0 to 3.
        offset: u8,
        /// Number of components.
        count: u8,
    },
    /// `c[target], g[address+offset], count`: ldg.k.
    LoadConstants {
        /// First constant written.
        target: ConstantTarget,
        /// First of two registers with the byte address.
        address: Reg,
        /// Offset in bytes, -4096 to 4095.
        offset: i16,
        /// Number of vectors of four.
        count: u8,
    },
    /// `c[target], value, count`: stc.
    StoreConstants {
        /// First constant written.
        target: ConstantTarget,
        /// First register read.
        value: Reg,
        /// Number of scalars.
        count: u8,
    },
    /// `dst, address, data`: atomic.g.
    AtomicGlobal {
        /// The view of the memory.
        view: View,
        /// Register that receives the old value.
        dst: Reg,
        /// First of two registers with the byte address.
        address: RegOrImm,
        /// Data; new value and compare value for cmpxchg.
        data: RegOrImm,
    },
    /// `dst, src, fiber`: shfl.
    Shuffle {
        /// Which fiber is read.
        mode: ShuffleMode,
        /// Register written.
        dst: Reg,
        /// Register read, in the other fiber.
        src: Reg,
        /// The mask or the distance.
        fiber: RegOrImm,
    },
    /// The forms of A6xx that name a descriptor.
    Descriptor(Descriptor),
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
    /// Decodes `word`; `None` if a field has no meaning in the generation.
    #[inline(always)]
    pub(super) fn decode(isa: Isa, word: u64) -> Option<Self> {
        if isa == Isa::A6xx
            && let Some(instr) = Descriptor::decode(word)
        {
            return Some(instr);
        }
        let op = Cat6Op::of(isa, word).filter(|op| op.is_in(isa))?;
        let ty = Type::from_bits(field(word, 49, 3) as u8)?;
        let form = match op.class() {
            Cat6Class::LoadGlobal if isa == Isa::A6xx && bit(word, 52) => load_constants(word),
            Cat6Class::LoadGlobal if bit(word, 22) => {
                Some(indexed_load(word)).filter(|_| isa == Isa::A6xx)?
            }
            Cat6Class::StoreGlobal if bit(word, 52) => {
                Some(indexed_store(word)).filter(|_| isa == Isa::A6xx)?
            }
            Cat6Class::LoadGlobal | Cat6Class::LoadLocal | Cat6Class::LoadPrivate => {
                load(op.count(isa), word)
            }
            Cat6Class::StoreGlobal | Cat6Class::StoreLocal | Cat6Class::StorePrivate => {
                store(op.count(isa), word)
            }
            Cat6Class::Varying => Cat6Form::Varying {
                dst: reg(word, 32),
                location: field(word, 1, 13) as u16,
                count: field(word, 24, 8) as u8,
            },
            // What A6xx has of these is decoded above.
            Cat6Class::BufferLoad | Cat6Class::BufferStore if isa == Isa::A6xx => return None,
            Cat6Class::BufferLoad => buffer_load(word),
            Cat6Class::BufferStore => buffer_store(word),
            Cat6Class::ConstantLoad if ty != Type::U32 || isa != Isa::A4xx => return None,
            Cat6Class::ConstantLoad => constant_load(word),
            Cat6Class::Atomic if bit(word, 52) && isa == Isa::A6xx => atomic_global(word),
            Cat6Class::Atomic if bit(word, 52) => atomic_slot(word),
            Cat6Class::Atomic => atomic_local(word),
            Cat6Class::Info => {
                Cat6Form::Info { dims: field(word, 9, 2) as u8 + 1, dst: reg(word, 32), slot: slot(word) }
            }
            Cat6Class::StoreConstants => Cat6Form::StoreConstants {
                target: target(word),
                value: reg(word, 1),
                count: field(word, 24, 3) as u8,
            },
            Cat6Class::Shuffle => shuffle(word)?,
            Cat6Class::Base | Cat6Class::Identity => return None,
        };
        let instr = Self { op, ty, form };
        (!isa.is_strict() || instr.is_exact(isa, word)).then_some(instr)
    }

    /// Encodes the fields that the text shows, and the bits that Mesa always sets.
    pub(super) fn encode(&self, isa: Isa) -> u64 {
        let op = match self.form {
            Cat6Form::Descriptor(_) => 0,
            _ => put(self.op.bits() & 0x1f, 54),
        };
        let form = match &self.form {
            Cat6Form::Descriptor(descriptor) => descriptor.encode(self.op),
            // The compiler clears bit 0 of ldgb from A5xx on.
            form @ Cat6Form::BufferLoad { .. } => {
                form.encode(isa) | u64::from(!isa.is_strict() || self.op == Cat6Op::Ldib)
            }
            form => form.encode(isa),
        };
        put(6u8, 61) | op | put(self.ty as u8, 49) | form
    }

    /// Whether the text marks half registers. From A5xx on Mesa marks those of global memory, `ldp` and `shfl` alone.
    pub(super) fn is_marked_half(&self, isa: Isa) -> bool {
        let class = self.op.class();
        let later = matches!(class, Cat6Class::LoadGlobal | Cat6Class::StoreGlobal | Cat6Class::LoadPrivate)
            || class == Cat6Class::Shuffle;
        self.ty.is_half() && (isa == Isa::A4xx || later)
    }

    /// Whether `word` has the fixed bits of its form, as from A5xx on.
    fn is_exact(&self, isa: Isa, word: u64) -> bool {
        const GLOBAL: u64 = 3 << 30 | 1 << 53;
        let load = 1 | 1 << 23;
        let (ones, zeros): (u64, u64) = match (&self.form, self.op) {
            (Cat6Form::Load { .. }, Cat6Op::Ldg) => (load, GLOBAL | 1 << 22 | 1 << 52),
            (Cat6Form::IndexedLoad { .. }, _) => (load | 1 << 22, GLOBAL | 1 << 52),
            (Cat6Form::LoadConstants { .. }, _) => (1 | 1 << 52, GLOBAL | 1 << 22),
            (Cat6Form::Load { .. }, _) => (load, 0),
            (Cat6Form::Store { .. }, Cat6Op::Stg) => (1 << 23, GLOBAL | 1 << 52),
            (Cat6Form::IndexedStore { .. }, _) => (1 << 23 | 1 << 52, GLOBAL),
            (Cat6Form::Store { .. }, Cat6Op::Stp) => (1 << 23 | 1 << 40, 1),
            (Cat6Form::Store { .. }, _) => (1 << 23 | 1 << 40, 0),
            (Cat6Form::Varying { .. }, _) => (3 << 22, 1 | 0xff << 14),
            (Cat6Form::StoreConstants { .. }, _) => (1 << 23, 0x1ff << 14),
            (Cat6Form::Info { .. }, _) => (0, 0x3ff << 14 | 1 << 40),
            (Cat6Form::BufferLoad { .. }, Cat6Op::Ldib) => (1, 0),
            (Cat6Form::BufferLoad { .. }, _) => (0, 0),
            (Cat6Form::BufferStore { .. } | Cat6Form::AtomicSlot { .. }, _) => (1, 0),
            (Cat6Form::AtomicLocal { .. }, _) => (1, 0xff << 1 | 0xff << 41 | 3 << 52),
            (Cat6Form::AtomicGlobal { .. }, _) => (1 | 1 << 52, 0xff << 1 | 0xff << 41 | 1 << 53),
            (Cat6Form::Shuffle { .. }, _) => (1 << 53, 1 | 0x3fff << 9 | 1 << 52),
            (Cat6Form::ConstantLoad { .. } | Cat6Form::Descriptor(_), _) => (0, 0),
        };
        debug_assert!(isa.is_strict(), "words of A4xx may differ");
        word & ones == ones && word & zeros == 0
    }
}

impl Cat6Op {
    /// The op of `word`, by its opcode and what is above it in the rows.
    fn of(isa: Isa, word: u64) -> Option<Self> {
        let opcode = field(word, 54, 5) as u8;
        let later = Self::from_bits(opcode | 0x40).filter(|op| isa == Isa::A6xx && op.is_in(isa));
        later.or(Self::from_bits(opcode))
    }

    /// Bits of the number of components of a load or store.
    pub(super) fn count(self, isa: Isa) -> u32 {
        let global = matches!(self.class(), Cat6Class::LoadGlobal | Cat6Class::StoreGlobal);
        if global && isa.is_strict() { 3 } else { 8 }
    }
}

pub(super) fn reg(word: u64, lo: u32) -> Reg {
    Reg(field(word, lo, 8) as u8)
}

pub(super) fn reg_or_imm(word: u64, lo: u32, immediate_bit: u32) -> RegOrImm {
    match bit(word, immediate_bit) {
        true => RegOrImm::Immediate(field(word, lo, 8) as u8),
        false => RegOrImm::Reg(reg(word, lo)),
    }
}

fn slot(word: u64) -> RegOrImm {
    reg_or_imm(word, 41, 53)
}

pub(super) fn view(word: u64) -> View {
    let components = field(word, 12, 2) as u8 + 1;
    View { typed: bit(word, 11), dims: field(word, 9, 2) as u8 + 1, components }
}

fn load(count: u32, word: u64) -> Cat6Form {
    let (offset, count) = (signed(word, 1, 13) as i16, field(word, 24, count) as u8);
    Cat6Form::Load { dst: reg(word, 32), address: reg(word, 14), offset, count }
}

fn store(count: u32, word: u64) -> Cat6Form {
    let offset = (signed(word, 9, 5) << 8) as i16 | field(word, 32, 8) as i16;
    Cat6Form::Store {
        value: reg(word, 1),
        address: reg(word, 41),
        offset,
        count: field(word, 24, count) as u8,
    }
}

fn indexed_load(word: u64) -> Cat6Form {
    Cat6Form::IndexedLoad {
        dst: reg(word, 32),
        address: reg(word, 14),
        index: reg(word, 1),
        shift: field(word, 12, 2) as u8 + 2,
        offset: field(word, 9, 2) as u8,
        count: field(word, 24, 3) as u8,
    }
}

fn indexed_store(word: u64) -> Cat6Form {
    Cat6Form::IndexedStore {
        value: reg(word, 1),
        address: reg(word, 41),
        index: reg(word, 32),
        shift: field(word, 12, 2) as u8 + 2,
        offset: field(word, 9, 2) as u8,
        count: field(word, 24, 3) as u8,
    }
}

fn load_constants(word: u64) -> Cat6Form {
    let (offset, count) = (signed(word, 1, 13) as i16, field(word, 23, 4) as u8);
    Cat6Form::LoadConstants { target: target(word), address: reg(word, 14), offset, count }
}

fn target(word: u64) -> ConstantTarget {
    ConstantTarget { offset: field(word, 32, 8) as u8, a1: bit(word, 40) }
}

fn atomic_global(word: u64) -> Cat6Form {
    Cat6Form::AtomicGlobal {
        view: view(word),
        dst: reg(word, 32),
        address: reg_or_imm(word, 14, 22),
        data: reg_or_imm(word, 24, 23),
    }
}

fn shuffle(word: u64) -> Option<Cat6Form> {
    Some(Cat6Form::Shuffle {
        mode: ShuffleMode::from_bits(field(word, 45, 3) as u8)?,
        dst: reg(word, 32),
        src: reg(word, 1),
        fiber: reg_or_imm(word, 24, 23),
    })
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
    fn encode(&self, isa: Isa) -> u64 {
        // Bit 0 of stores and atomics through a slot (`.a`).
        let later = u64::from(isa.is_strict());
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
                view.encode()
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
                later
                    | view.encode()
                    | slot.encode(41, 53)
                    | put(value.0, 1)
                    | src2.encode(24, 23)
                    | src3.encode(32, 40)
            }
            Self::AtomicLocal { view, dst, address, data } => {
                1 | view.encode() | put(dst.0, 32) | address.encode(14, 22) | data.encode(24, 23)
            }
            Self::AtomicSlot { view, dst, slot, data, src2, src3 } => {
                later
                    | view.encode()
                    | put(src3.0, 1)
                    | put(dst.0, 32)
                    | slot.encode(41, 53)
                    | data.encode(14, 22)
                    | src2.encode(24, 23)
                    | put(true, 52)
            }
            Self::IndexedLoad { dst, address, index, shift, offset, count } => {
                1 | indexed(shift, offset, count)
                    | put(index.0, 1)
                    | put(address.0, 14)
                    | put(true, 22)
                    | put(dst.0, 32)
            }
            Self::IndexedStore { value, address, index, shift, offset, count } => {
                indexed(shift, offset, count)
                    | put(value.0, 1)
                    | put(index.0, 32)
                    | put(true, 40)
                    | put(address.0, 41)
                    | put(true, 52)
            }
            Self::LoadConstants { target, address, offset, count } => {
                1 | put_signed(offset.into(), 1, 13)
                    | put(address.0, 14)
                    | put(count & 0xf, 23)
                    | target.encode()
                    | put(true, 52)
            }
            Self::StoreConstants { target, value, count } => {
                put(value.0, 1) | put(true, 23) | put(count & 7, 24) | target.encode()
            }
            Self::AtomicGlobal { view, dst, address, data } => {
                1 | view.encode()
                    | put(dst.0, 32)
                    | address.encode(14, 22)
                    | data.encode(24, 23)
                    | put(true, 52)
            }
            Self::Shuffle { mode, dst, src, fiber } => {
                put(src.0, 1) | fiber.encode(24, 23) | put(dst.0, 32) | put(mode as u8, 45) | put(true, 53)
            }
            Self::Descriptor(_) => 0,
            Self::Info { dims, dst, slot } => {
                put(dims.wrapping_sub(1) & 3, 9) | put(dst.0, 32) | slot.encode(41, 53)
            }
        }
    }
}

fn indexed(shift: u8, offset: u8, count: u8) -> u64 {
    put(offset & 3, 9) | put(shift.wrapping_sub(2) & 3, 12) | put(true, 23) | put(count & 7, 24)
}

impl ConstantTarget {
    fn encode(self) -> u64 {
        put(self.offset, 32) | put(self.a1, 40)
    }
}

impl View {
    pub(super) fn encode(self) -> u64 {
        put(self.dims.wrapping_sub(1) & 3, 9)
            | put(self.typed, 11)
            | put(self.components.wrapping_sub(1) & 3, 12)
    }
}

impl RegOrImm {
    pub(super) fn encode(self, lo: u32, immediate_bit: u32) -> u64 {
        match self {
            Self::Reg(reg) => put(reg.0, lo),
            Self::Immediate(value) => put(value, lo) | put(true, immediate_bit),
        }
    }
}
