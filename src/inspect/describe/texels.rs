//! Reads the texels of a texture, as the texture unit fetches them.

use std::str::FromStr;

use a4emu_decoder::adreno::address::Address;

use super::canvas::Image;
use super::texture::Texture;
use a4emu_gpu::a4xx::tpl1::BORDER;
use a4emu_gpu::budget::Work;
use a4emu_gpu::draw::tpl1::{self, TextureBank, TextureState};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::PixelType;
use a4emu_shader::format::{Transfer, Type};
use a4emu_shader::{Few, LANES, Lanes, Lod, Mask, Number, Sample, SampleKind, Slots};

/// Maximum number of texels of a level and layer.
const MAX_TEXELS: u64 = 1 << 24;

/// A part of a texture: one sample of one layer (a face of a cube, a slice) of a level, from 0 each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// Level.
    pub level: u32,
    /// Layer, face or slice.
    pub layer: u32,
    /// Sample.
    pub sample: u32,
}

/// Channels of a picture, as bits: bit 0 is red, bit 3 is alpha.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Channels(u8);

impl Channels {
    /// All four.
    pub const ALL: Self = Self(0xf);
}

impl FromStr for Channels {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bit = |letter: char| "RGBA".find(letter.to_ascii_uppercase()).map(|at| 1 << at);
        let bits = text.chars().map(bit).try_fold(0, |bits, bit| bit.map(|bit| bits | bit));
        bits.filter(|bits| *bits != 0)
            .map(Self)
            .ok_or_else(|| format!("`{text}` are no channels: some of the letters R, G, B and A"))
    }
}

/// The values that become black and white.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Range {
    /// As the format says: 0 to 1, or 0 to 255 for integers.
    Whole,
    /// The least and the greatest value of the chosen channels.
    Fit,
    /// A value that becomes black, and one that becomes white.
    From(f32, f32),
}

impl FromStr for Range {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || format!("`{text}` is no range: MIN..MAX, fit or whole");
        match text {
            "fit" => Ok(Self::Fit),
            "whole" => Ok(Self::Whole),
            _ => {
                let (low, high) = text.split_once("..").ok_or_else(wrong)?;
                let number = |text: &str| text.parse::<f32>().ok().filter(|value| value.is_finite());
                let (low, high) = number(low).zip(number(high)).ok_or_else(wrong)?;
                if low < high { Ok(Self::From(low, high)) } else { Err(wrong()) }
            }
        }
    }
}

/// The texels of one layer of a level.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Texels {
    /// Columns and rows.
    pub size: [u32; 2],
    /// The type of the components.
    pub ty: Type,
    /// x, y, z and w of each texel, swizzled: floats or integers, as bits.
    pub values: Vec<[u32; 4]>,
}

/// The reason why a layer cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoTexels {
    /// The texture unit does not support the texture.
    #[error("{0}")]
    Unsupported(String),
    /// The level (columns, rows) has too many texels.
    #[error("a level of {0}x{1} texels is too large")]
    Size(u32, u32),
    /// The work budget of the run is used up.
    #[error("the run was cut off before the texture was read")]
    NoBudget,
}

impl Texture {
    /// Columns and rows of `level`.
    pub fn level_size(&self, level: u32) -> [u32; 2] {
        [self.width, self.height].map(|side| (side >> level.min(31)).max(1))
    }

    /// The texels of `layer` (a face of a cube, a slice) of `level`. Texels of sRGB formats are returned as
    /// stored, since pictures hold sRGB.
    ///
    /// # Errors
    /// The call fails if the texture is not supported or too large, or if the budget is used up.
    pub fn texels(&self, level: u32, layer: u32, gpu: &mut Gpu) -> Result<Texels, NoTexels> {
        self.part(Part { level, layer, sample: 0 }, gpu)
    }

    /// The texels of one sample, as [`Texture::texels`].
    ///
    /// # Errors
    /// As [`Texture::texels`].
    pub fn part(&self, part: Part, gpu: &mut Gpu) -> Result<Texels, NoTexels> {
        let Part { level, .. } = part;
        let size @ [width, height] = self.level_size(level);
        let unsupported = || NoTexels::Unsupported(self.unsupported.clone().unwrap_or_default());
        let state = self.state.ok_or_else(unsupported)?;
        let ty = state.format.ty;
        let count = u64::from(width) * u64::from(height);
        if count > MAX_TEXELS {
            return Err(NoTexels::Size(width, height));
        }
        if !gpu.budget.take(Work::Texel, count + u64::from(height) * LANES as u64) {
            return Err(NoTexels::NoBudget);
        }
        let bank = bank(&state, gpu);
        let bound = bank.bind(gpu.sync().memory());
        let number = match ty {
            Type::Uint => Number::Uint,
            Type::Sint => Number::Sint,
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => Number::Float,
        };
        let mut values = Vec::with_capacity(count as usize);
        for y in 0..height {
            for x in (0..width).step_by(LANES) {
                let texels = fetch(number, part, [x, y], |sample, out| {
                    bound.sample(sample, Mask::MAX, out);
                });
                let lanes = LANES.min((width - x) as usize);
                values.extend((0..lanes).map(|lane| texels.map(|row| row[lane])));
            }
        }
        Ok(Texels { size, ty, values })
    }
}

