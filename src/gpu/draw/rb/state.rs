//! State of the render backend from registers: targets, depth, stencil, alpha test, blending, copies.

use a4emu_decoder::a4xx::enums::*;
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::bits::Register;

use crate::regfile::RegFile;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Format, Layout, Transfer, Type};
use a4emu_shader::{Epilogue, Number};

use super::alpha_test::AlphaTest;
use super::coverage::{AlphaCoverage, SampleControl};
use super::rendered::Content;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;
use crate::draw::gras::state::{sample_counts, scissor};
use crate::draw::rb::blend::{Blend, ConstantCopy, Equation};
use crate::draw::rb::color::{ColorOutput, ColorTarget, Precision};
use crate::draw::rb::depth::{DepthStencil, DepthWrite, StencilFace};
use crate::draw::rb::depth_target::{DepthLayout, DepthTarget};
use crate::draw::rb::dither::Dither;
use crate::draw::rb::surface::{Location, Surface};

/// Render targets and tests of a draw.
pub struct Targets {
    /// All surfaces. Targets refer to them by index.
    pub surfaces: Vec<Surface>,
    /// Colour targets with write access.
    pub color: Vec<ColorTarget>,
    /// Index of each colour target in RB_MRT.
    pub color_index: Vec<u32>,
    /// Format of each colour target, for display.
    pub color_format: Vec<(ColorFmt, ColorSwap)>,
    /// Depth and stencil, when a test is on.
    pub depth: Option<DepthTarget>,
    /// Register of the shader's depth output.
    pub depth_output: Option<u32>,
    /// Alpha test, when it is on.
    pub alpha_test: Option<AlphaTest>,
    /// Register of output 0, for the alpha test, and of output 1, for dual source.
    pub outputs: [ColorOutput; 2],
    /// Pixels that the draw may write.
    pub scissor: Rect,
    /// Size of the frame in pixels.
    pub size: [u32; 2],
    /// Whether tests must run after the shader.
    pub order: TestOrder,
    /// Samples per pixel of the surfaces.
    pub samples: Samples,
    /// Samples to write.
    pub sample_control: SampleControl,
    /// Whether dithering of a target depends on blending ("alpha off").
    pub alpha_off: Option<AlphaOff>,
}

/// Marker: dithering depends on "alpha off".
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AlphaOff;

/// Time of the depth and stencil tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TestOrder {
    /// Before the shader, if the shader allows it.
    Early,
    /// After the shader.
    Late,
}

impl Targets {
    /// Returns whether all surfaces are in tile memory.
    pub fn are_in_tile_memory(&self) -> bool {
        self.surfaces.iter().all(|surface| matches!(surface.location, Location::Gmem(_)))
    }

    /// Returns the cost of a pixel in the bounds of a primitive, in writes of one plain dword colour.
    pub fn pixel_price(&self) -> u64 {
        let colors: u64 = self.color.iter().map(ColorTarget::dwords).sum();
        let depth = u64::from(self.depth.is_some());
        (colors + depth).max(1) * self.samples.count() as u64
    }

    /// Returns the bits of a surface that the draw may change.
    pub fn written_bits(&self, surface: usize) -> u32 {
        let depth = self.depth.iter().flat_map(DepthTarget::written);
        let color = self.color.iter().map(|target| (target.surface, u32::MAX));
        depth.chain(color).filter(|(of, _)| *of == surface).fold(0, |all, (_, bits)| all | bits)
    }

    /// Returns the epilogue for compiled code, with its surface, if there is exactly one colour target. Pixels
    /// can be dropped between shader and epilogue: by the alpha of the colour, or by a depth that is not the
    /// shader's.
    pub fn epilogue(&self) -> Option<(Epilogue, usize)> {
        let Self { alpha_test, color, outputs, depth_output, .. } = self;
        let [target] = &color[..] else { return None };
        let is_known = alpha_test.is_none() || outputs[0] == target.output;
        if !is_known || depth_output.is_some() {
            return None;
        }
        Some((Epilogue { keeps_alpha: alpha_test.is_some(), ..target.epilogue()? }, target.surface))
    }

