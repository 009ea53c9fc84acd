//! The registers of the render backend: targets, depth, stencil, alpha test, blending, copies.

use a4emu_decoder::a4xx::enums::{CopyControlMode, DitherMode, MsaaSamples};
use a4emu_decoder::a4xx::regs::gras::GRAS_SC_CONTROL;
use a4emu_decoder::a4xx::regs::groups::used;
use a4emu_decoder::a4xx::regs::rb::*;
use a4emu_decoder::a4xx::regs::sp::*;
use a4emu_decoder::bits::Register;
use a4emu_shader::Number;
use a4emu_shader::format::arrangement::{Arrangement, Tiling};
use a4emu_shader::format::{Format, Layout, Swap, Transfer, Type};

use super::enums::{
    blend_factor, blend_op, compare, depth_format, named_depth_format, rop, stencil_op, swap, tiling,
};
use super::formats::{self, named_color};
use super::gras::{sample_counts, scissor};
use crate::draw::compare::Compare;
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;
use crate::draw::rb::alpha_test::AlphaTest;
use crate::draw::rb::blend::{Blend, ConstantCopy, Equation, Rop};
use crate::draw::rb::color::{ColorOutput, ColorTarget, Precision};
use crate::draw::rb::coverage::{AlphaCoverage, SampleControl};
use crate::draw::rb::depth::{DepthFormat, DepthStencil, DepthWrite, StencilFace};
use crate::draw::rb::depth_target::{DepthLayout, DepthTarget};
use crate::draw::rb::dither::Dither;
use crate::draw::rb::rendered::Content;
use crate::draw::rb::state::{AlphaOff, ResolveState, Targets, TestOrder};
use crate::draw::rb::surface::{Location, Surface};
use crate::regfile::RegFile;

