//! Texture operations: operands sorted into named fields, coordinates as f32 (or i32) bits
//! per lane.
use super::{Few, Number};
use crate::lanes::Lanes;

/// The operation on the texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Filter: coordinates are f32.
    Filter,
    /// Texel fetch: coordinates are i32 (isam, isaml, isamm).
    Fetch,
    /// One component (0 x .. 3 w) of the four texels of the bilinear footprint.
    Gather(u8),
    /// Levels of detail that `Filter` would use: x clamped, y unclamped, as s32 with 8 fraction bits.
    QueryLod,
}

/// Selection of the level of detail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lod<R> {
    /// From the quad's derivatives (coarse: one value per quad and direction, from the top row and the left
    /// column). Only fragment shaders use it.
    Implicit,
    /// Implicit plus a bias, f32 bits (samb).
    Bias(R),
    /// A given level, f32 bits (saml).
    Explicit(R),
    /// A given level, an integer (isaml).
    Level(R),
    /// From given d/dx and d/dy of x, y, z, f32 bits (samgq).
    Gradients([R; 3], [R; 3]),
    /// Level 0 (isam, isamm, gather4).
    Zero,
}

impl<R: Copy> Lod<R> {
    fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Lod<S> {
        match *self {
            Self::Implicit => Lod::Implicit,
            Self::Bias(bias) => Lod::Bias(f(bias)),
            Self::Explicit(level) => Lod::Explicit(f(level)),
            Self::Level(level) => Lod::Level(f(level)),
            Self::Gradients(x, y) => Lod::Gradients(x.map(&mut *f), y.map(f)),
            Self::Zero => Lod::Zero,
        }
    }
}

/// Descriptor slots: equal in all lanes, or from registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slots<R> {
    /// Slots from the instruction.
    Uniform {
        /// Sampler slot.
        sampler: u32,
        /// Texture slot.
        texture: u32,
    },
    /// Slots from a register pair (s2en).
    PerLane {
        /// Sampler slot.
        sampler: R,
        /// Texture slot.
        texture: R,
    },
    /// Numbers of descriptors at bindless bases, from a register pair (s2en).
    Bindless {
        /// The base of the sampler, and that of the texture.
        bases: [u8; 2],
        /// Number of the sampler.
        sampler: R,
        /// Number of the texture.
        texture: R,
    },
}

impl<R: Copy> Slots<R> {
    fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Slots<S> {
        match *self {
            Self::Uniform { sampler, texture } => Slots::Uniform { sampler, texture },
            Self::PerLane { sampler, texture } => Slots::PerLane { sampler: f(sampler), texture: f(texture) },
            Self::Bindless { bases, sampler, texture } => {
                Slots::Bindless { bases, sampler: f(sampler), texture: f(texture) }
            }
        }
    }
}

impl<R> Slots<R> {
    /// The slots with references to the registers.
    pub fn as_ref(&self) -> Slots<&R> {
        match self {
            Self::Uniform { sampler, texture } => Slots::Uniform { sampler: *sampler, texture: *texture },
            Self::PerLane { sampler, texture } => Slots::PerLane { sampler, texture },
            Self::Bindless { bases, sampler, texture } => Slots::Bindless { bases: *bases, sampler, texture },
        }
    }
}

impl Slots<&Lanes> {
    /// Sampler and texture slot of `lane`, or the numbers at their bindless bases.
    pub fn of(&self, lane: usize) -> (u32, u32) {
        match self {
            Self::Uniform { sampler, texture } => (*sampler, *texture),
            Self::PerLane { sampler, texture } | Self::Bindless { sampler, texture, .. } => {
                (sampler[lane], texture[lane])
            }
        }
    }
}

/// sam and its variants. Helper lanes sample like all others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample<R> {
    /// Filter, fetch, gather or level query.
    pub kind: SampleKind,
    /// Selection of the level.
    pub lod: Lod<R>,
    /// Type of the result registers (TYPE): Float converts, Uint and Sint are raw.
    pub number: Number,
    /// Components to write: bit 0 x .. bit 3 w.
    pub components: u8,
    /// Sampler and texture slots.
    pub slots: Slots<R>,
    /// 2 coordinates, or 3 with `.3d` (3D and cube).
    pub coords: Few<R>,
    /// Layer (`.a`): f32 plus 0.5, to be truncated; an integer for fetches.
    pub layer: Option<R>,
    /// Reference value (`.s`), f32 bits.
    pub reference: Option<R>,
    /// Projector (`.p`), f32 bits; the coordinates are not yet divided.
    pub projector: Option<R>,
    /// Texel offsets (`.o`), as many as coordinates, integers.
    pub offsets: Option<Few<R>>,
    /// Sample index (isamm), an integer.
    pub sample: Option<R>,
}