    /// Takes a snapshot of the registers.
    pub fn snapshot(regs: &RegFile, unsupported: &mut Vec<String>) -> Self {
        let mut targets = Self {
            surfaces: Vec::new(),
            color: Vec::new(),
            color_index: Vec::new(),
            color_format: Vec::new(),
            depth: None,
            depth_output: depth_output(regs),
            alpha_test: alpha_test(regs),
            outputs: [output(regs, 0), output(regs, 1)],
            scissor: scissor(regs),
            size: frame_size(regs),
            order: test_order(regs),
            samples: Samples::of(sample_counts(regs)),
            sample_control: sample_control(regs),
            alpha_off: None,
        };
        note_multisampling(regs, unsupported);
        targets.add_colors(regs, unsupported);
        targets.add_depth(regs);
        for surface in &targets.surfaces {
            let [x0, y0] = surface.origin;
            targets.scissor = targets.scissor.intersect(Rect { x0, y0, ..Rect::ALL });
        }
        targets
    }

    fn add_colors(&mut self, regs: &RegFile, unsupported: &mut Vec<String>) {
        let components = regs.get::<RB_RENDER_COMPONENTS>();
        let outputs = regs.get::<SP_FS_OUTPUT_REG>().MRT().min(8);
        for i in 0..outputs {
            let control = regs.at::<RB_MRT_CONTROL>(i);
            if components.target(i) & control.COMPONENT_ENABLE() != 0 {
                self.add_color(regs, unsupported, i, components.target(i) & control.COMPONENT_ENABLE());
            }
        }
    }

    fn add_color(&mut self, regs: &RegFile, unsupported: &mut Vec<String>, i: u32, components: u32) {
        let info = regs.at::<RB_MRT_BUF_INFO>(i);
        let transfer = if info.COLOR_SRGB() { Transfer::Srgb } else { Transfer::Linear };
        let format = Format::color(info.COLOR_FORMAT());
        let Some((format, codec)) = format.and_then(|f| Some((f, f.codec(info.COLOR_SWAP(), transfer)?)))
        else {
            let what =
                format!("RB_MRT[{i}].BUF_INFO = {:#010x}: colour format {:?}", info.0, info.COLOR_FORMAT());
            unsupported.push(what);
            return;
        };
        if info.DITHER_MODE() == DitherMode::DITHER_IF_ALPHA_OFF {
            self.alpha_off = Some(AlphaOff);
        }
        let control = regs.at::<RB_MRT_CONTROL>(i);
        let mut target = ColorTarget {
            surface: self.surfaces.len(),
            output: output(regs, i),
            codec,
            blend: (control.BLEND() && !codec.is_integer())
                .then(|| blend(regs, i, format))
                .filter(|b| !b.is_copy()),
            rop: Some(control.ROP_CODE()).filter(|code| control.ROP_ENABLE() && *code != RopCode::ROP_COPY),
            writable: codec.bits(components),
            unorm8: unorm8(format, info.COLOR_SWAP(), transfer),
            dither: Dither::new(format, transfer).filter(|_| dithers(info.DITHER_MODE(), control.BLEND())),
        };
        target.limit_constant();
        self.color.push(target);
        self.color_index.push(i);
        self.color_format.push((info.COLOR_FORMAT(), info.COLOR_SWAP()));
        let base = regs.at::<RB_MRT_BASE>(i).VALUE();
        let tiling = color_tiling(regs, i).unwrap_or_else(|| {
            let what =
                format!("RB_MRT[{i}].BUF_INFO = {:#010x}: tile mode {:?}", info.0, info.COLOR_TILE_MODE());
            unsupported.push(what);
            Tiling::Linear
        });
        let surface = surface(regs, base, color_pitch(regs, i), codec.bytes());
        self.surfaces.push(Surface { tiling, ..surface });
    }

