//! Descriptors in memory: samplers, textures, storage buffers and images.
//!
//! Source: a4xx.xml (domains A4XX_TEX_SAMP, A4XX_TEX_CONST, A4XX_SSBO_0 and _1).
use crate::a4xx::enums::*;
use crate::bits::*;

descriptors! {
    /// Sampler, dword 0.
    TEX_SAMP_0 {
        /// Linear between mip levels.
        0..0 MIPFILTER_LINEAR_NEAR: Bool;
        1..2 XY_MAG: TexFilter;
        3..4 XY_MIN: TexFilter;
        5..7 WRAP_S: TexClamp;
        8..10 WRAP_T: TexClamp;
        11..13 WRAP_R: TexClamp;
        14..16 ANISO: TexAniso;
        /// Added to the level of detail; the true width of the field is not known.
        19..31 LOD_BIAS: Fixed<8>;
    }
    /// Sampler, dword 1.
    TEX_SAMP_1 {
        1..3 COMPARE_FUNC: CompareFunc;
        4..4 CUBEMAPSEAMLESSFILTOFF: Bool;
        /// Coordinates are texels, not 0 to 1.
        5..5 UNNORM_COORDS: Bool;
        6..6 MIPFILTER_LINEAR_FAR: Bool;
        8..19 MAX_LOD: UFixed<8>;
        20..31 MIN_LOD: UFixed<8>;
    }

    /// Texture, dword 0.
    TEX_CONST_0 {
        /// Tiled in memory: with TILED_HIGH a tile mode. Alone it is taken for TILE4_3.
        0..0 TILED: Bool;
        /// The other bit of the tile mode. Inferred from A3xx and A5xx, which have two bits here.
        inferred 1..1 TILED_HIGH: Bool;
        2..2 SRGB: Bool;
        4..6 SWIZ_X: TexSwiz;
        7..9 SWIZ_Y: TexSwiz;
        10..12 SWIZ_Z: TexSwiz;
        13..15 SWIZ_W: TexSwiz;
        /// Number of levels minus 1.
        16..19 MIPLVLS: Uint;
        /// Samples of a texel. Inferred from A3xx and A5xx, which have them here.
        inferred 20..21 SAMPLES: MsaaSamples;
        22..28 FMT: TexFmt;
        29..31 TYPE: TexType;
    }
    /// Texture, dword 1: size of the first level in texels. Of a buffer, WIDTH
    /// holds the low 15 bits of the number of elements and HEIGHT the rest.
    TEX_CONST_1 {
        0..14 HEIGHT: Uint;
        15..29 WIDTH: Uint;
    }
    /// Texture, dword 2.
    TEX_CONST_2 {
        /// The pitch of a mip level is at least 32 << PITCHALIGN bytes.
        0..3 PITCHALIGN: Uint;
        6..6 BUFFER: Bool;
        /// Bytes per row of the first level.
        9..29 PITCH: Uint;
        30..31 SWAP: ColorSwap;
    }
    /// Texture, dword 3.
    TEX_CONST_3 {
        /// Bytes per layer, or per slice of the first level.
        0..13 LAYERSZ: Shl<12>;
        /// Layers, cubes or slices; 0 for a plain texture.
        18..30 DEPTH: Uint;
    }
    /// Texture, dword 4.
    TEX_CONST_4 {
        /// Bytes below which a slice of a 3D mip level does not shrink.
        0..3 LAYERSZ: Shl<12>;
        5..31 BASE: Addr<5>;
    }
    /// Texture, dword 5: always 0.
    TEX_CONST_5 { 0..31 VALUE: Hex; }
    /// Texture, dword 6: always 0.
    TEX_CONST_6 { 0..31 VALUE: Hex; }
    /// Texture, dword 7: always 0.
    TEX_CONST_7 { 0..31 VALUE: Hex; }

    /// Storage buffer or image (addresses), dword 0.
    SSBO_0_0 { 5..31 BASE: Addr<5>; }
    /// Storage buffer or image (addresses), dword 1: bytes per row.
    SSBO_0_1 { 0..21 PITCH: Uint; }
    /// Storage buffer or image (addresses), dword 2: bytes per layer.
    SSBO_0_2 { 12..25 ARRAY_PITCH: Shl<12>; }
    /// Storage buffer or image (addresses), dword 3: bytes per pixel.
    SSBO_0_3 { 0..5 CPP: Uint; }

    /// Storage buffer or image (sizes), dword 0.
    SSBO_1_0 {
        0..4 CPP: Uint;
        8..15 FMT: ColorFmt;
        16..31 WIDTH: Uint;
    }
    /// Storage buffer or image (sizes), dword 1.
    SSBO_1_1 {
        0..15 HEIGHT: Uint;
        16..31 DEPTH: Uint;
    }
}

/// The words of a sampler.
pub const SAMPLER: &[WordRow] = &[TEX_SAMP_0::ROW, TEX_SAMP_1::ROW];

/// The words of a texture.
pub const TEXTURE: &[WordRow] = &[
    TEX_CONST_0::ROW,
    TEX_CONST_1::ROW,
    TEX_CONST_2::ROW,
    TEX_CONST_3::ROW,
    TEX_CONST_4::ROW,
    TEX_CONST_5::ROW,
    TEX_CONST_6::ROW,
    TEX_CONST_7::ROW,
];

/// The words of a storage buffer or image: addresses (LOAD_STATE4 type 0).
pub const SSBO_0: &[WordRow] = &[SSBO_0_0::ROW, SSBO_0_1::ROW, SSBO_0_2::ROW, SSBO_0_3::ROW];

/// The words of a storage buffer or image: sizes (LOAD_STATE4 type 1).
pub const SSBO_1: &[WordRow] = &[SSBO_1_0::ROW, SSBO_1_1::ROW];

impl SSBO_1_0 {
    /// Number of elements in a storage buffer: WIDTH has the low half of it, HEIGHT the high half.
    pub fn elements(self, rest: SSBO_1_1) -> u32 {
        self.WIDTH() | rest.HEIGHT() << 16
    }
}

impl TEX_CONST_0 {
    /// Order of texels: a mode with its low bit set is [`TileMode::TILE4_3`] (guess `tile-order`).
    pub fn tile_mode(self) -> TileMode {
        match (self.TILED(), self.TILED_HIGH()) {
            (true, _) => TileMode::TILE4_3,
            (false, true) => TileMode::TILE4_2,
            (false, false) => TileMode::TILE4_LINEAR,
        }
    }
}

impl TEX_CONST_1 {
    /// Number of elements in a buffer texture: WIDTH has the low 15 bits of it, HEIGHT the rest.
    pub fn elements(self) -> u32 {
        self.WIDTH() | self.HEIGHT() << 15
    }
}

impl TEX_CONST_2 {
    /// Smallest pitch of a mip level, in bytes.
    pub fn least_pitch(self) -> u32 {
        32 << self.PITCHALIGN()
    }
}
