//! Compares two pictures of a surface.

use std::fs::File;
use std::path::Path;

use anyhow::Context;

use crate::corpus::log;
use crate::corpus::row::{Played, Row, Surface};
use a4emu_gpu::picture::PixelType;
use a4emu_inspect::describe::canvas::Image;
use a4emu_support::folders::read_bytes;

/// Maximum size of a picture's file, and of its pixels, in bytes.
const MAX_BYTES: usize = 64 << 20;

/// Number of channels per pixel.
const CHANNELS: usize = 4;

/// The surfaces that differ, with the hashes of both pictures.
pub fn differing(a: &Row, b: &Row) -> Vec<(String, [Option<String>; 2])> {
    let surfaces = [a, b].map(|row| row.played.as_ref().map_or(&[][..], |Played { surfaces, .. }| surfaces));
    let pairs =
        (0..surfaces[0].len().max(surfaces[1].len())).map(|index| surfaces.map(|list| list.get(index)));
    let hash = |surface: &Surface| surface.hash.clone();
    let differs = |pair: &[Option<&Surface>; 2]| pair[0].and_then(hash) != pair[1].and_then(hash);
    let name = |surface: &Surface| {
        let Surface { address, width, height, format, .. } = surface;
        format!("{width}x{height} {format} at {address:#010x}")
    };
    let pair = |pair: [Option<&Surface>; 2]| {
        let first = pair[0].or(pair[1]).map_or_else(String::new, name);
        (first, pair.map(|surface| surface.and_then(hash)))
    };
    pairs.filter(differs).map(pair).collect()
}

/// A picture that a run kept: its file and its pixels.
pub struct Kept {
    /// The bytes of the PNG file.
    pub png: Vec<u8>,
    size: [u32; 2],
    /// The pixels, four bytes each.
    pixels: Vec<u8>,
}

impl Kept {
    /// The picture called `hash` of the run in `folder`; none if it was not kept.
    ///
    /// # Errors
    /// The call fails if the picture is damaged or too large.
    pub fn read(folder: &Path, hash: &str) -> anyhow::Result<Option<Self>> {
        let Some(path) = log::picture(folder, hash) else { return Ok(None) };
        let kept = || Self::decode(read_bytes(File::open(&path)?, MAX_BYTES as u64)?);
        kept().with_context(|| format!("cannot read {}", path.display())).map(Some)
    }

    /// Decodes a PNG file.
    ///
    /// # Errors
    /// The call fails if it is damaged or too large.
    pub fn decode(png: Vec<u8>) -> anyhow::Result<Self> {
        let mut decoder = png::Decoder::new_with_limits(io(&png), png::Limits { bytes: MAX_BYTES });
        decoder
            .set_transformations(png::Transformations::normalize_to_color8() | png::Transformations::ALPHA);
        let mut reader = decoder.read_info()?;
        let mut pixels =
            vec![0; reader.output_buffer_size().filter(|bytes| *bytes <= MAX_BYTES).context("too large")?];
        let info = reader.next_frame(&mut pixels)?;
        pixels.truncate(info.buffer_size());
        if info.color_type == png::ColorType::GrayscaleAlpha {
            pixels =
                pixels.chunks_exact(2).flat_map(|pixel| [pixel[0], pixel[0], pixel[0], pixel[1]]).collect();
        }
        Ok(Self { png, size: [info.width, info.height], pixels })
    }

    /// The first pixel, by rows, that differs between two pictures of one size, with both values.
    pub fn first_difference(a: &Self, b: &Self) -> Option<([u32; 2], [[u8; CHANNELS]; 2])> {
        let [one, other] = [a, b].map(|kept| kept.pixels.as_chunks::<CHANNELS>().0);
        let index = one.iter().zip(other).position(|(one, other)| one != other)?;
        let width = a.size[0].max(1);
        let pixel = [index as u32 % width, index as u32 / width];
        (a.size == b.size).then_some((pixel, [one[index], other[index]]))
    }
}

fn io(png: &[u8]) -> std::io::Cursor<&[u8]> {
    std::io::Cursor::new(png)
}

/// The difference of two pictures.
pub struct Difference {
    /// A PNG of the difference: black where the pictures are equal, brighter where they differ more.
    pub png: Vec<u8>,
    /// Number of pixels that differ.
    pub pixels: usize,
    /// Greatest difference of a channel, from 0 to 255.
    pub largest: u8,
}

impl Difference {
    /// Compares two pictures; none if their sizes differ.
    ///
    /// # Errors
    /// The call fails if the PNG cannot be written.
    pub fn of(a: &Kept, b: &Kept) -> anyhow::Result<Option<Self>> {
        if a.size != b.size {
            return Ok(None);
        }
        let pairs = a.pixels.chunks_exact(CHANNELS).zip(b.pixels.chunks_exact(CHANNELS));
        let distance =
            |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max().unwrap_or(0);
        let distances: Vec<u8> = pairs.map(distance).collect();
        let pixels = distances.iter().filter(|distance| **distance > 0).count();
        let largest = distances.iter().copied().max().unwrap_or(0);
        // Makes also the smallest difference visible.
        let seen = distances.iter().map(|distance| if *distance > 0 { 64 + distance / 4 * 3 } else { 0 });
        let image = Image { size: a.size, kind: PixelType::Grey8, pixels: seen.collect() };
        let mut png = Vec::new();
        image.write_png(&mut png)?;
        Ok(Some(Self { png, pixels, largest }))
    }
}
