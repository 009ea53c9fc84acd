//! Descriptors of textures and samplers, and the addresses of border colours.

use a4emu_decoder::a6xx::enums::{
    ColorSwap, CompareFunc, MsaaSamples, TexClamp, TexFilter, TexSwiz, TexType,
};
use a4emu_decoder::a6xx::regs::compute::{
    SP_CS_CONFIG, SP_CS_TEX_CONST_LO, SP_CS_TEX_SAMP_LO, SP_PS_TP_BORDER_COLOR_BASE_ADDR_LO,
};
use a4emu_decoder::a6xx::regs::tex::*;
use a4emu_decoder::adreno::address::Address;
use a4emu_decoder::bits::Register;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Swap, Transfer};
use a4emu_shader::{BindlessKind, BindlessSlot};

use super::{formats, tiling};
use crate::bindless::{BindlessBase, DescriptorWords};
use crate::draw::compare::Compare;
use crate::draw::sp::descriptors::DescriptorPlaces;
use crate::draw::tpl1::{
    BorderLayout, Filter, SamplerState, Swizzle, Texture, TextureBank, TextureError, TextureKind,
    TextureState, Wrap,
};
use crate::machine::{ChipView, Model, Stage};
use crate::memory::Memory;
use crate::regfile::RegFile;

/// The records of border colours (Mesa: fd6_texture.h, `bcolor_entry`). Their other parts have the colour in narrower formats.
const BORDER: BorderLayout = BorderLayout { bytes: 128, floats: 0, integers: 0 };

/// Bytes of a texture's descriptor.
const TEXTURE_BYTES: u64 = super::sp::DESCRIPTOR;
/// What every level of a texture with UBWC is a multiple of, in bytes (Mesa: fd6_layout.c).
const COMPRESSED_LEVEL: u32 = 4096;
/// Bytes of a sampler's descriptor.
const SAMPLER_BYTES: u64 = 16;

/// Returns the textures and samplers of a dispatch: those of the bindings, and those of bindless bases that the program
/// names. No other stage runs yet.
pub fn textures(chip: ChipView<'_>, stage: Stage, bindless: &[BindlessSlot]) -> TextureBank {
    let regs = chip.regs;
    let counts = regs.get::<SP_CS_CONFIG>();
    let start = |low: u32, stride: u64| BindlessBase { start: regs.address(low), stride };
    let of_kind = |kind: BindlessKind, bound: BindlessBase, count: u32| {
        let named = bindless.iter().filter(move |slot| slot.kind == kind).map(|slot| {
            BindlessBase::of(regs, Some(stage), slot.base.into()).map(|base| (base, slot.descriptor))
        });
        with_bindless((0..count).map(|slot| (bound, slot)), named)
    };
    let textures =
        of_kind(BindlessKind::Texture, start(SP_CS_TEX_CONST_LO::ROW.offset, TEXTURE_BYTES), counts.NTEX());
    let samplers =
        of_kind(BindlessKind::Sampler, start(SP_CS_TEX_SAMP_LO::ROW.offset, SAMPLER_BYTES), counts.NSAMP());
    bank(&textures, &samplers, (chip.mem, borders(regs), chip.model))
}

/// Returns the address of the border colours.
pub fn borders(regs: &RegFile) -> Address {
    regs.address(SP_PS_TP_BORDER_COLOR_BASE_ADDR_LO::ROW.offset)
}

/// Returns pairs of a sampler and a texture at bindless bases. Those of pair n are in slot n of the bank.
pub fn named(places: &DescriptorPlaces, memory: &Memory, pairs: &[[BindlessSlot; 2]]) -> TextureBank {
    let descriptor =
        |slot: &BindlessSlot| Some(((*places.bases.get(usize::from(slot.base))?)?, slot.descriptor));
    let of = |which: usize| -> Vec<Option<Descriptor>> {
        pairs.iter().map(|pair| descriptor(&pair[which])).collect()
    };
    bank(&of(1), &of(0), (memory, places.borders, places.model))
}

/// Reads the descriptors of textures and samplers.
fn bank(
    textures: &[Option<Descriptor>],
    samplers: &[Option<Descriptor>],
    (memory, borders, model): (&Memory, Address, Model),
) -> TextureBank {
    // The bank reports the descriptors that the capture lacks. They are zeros.
    let words = |(base, slot): Descriptor| base.words(memory, slot).unwrap_or_default();
    let states = samplers.iter().map(|place| sampler(&place.map(words).unwrap_or_default()));
    let prepared = textures.iter().map(|place| {
        let words = place.map(words).ok_or(TextureError::Absent)?;
        Ok(Texture::new(&texture_state(&words, memory)?, model))
    });
    let read = textures.iter().chain(samplers).flatten();
    let read = read.map(|(base, slot)| (base.descriptor(memory, *slot), base.stride as u32));
    // Once the run writes them, texels are no longer compressed.
    let compressed = textures.iter().flatten().map(|place| words(*place));
    let compressed = compressed.filter(|words| TEX_CONST_3(words[3]).FLAG()).map(|words| (base(&words), 1));
    let bank = TextureBank::new(prepared, states, (BORDER, borders), memory);
    bank.described(memory, read).resting_on(compressed)
}

