//! Bytes, pictures and JSON in the form that the page holds.

use std::io::Write;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::DeflateEncoder;

use crate::describe::canvas::Image;

/// Encodes bytes as base64.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

/// JSON as the page holds it: base64 of raw deflate.
///
/// # Errors
/// The call fails if the encoder does.
pub fn packed(json: &[u8]) -> anyhow::Result<String> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(json)?;
    Ok(base64(&encoder.finish()?))
}

/// Encodes the picture as PNG with fast compression.
pub fn encoded(image: &Image) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut encoder = image.kind.encoder(&mut bytes, image.size);
    encoder.set_compression(png::Compression::Fast);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(&image.pixels).ok()?;
    writer.finish().ok()?;
    Some(bytes)
}
