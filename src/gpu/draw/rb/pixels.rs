//! Loads and stores 32 pixels of a surface at once, as words.

#[cfg(target_arch = "x86_64")]
pub(super) mod avx512;

use multiversion::multiversion;
use multiversion::target::match_target;

use crate::draw::gras::quad::{Quads, quads};
use crate::draw::rb::depth::{Words, select};
use crate::draw::rb::surface::{DwordQuads, Dwords, PixelRows};
use a4emu_shader::Lanes;

/// 32 pixels in an order defined by the type. Masks have one bit per pixel.
pub trait Pixels {
    /// Returns the words of the pixels, of at most four bytes. Words outside `mask` are undefined, and words
    /// outside the surface are zero.
    fn load(&self, surface: &mut PixelRows<'_>, mask: u32) -> Lanes;

    /// Stores the words of `mask`. May also store the others as [`Pixels::load`] returned them, which changes
    /// nothing.
    fn store(&self, surface: &mut PixelRows<'_>, mask: u32, words: &Words);
}

/// An 8x4 block in row order, with the position of its first pixel.
#[derive(Clone, Copy, Debug)]
pub struct Rows(pub [i32; 2]);

impl Pixels for Rows {
    fn load(&self, surface: &mut PixelRows<'_>, mask: u32) -> Lanes {
        let mut out = Lanes::ZERO;
        if let Some(mut rows) = surface.dwords::<8, 4>(self.0[0], self.0[1]) {
            rows.load(&mut out);
            return out;
        }
        self.each(mask, |x, y, row, _| {
            let lanes = &mut out[row..][..8];
            match (surface.cpp(), surface.pixels(x, y, 8)) {
                (4, Some(bytes)) => words_of(bytes, lanes),
                (2, Some(bytes)) => {
                    for (lane, pair) in lanes.iter_mut().zip(bytes.as_chunks().0) {
                        *lane = u32::from(u16::from_le_bytes(*pair));
                    }
                }
                _ => (0..8).for_each(|i| lanes[i as usize] = load_pixel(surface, x + i, y)),
            }
        });
        out
    }

    fn store(&self, surface: &mut PixelRows<'_>, mask: u32, words: &Words) {
        if mask == u32::MAX
            && let Some(mut rows) = surface.dwords::<8, 4>(self.0[0], self.0[1])
        {
            return rows.store(words);
        }
        self.each(mask, |x, y, row, bits| {
            let lanes = &words[row..][..8];
            match (surface.cpp(), surface.pixels(x, y, 8)) {
                (4, Some(bytes)) => bytes_of(lanes, bytes),
                _ => {
                    let covered = (0..8).filter(|i| bits & (1 << i) != 0);
                    covered.for_each(|i| store_pixel(surface, x + i, y, lanes[i as usize]));
                }
            }
        });
    }
}

impl Rows {
    /// Calls `f` with position, first lane and covered pixels of each row of `mask`.
    #[inline(always)]
    fn each(&self, mask: u32, mut f: impl FnMut(i32, i32, usize, u32)) {
        let [x, y] = self.0;
        for row in 0..4 {
            let bits = (mask >> (8 * row)) & 0xff;
            if bits != 0 {
                f(x, y + row, 8 * row as usize, bits);
            }
        }
    }
}

impl Pixels for Quads<'_> {
    fn load(&self, surface: &mut PixelRows<'_>, mask: u32) -> Lanes {
        let mut out = Lanes::ZERO;
        if surface.cpp() != 4 {
            self.each_pixel(mask, |lane, x, y| out[lane] = load_pixel(surface, x, y));
            return out;
        }
        if mask == u32::MAX
            && let Some(at) = self.block()
        {
            return Lanes(in_quads(&Rows(at).load(surface, u32::MAX)));
        }
        if let Some(mut quads) = surface.dword_quads(self, mask) {
            return load_quads(&mut quads);
        }
        self.each_pixel(mask, |lane, x, y| out[lane] = load_pixel(surface, x, y));
        out
    }

    fn store(&self, surface: &mut PixelRows<'_>, mask: u32, words: &Words) {
        if surface.cpp() != 4 {
            return self.each_pixel(mask, |lane, x, y| store_pixel(surface, x, y, words[lane]));
        }
        if mask == u32::MAX
            && let Some(at) = self.block()
        {
            return Rows(at).store(surface, mask, &in_rows(words));
        }
        match surface.dword_quads(self, mask) {
            Some(mut quads) => store_quads(&mut quads, mask, words),
            None => self.each_pixel(mask, |lane, x, y| store_pixel(surface, x, y, words[lane])),
        }
    }
}

/// Loads several 8x4 blocks in quad order, each from its first pixel. Pixels outside the surface are zero.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn load_blocks<'l>(surface: &mut PixelRows<'_>, blocks: impl Iterator<Item = ([i32; 2], &'l mut Lanes)>) {
    for ([x, y], to) in blocks {
        let Some(mut rows) = surface.dwords::<8, 4>(x, y) else {
            *to = Quads::new(&quads(0, [x, y], u32::MAX)).load(surface, u32::MAX);
            continue;
        };
        match_target! {
            "x86_64+avx512f+avx512dq" => to.0 = avx512::load(&mut rows),
            _ => {
                let mut by_row = [0; 32];
                rows.load(&mut by_row);
                to.0 = in_quads(&by_row);
            }
        }
    }
}

