//! Checks P22, P23, T1 to T7 and T13: the pass, the frame and tile memory.

use a4emu_decoder::a4xx::enums::{DepthFormat, RenderMode, TileMode};
use a4emu_decoder::a4xx::regs::gras::*;
use a4emu_decoder::a4xx::regs::rb::*;

use super::extent::held_samples;
use super::{Scene, Violations};
use crate::rules::Id;
use a4emu_gpu::a4xx::formats;
use a4emu_gpu::a4xx::rb::copied_samples;
use a4emu_gpu::gpu::Stage;
use a4emu_gpu::pass::Pass;

/// Unit of a bin's size in pixels.
const BIN_UNIT: u32 = 32;
/// Maximum columns and rows of a bin, in pixels.
const BIN_MAX: [u32; 2] = [1024, 992];
/// Alignment of the base of a colour target, in bytes.
const COLOR_BASE: u32 = 0x4000;
/// A surface of a bin in GMEM.
struct GmemSurface {
    name: String,
    base: u32,
    bytes: u64,
}

/// Adds violations of the rules for tiles.
pub fn check(scene: &Scene<'_>, violations: &mut Violations) {
    modes(scene, violations);
    let patches = scene.pass == Pass::Gmem && scene.program(Stage::HS).is_some();
    violations.unless(!patches, Id::P26, || "patches are tessellated in tiles".to_owned());
    scissors(scene, violations);
    if scene.pass != Pass::Binning {
        strides(scene, violations);
    }
    if scene.in_tiles() {
        bin(scene, violations);
        parts(scene, violations);
        depth_pitch(scene, violations);
    }
    if scene.pass == Pass::Resolve {
        resolve(scene, violations);
    }
}

fn bin_size(scene: &Scene<'_>) -> [u32; 2] {
    let mode = scene.regs.get::<RB_MODE_CONTROL>();
    [mode.WIDTH(), mode.HEIGHT()]
}

/// Checks P22.
fn modes(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (mode, render) = (regs.get::<RB_MODE_CONTROL>(), regs.get::<RB_RENDER_CONTROL>());
    let control = regs.get::<GRAS_SC_CONTROL>();
    let bypass = mode.BYPASS() == 3;
    let sized = mode.WIDTH() > 0 && mode.HEIGHT() > 0;
    let (binning, dead) = (render.BINNING_PASS(), render.DISABLE_COLOR_PIPE());
    let draws = control.RENDER_MODE() == RenderMode::RB_RENDERING_PASS;
    let fits = match scene.pass {
        Pass::Bypass => bypass && !sized && !mode.ENABLE_GMEM() && !binning && draws,
        Pass::Gmem => !bypass && sized && mode.ENABLE_GMEM() && !binning && draws,
        Pass::Restore => !bypass && sized && !mode.ENABLE_GMEM() && !binning && !dead && draws,
        Pass::Resolve => !bypass && sized && mode.ENABLE_GMEM() && !binning && dead,
        Pass::Binning => {
            let tiling = control.RENDER_MODE() == RenderMode::RB_TILING_PASS;
            !bypass && sized && !mode.ENABLE_GMEM() && binning && dead && tiling
        }
    };
    violations.unless(fits, Id::P22, || {
        format!(
            "RB_MODE_CONTROL {:#x}, RB_RENDER_CONTROL {:#x} and GRAS_SC_CONTROL {:#x} are no one pass",
            mode.0, render.0, control.0
        )
    });
}

