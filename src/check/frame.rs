//! The frame of a case against `frame.png`, pixel by pixel.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use anyhow::{Context, ensure};

use super::case::Tolerance;
use crate::draw::rb::rendered::Picture;
use crate::gpu::Gpu;

/// Golden file of the last colour surface rendered.
pub const FRAME: &str = "frame.png";

/// Channels of a pixel.
const CHANNELS: usize = 4;

/// An RGBA picture, rows as in memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Pixels in a row.
    pub width: u32,
    /// Rows.
    pub height: u32,
    /// Four bytes a pixel.
    pub pixels: Vec<u8>,
}

impl Frame {
    /// The last colour surface that was rendered, if there is one and it makes a picture.
    pub fn of(gpu: &Gpu) -> Option<Self> {
        let surface = gpu.pipeline.surfaces.last_color()?;
        match surface.picture(&gpu.mem)? {
            Picture::Rgba8(pixels) => Some(Self { width: surface.width, height: surface.height, pixels }),
            Picture::Grey16(_) => None,
        }
    }

    /// The picture in a file.
    ///
    /// # Errors
    /// When it is no 8-bit RGBA PNG.
    pub fn read(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot read {}", path.display());
        let file = BufReader::new(File::open(path).with_context(cannot)?);
        let mut reader = png::Decoder::new(file).read_info().with_context(cannot)?;
        let mut pixels = vec![0; reader.output_buffer_size().with_context(cannot)?];
        let info = reader.next_frame(&mut pixels).with_context(cannot)?;
        let rgba = (info.color_type, info.bit_depth) == (png::ColorType::Rgba, png::BitDepth::Eight);
        ensure!(rgba, "{} is not 8-bit RGBA", path.display());
        Ok(Self { width: info.width, height: info.height, pixels })
    }

    /// Writes the picture to a file.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> anyhow::Result<()> {
        let cannot = || format!("cannot write {}", path.display());
        let file = File::create(path).with_context(cannot)?;
        let mut encoder = png::Encoder::new(file, self.width, self.height);
        encoder.set_color(png::ColorType::Rgba);
        encoder.set_depth(png::BitDepth::Eight);
        let mut writer = encoder.write_header().with_context(cannot)?;
        writer.write_image_data(&self.pixels).with_context(cannot)?;
        writer.finish().with_context(cannot)
    }

    /// What is further off than `tolerance` allows, in words.
    pub fn against(&self, golden: &Self, tolerance: Tolerance) -> Option<String> {
        let sizes = [golden, self].map(|frame| format!("{}x{}", frame.width, frame.height));
        if sizes[0] != sizes[1] {
            return Some(format!("{FRAME}: {} -> {}", sizes[0], sizes[1]));
        }
        let pixels = golden.pixels.chunks_exact(CHANNELS).zip(self.pixels.chunks_exact(CHANNELS));
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

/// Largest difference of a channel.
fn distance(old: &[u8], new: &[u8]) -> u8 {
    old.iter().zip(new).map(|(old, new)| old.abs_diff(*new)).max().unwrap_or(0)
}
