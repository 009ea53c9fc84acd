//! The format tables: one row per format, in the three number spaces of the chip. The matches are exhaustive:
//! a format without a row does not compile. Source: a4xx.xml (a4xx_tex_fmt, a4xx_color_fmt, a4xx_vtx_fmt).
use a4emu_decoder::a4xx::enums::{ColorFmt, TexFmt, VtxFmt};

use crate::draw::rb::rendered::Named;
use a4emu_shader::format::Type::{Fixed, Float, Sint, Snorm, Uint, Unorm};
use a4emu_shader::format::{Compression, Format, Layout};

const fn array(count: u32, bits: u32) -> Layout {
    Layout::array(count, bits)
}

const fn packed(widths: [u32; 4]) -> Layout {
    Layout::packed(widths)
}

const fn reversed(widths: [u32; 4]) -> Layout {
    Layout::reversed(widths)
}

macro_rules! rows {
    ($(#[$doc:meta])* $function:ident($enumeration:ident, $none:ident) { $($name:ident $layout:expr, $ty:expr;)* }) => {
        $(#[$doc])*
        pub const fn $function(fmt: $enumeration) -> Option<Format> {
            Some(match fmt {
                $($enumeration::$name => Format { layout: $layout, ty: $ty },)*
                $enumeration::$none | $enumeration::Other(_) => return None,
            })
        }
    };
}

rows! {
    /// The format of TEX_CONST_0.FMT. `None` for unknown numbers.
    texture(TexFmt, TFMT4_NONE) {
        TFMT4_A8_UNORM packed([0, 0, 0, 8]), Unorm;
        TFMT4_8_UNORM array(1, 8), Unorm;
        TFMT4_8_SNORM array(1, 8), Snorm;
        TFMT4_8_UINT array(1, 8), Uint;
        TFMT4_8_SINT array(1, 8), Sint;
        TFMT4_4_4_4_4_UNORM array(4, 4), Unorm;
        TFMT4_5_5_5_1_UNORM packed([5, 5, 5, 1]), Unorm;
        TFMT4_5_6_5_UNORM packed([5, 6, 5, 0]), Unorm;
        TFMT4_L8_A8_UNORM Layout::LuminanceAlpha8, Unorm;
        TFMT4_8_8_UNORM array(2, 8), Unorm;
        TFMT4_8_8_SNORM array(2, 8), Snorm;
        TFMT4_8_8_UINT array(2, 8), Uint;
        TFMT4_8_8_SINT array(2, 8), Sint;
        TFMT4_16_UNORM array(1, 16), Unorm;
        TFMT4_16_SNORM array(1, 16), Snorm;
        TFMT4_16_FLOAT array(1, 16), Float;
        TFMT4_16_UINT array(1, 16), Uint;
        TFMT4_16_SINT array(1, 16), Sint;
        TFMT4_8_8_8_8_UNORM array(4, 8), Unorm;
        TFMT4_8_8_8_8_SNORM array(4, 8), Snorm;
        TFMT4_8_8_8_8_UINT array(4, 8), Uint;
        TFMT4_8_8_8_8_SINT array(4, 8), Sint;
        TFMT4_9_9_9_E5_FLOAT Layout::SharedExponent, Float;
        TFMT4_10_10_10_2_UNORM packed([10, 10, 10, 2]), Unorm;
        TFMT4_10_10_10_2_UINT packed([10, 10, 10, 2]), Uint;
        TFMT4_11_11_10_FLOAT packed([11, 11, 10, 0]), Float;
        TFMT4_16_16_UNORM array(2, 16), Unorm;
        TFMT4_16_16_SNORM array(2, 16), Snorm;
        TFMT4_16_16_FLOAT array(2, 16), Float;
        TFMT4_16_16_UINT array(2, 16), Uint;
        TFMT4_16_16_SINT array(2, 16), Sint;
        TFMT4_32_FLOAT array(1, 32), Float;
        TFMT4_32_UINT array(1, 32), Uint;
        TFMT4_32_SINT array(1, 32), Sint;
        TFMT4_16_16_16_16_UNORM array(4, 16), Unorm;
        TFMT4_16_16_16_16_SNORM array(4, 16), Snorm;
        TFMT4_16_16_16_16_FLOAT array(4, 16), Float;
        TFMT4_16_16_16_16_UINT array(4, 16), Uint;
        TFMT4_16_16_16_16_SINT array(4, 16), Sint;
        TFMT4_32_32_FLOAT array(2, 32), Float;
        TFMT4_32_32_UINT array(2, 32), Uint;
        TFMT4_32_32_SINT array(2, 32), Sint;
        TFMT4_32_32_32_FLOAT array(3, 32), Float;
        TFMT4_32_32_32_UINT array(3, 32), Uint;
        TFMT4_32_32_32_SINT array(3, 32), Sint;
        TFMT4_32_32_32_32_FLOAT array(4, 32), Float;
        TFMT4_32_32_32_32_UINT array(4, 32), Uint;
        TFMT4_32_32_32_32_SINT array(4, 32), Sint;
        TFMT4_X8Z24_UNORM Layout::Depth24, Unorm;
        TFMT4_DXT1 Layout::Block(Compression::Dxt1), Unorm;
        TFMT4_DXT3 Layout::Block(Compression::Dxt3), Unorm;
        TFMT4_DXT5 Layout::Block(Compression::Dxt5), Unorm;
        TFMT4_RGTC1_UNORM Layout::Block(Compression::Rgtc1), Unorm;
        TFMT4_RGTC1_SNORM Layout::Block(Compression::Rgtc1), Snorm;
        TFMT4_RGTC2_UNORM Layout::Block(Compression::Rgtc2), Unorm;
        TFMT4_RGTC2_SNORM Layout::Block(Compression::Rgtc2), Snorm;
        TFMT4_BPTC_UFLOAT Layout::Block(Compression::BptcUfloat), Float;
        TFMT4_BPTC_FLOAT Layout::Block(Compression::BptcFloat), Float;
        TFMT4_BPTC Layout::Block(Compression::Bptc), Unorm;
        TFMT4_ATC_RGB Layout::Block(Compression::AtcRgb), Unorm;
        TFMT4_ATC_RGBA_EXPLICIT Layout::Block(Compression::AtcExplicit), Unorm;
        TFMT4_ATC_RGBA_INTERPOLATED Layout::Block(Compression::AtcInterpolated), Unorm;
        TFMT4_ETC2_RG11_UNORM Layout::Block(Compression::EacRg), Unorm;
        TFMT4_ETC2_RG11_SNORM Layout::Block(Compression::EacRg), Snorm;
        TFMT4_ETC2_R11_UNORM Layout::Block(Compression::EacR), Unorm;
        TFMT4_ETC2_R11_SNORM Layout::Block(Compression::EacR), Snorm;
        TFMT4_ETC1 Layout::Block(Compression::Etc2Rgb), Unorm;
        TFMT4_ETC2_RGB8 Layout::Block(Compression::Etc2Rgb), Unorm;
        TFMT4_ETC2_RGBA8 Layout::Block(Compression::Etc2Rgba), Unorm;
        TFMT4_ETC2_RGB8A1 Layout::Block(Compression::Etc2RgbA1), Unorm;
        TFMT4_ASTC_4x4 Layout::Block(Compression::Astc(4, 4)), Unorm;
        TFMT4_ASTC_5x4 Layout::Block(Compression::Astc(5, 4)), Unorm;
        TFMT4_ASTC_5x5 Layout::Block(Compression::Astc(5, 5)), Unorm;
        TFMT4_ASTC_6x5 Layout::Block(Compression::Astc(6, 5)), Unorm;
        TFMT4_ASTC_6x6 Layout::Block(Compression::Astc(6, 6)), Unorm;
        TFMT4_ASTC_8x5 Layout::Block(Compression::Astc(8, 5)), Unorm;
        TFMT4_ASTC_8x6 Layout::Block(Compression::Astc(8, 6)), Unorm;
        TFMT4_ASTC_8x8 Layout::Block(Compression::Astc(8, 8)), Unorm;
        TFMT4_ASTC_10x5 Layout::Block(Compression::Astc(10, 5)), Unorm;
        TFMT4_ASTC_10x6 Layout::Block(Compression::Astc(10, 6)), Unorm;
        TFMT4_ASTC_10x8 Layout::Block(Compression::Astc(10, 8)), Unorm;
        TFMT4_ASTC_10x10 Layout::Block(Compression::Astc(10, 10)), Unorm;
        TFMT4_ASTC_12x10 Layout::Block(Compression::Astc(12, 10)), Unorm;
        TFMT4_ASTC_12x12 Layout::Block(Compression::Astc(12, 12)), Unorm;
    }
}

rows! {
    /// The format of RB_MRT_BUF_INFO.COLOR_FORMAT, RB_COPY_DEST_INFO.FORMAT, SSBO_1.FMT.
    color(ColorFmt, RB4_NONE) {
        RB4_A8_UNORM packed([0, 0, 0, 8]), Unorm;
        RB4_R8_UNORM array(1, 8), Unorm;
        RB4_R8_SNORM array(1, 8), Snorm;
        RB4_R8_UINT array(1, 8), Uint;
        RB4_R8_SINT array(1, 8), Sint;
        RB4_R4G4B4A4_UNORM array(4, 4), Unorm;
        RB4_R5G5B5A1_UNORM packed([5, 5, 5, 1]), Unorm;
        RB4_R5G6B5_UNORM packed([5, 6, 5, 0]), Unorm;
        RB4_R8G8_UNORM array(2, 8), Unorm;
        RB4_R8G8_SNORM array(2, 8), Snorm;
        RB4_R8G8_UINT array(2, 8), Uint;
        RB4_R8G8_SINT array(2, 8), Sint;
        RB4_R16_UNORM array(1, 16), Unorm;
        RB4_R16_SNORM array(1, 16), Snorm;
        RB4_R16_FLOAT array(1, 16), Float;
        RB4_R16_UINT array(1, 16), Uint;
        RB4_R16_SINT array(1, 16), Sint;
        RB4_R8G8B8_UNORM array(3, 8), Unorm;
        RB4_R8G8B8A8_UNORM array(4, 8), Unorm;
        RB4_R8G8B8A8_SNORM array(4, 8), Snorm;
        RB4_R8G8B8A8_UINT array(4, 8), Uint;
        RB4_R8G8B8A8_SINT array(4, 8), Sint;
        RB4_R10G10B10A2_UNORM packed([10, 10, 10, 2]), Unorm;
        RB4_R10G10B10A2_UINT packed([10, 10, 10, 2]), Uint;
        RB4_R11G11B10_FLOAT packed([11, 11, 10, 0]), Float;
        RB4_R16G16_UNORM array(2, 16), Unorm;
        RB4_R16G16_SNORM array(2, 16), Snorm;
        RB4_R16G16_FLOAT array(2, 16), Float;
        RB4_R16G16_UINT array(2, 16), Uint;
        RB4_R16G16_SINT array(2, 16), Sint;
        RB4_R32_FLOAT array(1, 32), Float;
        RB4_R32_UINT array(1, 32), Uint;
        RB4_R32_SINT array(1, 32), Sint;
        RB4_R16G16B16A16_UNORM array(4, 16), Unorm;
        RB4_R16G16B16A16_SNORM array(4, 16), Snorm;
        RB4_R16G16B16A16_FLOAT array(4, 16), Float;
        RB4_R16G16B16A16_UINT array(4, 16), Uint;
        RB4_R16G16B16A16_SINT array(4, 16), Sint;
        RB4_R32G32_FLOAT array(2, 32), Float;
        RB4_R32G32_UINT array(2, 32), Uint;
        RB4_R32G32_SINT array(2, 32), Sint;
        RB4_R32G32B32A32_FLOAT array(4, 32), Float;
        RB4_R32G32B32A32_UINT array(4, 32), Uint;
        RB4_R32G32B32A32_SINT array(4, 32), Sint;
    }
}

rows! {
    /// The format of VFD_DECODE.FORMAT.
    vertex(VtxFmt, VFMT4_NONE) {
        VFMT4_32_FLOAT array(1, 32), Float;
        VFMT4_32_32_FLOAT array(2, 32), Float;
        VFMT4_32_32_32_FLOAT array(3, 32), Float;
        VFMT4_32_32_32_32_FLOAT array(4, 32), Float;
        VFMT4_16_FLOAT array(1, 16), Float;
        VFMT4_16_16_FLOAT array(2, 16), Float;
        VFMT4_16_16_16_FLOAT array(3, 16), Float;
        VFMT4_16_16_16_16_FLOAT array(4, 16), Float;
        VFMT4_32_FIXED array(1, 32), Fixed;
        VFMT4_32_32_FIXED array(2, 32), Fixed;
        VFMT4_32_32_32_FIXED array(3, 32), Fixed;
        VFMT4_32_32_32_32_FIXED array(4, 32), Fixed;
        VFMT4_11_11_10_FLOAT packed([11, 11, 10, 0]), Float;
        VFMT4_16_SINT array(1, 16), Sint;
        VFMT4_16_16_SINT array(2, 16), Sint;
        VFMT4_16_16_16_SINT array(3, 16), Sint;
        VFMT4_16_16_16_16_SINT array(4, 16), Sint;
        VFMT4_16_UINT array(1, 16), Uint;
        VFMT4_16_16_UINT array(2, 16), Uint;
        VFMT4_16_16_16_UINT array(3, 16), Uint;
        VFMT4_16_16_16_16_UINT array(4, 16), Uint;
        VFMT4_16_SNORM array(1, 16), Snorm;
        VFMT4_16_16_SNORM array(2, 16), Snorm;
        VFMT4_16_16_16_SNORM array(3, 16), Snorm;
        VFMT4_16_16_16_16_SNORM array(4, 16), Snorm;
        VFMT4_16_UNORM array(1, 16), Unorm;
        VFMT4_16_16_UNORM array(2, 16), Unorm;
        VFMT4_16_16_16_UNORM array(3, 16), Unorm;
        VFMT4_16_16_16_16_UNORM array(4, 16), Unorm;
        VFMT4_32_UINT array(1, 32), Uint;
        VFMT4_32_32_UINT array(2, 32), Uint;
        VFMT4_32_32_32_UINT array(3, 32), Uint;
        VFMT4_32_32_32_32_UINT array(4, 32), Uint;
        VFMT4_32_SINT array(1, 32), Sint;
        VFMT4_32_32_SINT array(2, 32), Sint;
        VFMT4_32_32_32_SINT array(3, 32), Sint;
        VFMT4_32_32_32_32_SINT array(4, 32), Sint;
        VFMT4_8_UINT array(1, 8), Uint;
        VFMT4_8_8_UINT array(2, 8), Uint;
        VFMT4_8_8_8_UINT array(3, 8), Uint;
        VFMT4_8_8_8_8_UINT array(4, 8), Uint;
        VFMT4_8_UNORM array(1, 8), Unorm;
        VFMT4_8_8_UNORM array(2, 8), Unorm;
        VFMT4_8_8_8_UNORM array(3, 8), Unorm;
        VFMT4_8_8_8_8_UNORM array(4, 8), Unorm;
        VFMT4_8_SINT array(1, 8), Sint;
        VFMT4_8_8_SINT array(2, 8), Sint;
        VFMT4_8_8_8_SINT array(3, 8), Sint;
        VFMT4_8_8_8_8_SINT array(4, 8), Sint;
        VFMT4_8_SNORM array(1, 8), Snorm;
        VFMT4_8_8_SNORM array(2, 8), Snorm;
        VFMT4_8_8_8_SNORM array(3, 8), Snorm;
        VFMT4_8_8_8_8_SNORM array(4, 8), Snorm;
        VFMT4_10_10_10_2_UINT packed([10, 10, 10, 2]), Uint;
        VFMT4_10_10_10_2_UNORM packed([10, 10, 10, 2]), Unorm;
        VFMT4_10_10_10_2_SINT packed([10, 10, 10, 2]), Sint;
        VFMT4_10_10_10_2_SNORM packed([10, 10, 10, 2]), Snorm;
        VFMT4_2_10_10_10_UINT reversed([10, 10, 10, 2]), Uint;
        VFMT4_2_10_10_10_UNORM reversed([10, 10, 10, 2]), Unorm;
        VFMT4_2_10_10_10_SINT reversed([10, 10, 10, 2]), Sint;
        VFMT4_2_10_10_10_SNORM reversed([10, 10, 10, 2]), Snorm;
    }
}

/// The format of a render target or copy destination, with its name.
pub fn named_color(fmt: ColorFmt) -> Option<Named<Format>> {
    Some(Named { name: ColorFmt::TABLE.name_of(fmt.to_bits())?, value: color(fmt)? })
}