    fn add_depth(&mut self, regs: &RegFile) {
        let format = regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT();
        let mut state = DepthStencil {
            format,
            depth: depth_test(regs),
            limits: limits(regs, format),
            stencil: stencil(regs),
        };
        if format == DepthFormat::DEPTH4_NONE {
            state.depth = None;
        }
        let separate = regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL();
        if format != DepthFormat::DEPTH4_24_8 && !separate {
            state.stencil = None;
        }
        if state.depth.is_none() && state.stencil.is_none() {
            return;
        }
        let mut add = |base, pitch, cpp| {
            self.surfaces.push(surface(regs, base, pitch, cpp));
            self.surfaces.len() - 1
        };
        let base = regs.get::<RB_DEPTH_INFO>().DEPTH_BASE();
        let pitch = regs.get::<RB_DEPTH_PITCH>().VALUE();
        let layout = if format == DepthFormat::DEPTH4_24_8 {
            DepthLayout::Packed(add(base, pitch, 4))
        } else {
            let cpp = if format == DepthFormat::DEPTH4_16 { 2 } else { 4 };
            let depth = state.depth.map(|_| add(base, pitch, cpp));
            let (base, pitch) =
                (regs.get::<RB_STENCIL_INFO>().STENCIL_BASE(), regs.get::<RB_STENCIL_PITCH>().VALUE());
            DepthLayout::Separate { depth, stencil: state.stencil.map(|_| add(base, pitch, 1)) }
        };
        self.depth = Some(DepthTarget { state, layout });
    }
}

/// A copy of tile memory to memory in the resolve pass.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ResolveState {
    /// Screen position of the first pixel in tile memory.
    pub origin: [i32; 2],
    /// Offset of the first pixel in tile memory.
    pub gmem_base: u32,
    /// Bytes from row to row in tile memory.
    pub gmem_pitch: u32,
    /// Address for the first pixel of the screen in memory.
    pub base: u32,
    /// Bytes from row to row in memory.
    pub pitch: u32,
    /// Bytes of a pixel in memory.
    pub cpp: u32,
    /// Samples of a pixel in tile memory that become one in memory.
    pub samples: u32,
    /// Format of a pixel.
    pub format: ColorFmt,
    /// Order of its components.
    pub swap: ColorSwap,
    /// Arrangement of the pixels in memory.
    pub arrangement: Arrangement,
    /// Dithering of averaged samples.
    pub dither: Option<Dither>,
    /// Content of the source.
    pub content: Content,
    /// Size of the whole surface in pixels.
    pub size: [u32; 2],
}

impl ResolveState {
    /// Returns the copy that the registers describe, or `None` when it is not supported.
    pub fn snapshot(regs: &RegFile, unsupported: &mut Vec<String>) -> Option<Self> {
        let control = regs.get::<RB_COPY_CONTROL>();
        let info = regs.get::<RB_COPY_DEST_INFO>();
        let tiling = Tiling::of(info.TILE()).filter(|_| control.MODE() != CopyControlMode::RB_COPY_CLEAR);
        let (Some(tiling), true) = (tiling, control.MSAA_RESOLVE() != MsaaSamples::MSAA_EIGHT) else {
            let words =
                format!("RB_COPY_CONTROL = {:#010x}, RB_COPY_DEST_INFO = {:#010x}", control.0, info.0);
            unsupported.push(format!("{words}: copy"));
            return None;
        };
        let Some(format) = Format::color(info.FORMAT()) else {
            unsupported.push(format!("RB_COPY_DEST_INFO = {:#010x}: format {:?}", info.0, info.FORMAT()));
            return None;
        };
        let [samples, kept] = copied_samples(regs, control);
        let cpp = format.block().bytes * kept;
        let content = match is_depth(regs, control) {
            true => Content::Depth(regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT()),
            false => Content::Color,
        };
        Some(Self {
            origin: bin_origin(regs),
            gmem_base: control.GMEM_BASE(),
            gmem_pitch: regs.get::<RB_MODE_CONTROL>().WIDTH() * cpp * samples,
            base: regs.get::<RB_COPY_DEST_BASE>().BASE(),
            pitch: regs.get::<RB_COPY_DEST_PITCH>().PITCH(),
            cpp,
            samples,
            format: info.FORMAT(),
            swap: info.SWAP(),
            arrangement: Arrangement { samples: kept, tiling },
            dither: Dither::new(format, Transfer::Linear).filter(|_| dithers(info.DITHER_MODE(), false)),
            content,
            size: frame_size(regs),
        })
    }
}

