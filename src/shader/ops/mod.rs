//! Operations that an instruction requests from the environment: one type per operation.
//!
//! Each is generic over its operand: a row of the warp's registers after lowering (`Sample<Row>`), or the
//! values in all lanes at run time (`Sample<&Lanes>`). `map` is the only list of an operation's operands. It
//! converts one form to the other, and gives [`super::liveness`] the rows that are read.
mod constants;
mod memory;
mod texture;

use std::ops::Deref;

pub use constants::{ConstantValues, ConstantWrite, VECTOR};
pub use memory::{
    Atomic, AtomicOp, AtomicPlace, ImageAccess, ImageLayout, Index, MemoryAccess, Number, Space, UniformLoad,
    Width,
};
pub use texture::{Lod, Plain, PlainLevel, Query, Question, Sample, SampleKind, Slots};

use super::alu::Row;

/// An operation of the environment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op<R> {
    /// ldg, ldl, ldlw, ldp.
    Load {
        /// The address of component 0.
        from: MemoryAccess<R>,
        /// Number of components, 1 to 4.
        components: usize,
    },
    /// stg, stl, stlw, stp.
    Store {
        /// The address of component 0.
        to: MemoryAccess<R>,
        /// The components.
        data: Few<R>,
    },
    /// ldgb.
    ImageLoad {
        /// The texel.
        from: ImageAccess<R>,
        /// Number of components, 1 to 4.
        components: usize,
    },
    /// stgb, stib.
    ImageStore {
        /// The texel.
        to: ImageAccess<R>,
        /// The components.
        data: Few<R>,
    },
    /// resinfo: returns x low part of the width, y, z.
    ImageSize {
        /// The bindless base that the slot counts from, if there is one.
        base: Option<u8>,
        /// Slot of the descriptor.
        slot: R,
        /// Number of dimensions that are asked for.
        dimensions: u8,
    },
    /// ldc: returns components of a vector of a uniform block.
    UniformLoad(UniformLoad<R>),
    /// atomic.*: returns each lane's value before its own operation.
    Atomic(Atomic<R>),
    /// sam and its variants: returns x, y, z, w before the write mask. They are f32 bits if its number is
    /// Float, else integers.
    Sample(Sample<R>),
    /// getsize, getinfo, getbuf, ...: returns integers.
    Query(Query<R>),
    /// bary.f: returns the interpolated component, as bits.
    Varying(Varying<R>),
    /// ldlv: returns components of the provoking vertex, as bits.
    FlatVarying {
        /// Location of the first component.
        location: u32,
        /// Number of components, 1 to 4.
        components: usize,
    },
}

impl<R: Copy> Op<R> {
    /// The operation with other operands.
    #[inline]
    pub fn map<S>(&self, mut f: impl FnMut(R) -> S) -> Op<S> {
        let f = &mut f;
        match self {
            Self::Load { from, components } => Op::Load { from: from.map(f), components: *components },
            Self::Store { to, data } => Op::Store { to: to.map(f), data: data.map(f) },
            Self::ImageLoad { from, components } => {
                Op::ImageLoad { from: from.map(f), components: *components }
            }
            Self::ImageStore { to, data } => Op::ImageStore { to: to.map(f), data: data.map(f) },
            Self::ImageSize { base, slot, dimensions } => {
                Op::ImageSize { base: *base, slot: f(*slot), dimensions: *dimensions }
            }
            Self::UniformLoad(load) => Op::UniformLoad(load.map(f)),
            Self::Atomic(atomic) => Op::Atomic(atomic.map(f)),
            Self::Sample(sample) => Op::Sample(sample.map(f)),
            Self::Query(query) => Op::Query(query.map(f)),
            Self::Varying(varying) => Op::Varying(varying.map(f)),
            Self::FlatVarying { location, components } => {
                Op::FlatVarying { location: *location, components: *components }
            }
        }
    }

    /// Calls `f` with every operand.
    pub fn visit(&self, f: impl FnMut(R)) {
        self.map(f);
    }

    /// Whether it writes memory. Helper and killed lanes must not.
    pub fn writes(&self) -> bool {
        matches!(self, Self::Store { .. } | Self::ImageStore { .. } | Self::Atomic(_))
    }

    /// Its name in messages.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Load { .. } => "load",
            Self::Store { .. } => "store",
            Self::ImageLoad { .. } => "image load",
            Self::ImageStore { .. } => "image store",
            Self::ImageSize { .. } => "resinfo",
            Self::UniformLoad(_) => "ldc",
            Self::Atomic(_) => "atomic",
            Self::Sample(_) => "texture sample",
            Self::Query(_) => "texture query",
            Self::Varying(_) => "bary.f",
            Self::FlatVarying { .. } => "ldlv",
        }
    }
}

/// bary.f: one varying component at each lane's barycentric position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Varying<R> {
    /// Component location in VPC space (`inloc`), per lane.
    pub location: R,
    /// First barycentric, f32 bits.
    pub i: R,
    /// Second barycentric, f32 bits.
    pub j: R,
}

impl<R: Copy> Varying<R> {
    fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Varying<S> {
        Varying { location: f(self.location), i: f(self.i), j: f(self.j) }
    }
}

/// One to four operands. The unused places repeat the last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Few<R> {
    values: [R; 4],
    count: u8,
}

impl<R: Copy> Few<R> {
    /// The first four of `values`.
    ///
    /// # Panics
    /// `values` is empty.
    pub fn new(values: &[R]) -> Self {
        let last = values.len().min(4) - 1;
        Self { values: std::array::from_fn(|n| values[n.min(last)]), count: last as u8 + 1 }
    }

    /// The first three operands.
    pub fn three(&self) -> [R; 3] {
        std::array::from_fn(|n| self.values[n])
    }

    fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Few<S> {
        Few { values: self.values.map(f), count: self.count }
    }
}

impl Few<Row> {
    /// `count` rows, 1 to 4, from `first` on.
    pub fn rows(first: Row, count: u8) -> Self {
        Self { values: std::array::from_fn(|n| first + (n as Row).min(Row::from(count) - 1)), count }
    }
}

impl<R> Deref for Few<R> {
    type Target = [R];
    fn deref(&self) -> &[R] {
        &self.values[..usize::from(self.count)]
    }
}

/// Destination of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Destination {
    /// Row of component x.
    pub first: Row,
    /// Components written: bit 0 x .. bit 3 w.
    pub components: u8,
    /// Conversion to the registers.
    pub precision: Precision,
}

/// Conversion of a result to its registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Precision {
    /// None: full registers take the bits as they are.
    Full,
    /// Half registers: f32 is converted to f16.
    HalfFloat,
    /// Half registers: the low 16 bits.
    HalfInteger,
}

impl Destination {
    /// No destination: the operation has no result.
    pub const NONE: Self = Self { first: 0, components: 0, precision: Precision::Full };

    /// Component x goes to `row`, unchanged.
    pub fn row(row: Row) -> Self {
        Self { first: row, components: 1, precision: Precision::Full }
    }

    /// The written rows, each with its component.
    pub fn rows(self) -> impl Iterator<Item = (Row, usize)> {
        let written = (0..4).filter(move |c| self.components >> c & 1 != 0);
        written.map(move |c| (self.first + c, usize::from(c)))
    }
}
