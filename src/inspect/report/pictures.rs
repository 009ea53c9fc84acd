//! Encodes the pictures of a page as PNG in base64, cropped where possible.

use super::frame::Patch;
use super::pack::{base64, encoded};
use super::room::{DataKind, Room};
use crate::describe::Tile;
use crate::describe::canvas::Image;
use a4emu_gpu::draw::fs::reasons::Reasons;
use a4emu_gpu::picture;

/// Encodes the picture as PNG in base64, if there is room for it.
pub fn png(image: &Image, room: &mut Room, draw: u32) -> Option<String> {
    if !room.asked(DataKind::Pictures, draw) {
        return None;
    }
    let bytes = encoded(image)?;
    room.take(DataKind::Pictures, bytes.len(), draw).then(|| base64(&bytes))
}

/// Converts a picture to RGBA with four bytes a pixel; grey becomes equal red, green and blue.
pub fn rgba(image: Image) -> Image {
    let grey = |value: u8| [value, value, value, u8::MAX];
    let pixels = match image.kind {
        picture::PixelType::Rgba8 => return image,
        picture::PixelType::Grey16 => image.pixels.chunks_exact(2).flat_map(|pixel| grey(pixel[0])).collect(),
        picture::PixelType::Grey8 => image.pixels.into_iter().flat_map(grey).collect(),
    };
    Image { kind: picture::PixelType::Rgba8, pixels, ..image }
}

/// Makes a patch of `image` with the pixels of `area`.
pub fn patch(image: &Image, area: Tile, room: &mut Room, draw: u32) -> Option<Patch> {
    let png = png(image, room, draw)?;
    Some(Patch { x: area.x, y: area.y, w: area.width, h: area.height, png })
}

/// Makes a patch of the non-empty rectangle of `reasons`, moved by `origin`.
pub fn reasons(reasons: &Reasons, origin: [u32; 2], room: &mut Room, draw: u32) -> Option<Patch> {
    let touched = reasons.touched();
    let (above, bits) = (touched.start, reasons.bits_of(touched));
    let across = usize::try_from(reasons.area().x1 - reasons.area().x0).ok().filter(|across| *across > 0)?;
    let rows: Vec<&[u8]> = bits.chunks_exact(across).collect();
    let is_noted = |row: &&[u8]| row.iter().any(|bits| *bits != 0);
    let (top, bottom) = (rows.iter().position(is_noted)?, rows.iter().rposition(is_noted)?);
    let rows = &rows[top..=bottom];
    let first = |row: &&[u8]| row.iter().position(|bits| *bits != 0);
    let last = |row: &&[u8]| row.iter().rposition(|bits| *bits != 0);
    let (left, right) = (rows.iter().filter_map(first).min()?, rows.iter().filter_map(last).max()?);
    let pixels: Vec<u8> = rows.iter().flat_map(|row| row[left..=right].iter().copied()).collect();
    let [width, height] = [right + 1 - left, rows.len()].map(|side| side as u32);
    let at = |from: i32, by: usize, origin: u32| (from.max(0) as u32) + by as u32 + origin;
    let area = Tile {
        x: at(reasons.area().x0, left, origin[0]),
        y: at(reasons.area().y0, above + top, origin[1]),
        width,
        height,
    };
    patch(&Image { size: [width, height], kind: picture::PixelType::Grey8, pixels }, area, room, draw)
}
