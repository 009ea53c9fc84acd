//! Layout of the levels, layers and texels of a texture.
//!
//! Source: docs/hardware/textures-and-memory.md, section 3 (freedreno_layout, fd4_resource).
use std::ops::Deref;

use crate::machine::Model;
use a4emu_shader::format::Block;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};

/// Alignment of the layers of 3D levels and arrays.
const PAGE: u32 = 4096;

/// One mip level. Sizes are in texels and at least 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Level {
    pub width: u32,
    pub height: u32,
    /// Slices of a 3D texture, otherwise layers or faces.
    pub depth: u32,
    /// Bytes from the texture's base to the first texel.
    pub offset: u32,
    /// Bytes from one row of blocks to the next.
    pub pitch: u32,
    /// Bytes from one slice, layer or face to the next.
    pub slice: u32,
}

/// Maximum number of levels of a descriptor.
pub(super) const MAX_LEVELS: usize = 16;

/// The levels of a texture, at least one.
#[derive(Clone, Debug)]
pub(super) struct Pyramid {
    all: Vec<Level>,
    /// Fields of the levels as arrays, for textures with several levels: width, height, depth, offset, pitch
    /// and slice.
    pub table: [[u32; MAX_LEVELS]; 6],
}

impl Pyramid {
    fn new(all: Vec<Level>) -> Self {
        let mut table = [[0; MAX_LEVELS]; 6];
        if all.len() > 1 {
            for (number, level) in all.iter().enumerate() {
                let Level { width, height, depth, offset, pitch, slice } = *level;
                let fields = [width, height, depth, offset, pitch, slice];
                fields.into_iter().zip(&mut table).for_each(|(field, row)| row[number] = field);
            }
        }
        Self { all, table }
    }

    /// Returns whether the number of rows, and the pitch in dwords, fit 15 bits. (Every pitch is a multiple
    /// of 32 bytes.)
    pub fn are_of_few_dwords(&self) -> bool {
        let fits = |number: u32| number <= i16::MAX as u32;
        self.all.iter().all(|level| fits(level.pitch / 4) && fits(level.height))
    }
}

impl Deref for Pyramid {
    type Target = [Level];

    fn deref(&self) -> &[Level] {
        &self.all
    }
}

impl PartialEq for Pyramid {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// Level parameters of a descriptor.
#[derive(Clone, Copy, Debug)]
pub(super) struct Shape {
    pub width: u32,
    pub height: u32,
    /// Slices at level 0, or layers.
    pub depth: u32,
    pub levels: u32,
    pub block: Block,
    /// Samples and order of texels.
    pub arrangement: Arrangement,
    /// Bytes per row of level 0.
    pub pitch: u32,
    /// Every pitch is a multiple of this power of two.
    pub pitch_align: u32,
    /// Bytes per layer, or per slice of level 0.
    pub layer_size: u32,
    /// Slices of a 3D texture do not become smaller than this, in bytes.
    pub min_layer_size: u32,
    /// Every level of a layer begins at a multiple of this power of two, in bytes.
    pub level_align: u32,
    /// Reduction of slices from level to level.
    pub slices: Slices,
}

/// Size rule of a slice of a 3D level, before rounding up to whole pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slices {
    /// A quarter of the previous level.
    Quartered,
    /// The size of its rows, as the driver reserves it.
    Rows,
}

impl Slices {
    /// Guess `slice-quarter` (docs/hardware/board-a420.md, B4): this rule explains why a board fails three
    /// tests of odd sizes, and no other test. Two other rules that also do are not excluded.
    pub fn of(model: Model) -> Self {
        match model {
            Model::Board => Self::Quartered,
            Model::StrictGl => Self::Rows,
        }
    }
}

/// Returns `size` at `level`, at least 1.
pub(super) fn minify(size: u32, level: u32) -> u32 {
    (size >> level.min(31)).max(1)
}

fn align(value: u32, to: u32) -> u32 {
    value.checked_next_multiple_of(to).unwrap_or(u32::MAX - (to - 1))
}

