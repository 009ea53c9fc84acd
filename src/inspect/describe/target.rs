//! Output state: depth, stencil, colour targets with blending, and resolves.

use std::fmt::Debug;

use a4emu_decoder::a4xx::enums::{CompareFunc, DepthFormat, StencilOp};
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::{SP_FS_MRT, SP_FS_OUTPUT_REG};
use serde::Serialize;

use super::name::{Address, components, name, register};
use a4emu_gpu::a4xx::rb::{self, blend_constant, color_pitch, color_tiling, is_bypass};
use a4emu_gpu::a4xx::{enums, formats};
use a4emu_gpu::draw::rb::blend::ConstantCopy;
use a4emu_gpu::draw::rb::depth;
use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::regfile::RegFile;
use a4emu_shader::format::arrangement::Tiling;
use a4emu_shader::format::{Format, Swap};

/// The place of a surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SurfacePlace {
    /// Byte offset in GMEM.
    Gmem(u32),
    /// Address in memory.
    Address(Address),
}

impl SurfacePlace {
    fn new(regs: &RegFile, base: u32) -> Self {
        if is_bypass(regs) { Self::Address(Address::of(base)) } else { Self::Gmem(base) }
    }
}

/// A colour target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Target {
    /// Number of the target.
    pub index: u32,
    /// Format.
    pub format: String,
    /// Order of components in memory.
    pub swap: String,
    /// Whether x, y and z are stored in sRGB.
    pub srgb: bool,
    /// Place of its first pixel.
    #[serde(flatten)]
    pub place: SurfacePlace,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Shader register that is written to the target.
    pub register: String,
    /// Components that are written, out of `rgba`.
    pub write_mask: String,
    /// Blending, if it is on.
    pub blend: Option<Blend>,
    /// Logic operation, if it is on.
    pub rop: Option<String>,
    /// Tile mode in memory, of an A6xx.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tile_mode: Option<String>,
    /// The format and component order; none of an A6xx.
    #[serde(skip)]
    pub pixel: Option<(Format, Swap)>,
    /// Tiling of the pixels.
    #[serde(skip)]
    pub tiling: Tiling,
}

/// Blending.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Blend {
    /// Equation of red, green and blue.
    pub rgb: Equation,
    /// Equation of alpha.
    pub alpha: Equation,
}

/// `source * src OP destination * dst`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Equation {
    /// Operation.
    pub op: String,
    /// Factor of the source.
    pub src: String,
    /// Factor of the destination.
    pub dst: String,
}

impl Equation {
    /// The equation of these enumerators.
    pub(super) fn new(op: impl Debug, src: impl Debug, dst: impl Debug) -> Self {
        Self { op: name(op), src: name(src), dst: name(dst) }
    }
}

impl Target {
    /// The targets that the shader has outputs for.
    pub(super) fn all(regs: &RegFile) -> Vec<Self> {
        let outputs = regs.get::<SP_FS_OUTPUT_REG>().MRT().min(TARGETS);
        (0..outputs).filter_map(|i| Self::at(regs, i)).collect()
    }

    /// The constant colour as the first target that blends takes it.
    pub(super) fn blend_constant(regs: &RegFile) -> [f32; 4] {
        let format = |i| formats::color(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT());
        let outputs = 0..regs.get::<SP_FS_OUTPUT_REG>().MRT().min(TARGETS);
        let first = outputs.filter(|i| regs.at::<RB_MRT_CONTROL>(*i).BLEND()).find_map(format);
        let copy = first.map_or(ConstantCopy::F32, ConstantCopy::of);
        [0, 1, 2, 3].map(|c| blend_constant(regs, c, copy))
    }

    fn at(regs: &RegFile, i: u32) -> Option<Self> {
        let (control, info) = (regs.at::<RB_MRT_CONTROL>(i), regs.at::<RB_MRT_BUF_INFO>(i));
        let pixel = formats::color(info.COLOR_FORMAT())?;
        let written = control.COMPONENT_ENABLE() & regs.get::<RB_RENDER_COMPONENTS>().target(i);
        Some(Self {
            index: i,
            format: name(info.COLOR_FORMAT()),
            swap: name(info.COLOR_SWAP()),
            srgb: info.COLOR_SRGB(),
            place: SurfacePlace::new(regs, regs.at::<RB_MRT_BASE>(i).VALUE()),
            pitch: color_pitch(regs, i),
            register: register(regs.at::<SP_FS_MRT>(i).REGID()),
            write_mask: components(written, ['r', 'g', 'b', 'a']),
            blend: control.BLEND().then(|| Blend::of(regs.at(i))),
            rop: control.ROP_ENABLE().then(|| name(control.ROP_CODE())),
            tile_mode: None,
            pixel: Some((pixel, enums::swap(info.COLOR_SWAP()))),
            tiling: color_tiling(regs, i).unwrap_or(Tiling::Linear),
        })
    }
}

impl Blend {
    fn of(control: RB_MRT_BLEND_CONTROL) -> Self {
        Self {
            rgb: Equation::new(
                control.RGB_BLEND_OPCODE(),
                control.RGB_SRC_FACTOR(),
                control.RGB_DEST_FACTOR(),
            ),
            alpha: Equation::new(
                control.ALPHA_BLEND_OPCODE(),
                control.ALPHA_SRC_FACTOR(),
                control.ALPHA_DEST_FACTOR(),
            ),
        }
    }
}

