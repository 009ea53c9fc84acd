//! Two-dimensional ASTC blocks. Own code, as the tested crates have errors. They fail in blocks that mix
//! partitions with and without HDR, read past the end of a sequence, or panic.
//!
//! Source: Khronos Data Format Specification 1.3, chapter 23. `vectors.txt` holds blocks of all modes,
//! decoded by Arm's decoder.
mod endpoints;
mod sequence;

use super::Lanes4;
use crate::format::convert::{half_to_float, unorm_to_float};
use crate::format::{Transfer, srgb};
use endpoints::{Ends, Scale, ends, values};
use sequence::{RANGES, Range, Symbol};

/// Handling of blocks that need HDR.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// Such blocks give the error colour.
    Ldr,
    /// They are decoded.
    Hdr,
}

/// Most texels of a block.
const MAX_TEXELS: usize = 144;
/// Most weights of a block.
const MAX_WEIGHTS: usize = 64;
/// Most colour values of a block.
const MAX_VALUES: usize = 18;
/// Index of the smallest range that colours may have: six values.
const SMALLEST: usize = 4;

/// Layout of a block's weights.
struct Weights {
    width: u32,
    height: u32,
    planes: u32,
    range: Range,
}

/// The fields of a block.
struct Parts {
    weights: Weights,
    /// Seed of the partition pattern.
    seed: u32,
    count: u32,
    /// The endpoints of each partition.
    ends: [Ends; 4],
    /// The component that uses the second plane, if there is one.
    second: Option<u32>,
}

/// Decodes a block of `width` x `height` texels, and calls `texel` with the lanes of each, row by row.
pub(super) fn decode(
    block: u128,
    [width, height]: [u32; 2],
    profile: Profile,
    transfer: Transfer,
    mut texel: impl FnMut(Lanes4),
) {
    // Guess `astc-hdr` (docs/hardware/board-a420.md, B12): a board does not give the error colour for HDR.
    // Its result for HDR in sRGB textures, where the specification has no HDR, is not tested.
    let profile = if transfer == Transfer::Srgb { Profile::Ldr } else { profile };
    let count = width * height;
    if block & 0x1ff == 0x1fc {
        let color = void_extent(block, profile, transfer).unwrap_or(ERROR);
        return (0..count).for_each(|_| texel(color));
    }
    let Some(parts) = Parts::new(block, [width, height], profile) else {
        return (0..count).for_each(|_| texel(ERROR));
    };
    let weights = parts.weights.of_texels(block, [width, height]);
    for y in 0..height {
        for x in 0..width {
            let ends = &parts.ends[partition(parts.seed, parts.count, [x, y], count < 31) as usize];
            let weights = weights.map(|plane| plane[(y * width + x) as usize]);
            texel(mixed(ends, weights, parts.second, transfer));
        }
    }
}

/// The error colour, magenta.
const ERROR: Lanes4 = [0x3f80_0000, 0, 0x3f80_0000, 0x3f80_0000];

fn field(block: u128, at: u32, count: u32) -> u32 {
    (block >> at) as u32 & ((1 << count) - 1)
}

/// The colour of a void-extent block, which has a single colour.
fn void_extent(block: u128, profile: Profile, transfer: Transfer) -> Option<Lanes4> {
    let is_hdr = field(block, 9, 1) != 0;
    let reserved = field(block, 10, 2);
    let [s0, s1, t0, t1] = [12, 25, 38, 51].map(|at| field(block, at, 13));
    let anywhere = [s0, s1, t0, t1] == [0x1fff; 4];
    if reserved != 3 || !(anywhere || (s0 < s1 && t0 < t1)) || (is_hdr && profile == Profile::Ldr) {
        return None;
    }
    let scale = if is_hdr { None } else { Some(Scale::Fraction) };
    let component = |c: usize| {
        let value = field(block, 64 + 16 * c as u32, 16);
        scale.map_or_else(|| half_to_float(value).to_bits(), |scale| lane(scale, value, c, transfer))
    };
    Some(std::array::from_fn(component))
}