impl Shape {
    /// Returns the pitch of a level. Rows of texels are at least as long as rows of tiles.
    fn pitch(&self, level: u32) -> u32 {
        let tile = self.arrangement.tiling.rows() * self.block.bytes * self.arrangement.samples;
        align(self.pitch >> level.min(31), self.pitch_align.max(tile.next_power_of_two()))
    }

    /// Returns the number of block rows, rounded up to whole tiles.
    fn rows(&self, level: u32) -> u32 {
        let tiling = self.arrangement.tiling.of_level(minify(self.width, level));
        align(minify(self.height, level).div_ceil(self.block.height), tiling.rows())
    }

    /// Returns the levels of a 2D, cube or array texture, where each layer contains all levels. Hostile sizes
    /// saturate; readers check bounds.
    pub fn layer_first(&self) -> Pyramid {
        let mut offset = 0u32;
        let place = |level| {
            let at = self.level(level, self.depth, offset, self.layer_size);
            let end = offset.saturating_add(self.rows(level).saturating_mul(at.pitch));
            offset = align(end, self.level_align);
            at
        };
        Pyramid::new((0..self.levels).map(place).collect())
    }

    /// Returns the levels of a 3D texture, where each level contains all its slices.
    pub fn level_first(&self) -> Pyramid {
        let mut offset = 0u32;
        let place = |level| {
            let depth = minify(self.depth, level);
            let at = self.level(level, depth, offset, self.slice_3d(level));
            offset = offset.saturating_add(depth.saturating_mul(at.slice));
            at
        };
        Pyramid::new((0..self.levels).map(place).collect())
    }

    fn slice_3d(&self, level: u32) -> u32 {
        let bytes = match (level, self.slices) {
            (0, _) => return self.layer_size,
            (_, Slices::Quartered) => self.layer_size >> (2 * level).min(31),
            (_, Slices::Rows) => self.rows(level).saturating_mul(self.pitch(level)),
        };
        align(bytes, PAGE).max(self.min_layer_size)
    }

    fn level(&self, level: u32, depth: u32, offset: u32, slice: u32) -> Level {
        let (width, height) = (minify(self.width, level), minify(self.height, level));
        Level { width, height, depth, offset, pitch: self.pitch(level), slice }
    }