/// Checks P23 and T6.
fn scissors(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (tl, br) = (regs.get::<GRAS_SC_SCREEN_SCISSOR_TL>(), regs.get::<GRAS_SC_SCREEN_SCISSOR_BR>());
    let frame = regs.get::<RB_FRAME_BUFFER_DIMENSION>();
    let inside = |x: u32, y: u32| x < frame.WIDTH().max(1) && y < frame.HEIGHT().max(1);
    let restores = scene.pass == Pass::Restore;
    let screen = tl.X() <= br.X() && tl.Y() <= br.Y() && (restores || inside(br.X(), br.Y()));
    violations.unless(screen, Id::P23, || {
        format!(
            "screen scissor ends at {},{} in a frame of {}x{}",
            br.X(),
            br.Y(),
            frame.WIDTH(),
            frame.HEIGHT()
        )
    });
    let (wtl, wbr) = (regs.get::<GRAS_SC_WINDOW_SCISSOR_TL>(), regs.get::<GRAS_SC_WINDOW_SCISSOR_BR>());
    let empty = wtl.X() > wbr.X() || wtl.Y() > wbr.Y();
    violations.unless(empty || restores || inside(wbr.X(), wbr.Y()), Id::P23, || {
        format!(
            "window scissor ends at {},{} in a frame of {}x{}",
            wbr.X(),
            wbr.Y(),
            frame.WIDTH(),
            frame.HEIGHT()
        )
    });
    if !scene.in_tiles() {
        return;
    }
    let offset = regs.get::<RB_BIN_OFFSET>();
    let at = if restores { [0, 0] } else { [offset.X(), offset.Y()] };
    let aligned = at.iter().all(|at| at % BIN_UNIT == 0);
    let [width, height] = bin_size(scene);
    let fits = br.X() < at[0] + width && br.Y() < at[1] + height;
    violations.unless([tl.X(), tl.Y()] == at && aligned && fits, Id::T6, || {
        format!(
            "screen scissor {},{} to {},{}, bin of {width}x{height} at {at:?}",
            tl.X(),
            tl.Y(),
            br.X(),
            br.Y()
        )
    });
}

/// Checks T1.
fn bin(scene: &Scene<'_>, violations: &mut Violations) {
    let size = bin_size(scene);
    let fits =
        size.iter().zip(BIN_MAX).all(|(size, most)| *size > 0 && *size <= most && size % BIN_UNIT == 0);
    violations.unless(fits, Id::T1, || format!("bin of {}x{} pixels", size[0], size[1]));
}

/// Number of samples per pixel in a target.
fn samples(scene: &Scene<'_>) -> u32 {
    let regs = scene.regs;
    match scene.pass {
        Pass::Resolve => copied_samples(regs, regs.get::<RB_COPY_CONTROL>()).iter().product(),
        _ => held_samples(regs),
    }
}

/// Checks T2 and T13.
fn strides(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let [width, _] = bin_size(scene);
    for i in 0..TARGETS {
        let (info, stride) = (regs.at::<RB_MRT_BUF_INFO>(i), regs.at::<RB_MRT_CONTROL3>(i).STRIDE());
        let Some(cpp) = exists(scene, i) else { continue };
        let mode = info.COLOR_TILE_MODE();
        let fits = match scene.in_tiles() {
            true => {
                let row = width * cpp * samples(scene);
                mode == TileMode::TILE4_2 && info.COLOR_BUF_PITCH() == row && stride == row
            }
            false => stride == 0,
        };
        let linear = scene.in_tiles() || mode == TileMode::TILE4_LINEAR;
        violations.unless(linear, Id::T13, || format!("target {i}: {mode:?} in memory"));
        violations.unless(fits, Id::T2, || {
            format!(
                "target {i}: {mode:?}, pitch {}, stride {stride}, bin of {width} pixels",
                info.COLOR_BUF_PITCH()
            )
        });
    }
}

/// Bytes per pixel of target `i`, if it is rendered to.
fn exists(scene: &Scene<'_>, i: u32) -> Option<u32> {
    let regs = scene.regs;
    let rendered = scene.pass == Pass::Resolve || regs.get::<RB_RENDER_COMPONENTS>().target(i) != 0;
    let format = formats::color(regs.at::<RB_MRT_BUF_INFO>(i).COLOR_FORMAT())?;
    rendered.then_some(format.block().bytes)
}

fn depth_bytes(format: DepthFormat) -> Option<u32> {
    match format {
        DepthFormat::DEPTH4_16 => Some(2),
        DepthFormat::DEPTH4_24_8 | DepthFormat::DEPTH4_32 => Some(4),
        _ => None,
    }
}

/// Checks T3 and T4.
fn parts(scene: &Scene<'_>, violations: &mut Violations) {
    let end = scene.gpu.chip.gmem_bytes() as u64;
    let parts = surfaces(scene);
    for (i, part) in parts.iter().enumerate() {
        let last = u64::from(part.base) + part.bytes;
        violations.unless(last <= end, Id::T3, || {
            format!("{} ends at {last:#x}, tile memory at {end:#x}", part.name)
        });
        for other in &parts[..i] {
            let apart = last <= other.base.into() || u64::from(other.base) + other.bytes <= part.base.into();
            violations
                .unless(apart, Id::T4, || format!("{} and {} share tile memory", other.name, part.name));
        }
    }
    for part in parts.iter().filter(|part| part.name.starts_with("colour")) {
        violations.unless(part.base % COLOR_BASE == 0, Id::T3, || {
            format!("{} begins at {:#x}", part.name, part.base)
        });
    }
}

