//! Texture descriptors, decoded once per draw.
use std::borrow::Cow;
use std::fmt;

use a4emu_decoder::a4xx::enums::{ColorSwap, MsaaSamples, TexFmt, TexSwiz, TexType};
use a4emu_decoder::a4xx::regs::tex::*;

use super::layout::{Pyramid, Shape, Slices};
use super::wrap::Precision;
use crate::fault::{Client, Miss};
use crate::machine::Model;
use crate::memory::Memory;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Codec, Compression, Format, Layout, Profile, Transfer, UnormField};

/// A texture in a form for the sampling loops. Contains addresses, no memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    pub(super) kind: TextureKind,
    pub(super) levels: Pyramid,
    pub(super) texels: Texels,
    /// Texel description for the fast path: planar textures in row order, with normalised components within a
    /// dword.
    pub(super) unorm: Option<Unorm>,
    /// Samples and order of texels.
    pub(super) arrangement: Arrangement,
    pub(super) swizzle: [TexSwiz; 4],
    /// Precision of positions between texels.
    pub(super) precision: Precision,
    /// The format's number, for getinfo.
    pub(super) fmt: TexFmt,
    pub(super) swap: ColorSwap,
    pub(super) transfer: Transfer,
    /// Raw DEPTH field; `miplvls` is the raw MIPLVLS field.
    pub(super) depth_field: u32,
    pub(super) miplvls: u32,
    base: u32,
    extent: u64,
}

/// Meaning of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextureKind {
    /// Rows, and layers with `.a`. 1D textures have one row.
    Planar,
    /// Six faces, times the number of cubes.
    Cube,
    /// Slices.
    Volume,
    /// Consecutive elements, `levels[0].width` of them.
    Buffer,
}

/// Texels with normalised components within a dword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unorm {
    /// Source of x, y, z and w after the swizzle.
    pub components: [Component; 4],
    /// Bytes of a texel.
    pub texel: u32,
    /// Whether each component is a byte of a dword, and levels are small in dwords.
    pub of_bytes: bool,
}

/// Source of a component of the result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Component {
    /// A field of the texels.
    Texels(UnormField),
    /// A constant, as bits.
    Constant(u32),
}

/// Conversion of bytes to components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texels {
    Plain(Codec),
    Block { compression: Compression, format: Format, transfer: Transfer, profile: Profile },
}

/// Reason why a descriptor cannot be sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureError {
    /// More samples than A420 has.
    Samples,
    /// The number of an unknown format.
    Format(u32),
    /// The number of an unknown texture type.
    Type(u32),
}

impl fmt::Display for TextureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples => write!(f, "texture of eight samples (TEX_CONST_0.SAMPLES)"),
            Self::Format(fmt) => write!(f, "texture format {fmt:#x} (TEX_CONST_0.FMT)"),
            Self::Type(ty) => write!(f, "texture type {ty} (TEX_CONST_0.TYPE)"),
        }
    }
}

impl std::error::Error for TextureError {}

/// The bytes of a texture.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'m> {
    pub bytes: Cow<'m, [u8]>,
    /// Miss, if the capture lacks a part.
    pub missing: Option<Miss>,
}

impl Texture {
    /// Whether the texels are in ASTC blocks.
    pub fn is_astc(&self) -> bool {
        matches!(self.texels, Texels::Block { compression: Compression::Astc(..), .. })
    }

    /// Decodes the eight dwords of a descriptor.
    pub fn new(words: &[u32; 8], model: Model) -> Result<Self, TextureError> {
        let (c0, c2, c3) = (TEX_CONST_0(words[0]), TEX_CONST_2(words[2]), TEX_CONST_3(words[3]));
        if c0.SAMPLES() == MsaaSamples::MSAA_EIGHT {
            return Err(TextureError::Samples);
        }
        let format = Format::texture(c0.FMT()).ok_or(TextureError::Format(c0.FMT().to_bits()))?;
        let transfer = if c0.SRGB() { Transfer::Srgb } else { Transfer::Linear };
        let kind = TextureKind::of(c0.TYPE(), c2.BUFFER())?;
        let shape = shape(words, format, kind, Slices::of(model));
        let levels = match kind {
            TextureKind::Volume => shape.level_first(),
            TextureKind::Planar | TextureKind::Cube | TextureKind::Buffer => shape.layer_first(),
        };
        let texels = Texels::new(format, c2.SWAP(), transfer, profile(model));
        let swizzle = [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()];
        let planar = kind == TextureKind::Planar && shape.arrangement == Arrangement::PLAIN;
        Ok(Self {
            kind,
            unorm: texels.codec().filter(|_| planar).and_then(|codec| unorm(codec, swizzle, &levels)),
            extent: shape.extent(&levels),
            levels,
            arrangement: shape.arrangement,
            texels,
            precision: Precision::of(model),
            swizzle,
            fmt: c0.FMT(),
            swap: c2.SWAP(),
            transfer,
            depth_field: c3.DEPTH(),
            miplvls: c0.MIPLVLS(),
            base: TEX_CONST_4(words[4]).BASE(),
        })
    }

