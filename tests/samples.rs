//! Targets with several samples per pixel, dithering and tiles: the pictures of `captures/samples` follow the
//! rules, which are computed here in another way.

use std::path::{Path, PathBuf};

use a4emu::check::open;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::rb::rendered::Written;
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use a4emu_support::folders::Folders;
use a4emu_support::status::{Status, Warnings};
use assert_cmd::Command;

/// Positions of samples from a pixel's upper left corner, in 1/16 pixel.
const TWO: &[[i32; 2]] = &[[12, 12], [4, 4]];
const FOUR: &[[i32; 2]] = &[[6, 2], [14, 6], [2, 10], [10, 14]];

/// The triangles of `msaa-2x`, `msaa-4x` and `restore`: corners in quarters of a pixel.
const EDGES: [[[i32; 2]; 3]; 7] = [
    [[17, 0], [48, 0], [17, 16]],
    [[48, 0], [48, 16], [17, 16]],
    [[18, 16], [48, 16], [18, 32]],
    [[48, 16], [48, 32], [18, 32]],
    [[19, 32], [48, 32], [19, 48]],
    [[48, 32], [48, 48], [19, 48]],
    [[2, 49], [60, 49], [2, 63]],
];

fn captures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")
}

/// The machine after a source of `captures/samples`, which must run without reports.
fn run(source: &str) -> Ended {
    let path = captures().join("samples").join(source);
    let capture = open(&path, &Folders::around(&path, &[captures()])).unwrap();
    let mut playback = Playback::default();
    playback.run(capture, &mut Renderer, &mut Silent);
    let said: Vec<&str> = playback.gpu.report.unsupported_features().collect();
    assert_eq!(said, Vec::<&str>::new(), "{source}");
    assert_eq!(Status::of_run(&playback.gpu.report, Warnings::Pass), Status::Fine, "{source}");
    playback.gpu.end()
}

/// The surfaces that were written, in order.
fn written(gpu: &Ended) -> Vec<Written> {
    gpu.pipeline.surfaces.iter().copied().collect()
}

fn bytes(gpu: &Ended, surface: &Written, len: usize) -> Vec<u8> {
    gpu.memory().slice(surface.address, len).unwrap().to_vec()
}

/// Pixel (x, y) of the surface that was written last.
fn pixel(gpu: &Ended, [x, y]: [usize; 2]) -> [u8; 4] {
    let surface = written(gpu).pop().unwrap();
    let pixels = Picture::of(&surface, gpu.memory()).unwrap().pixels();
    std::array::from_fn(|c| pixels[4 * (y * surface.width as usize + x) + c])
}

/// Whether a point, in 1/16 pixel, is inside a triangle (clockwise), or on its left or upper edge.
fn inside(triangle: [[i32; 2]; 3], point: [i32; 2]) -> bool {
    (0..3).all(|i| {
        let [from, to] = [triangle[i], triangle[(i + 1) % 3]].map(|corner| corner.map(|at| 4 * at));
        let (dx, dy) = (to[0] - from[0], to[1] - from[1]);
        let side = dx * (point[1] - from[1]) - dy * (point[0] - from[0]);
        side > 0 || (side == 0 && (dy < 0 || (dy == 0 && dx > 0)))
    })
}

/// The level of a white triangle on black: the share of a pixel's samples inside of it.
fn level(places: &[[i32; 2]], x: usize, y: usize) -> u8 {
    let corner = [16 * x as i32, 16 * y as i32];
    let is_white = |place: &&[i32; 2]| {
        let point = [corner[0] + place[0], corner[1] + place[1]];
        EDGES.iter().any(|triangle| inside(*triangle, point))
    };
    let count = places.iter().filter(is_white).count();
    (255.0 * count as f32 / places.len() as f32).round_ties_even() as u8
}

fn check_edges(source: &str, places: &[[i32; 2]]) {
    let gpu = run(source);
    for (x, y) in (0..16).flat_map(|x| (0..16).map(move |y| (x, y))) {
        let level = level(places, x, y);
        assert_eq!(pixel(&gpu, [x, y]), [level, level, level, 255], "{source}: pixel {x}, {y}");
    }
}

#[test]
fn edges_are_as_white_as_samples_are_inside() {
    check_edges("msaa-2x.a4", TWO);
    check_edges("msaa-4x.a4", FOUR);
    let quarters = [0, 4, 8].map(|y| level(FOUR, 4, y));
    assert_eq!(quarters, [191, 128, 64], "the vertical edges cut three levels");
}

#[test]
fn samples_that_were_stored_come_back() {
    check_edges("restore.a4", FOUR);
    let gpu = run("restore.a4");
    let stored = written(&gpu)[0];
    assert_eq!(stored.arrangement.samples, 4);
    let row = bytes(&gpu, &stored, 16 * 16);
    let [white, black] = [[255; 4], [0, 0, 0, 255]];
    let want: Vec<[u8; 4]> = [black, white, black, white].to_vec();
    let second = bytes(&gpu, &stored, 16 * 16 * 5);
    assert_eq!(second[4 * 256 + 4 * 16..][..16].as_chunks().0, want, "half of column 4");
    assert_eq!(row[4 * 16..][..16].as_chunks().0, [white, white, black, white], "three quarters of it");
}