impl Parts {
    /// The fields of a block. `None` for an invalid block.
    fn new(block: u128, [width, height]: [u32; 2], profile: Profile) -> Option<Self> {
        let weights = Weights::new(field(block, 0, 11))?;
        let length = weights.range.length(weights.count());
        let fits =
            weights.width <= width && weights.height <= height && weights.count() as usize <= MAX_WEIGHTS;
        let count = field(block, 11, 2) + 1;
        if !fits || !(24..=96).contains(&length) || (weights.planes == 2 && count == 4) {
            return None;
        }
        let (modes, mut top) = modes(block, count, 128 - length);
        let second = (weights.planes == 2).then(|| {
            top -= 2;
            field(block, top, 2)
        });
        let (seed, first) = if count == 1 { (0, 17) } else { (field(block, 13, 10), 29) };
        let ends = colors(block >> first, &modes[..count as usize], top.saturating_sub(first), profile)?;
        Some(Self { weights, seed, count, ends, second })
    }
}

/// The colour modes of `count` partitions. Also the start of their extra bits, which are below the weights,
/// which begin at bit `top`.
fn modes(block: u128, count: u32, top: u32) -> ([u32; 4], u32) {
    let word = field(block, 23, 6);
    if count == 1 {
        return ([field(block, 13, 4); 4], top);
    }
    if word & 3 == 0 {
        return ([word >> 2; 4], top);
    }
    let more = 3 * count - 4;
    let (top, word) = (top - more, word | field(block, top - more, more) << 6);
    let mode = |i: u32| {
        let class = (word & 3) - 1 + (word >> (2 + i) & 1);
        class << 2 | word >> (2 + count + 2 * i) & 3
    };
    ([0, 1, 2, 3].map(|i| if i < count { mode(i) } else { 0 }), top)
}

/// The endpoints of partitions with these `modes`, from the first `room` bits of `data`.
fn colors(data: u128, modes: &[u32], room: u32, profile: Profile) -> Option<[Ends; 4]> {
    let count = modes.iter().map(|mode| values(*mode)).sum::<usize>();
    if count > MAX_VALUES {
        return None;
    }
    let range = RANGES[SMALLEST..].iter().rev().find(|range| range.length(count as u32) <= room)?;
    let mut symbols = [Symbol::default(); MAX_VALUES];
    range.read(data, &mut symbols[..count]);
    let colors = symbols.map(|symbol| range.color(symbol));
    let mut out = [ends(0, &[], profile); 4];
    let mut rest = &colors[..];
    for (out, mode) in out.iter_mut().zip(modes) {
        let (own, others) = rest.split_at(values(*mode));
        *out = ends(*mode, own, profile);
        rest = others;
    }
    Some(out)
}

impl Weights {
    /// The layout for a block mode. `None` for a reserved mode.
    fn new(mode: u32) -> Option<Self> {
        let bits = |at: u32, count: u32| mode >> at & ((1 << count) - 1);
        let (a, b) = (bits(5, 2), bits(7, 2));
        let (low, middle) = (bits(0, 2), bits(2, 2));
        let (mut fine, mut planes) = (bits(9, 1), bits(10, 1) + 1);
        let [width, height] = match (low, middle, b) {
            (0, 0, _) => return None,
            (0, _, 0) => [12, a + 2],
            (0, _, 1) => [a + 2, 12],
            (0, _, 2) => {
                (fine, planes) = (0, 1);
                [a + 6, bits(9, 2) + 6]
            }
            (0, ..) if a == 0 => [6, 10],
            (0, ..) if a == 1 => [10, 6],
            (0, ..) => return None,
            (_, 0, _) => [b + 4, a + 2],
            (_, 1, _) => [b + 8, a + 2],
            (_, 2, _) => [a + 2, b + 8],
            (_, _, 0 | 1) => [a + 2, b + 6],
            (_, _, _) => [b, a + 2],
        };
        let step = (if low != 0 { low } else { middle }) << 1 | bits(4, 1);
        Some(Self { width, height, planes, range: RANGES[(step - 2 + 6 * fine) as usize] })
    }

    fn count(&self) -> u32 {
        self.width * self.height * self.planes
    }

    /// The weights of all texels in both planes. They are stored from the top end of the block.
    fn of_texels(&self, block: u128, [width, height]: [u32; 2]) -> [[u32; MAX_TEXELS]; 2] {
        let mut symbols = [Symbol::default(); MAX_WEIGHTS];
        self.range.read(block.reverse_bits(), &mut symbols[..self.count() as usize]);
        let grid = symbols.map(|symbol| self.range.weight(symbol));
        let mut out = [[0; MAX_TEXELS]; 2];
        for (plane, out) in out.iter_mut().enumerate().take(self.planes as usize) {
            let at = |i: u32| grid.get((i * self.planes) as usize + plane).copied().unwrap_or(0);
            for y in 0..height {
                let (row, down) = spread(y, height, self.height);
                for x in 0..width {
                    let (column, right) = spread(x, width, self.width);
                    let first = row * self.width + column;
                    let corner = (right * down + 8) >> 4;
                    let sum = at(first) * (16 + corner - right - down)
                        + at(first + 1) * (right - corner)
                        + at(first + self.width) * (down - corner)
                        + at(first + self.width + 1) * corner;
                    out[(y * width + x) as usize] = (sum + 8) >> 4;
                }
            }
        }
        out
    }
}

