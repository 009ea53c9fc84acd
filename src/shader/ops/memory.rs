//! Loads, stores and atomics.
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

/// Address of a plain load or store of consecutive components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MemoryAccess<R> {
    /// The address space.
    pub space: Space,
    /// Byte address, without the offset.
    pub address: R,
    /// Bytes added to it.
    pub offset: i32,
    /// Size of a component. Narrow loads are zero-extended.
    pub width: Width,
}

impl<R: Copy> MemoryAccess<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> MemoryAccess<S> {
        let Self { space, offset, width, .. } = *self;
        MemoryAccess { space, address: f(self.address), offset, width }
    }
}

impl MemoryAccess<&Lanes> {
    /// Byte address of component 0 for `lane`.
    pub fn address(&self, lane: usize) -> u32 {
        self.address[lane].wrapping_add_signed(self.offset)
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
    /// Slot of the descriptor (SSBOs first, then images), per lane.
    pub slot: R,
    /// Raw or converted.
    pub layout: ImageLayout,
    /// Type of the registers.
    pub number: Number,
    /// Absolute byte address, computed by the program.
    pub address: R,
    /// Dword offset (untyped: `position[0]`) or coordinates. They are not needed to find the data, but for
    /// bounds checks. Unused places repeat the last coordinate.
    pub position: [R; 3],
    /// Number of coordinates: 1 to 3. 4 is a raw buffer.
    pub dimensions: u8,
}

impl<R: Copy> ImageAccess<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> ImageAccess<S> {
        let Self { layout, number, dimensions, .. } = *self;
        let (slot, address, position) = (f(self.slot), f(self.address), self.position.map(f));
        ImageAccess { slot, layout, number, address, position, dimensions }
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
