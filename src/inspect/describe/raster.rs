//! The rasteriser state: viewport, scissors, culling, filling.

use a4emu_decoder::a4xx::enums::PaSuScDraw;
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::pc::{PC_PRIM_VTX_CNTL, PC_PRIM_VTX_CNTL2};
use a4emu_decoder::a4xx::regs::rb::RB_RENDER_CONTROL;
use serde::Serialize;

use a4emu_gpu::a4xx::gras::scissor;
use a4emu_gpu::draw::gras::raster::Rect;
use a4emu_gpu::regfile::RegFile;

/// The scissors of a draw. Rectangles are x, y, width and height.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Scissors {
    /// The screen scissor: the tile, or the whole screen.
    pub screen: [u32; 4],
    /// The window scissor, which the application sets.
    pub window: [u32; 4],
    /// The intersection of all scissors.
    pub effective: [u32; 4],
}

/// The rectangle (x, y, width, height) between two corners, both inside.
pub(super) fn corners(tl: (u32, u32), br: (u32, u32)) -> [u32; 4] {
    let side = |from: u32, to: u32| (to + 1).saturating_sub(from);
    [tl.0, tl.1, side(tl.0, br.0), side(tl.1, br.1)]
}

/// The rectangle as x, y, width and height.
pub(super) fn rectangle(rect: Rect) -> [u32; 4] {
    let size = [rect.x1 - rect.x0, rect.y1 - rect.y0];
    [rect.x0, rect.y0, size[0], size[1]].map(|value| value.max(0).cast_unsigned())
}

impl Scissors {
    pub(super) fn of(regs: &RegFile) -> Self {
        let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
        let screen = corners((tl.X(), tl.Y()), (br.X(), br.Y()));
        let (tl, br) = (regs.get::<GRAS_SC_WINDOW_SCISSOR_TL>(), regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>());
        let window = corners((tl.X(), tl.Y()), (br.X(), br.Y()));
        Self { screen, window, effective: rectangle(scissor(regs)) }
    }
}

/// The rasteriser state of a draw.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Raster {
    /// The culled faces: `none`, `front`, `back` or `both`.
    pub cull: &'static str,
    /// Winding on the screen of a front face: `cw` or `ccw`.
    pub front: &'static str,
    /// How front and back faces are filled: `fill`, `lines` or `points`.
    pub fill: [&'static str; 2],
    /// Vertex that defines flat varyings: `first` or `last`.
    pub provoking: &'static str,
    /// Polygon offset, if it is on.
    pub offset: Option<Offset>,
    /// Line width in pixels.
    pub line_width: f32,
    /// Point size in pixels, if the shader does not set it.
    pub point_size: f32,
    /// Whether primitives are clipped at the near plane.
    pub near_clip: bool,
    /// Whether primitives are clipped at the far plane.
    pub far_clip: bool,
    /// Whether the depth of the clip volume is 0 to w, not -w to w.
    pub zero_to_one: bool,
    /// Whether primitives are discarded. Vertices may still be stored.
    pub discard: bool,
}

/// Polygon offset.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Offset {
    /// Factor of the slope.
    pub scale: f32,
    /// Constant offset, in steps of the depth format.
    pub units: f32,
    /// Limit of the offset; 0 means none.
    pub clamp: f32,
}

impl Raster {
    pub(super) fn of(regs: &RegFile) -> Self {
        let (mode, clip) = (regs.get::<GRAS_SU_MODE_CONTROL>(), regs.get::<GRAS_CL_CLIP_CNTL>());
        let clips = !clip.CLIP_DISABLE();
        Self {
            cull: match (mode.CULL_FRONT(), mode.CULL_BACK()) {
                (false, false) => "none",
                (true, false) => "front",
                (false, true) => "back",
                (true, true) => "both",
            },
            front: if mode.FRONT_CW() { "cw" } else { "ccw" },
            fill: fill(regs.get()),
            provoking: if regs.get::<PC_PRIM_VTX_CNTL>().PROVOKING_VTX_LAST() { "last" } else { "first" },
            offset: mode.POLY_OFFSET().then(|| Offset {
                scale: regs.get::<GRAS_SU_POLY_OFFSET_SCALE>().VALUE(),
                units: regs.get::<GRAS_SU_POLY_OFFSET_OFFSET>().VALUE(),
                clamp: regs.get::<GRAS_SU_POLY_OFFSET_CLAMP>().VALUE(),
            }),
            line_width: mode.LINEHALFWIDTH() * 2.0,
            point_size: regs.get::<GRAS_SU_POINT_SIZE>().VALUE(),
            near_clip: clips && !clip.ZNEAR_CLIP_DISABLE(),
            far_clip: clips && !clip.ZFAR_CLIP_DISABLE(),
            zero_to_one: clip.ZERO_GB_SCALE_Z(),
            discard: regs.get::<RB_RENDER_CONTROL>().DISABLE_COLOR_PIPE(),
        }
    }
}

fn fill(control: PC_PRIM_VTX_CNTL2) -> [&'static str; 2] {
    let mode = |draw: PaSuScDraw| match draw {
        PaSuScDraw::PC_DRAW_POINTS => "points",
        PaSuScDraw::PC_DRAW_LINES => "lines",
        PaSuScDraw::PC_DRAW_TRIANGLES | PaSuScDraw::Other(_) => "fill",
    };
    match control.POLYMODE_ENABLE() {
        true => [mode(control.POLYMODE_FRONT_PTYPE()), mode(control.POLYMODE_BACK_PTYPE())],
        false => ["fill"; 2],
    }
}
