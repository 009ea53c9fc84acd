//! Quads: 2x2 pixels, the unit of fragment shading.

use std::ops::Deref;

use bytemuck::{Pod, Zeroable};

/// Quads in a warp.
pub const QUADS: usize = 8;

/// A quad of one primitive. Bit 0 of the mask is the upper left pixel, bit 1 the upper right, bits 2 and 3
/// the ones below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct Quad {
    /// Screen column of the left pixels.
    pub x: i32,
    /// Screen row of the upper pixels.
    pub y: i32,
    /// Covered pixels.
    pub mask: u32,
    /// Index of the primitive.
    pub primitive: u32,
}

impl Quad {
    /// Calls `f` with number and position of the pixels in `bits`.
    pub fn covered(&self, bits: u32, mut f: impl FnMut(usize, i32, i32)) {
        for i in (0..4).filter(|i| bits >> i & 1 != 0) {
            f(i as usize, self.x + (i & 1), self.y + (i >> 1));
        }
    }

    /// Returns whether it shares a pixel with `mask` (four to a quad) of the 8x4 block at (x, y).
    pub fn touches(&self, [x, y]: [i32; 2], mask: u32) -> bool {
        let (dx, dy) = (self.x - x, self.y - y);
        let here = (0..8).contains(&dx) && (0..4).contains(&dy);
        here && (mask >> (4 * (dx / 2 + 4 * (dy / 2)))) & self.mask != 0
    }
}

/// The quads of a warp, at most eight.
#[derive(Clone, Copy, Debug)]
pub struct Quads<'a> {
    all: &'a [Quad],
    /// First pixel of the 8x4 block that the quads form in order, if known.
    block: Option<[i32; 2]>,
}

impl Deref for Quads<'_> {
    type Target = [Quad];

    fn deref(&self) -> &[Quad] {
        self.all
    }
}

impl<'a> Quads<'a> {
    /// Creates a list of any quads.
    pub fn new(all: &'a [Quad]) -> Self {
        Self { all, block: None }
    }

    /// Creates a list of the quads of the 8x4 block at `at` ([`quads`]).
    pub fn of_block(all: &'a [Quad; QUADS], at: [i32; 2]) -> Self {
        Self { all, block: Some(at) }
    }

    /// Returns the first pixel of the 8x4 block, if the quads are known to form one.
    pub fn block(&self) -> Option<[i32; 2]> {
        self.block
    }

    /// Calls `f` with lane and position of every pixel of `mask`.
    pub fn each_pixel(&self, mask: u32, mut f: impl FnMut(usize, i32, i32)) {
        self.each_quad(mask, |q, quad, bits| quad.covered(bits, |i, x, y| f(4 * q + i, x, y)));
    }

    /// Calls `f` with number and four-bit mask of every quad with pixels of `mask`.
    #[inline(always)]
    pub fn each_quad(&self, mask: u32, mut f: impl FnMut(usize, &Quad, u32)) {
        for (q, quad) in self.all.iter().enumerate() {
            let bits = mask >> (4 * q) & 15;
            if bits != 0 {
                f(q, quad, bits);
            }
        }
    }
}

/// Returns the quads of the 8x4 block at (x, y). `mask` has the covered pixels, four to a quad.
#[inline(always)]
pub fn quads(primitive: u32, [x, y]: [i32; 2], mask: u32) -> [Quad; QUADS] {
    let mut out = [Quad::default(); QUADS];
    for (q, quad) in (0..).zip(&mut out) {
        let mask = mask >> (4 * q) & 15;
        *quad = Quad { x: x + 2 * (q % 4), y: y + 2 * (q / 4), mask, primitive };
    }
    out
}

/// A function that packs the quads with covered pixels of an 8x4 block (of a primitive, at (x, y), with a
/// mask) into a list. It returns their number. The rest of the list is undefined.
pub trait Pack: Fn(u32, [i32; 2], u32, &mut [Quad; QUADS]) -> usize + Copy {}

impl<F: Fn(u32, [i32; 2], u32, &mut [Quad; QUADS]) -> usize + Copy> Pack for F {}

