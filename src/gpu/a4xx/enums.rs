//! Enumerations of registers and descriptors, as the blocks have them. The matches are exhaustive: a value without a row
//! does not compile.

use a4emu_decoder::a4xx::enums::{
    self, BlendOpcode, ColorSwap, CompareFunc, IntpMode, PrimType, ReplMode, RopCode, TexSwiz, TileMode,
};

use crate::draw::compare::Compare;
use crate::draw::rb::blend::{BlendFactor, BlendOp, Rop};
use crate::draw::rb::depth::{DepthFormat, StencilOp};
use crate::draw::rb::rendered::Named;
use crate::draw::topology::Topology;
use crate::draw::tpl1::Swizzle;
use crate::draw::vpc::state::{Interpolation, Replacement};
use a4emu_shader::format::Swap;
use a4emu_shader::format::arrangement::Tiling;

/// Makes functions from an enumeration of the A4xx to a type of the blocks: a row for each value, and behind `_` what a
/// value without a name means.
macro_rules! rows {
    ($($(#[$doc:meta])* $function:ident($from:path => $to:path) { $($name:ident => $value:ident,)* _ => $other:ident })*) => {
        $(rows! { @one $(#[$doc])* $function $from, $to, [$($name $value)*] $other })*
    };
    (@one $(#[$doc:meta])* $function:ident $from:path, $to:path, [$($name:ident $value:ident)*] $other:ident) => {
        $(#[$doc])*
        pub const fn $function(value: $from) -> $to {
            use $from as From;
            use $to as To;
            match value {
                $(From::$name => To::$value,)*
                From::Other(_) => To::$other,
            }
        }
    };
}

rows! {
    /// A comparison of depth, stencil, alpha or a shadow texture. Its fields have no value without a name.
    compare(CompareFunc => Compare) {
        FUNC_NEVER => Never,
        FUNC_LESS => Less,
        FUNC_EQUAL => Equal,
        FUNC_LEQUAL => LessEqual,
        FUNC_GREATER => Greater,
        FUNC_NOTEQUAL => NotEqual,
        FUNC_GEQUAL => GreaterEqual,
        FUNC_ALWAYS => Always,
        _ => Never
    }

    /// An operation on a stencil value. Its fields have no value without a name.
    stencil_op(enums::StencilOp => StencilOp) {
        STENCIL_KEEP => Keep,
        STENCIL_ZERO => Zero,
        STENCIL_REPLACE => Replace,
        STENCIL_INCR_CLAMP => IncrementClamp,
        STENCIL_DECR_CLAMP => DecrementClamp,
        STENCIL_INVERT => Invert,
        STENCIL_INCR_WRAP => IncrementWrap,
        STENCIL_DECR_WRAP => DecrementWrap,
        _ => Keep
    }

    /// A blend factor.
    blend_factor(enums::BlendFactor => BlendFactor) {
        FACTOR_ZERO => Zero,
        FACTOR_ONE => One,
        FACTOR_SRC_COLOR => SrcColor,
        FACTOR_ONE_MINUS_SRC_COLOR => OneMinusSrcColor,
        FACTOR_SRC_ALPHA => SrcAlpha,
        FACTOR_ONE_MINUS_SRC_ALPHA => OneMinusSrcAlpha,
        FACTOR_DST_COLOR => DstColor,
        FACTOR_ONE_MINUS_DST_COLOR => OneMinusDstColor,
        FACTOR_DST_ALPHA => DstAlpha,
        FACTOR_ONE_MINUS_DST_ALPHA => OneMinusDstAlpha,
        FACTOR_CONSTANT_COLOR => ConstantColor,
        FACTOR_ONE_MINUS_CONSTANT_COLOR => OneMinusConstantColor,
        FACTOR_CONSTANT_ALPHA => ConstantAlpha,
        FACTOR_ONE_MINUS_CONSTANT_ALPHA => OneMinusConstantAlpha,
        FACTOR_SRC_ALPHA_SATURATE => SrcAlphaSaturate,
        FACTOR_SRC1_COLOR => Src1Color,
        FACTOR_ONE_MINUS_SRC1_COLOR => OneMinusSrc1Color,
        FACTOR_SRC1_ALPHA => Src1Alpha,
        FACTOR_ONE_MINUS_SRC1_ALPHA => OneMinusSrc1Alpha,
        _ => Unknown
    }

    /// A blend equation.
    blend_op(BlendOpcode => BlendOp) {
        BLEND_DST_PLUS_SRC => Add,
        BLEND_SRC_MINUS_DST => Subtract,
        BLEND_DST_MINUS_SRC => ReverseSubtract,
        BLEND_MIN_DST_SRC => Min,
        BLEND_MAX_DST_SRC => Max,
        _ => Unknown
    }

    /// What a depth buffer holds. Its fields have no value without a name.
    depth_format(enums::DepthFormat => DepthFormat) {
        DEPTH4_NONE => None,
        DEPTH4_16 => Unorm16,
        DEPTH4_24_8 => Unorm24Stencil8,
        DEPTH4_32 => Float32,
        _ => Float32
    }

    /// How a varying component reaches the fragment shader. Its fields have no value without a name.
    interpolation(IntpMode => Interpolation) {
        SMOOTH => Smooth,
        FLAT => Flat,
        ZERO => Zero,
        ONE => One,
        _ => Smooth
    }

    /// What replaces a varying component in a point sprite.
    replacement(ReplMode => Replacement) {
        S => S,
        T => T,
        ONE_T => OneMinusT,
        _ => None
    }

    /// The source of a texture component. Values without a name are 0.
    swizzle(TexSwiz => Swizzle) {
        A4XX_TEX_X => X,
        A4XX_TEX_Y => Y,
        A4XX_TEX_Z => Z,
        A4XX_TEX_W => W,
        A4XX_TEX_ZERO => Zero,
        A4XX_TEX_ONE => One,
        _ => Zero
    }

    /// The order of components in memory. Its fields have no value without a name.
    swap(ColorSwap => Swap) {
        WZYX => WZYX,
        WXYZ => WXYZ,
        ZYXW => ZYXW,
        XYZW => XYZW,
        _ => WZYX
    }
}

/// A depth format with its name.
pub fn named_depth_format(format: enums::DepthFormat) -> Named<DepthFormat> {
    let name = enums::DepthFormat::TABLE.name_of(format.to_bits()).unwrap_or("DEPTH4_NONE");
    Named { name, value: depth_format(format) }
}

/// The type of a draw's vertex list.
pub const fn topology(kind: PrimType) -> Topology {
    const PATCHES: u32 = PrimType::DI_PT_PATCHES0.to_bits();
    const LAST: u32 = PrimType::DI_PT_PATCHES31.to_bits();
    match kind {
        PrimType::DI_PT_NONE => Topology::None,
        PrimType::DI_PT_POINTLIST_PSIZE => Topology::SizedPoints,
        PrimType::DI_PT_LINELIST => Topology::Lines,
        PrimType::DI_PT_LINESTRIP => Topology::LineStrip,
        PrimType::DI_PT_TRILIST => Topology::Triangles,
        PrimType::DI_PT_TRIFAN => Topology::TriangleFan,
        PrimType::DI_PT_TRISTRIP => Topology::TriangleStrip,
        PrimType::DI_PT_LINELOOP => Topology::LineLoop,
        PrimType::DI_PT_RECTLIST => Topology::Rectangles,
        PrimType::DI_PT_POINTLIST => Topology::Points,
        PrimType::DI_PT_LINE_ADJ => Topology::LinesAdjacent,
        PrimType::DI_PT_LINESTRIP_ADJ => Topology::LineStripAdjacent,
        PrimType::DI_PT_TRI_ADJ => Topology::TrianglesAdjacent,
        PrimType::DI_PT_TRISTRIP_ADJ => Topology::TriangleStripAdjacent,
        other => match other.to_bits() {
            number @ PATCHES..=LAST => Topology::Patches(number - PATCHES),
            number => Topology::Unknown(number),
        },
    }
}

/// A logic operation. The code is the truth table of source and destination.
pub const fn rop(code: RopCode) -> Rop {
    Rop(code.to_bits() as u8 & 0xf)
}

/// The order of the pixels of a surface (guess `tile-order`); `None` for a number without a name.
pub const fn tiling(mode: TileMode) -> Option<Tiling> {
    match mode {
        TileMode::TILE4_LINEAR => Some(Tiling::Linear),
        TileMode::TILE4_2 => Some(Tiling::Squares(32)),
        TileMode::TILE4_3 => Some(Tiling::Squares(4)),
        TileMode::Other(_) => None,
    }
}