/// A descriptor: what it counts from, and its number there.
type Descriptor = (BindlessBase, u32);

/// Returns the descriptors of the bindings, and behind them those of bindless bases in their slots.
fn with_bindless(
    bound: impl Iterator<Item = Descriptor>,
    bindless: impl Iterator<Item = Option<Descriptor>>,
) -> Vec<Option<Descriptor>> {
    let mut bindless = bindless.peekable();
    let mut all: Vec<Option<Descriptor>> = bound.map(Some).collect();
    if bindless.peek().is_some() {
        all.resize(BindlessSlot::FIRST as usize, None);
        all.extend(bindless);
    }
    all
}

/// Decodes a texture's descriptor. What a4emu stores with UBWC is not compressed, only what a chip has stored.
///
/// # Errors
/// The texture cannot be sampled: its format, its type or the order of its texels is unknown, or they are compressed.
pub fn texture_state(words: &DescriptorWords, memory: &Memory) -> Result<TextureState, TextureError> {
    if *words == [0; 16] {
        return Err(TextureError::Null);
    }
    let (c0, c1, c2) = (TEX_CONST_0(words[0]), TEX_CONST_1(words[1]), TEX_CONST_2(words[2]));
    let (c3, c5) = (TEX_CONST_3(words[3]), TEX_CONST_5(words[5]));
    if c0.SAMPLES() == MsaaSamples::MSAA_EIGHT {
        return Err(TextureError::Samples("TEX_CONST_0.SAMPLES"));
    }
    let unknown = || TextureError::Format("TEX_CONST_0.FMT", c0.FMT().to_bits());
    let format = formats::texture(c0.FMT()).ok_or_else(unknown)?;
    let tiling = match tiling(c0.TILE_MODE(), format.block().bytes) {
        Some(Tiling::Macrotiles { cpp, .. }) => Tiling::Macrotiles { cpp, all: c3.TILE_ALL() },
        Some(tiling) => tiling,
        None => return Err(unknown_order(c0)),
    };
    let base = base(words);
    if c3.FLAG() && memory.is_of_a_chip(base) {
        return Err(TextureError::Compressed("TEX_CONST_3.FLAG"));
    }
    Ok(TextureState {
        kind: kind(c2.TYPE())?,
        format,
        swap: swap(c0.SWAP()),
        transfer: if c0.SRGB() { Transfer::Srgb } else { Transfer::Linear },
        swizzle: [c0.SWIZ_X(), c0.SWIZ_Y(), c0.SWIZ_Z(), c0.SWIZ_W()].map(swizzle),
        base,
        width: elements(words).unwrap_or(c1.WIDTH()),
        height: c1.HEIGHT(),
        depth: c5.DEPTH(),
        levels: c0.MIPLVLS() + 1,
        arrangement: Arrangement { samples: 1 << c0.SAMPLES().to_bits(), tiling },
        pitch: c2.PITCH(),
        least_pitch: 64 << c2.PITCHALIGN(),
        layer_size: c3.ARRAY_PITCH(),
        least_layer_size: c3.MIN_LAYERSZ(),
        level_align: if c3.FLAG() { COMPRESSED_LEVEL } else { 1 },
    })
}

/// Returns the address of the first texel of a texture, an image or a buffer.
///
/// That of a buffer is some elements behind its base, which is a multiple of 64. Mesa calls bits 21:16 of TEX_CONST_2
/// STARTOFFSETTEXELS then (`fdl6_buffer_view_init`, `write_buffer_descriptor_addr`). They are a part of PITCH.
pub fn base(words: &DescriptorWords) -> Address {
    let (c0, c2) = (TEX_CONST_0(words[0]), TEX_CONST_2(words[2]));
    let base = Address::wide(TEX_CONST_4(words[4]).BASE_LO(), TEX_CONST_5(words[5]).BASE_HI());
    let skipped = elements(words).map_or(0, |_| u64::from(c2.PITCH() >> 9 & 0x3f));
    let bytes = formats::texture(c0.FMT()).map_or(0, |format| format.block().bytes);
    Address::new(base.get() + skipped * u64::from(bytes))
}

/// Returns the number of elements of a buffer. `None` if the descriptor is of something else.
pub fn elements(words: &DescriptorWords) -> Option<u32> {
    let (c1, ty) = (TEX_CONST_1(words[1]), TEX_CONST_2(words[2]).TYPE());
    (kind(ty) == Ok(TextureKind::Buffer)).then(|| c1.HEIGHT() << 15 | c1.WIDTH())
}

