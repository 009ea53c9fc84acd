//! Textures and samplers, decoded from their descriptors.

use a4emu_decoder::a4xx::enums::{TexSwiz, TexType, TileMode};
use a4emu_decoder::a4xx::regs::tex::*;
use serde::Serialize;

use super::name::{Address, name, slot_name};
use a4emu_gpu::a4xx;
use a4emu_gpu::draw::tpl1::{self, TextureState};
use a4emu_gpu::gpu::Model;

/// A texture that a program names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Texture {
    /// The bindless base that the slot is of; none if it is one of the stage's bindings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<u8>,
    /// Slot.
    pub slot: u32,
    /// Slots of the samplers it is used with.
    pub samplers: Vec<u32>,
    /// Address of the first texel.
    pub address: Address,
    /// Bytes from there to the end of the last texel; 0 if it cannot be read.
    pub bytes: u64,
    /// `1D`, `2D`, `cube`, `3D` or `buffer`.
    pub kind: String,
    /// Format.
    pub format: String,
    /// Width of the first level in texels.
    pub width: u32,
    /// Height of the first level in texels.
    pub height: u32,
    /// Number of layers, cubes or slices.
    pub depth: u32,
    /// Number of levels.
    pub levels: u32,
    /// Bytes from row to row of the first level.
    pub pitch: u32,
    /// Bytes from layer to layer, or from slice to slice of the first level.
    pub layer_bytes: u32,
    /// `linear` or `tiled`.
    pub tiling: &'static str,
    /// Whether x, y and z are stored in sRGB.
    pub srgb: bool,
    /// Order of components in memory.
    pub swap: String,
    /// Components that the shader receives as x, y, z and w, such as `xyz1`.
    pub swizzle: String,
    /// Reason why the texture cannot be read, if any.
    pub unsupported: Option<String>,
    /// What its descriptor says to the texture unit; none if that cannot read it.
    #[serde(skip)]
    pub state: Option<TextureState>,
    /// The descriptor, with zeros behind the words that the chip has.
    #[serde(skip)]
    pub words: [u32; 16],
}

impl Texture {
    /// The name of the slot.
    pub fn slot_name(&self) -> String {
        slot_name(self.base, self.slot)
    }

    /// The texture of descriptor `words` in `slot`.
    pub(super) fn new(slot: u32, samplers: Vec<u32>, words: [u32; 8]) -> Self {
        let (c0, c1, c2, c3) =
            (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]), TEX_CONST_3(words[3]));
        let resolved = a4xx::tpl1::texture_state(&words);
        let is_buffer = c2.BUFFER() || c0.TYPE() == TexType::A4XX_TEX_BUFFER;
        let [width, height] = if is_buffer { [c1.elements(), 1] } else { [c1.WIDTH(), c1.HEIGHT()] };
        Self {
            base: None,
            slot,
            samplers,
            address: Address::of(TEX_CONST_4(words[4]).BASE()),
            bytes: resolved.as_ref().map_or(0, bytes_spanned),
            kind: if is_buffer { "buffer".to_owned() } else { kind(c0.TYPE()) },
            format: name(c0.FMT()),
            width,
            height,
            depth: c3.DEPTH().max(1),
            levels: c0.MIPLVLS() + 1,
            pitch: c2.PITCH(),
            layer_bytes: c3.LAYERSZ(),
            tiling: if c0.tile_mode() == TileMode::TILE4_LINEAR { "linear" } else { "tiled" },
            srgb: c0.SRGB(),
            swap: name(c2.SWAP()),
            swizzle: [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()].map(swizzle).concat(),
            unsupported: resolved.err().map(|why| why.to_string()),
            state: resolved.ok(),
            words: std::array::from_fn(|word| words.get(word).copied().unwrap_or_default()),
        }
    }

    /// Where its texels lie; none if it cannot be read, or if that has no simple rule.
    pub fn places(&self) -> Option<tpl1::TexelPlaces> {
        tpl1::Texture::new(self.state.as_ref()?, Model::default()).places()
    }

    /// Number of layers, faces or slices of level `level`.
    pub fn layers(&self, level: u32) -> u32 {
        match self.kind.as_str() {
            "cube" => self.depth.saturating_mul(6),
            "3D" => (self.depth >> level.min(31)).max(1),
            _ => self.depth,
        }
    }
}

