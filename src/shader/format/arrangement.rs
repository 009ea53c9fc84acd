//! Order of the pixels of a surface: samples and tiles.

use super::{Codec, Type, macrotiles};

/// Order of pixels in memory (guess `tile-order`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tiling {
    /// Row by row.
    Linear,
    /// Squares with this side, in pixels, in rows of squares. Within a square, row by row.
    Squares(u32),
    /// The tiles of an A6xx ([`macrotiles`]).
    Macrotiles {
        /// Bytes of a pixel: 1, 2, 4, 8 or 16.
        cpp: u32,
        /// Whether levels of a texture with less than 16 texels in a row are tiled too.
        all: bool,
    },
}

/// Levels of a texture with fewer texels in a row are row by row, unless all are tiled (Mesa: FDL_MIN_UBWC_WIDTH).
const NARROW: u32 = 16;

impl Tiling {
    /// The order of texels of a level with `width` texels in a row.
    #[inline(always)]
    pub fn of_level(self, width: u32) -> Self {
        match self {
            Self::Macrotiles { all: false, .. } if width < NARROW => Self::Linear,
            _ => self,
        }
    }

    /// Height of a tile in rows.
    pub fn rows(self) -> u32 {
        match self {
            Self::Linear => 1,
            Self::Squares(side) => side,
            Self::Macrotiles { cpp, .. } => macrotiles::rows(cpp),
        }
    }

    /// The position in a row-by-row surface with the same address as pixel (x, y). A row has `pitch` bytes.
    #[inline(always)]
    pub fn in_rows(self, [x, y]: [u32; 2], pitch: u32) -> [u32; 2] {
        match self {
            Self::Linear => [x, y],
            Self::Squares(side) => {
                let (right, down) = (x % side, y % side);
                [(x - right).wrapping_mul(side).wrapping_add(down * side + right), y - down]
            }
            Self::Macrotiles { cpp, .. } => macrotiles::in_rows([x, y], pitch, cpp),
        }
    }

    /// Offset in bytes of pixel (x, y) from the first pixel. A pixel has `cpp` bytes, a row `pitch` bytes.
    pub fn offset(self, at: [u32; 2], pitch: u32, cpp: u32) -> u64 {
        let [x, y] = self.in_rows(at, pitch).map(u64::from);
        y * u64::from(pitch) + x * u64::from(cpp)
    }

    /// The pixel at `offset` bytes from the first one: the inverse of [`Tiling::offset`]. Targets of an A4xx ask it, so that it
    /// is not known of macrotiles.
    pub fn pixel(self, offset: u32, pitch: u32, cpp: u32) -> Option<[u32; 2]> {
        if let Self::Macrotiles { .. } = self {
            return None;
        }
        let rows = self.rows();
        let (band, rest) = (offset.checked_div(pitch.checked_mul(rows)?)?, offset % (pitch * rows));
        let number = rest.checked_div(cpp).filter(|_| rest.is_multiple_of(cpp))?;
        let (square, within) = (number / (rows * rows), number % (rows * rows));
        Some([square * rows + within % rows, band.checked_mul(rows)? + within / rows])
    }
}

/// Samples and order of a surface's pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrangement {
    /// Samples of a pixel, stored consecutively (guess `sample-layout`).
    pub samples: u32,
    /// Order of pixels.
    pub tiling: Tiling,
}

impl Arrangement {
    /// One sample, row by row.
    pub const PLAIN: Self = Self { samples: 1, tiling: Tiling::Linear };
}

/// The components of a pixel from the bytes of all its samples: their average. For integers, the first sample
/// (guess `resolve-average`).
pub fn resolved(codec: &Codec, pixel: &[u8]) -> [u32; 4] {
    let mut samples =
        pixel.chunks_exact(codec.bytes() as usize).map(|sample| codec.decode(codec.load(sample)));
    let first = samples.next().unwrap_or_else(|| codec.decode(0));
    let count = pixel.len() / codec.bytes() as usize;
    if count <= 1 || matches!(codec.ty(), Type::Uint | Type::Sint) {
        return first;
    }
    let add = |sum: [f32; 4], sample: [u32; 4]| std::array::from_fn(|c| sum[c] + f32::from_bits(sample[c]));
    let sum = samples.fold(first.map(f32::from_bits), add);
    sum.map(|sum| (sum / count as f32).to_bits())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::{Format, Layout, Swap, Transfer};

    #[test]
    fn squares_follow_each_other_and_hold_each_pixel_once() {
        for side in [32, 4] {
            let tiling = Tiling::Squares(side);
            let (pitch, cpp) = (64 * 4, 4);
            let at = |x, y| tiling.offset([x, y], pitch, cpp);
            assert_eq!(
                (at(1, 0), at(0, 1), at(side, 0)),
                (4, u64::from(4 * side), u64::from(4 * side * side))
            );
            assert_eq!(at(0, side), u64::from(side * pitch));
            let all = (0..64).flat_map(|y| (0..64).map(move |x| [x, y]));
            let mut seen: Vec<u64> = all.map(|[x, y]| at(x, y)).collect();
            assert!(seen.iter().enumerate().all(|(i, at)| {
                tiling.pixel(*at as u32, pitch, cpp) == Some([i as u32 % 64, i as u32 / 64])
            }));
            seen.sort_unstable();
            assert!(seen.into_iter().eq((0..64 * 64).map(|i| i * 4)));
        }
    }

    #[test]
    fn a_pixel_is_the_average_of_its_samples_unless_it_is_an_integer() {
        let codec = |ty| Format { layout: Layout::array(1, 8), ty }.codec(Swap::WZYX, Transfer::Linear);
        let unorm = codec(Type::Unorm).expect("a pixel format");
        // In quarters of a level.
        let level = |samples: &[u8]| (f32::from_bits(resolved(&unorm, samples)[0]) * 1020.0).round();
        assert_eq!([level(&[255, 0, 0, 0]), level(&[255, 255]), level(&[7])], [255.0, 1020.0, 28.0]);
        let uint = codec(Type::Uint).expect("a pixel format");
        assert_eq!(resolved(&uint, &[9, 1, 1, 1])[0], 9);
        assert_eq!(resolved(&uint, &[])[0], 0);
    }
}
