//! The picture of a surface in memory. Rows are made one at a time. So a picture takes no memory of its own,
//! even if a register gives a huge size.

use std::io::Write;

use xxhash_rust::xxh3::Xxh3;

use crate::ambient::hold;
use crate::draw::rb::depth::DepthFormat;
use crate::draw::rb::rendered::{Content, Surfaces, Written};
use crate::memory::Memory;
use a4emu_shader::format::arrangement::{Arrangement, resolved};
use a4emu_shader::format::{Codec, Format, Swap, Transfer};

/// Most bytes of a picture that is built as a whole. PNG compression is then several times faster.
const WHOLE: u64 = 1 << 26;

/// Pixel type of a picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PixelType {
    /// Four bytes: red, green, blue, alpha.
    Rgba8,
    /// A grey value of 16 bits, big-endian.
    Grey16,
    /// A grey value of 8 bits.
    Grey8,
}

/// Handling of alpha, which viewers show as transparency.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Alpha {
    /// Alpha is kept.
    #[default]
    Kept,
    /// All pixels become opaque.
    Opaque,
}

impl Alpha {
    /// Applies it to `pixels` of type `kind`.
    pub fn apply(self, kind: PixelType, pixels: &mut [u8]) {
        if self == Self::Opaque && kind == PixelType::Rgba8 {
            pixels.as_chunks_mut::<4>().0.iter_mut().for_each(|[_, _, _, alpha]| *alpha = u8::MAX);
        }
    }
}

impl PixelType {
    /// Bytes of a pixel.
    pub fn bytes(self) -> usize {
        match self {
            Self::Rgba8 => 4,
            Self::Grey16 => 2,
            Self::Grey8 => 1,
        }
    }

    /// A PNG encoder for such pixels, which writes to `out`.
    pub fn encoder<W: Write>(self, out: W, [width, height]: [u32; 2]) -> png::Encoder<'static, W> {
        let (color, depth) = match self {
            Self::Rgba8 => (png::ColorType::Rgba, png::BitDepth::Eight),
            Self::Grey16 => (png::ColorType::Grayscale, png::BitDepth::Sixteen),
            Self::Grey8 => (png::ColorType::Grayscale, png::BitDepth::Eight),
        };
        let mut encoder = png::Encoder::new(out, width, height);
        encoder.set_color(color);
        encoder.set_depth(depth);
        encoder
    }
}

/// Conversion of a surface's pixel to a picture's pixel.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Texel {
    /// Colour.
    Color(Codec),
    /// Depth, with or without stencil.
    Depth(DepthFormat),
    /// Stencil, after 24 bits of depth.
    PackedStencil,
    /// Stencil without depth.
    Stencil,
}

impl Texel {
    /// The conversion for a colour format. `None` if single pixels cannot be read.
    pub fn color(format: Format, swap: Swap) -> Option<Self> {
        Some(Self::Color(format.codec(swap, Transfer::Linear)?))
    }

    fn of(surface: &Written) -> Option<Self> {
        match surface.content {
            Content::Depth(format) => Some(Self::Depth(format.value)),
            Content::Color => Self::color(surface.format.value, surface.swap),
        }
    }

    /// Bytes of a pixel of the surface.
    pub fn bytes(&self) -> usize {
        match self {
            Self::Color(codec) => codec.bytes() as usize,
            Self::Depth(DepthFormat::Unorm16) => 2,
            Self::Depth(_) | Self::PackedStencil => 4,
            Self::Stencil => 1,
        }
    }

    /// Resolves the samples of a pixel to one: the average of colours, else the first sample.
    pub fn resolve(&self, samples: &[u8], out: &mut [u8]) {
        match self {
            Self::Color(codec) if samples.len() > out.len() => {
                codec.store(codec.encode(resolved(codec, samples)), out)
            }
            _ => out.copy_from_slice(&samples[..out.len()]),
        }
    }

