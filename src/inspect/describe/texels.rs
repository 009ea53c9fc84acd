//! Reads the texels of a texture, as the texture unit fetches them.

use a4emu_decoder::a4xx::regs::tex::TEX_CONST_0;

use super::canvas::Image;
use super::texture::Texture;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::a4xx::tpl1::bank;
use a4emu_gpu::budget::Work;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::PixelType;
use a4emu_shader::format::Type;
use a4emu_shader::{Few, LANES, Lanes, Lod, Mask, Number, Sample, SampleKind, Slots};

/// Maximum number of texels of a level and layer.
const MAX_TEXELS: u64 = 1 << 24;

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
    /// The type of its components, if the format is known.
    fn component_type(&self) -> Option<Type> {
        formats::texture(TEX_CONST_0(self.words[0]).FMT()).map(|format| format.ty)
    }

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
        let size @ [width, height] = self.level_size(level);
        let unsupported = || NoTexels::Unsupported(self.unsupported.clone().unwrap_or_default());
        let ty = self.component_type().filter(|_| self.unsupported.is_none()).ok_or_else(unsupported)?;
        let count = u64::from(width) * u64::from(height);
        if count > MAX_TEXELS {
            return Err(NoTexels::Size(width, height));
        }
        if !gpu.budget.take(Work::Texel, count + u64::from(height) * LANES as u64) {
            return Err(NoTexels::NoBudget);
        }
        let bank = bank(&[stored(self.words)], &[], 0, gpu.model, gpu.sync().memory());
        let bound = bank.bind(gpu.sync().memory());
        let number = match ty {
            Type::Uint => Number::Uint,
            Type::Sint => Number::Sint,
            Type::Unorm | Type::Snorm | Type::Float | Type::Fixed => Number::Float,
        };
        let mut values = Vec::with_capacity(count as usize);
        for y in 0..height {
            for x in (0..width).step_by(LANES) {
                let texels = fetch(number, [x, y, layer, level], |sample, out| {
                    bound.sample(sample, Mask::MAX, out);
                });
                let lanes = LANES.min((width - x) as usize);
                values.extend((0..lanes).map(|lane| texels.map(|row| row[lane])));
            }
        }
        Ok(Texels { size, ty, values })
    }
}

/// The descriptor without the bit that decodes sRGB.
fn stored(mut words: [u32; 8]) -> [u32; 8] {
    let srgb = TEX_CONST_0::FIELDS.iter().find(|field| field.name == "SRGB");
    words[0] = srgb.map_or(words[0], |field| field.insert(words[0], 0));
    words
}

/// Fetches the texels at x, x + 1, ... of row y of a layer and level.
fn fetch(
    number: Number,
    [x, y, layer, level]: [u32; 4],
    ask: impl FnOnce(&Sample<&Lanes>, &mut [Lanes; 4]),
) -> [Lanes; 4] {
    let x = Lanes(std::array::from_fn(|lane| x + lane as u32));
    let (y, layer, level) = (Lanes::splat(y), Lanes::splat(layer), Lanes::splat(level));
    let sample = Sample {
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
        sample: None,
    };
    let mut out = [Lanes::ZERO; 4];
    ask(&sample, &mut out);
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

    /// The texel in column `x` of row `y`, as floats.
    pub fn floats(&self, x: u32, y: u32) -> [f32; 4] {
        let at = y as usize * self.size[0] as usize + x as usize;
        self.values.get(at).map_or([0.0; 4], |texel| texel.map(f32::from_bits))
    }
}
