//! Fills many pixels with the same value, as clears do.

use multiversion::multiversion;

use crate::draw::gras::raster::Rect;
use crate::draw::rb::cells::UniformBits;
use crate::draw::rb::pixels::store_pixel;
use crate::draw::rb::surface::PixelRows;
use crate::memory::little_endian;

/// New bits of pixels of a surface, whatever they contain: `value` in the bits of `mask`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    /// Index of the surface, with pixels of at most four bytes.
    pub surface: usize,
    /// The new bits, within the mask.
    pub value: u32,
    /// The bits that change.
    pub mask: u32,
}

impl Fill {
    /// Returns whether pixels with these common bits already have the value.
    fn is_in(self, UniformBits { bits, value }: UniformBits) -> bool {
        bits & self.mask == self.mask && (value ^ self.value) & self.mask == 0
    }
}

/// Fills all pixels of `area`, except cells known to have the value.
pub fn fill_rectangle(surfaces: &mut [PixelRows<'_>], area: Rect, fill: Fill) {
    let surface = &mut surfaces[fill.surface];
    let cells = surface.cells_at(area.x0..area.x1);
    let mut left = area.x0;
    for number in cells.clone() {
        if fill.is_in(surface.cells.known[number]) {
            let cell = surface.cell(number);
            fill_pixels(surface, Rect { x0: left, x1: cell.x0, ..area }, fill);
            left = cell.x1;
        }
    }
    fill_pixels(surface, Rect { x0: left, ..area }, fill);
    cells.for_each(|number| note_filled(surface, number, area, fill));
}

/// Updates the known contents of a cell after a fill of `area`.
fn note_filled(surface: &mut PixelRows<'_>, number: usize, area: Rect, fill: Fill) {
    let (cell, before) = (surface.cell(number), surface.cells.known[number]);
    if fill.is_in(before) {
        return;
    }
    let mut known = UniformBits { bits: before.bits & !fill.mask, ..before };
    if area.intersect(cell) == cell && matches!(surface.cpp(), 1 | 2 | 4) {
        known = UniformBits {
            bits: known.bits | fill.mask,
            value: before.value & !fill.mask | fill.value & fill.mask,
        };
        if known.pixel().is_none() {
            known = all_of(surface, cell).map_or(known, |value| UniformBits { bits: u32::MAX, value });
        }
    }
    surface.cells.known[number] = known;
}

/// Returns the common value of all pixels of `area`, of at most four bytes, if they are equal.
fn all_of(surface: &mut PixelRows<'_>, area: Rect) -> Option<u32> {
    let (cpp, width) = (surface.cpp(), (area.x1 - area.x0) as usize);
    let first = little_endian(surface.pixels(area.x0, area.y0, 1)?);
    let are_all = (area.y0..area.y1)
        .all(|y| surface.pixels(area.x0, y, width).is_some_and(|row| is_all(row, cpp, first)));
    are_all.then_some(first)
}

/// Returns whether all pixels of `row` are `pixel`.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn is_all(row: &[u8], cpp: usize, pixel: u32) -> bool {
    let differs = match cpp {
        4 => row.as_chunks().0.iter().fold(0, |all, bytes| all | (u32::from_le_bytes(*bytes) ^ pixel)),
        2 => row
            .as_chunks()
            .0
            .iter()
            .fold(0, |all, bytes| all | (u16::from_le_bytes(*bytes) ^ pixel as u16))
            .into(),
        _ => row.iter().fold(0, |all, byte| all | (byte ^ pixel as u8)).into(),
    };
    differs == 0
}

