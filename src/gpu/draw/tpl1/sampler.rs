//! Samplers and border colours, prepared once per draw.
use a4emu_decoder::adreno::address::Address;

use super::lod;
use crate::draw::compare::Compare;
use crate::memory::Memory;

/// Filter of one image of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filter {
    /// The nearest texel.
    Nearest,
    /// A mix of the nearest texels.
    Linear,
}

/// Wrap mode: handling of coordinates outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wrap {
    /// Continue at the opposite edge.
    Repeat,
    /// Use the texel at the edge.
    ClampToEdge,
    /// Every other repetition is mirrored.
    MirrorRepeat,
    /// Use the border colour.
    ClampToBorder,
    /// Mirrored once, then clamped to the edge.
    MirrorClamp,
}

/// Handling of texels beyond an edge, for the common wrap modes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// Continue at the opposite edge.
    Repeat,
    /// Use the texel at the edge.
    Clamp,
}

impl Edge {
    fn of(wrap: Wrap) -> Option<Self> {
        match wrap {
            Wrap::Repeat => Some(Self::Repeat),
            Wrap::ClampToEdge => Some(Self::Clamp),
            Wrap::MirrorRepeat | Wrap::ClampToBorder | Wrap::MirrorClamp => None,
        }
    }
}

/// State of a sampler, as a descriptor gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SamplerState {
    /// Filter where texels are larger than pixels.
    pub mag: Filter,
    /// Filter where texels are smaller than pixels.
    pub min: Filter,
    /// Filter between levels.
    pub mip: Filter,
    /// Wrap modes of s, t and r.
    pub wrap: [Wrap; 3],
    /// Comparison of shadow textures.
    pub compare: Compare,
    /// Whether filters of cubes continue on the next face.
    pub seamless: bool,
    /// Whether a filter is anisotropic.
    pub is_anisotropic: bool,
    /// Whether a wrap mode has a value without a name.
    pub has_unnamed_wrap: bool,
    /// Whether coordinates are in texels.
    pub unnormalized: bool,
    /// Added to the level of detail.
    pub bias: f32,
    /// Least level of detail.
    pub min_lod: f32,
    /// Greatest level of detail.
    pub max_lod: f32,
    /// The record of its border colour, on chips whose descriptors name it. On others it is that of its slot.
    pub border_record: Option<u32>,
}

/// Nearest texels of level 0, which repeat.
impl Default for SamplerState {
    fn default() -> Self {
        Self {
            mag: Filter::Nearest,
            min: Filter::Nearest,
            mip: Filter::Nearest,
            wrap: [Wrap::Repeat; 3],
            compare: Compare::Never,
            seamless: true,
            is_anisotropic: false,
            has_unnamed_wrap: false,
            unnormalized: false,
            bias: 0.0,
            min_lod: 0.0,
            max_lod: 0.0,
            border_record: None,
        }
    }
}

/// A sampler in a form for the sampling loops.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    pub(super) mag: Filter,
    pub(super) min: Filter,
    pub(super) mip: Filter,
    pub(super) wrap: [Wrap; 3],
    /// Edges of two coordinates, if both wrap modes are common and coordinates are normalised. A border of
    /// the third coordinate has no effect on them.
    pub(super) edges: Option<[Edge; 2]>,
    pub(super) compare: Compare,
    pub(super) seamless: bool,
    /// Whether a filter is anisotropic.
    pub(super) is_anisotropic: bool,
    /// Whether a wrap mode has a value without a name.
    pub(super) has_unnamed_wrap: bool,
    /// Whether coordinates are in texels.
    pub(super) unnormalized: bool,
    pub(super) bias: f32,
    pub(super) min_lod: f32,
    pub(super) max_lod: f32,
    pub(super) border: Border,
    /// Lowest and highest level that the limits allow.
    pub(super) reach: [u32; 2],
    /// The filter, if the limits allow only one.
    pub(super) filter: Option<Filter>,
}

/// A border colour in the order of its record: components in memory order (before SWAP and swizzle).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Border {
    /// Colour for normalised and float formats.
    pub floats: [f32; 4],
    /// Colour for integer formats.
    pub integers: [u32; 4],
}

/// Layout of the records of border colours in memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BorderLayout {
    /// Size of one sampler's record in bytes.
    pub bytes: u32,
    /// Offset of four binary32 numbers in the record.
    pub floats: usize,
    /// Offset of four 32-bit integers in the record.
    pub integers: usize,
}

impl BorderLayout {
    /// Returns the address of the record of sampler `slot` in the array at `base`.
    pub fn address(&self, memory: &Memory, base: Address, slot: u32) -> Address {
        memory.behind(base, u64::from(slot) * u64::from(self.bytes))
    }

    /// Reads the record of sampler `slot` in the array at `base`. Returns transparent black and false if the
    /// capture lacks it.
    pub fn read(&self, memory: &Memory, base: Address, slot: u32) -> (Border, bool) {
        let mut record = vec![0; self.bytes as usize];
        let known = memory.read(self.address(memory, base, slot), &mut record);
        let word = |at: usize, i: usize| {
            let bytes = record.get(at + 4 * i..).and_then(|rest| rest.first_chunk());
            bytes.map_or(0, |bytes| u32::from_le_bytes(*bytes))
        };
        let floats = std::array::from_fn(|i| f32::from_bits(word(self.floats, i)));
        (Border { floats, integers: std::array::from_fn(|i| word(self.integers, i)) }, known)
    }
}

impl Default for Sampler {
    fn default() -> Self {
        Self::new(&SamplerState::default(), Border::default())
    }
}

impl Sampler {
    /// Prepares a sampler with its border colour.
    pub fn new(state: &SamplerState, border: Border) -> Self {
        let SamplerState { mag, min, mip, wrap, min_lod, max_lod, unnormalized, .. } = *state;
        let limits = [min_lod.min(max_lod), max_lod];
        Self {
            mag,
            min,
            mip,
            reach: lod::reach(limits, mip),
            filter: only_filter(limits, mag, min),
            wrap,
            edges: edges(wrap).filter(|_| !unnormalized),
            compare: state.compare,
            seamless: state.seamless,
            is_anisotropic: state.is_anisotropic,
            has_unnamed_wrap: state.has_unnamed_wrap,
            unnormalized,
            bias: state.bias,
            min_lod,
            max_lod,
            border,
        }
    }

    /// Returns whether some coordinates give the border colour.
    pub(super) fn uses_border(&self) -> bool {
        self.wrap.contains(&Wrap::ClampToBorder)
    }
}

/// Returns the filter of levels of detail in `low..=high`, if there is only one.
fn only_filter([low, high]: [f32; 2], mag: Filter, min: Filter) -> Option<Filter> {
    match () {
        () if mag == min || low > 0.0 => Some(min),
        () if high <= 0.0 => Some(mag),
        () => None,
    }
}

fn edges([s, t, _]: [Wrap; 3]) -> Option<[Edge; 2]> {
    Some([Edge::of(s)?, Edge::of(t)?])
}
