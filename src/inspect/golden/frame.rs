//! Compares the frame of a case with `frame.png`, pixel by pixel.

use std::fs::File;
use std::io::BufReader;

use anyhow::{Context, ensure};

use a4emu_gpu::picture::{Picture, PixelType};
use a4emu_gpu::settled::Synced;
use a4emu_support::out_file::OutFile;
use serde::Deserialize;

/// File name of the last rendered colour surface.
pub const FRAME: &str = "frame.png";

/// Channels of a pixel.
const CHANNELS: usize = 4;

/// Most bytes of a picture that [`Frame::read`] reads.
const MAX_BYTES: usize = 1 << 28;

/// How far a frame may differ from its golden picture.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tolerance {
    /// Allowed difference of a channel, in steps of 255.
    #[serde(default)]
    pub channel: u8,
    /// Number of pixels that may exceed `channel`.
    #[serde(default)]
    pub pixels: u64,
}

/// An RGBA picture, in the row order of memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Width in pixels.
    pub width: u32,
    /// Height in pixels.
    pub height: u32,
    /// Four bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Frame {
    /// The last rendered colour surface, if there is one and it makes a picture.
    pub fn of(gpu: Synced<'_>) -> Option<Self> {
        let picture = Picture::of(gpu.pipeline.surfaces.last_color()?, gpu.memory()).ok()?;
        let [width, height] = picture.size();
        (picture.kind() == PixelType::Rgba8).then(|| Self { width, height, pixels: picture.pixels() })
    }

    /// Writes the picture as PNG.
    ///
    /// # Errors
    /// The call fails if `out` cannot be written.
    pub fn write(&self, out: &mut OutFile) -> anyhow::Result<()> {
        let mut encoder = png::Encoder::new(out, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header()?;
        writer.write_image_data(&self.pixels)?;
        Ok(writer.finish()?)
    }

    /// Reads a picture.
    ///
    /// # Errors
    /// The call fails if `file` is no 8-bit RGBA PNG of at most [`MAX_BYTES`].
    pub fn read(file: File) -> anyhow::Result<Self> {
        let mut reader = png::Decoder::new(BufReader::new(file)).read_info()?;
        let info = reader.info();
        let (width, height) = (info.width, info.height);
        let rgba = (info.color_type, info.bit_depth) == (png::ColorType::Rgba, png::BitDepth::Eight);
        ensure!(rgba, "it is not 8-bit RGBA");
        let bytes = reader.output_buffer_size().filter(|bytes| *bytes <= MAX_BYTES).context("too large")?;
        let mut pixels = vec![0; bytes];
        reader.next_frame(&mut pixels)?;
        Ok(Self { width, height, pixels })
    }

    /// A picture that is white where `other` differs, and black elsewhere. `None` if the sizes differ.
    pub fn mask(&self, other: &Self) -> Option<Self> {
        let is_same = (self.width, self.height) == (other.width, other.height);
        let pairs = self.pixels.chunks_exact(CHANNELS).zip(other.pixels.chunks_exact(CHANNELS));
        let pixels = pairs.flat_map(|(old, new)| if old == new { [0, 0, 0, 0xff] } else { [0xff; CHANNELS] });
        is_same.then(|| Self { pixels: pixels.collect(), ..*self })
    }

    /// Describes how the picture differs from the one in `golden` by more than `tolerance`.
    ///
    /// # Errors
    /// The call fails if `golden` is no 8-bit RGBA PNG.
    pub fn against(&self, golden: File, tolerance: Tolerance) -> anyhow::Result<Option<String>> {
        let mut reader = png::Decoder::new(BufReader::new(golden)).read_info()?;
        let info = reader.info();
        let (width, height) = (info.width, info.height);
        let rgba = (info.color_type, info.bit_depth) == (png::ColorType::Rgba, png::BitDepth::Eight);
        ensure!(rgba, "it is not 8-bit RGBA");
        // The file's header could request any amount of memory. So only a picture of the same size is
        // decoded.
        if (width, height) != (self.width, self.height) {
            return Ok(Some(format!("{FRAME}: {width}x{height} -> {}x{}", self.width, self.height)));
        }
        let mut pixels = vec![0; reader.output_buffer_size().context("too large")?];
        reader.next_frame(&mut pixels)?;
        Ok(self.differences(&pixels, tolerance))
    }

    fn differences(&self, golden: &[u8], tolerance: Tolerance) -> Option<String> {
        let pixels = golden.chunks_exact(CHANNELS).zip(self.pixels.chunks_exact(CHANNELS));
        let distances: Vec<u8> = pixels.map(|(old, new)| distance(old, new)).collect();
        let off = |distance: &&u8| **distance > tolerance.channel;
        let count = distances.iter().filter(off).count() as u64;
        if count <= tolerance.pixels {
            return None;
        }
        let first = distances.iter().position(|distance| off(&distance)).unwrap_or(0) as u32;
        let worst = distances.iter().max().copied().unwrap_or(0);
        let (x, y) = (first % self.width, first / self.width);
        Some(format!("{FRAME}: {count} pixels are off by up to {worst} of 255, the first at {x}, {y}"))
    }
}

/// The greatest difference of a channel.
fn distance(old: &[u8], new: &[u8]) -> u8 {
    old.iter().zip(new).map(|(old, new)| old.abs_diff(*new)).max().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use std::io::{Seek, Write};

    use super::*;

    /// The header is enough: the file has no pixels after it.
    #[test]
    fn a_golden_picture_of_another_size_is_not_decoded() {
        let mut header = Vec::new();
        let mut encoder = png::Encoder::new(&mut header, 60_000, 60_000);
        encoder.set_color(png::ColorType::Rgba);
        drop(encoder.write_header().unwrap());
        let idat = header.windows(4).position(|bytes| bytes == b"IEND").unwrap();
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&header[..idat - 4]).unwrap();
        file.write_all(&[0, 0, 0, 9, b'I', b'D', b'A', b'T']).unwrap();
        file.rewind().unwrap();
        let frame = Frame { width: 1, height: 1, pixels: vec![0; 4] };
        let said = frame.against(file, Tolerance::default()).unwrap();
        assert_eq!(said.as_deref(), Some("frame.png: 60000x60000 -> 1x1"));
    }
}
