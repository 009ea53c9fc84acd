//! The registers of the rasteriser: clipping, viewports, set-up, scissors.

use a4emu_decoder::a4xx::enums::*;
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::pc::PC_PRIM_VTX_CNTL2;
use a4emu_decoder::a4xx::regs::rb::RB_MSAA_CONTROL;
use a4emu_decoder::bits::Register;

use super::pc::provoking;
use crate::draw::gras::clip::{DepthClip, Sides, Viewport};
use crate::draw::gras::polygon_offset::{FloatDepth, PolygonOffset};
use crate::draw::gras::raster::Rect;
use crate::draw::gras::samples::Samples;
use crate::draw::gras::setup::{Face, LinearWeights, PolygonMode, PrimitiveState, WeightBase, Winding};
use crate::draw::gras::state::Viewports;
use crate::draw::topology::Topology;
use crate::machine::Model;
use crate::regfile::RegFile;

/// Reads the state of primitives of type `topology`.
pub fn primitive(regs: &RegFile, topology: Topology, viewports: Viewports, model: Model) -> PrimitiveState {
    let mut state = primitive_state(regs, topology, model);
    if viewports == Viewports::Chosen {
        state.others = other_viewports(regs, &state);
    }
    state
}

fn primitive_state(regs: &RegFile, topology: Topology, model: Model) -> PrimitiveState {
    let mode = regs.get::<GRAS_SU_MODE_CONTROL>();
    let clip = regs.get::<GRAS_CL_CLIP_CNTL>();
    let viewport = viewport(regs);
    let depth_clip = (!clip.CLIP_DISABLE()).then(|| DepthClip {
        near: !clip.ZNEAR_CLIP_DISABLE(),
        far: !clip.ZFAR_CLIP_DISABLE(),
        zero_to_one: clip.ZERO_GB_SCALE_Z(),
    });
    let points = regs.get::<GRAS_SU_POINT_MINMAX>();
    PrimitiveState {
        topology,
        provoking: provoking(regs),
        sides: if depth_clip.is_some() { sides(&viewport) } else { Rect::ALL },
        cut: cut(model),
        viewport,
        others: Vec::new(),
        depth_clip,
        cull: [mode.CULL_FRONT().then_some(Face::Front), mode.CULL_BACK().then_some(Face::Back)],
        front_winding: if mode.FRONT_CW() { Winding::Clockwise } else { Winding::CounterClockwise },
        polygon_mode: polygon_modes(regs),
        offset: mode.POLY_OFFSET().then(|| polygon_offset(regs)),
        linear: regs.get::<GRAS_CNTL>().IJ_LINEAR().then_some(LinearWeights),
        weight_base: weight_base(model),
        samples: Samples::of(sample_counts(regs)),
        line_width: mode.LINEHALFWIDTH() * 2.0,
        point_size: regs.get::<GRAS_SU_POINT_SIZE>().VALUE(),
        point_range: [points.MIN(), points.MAX()],
    }
}

/// Returns the binary logarithms of the sample counts of targets and rasteriser.
pub fn sample_counts(regs: &RegFile) -> [u32; 2] {
    let (target, scan) = (regs.get::<RB_MSAA_CONTROL>(), regs.get::<GRAS_SC_CONTROL>());
    [
        if target.DISABLE() { 0 } else { target.SAMPLES() },
        if scan.MSAA_DISABLE() { 0 } else { scan.MSAA_SAMPLES() },
    ]
}

/// Returns the first viewport.
pub fn viewport(regs: &RegFile) -> Viewport {
    Viewport {
        scale: [
            regs.get::<GRAS_CL_VPORT_XSCALE_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YSCALE_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZSCALE_0>().VALUE(),
        ],
        offset: [
            regs.get::<GRAS_CL_VPORT_XOFFSET_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_YOFFSET_0>().VALUE(),
            regs.get::<GRAS_CL_VPORT_ZOFFSET_0>().VALUE(),
        ],
    }
}