fn fill_pixels(surface: &mut PixelRows<'_>, area: Rect, fill: Fill) {
    let cpp = surface.cpp();
    let width = (area.x1 - area.x0).max(0) as usize;
    if width == 0 {
        return;
    }
    for y in area.y0..area.y1 {
        match surface.pixels(area.x0, y, width) {
            Some(row) => fill_row(row, cpp, fill),
            // The row is partly outside. Fill the part inside.
            None => {
                for x in area.x0..area.x1 {
                    if let Some(pixel) = surface.pixels(x, y, 1) {
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

/// Writes one dword to the pixels of `mask` in the 8x4 block at (x, y), row by row.
pub fn fill_rows(surface: &mut PixelRows<'_>, [x, y]: [i32; 2], mask: u32, word: u32) {
    for row in 0..4i32 {
        let bits = (mask >> (8 * row)) & 0xff;
        match surface.pixels(x, y + row, 8) {
            Some(bytes) if bits == 0xff => {
                bytes.as_chunks_mut().0.iter_mut().for_each(|to| *to = word.to_le_bytes());
            }
            _ => {
                for i in (0..8).filter(|i| bits & (1 << i) != 0) {
                    store_pixel(surface, x + i, y + row, word);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::rb::cells::Cells;

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
            let mut surfaces = [PixelRows::new(&mut bytes, 4 * cpp as u32, cpp as u32, [0, 0])];
            fill_rectangle(&mut surfaces, area, Fill { surface: 0, value: 0x2020_2020, mask: 0xf0f0_f0f0 });
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
            Fill { surface: 0, value: 1, mask: u32::MAX },
        );
        assert_eq!(
            bytes.iter().filter(|byte| **byte == 1).count(),
            0,
            "columns 2 and 3 of row 1 do not exist"
        );
        fill_rectangle(
            &mut [PixelRows::new(&mut bytes, 16, 4, [0, 0])],
            Rect { x0: 1, ..area },
            Fill { surface: 0, value: 1, mask: u32::MAX },
        );
        assert_eq!(bytes[20], 1, "column 1 does");
    }

    /// A row of cells whose last one is incomplete.
    const KNOWN: Rect = Rect { x0: 5, y0: 0, x1: 97, y1: 20 };

    fn with_cells<'a>(bytes: &'a mut [u8], cpp: usize, known: &'a mut [UniformBits]) -> PixelRows<'a> {
        let mut rows = PixelRows::new(bytes, 100 * cpp as u32, cpp as u32, [0, 0]);
        rows.cells = Cells { known, columns: KNOWN.x0..KNOWN.x1, rows: KNOWN.y1 };
        rows
    }

    /// Compares fills and drawn pixels with and without cells.
    #[test]
    fn known_values_of_cells_match_their_pixels() {
        let mut seed = 1u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        for cpp in [1, 2, 4, 8] {
            let [mut bytes, mut plain] = [(); 2].map(|()| vec![0x11; 100 * 20 * cpp]);
            let mut known = [UniformBits::default(); 4];
            let mut times = 0;
            for _ in 0..3000 {
                let mask = [u32::MAX, u32::MAX, 0x00ff_ffff, 0xff00_0f0f][random(4) as usize];
                let value = [0x1111_1111, 0x3322_1100, 0xffff_ffff][random(3) as usize] & mask;
                let [x, y] = [KNOWN.x0 + random(92) as i32, random(20) as i32];
                let area = match random(3) {
                    0 => Rect { x1: x + 1 + random((KNOWN.x1 - x) as u32) as i32, x0: x, ..KNOWN },
                    1 => Rect { y0: y, ..KNOWN },
                    _ => KNOWN,
                };
                let is_fill = random(3) > 0;
                let mut rows = with_cells(&mut bytes, cpp, &mut known);
                let mut reference = PixelRows::new(&mut plain, 100 * cpp as u32, cpp as u32, [0, 0]);
                let fill = Fill { surface: 0, value, mask };
                if is_fill {
                    fill_rectangle(std::slice::from_mut(&mut rows), area, fill);
                    fill_rectangle(std::slice::from_mut(&mut reference), area, fill);
                } else {
                    for surface in [&mut rows, &mut reference] {
                        fill_row(surface.pixels(x, y, 1).expect("it is there"), cpp, fill);
                    }
                    rows.forget(x..x + 1, mask);
                }
                assert_eq!(bytes, plain, "{cpp} bytes");
                let mut rows = with_cells(&mut bytes, cpp, &mut known);
                for number in 0..4 {
                    let Some(pixel) = rows.known(number) else { continue };
                    times += 1;
                    let cell = rows.cell(number as usize);
                    let width = (cell.x1 - cell.x0) as usize;
                    for y in cell.y0..cell.y1 {
                        let row = rows.pixels(cell.x0, y, width).expect("it is there");
                        assert!(
                            row.chunks(cpp).all(|bytes| bytes == &pixel.to_le_bytes()[..cpp]),
                            "{cell:?}"
                        );
                    }
                }
            }
            assert_eq!(times > 1000, cpp <= 4, "{times} of {cpp} bytes");
        }
    }

    #[test]
    fn fills_skip_cells_that_already_have_the_value() {
        let (mut bytes, mut known) = (vec![0; 100 * 20 * 4], [UniformBits::default(); 4]);
        let fill = Fill { surface: 0, value: 0x0012_3456, mask: 0x00ff_ffff };
        fill_rectangle(&mut [with_cells(&mut bytes, 4, &mut known)], KNOWN, fill);
        assert_eq!(
            known,
            [UniformBits { bits: u32::MAX, value: 0x0012_3456 }; 4],
            "zeros in the other bits were found"
        );
        // Change the bytes without telling the cells.
        bytes.fill(7);
        fill_rectangle(&mut [with_cells(&mut bytes, 4, &mut known)], KNOWN, fill);
        assert!(bytes.iter().all(|byte| *byte == 7));
        let mut rows = with_cells(&mut bytes, 4, &mut known);
        rows.forget(32..33, u32::MAX);
        rows.forget(64..65, 1);
        fill_rectangle(&mut [rows], KNOWN, fill);
        let filled: Vec<usize> = (0..100).filter(|x| bytes[4 * x] == 0x56).collect();
        assert_eq!(filled, (32..96).collect::<Vec<_>>());
        assert_eq!(
            [known[1].value, known[2].value],
            [0x0712_3456, 0x0012_3456],
            "what is not known is looked at"
        );
    }
}
