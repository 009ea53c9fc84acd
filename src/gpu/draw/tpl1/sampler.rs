//! Sampler descriptors and border colours, resolved once per draw.
use a4emu_decoder::regs::enums::{CompareFunc, TexClamp, TexFilter};
use a4emu_decoder::regs::tex::{TEX_SAMP_0, TEX_SAMP_1};

use super::lod;
use crate::memory::Memory;

/// Offset in it of four binary32 numbers.
const BORDER_FLOATS: usize = 32;
/// Offset in it of four 32-bit integers.
const BORDER_INTEGERS: usize = 48;

/// How one image of a texture is filtered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Filter {
    Nearest,
    Linear,
}

/// What happens to coordinates outside the image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Wrap {
    Repeat,
    ClampToEdge,
    MirrorRepeat,
    ClampToBorder,
    /// Mirrored once, then clamped to the edge.
    MirrorClamp,
}

/// How texels beyond an edge are found, of the wrap modes that are common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Edge {
    /// At the other one.
    Repeat,
    /// They are those at the edge.
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

/// A sampler as the sampling loops want it.
#[derive(Clone, Debug, PartialEq)]
pub struct Sampler {
    pub(super) mag: Filter,
    pub(super) min: Filter,
    pub(super) mip: Filter,
    pub(super) wrap: [Wrap; 3],
    /// The edges of two coordinates, if they are common ones and the coordinates no texels. A border of the third
    /// shows in neither.
    pub(super) edges: Option<[Edge; 2]>,
    pub(super) compare: CompareFunc,
    pub(super) seamless: bool,
    /// A filter is anisotropic.
    pub(super) is_anisotropic: bool,
    /// A wrap mode is one without a name.
    pub(super) has_unnamed_wrap: bool,
    /// Coordinates are texels.
    pub(super) unnormalized: bool,
    pub(super) bias: f32,
    pub(super) min_lod: f32,
    pub(super) max_lod: f32,
    pub(super) border: Border,
    /// The lowest and the highest level that the limits let it read.
    pub(super) reach: [u32; 2],
    /// The filter, if the limits leave no choice.
    pub(super) filter: Option<Filter>,
}

/// A border colour, in the order of the record: the components in memory
/// order (before SWAP and swizzle).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Border {
    /// Used by normalised and float formats.
    pub floats: [f32; 4],
    /// Used by integer formats.
    pub integers: [u32; 4],
}

impl Border {
    /// Bytes of one sampler's record.
    pub const BYTES: u32 = 64;

    /// Where the record of sampler `slot` lies in the array at `base`.
    pub fn address(base: u32, slot: u32) -> u32 {
        base.wrapping_add(slot.wrapping_mul(Self::BYTES))
    }

    /// The record of sampler `slot` in the array at `base`; transparent black
    /// and false if the capture does not hold it.
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

/// A descriptor of zeros.
impl Default for Sampler {
    fn default() -> Self {
        Self::new(&[0; 2], Border::default())
    }
}

impl Sampler {
    /// Resolves the two dwords of a descriptor.
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

    /// Whether some coordinates give the border colour.
    pub(super) fn uses_border(&self) -> bool {
        self.wrap.contains(&Wrap::ClampToBorder)
    }
}

/// The filter of levels of detail within `low..=high`, if it is one.
fn only_filter([low, high]: [f32; 2], mag: Filter, min: Filter) -> Option<Filter> {
    match () {
        () if mag == min || low > 0.0 => Some(min),
        () if high <= 0.0 => Some(mag),
        () => None,
    }
}

/// Anisotropic filtering is done as linear (guess `anisotropy-linear`).
fn filter(filter: TexFilter) -> Filter {
    match filter {
        TexFilter::A4XX_TEX_NEAREST | TexFilter::Other(_) => Filter::Nearest,
        TexFilter::A4XX_TEX_LINEAR | TexFilter::A4XX_TEX_ANISO => Filter::Linear,
    }
}

fn edges([s, t, _]: [Wrap; 3]) -> Option<[Edge; 2]> {
    Some([Edge::of(s)?, Edge::of(t)?])
}

/// The values without a name repeat (guess `wrap-unnamed`).
fn wrap(clamp: TexClamp) -> Wrap {
    match clamp {
        TexClamp::A4XX_TEX_REPEAT | TexClamp::Other(_) => Wrap::Repeat,
        TexClamp::A4XX_TEX_CLAMP_TO_EDGE => Wrap::ClampToEdge,
        TexClamp::A4XX_TEX_MIRROR_REPEAT => Wrap::MirrorRepeat,
        TexClamp::A4XX_TEX_CLAMP_TO_BORDER => Wrap::ClampToBorder,
        TexClamp::A4XX_TEX_MIRROR_CLAMP => Wrap::MirrorClamp,
    }
}
