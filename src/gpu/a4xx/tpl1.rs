//! Descriptors of textures and samplers, and the addresses of border colours.

use a4emu_decoder::a4xx::enums::{MsaaSamples, TexClamp, TexFilter, TexType};
use a4emu_decoder::a4xx::regs::tex::*;
use a4emu_decoder::a4xx::regs::tpl1::*;
use a4emu_decoder::adreno::address::Address;

use a4emu_shader::BindlessSlot;
use a4emu_shader::format::Transfer;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};

use super::enums::{compare, swap, swizzle, tiling};
use super::formats;
use crate::draw::tpl1::{
    BorderLayout, Filter, SamplerState, Texture, TextureBank, TextureError, TextureKind, TextureState, Wrap,
};
use crate::machine::{ChipView, Model, Stage, TEXTURES};
use crate::memory::Memory;
use crate::regfile::RegFile;

/// The records of border colours. Their other parts have the colour in narrower formats.
pub const BORDER: BorderLayout = BorderLayout { bytes: 64, floats: 32, integers: 48 };

/// Returns the textures and samplers of a stage, without empty slots at the end. An A4xx has no bindless bases.
pub fn textures(chip: ChipView<'_>, stage: Stage, _: &[BindlessSlot]) -> TextureBank {
    let loaded = chip.loaded.stage(stage);
    let textures = loaded.textures.iter().rposition(|d| *d != [0; 8]).map_or(0, |last| last + 1);
    let samplers = loaded.samplers.iter().rposition(|d| *d != [0; 2]).map_or(0, |last| last + 1);
    let borders = border_colors(chip.regs, stage);
    bank(&loaded.textures[..textures], &loaded.samplers[..samplers], borders, chip.model, chip.mem)
}

/// Returns the textures and samplers of these descriptors. Border colours are at `border_base`
/// (TPL1_TP_xS_BORDER_COLOR_BASE_ADDR).
pub fn bank(
    textures: &[[u32; 8]],
    samplers: &[[u32; 2]],
    border_base: u32,
    model: Model,
    memory: &Memory,
) -> TextureBank {
    let textures = textures.iter().map(|words| texture(words, model));
    TextureBank::new(textures, samplers.iter().map(sampler), (BORDER, border_base.into()), memory)
}

/// Returns address and length of the border colours of a stage's samplers.
pub fn border_place(regs: &RegFile, stage: Stage) -> (Address, u64) {
    (border_colors(regs, stage).into(), TEXTURES as u64 * u64::from(BORDER.bytes))
}

/// Returns the address of the border colours of a stage's samplers.
pub fn border_colors(regs: &RegFile, stage: Stage) -> u32 {
    match stage {
        Stage::VS => regs.get::<TPL1_TP_VS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::HS => regs.get::<TPL1_TP_HS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::DS => regs.get::<TPL1_TP_DS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::GS => regs.get::<TPL1_TP_GS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::FS => regs.get::<TPL1_TP_FS_BORDER_COLOR_BASE_ADDR>().VALUE(),
        Stage::CS => regs.get::<TPL1_TP_CS_BORDER_COLOR_BASE_ADDR>().VALUE(),
    }
}

/// Prepares the texture of the eight dwords of a descriptor.
///
/// # Errors
/// The texture cannot be sampled.
pub fn texture(words: &[u32; 8], model: Model) -> Result<Texture, TextureError> {
    Ok(Texture::new(&texture_state(words)?, model))
}

/// Decodes the eight dwords of a texture descriptor.
///
/// # Errors
/// The texture cannot be sampled.
pub fn texture_state(words: &[u32; 8]) -> Result<TextureState, TextureError> {
    let (c0, c1, c2) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]));
    let (c3, c4) = (TEX_CONST_3(words[3]), TEX_CONST_4(words[4]));
    if c0.SAMPLES() == MsaaSamples::MSAA_EIGHT {
        return Err(TextureError::Samples("TEX_CONST_0.SAMPLES"));
    }
    let unknown = || TextureError::Format("TEX_CONST_0.FMT", c0.FMT().to_bits());
    let format = formats::texture(c0.FMT()).ok_or_else(unknown)?;
    let kind = kind(c0.TYPE(), c2.BUFFER())?;
    Ok(TextureState {
        kind,
        format,
        swap: swap(c2.SWAP()),
        transfer: if c0.SRGB() { Transfer::Srgb } else { Transfer::Linear },
        swizzle: [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()].map(swizzle),
        base: c4.BASE().into(),
        width: if kind == TextureKind::Buffer { c1.elements() } else { c1.WIDTH() },
        height: c1.HEIGHT(),
        depth: c3.DEPTH(),
        levels: c0.MIPLVLS() + 1,
        arrangement: Arrangement {
            samples: 1 << c0.SAMPLES().to_bits(),
            tiling: tiling(c0.tile_mode()).unwrap_or(Tiling::Linear),
        },
        pitch: c2.PITCH(),
        least_pitch: c2.least_pitch(),
        layer_size: c3.LAYERSZ(),
        least_layer_size: c4.LAYERSZ(),
        level_align: 1,
    })
}

fn kind(ty: TexType, buffer: bool) -> Result<TextureKind, TextureError> {
    Ok(match ty {
        TexType::A4XX_TEX_BUFFER => TextureKind::Buffer,
        TexType::A4XX_TEX_1D | TexType::A4XX_TEX_2D if buffer => TextureKind::Buffer,
        TexType::A4XX_TEX_1D | TexType::A4XX_TEX_2D => TextureKind::Planar,
        TexType::A4XX_TEX_CUBE => TextureKind::Cube,
        TexType::A4XX_TEX_3D => TextureKind::Volume,
        TexType::Other(number) => return Err(TextureError::Type("TEX_CONST_0.TYPE", number)),
    })
}

/// Decodes the two dwords of a sampler descriptor.
pub fn sampler(words: &[u32; 2]) -> SamplerState {
    let (s0, s1) = (TEX_SAMP_0(words[0]), TEX_SAMP_1(words[1]));
    let clamps = [s0.WRAP_S(), s0.WRAP_T(), s0.WRAP_R()];
    SamplerState {
        mag: filter(s0.XY_MAG()),
        min: filter(s0.XY_MIN()),
        mip: if s0.MIPFILTER_LINEAR_NEAR() { Filter::Linear } else { Filter::Nearest },
        wrap: clamps.map(wrap),
        compare: compare(s1.COMPARE_FUNC()),
        seamless: !s1.CUBEMAPSEAMLESSFILTOFF(),
        is_anisotropic: [s0.XY_MAG(), s0.XY_MIN()].contains(&TexFilter::A4XX_TEX_ANISO),
        has_unnamed_wrap: clamps.iter().any(|clamp| matches!(clamp, TexClamp::Other(_))),
        unnormalized: s1.UNNORM_COORDS(),
        bias: s0.LOD_BIAS(),
        min_lod: s1.MIN_LOD(),
        max_lod: s1.MAX_LOD(),
        border_record: None,
    }
}

/// Returns the filter. Anisotropic filtering is done as linear (guess `anisotropy-linear`).
fn filter(filter: TexFilter) -> Filter {
    match filter {
        TexFilter::A4XX_TEX_NEAREST | TexFilter::Other(_) => Filter::Nearest,
        TexFilter::A4XX_TEX_LINEAR | TexFilter::A4XX_TEX_ANISO => Filter::Linear,
    }
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
