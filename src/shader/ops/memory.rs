//! Loads, stores and atomics.
use std::borrow::Borrow;

use super::Few;
use crate::lanes::Lanes;

/// An address space of plain loads and stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Space {
    /// GPU virtual memory: ldg, stg.
    Global,
    /// Work-group memory: ldl, stl.
    Local,
    /// Inter-stage memory of geometry and hull shaders: ldlw, stlw.
    Stage,
    /// Per-lane memory: ldp, stp.
    Private,
}

/// Size in memory of one component.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// 8 bits.
    Byte,
    /// 16 bits, a half register.
    Half,
    /// 32 bits, a full register.
    Word,
}

impl Width {
    /// The size in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// An index in the address of an access (ldg.a, stg.a).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Index<R> {
    /// The index, a signed number.
    pub value: R,
    /// By how many bits it is shifted to the left.
    pub shift: u8,
}

/// Address of a plain load or store of consecutive components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess<R> {
    /// The address space.
    pub space: Space,
    /// Byte address, without index and offset: its low half, if there is a high one.
    pub address: R,
    /// High half of an address of 64 bits. Other addresses wrap at 32 bits.
    pub high: Option<R>,
    /// An index that is added.
    pub index: Option<Index<R>>,
    /// Bytes added to it.
    pub offset: i32,
    /// Size of a component. Narrow loads are zero-extended.
    pub width: Width,
}

impl<R: Copy> MemoryAccess<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> MemoryAccess<S> {
        let Self { space, offset, width, .. } = *self;
        let address = f(self.address);
        let high = self.high.map(&mut *f);
        let index = self.index.map(|Index { value, shift }| Index { value: f(value), shift });
        MemoryAccess { space, address, high, index, offset, width }
    }
}

impl<L: Borrow<Lanes>> MemoryAccess<L> {
    /// Byte address of component 0 for `lane`.
    #[inline]
    pub fn address(&self, lane: usize) -> u64 {
        let index = self.index.as_ref();
        let index = index.map_or(0, |Index { value, shift }| i64::from(value.borrow()[lane] as i32) << shift);
        let added = index.wrapping_add(self.offset.into());
        let low = u64::from(self.address.borrow()[lane]);
        match &self.high {
            Some(high) => (u64::from(high.borrow()[lane]) << 32 | low).wrapping_add_signed(added),
            None => u64::from(low.wrapping_add_signed(added) as u32),
        }
    }
}

/// How an SSBO or image slot is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageLayout {
    /// Raw dwords.
    Untyped,
    /// Converted to and from the descriptor's format (SSBO_1.FMT).
    Typed,
}

/// Type of the bits in the registers of a typed access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// binary32 (binary16 registers are widened before they get here).
    Float,
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Sint,
}

/// Address of an access through an SSBO or image slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ImageAccess<R> {
    /// The bindless base that the slot counts from, if there is one.
    pub base: Option<u8>,
    /// Slot of the descriptor, per lane. Without a base, SSBOs come first, then images.
    pub slot: R,
    /// Raw or converted.
    pub layout: ImageLayout,
    /// Type of the registers.
    pub number: Number,
    /// Absolute byte address, computed by the program. Without it, the descriptor has the address of the buffer.
    pub address: Option<R>,
    /// Offset (untyped: `position[0]`, in elements) or coordinates. If the program computes the address, they are only
    /// needed for bounds checks. Unused places repeat the last coordinate.
    pub position: [R; 3],
    /// A number that is added to the first coordinate.
    pub offset: u8,
    /// Number of coordinates: 1 to 3. 4 is a raw buffer.
    pub dimensions: u8,
    /// Size of an element of an untyped access.
    pub width: Width,
}

impl<R: Copy> ImageAccess<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> ImageAccess<S> {
        let slot = f(self.slot);
        let address = self.address.map(&mut *f);
        let position = self.position.map(f);
        let Self { base, layout, number, offset, dimensions, width, .. } = *self;
        ImageAccess { base, slot, layout, number, address, position, offset, dimensions, width }
    }
}

/// A load from a uniform block (ldc).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct UniformLoad<R> {
    /// The bindless base that the block counts from, if there is one.
    pub base: Option<u8>,
    /// Slot of the block, per lane.
    pub block: R,
    /// The vector in the block, in units of 16 bytes.
    pub vector: R,
    /// First component of the vector.
    pub component: u8,
    /// Number of components, 1 to 4.
    pub components: u8,
}

impl<R: Copy> UniformLoad<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> UniformLoad<S> {
        let (block, vector) = (f(self.block), f(self.vector));
        let Self { base, component, components, .. } = *self;
        UniformLoad { base, block, vector, component, components }
    }
}

/// The function of an atomic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum AtomicOp {
    Add,
    Sub,
    Exchange,
    Increment,
    Decrement,
    CompareExchange,
    Min,
    Max,
    And,
    Or,
    Xor,
}

/// Memory that an atomic acts on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AtomicPlace<R> {
    /// Byte address in work-group memory.
    Local(R),
    /// An SSBO or image slot.
    Image(ImageAccess<R>),
    /// Byte address in GPU virtual memory: its low and its high half.
    Global([R; 2]),
}

/// An atomic on one dword per lane. Lanes act in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Atomic<R> {
    /// The memory.
    pub place: AtomicPlace<R>,
    /// The function.
    pub op: AtomicOp,
    /// Sint selects signed min and max.
    pub number: Number,
    /// The operand. For a compare-exchange, the new value and the value to compare with.
    pub data: Few<R>,
}

impl<R: Copy> Atomic<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Atomic<S> {
        let place = match &self.place {
            AtomicPlace::Local(address) => AtomicPlace::Local(f(*address)),
            AtomicPlace::Image(image) => AtomicPlace::Image(image.map(f)),
            AtomicPlace::Global(address) => AtomicPlace::Global(address.map(&mut *f)),
        };
        Atomic { place, op: self.op, number: self.number, data: self.data.map(f) }
    }
}

impl Atomic<&Lanes> {
    /// The value that replaces `old` for `lane`.
    pub fn apply(&self, lane: usize, old: u32) -> u32 {
        let data = self.data[0][lane];
        let signed = self.number == Number::Sint;
        match self.op {
            AtomicOp::Add => old.wrapping_add(data),
            AtomicOp::Sub => old.wrapping_sub(data),
            AtomicOp::Exchange => data,
            AtomicOp::Increment if old >= data => 0,
            AtomicOp::Increment => old + 1,
            AtomicOp::Decrement if old == 0 || old > data => data,
            AtomicOp::Decrement => old - 1,
            AtomicOp::CompareExchange if old == self.data[1][lane] => data,
            AtomicOp::CompareExchange => old,
            AtomicOp::Min if signed => (old as i32).min(data as i32) as u32,
            AtomicOp::Max if signed => (old as i32).max(data as i32) as u32,
            AtomicOp::Min => old.min(data),
            AtomicOp::Max => old.max(data),
            AtomicOp::And => old & data,
            AtomicOp::Or => old | data,
            AtomicOp::Xor => old ^ data,
        }
    }
}