/// Bytes from the first texel to the end of the last one.
fn bytes_spanned(state: &TextureState) -> u64 {
    tpl1::Texture::new(state, Model::default()).bytes_spanned()
}

fn kind(kind: TexType) -> String {
    match kind {
        TexType::A4XX_TEX_1D => "1D".to_owned(),
        TexType::A4XX_TEX_2D => "2D".to_owned(),
        TexType::A4XX_TEX_CUBE => "cube".to_owned(),
        TexType::A4XX_TEX_3D => "3D".to_owned(),
        TexType::A4XX_TEX_BUFFER => "buffer".to_owned(),
        TexType::Other(_) => name(kind),
    }
}

fn swizzle(from: TexSwiz) -> String {
    match from {
        TexSwiz::A4XX_TEX_X => "x".to_owned(),
        TexSwiz::A4XX_TEX_Y => "y".to_owned(),
        TexSwiz::A4XX_TEX_Z => "z".to_owned(),
        TexSwiz::A4XX_TEX_W => "w".to_owned(),
        TexSwiz::A4XX_TEX_ZERO => "0".to_owned(),
        TexSwiz::A4XX_TEX_ONE => "1".to_owned(),
        TexSwiz::Other(_) => format!("({})", name(from)),
    }
}

/// A sampler that a program names.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Sampler {
    /// The bindless base that the slot is of; none if it is one of the stage's bindings.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<u8>,
    /// Slot.
    pub slot: u32,
    /// Magnification filter.
    pub mag: String,
    /// Minification filter.
    pub min: String,
    /// Filter between levels: `LINEAR` or `NEAREST`.
    pub mip: &'static str,
    /// Wrap modes along s, t and r.
    pub wrap: [String; 3],
    /// Anisotropy.
    pub aniso: String,
    /// Comparison function of shadow samples.
    pub compare: String,
    /// Bias that is added to the level of detail.
    pub lod_bias: f32,
    /// Least level of detail.
    pub min_lod: f32,
    /// Greatest level of detail.
    pub max_lod: f32,
    /// Whether filters reach across the edges of cube faces.
    pub seamless: bool,
    /// Whether coordinates are texels, not 0 to 1.
    pub unnormalized: bool,
    /// The descriptor of an A4xx; zero for an A6xx.
    #[serde(skip)]
    pub words: [u32; 2],
}

impl Sampler {
    /// The name of the slot.
    pub fn slot_name(&self) -> String {
        slot_name(self.base, self.slot)
    }

    /// The sampler of descriptor `words` in `slot`.
    pub(super) fn new(slot: u32, words: [u32; 2]) -> Self {
        let (s0, s1) = (TEX_SAMP_0(words[0]), TEX_SAMP_1(words[1]));
        Self {
            base: None,
            slot,
            mag: name(s0.XY_MAG()),
            min: name(s0.XY_MIN()),
            mip: if s0.MIPFILTER_LINEAR_NEAR() { "LINEAR" } else { "NEAREST" },
            wrap: [name(s0.WRAP_S()), name(s0.WRAP_T()), name(s0.WRAP_R())],
            aniso: name(s0.ANISO()),
            compare: name(s1.COMPARE_FUNC()),
            lod_bias: s0.LOD_BIAS(),
            min_lod: s1.MIN_LOD(),
            max_lod: s1.MAX_LOD(),
            seamless: !s1.CUBEMAPSEAMLESSFILTOFF(),
            unnormalized: s1.UNNORM_COORDS(),
            words,
        }
    }
}
