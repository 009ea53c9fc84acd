//! Descriptors of textures, samplers and constant buffers.
use crate::a6xx::enums::*;
use crate::bits::*;

descriptors! {
    TEX_SAMP_0 {
        0..0 MIPFILTER_LINEAR_NEAR: Bool; 1..2 XY_MAG: TexFilter; 3..4 XY_MIN: TexFilter;
        5..7 WRAP_S: TexClamp; 8..10 WRAP_T: TexClamp; 11..13 WRAP_R: TexClamp; 14..16 ANISO: TexAniso;
        19..31 LOD_BIAS: Fixed<8>;
    }
    TEX_SAMP_1 {
        0..0 CLAMPENABLE: Bool; 1..3 COMPARE_FUNC: CompareFunc; 4..4 CUBEMAPSEAMLESSFILTOFF: Bool;
        5..5 UNNORM_COORDS: Bool; 6..6 MIPFILTER_LINEAR_FAR: Bool; 8..19 MAX_LOD: UFixed<8>;
        20..31 MIN_LOD: UFixed<8>;
    }
    TEX_SAMP_2 { 0..1 REDUCTION_MODE: ReductionMode; 5..5 CHROMA_LINEAR: Bool; 7..31 BCOLOR: Hex; }
    TEX_SAMP_3 { 0..31 VALUE: Hex; }
    TEX_CONST_0 {
        0..1 TILE_MODE: TileMode; 2..2 SRGB: Bool; 4..6 SWIZ_X: TexSwiz; 7..9 SWIZ_Y: TexSwiz;
        10..12 SWIZ_Z: TexSwiz; 13..15 SWIZ_W: TexSwiz; 16..16 CHROMA_MIDPOINT_X: Bool; 16..19 MIPLVLS: Uint;
        18..18 CHROMA_MIDPOINT_Y: Bool; 20..21 SAMPLES: MsaaSamples; 22..29 FMT: Format;
        30..31 SWAP: ColorSwap;
    }
    TEX_CONST_1 { 0..14 WIDTH: Uint; 15..29 HEIGHT: Uint; }
    TEX_CONST_2 {
        0..3 PITCHALIGN: Uint; 4..15 STRUCTSIZETEXELS: Uint; 7..28 PITCH: Uint;
        16..21 STARTOFFSETTEXELS: Uint; 29..31 TYPE: TexType;
    }
    TEX_CONST_3 {
        0..22 ARRAY_PITCH: Shl<12>; 23..26 MIN_LAYERSZ: Addr<12>; 27..27 TILE_ALL: Bool; 28..28 FLAG: Bool;
    }
    TEX_CONST_4 { 5..31 BASE_LO: Addr<5>; }
    TEX_CONST_5 { 0..16 BASE_HI: Hex; 17..29 DEPTH: Uint; }
    TEX_CONST_6 { 0..11 MIN_LOD_CLAMP: UFixed<8>; 8..31 PLANE_PITCH: Uint; }
    TEX_CONST_7 { 5..31 FLAG_LO: Addr<5>; }
    TEX_CONST_8 { 0..16 FLAG_HI: Hex; }
    TEX_CONST_9 { 0..16 FLAG_BUFFER_ARRAY_PITCH: Shl<4>; }
    TEX_CONST_10 {
        0..6 FLAG_BUFFER_PITCH: Shl<6>; 8..11 FLAG_BUFFER_LOGW: Uint; 12..15 FLAG_BUFFER_LOGH: Uint;
    }
    TEX_CONST_11 { 0..31 VALUE: Hex; }
    TEX_CONST_12 { 0..31 VALUE: Hex; }
    TEX_CONST_13 { 0..31 VALUE: Hex; }
    TEX_CONST_14 { 0..31 VALUE: Hex; }
    TEX_CONST_15 { 0..31 VALUE: Hex; }
    UBO_0 { 0..31 BASE_LO: Hex; }
    UBO_1 { 0..16 BASE_HI: Hex; 17..31 SIZE: Hex; }
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