fn surfaces(scene: &Scene<'_>) -> Vec<GmemSurface> {
    let regs = scene.regs;
    let [width, height] = bin_size(scene);
    let pixels = u64::from(width) * u64::from(height) * u64::from(samples(scene));
    // In a resolve, only the copied surface counts: the targets of the draw before may be stale.
    let colours = (0..TARGETS).filter(|_| scene.pass == Pass::Gmem).filter_map(|i| {
        let (cpp, base) = (exists(scene, i)?, regs.at::<RB_MRT_BASE>(i).VALUE());
        Some(GmemSurface { name: format!("colour {i}"), base, bytes: pixels * u64::from(cpp) })
    });
    let mut parts: Vec<GmemSurface> = colours.collect();
    let tests = regs.get::<RB_DEPTH_CONTROL>().Z_TEST_ENABLE();
    let stencil = regs.get::<RB_STENCIL_CONTROL>().STENCIL_ENABLE();
    let info = regs.get::<RB_DEPTH_INFO>();
    let packed = info.DEPTH_FORMAT() == DepthFormat::DEPTH4_24_8;
    if let Some(cpp) = depth_bytes(info.DEPTH_FORMAT()).filter(|_| tests || (stencil && packed)) {
        parts.push(GmemSurface {
            name: "depth".to_owned(),
            base: info.DEPTH_BASE(),
            bytes: pixels * u64::from(cpp),
        });
    }
    let apart = regs.get::<RB_STENCIL_INFO>();
    if stencil && apart.SEPARATE_STENCIL() {
        parts.push(GmemSurface { name: "stencil".to_owned(), base: apart.STENCIL_BASE(), bytes: pixels });
    }
    parts
}

/// Checks T5.
fn depth_pitch(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let [width, _] = bin_size(scene);
    let Some(cpp) = depth_bytes(regs.get::<RB_DEPTH_INFO>().DEPTH_FORMAT()) else { return };
    let pitches = [regs.get::<RB_DEPTH_PITCH>().VALUE(), regs.get::<RB_DEPTH_PITCH2>().VALUE()];
    let row = width * samples(scene);
    violations.unless(pitches == [row * cpp; 2], Id::T5, || {
        format!("RB_DEPTH_PITCH and PITCH2 are {pitches:?}, a bin's row has {}", row * cpp)
    });
    let stencil = regs.get::<RB_STENCIL_PITCH>().VALUE();
    let apart = regs.get::<RB_STENCIL_INFO>().SEPARATE_STENCIL();
    violations.unless(!apart || stencil == row, Id::T5, || {
        format!("RB_STENCIL_PITCH {stencil}, a bin's row has {row}")
    });
}

/// Checks T7.
fn resolve(scene: &Scene<'_>, violations: &mut Violations) {
    let regs = scene.regs;
    let (control, info) = (regs.get::<RB_COPY_CONTROL>(), regs.get::<RB_COPY_DEST_INFO>());
    let base = control.GMEM_BASE();
    let colour =
        (0..TARGETS).find(|i| exists(scene, *i).is_some() && regs.at::<RB_MRT_BASE>(*i).VALUE() == base);
    let depth = regs.get::<RB_DEPTH_INFO>();
    let at_depth = depth.DEPTH_FORMAT() != DepthFormat::DEPTH4_NONE && depth.DEPTH_BASE() == base;
    let stencil = regs.get::<RB_STENCIL_INFO>();
    let at_stencil = stencil.SEPARATE_STENCIL() && stencil.STENCIL_BASE() == base;
    violations.unless(colour.is_some() || at_depth || at_stencil, Id::T7, || {
        format!("GMEM_BASE {base:#x} is the base of no target")
    });
    if let Some(i) = colour.filter(|_| !at_depth && !at_stencil) {
        let target = regs.at::<RB_MRT_BUF_INFO>(i);
        let same = info.FORMAT() == target.COLOR_FORMAT() && info.SWAP() == target.COLOR_SWAP();
        violations.unless(same, Id::T7, || {
            format!("target {i} is {:?}, copied as {:?}", target.COLOR_FORMAT(), info.FORMAT())
        });
    }
    violations.unless(info.COMPONENT_ENABLE() == 0xf, Id::T7, || {
        format!("COMPONENT_ENABLE {:#x}", info.COMPONENT_ENABLE())
    });
}