/// Packs quads as [`Pack`] describes, one after the other.
#[inline(always)]
pub fn pack_quads(primitive: u32, at: [i32; 2], mask: u32, out: &mut [Quad; QUADS]) -> usize {
    // Empty quads are overwritten by the next one, which is cheaper than a branch.
    let mut count = 0;
    for quad in &quads(primitive, at, mask) {
        out[count] = *quad;
        count += usize::from(quad.mask != 0);
    }
    count
}

/// Packs quads as [`Pack`] describes, four at a time.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,popcnt")]
#[inline]
pub(in crate::draw) fn quads_at_once(
    primitive: u32,
    [x, y]: [i32; 2],
    mask: u32,
    out: &mut [Quad; QUADS],
) -> usize {
    use std::arch::x86_64::*;
    let four = |y: i32, masks: u32| {
        let all = _mm512_broadcast_i32x4(_mm_setr_epi32(x, y, masks as i32, primitive as i32));
        let shifts = _mm512_setr_epi32(0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 8, 0, 0, 0, 12, 0);
        let bits = _mm512_setr_epi32(-1, -1, 15, -1, -1, -1, 15, -1, -1, -1, 15, -1, -1, -1, 15, -1);
        let beside = _mm512_setr_epi32(0, 0, 0, 0, 2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0);
        let quads = _mm512_add_epi32(_mm512_and_si512(_mm512_srlv_epi32(all, shifts), bits), beside);
        let masks = _mm512_maskz_mov_epi32(0b0100_0100_0100_0100, quads);
        // Keep whole quads whose third number is not zero.
        let kept = _mm512_test_epi32_mask(masks, masks) >> 2;
        let packed: [Quad; 4] = bytemuck::cast(_mm512_maskz_compress_epi32(15 * kept, quads));
        (packed, kept.count_ones() as usize)
    };
    let [(upper, count), (lower, more)] = [four(y, mask), four(y + 2, mask >> 16)];
    *out.first_chunk_mut().expect("eight") = upper;
    *out[count..].first_chunk_mut().expect("at most four are before it") = lower;
    count + more
}

/// Returns the quads with covered pixels.
#[inline(always)]
pub fn covered_quads(primitive: u32, [x, y]: [i32; 2], mask: u32) -> impl Iterator<Item = Quad> {
    let mut rest = mask;
    std::iter::from_fn(move || {
        let q = (rest != 0).then(|| rest.trailing_zeros() as i32 / 4)?;
        let bits = (rest >> (4 * q)) & 15;
        rest &= !(15 << (4 * q));
        Some(Quad { x: x + 2 * (q % 4), y: y + 2 * (q / 4), mask: bits, primitive })
    })
}

/// A conservative set of the pixels of queued quads. It may contain more pixels, because all 32x16 regions of
/// the screen share one bit map.
#[derive(Clone, Copy, Debug, Default)]
pub struct Occupied([u32; 16]);

impl Occupied {
    /// Returns whether the set may contain one of these pixels of the 8x4 block at `at` (row by row).
    #[inline(always)]
    pub fn may_have(&self, at: [i32; 2], mask: u32) -> bool {
        let mut common = 0;
        for row in 0..4 {
            let (place, bits) = Self::row(at, mask, row);
            common |= self.0[place] & bits;
        }
        common != 0
    }

    /// Adds pixels of the 8x4 block at `at` (row by row).
    #[inline(always)]
    pub fn add(&mut self, at: [i32; 2], mask: u32) {
        for row in 0..4 {
            let (place, bits) = Self::row(at, mask, row);
            self.0[place] |= bits;
        }
    }

    /// Returns the index in the bit map of a row of an 8x4 block, and its bits.
    #[inline(always)]
    fn row([x, y]: [i32; 2], mask: u32, row: u32) -> (usize, u32) {
        let bits = mask >> (8 * row) & 0xff;
        ((y as u32).wrapping_add(row) as usize % 16, bits.rotate_left(x as u32 % 32))
    }
}

/// Converts a mask of an 8x4 block from row order to quad order: bits y1 y0 x2 x1 x0 of the index become y1
/// x2 x1 y0 x0.
#[inline(always)]
pub fn quad_order(mask: u32) -> u32 {
    let swap = |v: u32, shift: u32, keep: u32| {
        let t = ((v >> shift) ^ v) & keep;
        v ^ t ^ (t << shift)
    };
    swap(swap(mask, 4, 0x00f0_00f0), 2, 0x0c0c_0c0c)
}