    /// Returns the memory range: its first byte, and one past its last.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.base.into(), u64::from(self.base) + self.extent)
    }

    /// Returns the bytes from its base to the end of its last texel.
    pub fn bytes_spanned(&self) -> u64 {
        self.extent
    }

    /// Returns its bytes: a slice where memory is contiguous, else a copy with zeros for missing parts (never
    /// larger than the buffer at its base).
    pub(super) fn bytes<'m>(&self, memory: &'m Memory) -> Bytes<'m> {
        let wanted = self.extent.min(u64::from(u32::MAX)) as u32;
        let held = wanted.min(memory.room(self.base));
        let missing = |len| Some(Miss { client: Client::Texture, address: self.base.into(), len });
        if let Some(bytes) = memory.slice(self.base, held as usize) {
            let missing = if held < wanted { missing(wanted) } else { None };
            return Bytes { bytes: Cow::Borrowed(bytes), missing };
        }
        let mut copy = vec![0; held as usize];
        let complete = memory.read(self.base, &mut copy) && held == wanted;
        Bytes { bytes: Cow::Owned(copy), missing: if complete { None } else { missing(wanted) } }
    }
}

/// Returns the description of normalised texels of at most a dword.
fn unorm(codec: &Codec, swizzle: [TexSwiz; 4], levels: &Pyramid) -> Option<Unorm> {
    let fields = codec.unorm_fields()?;
    let components = swizzle.map(|from| match (source(from), from) {
        (Some(c), _) => fields[c].map_or(Component::Constant(codec.absent(c)), Component::Texels),
        (None, TexSwiz::A4XX_TEX_ONE) => Component::Constant(1f32.to_bits()),
        (None, _) => Component::Constant(0),
    });
    let is_byte = |component: &Component| match component {
        Component::Texels(field) => field.byte().is_some(),
        Component::Constant(_) => true,
    };
    let texel = codec.bytes();
    let of_bytes = texel == 4 && components.iter().all(is_byte) && levels.are_of_few_dwords();
    Some(Unorm { components, texel, of_bytes })
}

/// Returns the component that a swizzle selects, if it is not a constant.
pub(super) fn source(swizzle: TexSwiz) -> Option<usize> {
    match swizzle {
        TexSwiz::A4XX_TEX_X => Some(0),
        TexSwiz::A4XX_TEX_Y => Some(1),
        TexSwiz::A4XX_TEX_Z => Some(2),
        TexSwiz::A4XX_TEX_W => Some(3),
        TexSwiz::A4XX_TEX_ZERO | TexSwiz::A4XX_TEX_ONE | TexSwiz::Other(_) => None,
    }
}

impl TextureKind {
    fn of(ty: TexType, buffer: bool) -> Result<Self, TextureError> {
        Ok(match ty {
            TexType::A4XX_TEX_BUFFER => Self::Buffer,
            TexType::A4XX_TEX_1D | TexType::A4XX_TEX_2D if buffer => Self::Buffer,
            TexType::A4XX_TEX_1D | TexType::A4XX_TEX_2D => Self::Planar,
            TexType::A4XX_TEX_CUBE => Self::Cube,
            TexType::A4XX_TEX_3D => Self::Volume,
            TexType::Other(ty) => return Err(TextureError::Type(ty)),
        })
    }
}

impl Texels {
    fn new(format: Format, swap: ColorSwap, transfer: Transfer, profile: Profile) -> Self {
        match (format.codec(swap, transfer), format.layout) {
            (Some(codec), _) => Self::Plain(codec),
            (None, Layout::Block(compression)) => Self::Block { compression, format, transfer, profile },
            (None, _) => unreachable!("only compressed formats lack a codec"),
        }
    }

    /// Returns the codec for single texels, if they are not compressed.
    fn codec(&self) -> Option<&Codec> {
        match self {
            Self::Plain(codec) => Some(codec),
            Self::Block { .. } => None,
        }
    }

    /// Returns whether lanes contain integers.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self, Self::Plain(codec) if codec.is_integer())
    }
}

/// Guess `astc-hdr` (docs/hardware/board-a420.md, B12): for HDR blocks, a board does not return the error
/// colour that OpenGL ES requires.
fn profile(model: Model) -> Profile {
    match model {
        Model::Board => Profile::Hdr,
        Model::StrictGl => Profile::Ldr,
    }
}

/// Returns the texel arrangement of the descriptor.
fn arrangement(c0: TEX_CONST_0) -> Arrangement {
    let samples = 1 << c0.SAMPLES().to_bits();
    Arrangement { samples, tiling: Tiling::of(c0.tile_mode()).unwrap_or(Tiling::Linear) }
}

fn shape(words: &[u32; 8], format: Format, kind: TextureKind, slices: Slices) -> Shape {
    let (c0, c1, c2) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]));
    let (c3, c4) = (TEX_CONST_3(words[3]), TEX_CONST_4(words[4]));
    let depth = c3.DEPTH().max(1);
    let plain = Shape {
        width: c1.WIDTH().max(1),
        height: c1.HEIGHT().max(1),
        depth: if kind == TextureKind::Cube { depth * 6 } else { depth },
        levels: c0.MIPLVLS() + 1,
        block: format.block(),
        arrangement: arrangement(c0),
        pitch: c2.PITCH(),
        pitch_align: c2.least_pitch(),
        layer_size: c3.LAYERSZ(),
        min_layer_size: c4.LAYERSZ(),
        slices,
    };
    match kind {
        TextureKind::Buffer => {
            let arrangement = Arrangement::PLAIN;
            Shape { width: c1.elements(), height: 1, depth: 1, levels: 1, arrangement, ..plain }
        }
        TextureKind::Planar | TextureKind::Cube | TextureKind::Volume => plain,
    }
}