/// The position of texel `at` of `size` in a row of `weights` weights: the index before it, and sixteenths to
/// the next.
fn spread(at: u32, size: u32, weights: u32) -> (u32, u32) {
    let step = (1024 + size / 2) / (size - 1);
    let place = (step * at * (weights - 1) + 32) >> 6;
    (place >> 4, place & 15)
}

/// The partition of a texel.
fn partition(seed: u32, count: u32, [x, y]: [u32; 2], is_small: bool) -> u32 {
    if count == 1 {
        return 0;
    }
    let scale = u32::from(is_small);
    let (x, y) = (x << scale, y << scale);
    let random = hash(seed + 1024 * (count - 1));
    // Two squared seeds for each partition.
    let square = |i: u32| {
        let nibble = random >> (4 * i) & 15;
        nibble * nibble
    };
    let (odd, even) = (if seed & 2 != 0 { 4 } else { 5 }, if count == 3 { 6 } else { 5 });
    let [along_x, along_y] = if seed & 1 != 0 { [odd, even] } else { [even, odd] };
    let value = |i: u32| {
        let plane = (square(2 * i) >> along_x) * x + (square(2 * i + 1) >> along_y) * y;
        if i < count { (plane + (random >> (14 - 4 * i))) & 63 } else { 0 }
    };
    // Index of the greatest value; the first one if several are equal.
    (1..4).fold(0, |best, i| if value(i) > value(best) { i } else { best })
}

fn hash(mut p: u32) -> u32 {
    p ^= p >> 15;
    p = p.wrapping_sub(p << 17);
    p = p.wrapping_add(p << 7);
    p = p.wrapping_add(p << 4);
    p ^= p >> 5;
    p = p.wrapping_add(p << 16);
    p ^= p >> 7;
    p ^= p >> 3;
    p ^= p << 6;
    p ^ p >> 17
}

/// The colour at `weights` (of 64) between the low and the high endpoint. Component `second` uses the second
/// weight.
fn mixed(ends: &Ends, weights: [u32; 2], second: Option<u32>, transfer: Transfer) -> Lanes4 {
    std::array::from_fn(|c| {
        let weight = weights[usize::from(second == Some(c as u32))];
        let scale = if c == 3 { ends.alpha } else { ends.color };
        let wide = |value: i32| match (scale, transfer) {
            (Scale::Fraction, Transfer::Srgb) if c < 3 => (value as u32) << 8 | 0x80,
            (Scale::Fraction, _) => value as u32 * 257,
            (Scale::Logarithm, _) => (value as u32) << 4,
        };
        let sum = wide(ends.low[c]) * (64 - weight) + wide(ends.high[c]) * weight;
        lane(scale, (sum + 32) >> 6, c, transfer)
    })
}

/// The lane of component `c` for a 16-bit value. Fractions use 8 bits, which is correct in every mode of
/// OpenGL. The chip's own precision is not known from the tests.
fn lane(scale: Scale, value: u32, c: usize, transfer: Transfer) -> u32 {
    match (scale, transfer) {
        (Scale::Fraction, Transfer::Srgb) if c < 3 => srgb::decode((value >> 8) as u8).to_bits(),
        (Scale::Fraction, _) => unorm_to_float(value >> 8, 8).to_bits(),
        (Scale::Logarithm, _) => half_to_float(exponential(value)).to_bits(),
    }
}

/// Converts a logarithm of 16 bits to a half float: five bits of exponent, and a mantissa in three linear
/// pieces.
fn exponential(value: u32) -> u32 {
    let mantissa = match value & 0x7ff {
        low @ 0..512 => 3 * low,
        middle @ 512..1536 => 4 * middle - 512,
        high => 5 * high - 2048,
    };
    (value >> 11 << 10 | mantissa >> 3).min(0x7bff)
}
