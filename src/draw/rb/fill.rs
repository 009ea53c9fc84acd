//! The same value for many pixels: what clears look like.

use multiversion::multiversion;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::pixels::store_pixel;
use crate::draw::rb::surface::PixelRows;

/// What pixels of a plane become whatever they hold: `value` in the bits of `mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Index of the plane, of pixels of at most four bytes.
    pub plane: usize,
    /// The new bits, within the mask.
    pub value: u32,
    /// The bits that change.
    pub mask: u32,
}

/// Fills all pixels of `area`.
pub fn fill_rectangle(planes: &mut [PixelRows<'_>], area: Rect, fill: Fill) {
    let plane = &mut planes[fill.plane];
    let cpp = plane.cpp();
    let width = (area.x1 - area.x0).max(0) as usize;
    for y in area.y0..area.y1 {
        match plane.pixels(area.x0, y, width) {
            Some(row) => fill_row(row, cpp, fill),
            // Partly outside: what is inside counts.
            None => {
                for x in area.x0..area.x1 {
                    if let Some(pixel) = plane.pixels(x, y, 1) {
                        fill_row(pixel, cpp, fill);
                    }
                }
            }
        }
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn fill_row(row: &mut [u8], cpp: usize, fill: Fill) {
    let Fill { value, mask, .. } = fill;
    match (cpp, mask) {
        (4, u32::MAX) => row.as_chunks_mut().0.iter_mut().for_each(|pixel| *pixel = value.to_le_bytes()),
        (4, _) => {
            for pixel in row.as_chunks_mut().0 {
                *pixel = (u32::from_le_bytes(*pixel) & !mask | value).to_le_bytes();
            }
        }
        (2, _) => {
            for pixel in row.as_chunks_mut().0 {
                *pixel = (u16::from_le_bytes(*pixel) & !mask as u16 | value as u16).to_le_bytes();
            }
        }
        _ => row.iter_mut().for_each(|pixel| *pixel = *pixel & !mask as u8 | value as u8),
    }
}

/// Puts one dword into the pixels of `mask` among the 8x4 at (x, y), row by row.
pub fn fill_rows(plane: &mut PixelRows<'_>, [x, y]: [i32; 2], mask: u32, word: u32) {
    for row in 0..4i32 {
        let bits = (mask >> (8 * row)) & 0xff;
        match plane.pixels(x, y + row, 8) {
            Some(bytes) if bits == 0xff => {
                bytes.as_chunks_mut().0.iter_mut().for_each(|to| *to = word.to_le_bytes());
            }
            _ => {
                for i in (0..8).filter(|i| bits & (1 << i) != 0) {
                    store_pixel(plane, x + i, y + row, word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fill_leaves_its_surroundings() {
        let mut bytes = [0; 8 * 4 * 4];
        fill_rows(&mut PixelRows::new(&mut bytes, 32, 4, [0, 0]), [0, 0], 0x00ff_0001, 7);
        let filled: Vec<usize> = (0..32).filter(|i| bytes[4 * i] == 7).collect();
        assert_eq!(filled, [0, 16, 17, 18, 19, 20, 21, 22, 23]);
    }

    #[test]
    fn a_rectangle_changes_the_bits_of_its_mask_in_every_size_of_pixel() {
        let area = Rect { x0: 1, y0: 1, x1: 3, y1: 9 };
        for cpp in [1usize, 2, 4] {
            let mut bytes = vec![0x11; 4 * 3 * cpp];
            let mut planes = [PixelRows::new(&mut bytes, 4 * cpp as u32, cpp as u32, [0, 0])];
            fill_rectangle(&mut planes, area, Fill { plane: 0, value: 0x2020_2020, mask: 0xf0f0_f0f0 });
            let changed: Vec<usize> =
                (0..12).filter(|i| bytes[i * cpp..][..cpp] == [0x21; 4][..cpp]).collect();
            assert_eq!(changed, [5, 6, 9, 10], "{cpp} bytes");
            assert_eq!(bytes.iter().filter(|byte| **byte == 0x11).count(), 8 * cpp);
        }
    }

    #[test]
    fn a_rectangle_that_ends_beyond_the_plane_is_filled_where_there_is_memory() {
        let mut bytes = [0; 4 * 6];
        let area = Rect { x0: 2, y0: 1, x1: 4, y1: 2 };
        fill_rectangle(
            &mut [PixelRows::new(&mut bytes, 16, 4, [0, 0])],
            area,
            Fill { plane: 0, value: 1, mask: u32::MAX },
        );
        assert_eq!(
            bytes.iter().filter(|byte| **byte == 1).count(),
            0,
            "columns 2 and 3 of row 1 do not exist"
        );
        fill_rectangle(
            &mut [PixelRows::new(&mut bytes, 16, 4, [0, 0])],
            Rect { x0: 1, ..area },
            Fill { plane: 0, value: 1, mask: u32::MAX },
        );
        assert_eq!(bytes[20], 1, "column 1 does");
    }
}
