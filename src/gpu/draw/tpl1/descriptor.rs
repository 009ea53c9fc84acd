//! Texture descriptors, resolved once per draw.
use std::borrow::Cow;
use std::fmt;

use a4emu_decoder::regs::enums::{ColorSwap, MsaaSamples, TexFmt, TexSwiz, TexType};
use a4emu_decoder::regs::tex::*;

use super::layout::{Pyramid, Shape, Slices};
use super::wrap::Precision;
use crate::fault::{Client, Miss};
use crate::gpu::Model;
use crate::memory::Memory;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Codec, Compression, Format, Layout, Profile, Transfer, UnormField};

/// A texture as the sampling loops want it. Holds addresses, not memory.
#[derive(Clone, Debug, PartialEq)]
pub struct Texture {
    pub(super) kind: TextureKind,
    pub(super) levels: Pyramid,
    pub(super) texels: Texels,
    /// Of planar textures whose texels lie row by row, with components that are normalised and in a dword.
    pub(super) unorm: Option<Unorm>,
    /// Samples and order of texels.
    pub(super) arrangement: Arrangement,
    pub(super) swizzle: [TexSwiz; 4],
    /// How finely places between its texels count.
    pub(super) precision: Precision,
    /// The format's number, for getinfo.
    pub(super) fmt: TexFmt,
    pub(super) swap: ColorSwap,
    pub(super) transfer: Transfer,
    /// The DEPTH and MIPLVLS fields as they stand.
    pub(super) depth_field: u32,
    pub(super) miplvls: u32,
    base: u32,
    extent: u64,
}

/// What coordinates mean.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextureKind {
    /// Rows, and layers with `.a`. 1D textures are one row high.
    Planar,
    /// Six faces, times the number of cubes.
    Cube,
    /// Slices.
    Volume,
    /// Elements one after the other, `levels[0].width` of them.
    Buffer,
}

/// Texels whose components are normalised and in a dword.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Unorm {
    /// What x, y, z and w are made of once they are swizzled.
    pub components: [Component; 4],
    /// Bytes of a texel.
    pub texel: u32,
    /// Whether each component is a byte of a dword, in levels of few of these.
    pub of_bytes: bool,
}

/// What a component of an answer is made of.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Component {
    /// This part of the texels.
    Texels(UnormField),
    /// Nothing: these bits.
    Constant(u32),
}

/// How bytes become components.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Texels {
    Plain(Codec),
    Block { compression: Compression, format: Format, transfer: Transfer, profile: Profile },
}

/// Why a descriptor cannot be sampled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureError {
    /// More samples than A420 has.
    Samples,
    /// A number that names no format.
    Format(u32),
    /// A number that names no texture type.
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

/// The bytes behind a texture.
#[derive(Clone, Debug)]
pub(super) struct Bytes<'m> {
    pub bytes: Cow<'m, [u8]>,
    /// What the capture does not hold of it.
    pub missing: Option<Miss>,
}

impl Texture {
    /// Resolves the eight dwords of a descriptor.
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

    /// Where it lies: its first byte, and one past its last.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.base.into(), u64::from(self.base) + self.extent)
    }

    /// Bytes from its base to the end of its last texel.
    pub fn bytes_spanned(&self) -> u64 {
        self.extent
    }

    /// Bytes behind it: a view where memory has them in one piece, else a copy
    /// with zeros for what is not known (never larger than the buffer at its base).
    pub(super) fn bytes<'m>(&self, memory: &'m Memory) -> Bytes<'m> {
        let wanted = self.extent.min(u64::from(u32::MAX)) as u32;
        let held = wanted.min(memory.room(self.base));
        let missing = |len| Some(Miss { client: Client::Texture, address: self.base, len });
        if let Some(bytes) = memory.slice(self.base, held as usize) {
            let missing = if held < wanted { missing(wanted) } else { None };
            return Bytes { bytes: Cow::Borrowed(bytes), missing };
        }
        let mut copy = vec![0; held as usize];
        let complete = memory.read(self.base, &mut copy) && held == wanted;
        Bytes { bytes: Cow::Owned(copy), missing: if complete { None } else { missing(wanted) } }
    }
}

/// What there is to know of normalised texels of at most a dword.
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

/// Component that a swizzle takes, if it takes one.
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

    /// How to read texels one by one, if they are not compressed.
    fn codec(&self) -> Option<&Codec> {
        match self {
            Self::Plain(codec) => Some(codec),
            Self::Block { .. } => None,
        }
    }

    /// Whether lanes hold integers.
    pub(super) fn is_integer(&self) -> bool {
        matches!(self, Self::Plain(codec) if codec.is_integer())
    }
}

/// Guess `astc-hdr` (docs/hardware/board-a420.md, B12): what a board makes of HDR blocks is not the error colour that
/// OpenGL ES wants.
fn profile(model: Model) -> Profile {
    match model {
        Model::Board => Profile::Hdr,
        Model::StrictGl => Profile::Ldr,
    }
}

/// How the descriptor's texels lie.
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