    /// Returns the bytes from the base to the end of the last texel.
    pub fn extent(&self, levels: &[Level]) -> u64 {
        let end = |level: &Level| {
            let tiling = self.arrangement.tiling.of_level(level.width);
            let band = tiling.rows();
            let rows = u64::from(align(level.height.div_ceil(self.block.height), band)) - 1;
            let columns = align(level.width.div_ceil(self.block.width), band);
            let texel = u64::from(self.block.bytes) * u64::from(self.arrangement.samples);
            let row = match tiling {
                // Blocks of one column are anywhere in their band.
                Tiling::Macrotiles { .. } => level.pitch.into(),
                Tiling::Linear | Tiling::Squares(_) => u64::from(columns) * texel,
            };
            let slices = u64::from(level.depth) - 1;
            u64::from(level.offset) + slices * u64::from(level.slice) + rows * u64::from(level.pitch) + row
        };
        levels.iter().map(end).max().unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rgba8(width: u32, height: u32, levels: u32) -> Shape {
        let block = Block { width: 1, height: 1, bytes: 4 };
        let pitch = align(width * 4, 128);
        Shape {
            width,
            height,
            depth: 1,
            levels,
            block,
            arrangement: Arrangement::PLAIN,
            pitch,
            pitch_align: 128,
            layer_size: 0x1000,
            min_layer_size: 0,
            level_align: 1,
            slices: Slices::Quartered,
        }
    }

    #[test]
    fn levels_of_a_layer_follow_each_other() {
        let levels = rgba8(64, 32, 7).layer_first();
        let places: Vec<_> = levels.iter().map(|l| (l.width, l.height, l.offset, l.pitch)).collect();
        assert_eq!(places[..3], [(64, 32, 0, 256), (32, 16, 8192, 128), (16, 8, 10240, 128)]);
        assert_eq!(places[6], (1, 1, 10240 + 128 * (8 + 4 + 2 + 1), 128));
    }

    #[test]
    fn slices_of_a_3d_level_start_on_pages() {
        let shape = Shape { depth: 4, ..rgba8(16, 16, 3) };
        let levels = shape.level_first();
        assert_eq!(levels.iter().map(|l| l.depth).collect::<Vec<_>>(), [4, 2, 1]);
        assert_eq!(levels.iter().map(|l| l.offset).collect::<Vec<_>>(), [0, 4 * 4096, 6 * 4096]);
        assert_eq!(shape.extent(&levels), 6 * 4096 + 3 * 128 + 16);
    }

    #[test]
    fn slices_of_odd_levels_are_quarters_on_the_board_and_rows_for_the_driver() {
        // Level 0 has 129 rows of 1,568 bytes, and level 1 has 64 of 800: the texture of texelFetch 98x129x9
        // with RGBA32F.
        let block = Block { width: 1, height: 1, bytes: 16 };
        let (pitch, pitch_align) = (98 * 16 + 480, 512);
        let layer_size = align(129 * pitch, PAGE);
        let shape = Shape {
            width: 98,
            height: 129,
            depth: 9,
            levels: 2,
            block,
            arrangement: Arrangement::PLAIN,
            pitch,
            pitch_align,
            layer_size,
            min_layer_size: 0,
            level_align: 1,
            slices: Slices::Quartered,
        };
        let slice = |slices| Shape { slices, ..shape }.level_first()[1].slice;
        assert_eq!(slice(Slices::Quartered), align(layer_size >> 2, PAGE));
        assert_eq!(slice(Slices::Rows), align(64 * 1024, PAGE));
        assert_ne!(slice(Slices::Quartered), slice(Slices::Rows));
    }

    #[test]
    fn tiled_levels_are_of_whole_tiles() {
        let arrangement = Arrangement { samples: 1, tiling: Tiling::Squares(32) };
        let levels = Shape { arrangement, ..rgba8(64, 40, 3) }.layer_first();
        let places: Vec<_> = levels.iter().map(|l| (l.offset, l.pitch)).collect();
        assert_eq!(places, [(0, 256), (64 * 256, 128), (64 * 256 + 32 * 128, 128)]);
        let four = Arrangement { samples: 4, ..Arrangement::PLAIN };
        let shape = Shape { arrangement: four, pitch: 1024, ..rgba8(64, 2, 1) };
        assert_eq!(shape.extent(&shape.layer_first()), 2 * 1024);
    }

    #[test]
    fn hostile_sizes_saturate() {
        let shape = Shape {
            width: 0x7fff,
            height: 0x7fff,
            depth: 0x1fff,
            pitch: 0x1f_ffff,
            layer_size: 0x3fff << 12,
            ..rgba8(1, 1, 16)
        };
        assert!(shape.extent(&shape.layer_first()) > u64::from(u32::MAX));
        assert!(shape.extent(&shape.level_first()) > u64::from(u32::MAX));
    }

    #[test]
    fn wide_levels_of_macrotiles_are_whole_bands() {
        let tiling = |all| Tiling::Macrotiles { cpp: 4, all };
        let shape = |all, level_align| Shape {
            height: 40,
            pitch_align: 256,
            arrangement: Arrangement { samples: 1, tiling: tiling(all) },
            level_align,
            ..rgba8(64, 64, 5)
        };
        let offsets = |shape: Shape| shape.layer_first().iter().map(|level| level.offset).collect::<Vec<_>>();
        // 48, 32 and 16 rows of 256 bytes. The level with 8 texels in a row has 5 rows, or a band.
        assert_eq!(offsets(shape(false, 1)), [0, 0x3000, 0x5000, 0x6000, 0x6500]);
        assert_eq!(offsets(shape(true, 4096)), [0, 0x3000, 0x5000, 0x6000, 0x7000]);
        assert_eq!([15, 16].map(|width| tiling(false).of_level(width)), [Tiling::Linear, tiling(false)]);
        assert_eq!(tiling(true).of_level(1), tiling(true));
    }
}