/// The depth buffer and its test.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Depth {
    /// Format.
    pub format: String,
    /// Place of its first pixel.
    #[serde(flatten)]
    pub place: SurfacePlace,
    /// Bytes from row to row.
    pub pitch: u32,
    /// Whether pixels are tested.
    pub test: bool,
    /// Whether the depth of pixels that pass is stored.
    pub write: bool,
    /// The comparison that passes a pixel.
    pub func: String,
    /// The format.
    #[serde(skip)]
    pub pixel: depth::DepthFormat,
}

impl Depth {
    pub(super) fn of(regs: &RegFile) -> Option<Self> {
        let (info, control) = (regs.get::<RB_DEPTH_INFO>(), regs.get::<RB_DEPTH_CONTROL>());
        (info.DEPTH_FORMAT() != DepthFormat::DEPTH4_NONE).then(|| Self {
            format: name(info.DEPTH_FORMAT()),
            place: SurfacePlace::new(regs, info.DEPTH_BASE()),
            pitch: regs.get::<RB_DEPTH_PITCH>().VALUE(),
            test: control.Z_TEST_ENABLE(),
            write: control.Z_WRITE_ENABLE(),
            func: name(control.ZFUNC()),
            pixel: enums::depth_format(info.DEPTH_FORMAT()),
        })
    }
}

/// The stencil test, if it is on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stencil {
    /// The separate stencil buffer, if any; otherwise stencil is packed with depth.
    pub separate: Option<StencilBuffer>,
    /// Test of front faces.
    pub front: StencilFace,
    /// Test of back faces.
    pub back: StencilFace,
}

/// A stencil buffer without depth.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct StencilBuffer {
    /// Place of its first pixel.
    #[serde(flatten)]
    pub place: SurfacePlace,
    /// Bytes from row to row.
    pub pitch: u32,
}

/// The stencil test of a face.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StencilFace {
    /// The comparison that passes a pixel.
    pub func: String,
    /// Operation on the value if the stencil test fails.
    pub fail: String,
    /// Operation if the depth test fails.
    pub zfail: String,
    /// Operation if both tests pass.
    pub zpass: String,
    /// Reference value, which is compared and stored.
    pub reference: u32,
    /// Bits that are compared.
    pub mask: u32,
    /// Bits that are stored.
    pub write_mask: u32,
}

impl Stencil {
    pub(super) fn of(regs: &RegFile) -> Option<Self> {
        let control = regs.get::<RB_STENCIL_CONTROL>();
        let (values, back_values) = (regs.get::<RB_STENCILREFMASK>(), regs.get::<RB_STENCILREFMASK_BF>());
        let front = StencilFace::new(
            control.FUNC(),
            [control.FAIL(), control.ZFAIL(), control.ZPASS()],
            [values.STENCILREF(), values.STENCILMASK(), values.STENCILWRITEMASK()],
        );
        let back = StencilFace::new(
            control.FUNC_BF(),
            [control.FAIL_BF(), control.ZFAIL_BF(), control.ZPASS_BF()],
            [back_values.STENCILREF(), back_values.STENCILMASK(), back_values.STENCILWRITEMASK()],
        );
        let back = if control.STENCIL_ENABLE_BF() { back } else { front.clone() };
        control.STENCIL_ENABLE().then(|| Self { separate: StencilBuffer::of(regs), front, back })
    }
}

impl StencilFace {
    /// Makes the test from its operations (stencil fails, depth fails, both pass) and its three values.
    pub(super) fn new(func: CompareFunc, [fail, zfail, zpass]: [StencilOp; 3], values: [u32; 3]) -> Self {
        let [reference, mask, write_mask] = values;
        let (fail, zfail, zpass) = (name(fail), name(zfail), name(zpass));
        Self { func: name(func), fail, zfail, zpass, reference, mask, write_mask }
    }
}

impl StencilBuffer {
    /// The stencil buffer, if it is separate from depth.
    pub(super) fn of(regs: &RegFile) -> Option<Self> {
        let info = regs.get::<RB_STENCIL_INFO>();
        info.SEPARATE_STENCIL().then(|| Self {
            place: SurfacePlace::new(regs, info.STENCIL_BASE()),
            pitch: regs.get::<RB_STENCIL_PITCH>().VALUE(),
        })
    }
}

/// A copy of GMEM to memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Resolve {
    /// What is copied: `color` or `depth`.
    pub content: &'static str,
    /// Byte offset of the source in GMEM.
    pub gmem: u32,
    /// Address of the first pixel of the surface.
    pub address: Address,
    /// Bytes from row to row of the surface.
    pub pitch: u32,
    /// Format.
    pub format: String,
    /// Order of components in memory.
    pub swap: String,
    /// The surface that it writes.
    #[serde(skip)]
    pub written: Written,
}

impl Resolve {
    pub(super) fn of(regs: &RegFile, submit: u32, draw: u32) -> Option<Self> {
        let state = rb::resolve(regs, &mut Vec::new())?;
        Some(Self {
            content: if state.content == Content::Color { "color" } else { "depth" },
            gmem: state.gmem_base,
            address: Address::of(state.base),
            pitch: state.pitch,
            format: name(state.format),
            swap: name(state.swap),
            written: state.written(submit, draw),
        })
    }
}
