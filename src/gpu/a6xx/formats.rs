//! The format table: one row per format. The match is exhaustive: a format without a row does not compile. Source: a6xx.xml
//! (a6xx_format) of Mesa 25.0.7. The layouts are those of the A4xx's formats of the same name.
use a4emu_decoder::a6xx::enums::Format as Fmt;

use a4emu_shader::format::Type::{Fixed, Float, Sint, Snorm, Uint, Unorm};
use a4emu_shader::format::{Compression, Format, Layout};

const fn array(count: u32, bits: u32) -> Layout {
    Layout::array(count, bits)
}

const fn packed(widths: [u32; 4]) -> Layout {
    Layout::packed(widths)
}

/// The format of TEX_CONST_0.FMT. `None` for unknown numbers, planes of video, and depth.
pub const fn texture(fmt: Fmt) -> Option<Format> {
    let (layout, ty) = match fmt {
        Fmt::FMT6_A8_UNORM => (packed([0, 0, 0, 8]), Unorm),
        Fmt::FMT6_8_UNORM => (array(1, 8), Unorm),
        Fmt::FMT6_8_SNORM => (array(1, 8), Snorm),
        Fmt::FMT6_8_UINT => (array(1, 8), Uint),
        Fmt::FMT6_8_SINT => (array(1, 8), Sint),
        Fmt::FMT6_4_4_4_4_UNORM => (array(4, 4), Unorm),
        Fmt::FMT6_5_5_5_1_UNORM => (packed([5, 5, 5, 1]), Unorm),
        Fmt::FMT6_1_5_5_5_UNORM => (packed([1, 5, 5, 5]), Unorm),
        Fmt::FMT6_5_6_5_UNORM => (packed([5, 6, 5, 0]), Unorm),
        Fmt::FMT6_8_8_UNORM => (array(2, 8), Unorm),
        Fmt::FMT6_8_8_SNORM => (array(2, 8), Snorm),
        Fmt::FMT6_8_8_UINT => (array(2, 8), Uint),
        Fmt::FMT6_8_8_SINT => (array(2, 8), Sint),
        Fmt::FMT6_L8_A8_UNORM => (Layout::LuminanceAlpha8, Unorm),
        Fmt::FMT6_16_UNORM => (array(1, 16), Unorm),
        Fmt::FMT6_16_SNORM => (array(1, 16), Snorm),
        Fmt::FMT6_16_FLOAT => (array(1, 16), Float),
        Fmt::FMT6_16_UINT => (array(1, 16), Uint),
        Fmt::FMT6_16_SINT => (array(1, 16), Sint),
        Fmt::FMT6_8_8_8_UNORM => (array(3, 8), Unorm),
        Fmt::FMT6_8_8_8_SNORM => (array(3, 8), Snorm),
        Fmt::FMT6_8_8_8_UINT => (array(3, 8), Uint),
        Fmt::FMT6_8_8_8_SINT => (array(3, 8), Sint),
        Fmt::FMT6_8_8_8_8_UNORM => (array(4, 8), Unorm),
        Fmt::FMT6_8_8_8_8_SNORM => (array(4, 8), Snorm),
        Fmt::FMT6_8_8_8_8_UINT => (array(4, 8), Uint),
        Fmt::FMT6_8_8_8_8_SINT => (array(4, 8), Sint),
        Fmt::FMT6_9_9_9_E5_FLOAT => (Layout::SharedExponent, Float),
        Fmt::FMT6_10_10_10_2_UNORM => (packed([10, 10, 10, 2]), Unorm),
        Fmt::FMT6_10_10_10_2_UNORM_DEST => (packed([10, 10, 10, 2]), Unorm),
        Fmt::FMT6_10_10_10_2_SNORM => (packed([10, 10, 10, 2]), Snorm),
        Fmt::FMT6_10_10_10_2_UINT => (packed([10, 10, 10, 2]), Uint),
        Fmt::FMT6_10_10_10_2_SINT => (packed([10, 10, 10, 2]), Sint),
        Fmt::FMT6_11_11_10_FLOAT => (packed([11, 11, 10, 0]), Float),
        Fmt::FMT6_16_16_UNORM => (array(2, 16), Unorm),
        Fmt::FMT6_16_16_SNORM => (array(2, 16), Snorm),
        Fmt::FMT6_16_16_FLOAT => (array(2, 16), Float),
        Fmt::FMT6_16_16_UINT => (array(2, 16), Uint),
        Fmt::FMT6_16_16_SINT => (array(2, 16), Sint),
        Fmt::FMT6_32_UNORM => (array(1, 32), Unorm),
        Fmt::FMT6_32_SNORM => (array(1, 32), Snorm),
        Fmt::FMT6_32_FLOAT => (array(1, 32), Float),
        Fmt::FMT6_32_UINT => (array(1, 32), Uint),
        Fmt::FMT6_32_SINT => (array(1, 32), Sint),
        Fmt::FMT6_32_FIXED => (array(1, 32), Fixed),
        Fmt::FMT6_16_16_16_UNORM => (array(3, 16), Unorm),
        Fmt::FMT6_16_16_16_SNORM => (array(3, 16), Snorm),
        Fmt::FMT6_16_16_16_FLOAT => (array(3, 16), Float),
        Fmt::FMT6_16_16_16_UINT => (array(3, 16), Uint),
        Fmt::FMT6_16_16_16_SINT => (array(3, 16), Sint),
        Fmt::FMT6_16_16_16_16_UNORM => (array(4, 16), Unorm),
        Fmt::FMT6_16_16_16_16_SNORM => (array(4, 16), Snorm),
        Fmt::FMT6_16_16_16_16_FLOAT => (array(4, 16), Float),
        Fmt::FMT6_16_16_16_16_UINT => (array(4, 16), Uint),
        Fmt::FMT6_16_16_16_16_SINT => (array(4, 16), Sint),
        Fmt::FMT6_32_32_UNORM => (array(2, 32), Unorm),
        Fmt::FMT6_32_32_SNORM => (array(2, 32), Snorm),
        Fmt::FMT6_32_32_FLOAT => (array(2, 32), Float),
        Fmt::FMT6_32_32_UINT => (array(2, 32), Uint),
        Fmt::FMT6_32_32_SINT => (array(2, 32), Sint),
        Fmt::FMT6_32_32_FIXED => (array(2, 32), Fixed),
        Fmt::FMT6_32_32_32_UNORM => (array(3, 32), Unorm),
        Fmt::FMT6_32_32_32_SNORM => (array(3, 32), Snorm),
        Fmt::FMT6_32_32_32_UINT => (array(3, 32), Uint),
        Fmt::FMT6_32_32_32_SINT => (array(3, 32), Sint),
        Fmt::FMT6_32_32_32_FLOAT => (array(3, 32), Float),
        Fmt::FMT6_32_32_32_FIXED => (array(3, 32), Fixed),
        Fmt::FMT6_32_32_32_32_UNORM => (array(4, 32), Unorm),
        Fmt::FMT6_32_32_32_32_SNORM => (array(4, 32), Snorm),
        Fmt::FMT6_32_32_32_32_FLOAT => (array(4, 32), Float),
        Fmt::FMT6_32_32_32_32_UINT => (array(4, 32), Uint),
        Fmt::FMT6_32_32_32_32_SINT => (array(4, 32), Sint),
        Fmt::FMT6_32_32_32_32_FIXED => (array(4, 32), Fixed),
        Fmt::FMT6_ETC2_RG11_UNORM => (Layout::Block(Compression::EacRg), Unorm),
        Fmt::FMT6_ETC2_RG11_SNORM => (Layout::Block(Compression::EacRg), Snorm),
        Fmt::FMT6_ETC2_R11_UNORM => (Layout::Block(Compression::EacR), Unorm),
        Fmt::FMT6_ETC2_R11_SNORM => (Layout::Block(Compression::EacR), Snorm),
        Fmt::FMT6_ETC1 => (Layout::Block(Compression::Etc2Rgb), Unorm),
        Fmt::FMT6_ETC2_RGB8 => (Layout::Block(Compression::Etc2Rgb), Unorm),
        Fmt::FMT6_ETC2_RGBA8 => (Layout::Block(Compression::Etc2Rgba), Unorm),
        Fmt::FMT6_ETC2_RGB8A1 => (Layout::Block(Compression::Etc2RgbA1), Unorm),
        Fmt::FMT6_DXT1 => (Layout::Block(Compression::Dxt1), Unorm),
        Fmt::FMT6_DXT3 => (Layout::Block(Compression::Dxt3), Unorm),
        Fmt::FMT6_DXT5 => (Layout::Block(Compression::Dxt5), Unorm),
        Fmt::FMT6_RGTC1_UNORM => (Layout::Block(Compression::Rgtc1), Unorm),
        Fmt::FMT6_RGTC1_SNORM => (Layout::Block(Compression::Rgtc1), Snorm),
        Fmt::FMT6_RGTC2_UNORM => (Layout::Block(Compression::Rgtc2), Unorm),
        Fmt::FMT6_RGTC2_SNORM => (Layout::Block(Compression::Rgtc2), Snorm),
        Fmt::FMT6_BPTC_UFLOAT => (Layout::Block(Compression::BptcUfloat), Float),
        Fmt::FMT6_BPTC_FLOAT => (Layout::Block(Compression::BptcFloat), Float),
        Fmt::FMT6_BPTC => (Layout::Block(Compression::Bptc), Unorm),
        Fmt::FMT6_ASTC_4x4 => (Layout::Block(Compression::Astc(4, 4)), Unorm),
        Fmt::FMT6_ASTC_5x4 => (Layout::Block(Compression::Astc(5, 4)), Unorm),
        Fmt::FMT6_ASTC_5x5 => (Layout::Block(Compression::Astc(5, 5)), Unorm),
        Fmt::FMT6_ASTC_6x5 => (Layout::Block(Compression::Astc(6, 5)), Unorm),
        Fmt::FMT6_ASTC_6x6 => (Layout::Block(Compression::Astc(6, 6)), Unorm),
        Fmt::FMT6_ASTC_8x5 => (Layout::Block(Compression::Astc(8, 5)), Unorm),
        Fmt::FMT6_ASTC_8x6 => (Layout::Block(Compression::Astc(8, 6)), Unorm),
        Fmt::FMT6_ASTC_8x8 => (Layout::Block(Compression::Astc(8, 8)), Unorm),
        Fmt::FMT6_ASTC_10x5 => (Layout::Block(Compression::Astc(10, 5)), Unorm),
        Fmt::FMT6_ASTC_10x6 => (Layout::Block(Compression::Astc(10, 6)), Unorm),
        Fmt::FMT6_ASTC_10x8 => (Layout::Block(Compression::Astc(10, 8)), Unorm),
        Fmt::FMT6_ASTC_10x10 => (Layout::Block(Compression::Astc(10, 10)), Unorm),
        Fmt::FMT6_ASTC_12x10 => (Layout::Block(Compression::Astc(12, 10)), Unorm),
        Fmt::FMT6_ASTC_12x12 => (Layout::Block(Compression::Astc(12, 12)), Unorm),
        Fmt::FMT6_G8R8B8R8_422_UNORM
        | Fmt::FMT6_R8G8R8B8_422_UNORM
        | Fmt::FMT6_R8_G8B8_2PLANE_420_UNORM
        | Fmt::FMT6_NV21
        | Fmt::FMT6_R8_G8_B8_3PLANE_420_UNORM
        | Fmt::FMT6_Z24_UNORM_S8_UINT_AS_R8G8B8A8
        | Fmt::FMT6_NV12_Y
        | Fmt::FMT6_NV12_UV
        | Fmt::FMT6_NV12_VU
        | Fmt::FMT6_NV12_4R
        | Fmt::FMT6_NV12_4R_Y
        | Fmt::FMT6_NV12_4R_UV
        | Fmt::FMT6_P010
        | Fmt::FMT6_P010_Y
        | Fmt::FMT6_P010_UV
        | Fmt::FMT6_TP10
        | Fmt::FMT6_TP10_Y
        | Fmt::FMT6_TP10_UV
        | Fmt::FMT6_Z24_UNORM_S8_UINT
        | Fmt::FMT6_Z24_UINT_S8_UINT
        | Fmt::FMT6_NONE
        | Fmt::FMT6_8_8_8_X8_UNORM
        | Fmt::Other(_) => return None,
    };
    Some(Format { layout, ty })
}
