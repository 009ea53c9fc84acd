//! Rectangles for which the rasteriser copies texels because the shader would fetch them one by one, as in
//! restores of tile memory. Each is drawn both ways, with values on both sides of what can be copied.

use std::fs;
use std::path::{Path, PathBuf};

use a4emu::check::open;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::Inspection;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use a4emu_shader::Counting;
use a4emu_support::folders::Folders;
use a4emu_support::status::{Status, Warnings};

/// A rectangle of texels over a cleared target of 64x64 pixels; the texture has as many.
const SOURCE: &str = r#"include "CAPTURES/samples/samples.a4i"

gpu_id 420
cmd "texels/1: fence=1\0"

const WIDTH = 64
const HEIGHT = 64
const PITCH = 256
buffer target size PITCH * HEIGHT
buffer texture { u32 TEXELS }
// A third is there for what is no rectangle.
buffer points { f32 POSITIONS, -1.0, -1.0 }
buffer places { f32 PLACES, 0.0, 1.0 }

buffer vs_texels size 128 { shader {
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
} }
buffer fs_texels size 128 { shader {
    bary.f r0.z, 0, r0.x
    bary.f (ei)r0.w, 1, r0.x
    (rpt5)nop
    sam (f32)(xyzw)r1.x, r0.z, s#0, t#0
    (sy)end
} }

buffer main {
    use frame(target, WIDTH, HEIGHT)
    use samples(0)
    RB_MODE_CONTROL { WIDTH = 64 | HEIGHT = 64 | ENABLE_GMEM }
    RB_MRT[0].BUF_INFO { COLOR_FORMAT = RB4_R8G8B8A8_UNORM | COLOR_TILE_MODE = TILE4_2 | COLOR_BUF_PITCH = 256 }
    + RB_MRT[0].BASE = 0
    + RB_MRT[0].CONTROL3 { STRIDE = 256 }
    use clear(0.2, 0.4, 0.6, 0.8, 0)
    use sampled(vs_texels, fs_texels, r0.x, r1.x, 0)
    use varying(r0.x, r1.x, 2)
    use attribute_and_next(0, points, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attribute(1, places, 24, 8, VFMT4_32_32_FLOAT, 2, r1.x)
    use attributes(2, 4)
    load FS.samplers { TEX_SAMP_0 { WRAP_S = A4XX_TEX_CLAMP_TO_EDGE | WRAP_T = A4XX_TEX_CLAMP_TO_EDGE } TEX_SAMP_1 { 0 } }
    load FS.textures {
        TEX_CONST_0 { SWIZ_Y = A4XX_TEX_Y | SWIZ_Z = A4XX_TEX_Z | SWIZ_W = A4XX_TEX_W | FMT = TFMT4_8_8_8_8_UNORM | TYPE = A4XX_TEX_2D }
        TEX_CONST_1 { HEIGHT = HEIGHT | WIDTH = WIDTH }
        TEX_CONST_2 { PITCHALIGN = 0 | PITCH = PITCH }
        TEX_CONST_3 { 0 }
        TEX_CONST_4 { BASE = texture }
        TEX_CONST_5 0
        TEX_CONST_6 0
        TEX_CONST_7 0
    }
    // MORE
    use draw(DI_PT_RECTLIST, 2)
}
submit main
"#;

/// A rectangle: its corners in pixels, its corners in the texture in texels, and changes to the source.
struct Case {
    points: [f32; 4],
    places: [f32; 4],
    changes: Vec<(&'static str, &'static str)>,
}

impl Case {
    fn new(points: [f32; 4], places: [f32; 4]) -> Self {
        Self { points, places, changes: Vec::new() }
    }

    /// The whole target, with one change to the source.
    fn but(from: &'static str, to: &'static str) -> Self {
        Self { changes: vec![(from, to)], ..Self::new(WHOLE, WHOLE) }
    }

    fn source(&self) -> String {
        let list = |numbers: [f32; 4]| numbers.map(|number| format!("{number:?}")).join(", ");
        let [x0, y0, x1, y1] = self.points;
        let positions = [x0 / 32.0 - 1.0, 1.0 - y0 / 32.0, x1 / 32.0 - 1.0, 1.0 - y1 / 32.0];
        let mut seed = 5u32;
        let mut texel = |_| {
            seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            format!("{:#x}", seed ^ seed >> 16)
        };
        let texels: Vec<String> = (0..64 * 64).map(&mut texel).collect();
        let mut source = SOURCE.to_owned();
        for (from, to) in &self.changes {
            assert!(source.contains(from), "{from}");
            source = source.replace(from, to);
        }
        source
            .replace("CAPTURES", captures().to_str().unwrap())
            .replace("TEXELS", &texels.join(", "))
            .replace("POSITIONS", &list(positions))
            .replace("PLACES", &list(self.places.map(|place| place / 64.0)))
    }
}

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")
}