/// Reads the render targets and tests of a draw. What is not supported is put into `unsupported`.
pub fn targets(regs: &RegFile, unsupported: &mut Vec<String>) -> Targets {
    let mut targets = Targets {
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
    add_colors(&mut targets, regs, unsupported);
    add_depth(&mut targets, regs);
    for surface in &targets.surfaces {
        let [x0, y0] = surface.origin;
        targets.scissor = targets.scissor.intersect(Rect { x0, y0, ..Rect::ALL });
    }
    targets
}

fn add_colors(targets: &mut Targets, regs: &RegFile, unsupported: &mut Vec<String>) {
    let components = regs.get::<RB_RENDER_COMPONENTS>();
    let outputs = regs.get::<SP_FS_OUTPUT_REG>().MRT().min(8);
    for i in 0..outputs {
        let control = regs.at::<RB_MRT_CONTROL>(i);
        if components.target(i) & control.COMPONENT_ENABLE() != 0 {
            add_color(targets, regs, unsupported, i, components.target(i) & control.COMPONENT_ENABLE());
        }
    }
}

fn add_color(targets: &mut Targets, regs: &RegFile, unsupported: &mut Vec<String>, i: u32, components: u32) {
    let info = regs.at::<RB_MRT_BUF_INFO>(i);
    let transfer = if info.COLOR_SRGB() { Transfer::Srgb } else { Transfer::Linear };
    let swap = swap(info.COLOR_SWAP());
    let named = named_color(info.COLOR_FORMAT());
    let Some((named, codec)) = named.and_then(|named| Some((named, named.value.codec(swap, transfer)?)))
    else {
        let what =
            format!("RB_MRT[{i}].BUF_INFO = {:#010x}: colour format {:?}", info.0, info.COLOR_FORMAT());
        unsupported.push(what);
        return;
    };
    if info.DITHER_MODE() == DitherMode::DITHER_IF_ALPHA_OFF {
        targets.alpha_off = Some(AlphaOff);
    }
    let (control, format) = (regs.at::<RB_MRT_CONTROL>(i), named.value);
    let mut target = ColorTarget {
        surface: targets.surfaces.len(),
        output: output(regs, i),
        codec,
        blend: (control.BLEND() && !codec.is_integer())
            .then(|| blend(regs, i, format))
            .filter(|b| !b.is_copy()),
        rop: Some(rop(control.ROP_CODE())).filter(|code| control.ROP_ENABLE() && *code != Rop::COPY),
        writable: codec.bits(components),
        unorm8: unorm8(format, swap, transfer),
        dither: Dither::new(format, transfer).filter(|_| dithers(info.DITHER_MODE(), control.BLEND())),
    };
    target.limit_constant();
    targets.color.push(target);
    targets.color_index.push(i);
    targets.color_format.push((named, swap));
    let base = regs.at::<RB_MRT_BASE>(i).VALUE();
    let tiling = color_tiling(regs, i).unwrap_or_else(|| {
        let what = format!("RB_MRT[{i}].BUF_INFO = {:#010x}: tile mode {:?}", info.0, info.COLOR_TILE_MODE());
        unsupported.push(what);
        Tiling::Linear
    });
    let surface = surface(regs, base, color_pitch(regs, i), codec.bytes());
    targets.surfaces.push(Surface { tiling, ..surface });
}

fn add_depth(targets: &mut Targets, regs: &RegFile) {
    let format = depth_format(regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT());
    let mut state = DepthStencil {
        format,
        depth: depth_test(regs),
        limits: limits(regs, format),
        stencil: stencil(regs),
    };
    if format == DepthFormat::None {
        state.depth = None;
    }
    let separate = regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL();
    if format != DepthFormat::Unorm24Stencil8 && !separate {
        state.stencil = None;
    }
    if state.depth.is_none() && state.stencil.is_none() {
        return;
    }
    let mut add = |base, pitch, cpp| {
        targets.surfaces.push(surface(regs, base, pitch, cpp));
        targets.surfaces.len() - 1
    };
    let base = regs.get::<RB_DEPTH_INFO>().DEPTH_BASE();
    let pitch = regs.get::<RB_DEPTH_PITCH>().VALUE();
    let layout = if format == DepthFormat::Unorm24Stencil8 {
        DepthLayout::Packed(add(base, pitch, 4))
    } else {
        let cpp = if format == DepthFormat::Unorm16 { 2 } else { 4 };
        let depth = state.depth.map(|_| add(base, pitch, cpp));
        let (base, pitch) =
            (regs.get::<RB_STENCIL_INFO>().STENCIL_BASE(), regs.get::<RB_STENCIL_PITCH>().VALUE());
        DepthLayout::Separate { depth, stencil: state.stencil.map(|_| add(base, pitch, 1)) }
    };
    targets.depth = Some(DepthTarget { state, layout });
}

/// Returns the copy that the registers describe, or `None` when it is not supported.
pub fn resolve(regs: &RegFile, unsupported: &mut Vec<String>) -> Option<ResolveState> {
    let control = regs.get::<RB_COPY_CONTROL>();
    let info = regs.get::<RB_COPY_DEST_INFO>();
    let order = tiling(info.TILE()).filter(|_| control.MODE() != CopyControlMode::RB_COPY_CLEAR);
    let (Some(tiling), true) = (order, control.MSAA_RESOLVE() != MsaaSamples::MSAA_EIGHT) else {
        let words = format!("RB_COPY_CONTROL = {:#010x}, RB_COPY_DEST_INFO = {:#010x}", control.0, info.0);
        unsupported.push(format!("{words}: copy"));
        return None;
    };
    let Some(format) = named_color(info.FORMAT()) else {
        unsupported.push(format!("RB_COPY_DEST_INFO = {:#010x}: format {:?}", info.0, info.FORMAT()));
        return None;
    };
    let [samples, kept] = copied_samples(regs, control);
    let cpp = format.value.block().bytes * kept;
    let content = match is_depth(regs, control) {
        true => Content::Depth(named_depth_format(regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT())),
        false => Content::Color,
    };
    Some(ResolveState {
        origin: bin_origin(regs),
        gmem_base: control.GMEM_BASE(),
        gmem_pitch: regs.get::<RB_MODE_CONTROL>().WIDTH() * cpp * samples,
        base: regs.get::<RB_COPY_DEST_BASE>().BASE().into(),
        pitch: regs.get::<RB_COPY_DEST_PITCH>().PITCH(),
        cpp,
        samples,
        format,
        swap: swap(info.SWAP()),
        arrangement: Arrangement { samples: kept, tiling },
        dither: Dither::new(format.value, Transfer::Linear).filter(|_| dithers(info.DITHER_MODE(), false)),
        content,
        size: frame_size(regs),
    })
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
        let format = formats::color(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT());
        format.is_some() && regs.at::<RB_MRT_BASE>(i).VALUE() == base
    });
    let copied =
        depth_format(depth.DEPTH_FORMAT()) != DepthFormat::None && depth.DEPTH_BASE() == base && !color;
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
    let location = if is_bypass(regs) { Location::Memory(base.into()) } else { Location::Gmem(base) };
    let layer = pitch.saturating_mul(regs.get::<RB_FRAME_BUFFER_DIMENSION>().HEIGHT());
    let cpp = cpp * Samples::of(sample_counts(regs)).count() as u32;
    Surface { location, pitch, cpp, origin: bin_origin(regs), layer, tiling: Tiling::Linear }
}