/// The texture in slot 0, without decoding sRGB. Fetches take no sampler, and so no border colour.
fn bank(state: &TextureState, gpu: &mut Gpu) -> TextureBank {
    let stored = TextureState { transfer: Transfer::Linear, ..*state };
    let texture = tpl1::Texture::new(&stored, gpu.model);
    TextureBank::new([Ok(texture)], [], (BORDER, Address::new(0)), gpu.sync().memory())
}

/// Fetches the texels at x, x + 1, ... of row y of a layer and level.
fn fetch(
    number: Number,
    Part { level, layer, sample }: Part,
    [x, y]: [u32; 2],
    ask: impl FnOnce(&Sample<&Lanes>, &mut [Lanes; 4]),
) -> [Lanes; 4] {
    let x = Lanes(std::array::from_fn(|lane| x + lane as u32));
    let [y, layer, level, sample] = [y, layer, level, sample].map(Lanes::splat);
    let request = Sample {
        kind: SampleKind::Fetch,
        lod: Lod::Level(&level),
        number,
        components: 0xf,
        slots: Slots::Uniform { sampler: 0, texture: 0 },
        coords: Few::new(&[&x, &y]),
        layer: Some(&layer),
        reference: None,
        projector: None,
        offsets: None,
        sample: Some(&sample),
    };
    let mut out = [Lanes::ZERO; 4];
    ask(&request, &mut out);
    out
}

impl Texels {
    /// Whether the components are floats. Then an image of bytes loses precision.
    pub fn are_floats(&self) -> bool {
        self.ty == Type::Float
    }

    /// An image of bytes: floats from 0 to 1 become 0 to 255, integers are clamped.
    pub fn image(&self) -> Image {
        let byte = |bits: u32| match self.ty {
            Type::Uint => bits.min(255) as u8,
            Type::Sint => bits.cast_signed().clamp(0, 255) as u8,
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => {
                (f32::from_bits(bits).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
            }
        };
        let pixels = self.values.iter().flat_map(|texel| texel.map(byte)).collect();
        Image { size: self.size, kind: PixelType::Rgba8, pixels }
    }

    /// Whether [`Texels::image`] holds each value exactly.
    pub fn are_bytes(&self) -> bool {
        let is_byte = |bits: &u32| match self.ty {
            Type::Uint => *bits < 256,
            Type::Sint => (0..256).contains(&bits.cast_signed()),
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => {
                let value = f32::from_bits(*bits);
                ((value * 255.0).round() / 255.0).to_bits() == value.to_bits()
            }
        };
        self.values.iter().flatten().all(is_byte)
    }

    /// `float`, `uint` or `sint`: how the bits of the values are read.
    pub fn number(&self) -> &'static str {
        match self.ty {
            Type::Uint => "uint",
            Type::Sint => "sint",
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => "float",
        }
    }

    fn value(&self, bits: u32) -> f32 {
        match self.ty {
            Type::Uint => bits as f32,
            Type::Sint => bits.cast_signed() as f32,
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => f32::from_bits(bits),
        }
    }

    /// An image of bytes of the chosen channels, whose values from the least to the greatest of `range` become 0 to
    /// 255. The others are 0, and alpha is 255. One channel alone is grey.
    pub fn image_of(&self, Channels(chosen): Channels, range: Range) -> Image {
        let is_chosen = |channel: usize| chosen >> channel & 1 != 0;
        let (low, high) = self.bounds(chosen, range);
        let byte = |bits: u32| {
            let share = (self.value(bits) - low) / (high - low);
            (share.clamp(0.0, 1.0) * 255.0).round_ties_even() as u8
        };
        let alone = (chosen.count_ones() == 1).then(|| chosen.trailing_zeros() as usize);
        let pixel = |texel: &[u32; 4]| match alone {
            Some(channel) => [byte(texel[channel]), byte(texel[channel]), byte(texel[channel]), u8::MAX],
            None => std::array::from_fn(|channel| match (is_chosen(channel), channel) {
                (true, _) => byte(texel[channel]),
                (false, 3) => u8::MAX,
                (false, _) => 0,
            }),
        };
        Image {
            size: self.size,
            kind: PixelType::Rgba8,
            pixels: self.values.iter().flat_map(pixel).collect(),
        }
    }

    /// The least and the greatest value of `range`; a range of one value ends one above it.
    fn bounds(&self, chosen: u8, range: Range) -> (f32, f32) {
        let whole = if self.number() == "float" { 1.0 } else { 255.0 };
        match range {
            Range::Whole => (0.0, whole),
            Range::From(low, high) => (low, high),
            Range::Fit => {
                let chosen = |texel: &[u32; 4]| {
                    (0..4).filter(|channel| chosen >> channel & 1 != 0).map(|c| texel[c]).collect::<Vec<_>>()
                };
                let values = self.values.iter().flat_map(chosen).map(|bits| self.value(bits));
                let finite = values.filter(|value| value.is_finite());
                let (low, high) = finite.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), value| {
                    (low.min(value), high.max(value))
                });
                match low < high {
                    true => (low, high),
                    false if low.is_finite() => (low, low + 1.0),
                    false => (0.0, whole),
                }
            }
        }
    }

    /// The texel in column `x` of row `y`, as floats.
    pub fn floats(&self, x: u32, y: u32) -> [f32; 4] {
        let at = y as usize * self.size[0] as usize + x as usize;
        self.values.get(at).map_or([0.0; 4], |texel| texel.map(f32::from_bits))
    }
}