const WHOLE: [f32; 4] = [0.0, 0.0, 64.0, 64.0];

/// Plays a source. If costs are recorded, the shader runs for every pixel.
fn played(path: &Path, inspection: Inspection) -> Ended {
    let mut playback = Playback::default();
    playback.gpu.inspect(inspection);
    playback.run(open(path, &Folders::around(path, &[captures()])).unwrap(), &mut Renderer, &mut Silent);
    playback.gpu.end()
}

/// Results of `case`: played normally, and with the shader run for every pixel.
fn both_ways(case: &Case) -> [Ended; 2] {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("texels.a4");
    fs::write(&path, case.source()).unwrap();
    let costs = [None, Some(Counting::Off)];
    costs.map(|costs| played(&path, Inspection { costs, ..Inspection::default() }))
}

/// Whether `case` is copied. Its result must equal that of the shader.
fn is_copied(case: &Case) -> bool {
    let [gpu, shaded] = both_ways(case);
    let what = (case.points, case.places, &case.changes);
    assert!(gpu.tile_memory() == shaded.tile_memory(), "{what:?}");
    assert_eq!((gpu.report.troubles.total(), shaded.report.troubles.total()), (0, 0), "{what:?}");
    assert_eq!(gpu.counters(), shaded.counters(), "{what:?}");
    let stats = [gpu, shaded].map(|gpu| gpu.pipeline.stats);
    assert_eq!(stats[0].of_chip().fragments, stats[1].of_chip().fragments, "{what:?}");
    assert_eq!(stats[0].of_chip().instructions, stats[1].of_chip().instructions, "{what:?}");
    let warps = stats.map(|stats| stats.emulated.warps);
    assert!(warps[1] > 2, "{what:?}");
    warps[0] < warps[1]
}

#[test]
fn rectangles_with_one_texel_per_pixel_are_copied() {
    for (points, places) in [
        (WHOLE, WHOLE),
        ([3.0, 5.0, 40.0, 41.0], [3.0, 5.0, 40.0, 41.0]),
        ([3.0, 5.0, 40.0, 41.0], [20.0, 7.0, 57.0, 43.0]),
        ([30.0, 31.0, 31.0, 33.0], [63.0, 62.0, 64.0, 64.0]),
        // The other two corners, which give an equal rectangle.
        ([40.0, 41.0, 3.0, 5.0], [40.0, 41.0, 3.0, 5.0]),
        // Not on the edges of texels, but every pixel samples an equal texel.
        ([3.0, 5.0, 40.0, 41.0], [3.25, 5.25, 40.25, 41.25]),
        ([3.0, 5.0, 40.0, 41.0], [2.6, 4.6, 40.4, 41.4]),
        ([3.0, 5.0, 40.0, 41.0], [3.499, 4.501, 40.499, 40.501]),
        ([3.0, 5.0, 40.0, 41.0], [0.51, 0.51, 37.51, 36.51]),
        // Beyond the target, where pixels are not drawn.
        ([-8.0, 5.0, 80.0, 41.0], [-8.0, 5.0, 80.0, 41.0]),
    ] {
        assert!(is_copied(&Case::new(points, places)), "{points:?} {places:?}");
    }
}

