//! Sampler descriptors and border colours, decoded once per draw.
use a4emu_decoder::a4xx::enums::{CompareFunc, TexClamp, TexFilter};
use a4emu_decoder::a4xx::regs::tex::{TEX_SAMP_0, TEX_SAMP_1};

use super::lod;
use crate::memory::Memory;

/// Offset of four binary32 numbers in the border record.
const BORDER_FLOATS: usize = 32;
/// Offset of four 32-bit integers in the border record.
const BORDER_INTEGERS: usize = 48;

/// Filter of one image of a texture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Nearest,
    Linear,
}

/// Wrap mode: handling of coordinates outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    Repeat,
    ClampToEdge,
    MirrorRepeat,
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
    pub(super) compare: CompareFunc,
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

impl Border {
    /// Size of one sampler's record in bytes.
    pub const BYTES: u32 = 64;

    /// Returns the address of the record of sampler `slot` in the array at `base`.
    pub fn address(base: u32, slot: u32) -> u32 {
        base.wrapping_add(slot.wrapping_mul(Self::BYTES))
    }

    /// Reads the record of sampler `slot` in the array at `base`. Returns transparent black and false if the
    /// capture lacks it.
    pub fn read(memory: &Memory, base: u32, slot: u32) -> (Self, bool) {
        let mut record = [0; Self::BYTES as usize];
        let known = memory.read(Self::address(base, slot), &mut record);
        let word = |at: usize, i: usize| {
            let bytes = record[at + 4 * i..].first_chunk().expect("four words fit the record");
            u32::from_le_bytes(*bytes)
        };
        let floats = std::array::from_fn(|i| f32::from_bits(word(BORDER_FLOATS, i)));
        (Self { floats, integers: std::array::from_fn(|i| word(BORDER_INTEGERS, i)) }, known)
    }
}

/// Sampler of an all-zero descriptor.
impl Default for Sampler {
    fn default() -> Self {
        Self::new(&[0; 2], Border::default())
    }
}

impl Sampler {
    /// Decodes the two dwords of a descriptor.
    pub fn new(words: &[u32; 2], border: Border) -> Self {
        let (s0, s1) = (TEX_SAMP_0(words[0]), TEX_SAMP_1(words[1]));
        let clamps = [s0.WRAP_S(), s0.WRAP_T(), s0.WRAP_R()];
        let (mag, min) = (filter(s0.XY_MAG()), filter(s0.XY_MIN()));
        let mip = if s0.MIPFILTER_LINEAR_NEAR() { Filter::Linear } else { Filter::Nearest };
        let limits = [s1.MIN_LOD().min(s1.MAX_LOD()), s1.MAX_LOD()];
        Self {
            mag,
            min,
            mip,
            reach: lod::reach(limits, mip),
            filter: only_filter(limits, mag, min),
            wrap: clamps.map(wrap),
            edges: edges(clamps.map(wrap)).filter(|_| !s1.UNNORM_COORDS()),
            compare: s1.COMPARE_FUNC(),
            seamless: !s1.CUBEMAPSEAMLESSFILTOFF(),
            is_anisotropic: [s0.XY_MAG(), s0.XY_MIN()].contains(&TexFilter::A4XX_TEX_ANISO),
            has_unnamed_wrap: clamps.iter().any(|clamp| matches!(clamp, TexClamp::Other(_))),
            unnormalized: s1.UNNORM_COORDS(),
            bias: s0.LOD_BIAS(),
            min_lod: s1.MIN_LOD(),
            max_lod: s1.MAX_LOD(),
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

/// Returns the filter. Anisotropic filtering is done as linear (guess `anisotropy-linear`).
fn filter(filter: TexFilter) -> Filter {
    match filter {
        TexFilter::A4XX_TEX_NEAREST | TexFilter::Other(_) => Filter::Nearest,
        TexFilter::A4XX_TEX_LINEAR | TexFilter::A4XX_TEX_ANISO => Filter::Linear,
    }
}

fn edges([s, t, _]: [Wrap; 3]) -> Option<[Edge; 2]> {
    Some([Edge::of(s)?, Edge::of(t)?])
}

/// Returns the wrap mode. Values without a name repeat (guess `wrap-unnamed`).
fn wrap(clamp: TexClamp) -> Wrap {
    match clamp {
        TexClamp::A4XX_TEX_REPEAT | TexClamp::Other(_) => Wrap::Repeat,
        TexClamp::A4XX_TEX_CLAMP_TO_EDGE => Wrap::ClampToEdge,
        TexClamp::A4XX_TEX_MIRROR_REPEAT => Wrap::MirrorRepeat,
        TexClamp::A4XX_TEX_CLAMP_TO_BORDER => Wrap::ClampToBorder,
        TexClamp::A4XX_TEX_MIRROR_CLAMP => Wrap::MirrorClamp,
    }
}