/// The error of a texture or image, the order of whose texels is not known.
pub fn unknown_order(word: TEX_CONST_0) -> TextureError {
    TextureError::Tiled("TEX_CONST_0.TILE_MODE", word.TILE_MODE().to_bits())
}

/// Returns the kind of a texture.
///
/// # Errors
/// The number of the type is unknown.
pub fn kind(ty: TexType) -> Result<TextureKind, TextureError> {
    Ok(match ty {
        TexType::A6XX_TEX_BUFFER | TexType::A6XX_TEX_IMG_BUFFER => TextureKind::Buffer,
        TexType::A6XX_TEX_1D | TexType::A6XX_TEX_2D => TextureKind::Planar,
        TexType::A6XX_TEX_CUBE => TextureKind::Cube,
        TexType::A6XX_TEX_3D => TextureKind::Volume,
        TexType::Other(number) => return Err(TextureError::Type("TEX_CONST_2.TYPE", number)),
    })
}

/// Decodes a sampler's descriptor.
fn sampler(words: &DescriptorWords) -> SamplerState {
    let (s0, s1, s2) = (TEX_SAMP_0(words[0]), TEX_SAMP_1(words[1]), TEX_SAMP_2(words[2]));
    let clamps = [s0.WRAP_S(), s0.WRAP_T(), s0.WRAP_R()];
    SamplerState {
        mag: filter(s0.XY_MAG()),
        min: filter(s0.XY_MIN()),
        mip: if s0.MIPFILTER_LINEAR_NEAR() { Filter::Linear } else { Filter::Nearest },
        wrap: clamps.map(wrap),
        compare: compare(s1.COMPARE_FUNC()),
        seamless: !s1.CUBEMAPSEAMLESSFILTOFF(),
        is_anisotropic: [s0.XY_MAG(), s0.XY_MIN()].contains(&TexFilter::A6XX_TEX_ANISO),
        has_unnamed_wrap: clamps.iter().any(|clamp| matches!(clamp, TexClamp::Other(_))),
        unnormalized: s1.UNNORM_COORDS(),
        bias: s0.LOD_BIAS(),
        min_lod: s1.MIN_LOD(),
        max_lod: s1.MAX_LOD(),
        border_record: Some(s2.BCOLOR()),
    }
}

/// Returns the filter. Anisotropic and cubic filtering are done as linear (guess `anisotropy-linear`).
fn filter(filter: TexFilter) -> Filter {
    match filter {
        TexFilter::A6XX_TEX_NEAREST => Filter::Nearest,
        _ => Filter::Linear,
    }
}

/// Returns the wrap mode. Values without a name repeat (guess `wrap-unnamed`).
fn wrap(clamp: TexClamp) -> Wrap {
    match clamp {
        TexClamp::A6XX_TEX_REPEAT | TexClamp::Other(_) => Wrap::Repeat,
        TexClamp::A6XX_TEX_CLAMP_TO_EDGE => Wrap::ClampToEdge,
        TexClamp::A6XX_TEX_MIRROR_REPEAT => Wrap::MirrorRepeat,
        TexClamp::A6XX_TEX_CLAMP_TO_BORDER => Wrap::ClampToBorder,
        TexClamp::A6XX_TEX_MIRROR_CLAMP => Wrap::MirrorClamp,
    }
}

/// Returns the comparison of a shadow texture.
fn compare(function: CompareFunc) -> Compare {
    match function {
        CompareFunc::FUNC_NEVER | CompareFunc::Other(_) => Compare::Never,
        CompareFunc::FUNC_LESS => Compare::Less,
        CompareFunc::FUNC_EQUAL => Compare::Equal,
        CompareFunc::FUNC_LEQUAL => Compare::LessEqual,
        CompareFunc::FUNC_GREATER => Compare::Greater,
        CompareFunc::FUNC_NOTEQUAL => Compare::NotEqual,
        CompareFunc::FUNC_GEQUAL => Compare::GreaterEqual,
        CompareFunc::FUNC_ALWAYS => Compare::Always,
    }
}

/// Returns the source of a texture component. Values without a name are 0.
fn swizzle(source: TexSwiz) -> Swizzle {
    match source {
        TexSwiz::A6XX_TEX_X => Swizzle::X,
        TexSwiz::A6XX_TEX_Y => Swizzle::Y,
        TexSwiz::A6XX_TEX_Z => Swizzle::Z,
        TexSwiz::A6XX_TEX_W => Swizzle::W,
        TexSwiz::A6XX_TEX_ZERO | TexSwiz::Other(_) => Swizzle::Zero,
        TexSwiz::A6XX_TEX_ONE => Swizzle::One,
    }
}

/// Returns the order of components in memory.
pub fn swap(order: ColorSwap) -> Swap {
    match order {
        ColorSwap::WZYX | ColorSwap::Other(_) => Swap::WZYX,
        ColorSwap::WXYZ => Swap::WXYZ,
        ColorSwap::ZYXW => Swap::ZYXW,
        ColorSwap::XYZW => Swap::XYZW,
    }
}