#[test]
fn rectangles_without_one_texel_per_pixel_are_shaded() {
    for (points, places) in [
        // Upside down, mirrored, larger and smaller.
        (WHOLE, [0.0, 64.0, 64.0, 0.0]),
        (WHOLE, [64.0, 0.0, 0.0, 64.0]),
        (WHOLE, [0.0, 0.0, 32.0, 64.0]),
        ([0.0, 0.0, 32.0, 32.0], WHOLE),
        (WHOLE, [0.0, 0.0, 63.0, 64.0]),
        (WHOLE, [0.0, 0.0, 64.0, 62.0]),
        // Texels outside of the texture.
        ([3.0, 5.0, 40.0, 41.0], [2.0 - 3.0, 5.0, 39.0 - 3.0, 41.0]),
        ([3.0, 5.0, 40.0, 30.0], [30.0, 5.0, 67.0, 30.0]),
        ([3.0, 34.0, 40.0, 41.0], [3.0, 58.0, 40.0, 65.0]),
        // A fragment exactly between two texels.
        ([3.0, 5.0, 40.0, 41.0], [3.5, 5.0, 40.5, 41.0]),
        ([3.0, 5.0, 40.0, 41.0], [3.0, 4.5, 40.0, 40.5]),
        // A fragment so near to the middle of two texels that rounding may count.
        ([3.0, 5.0, 40.0, 41.0], [3.49997, 5.0, 40.49997, 41.0]),
    ] {
        assert!(!is_copied(&Case::new(points, places)), "{points:?} {places:?}");
    }
}

/// A depth buffer behind the colours; all pixels pass its test.
const DEPTH: &str = "RB_DEPTH_INFO { DEPTH_FORMAT = DEPTH4_16 | DEPTH_BASE = 0x4000 }
    + RB_DEPTH_PITCH = 128
    + RB_DEPTH_PITCH2 = 128
    RB_DEPTH_CONTROL { Z_TEST_ENABLE | ZFUNC = FUNC_GREATER }";

#[test]
fn only_bytes_that_stay_as_they_are_are_copied() {
    for (from, to) in [
        ("// MORE", "RB_MRT[0].CONTROL { ROP_CODE = ROP_COPY | COMPONENT_ENABLE = 7 }"),
        ("// MORE", "RB_MRT[0].CONTROL { ROP_ENABLE | ROP_CODE = ROP_XOR | COMPONENT_ENABLE = 0xf }"),
        ("// MORE", "RB_ALPHA_CONTROL { ALPHA_TEST | ALPHA_REF = 128 | ALPHA_TEST_FUNC = FUNC_LESS }"),
        ("// MORE", DEPTH),
        ("SWIZ_W = A4XX_TEX_W", "SWIZ_W = A4XX_TEX_ONE"),
        ("SWIZ_Y = A4XX_TEX_Y", "SWIZ_Y = A4XX_TEX_X"),
        ("SWIZ_Y = A4XX_TEX_Y", "SRGB | SWIZ_Y = A4XX_TEX_Y"),
        ("TFMT4_8_8_8_8_UNORM", "TFMT4_8_8_8_8_SNORM"),
        ("TFMT4_8_8_8_8_UNORM", "TFMT4_10_10_10_2_UNORM"),
        ("TEX_SAMP_0 { ", "TEX_SAMP_0 { XY_MAG = A4XX_TEX_LINEAR | XY_MIN = A4XX_TEX_LINEAR | "),
        ("WRAP_S = A4XX_TEX_CLAMP_TO_EDGE", "WRAP_S = A4XX_TEX_REPEAT"),
        ("(f32)(xyzw)r1.x", "(f32)(xyz)r1.x"),
        ("(sy)end", "(sy)mov.f32f32 r1.x, c0.x\n    end"),
        ("1, r0.x", "0, r0.x"),
        ("0, r0.x\n    bary.f (ei)r0.w, 1, r0.x", "0, r2.x\n    bary.f (ei)r0.w, 1, r2.x"),
        ("use draw(DI_PT_RECTLIST, 2)", "use draw(DI_PT_TRILIST, 3)"),
    ] {
        assert!(!is_copied(&Case::but(from, to)), "{to}");
    }
    // All fragments sample the first of two levels, but the draw's state does not show it.
    let mut levels = Case::but("TEX_CONST_0 { ", "TEX_CONST_0 { MIPLVLS = 1 | ");
    assert!(is_copied(&levels));
    levels.changes.push(("TEX_SAMP_1 { 0 }", "TEX_SAMP_1 { MAX_LOD = 1.0 }"));
    assert!(!is_copied(&levels));
    // The bytes have another order, equal on both sides.
    let mut swapped = Case::but("TEX_CONST_2 { ", "TEX_CONST_2 { SWAP = WXYZ | ");
    assert!(!is_copied(&swapped));
    swapped.changes.push((
        "COLOR_FORMAT = RB4_R8G8B8A8_UNORM | COLOR_TILE_MODE",
        "COLOR_FORMAT = RB4_R8G8B8A8_UNORM | COLOR_SWAP = WXYZ | COLOR_TILE_MODE",
    ));
    assert!(is_copied(&swapped));
}