/// Stores the masked pixels of several 8x4 blocks in quad order, each from its first pixel.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
pub fn store_blocks<'l>(
    surface: &mut PixelRows<'_>,
    blocks: impl Iterator<Item = ([i32; 2], u32, &'l Lanes)>,
) {
    for ([x, y], mask, words) in blocks {
        let Some(mut rows) = surface.dwords::<8, 4>(x, y) else {
            Quads::new(&quads(0, [x, y], u32::MAX)).store(surface, mask, words);
            continue;
        };
        match_target! {
            "x86_64+avx512f+avx512dq" => avx512::store(&mut rows, mask, words),
            _ => store_by_loops(&mut rows, mask, words),
        }
    }
}

/// Stores the pixels of an 8x4 block that are in `mask`, in quad order.
#[inline(always)]
pub(super) fn store_by_loops(rows: &mut Dwords<'_, 8>, mask: u32, words: &Words) {
    if mask == u32::MAX {
        return rows.store(&in_rows(words));
    }
    let mut old = [0; 32];
    rows.load(&mut old);
    let mut pixels = in_quads(&old);
    select(&mut pixels, words, mask);
    rows.store(&in_rows(&pixels));
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn load_quads(quads: &mut DwordQuads<'_>) -> Lanes {
    match_target! {
        "x86_64+avx512f+avx512dq" => {
            Lanes(bytemuck::cast([avx512::load_quads(quads, 0), avx512::load_quads(quads, 1)]))
        }
        _ => Lanes(quads.load()),
    }
}

#[multiversion(targets("x86_64+avx512f+avx512bw+avx512dq+avx512vl", "x86_64+avx2"))]
fn store_quads(quads: &mut DwordQuads<'_>, mask: u32, words: &Words) {
    quads.store(mask, words);
}

/// Converts an 8x4 block from row order to quad order.
#[inline(always)]
pub(super) fn in_quads(rows: &Words) -> Words {
    let (pairs, mut out) = (rows.as_chunks::<2>().0, [0; 32]);
    for (at, pair) in out.as_chunks_mut::<2>().0.iter_mut().enumerate() {
        *pair = pairs[pair_in_rows(at)];
    }
    out
}

/// Converts an 8x4 block from quad order to row order.
#[inline(always)]
pub(super) fn in_rows(quads: &Words) -> Words {
    let (pairs, mut out) = (quads.as_chunks::<2>().0, [0; 32]);
    let rows = out.as_chunks_mut::<2>().0;
    for (at, pair) in pairs.iter().enumerate() {
        rows[pair_in_rows(at)] = *pair;
    }
    out
}

/// Returns the index in row order of the pixel pair in row `at % 2` of quad `at / 2`.
#[inline(always)]
fn pair_in_rows(at: usize) -> usize {
    let (quad, row) = (at / 2, at % 2);
    4 * (2 * (quad / 4) + row) + quad % 4
}

#[inline(always)]
fn words_of(bytes: &[u8], words: &mut [u32]) {
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
}

#[inline(always)]
fn bytes_of(words: &[u32], bytes: &mut [u8]) {
    for (bytes, word) in bytes.as_chunks_mut().0.iter_mut().zip(words) {
        *bytes = word.to_le_bytes();
    }
}

/// Loads one pixel of at most four bytes; 0 outside the surface.
fn load_pixel(surface: &mut PixelRows<'_>, x: i32, y: i32) -> u32 {
    let mut word = [0; 4];
    if let Some(bytes) = surface.pixels(x, y, 1) {
        let len = bytes.len().min(4);
        word[..len].copy_from_slice(&bytes[..len]);
    }
    u32::from_le_bytes(word)
}

/// Stores one pixel of at most four bytes; does nothing outside the surface.
pub fn store_pixel(surface: &mut PixelRows<'_>, x: i32, y: i32, word: u32) {
    if let Some(bytes) = surface.pixels(x, y, 1) {
        let len = bytes.len().min(4);
        bytes[..len].copy_from_slice(&word.to_le_bytes()[..len]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draw::gras::quad::Quad;

    #[test]
    fn rows_and_quads_are_the_same_pixels() {
        let quads = quads(0, [8, 4], u32::MAX);
        for cpp in [1u32, 2, 4] {
            let first: Vec<u8> = (0..16 * 8 * cpp).map(|i| (i * 37 % 251) as u8).collect();
            let mut bytes = first.clone();
            let mut surface = PixelRows::new(&mut bytes, 16 * cpp, cpp, [0, 0]);
            let rows = Rows([8, 4]).load(&mut surface, u32::MAX);
            let of_block = Quads::of_block(&quads, [8, 4]);
            let by_quads = of_block.load(&mut surface, u32::MAX);
            assert_eq!(by_quads, Quads::new(&quads).load(&mut surface, u32::MAX), "{cpp} bytes");
            for (lane, word) in by_quads.iter().enumerate() {
                let (quad, corner) = (lane / 4, lane % 4);
                let at = 8 * (2 * (quad / 4) + corner / 2) + 2 * (quad % 4) + corner % 2;
                assert_eq!(*word, rows[at], "{cpp} bytes, lane {lane}");
            }
            Rows([8, 4]).store(&mut surface, u32::MAX, &rows.map(|word| !word));
            of_block.store(&mut surface, u32::MAX, &by_quads);
            assert_eq!(bytes, first, "{cpp} bytes");
        }
    }

    #[test]
    fn only_covered_quads_are_stored_and_nothing_outside_the_plane() {
        let mut bytes = [9; 4 * 4 * 2];
        let mut surface = PixelRows::new(&mut bytes, 16, 4, [0, 0]);
        let quads = [(2, 0), (2, 2)].map(|(x, y)| Quad { x, y, mask: 15, primitive: 0 });
        Quads::new(&quads).store(&mut surface, 0xf6, &[0; 32]);
        let changed: Vec<usize> = (0..bytes.len()).filter(|i| bytes[*i] != 9).collect();
        assert_eq!(changed, [12, 13, 14, 15, 24, 25, 26, 27]);
    }
}