impl<R: Copy> Sample<R> {
    pub(crate) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Sample<S> {
        Sample {
            kind: self.kind,
            lod: self.lod.map(f),
            number: self.number,
            components: self.components,
            slots: self.slots.map(f),
            coords: self.coords.map(f),
            layer: self.layer.map(&mut *f),
            reference: self.reference.map(&mut *f),
            projector: self.projector.map(&mut *f),
            offsets: self.offsets.map(|offsets| offsets.map(f)),
            sample: self.sample.map(f),
        }
    }
}

/// The common sample: a texture of two coordinates, filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Plain<R> {
    /// Sampler slot.
    pub sampler: u32,
    /// Texture slot.
    pub texture: u32,
    /// The coordinates, f32 bits.
    pub coords: [R; 2],
    /// Selection of the level.
    pub level: PlainLevel<R>,
    /// Components to write: bit 0 x .. bit 3 w.
    pub components: u8,
}

/// Level of a common sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlainLevel<R> {
    /// As [`Lod::Implicit`].
    Implicit,
    /// As [`Lod::Explicit`].
    Explicit(R),
    /// As [`Lod::Zero`].
    Zero,
}

impl<R: Copy> Sample<R> {
    /// The sample as [`Plain`], if it is a common one.
    #[inline]
    pub fn plain(&self) -> Option<Plain<R>> {
        let Self { kind: SampleKind::Filter, number: Number::Float, components, .. } = *self else {
            return None;
        };
        let (Slots::Uniform { sampler, texture }, &[s, t, ..]) = (self.slots, &*self.coords) else {
            return None;
        };
        let level = match self.lod {
            Lod::Implicit => PlainLevel::Implicit,
            Lod::Explicit(level) => PlainLevel::Explicit(level),
            Lod::Zero => PlainLevel::Zero,
            _ => return None,
        };
        let more = [self.layer, self.reference, self.projector];
        let plain = more.iter().all(Option::is_none) && self.offsets.is_none();
        plain.then_some(Plain { sampler, texture, coords: [s, t], level, components })
    }
}

impl<R: Copy> Plain<R> {
    /// The sample with other operands.
    #[inline]
    pub fn map<S>(&self, mut f: impl FnMut(R) -> S) -> Plain<S> {
        let Self { sampler, texture, coords: [s, t], level, components } = *self;
        let coords = [f(s), f(t)];
        let level = match level {
            PlainLevel::Implicit => PlainLevel::Implicit,
            PlainLevel::Explicit(level) => PlainLevel::Explicit(f(level)),
            PlainLevel::Zero => PlainLevel::Zero,
        };
        Plain { sampler, texture, coords, level, components }
    }
}

/// Queries of getsize and its variants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question<R> {
    /// getsize: width, height, depth at a level (integer), w the DEPTH field.
    Size(R),
    /// getbuf: x the number of elements.
    Buffer,
    /// getinfo: channel type, channel order, MIPLVLS, samples.
    Info,
    /// getpos: position of a sample (integer index).
    SamplePosition(R),
    /// rgetinfo: facts about the render target.
    RenderTargetInfo,
    /// rgetpos: position of a sample of the render target.
    RenderTargetPosition(R),
}

impl<R: Copy> Question<R> {
    fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Question<S> {
        match *self {
            Self::Size(level) => Question::Size(f(level)),
            Self::Buffer => Question::Buffer,
            Self::Info => Question::Info,
            Self::SamplePosition(index) => Question::SamplePosition(f(index)),
            Self::RenderTargetInfo => Question::RenderTargetInfo,
            Self::RenderTargetPosition(index) => Question::RenderTargetPosition(f(index)),
        }
    }
}

/// A query of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Query<R> {
    /// The kind of query.
    pub question: Question<R>,
    /// Type of the result registers.
    pub number: Number,
    /// The texture.
    pub slots: Slots<R>,
}

impl<R: Copy> Query<R> {
    pub(super) fn map<S>(&self, f: &mut impl FnMut(R) -> S) -> Query<S> {
        Query { question: self.question.map(f), number: self.number, slots: self.slots.map(f) }
    }
}