/// Returns how many samples become one pixel, and how many samples per pixel remain. A copy without resolve
/// of a multisampled target copies all samples (guess `copy-samples`).
pub fn copied_samples(regs: &RegFile, control: RB_COPY_CONTROL) -> [u32; 2] {
    match control.MSAA_RESOLVE() {
        MsaaSamples::MSAA_TWO => [2, 1],
        MsaaSamples::MSAA_FOUR => [4, 1],
        _ => [1, Samples::of(sample_counts(regs)).count() as u32],
    }
}

/// Returns the size of the frame in pixels.
fn frame_size(regs: &RegFile) -> [u32; 2] {
    let size = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    [size.WIDTH(), size.HEIGHT()]
}

/// Returns whether rasteriser discard is on. Then only stores of the vertex stages have an effect.
pub fn discards(regs: &RegFile) -> bool {
    regs.get::<RB_RENDER_CONTROL>().DISABLE_COLOR_PIPE()
}

/// Returns the largest area of a resolve copy: the part of the tile within the scissors.
pub fn resolve_bounds(regs: &RegFile) -> Rect {
    let [x0, y0] = bin_origin(regs);
    scissor(regs).intersect(Rect { x0, y0, ..Rect::ALL })
}

/// Returns whether the copy reads the depth buffer. The open driver copies it like a colour, so its position
/// in tile memory decides, unless a colour target has the same position.
fn is_depth(regs: &RegFile, control: RB_COPY_CONTROL) -> bool {
    let base = control.GMEM_BASE();
    let depth = regs.get::<RB_DEPTH_INFO>();
    let color = (0..8).any(|i| {
        let format = Format::color(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT());
        format.is_some() && regs.at::<RB_MRT_BASE>(i).VALUE() == base
    });
    let copied = depth.DEPTH_FORMAT() != DepthFormat::DEPTH4_NONE && depth.DEPTH_BASE() == base && !color;
    copied || control.MODE() == CopyControlMode::RB_COPY_DEPTH_STENCIL
}

/// Returns whether colours are dithered. "Alpha off" is read as "blending off" (guess `dither-alpha`).
fn dithers(mode: DitherMode, blends: bool) -> bool {
    match mode {
        DitherMode::DITHER_ALWAYS => true,
        DitherMode::DITHER_IF_ALPHA_OFF => !blends,
        DitherMode::DITHER_DISABLE | DitherMode::Other(_) => false,
    }
}

/// Reports sample counts that A420 does not support. It has up to four samples, and drivers give all blocks
/// the same number (docs/hardware/hazards.md, P24).
fn note_multisampling(regs: &RegFile, unsupported: &mut Vec<String>) {
    let [held, looked] = sample_counts(regs);
    if held > 2 || (looked != 0 && looked != held) {
        let (scan, target) = (regs.get::<GRAS_SC_CONTROL>().0, regs.get::<RB_MSAA_CONTROL>().0);
        let count = Samples::of([held, looked]).count();
        let words = format!("GRAS_SC_CONTROL = {scan:#010x}, RB_MSAA_CONTROL = {target:#010x}");
        unsupported.push(format!("{words}: multisampling (drawn with samples: {count})"));
    }
}

/// Returns the sample masks. A target with one sample has none.
fn sample_control(regs: &RegFile) -> SampleControl {
    if Samples::of(sample_counts(regs)).count() == 1 {
        return SampleControl::default();
    }
    let output = regs.get::<RB_FS_OUTPUT>();
    SampleControl {
        mask: output.SAMPLE_MASK(),
        alpha: output.ALPHA_TO_COVERAGE().then_some(AlphaCoverage),
        output: mask_output(regs),
    }
}