#[test]
fn each_rule_makes_its_cell() {
    let gpu = run("rules.a4");
    let at = |x, y| pixel(&gpu, [x, y]);
    let red = |r| [r, 0, 0, r];
    assert_eq!(at(3, 3), [64; 4], "0: the mask leaves one sample");
    assert_eq!(at(11, 3), [191; 4], "1: and three");
    assert_eq!(at(19, 3), [128, 128, 128, 64], "2: alpha of a half leaves two");
    assert_eq!(at(27, 3), [64; 4], "3: the shader leaves one");
    assert_eq!(at(3, 11), [128, 0, 0, 255], "4: 0, 85, 170 and 255");
    assert_eq!([at(8, 11), at(9, 11), at(14, 11)], [[0; 4], [255; 4], [255; 4]], "5: centres count");
    let crossing = [19, 20, 21].map(|x| at(x, 11)[0]);
    assert_eq!(crossing, [255, 64, 0], "6: samples left of 20.25 are nearer");
    assert_eq!([at(25, 11), at(27, 11)], [[80, 0, 0, 128], [240, 0, 0, 255]], "7: two of four, and all");
    assert_eq!(
        [at(1, 19), at(2, 19)[..1].try_into().map_or([0; 4], |[r]: [u8; 1]| [r, 0, 0, 255])],
        [[4, 0, 0, 64], [96, 0, 0, 255]],
        "8: one sample, 1/8 pixel from the edge"
    );
    assert_eq!(
        [at(11, 19), at(12, 19), at(13, 19)].map(|[r, ..]| r),
        [0, 191, 255],
        "9: three right of 12.25"
    );
    assert_eq!(red(0), at(0, 0), "nothing between cells");
}

/// The rank of a pixel in a 4x4 dither matrix: quarters first, then sixteenths.
fn order(x: usize, y: usize) -> usize {
    let of = |x: usize, y: usize| [[0, 2], [3, 1]][y & 1][x & 1];
    4 * of(x, y) + of(x >> 1, y >> 1)
}

#[test]
fn a_ramp_is_dithered_by_its_bits() {
    let gpu = run("dither.a4");
    let [always, unblended, blended, plain] = written(&gpu).try_into().unwrap();
    let [always, unblended, blended, plain] =
        [always, unblended, blended, plain].map(|surface| bytes(&gpu, &surface, 64 * 16 * 2));
    assert_eq!(always, unblended);
    assert_eq!(blended, plain, "on black a blended ramp is the same, and alpha is on");
    for (x, y) in (0..64).flat_map(|x| (0..16).map(move |y| (x, y))) {
        let word = |bytes: &[u8]| {
            u32::from(u16::from_le_bytes([bytes[2 * (64 * y + x)], bytes[2 * (64 * y + x) + 1]]))
        };
        let value = (x as f64 + 0.5) / 64.0;
        for (max, shift) in [(31.0, 0), (63.0, 5), (31.0, 11)] {
            let got = |bytes: &[u8]| f64::from(word(bytes) >> shift & max as u32);
            let up = (value * max).fract() > (order(x, y) as f64 + 0.5) / 16.0;
            assert_eq!(got(&always), (value * max).floor() + f64::from(u8::from(up)), "pixel {x}, {y}");
            assert_eq!(got(&plain), (value * max).round_ties_even(), "pixel {x}, {y}");
        }
    }
}

#[test]
fn tiles_hold_what_was_drawn_and_copied_and_are_read_back() {
    let gpu = run("tiles.a4");
    let [linear, drawn_2, drawn_3, back_2, back_3, copied_2, copied_3] = written(&gpu).try_into().unwrap();
    let all = |surface: &Written| bytes(&gpu, surface, 256 * 40);
    let picture = |surface: &Written| Picture::of(surface, gpu.memory()).unwrap().pixels();
    for (side, drawn, back, copied) in [(32, drawn_2, back_2, copied_2), (4, drawn_3, back_3, copied_3)] {
        assert_eq!(all(&back), all(&linear), "{side}: read back");
        assert_ne!(all(&drawn), all(&linear), "{side}");
        let whole = 256 * 40usize.next_multiple_of(side);
        let tiled = bytes(&gpu, &drawn, whole);
        assert_eq!(tiled, bytes(&gpu, &copied, whole), "{side}: drawn and copied");
        assert_eq!(picture(&drawn), picture(&linear), "{side}: its picture");
        for (x, y) in (0..64).flat_map(|x| (0..40).map(move |y| (x, y))) {
            let (squares, square) = (64 / side, [x / side, y / side]);
            let number = (square[1] * squares + square[0]) * side * side + y % side * side + x % side;
            assert_eq!(tiled[4 * number..][..2], [x as u8, y as u8], "{side}: pixel {x}, {y}");
        }
    }
}

