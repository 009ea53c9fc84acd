//! What the chip draws by the driver's history (docs/hardware/driver-history.md), where no recorded frame shows it.

use std::fs;
use std::path::{Path, PathBuf};

use a4emu::check::open;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use a4emu_support::folders::Folders;

/// Triangles over all of a target of 32x32 pixels, each with one depth and one colour.
const SOURCE: &str = r#"include "CAPTURES/samples/samples.a4i"

gpu_id 420
cmd "history/1: fence=1\0"

const SIZE = 32
const TARGET = 0x10000000
buffer target @ TARGET size SIZE * SIZE * 4
buffer points { f32 -9.0, -9.0, 27.0, -9.0, -9.0, 27.0 }

buffer vs_layer size 128 { shader {          // in: position r0.xy, z c0.x
    mov.f32f32 r0.z, c0.x
    mov.f32f32 r0.w, (1.0)
    end
} }

// All pixels at z with colour (r, g, b, a).
macro layer(z, r, g, b, a) {
    load VS.constants { f32 z, 0.0, 0.0, 0.0 }
    load FS.constants { f32 r, g, b, a }
    use draw(DI_PT_TRILIST, 3)
}

// One target and depth in tile memory.
macro tile(format, pitch) {
    use samples(0)
    RB_DEPTH_INFO { DEPTH_FORMAT = format | DEPTH_BASE = 0x4000 }
    + RB_DEPTH_PITCH = pitch
    + RB_DEPTH_PITCH2 = pitch
    GRAS_DEPTH_CONTROL { FORMAT = format }
}