/// The order of draws is kept: tile memory is cleared by cells, and quads wait for others of their warp.
#[test]
fn texel_copies_keep_the_order_of_draws() {
    let again = "use draw(DI_PT_RECTLIST, 2)\n use clear(0.2, 0.4, 0.6, 0.8, 0)";
    assert!(is_copied(&Case::but("use draw(DI_PT_RECTLIST, 2)", again)));
    // A rectangle of larger texels below the first one, in one draw: both are shaded, as their quads may share a warp.
    let two = [
        ("POSITIONS, -1.0, -1.0", "-0.7, 0.7, 0.6, -0.6, POSITIONS"),
        ("PLACES, 0.0, 1.0", "0.0, 0.0, 0.3, 0.3, PLACES"),
        ("points, 24", "points, 32"),
        ("places, 24", "places, 32"),
        ("use draw(DI_PT_RECTLIST, 2)", "use draw(DI_PT_RECTLIST, 4)"),
    ];
    let part = [13.0, 9.0, 60.0, 61.0];
    assert!(!is_copied(&Case { changes: two.to_vec(), ..Case::new(part, part) }));
}

/// Missing bytes of a texture read as 0. They are reported even if no pixel needs them.
#[test]
fn texels_behind_the_end_of_memory_are_missing() {
    let with_more_rows = |places: [f32; 4]| {
        let mut case = Case::but("TEX_CONST_1 { HEIGHT = HEIGHT", "TEX_CONST_1 { HEIGHT = 80");
        case.places = places;
        let [gpu, shaded] = both_ways(&case);
        assert!(gpu.tile_memory() == shaded.tile_memory());
        assert_eq!(
            Status::of_run(&gpu.report, Warnings::Pass),
            Status::of_run(&shaded.report, Warnings::Pass)
        );
        let missing = |gpu: &Ended| gpu.report.missing.iter().collect::<Vec<_>>();
        assert_eq!(missing(&gpu), missing(&shaded));
        assert!(!missing(&gpu).is_empty());
        gpu.pipeline.stats.emulated.warps
    };
    // Rows 0 to 63 of 80, and rows 16 to 79, of which 64 exist.
    let [copied, shaded] = [[0.0, 0.0, 64.0, 51.2], [0.0, 12.8, 64.0, 64.0]].map(with_more_rows);
    assert!(copied < shaded);
}