/// The output of `a4emu` for an assembled source.
fn a4emu(arguments: &[&str], source: &str, status: i32) -> String {
    asked(arguments, source, "", status)
}

/// The output of `a4emu` for an assembled source, with `commands` on stdin.
fn asked(arguments: &[&str], source: &str, commands: &str, status: i32) -> String {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("capture.rd");
    let mut asm = Command::cargo_bin("a4emu").unwrap();
    let source = captures().join("samples").join(source);
    asm.arg("asm").arg(source).arg("--include").arg(captures()).arg("-o").arg(&capture).assert().success();
    let mut command = Command::cargo_bin("a4emu").unwrap();
    command.arg(arguments[0]).arg(&capture).args(&arguments[1..]);
    let output = command.write_stdin(commands).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(
        output.status.code(),
        Some(status),
        "{arguments:?}: {text}\n{}",
        String::from_utf8_lossy(&output.stderr)
    );
    text
}

#[test]
fn a_pixel_of_samples_and_of_tiles_has_its_history() {
    let text = a4emu(&["pixel", "4,4", "--json"], "msaa-4x.a4", 0);
    assert!(text.contains("\"written\"") && text.contains("0.5019608"), "{text}");
    let text = a4emu(&["pixel", "20,11", "--json"], "rules.a4", 0);
    assert!(text.matches("\"written\"").count() == 3 && text.contains("0.2509804"), "{text}");
    a4emu(&["pixel", "5,7", "--json"], "tiles.a4", 0);
}

/// A copy rounds the average of the samples. A value that a primitive wrote is not rounded.
#[test]
fn a_pixel_of_a_resolved_surface_holds_what_the_copy_made() {
    let text = a4emu(&["pixel", "4,4"], "msaa-4x.a4", 0);
    assert!(
        text.contains(", colour (0.0000 0.0000 0.0000 1.0000) -> (0.5000 0.5000 0.5000 1.0000)"),
        "{text}"
    );
    assert!(text.contains(", samples resolved to (0.5020 0.5020 0.5020 1.0000)"), "{text}");
    assert!(text.contains("  holds (0.5020 ") && !text.contains("not what the last"), "{text}");
    let stored = a4emu(&["pixel", "4,4"], "restore.a4", 0);
    assert_eq!(stored.matches("samples resolved").count(), 1, "{stored}");
}

/// Cell 4 of `rules` shows the number of each sample, times a third. Cell 9 shows where barycentrics at
/// samples are large.
#[test]
fn a_debugger_steps_through_the_sample_that_is_asked_for() {
    let red = |draw, pixel, sample: &[&str], register| {
        let place = ["debug", "--draw", draw, "--stage", "fs", "--pixel", pixel];
        let text = asked(&[&place[..], sample].concat(), "rules.a4", &format!("c\nr {register}\n"), 0);
        let line = text
            .lines()
            .find(|line| line.split_whitespace().next() == Some(register))
            .expect(&text)
            .to_owned();
        f32::from_bits(u32::from_str_radix(line.split_whitespace().nth(1).expect(&line), 16).unwrap())
    };
    assert_eq!(red("f5", "4,11", &[], "r0"), 0.0);
    for (sample, value) in [("0", 0.0), ("1", 0.33333334), ("3", 1.0)] {
        assert_eq!(red("f5", "4,11", &["--sample", sample], "r0"), value, "{sample}");
    }
    // The edge is at column 12.25; the samples of pixel 12 are at 6/16, 14/16, 2/16 and 10/16.
    for (sample, value) in [("0", 1.0), ("1", 1.0), ("2", 0.0), ("3", 1.0)] {
        assert_eq!(red("f11", "12,19", &["--sample", sample], "r1"), value, "{sample}");
    }
    asked(&["debug", "--draw", "f1", "--stage", "fs", "--pixel", "4,4", "--sample", "1"], "rules.a4", "", 2);
}

#[test]
fn a_run_says_on_which_guesses_it_rests() {
    let text = a4emu(&["replay", "--fidelity"], "rules.a4", 0);
    let ids = [
        "sample-places",
        "sample-layout",
        "sample-shading",
        "centroid-place",
        "alpha-coverage",
        "mask-output",
    ];
    assert!(ids.iter().chain(&["resolve-average"]).all(|id| text.contains(id)), "{text}");
    assert!(a4emu(&["replay", "--fidelity"], "restore.a4", 0).contains("copy-samples"));
    let text = a4emu(&["replay", "--fidelity"], "dither.a4", 0);
    assert!(text.contains("dither-matrix") && text.contains("dither-alpha"), "{text}");
    assert!(a4emu(&["replay", "--fidelity"], "tiles.a4", 0).contains("tile-order"));
}