/// Returns viewports 1 to 15, from which a geometry shader can select.
fn other_viewports(regs: &RegFile, primitive: &PrimitiveState) -> Vec<(Viewport, Rect)> {
    let other = |i: u32| Viewport {
        scale: [
            regs.at::<GRAS_CL_VPORT_AFTER_0_XSCALE>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_YSCALE>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_ZSCALE>(i).VALUE(),
        ],
        offset: [
            regs.at::<GRAS_CL_VPORT_AFTER_0_XOFFSET>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_YOFFSET>(i).VALUE(),
            regs.at::<GRAS_CL_VPORT_AFTER_0_ZOFFSET>(i).VALUE(),
        ],
    };
    let with_sides = |viewport: Viewport| {
        let clipped = primitive.depth_clip.is_some();
        let inside = if clipped { sides(&viewport) } else { Rect::ALL };
        (viewport, inside)
    };
    (0..GRAS_CL_VPORT_AFTER_0_XOFFSET::ROW.len).map(|i| with_sides(other(i))).collect()
}

/// Guess `plane-precision` (docs/hardware/board-a420.md, B5): on a board, the same rectangle in two places
/// gets different texels when its samples lie on texel edges. The tests cannot distinguish screen, bin and
/// tile as origin.
fn weight_base(model: Model) -> WeightBase {
    match model {
        Model::Board => WeightBase::Screen,
        Model::StrictGl => WeightBase::Primitive,
    }
}

/// Guess `side-clipping` (docs/hardware/board-a420.md, B7): points and lines whose axis is just outside are
/// missing on a board. The tests do not show whether primitives inside extend beyond the viewport there.
fn cut(model: Model) -> Sides {
    match model {
        Model::Board => Sides::Axes,
        Model::StrictGl => Sides::Pixels,
    }
}

/// Returns the pixels inside the sides of the view volume. Clipping against the sides is a scissor.
fn sides(viewport: &Viewport) -> Rect {
    let side = |axis: usize, sign: f32| {
        let at = viewport.offset[axis] + sign * viewport.scale[axis].abs();
        if at.is_finite() { (at - 0.5).ceil().clamp(0.0, 32768.0) as i32 } else { 0 }
    };
    Rect { x0: side(0, -1.0), y0: side(1, -1.0), x1: side(0, 1.0), y1: side(1, 1.0) }
}

fn polygon_modes(regs: &RegFile) -> [PolygonMode; 2] {
    let control = regs.get::<PC_PRIM_VTX_CNTL2>();
    let mode = |draw| match draw {
        PaSuScDraw::PC_DRAW_POINTS => PolygonMode::Points,
        PaSuScDraw::PC_DRAW_LINES => PolygonMode::Lines,
        _ => PolygonMode::Fill,
    };
    match control.POLYMODE_ENABLE() {
        true => [mode(control.POLYMODE_FRONT_PTYPE()), mode(control.POLYMODE_BACK_PTYPE())],
        false => [PolygonMode::Fill; 2],
    }
}

/// Returns the polygon offset in units of r (docs/hardware/registers.md, section 5).
fn polygon_offset(regs: &RegFile) -> PolygonOffset {
    let units = regs.get::<GRAS_SU_POLY_OFFSET_OFFSET>().VALUE();
    let format = regs.get::<GRAS_DEPTH_CONTROL>().FORMAT();
    let (units, float_depth) = match format {
        DepthFormat::DEPTH4_16 => (units / 65535.0, None),
        DepthFormat::DEPTH4_24_8 => (units / 16_777_215.0, None),
        _ => (units, Some(FloatDepth)),
    };
    PolygonOffset {
        scale: regs.get::<GRAS_SU_POLY_OFFSET_SCALE>().VALUE(),
        units,
        float_depth,
        clamp: regs.get::<GRAS_SU_POLY_OFFSET_CLAMP>().VALUE(),
    }
}

/// Returns the intersection of the scissors, whose corners are inclusive. A scissor that was never written
/// has no effect.
pub fn scissor(regs: &RegFile) -> Rect {
    let rect = |tl: (u32, u32), br: (u32, u32)| Rect {
        x0: tl.0 as i32,
        y0: tl.1 as i32,
        x1: br.0 as i32 + 1,
        y1: br.1 as i32 + 1,
    };
    let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
    let screen = rect((tl.X(), tl.Y()), (br.X(), br.Y()));
    let (tl, br) = (regs.get::<GRAS_SC_WINDOW_SCISSOR_TL>(), regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>());
    let window = rect((tl.X(), tl.Y()), (br.X(), br.Y()));
    let (tl, br) = (regs.get::<GRAS_SC_EXTENT_WINDOW_TL>(), regs.get::<GRAS_SC_EXTENT_WINDOW_BR>());
    let extent = if br.0 == 0 { Rect::ALL } else { rect((tl.X(), tl.Y()), (br.X(), br.Y())) };
    Rect::ALL.intersect(screen).intersect(window).intersect(extent)
}
