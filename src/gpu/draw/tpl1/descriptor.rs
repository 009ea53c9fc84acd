//! Textures, prepared once per draw.
use std::borrow::Cow;
use std::fmt;

use a4emu_decoder::adreno::address::Address;
use serde::Serialize;

use super::layout::{Pyramid, Shape, Slices};
use super::wrap::Precision;
use crate::fault::{Client, Miss};
use crate::machine::Model;
use crate::memory::Memory;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Codec, Compression, Format, Layout, Profile, Swap, Transfer, UnormField};

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
    pub(super) swizzle: [Swizzle; 4],
    /// Precision of positions between texels.
    pub(super) precision: Precision,
    /// The format, for getinfo.
    pub(super) format: Format,
    pub(super) swap: Swap,
    pub(super) transfer: Transfer,
    /// The depth and the number of levels of the descriptor.
    pub(super) depth_field: u32,
    pub(super) level_count: u32,
    base: Address,
    extent: u64,
}

/// State of a texture, as a descriptor gives it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TextureState {
    /// Meaning of the coordinates.
    pub kind: TextureKind,
    /// Format of the texels.
    pub format: Format,
    /// Order of the components in memory.
    pub swap: Swap,
    /// Whether x, y and z are stored in sRGB.
    pub transfer: Transfer,
    /// Source of each component of the result.
    pub swizzle: [Swizzle; 4],
    /// Address of the first texel.
    pub base: Address,
    /// Texels of a row of level 0; elements of a buffer.
    pub width: u32,
    /// Rows of level 0.
    pub height: u32,
    /// Layers, cubes or slices; 0 for a plain texture.
    pub depth: u32,
    /// Number of levels.
    pub levels: u32,
    /// Samples and order of texels.
    pub arrangement: Arrangement,
    /// Bytes of a row of level 0.
    pub pitch: u32,
    /// Smallest pitch of a level, in bytes.
    pub least_pitch: u32,
    /// Bytes of a layer, or of a slice of level 0.
    pub layer_size: u32,
    /// Bytes below which a slice of a level does not shrink.
    pub least_layer_size: u32,
    /// Every level of a layer begins at a multiple of this power of two, in bytes.
    pub level_align: u32,
}

/// Source of a component of the result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Swizzle {
    /// Component x of the texel.
    X,
    /// Component y of the texel.
    Y,
    /// Component z of the texel.
    Z,
    /// Component w of the texel.
    W,
    /// 0.
    Zero,
    /// 1.
    One,
}

/// The places of a texture's texels in memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct TexelPlaces {
    /// Address of the texture.
    pub base: u64,
    /// Samples of a texel, one behind the other.
    pub samples: u32,
    /// Side of the square tiles in blocks; 1 if blocks lie row by row.
    pub tile: u32,
    /// Width and height of a block in texels, and its bytes. Only blocks of compressed formats have several texels.
    pub block: [u32; 3],
    /// For each level the bytes from the base to its first block, from row to row of blocks, and from layer to layer.
    pub levels: Vec<[u32; 3]>,
}

impl TexelPlaces {
    /// The address of the block of texel (x, y), for a level, layer and sample; none if there is no such level.
    pub fn address(&self, [level, layer, sample]: [u32; 3], [x, y]: [u32; 2]) -> Option<u64> {
        let [offset, pitch, slice] = (*self.levels.get(level as usize)?).map(u64::from);
        let [width, height, bytes] = self.block;
        let tiling = if self.tile > 1 { Tiling::Squares(self.tile) } else { Tiling::Linear };
        let within = tiling.offset([x / width, y / height], 0, bytes * self.samples);
        let row = u64::from(tiling.in_rows([x / width, y / height], 0)[1]);
        let sample = u64::from(sample.min(self.samples - 1)) * u64::from(bytes);
        Some(self.base + offset + u64::from(layer) * slice + row * pitch + within + sample)
    }
}

/// Meaning of the coordinates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureKind {
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