buffer main {
    use frame(target, SIZE, SIZE)
    use program(vs_layer, fs, r0.x, r0.x)
    use attribute(0, points, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    LINES
}
submit main
"#;

/// Address of the target.
const TARGET: u32 = 0x1000_0000;

/// The machine after these lines, which write registers and draw layers.
fn played(lines: &str) -> Ended {
    let captures = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let folder = tempfile::tempdir().unwrap();
    let path: PathBuf = folder.path().join("history.a4");
    let source = SOURCE.replace("CAPTURES", captures.to_str().unwrap()).replace("LINES", lines);
    fs::write(&path, source).unwrap();
    let capture = open(&path, &Folders::around(&path, &[captures]))
        .unwrap_or_else(|error| panic!("{lines}: {error:?}"));
    let mut playback = Playback::default();
    playback.run(capture, &mut Renderer, &mut Silent);
    assert_eq!(playback.gpu.report.troubles.total(), 0, "{lines}");
    playback.gpu.end()
}

/// The first four bytes of the target; zeros if nothing was written there.
fn target(gpu: &Ended) -> [u8; 4] {
    gpu.memory().slice(TARGET, 4).map_or([0; 4], |bytes| bytes.try_into().unwrap())
}

/// Whether a layer at this z is drawn, with `lines` before it.
fn is_drawn(lines: &str, z: f32) -> bool {
    let gpu = played(&format!("{lines}\nuse layer({z:?}, 1.0, 1.0, 1.0, 1.0)"));
    let drawn = target(&gpu) == [255; 4];
    assert!(drawn || target(&gpu) == [0; 4]);
    drawn
}

fn clipped_by(flags: &str) -> String {
    format!("GRAS_CL_CLIP_CNTL {{ VP_CLIP_CODE_IGNORE{flags} }}")
}

/// a05e5491c3.
#[test]
fn the_clip_volume_of_d3d_begins_at_zero() {
    let (gl, d3d) = (clipped_by(""), clipped_by(" | ZERO_GB_SCALE_Z"));
    assert_eq!([-1.5, -0.5, 0.5, 1.5].map(|z| is_drawn(&gl, z)), [false, true, true, false]);
    assert_eq!([-1.5, -0.5, 0.5, 1.5].map(|z| is_drawn(&d3d, z)), [false, false, true, false]);
}

/// cd8e30452f: one plane each, or the whole clipper with the sides of the viewport.
#[test]
fn planes_of_the_clipper_are_turned_off() {
    let drawn = |flags: &str| [-1.5, 1.5].map(|z| is_drawn(&clipped_by(flags), z));
    assert_eq!(drawn(""), [false, false]);
    assert_eq!(drawn(" | ZNEAR_CLIP_DISABLE"), [true, false]);
    assert_eq!(drawn(" | ZFAR_CLIP_DISABLE"), [false, true]);
    assert_eq!(drawn(" | CLIP_DISABLE"), [true, true]);
    let right_half = "GRAS_CL_VPORT_XOFFSET_0 = 24.0\n+ GRAS_CL_VPORT_XSCALE_0 = 8.0";
    let beside = |flags: &str| is_drawn(&format!("{}\n{right_half}", clipped_by(flags)), 0.0);
    assert_eq!(
        ["", " | ZNEAR_CLIP_DISABLE | ZFAR_CLIP_DISABLE", " | CLIP_DISABLE"].map(beside),
        [false, false, true]
    );
}

/// Whether a layer at `z` without limits has the depth that one at `first` left, which has `limits`.
fn leaves(tile: &str, limits: &str, first: f32, z: f32) -> bool {
    let gpu = played(&format!(
        "use tile({tile})
        {}
        RB_DEPTH_CONTROL {{ Z_TEST_ENABLE | Z_WRITE_ENABLE | ZFUNC = FUNC_ALWAYS | Z_READ_ENABLE{limits}
        use layer({first:?}, 0.0, 0.0, 0.0, 0.0)
        RB_DEPTH_CONTROL {{ Z_TEST_ENABLE | ZFUNC = FUNC_EQUAL | Z_READ_ENABLE }}
        use layer({z:?}, 1.0, 1.0, 1.0, 1.0)",
        clipped_by(" | CLIP_DISABLE")
    ));
    gpu.tile_memory()[..4] == [255; 4]
}

/// 89f00f749f: 0 and 1, or RB_VPORT_Z_CLAMP in units of the format. Window z is half of z, and .5 more.
#[test]
fn depth_is_limited() {
    let float = "DEPTH4_32, 128";
    assert_eq!([0.99, 1.0].map(|z| leaves(float, " }", 3.0, z)), [false, true]);
    assert_eq!([-1.0, -0.99].map(|z| leaves(float, " }", -3.0, z)), [true, false]);
    let limits = " | Z_CLAMP_ENABLE }
        RB_VPORT_Z_CLAMP[0].MIN = 0x3e800000
        + RB_VPORT_Z_CLAMP[0].MAX = 0x3f000000";
    assert_eq!([0.0, 0.5, 1.0].map(|z| leaves(float, limits, 0.5, z)), [true, false, false]);
    assert_eq!([-1.0, -0.5, 0.0].map(|z| leaves(float, limits, -1.0, z)), [false, true, false]);
    let limits = " | Z_CLAMP_ENABLE }
        RB_VPORT_Z_CLAMP[0].MIN = 0
        + RB_VPORT_Z_CLAMP[0].MAX = 13107";
    assert_eq!([-0.6, 0.5].map(|z| leaves("DEPTH4_16, 64", limits, 0.5, z)), [true, false]);
}

/// ec106e9f62: no format is without alpha.
#[test]
fn targets_blend_with_the_alpha_that_lies_there() {
    let gpu = played(
        "use layer(0.0, 0.0, 0.0, 0.0, 0.5)
        RB_MRT[0].CONTROL { READ_DEST_ENABLE | BLEND | ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 0x7 }
        RB_MRT[0].BLEND_CONTROL { RGB_SRC_FACTOR = FACTOR_DST_ALPHA | ALPHA_SRC_FACTOR = FACTOR_ONE }
        RB_FS_OUTPUT { ENABLE_BLEND = 1 | SAMPLE_MASK = 0xffff }
        use layer(0.0, 1.0, 1.0, 1.0, 1.0)",
    );
    assert_eq!(target(&gpu), [128; 4]);
}

/// ff9450ecd1.
#[test]
fn alpha_targets_take_w() {
    let gpu = played(
        "RB_MRT[0].BUF_INFO { COLOR_FORMAT = RB4_A8_UNORM | COLOR_BUF_PITCH = 32 }
        SP_FS_MRT[0].REG { REGID = r0.x | MRTFORMAT = RB4_A8_UNORM }
        use layer(0.0, 1.0, 0.5, 0.0, 0.25)",
    );
    assert_eq!(target(&gpu), [64; 4]);
}