/// Returns the 8x4 halves with covered pixels of an 8x8 block at (x, y), with first pixel and mask. Bit `8 *
/// y + x` is a pixel of either.
#[inline(always)]
pub fn halves([x, y]: [i32; 2], mask: u64) -> impl Iterator<Item = ([i32; 2], u32)> {
    (0..2).filter_map(move |half| {
        let mask = (mask >> (32 * half)) as u32;
        (mask != 0).then_some(([x, y + 4 * half], mask))
    })
}

#[cfg(test)]
mod tests {
    use multiversion::multiversion;
    use multiversion::target::match_target;

    use super::*;

    #[test]
    fn quad_order_moves_every_pixel_into_its_quad() {
        for bit in 0..32u32 {
            let (x, y) = (bit % 8, bit / 8);
            let quad = x / 2 + 4 * (y / 2);
            let lane = 4 * quad + (x & 1) + 2 * (y & 1);
            assert_eq!(quad_order(1 << bit), 1 << lane, "pixel ({x}, {y})");
        }
    }

    #[test]
    fn a_quad_touches_its_own_pixels() {
        let quad = Quad { x: 12, y: 18, mask: 0b0100, primitive: 0 };
        assert!(quad.touches([8, 16], 0b0100 << 24));
        assert!(!quad.touches([8, 16], !(0b0100 << 24)));
        assert!(!quad.touches([16, 16], u32::MAX) && !quad.touches([8, 20], u32::MAX));
    }

    #[test]
    fn occupied_set_finds_every_block_that_touches_a_quad() {
        let mut seed = 1u32;
        let mut random = |below: u32| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            (seed >> 8) % below
        };
        let (mut touched, mut free) = (0, 0);
        for _ in 0..2000 {
            let mut queue = Vec::new();
            let mut occupied = Occupied::default();
            for _ in 0..4 {
                let at = [2 * random(16) as i32 - 16, 2 * random(16) as i32 - 16];
                let rows = (random(1 << 16) << 16 | random(1 << 16)) & (random(1 << 16) * 0x1_0001);
                let mask = quad_order(rows);
                let touches = queue.iter().any(|quad: &Quad| quad.touches(at, mask));
                assert!(occupied.may_have(at, rows) || !touches);
                touched += u32::from(touches);
                free += u32::from(!occupied.may_have(at, rows));
                occupied.add(at, rows);
                queue.extend(covered_quads(0, at, mask));
            }
        }
        assert!(touched > 100 && free > 2000, "{touched} {free}");
    }

    #[multiversion(targets("x86_64+avx512f+popcnt"))]
    fn pack_here(primitive: u32, at: [i32; 2], mask: u32, out: &mut [Quad; QUADS]) -> usize {
        match_target! {
            "x86_64+avx512f+popcnt" => quads_at_once(primitive, at, mask, out),
            _ => pack_quads(primitive, at, mask, out),
        }
    }

    #[test]
    fn quads_with_pixels_are_packed() {
        let mut seed = 1u32;
        for number in 0..2000 {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let mask = if number < 3 { [0, u32::MAX, 1 << 31][number] } else { seed & seed.rotate_left(7) };
            let at = [seed as i32 >> 20, -3];
            let want: Vec<Quad> = covered_quads(7, at, mask).collect();
            let mut out = [Quad::default(); QUADS];
            let count = pack_quads(7, at, mask, &mut out);
            assert_eq!(out[..count], want);
            out = [Quad::default(); QUADS];
            let count = pack_here(7, at, mask, &mut out);
            assert_eq!(out[..count], want);
        }
    }

    #[test]
    fn only_quads_with_pixels_come_out() {
        let got: Vec<Quad> = covered_quads(7, [8, 16], quad_order(1 << 31 | 1 << 3)).collect();
        let want = [(10, 16, 0b0010), (14, 18, 0b1000)];
        assert_eq!(got, want.map(|(x, y, mask)| Quad { x, y, mask, primitive: 7 }));
    }
}