    /// Fills `row` with the pixels from (x, y) on, each resolved. The surface has the given arrangement and
    /// pitch. `read` fetches bytes at an offset from the surface's first byte.
    pub fn gather(
        &self,
        arrangement: Arrangement,
        pitch: u32,
        [x, y]: [u32; 2],
        row: &mut [u8],
        mut read: impl FnMut(u64, &mut [u8]),
    ) {
        let Arrangement { samples, tiling } = arrangement;
        let cpp = self.bytes() as u32 * samples;
        if arrangement == Arrangement::PLAIN {
            return read(tiling.offset([x, y], pitch, cpp), row);
        }
        let mut pixel = vec![0; cpp as usize];
        for (x, out) in (x..).zip(row.chunks_exact_mut(self.bytes())) {
            pixel.fill(0);
            read(tiling.offset([x, y], pitch, cpp), &mut pixel);
            self.resolve(&pixel, out);
        }
    }

    /// The pixel type of the picture.
    pub fn kind(&self) -> PixelType {
        match self {
            Self::Color(_) => PixelType::Rgba8,
            Self::Depth(_) => PixelType::Grey16,
            Self::PackedStencil | Self::Stencil => PixelType::Grey8,
        }
    }

    /// Converts the pixel `texel` and appends it to `out`. Integers are cut to a byte, floats to 0..1.
    pub fn put(&self, texel: &[u8], out: &mut Vec<u8>) {
        match self {
            Self::Color(codec) => {
                let byte = |lane: u32| match codec.is_integer() {
                    true => lane.min(255) as u8,
                    false => (f32::from_bits(lane).clamp(0.0, 1.0) * 255.0).round_ties_even() as u8,
                };
                out.extend(codec.decode(codec.load(texel)).map(byte));
            }
            Self::Depth(format) => out.extend(grey(*format, texel).to_be_bytes()),
            Self::PackedStencil | Self::Stencil => out.extend(texel.last()),
        }
    }
}

fn grey(format: DepthFormat, texel: &[u8]) -> u16 {
    match (format, texel) {
        (DepthFormat::Unorm24Stencil8, &[_, low, high, _]) => u16::from_le_bytes([low, high]),
        (_, &[low, high]) => u16::from_le_bytes([low, high]),
        (_, &[a, b, c, d]) => (f32::from_le_bytes([a, b, c, d]).clamp(0.0, 1.0) * 65535.0).round() as u16,
        _ => 0,
    }
}

/// The frame of submit `submit`: the largest colour surface that it rendered, the last of equals.
pub fn frame(surfaces: &Surfaces, submit: u32) -> Option<&Written> {
    largest(surfaces.iter().filter(|it| it.submit == submit && it.content == Content::Color))
}

/// The largest of the rendered surfaces, the last of equals. It serves as the frame, as a capture does not
/// say which surface is presented.
pub fn largest<'s>(rendered: impl Iterator<Item = &'s Written>) -> Option<&'s Written> {
    rendered.max_by_key(|it| u64::from(it.width) * u64::from(it.height))
}

/// Reason why a surface has no picture.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPicture {
    /// The surface has no pixels, or its format has no pixel codec.
    #[error("pictures of such a surface are not supported")]
    Unsupported,
    /// No buffer holds any of its pixels.
    #[error("what was rendered is in no buffer of the capture")]
    Missing,
}

/// The picture of a surface, with rows in memory order.
pub struct Picture<'m> {
    memory: &'m Memory,
    surface: Written,
    texel: Texel,
    /// Number of rows, up to the last one that a buffer holds.
    height: u32,
    alpha: Alpha,
}

impl<'m> Picture<'m> {
    /// The picture of `surface`, up to its last row that a buffer holds.
    ///
    /// # Errors
    /// The surface has no picture.
    pub fn of(surface: &Written, memory: &'m Memory) -> Result<Self, NoPicture> {
        let texel = Texel::of(surface).ok_or(NoPicture::Unsupported)?;
        let mut picture =
            Self { memory, surface: *surface, texel, height: surface.height, alpha: Alpha::Kept };
        if picture.size().contains(&0) {
            return Err(NoPicture::Unsupported);
        }
        let last = (0..surface.height).rev().find(|y| picture.is_held(*y));
        picture.height = last.ok_or(NoPicture::Missing)? + 1;
        Ok(picture)
    }