/// Reason why a descriptor cannot be sampled, with the name of the field that says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextureError {
    /// More samples than the chip has.
    Samples(&'static str),
    /// The number of an unknown format.
    Format(&'static str, u32),
    /// The number of an unknown texture type.
    Type(&'static str, u32),
    /// There is no descriptor.
    Absent,
    /// The descriptor is zeros: by that, drivers of Vulkan mean no texture at all, which reads zero (VK_EXT_robustness2).
    Null,
    /// The number of an order of texels that is not known.
    Tiled(&'static str, u32),
    /// A chip has compressed the texels (UBWC).
    Compressed(&'static str),
}

impl fmt::Display for TextureError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Samples(field) => write!(f, "texture of eight samples ({field})"),
            Self::Format(field, number) => write!(f, "texture format {number:#x} ({field})"),
            Self::Type(field, number) => write!(f, "texture type {number} ({field})"),
            Self::Absent => write!(f, "texture without a descriptor"),
            Self::Null => write!(f, "descriptor of zeros"),
            Self::Tiled(field, number) => write!(f, "texture of tile mode {number} ({field})"),
            Self::Compressed(field) => write!(f, "texture with texels that a chip has compressed ({field})"),
        }
    }
}

impl std::error::Error for TextureError {}

impl Texture {
    /// Whether the texels are in ASTC blocks.
    pub fn is_astc(&self) -> bool {
        matches!(self.texels, Texels::Block { compression: Compression::Astc(..), .. })
    }

    /// Prepares a texture.
    pub fn new(state: &TextureState, model: Model) -> Self {
        let TextureState { kind, format, swap, transfer, swizzle, .. } = *state;
        let shape = shape(state, Slices::of(model));
        let levels = match kind {
            TextureKind::Volume => shape.level_first(),
            TextureKind::Planar | TextureKind::Cube | TextureKind::Buffer => shape.layer_first(),
        };
        let texels = Texels::new(format, swap, transfer, profile(model));
        let planar = kind == TextureKind::Planar && shape.arrangement == Arrangement::PLAIN;
        Self {
            kind,
            unorm: texels.codec().filter(|_| planar).and_then(|codec| unorm(codec, swizzle, &levels)),
            extent: shape.extent(&levels),
            levels,
            arrangement: shape.arrangement,
            texels,
            precision: Precision::of(model),
            swizzle,
            format,
            swap,
            transfer,
            depth_field: state.depth,
            level_count: state.levels,
            base: state.base,
        }
    }

    /// Returns the memory range: its first byte, and one past its last.
    pub(super) fn place(&self) -> (u64, u64) {
        (self.base.get(), self.base.get() + self.extent)
    }

    /// Returns where its texels lie. `None` for macrotiles, which [`TexelPlaces`] does not describe.
    pub fn places(&self) -> Option<TexelPlaces> {
        if let Tiling::Macrotiles { .. } = self.arrangement.tiling {
            return None;
        }
        let block = match self.texels {
            Texels::Plain(codec) => [1, 1, codec.bytes()],
            Texels::Block { compression, .. } => {
                let block = compression.block();
                [block.width, block.height, block.bytes]
            }
        };
        Some(TexelPlaces {
            base: self.base.get(),
            samples: self.arrangement.samples,
            tile: self.arrangement.tiling.rows(),
            block,
            levels: self.levels.iter().map(|level| [level.offset, level.pitch, level.slice]).collect(),
        })
    }

    /// Returns the bytes from its base to the end of its last texel.
    pub fn bytes_spanned(&self) -> u64 {
        self.extent
    }

    /// Returns its bytes: a slice where memory is contiguous, else a copy with zeros for missing parts (never
    /// larger than the buffer at its base).
    pub(super) fn bytes<'m>(&self, memory: &'m Memory) -> Cow<'m, [u8]> {
        match memory.held(self.base, self.len()) {
            (_, Some(bytes)) => Cow::Borrowed(bytes),
            (held, None) => Cow::Owned(memory.copied(self.base, held)),
        }
    }

    /// Returns how many bytes [`Texture::bytes`] copies: 0 where memory is contiguous.
    pub(super) fn bytes_copied(&self, memory: &Memory) -> u64 {
        match memory.held(self.base, self.len()) {
            (_, Some(_)) => 0,
            (held, None) => held as u64,
        }
    }

    /// Returns the miss of its bytes, if the buffer at its base lacks some of them.
    pub(super) fn missing(&self, memory: &Memory) -> Option<Miss> {
        let len = self.len();
        let is_complete = len <= memory.room(self.base) && memory.is_known(self.base, len as usize);
        (!is_complete).then_some(Miss { client: Client::Texture, address: self.base, len })
    }

    fn len(&self) -> u32 {
        self.extent.min(u64::from(u32::MAX)) as u32
    }
}

/// Returns the description of normalised texels of at most a dword.
fn unorm(codec: &Codec, swizzle: [Swizzle; 4], levels: &Pyramid) -> Option<Unorm> {
    let fields = codec.unorm_fields()?;
    let components = swizzle.map(|from| match (source(from), from) {
        (Some(c), _) => fields[c].map_or(Component::Constant(codec.absent(c)), Component::Texels),
        (None, Swizzle::One) => Component::Constant(1f32.to_bits()),
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
pub(super) fn source(swizzle: Swizzle) -> Option<usize> {
    match swizzle {
        Swizzle::X => Some(0),
        Swizzle::Y => Some(1),
        Swizzle::Z => Some(2),
        Swizzle::W => Some(3),
        Swizzle::Zero | Swizzle::One => None,
    }
}

impl Texels {
    fn new(format: Format, swap: Swap, transfer: Transfer, profile: Profile) -> Self {
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

    /// Returns what a fetch gives that is outside of the texture: a texel of zeros (guess `texel-outside`).
    pub(super) fn outside(&self) -> [u32; 4] {
        self.codec().map_or([0; 4], |codec| codec.decode(codec.load(&[0; 16])))
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

fn shape(state: &TextureState, slices: Slices) -> Shape {
    let depth = state.depth.max(1);
    let plain = Shape {
        width: state.width.max(1),
        height: state.height.max(1),
        depth: if state.kind == TextureKind::Cube { depth * 6 } else { depth },
        levels: state.levels,
        block: state.format.block(),
        arrangement: state.arrangement,
        pitch: state.pitch,
        pitch_align: state.least_pitch,
        layer_size: state.layer_size,
        min_layer_size: state.least_layer_size,
        level_align: state.level_align,
        slices,
    };
    match state.kind {
        TextureKind::Buffer => {
            let arrangement = Arrangement::PLAIN;
            Shape { width: state.width, height: 1, depth: 1, levels: 1, arrangement, ..plain }
        }
        TextureKind::Planar | TextureKind::Cube | TextureKind::Volume => plain,
    }
}
