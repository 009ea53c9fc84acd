//! What a running shader sees of the rest of the machine.
//!
//! Requests carry all 32 lanes and a mask; answers in lanes outside the mask
//! are ignored. A store or an atomic must act on the lanes of the mask in
//! ascending order, so that results do not depend on how warps are run.
use super::lanes::{Lanes, Mask};
use super::sample::{QueryRequest, TexRequest};

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

/// Bytes in memory of one component.
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
    /// The number of bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }
}

/// A load or store of 1 to 4 consecutive components.
#[derive(Debug)]
pub struct MemoryRequest<'a> {
    /// Where.
    pub space: Space,
    /// The lanes that take part.
    pub mask: Mask,
    /// Byte address of component 0, per lane.
    pub address: &'a Lanes,
    /// Size of a component. Narrow loads are zero-extended.
    pub width: Width,
    /// 1 to 4.
    pub components: usize,
}

/// How an SSBO or image slot is addressed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageLayout {
    /// Raw dwords.
    Untyped,
    /// Converted to and from the descriptor's format (SSBO_1.FMT).
    Typed,
}

/// What the bits in the registers of a typed access mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Number {
    /// binary32 (binary16 registers are widened before they get here).
    Float,
    /// Unsigned integer.
    Uint,
    /// Two's complement integer.
    Sint,
}

/// ldgb, stgb, stib, atomic.*.g: access through an SSBO or image slot.
#[derive(Debug)]
pub struct ImageRequest<'a> {
    /// Slot of the descriptor (SSBOs first, then images), per lane.
    pub slot: &'a Lanes,
    /// The lanes that take part.
    pub mask: Mask,
    /// Raw or converted.
    pub layout: ImageLayout,
    /// How the registers are read.
    pub number: Number,
    /// Absolute byte address, computed by the program.
    pub address: &'a Lanes,
    /// Dword offset (untyped: `position[0]`) or coordinates: redundant for
    /// finding the data, there for bounds checks.
    pub position: [&'a Lanes; 3],
    /// Coordinates that the access names: 1 to 3; 4 is a raw buffer.
    pub dimensions: u32,
    /// 1 to 4.
    pub components: usize,
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

/// Where an atomic acts.
#[derive(Debug)]
pub enum AtomicTarget<'a> {
    /// Byte address in work-group memory.
    Local {
        /// Per lane.
        address: &'a Lanes,
        /// The lanes that take part.
        mask: Mask,
    },
    /// Memory behind an SSBO or image slot.
    Image(ImageRequest<'a>),
}

/// An atomic on one dword per lane.
#[derive(Debug)]
pub struct AtomicRequest<'a> {
    /// Where; holds the mask.
    pub target: AtomicTarget<'a>,
    /// What.
    pub op: AtomicOp,
    /// Sint selects signed min and max.
    pub number: Number,
    /// Operand; the new value of a compare-exchange.
    pub data: &'a Lanes,
    /// What a compare-exchange compares with.
    pub compare: &'a Lanes,
}

impl AtomicRequest<'_> {
    /// The value that replaces `old` for `lane`.
    pub fn apply(&self, lane: usize, old: u32) -> u32 {
        let data = self.data[lane];
        let signed = self.number == Number::Sint;
        match self.op {
            AtomicOp::Add => old.wrapping_add(data),
            AtomicOp::Sub => old.wrapping_sub(data),
            AtomicOp::Exchange => data,
            AtomicOp::Increment => {
                if old >= data {
                    0
                } else {
                    old + 1
                }
            }
            AtomicOp::Decrement => {
                if old == 0 || old > data {
                    data
                } else {
                    old - 1
                }
            }
            AtomicOp::CompareExchange => {
                if old == self.compare[lane] {
                    data
                } else {
                    old
                }
            }
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

/// bary.f: one varying component at each lane's barycentric position.
#[derive(Debug)]
pub struct VaryingRequest<'a> {
    /// Component location in VPC space (`inloc`), per lane.
    pub location: &'a Lanes,
    /// The lanes whose value is wanted (helpers included).
    pub mask: Mask,
    /// First barycentric, f32 bits.
    pub i: &'a Lanes,
    /// Second barycentric, f32 bits.
    pub j: &'a Lanes,
}

/// The machine around a warp. Whoever launches shaders implements it; every
/// method that a stage cannot reach may keep its default, which reads zero and
/// drops what is written.
pub trait Environment {
    /// ldg, ldl, ldlw, ldp. `out` has `request.components` entries.
    fn load(&mut self, request: &MemoryRequest<'_>, out: &mut [Lanes]) {
        let _ = request;
        out.fill(Lanes::ZERO);
    }

    /// stg, stl, stlw, stp. `values` has `request.components` entries.
    fn store(&mut self, request: &MemoryRequest<'_>, values: &[Lanes]) {
        let _ = (request, values);
    }

    /// ldgb. `out` has `request.components` entries.
    fn image_load(&mut self, request: &ImageRequest<'_>, out: &mut [Lanes]) {
        let _ = request;
        out.fill(Lanes::ZERO);
    }

    /// stgb, stib. `values` has `request.components` entries.
    fn image_store(&mut self, request: &ImageRequest<'_>, values: &[Lanes]) {
        let _ = (request, values);
    }

    /// resinfo: x low part of the width, y, z.
    fn image_size(&mut self, slot: &Lanes, mask: Mask) -> [Lanes; 3] {
        let _ = (slot, mask);
        [Lanes::ZERO; 3]
    }

    /// atomic.*: `old` takes each lane's value before its own operation.
    fn atomic(&mut self, request: &AtomicRequest<'_>, old: &mut Lanes) {
        let _ = request;
        *old = Lanes::ZERO;
    }

    /// Samples a texture. `out` is x, y, z, w before the write mask: f32 bits
    /// when `request.number` is Float, integers otherwise.
    fn sample(&mut self, request: &TexRequest<'_>, out: &mut [Lanes; 4]) {
        let _ = request;
        *out = [Lanes::ZERO; 4];
    }

    /// getsize, getinfo, getbuf, ...: facts about a texture, as integers.
    fn query(&mut self, request: &QueryRequest<'_>, out: &mut [Lanes; 4]) {
        let _ = request;
        *out = [Lanes::ZERO; 4];
    }

    /// bary.f: the interpolated component, as bits.
    fn varying(&mut self, request: &VaryingRequest<'_>, out: &mut Lanes) {
        let _ = request;
        *out = Lanes::ZERO;
    }

    /// ldlv: components `location..location + out.len()` of the provoking
    /// vertex, as bits.
    fn flat_varying(&mut self, location: u32, mask: Mask, out: &mut [Lanes]) {
        let _ = (location, mask);
        out.fill(Lanes::ZERO);
    }
}

/// An environment with nothing in it.
impl Environment for () {}
