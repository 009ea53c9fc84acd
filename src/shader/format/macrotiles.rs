//! Tiles of an A6xx (TILE6_3): blocks of 256 bytes, four rows of which are a band. Source: the comment and the tables of Mesa's
//! fd6_tiled_memcpy.cc, with what the kernel says of an A630 (a6xx_gpu.c, `a6xx_calc_ubwc_config`).

/// The highest bit of an address that selects a bank of memory.
const HIGHEST_BANK_BIT: u32 = 15;

/// Rows of blocks in a band.
const BAND: u32 = 4;

/// Width and height in pixels of a block of pixels with `cpp` bytes: 1, 2, 4, 8 or 16.
fn block(cpp: u32) -> [u32; 2] {
    match cpp {
        1 => [32, 8],
        _ => [64 / cpp, 4],
    }
}

/// Height of a band in pixels.
pub(super) fn rows(cpp: u32) -> u32 {
    BAND * block(cpp)[1]
}

/// The position in a row-by-row surface with the same address as pixel (x, y). A row of pixels has `pitch` bytes.
pub(super) fn in_rows([x, y]: [u32; 2], pitch: u32, cpp: u32) -> [u32; 2] {
    let [width, height] = block(cpp);
    let (across, down) = (x / width, y / height);
    let right = across & 1;
    let chosen = if cpp < 16 { across & 2 } else { 0 };
    let from_x = (right * 7) ^ chosen ^ (across >> 1 << 3);
    let from_y = ((down & 1) * 6) ^ ((down >> 1 & 1) * 3);
    let bank = (down & banks(pitch / (width * cpp), cpp)) << (HIGHEST_BANK_BIT - 3);
    let bytes = ((from_x ^ from_y) << 8) ^ bank;
    [bytes / cpp + within(x % width, y % height), down / BAND * rows(cpp)]
}

/// The bits of a row of blocks that select a bank, if there are `stride` blocks from one row to the next. An A630 swizzles levels
/// 2 and 3.
fn banks(stride: u32, cpp: u32) -> u32 {
    let doubled = u32::from(cpp == 1);
    let level = |blocks: u32, bit: u32| if stride.is_multiple_of(1 << (blocks + doubled)) { bit } else { 0 };
    level(HIGHEST_BANK_BIT - 10, 4) | level(HIGHEST_BANK_BIT - 9, 8)
}

/// Number of a pixel in its block: bits 7 to 0 are y2 x4 x3 x2 y1 x1 y0 x0. Smaller blocks lack the upper ones.
fn within(x: u32, y: u32) -> u32 {
    x & 1 | (y & 1) << 1 | (x & 2) << 1 | (y & 2) << 2 | (x & 0x1c) << 2 | (y & 4) << 5
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Offset of a pixel in bytes.
    fn offset(at: [u32; 2], pitch: u32, cpp: u32) -> u32 {
        let [column, row] = in_rows(at, pitch, cpp);
        row * pitch + column * cpp
    }

    #[test]
    fn each_pixel_has_a_place_of_its_own() {
        for cpp in [1, 2, 4, 8, 16] {
            // Two blocks of macrotiles, and the strides at which levels of banks begin.
            for blocks in [2, 6, 32, 64, 128] {
                let pitch = blocks * block(cpp)[0] * cpp;
                let (width, height) = (pitch / cpp, 9 * rows(cpp));
                let all = (0..height).flat_map(|y| (0..width).map(move |x| [x, y]));
                let mut seen: Vec<u32> = all.map(|at| offset(at, pitch, cpp)).collect();
                seen.sort_unstable();
                assert!(seen.into_iter().eq((0..width * height).map(|n| n * cpp)), "{cpp}, {blocks}");
            }
        }
    }

    #[test]
    fn pixels_and_blocks_are_where_mesa_puts_them() {
        // Of a surface with 8 blocks in a row: blocks to the right and below, then the band below.
        let at = |x, y| offset([x, y], 8 * 64, 4);
        assert_eq!([at(1, 0), at(0, 1), at(2, 0), at(0, 2), at(4, 0), at(15, 3)], [4, 8, 16, 32, 64, 252]);
        assert_eq!([at(16, 0), at(32, 0), at(48, 0)], [7 << 8, 10 << 8, 13 << 8]);
        assert_eq!([at(0, 4), at(0, 8), at(0, 12), at(0, 16)], [6 << 8, 3 << 8, 5 << 8, 32 << 8]);
        // From 32 blocks on, bit 2 of the row of blocks selects a bank, and from 64 on bit 3.
        let at = |blocks: u32, y| offset([0, y], blocks * 64, 4);
        let block = |number: u32| number << 8;
        assert_eq!([at(32, 16), at(64, 32)], [block(32 * 4) ^ 1 << 14, block(64 * 8) ^ 1 << 15]);
        assert_eq!(at(32, 32), block(32 * 8));
        let bytes = |blocks: u32, y| offset([0, y], blocks * 32, 1);
        assert_eq!([bytes(32, 32), bytes(64, 32)], [block(32 * 4), block(64 * 4) ^ 1 << 14]);
    }
}
