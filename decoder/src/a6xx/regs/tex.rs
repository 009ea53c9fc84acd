//! Descriptors of textures, samplers and constant buffers.
use crate::a6xx::enums::*;
use crate::bits::*;

descriptors! {
    /// Sampler, dword 0.
    TEX_SAMP_0 {
        0..0 MIPFILTER_LINEAR_NEAR: Bool; 1..2 XY_MAG: TexFilter; 3..4 XY_MIN: TexFilter;
        5..7 WRAP_S: TexClamp; 8..10 WRAP_T: TexClamp; 11..13 WRAP_R: TexClamp; 14..16 ANISO: TexAniso;
        19..31 LOD_BIAS: Fixed<8>;
    }
    /// Sampler, dword 1.
    TEX_SAMP_1 {
        0..0 CLAMPENABLE: Bool; 1..3 COMPARE_FUNC: CompareFunc; 4..4 CUBEMAPSEAMLESSFILTOFF: Bool;
        5..5 UNNORM_COORDS: Bool; 6..6 MIPFILTER_LINEAR_FAR: Bool; 8..19 MAX_LOD: UFixed<8>;
        20..31 MIN_LOD: UFixed<8>;
    }
    /// Sampler, dword 2.
    TEX_SAMP_2 {
        0..1 REDUCTION_MODE: ReductionMode;
        5..5 CHROMA_LINEAR: Bool;
        /// Offset of the border colour, in units of 128 bytes.
        7..31 BCOLOR: Hex;
    }
    /// Sampler, dword 3: no known fields.
    TEX_SAMP_3 { 0..31 VALUE: Hex; }
    /// Texture, image or buffer, dword 0.
    TEX_CONST_0 {
        0..1 TILE_MODE: TileMode; 2..2 SRGB: Bool; 4..6 SWIZ_X: TexSwiz; 7..9 SWIZ_Y: TexSwiz;
        10..12 SWIZ_Z: TexSwiz; 13..15 SWIZ_W: TexSwiz; 16..19 MIPLVLS: Uint; 20..21 SAMPLES: MsaaSamples;
        22..29 FMT: Format; 30..31 SWAP: ColorSwap;
    }
    /// Texture, dword 1: size of the first level in texels. Of a buffer, WIDTH is the low 15 bits of the number of elements.
    TEX_CONST_1 { 0..14 WIDTH: Uint; 15..29 HEIGHT: Uint; }
    /// Texture, dword 2.
    TEX_CONST_2 {
        /// The pitch of a mip level is at least 64 << PITCHALIGN bytes.
        0..3 PITCHALIGN: Uint;
        /// Bytes per row of the first level. Of a buffer, bits 21:16 of the word are the number of elements before the first one.
        7..28 PITCH: Uint;
        29..31 TYPE: TexType;
    }
    /// Texture, dword 3.
    TEX_CONST_3 {
        /// Bytes per layer, or per slice of the first level.
        0..22 ARRAY_PITCH: Shl<12>;
        /// Bytes below which a slice of a mip level does not shrink.
        23..26 MIN_LAYERSZ: Shl<12>;
        /// All levels are tiled, the smallest ones too.
        27..27 TILE_ALL: Bool;
        /// The texture is compressed (UBWC), with flags at FLAG.
        28..28 FLAG: Bool;
    }
    /// Texture, dword 4.
    TEX_CONST_4 { 5..31 BASE_LO: Addr<5>; }
    /// Texture, dword 5.
    TEX_CONST_5 {
        0..16 BASE_HI: Hex;
        /// Layers or slices.
        17..29 DEPTH: Uint;
    }
    /// Texture, dword 6.
    TEX_CONST_6 { 0..11 MIN_LOD_CLAMP: UFixed<8>; }
    /// Texture, dword 7: flags of compression.
    TEX_CONST_7 { 5..31 FLAG_LO: Addr<5>; }
    /// Texture, dword 8: flags of compression.
    TEX_CONST_8 { 0..16 FLAG_HI: Hex; }
    /// Texture, dword 9: flags of compression.
    TEX_CONST_9 { 0..16 FLAG_BUFFER_ARRAY_PITCH: Shl<4>; }
    /// Texture, dword 10: flags of compression.
    TEX_CONST_10 {
        0..6 FLAG_BUFFER_PITCH: Shl<6>; 8..11 FLAG_BUFFER_LOGW: Uint; 12..15 FLAG_BUFFER_LOGH: Uint;
    }
    /// Texture, dword 11: no known fields.
    TEX_CONST_11 { 0..31 VALUE: Hex; }
    /// Texture, dword 12: no known fields.
    TEX_CONST_12 { 0..31 VALUE: Hex; }
    /// Texture, dword 13: no known fields.
    TEX_CONST_13 { 0..31 VALUE: Hex; }
    /// Texture, dword 14: no known fields.
    TEX_CONST_14 { 0..31 VALUE: Hex; }
    /// Texture, dword 15: no known fields.
    TEX_CONST_15 { 0..31 VALUE: Hex; }
    /// Constant buffer's pointer, dword 0.
    UBO_0 { 0..31 BASE_LO: Hex; }
    /// Constant buffer's pointer, dword 1.
    UBO_1 {
        0..16 BASE_HI: Hex;
        /// In units of 16 bytes.
        17..31 SIZE: Uint;
    }
}

/// The words of a sampler.
pub const SAMPLER: &[WordRow] = &[TEX_SAMP_0::ROW, TEX_SAMP_1::ROW, TEX_SAMP_2::ROW, TEX_SAMP_3::ROW];

/// The words of a texture, an image or a storage buffer.
pub const TEXTURE: &[WordRow] = &[
    TEX_CONST_0::ROW,
    TEX_CONST_1::ROW,
    TEX_CONST_2::ROW,
    TEX_CONST_3::ROW,
    TEX_CONST_4::ROW,
    TEX_CONST_5::ROW,
    TEX_CONST_6::ROW,
    TEX_CONST_7::ROW,
    TEX_CONST_8::ROW,
    TEX_CONST_9::ROW,
    TEX_CONST_10::ROW,
    TEX_CONST_11::ROW,
    TEX_CONST_12::ROW,
    TEX_CONST_13::ROW,
    TEX_CONST_14::ROW,
    TEX_CONST_15::ROW,
];

/// The words of a constant buffer's pointer.
pub const UBO: &[WordRow] = &[UBO_0::ROW, UBO_1::ROW];