    /// The picture, with `alpha` applied to its pixels.
    #[must_use]
    pub fn with_alpha(self, alpha: Alpha) -> Self {
        Self { alpha, ..self }
    }

    /// Width and height in pixels.
    pub fn size(&self) -> [u32; 2] {
        [self.surface.width, self.height]
    }

    /// The pixel type.
    pub fn kind(&self) -> PixelType {
        self.texel.kind()
    }

    fn row_bytes(&self) -> usize {
        self.surface.width as usize * self.texel.bytes()
    }

    /// Whether a buffer holds a part of row `y`, or of the tiles that contain the row.
    fn is_held(&self, y: u32) -> bool {
        let Arrangement { samples, tiling } = self.surface.arrangement;
        let first = u64::from(y - y % tiling.rows()) * u64::from(self.surface.pitch);
        let start = self.surface.address.get() + first;
        let row = self.row_bytes() as u64 * u64::from(samples);
        self.memory.holds_any(start, start + row * u64::from(tiling.rows()))
    }

    /// The conversion of the surface's pixels.
    pub fn texel(&self) -> Texel {
        self.texel
    }

    /// The bytes of row `y` in the surface's format, [`Texel::bytes`] for each pixel, samples resolved.
    /// Missing memory is zero.
    pub fn texels(&self, y: u32) -> Vec<u8> {
        let _control = hold();
        let mut texels = vec![0; self.row_bytes()];
        let Written { address, pitch, arrangement, .. } = self.surface;
        self.texel.gather(arrangement, pitch, [0, y], &mut texels, |at, bytes| {
            let _missing_is_zero = self.memory.read(address + at, bytes);
        });
        texels
    }

    /// Appends row `y` to `out`. Missing memory is black.
    fn row(&self, y: u32, out: &mut Vec<u8>) {
        let (_control, before) = (hold(), out.len());
        self.texels(y).chunks_exact(self.texel.bytes()).for_each(|texel| self.texel.put(texel, out));
        self.alpha.apply(self.kind(), &mut out[before..]);
    }

    /// All pixels, row by row.
    pub fn pixels(&self) -> Vec<u8> {
        let mut pixels = Vec::new();
        (0..self.height).for_each(|y| self.row(y, &mut pixels));
        pixels
    }

    /// Calls `take` with the pixels of each row. One row is in memory at a time.
    pub fn each_row(&self, mut take: impl FnMut(&[u8])) {
        let mut row = Vec::new();
        for y in 0..self.height {
            row.clear();
            self.row(y, &mut row);
            take(&row);
        }
    }

    /// A hash of its size, its kind and its pixels. Corpus runs store it.
    pub fn hash(&self) -> String {
        let [width, height] = self.size();
        let mut hash = Xxh3::new();
        hash.update(format!("{width}x{height} {:?}\n", self.kind()).as_bytes());
        self.each_row(|row| hash.update(row));
        format!("{:032x}", hash.digest128())
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// `out` cannot be written.
    pub fn write(&self, out: impl Write) -> anyhow::Result<()> {
        let [width, height] = self.size();
        let bytes = u64::from(width) * u64::from(height) * self.kind().bytes() as u64;
        let mut writer = self.kind().encoder(out, [width, height]).write_header()?;
        if bytes <= WHOLE {
            writer.write_image_data(&self.pixels())?;
            return Ok(writer.finish()?);
        }
        let mut rows = writer.stream_writer()?;
        let mut row = Vec::new();
        for y in 0..height {
            row.clear();
            self.row(y, &mut row);
            rows.write_all(&row)?;
        }
        rows.finish()?;
        Ok(writer.finish()?)
    }
}