/// Returns the register of the shader's sample mask. Drivers write r0.x when there is none
/// (docs/hardware/registers.md, section 10.2; guess `mask-output`).
fn mask_output(regs: &RegFile) -> Option<u32> {
    used(regs.get::<SP_FS_OUTPUT_REG>().SAMPLEMASK_REGID()).filter(|id| *id != 0)
}

/// Returns a target's surface, in memory when tile memory is bypassed. The bin offset counts only while
/// ENABLE_GMEM is set (docs/hardware/registers.md, section 6.1).
///
/// Each layer has as many rows as RB_FRAME_BUFFER_DIMENSION (guess `layer-stride`: RB_MRT_CONTROL3.STRIDE,
/// which the open driver leaves 0 for targets in memory, may set it).
fn surface(regs: &RegFile, base: u32, pitch: u32, cpp: u32) -> Surface {
    let location = if is_bypass(regs) { Location::Memory(base) } else { Location::Gmem(base) };
    let layer = pitch.saturating_mul(regs.get::<RB_FRAME_BUFFER_DIMENSION>().HEIGHT());
    let cpp = cpp * Samples::of(sample_counts(regs)).count() as u32;
    Surface { location, pitch, cpp, origin: bin_origin(regs), layer, tiling: Tiling::Linear }
}

/// Returns the pixel order of colour target `i`. The order in tile memory is not visible from outside. `None`
/// for a number without a name.
pub fn color_tiling(regs: &RegFile, i: u32) -> Option<Tiling> {
    match is_bypass(regs) {
        true => Tiling::of(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_TILE_MODE()),
        false => Some(Tiling::Linear),
    }
}

/// Returns the bytes from row to row of colour target `i`.
pub fn color_pitch(regs: &RegFile, i: u32) -> u32 {
    match regs.at::<RB_MRT_BUF_INFO>(i).COLOR_BUF_PITCH() {
        0 => regs.at::<RB_MRT_CONTROL3>(i).STRIDE(),
        pitch => pitch,
    }
}

/// Returns whether targets are in memory.
pub fn is_bypass(regs: &RegFile) -> bool {
    regs.get::<RB_MODE_CONTROL>().BYPASS() != 0
}

/// Returns the screen position of the first pixel of the targets.
fn bin_origin(regs: &RegFile) -> [i32; 2] {
    let offset = regs.get::<RB_BIN_OFFSET>();
    match regs.get::<RB_MODE_CONTROL>().ENABLE_GMEM() {
        true => [offset.X() as i32, offset.Y() as i32],
        false => [0, 0],
    }
}

fn output(regs: &RegFile, i: u32) -> ColorOutput {
    let mrt = regs.at::<SP_FS_MRT>(i);
    ColorOutput {
        regid: mrt.REGID(),
        precision: if mrt.HALF_PRECISION() { Precision::Half } else { Precision::Full },
        number: match (mrt.COLOR_SINT(), mrt.COLOR_UINT()) {
            (true, _) => Number::Sint,
            (false, true) => Number::Uint,
            (false, false) => Number::Float,
        },
    }
}

fn depth_output(regs: &RegFile) -> Option<u32> {
    let output = regs.get::<SP_FS_OUTPUT_REG>();
    output.DEPTH_ENABLE().then(|| used(output.DEPTH_REGID())).flatten()
}

fn alpha_test(regs: &RegFile) -> Option<AlphaTest> {
    let control = regs.get::<RB_ALPHA_CONTROL>();
    let func = control.ALPHA_TEST_FUNC();
    (control.ALPHA_TEST() && func != CompareFunc::FUNC_ALWAYS)
        .then(|| AlphaTest { func, reference: control.ALPHA_REF() as f32 / 255.0 })
}

