//! Texture requests as the executor hands them out: operands already sorted
//! into named fields, coordinates as f32 (or i32) bits per lane.
use super::environment::Number;
use super::lanes::{LANES, Lanes, Mask};

/// Which texels are wanted and at which level.
#[derive(Clone, Copy, Debug)]
pub enum Lod<'a> {
    /// From the quad's derivatives: see [`TexRequest::derivatives`]. Only
    /// fragment shaders ask for it.
    Implicit,
    /// Implicit plus this, f32 bits (samb).
    Bias(&'a Lanes),
    /// This level, f32 bits (saml).
    Explicit(&'a Lanes),
    /// This level, an integer (isaml).
    Level(&'a Lanes),
    /// From these d/dx and d/dy of x, y, z, f32 bits (samgq).
    Gradients([&'a Lanes; 3], [&'a Lanes; 3]),
    /// Level 0 (isam, isamm, gather4).
    Zero,
}

/// What is made of the texels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SampleKind {
    /// Filter: coordinates are f32.
    Filter,
    /// Texel fetch: coordinates are i32 (isam, isaml, isamm).
    Fetch,
    /// One component (0 x .. 3 w) of the four texels of the bilinear footprint.
    Gather(u8),
    /// Levels of detail that `Filter` would use: x clamped, y not, as s32 with
    /// 8 fraction bits.
    QueryLod,
}

/// Descriptor slots: the same in every lane, or a register.
#[derive(Clone, Copy, Debug)]
pub enum Slots<'a> {
    /// Slots that stand in the instruction.
    Uniform {
        /// Sampler slot.
        sampler: u32,
        /// Texture slot.
        texture: u32,
    },
    /// Slots from a register pair (s2en).
    PerLane {
        /// Sampler slot.
        sampler: &'a Lanes,
        /// Texture slot.
        texture: &'a Lanes,
    },
}

impl Slots<'_> {
    /// Sampler and texture slot of `lane`.
    pub fn of(&self, lane: usize) -> (u32, u32) {
        match self {
            Self::Uniform { sampler, texture } => (*sampler, *texture),
            Self::PerLane { sampler, texture } => (sampler[lane], texture[lane]),
        }
    }
}

/// sam and its relatives.
#[derive(Clone, Copy, Debug)]
pub struct TexRequest<'a> {
    /// Filter, fetch or gather.
    pub kind: SampleKind,
    /// How the level is chosen.
    pub lod: Lod<'a>,
    /// What the result registers hold (TYPE): Float converts, Uint and Sint are raw.
    pub number: Number,
    /// Components that will be written: bit 0 x .. bit 3 w.
    pub components: u8,
    /// Lanes that are asked for (helper lanes included).
    pub mask: Mask,
    /// Sampler and texture.
    pub slots: Slots<'a>,
    /// 2 coordinates, or 3 with `.3d` (3D and cube).
    pub coords: &'a [&'a Lanes],
    /// Layer (`.a`): f32 with 0.5 added, to be truncated; an integer for fetches.
    pub layer: Option<&'a Lanes>,
    /// Reference value (`.s`), f32 bits.
    pub reference: Option<&'a Lanes>,
    /// Projector (`.p`), f32 bits; the coordinates are not yet divided.
    pub projector: Option<&'a Lanes>,
    /// Texel offsets (`.o`), as many as coordinates, integers.
    pub offsets: Option<&'a [&'a Lanes]>,
    /// Sample index (isamm), an integer.
    pub sample: Option<&'a Lanes>,
}

impl TexRequest<'_> {
    /// d/dx and d/dy of each coordinate over its quad, f32 (coarse: one value
    /// per quad and direction, from the top row and the left column).
    pub fn derivatives(&self) -> [[[f32; LANES]; 3]; 2] {
        let mut result = [[[0.0; LANES]; 3]; 2];
        for (axis, coord) in self.coords.iter().take(3).enumerate() {
            result[0][axis] = difference(coord, 1);
            result[1][axis] = difference(coord, 2);
        }
        result
    }
}

/// Value of each quad's lane `step` minus that of its lane 0, in all four lanes.
fn difference(value: &Lanes, step: usize) -> [f32; LANES] {
    let value = value.floats();
    std::array::from_fn(|lane| value[(lane & !3) + step] - value[lane & !3])
}

/// The questions of getsize and its relatives.
#[derive(Clone, Copy, Debug)]
pub enum Query<'a> {
    /// getsize: width, height, depth at a level (integer), w the DEPTH field.
    Size(&'a Lanes),
    /// getbuf: x the number of elements.
    Buffer,
    /// getinfo: channel type, channel order, MIPLVLS, samples.
    Info,
    /// getpos: position of a sample (integer index).
    SamplePosition(&'a Lanes),
    /// rgetinfo: facts about the render target.
    RenderTargetInfo,
    /// rgetpos: position of a sample of the render target.
    RenderTargetPosition(&'a Lanes),
}

/// A question about a texture.
#[derive(Clone, Copy, Debug)]
pub struct QueryRequest<'a> {
    /// Which.
    pub query: Query<'a>,
    /// What the result registers hold.
    pub number: Number,
    /// Lanes that ask.
    pub mask: Mask,
    /// Which texture.
    pub slots: Slots<'a>,
}
