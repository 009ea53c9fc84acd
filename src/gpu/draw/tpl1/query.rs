//! Queries about a texture: getsize, getbuf, getinfo.
//!
//! Source: docs/hardware/ir3-isa.md, section 8.1; the codes of getinfo are OpenCL's image
//! channel types and orders as the A3xx/A4xx blob numbers them.
use super::descriptor::{Texture, TextureKind};
use super::layout::minify;
use a4emu_shader::format::{Format, Layout, Swap, Transfer, Type};
use a4emu_shader::{LANES, Lanes, Question};

/// Returns x, y, z, w of the result as integers. Queries about render targets are not supported here and
/// return 0.
pub(super) fn answer(texture: &Texture, query: &Question<&Lanes>) -> [Lanes; 4] {
    match query {
        Question::Size(level) => size(texture, level),
        Question::Buffer => [texture.levels[0].width, 0, 0, 0].map(Lanes::splat),
        Question::Info => info(texture).map(Lanes::splat),
        Question::SamplePosition(_) | Question::RenderTargetInfo | Question::RenderTargetPosition(_) => {
            [Lanes::ZERO; 4]
        }
    }
}

/// Returns width, height and depth at a level, and the DEPTH field. A level that does not exist has size 0
/// (guess `texel-outside`).
fn size(texture: &Texture, level: &Lanes) -> [Lanes; 4] {
    let mut out = [Lanes::ZERO; 4];
    let volume = texture.kind == TextureKind::Volume;
    for i in 0..LANES {
        if let Some(at) = texture.levels.get(level[i] as usize) {
            out[0][i] = at.width;
            out[1][i] = at.height;
            out[2][i] = if volume { minify(texture.depth_field, level[i]) } else { texture.depth_field };
        }
        out[3][i] = texture.depth_field;
    }
    out
}

/// Returns channel type and order, levels and samples. The field of the descriptor is one less than the levels. The A4xx
/// adds the one itself: the driver's compiler does it for A3xx only (ir3_compiler.h, `levels_add_one`), and piglit's
/// arb_texture_query_levels requires it.
fn info(texture: &Texture) -> [u32; 4] {
    let (ty, order) = (channel_type(texture.format), channel_order(texture.format, texture));
    [ty, order, texture.level_count, texture.arrangement.samples]
}

fn channel_type(format: Format) -> u32 {
    let widths = match format.layout {
        Layout::Fields { widths, .. } => widths,
        Layout::LuminanceAlpha8 | Layout::Block(_) => [8; 4],
        Layout::Depth24 => return 18,
        Layout::SharedExponent => return 15,
    };
    let widest = widths.into_iter().max().unwrap_or(0);
    match (format.ty, widths, widest) {
        (Type::Unorm, [5, 6, 5, 0], _) => 4,
        (Type::Unorm, [5, 5, 5, 1], _) => 5,
        (Type::Unorm, _, 10) => 6,
        (Type::Uint, _, 10) => 16,
        (Type::Unorm, _, 4) => 17,
        (Type::Float, _, 11) => 15,
        (Type::Snorm, _, 8) => 0,
        (Type::Snorm, ..) => 1,
        (Type::Unorm, _, 8) => 2,
        (Type::Unorm, ..) => 3,
        (Type::Sint, ..) => 7 + size_code(widest),
        (Type::Uint, ..) => 10 + size_code(widest),
        (Type::Float, _, 16) => 13,
        (Type::Float | Type::Fixed, ..) => 14,
    }
}

fn size_code(width: u32) -> u32 {
    match width {
        8 => 0,
        16 => 1,
        _ => 2,
    }
}

fn channel_order(format: Format, texture: &Texture) -> u32 {
    let components = match format.layout {
        Layout::Fields { widths: [0, 0, 0, _], .. } => return 0,
        Layout::Fields { widths, .. } => widths.into_iter().filter(|&width| width != 0).count(),
        Layout::Depth24 => return 17,
        Layout::SharedExponent => 3,
        Layout::LuminanceAlpha8 | Layout::Block(_) => 4,
    };
    match (components, texture.swap, texture.transfer) {
        (4, _, Transfer::Srgb) => 16,
        (_, _, Transfer::Srgb) => 15,
        (1, ..) => 1,
        (2, ..) => 3,
        (3, Swap::WXYZ, _) => 14,
        (3, ..) => 6,
        (_, Swap::WXYZ, _) => 10,
        (_, Swap::ZYXW, _) => 9,
        (_, Swap::XYZW, _) => 13,
        (_, Swap::WZYX, _) => 8,
    }
}