fn test_order(regs: &RegFile) -> TestOrder {
    let control = regs.get::<RB_DEPTH_CONTROL>();
    let samples = sample_control(regs);
    let late = control.EARLY_Z_DISABLE()
        || control.FRAG_WRITES_Z()
        || regs.get::<SP_FS_OUTPUT_REG>().DEPTH_ENABLE()
        || alpha_test(regs).is_some()
        || samples.alpha.is_some()
        || samples.output.is_some();
    if late { TestOrder::Late } else { TestOrder::Early }
}

/// Returns the blend equations of target `i`, and the constant as a target of `format` takes it.
pub fn blend(regs: &RegFile, i: u32, format: Format) -> Blend {
    let control = regs.at::<RB_MRT_BLEND_CONTROL>(i);
    Blend {
        rgb: Equation {
            op: control.RGB_BLEND_OPCODE(),
            src: control.RGB_SRC_FACTOR(),
            dst: control.RGB_DEST_FACTOR(),
        },
        alpha: Equation {
            op: control.ALPHA_BLEND_OPCODE(),
            src: control.ALPHA_SRC_FACTOR(),
            dst: control.ALPHA_DEST_FACTOR(),
        },
        constant: std::array::from_fn(|c| blend_constant(regs, c as u32, ConstantCopy::of(format))),
    }
}

/// Returns the register with a copy of component `c` of the blend constant.
pub fn blend_constant_register(c: u32, copy: ConstantCopy) -> u32 {
    match copy {
        ConstantCopy::F32 => RB_BLEND_RED_F32::ROW.offset + 2 * c,
        _ => RB_BLEND_RED::ROW.offset + 2 * c,
    }
}

/// Returns a copy of component `c` of the blend constant. Registers of the components follow each other.
pub fn blend_constant(regs: &RegFile, c: u32, copy: ConstantCopy) -> f32 {
    let word = regs.read(blend_constant_register(c, copy));
    let fields = RB_BLEND_RED::from_word(word);
    match copy {
        ConstantCopy::Uint => fields.UINT() as f32 / 255.0,
        ConstantCopy::Sint => (f32::from(fields.SINT() as i8) / 127.0).max(-1.0),
        ConstantCopy::Half => fields.FLOAT(),
        ConstantCopy::F32 => f32::from_bits(word),
    }
}

/// Returns the order of components in memory, if the format has a fast path.
fn unorm8(format: Format, swap: ColorSwap, transfer: Transfer) -> Option<[usize; 4]> {
    let bytes = matches!(format.layout, Layout::Fields { widths: [8, 8, 8, 8], order: [0, 1, 2, 3] });
    if !bytes || format.ty != Type::Unorm || transfer != Transfer::Linear {
        return None;
    }
    match swap {
        ColorSwap::WZYX => Some([0, 1, 2, 3]),
        ColorSwap::WXYZ => Some([2, 1, 0, 3]),
        _ => None,
    }
}

fn depth_test(regs: &RegFile) -> Option<(CompareFunc, DepthWrite)> {
    let control = regs.get::<RB_DEPTH_CONTROL>();
    let write = if control.Z_WRITE_ENABLE() { DepthWrite::Store } else { DepthWrite::Keep };
    control.Z_TEST_ENABLE().then(|| (control.ZFUNC(), write))
}

/// Returns the limits of window z: from registers when enabled, else 0 to 1.
fn limits(regs: &RegFile, format: DepthFormat) -> [f32; 2] {
    if !regs.get::<RB_DEPTH_CONTROL>().Z_CLAMP_ENABLE() {
        return [0.0, 1.0];
    }
    let raw = [regs.at::<RB_VPORT_Z_CLAMP_MIN>(0).VALUE(), regs.at::<RB_VPORT_Z_CLAMP_MAX>(0).VALUE()];
    match format {
        DepthFormat::DEPTH4_16 => raw.map(|v| v as f32 / 65535.0),
        DepthFormat::DEPTH4_24_8 => raw.map(|v| v as f32 / 16_777_215.0),
        _ => raw.map(f32::from_bits),
    }
}