/// Returns the pixel order of colour target `i`. The order in tile memory is not visible from outside. `None`
/// for a number without a name.
pub fn color_tiling(regs: &RegFile, i: u32) -> Option<Tiling> {
    match is_bypass(regs) {
        true => tiling(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_TILE_MODE()),
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
    let func = compare(control.ALPHA_TEST_FUNC());
    (control.ALPHA_TEST() && func != Compare::Always)
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
            op: blend_op(control.RGB_BLEND_OPCODE()),
            src: blend_factor(control.RGB_SRC_FACTOR()),
            dst: blend_factor(control.RGB_DEST_FACTOR()),
        },
        alpha: Equation {
            op: blend_op(control.ALPHA_BLEND_OPCODE()),
            src: blend_factor(control.ALPHA_SRC_FACTOR()),
            dst: blend_factor(control.ALPHA_DEST_FACTOR()),
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
fn unorm8(format: Format, swap: Swap, transfer: Transfer) -> Option<[usize; 4]> {
    let bytes = matches!(format.layout, Layout::Fields { widths: [8, 8, 8, 8], order: [0, 1, 2, 3] });
    if !bytes || format.ty != Type::Unorm || transfer != Transfer::Linear {
        return None;
    }
    match swap {
        Swap::WZYX => Some([0, 1, 2, 3]),
        Swap::WXYZ => Some([2, 1, 0, 3]),
        _ => None,
    }
}

fn depth_test(regs: &RegFile) -> Option<(Compare, DepthWrite)> {
    let control = regs.get::<RB_DEPTH_CONTROL>();
    let write = if control.Z_WRITE_ENABLE() { DepthWrite::Store } else { DepthWrite::Keep };
    control.Z_TEST_ENABLE().then(|| (compare(control.ZFUNC()), write))
}

/// Returns the limits of window z: from registers when enabled, else 0 to 1.
fn limits(regs: &RegFile, format: DepthFormat) -> [f32; 2] {
    if !regs.get::<RB_DEPTH_CONTROL>().Z_CLAMP_ENABLE() {
        return [0.0, 1.0];
    }
    let raw = [regs.at::<RB_VPORT_Z_CLAMP_MIN>(0).VALUE(), regs.at::<RB_VPORT_Z_CLAMP_MAX>(0).VALUE()];
    match format {
        DepthFormat::Unorm16 => raw.map(|v| v as f32 / 65535.0),
        DepthFormat::Unorm24Stencil8 => raw.map(|v| v as f32 / 16_777_215.0),
        _ => raw.map(f32::from_bits),
    }
}

fn stencil(regs: &RegFile) -> Option<[StencilFace; 2]> {
    let control = regs.get::<RB_STENCIL_CONTROL>();
    let (front_ref, back_ref) = (regs.get::<RB_STENCILREFMASK>(), regs.get::<RB_STENCILREFMASK_BF>());
    let front = StencilFace {
        func: compare(control.FUNC()),
        fail: stencil_op(control.FAIL()),
        zpass: stencil_op(control.ZPASS()),
        zfail: stencil_op(control.ZFAIL()),
        reference: front_ref.STENCILREF(),
        mask: front_ref.STENCILMASK(),
        write_mask: front_ref.STENCILWRITEMASK(),
    };
    let back = StencilFace {
        func: compare(control.FUNC_BF()),
        fail: stencil_op(control.FAIL_BF()),
        zpass: stencil_op(control.ZPASS_BF()),
        zfail: stencil_op(control.ZFAIL_BF()),
        reference: back_ref.STENCILREF(),
        mask: back_ref.STENCILMASK(),
        write_mask: back_ref.STENCILWRITEMASK(),
    };
    let back = if control.STENCIL_ENABLE_BF() { back } else { front };
    control.STENCIL_ENABLE().then_some([front, back])
}

#[cfg(test)]
mod tests {
    use a4emu_decoder::a4xx::enums;

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
        let factor = enums::BlendFactor::FACTOR_CONSTANT_COLOR.to_bits();
        write(&mut regs, RB_MRT_BLEND_CONTROL::ROW.offset, factor);
        write(&mut regs, RB_MRT_CONTROL::ROW.offset, 0xf00_0010);
        regs
    }

    #[test]
    fn each_format_takes_its_copy_of_the_blend_constant() {
        use enums::ColorFmt::*;
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
                let targets = targets(&regs, &mut Vec::new());
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