fn stencil(regs: &RegFile) -> Option<[StencilFace; 2]> {
    let control = regs.get::<RB_STENCIL_CONTROL>();
    let (front_ref, back_ref) = (regs.get::<RB_STENCILREFMASK>(), regs.get::<RB_STENCILREFMASK_BF>());
    let front = StencilFace {
        func: control.FUNC(),
        fail: control.FAIL(),
        zpass: control.ZPASS(),
        zfail: control.ZFAIL(),
        reference: front_ref.STENCILREF(),
        mask: front_ref.STENCILMASK(),
        write_mask: front_ref.STENCILWRITEMASK(),
    };
    let back = StencilFace {
        func: control.FUNC_BF(),
        fail: control.FAIL_BF(),
        zpass: control.ZPASS_BF(),
        zfail: control.ZFAIL_BF(),
        reference: back_ref.STENCILREF(),
        mask: back_ref.STENCILMASK(),
        write_mask: back_ref.STENCILWRITEMASK(),
    };
    let back = if control.STENCIL_ENABLE_BF() { back } else { front };
    control.STENCIL_ENABLE().then_some([front, back])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Copies of the constant that no two have in common.
    fn constants() -> RegFile {
        let mut regs = RegFile::default();
        let write = |regs: &mut RegFile, offset, value| regs.write(offset, value).unwrap();
        for c in 0..4 {
            write(&mut regs, RB_BLEND_RED::ROW.offset + 2 * c, 0x3800_a040);
            write(&mut regs, RB_BLEND_RED_F32::ROW.offset + 2 * c, 0.75f32.to_bits());
        }
        write(&mut regs, SP_FS_OUTPUT_REG::ROW.offset, 1);
        write(&mut regs, RB_RENDER_COMPONENTS::ROW.offset, 0xf);
        let factor = BlendFactor::FACTOR_CONSTANT_COLOR.to_bits();
        write(&mut regs, RB_MRT_BLEND_CONTROL::ROW.offset, factor);
        write(&mut regs, RB_MRT_CONTROL::ROW.offset, 0xf00_0010);
        regs
    }

    #[test]
    fn each_format_takes_its_copy_of_the_blend_constant() {
        use ColorFmt::*;
        let (uint, sint, half, full) = (64.0 / 255.0, -96.0 / 127.0, 0.5, 0.75);
        for (format, taken) in [
            (RB4_A8_UNORM, Some(uint)),
            (RB4_R8_UNORM, Some(uint)),
            (RB4_R8G8B8A8_UNORM, Some(uint)),
            (RB4_R5G6B5_UNORM, Some(uint)),
            (RB4_R5G5B5A1_UNORM, Some(uint)),
            (RB4_R4G4B4A4_UNORM, Some(uint)),
            (RB4_R8G8B8A8_SNORM, Some(sint)),
            (RB4_R10G10B10A2_UNORM, Some(half)),
            (RB4_R16G16_UNORM, Some(half)),
            (RB4_R16G16B16A16_SNORM, Some(half)),
            (RB4_R16G16B16A16_FLOAT, Some(half)),
            (RB4_R11G11B10_FLOAT, Some(half)),
            (RB4_R32_FLOAT, Some(full)),
            (RB4_R32G32B32A32_FLOAT, Some(full)),
            (RB4_R8G8B8A8_UINT, None),
            (RB4_R32_SINT, None),
        ] {
            for srgb in [0, 1 << 13] {
                let mut regs = constants();
                regs.write(RB_MRT_BUF_INFO::ROW.offset, format.to_bits() | srgb).unwrap();
                let targets = Targets::snapshot(&regs, &mut Vec::new());
                let constant = targets.color[0].blend.map(|blend| blend.constant);
                assert_eq!(constant, taken.map(|value| [value; 4]), "{format:?}");
            }
        }
    }

    #[test]
    fn the_lowest_snorm_constant_is_minus_one() {
        let mut regs = constants();
        regs.write(RB_BLEND_RED::ROW.offset, 0x8000).unwrap();
        assert_eq!(blend_constant(&regs, 0, ConstantCopy::Sint), -1.0);
    }
}
