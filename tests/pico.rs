//! The command `a4emu pico`: PicoGpu's own shader-unit tests, and bad input.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Write;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::picture::Picture;
use a4emu::pico::unit::{StreamError, Unit, execute};
use a4emu_decoder::isa::pico::assemble;
use a4emu_gpu::budget::{Budget, Work};
use pretty_assertions::assert_eq;

/// Runs `a4emu pico` with `arguments`, `stdin` and a file that holds the source.
fn pico(arguments: &[&str], source: &str, stdin: &str) -> Output {
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(&file, source).unwrap();
    let mut child = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .arg("pico")
        .arg(arguments[0])
        .arg(file.path())
        .args(&arguments[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    // A program that refuses its arguments may end before it reads stdin.
    let _ = child.stdin.take().unwrap().write_all(stdin.as_bytes());
    child.wait_with_output().unwrap()
}

fn check_run(arguments: &[&str], source: &str, stdin: &str, expected: &str) {
    let output = pico(arguments, source, stdin);
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    assert_eq!(String::from_utf8_lossy(&output.stdout), expected);
    assert_eq!(output.status.code(), Some(0));
}

fn check_refused(arguments: &[&str], source: &str, stdin: &str, status: i32, part: &str) {
    let output = pico(arguments, source, stdin);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "", "nothing half-written");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains(part), "{stderr:?} does not say {part:?}");
    assert_eq!(output.status.code(), Some(status), "{stderr}");
}

const SIMPLE: &str = "#vertexShader\n#input r0.xyz\n#output r12.xyzw\niadd r4.xy r0 100\niadd r4.z  r0 1000\n\
                      iadd r4.w  r0 10000\nmov r12 r4\n";

#[test]
fn simple() {
    let expected = "110 120 1030 10000\n140 150 1060 10000\n170 180 1090 10000\n";
    check_run(&["run", "--as", "i32"], SIMPLE, "10 20 30\n40 50 60\n70 80 90\n", expected);
}

#[test]
fn assembled_text_is_a_dword_a_line() {
    let expected = "0c308024\n6180c3cc\n00000030\n00000020\n00000021\n00030112\n00000064\n00008112\n000003e8\n\
                    00004112\n00002710\n0003d31e\n";
    check_run(&["asm"], SIMPLE, "", expected);
}

#[test]
fn manual() {
    // The program as bits, without lduni and initregs, and three threads.
    let program = ["00030112", "00000064", "00008112", "000003e8", "00004112", "00002710", "0003d31e"];
    let program = program.map(|hex| u32::from_str_radix(hex, 16).unwrap());
    let mut stream = vec![0x0c30_801e, 0x6180_c3cc, 0x30];
    stream.extend(program);
    stream.extend([1 | 2 << 2, 0, 0, 10, 20, 30, 40, 50, 60, 70, 80, 90]);
    let mut answer = Vec::new();
    execute(&stream, &mut Budget::default(), |words| answer.extend_from_slice(words)).unwrap();
    assert_eq!(answer, [110, 120, 1030, 10000, 140, 150, 1060, 10000, 170, 180, 1090, 10000]);
}

#[test]
fn float() {
    let source = "#vertexShader\n#input r0.x\n#output r12.xyzw\nswizzle r7 r0.xxxx\nfinit r4 2.f 4.f 8.f\n\
                  fmul r7 r7 r4\nfadd r7 r7 r4\nfinit r4 3.f\nfsub r7 r7 r4\nfinit r4 2.f\nfdiv r7 r7 r4\n\
                  finit r4 0.25\nfmul r7 r7 r4\nfinit r12.w 0.f\nmov r12.xyz r7\n";
    let expected = "1.125 2.625 5.625 0.0\n2.375 5.125 10.625 0.0\n3.625 7.625 15.625 0.0\n";
    check_run(&["run", "--as", "f32"], source, "5.0\n10.0\n15.0\n", expected);
}

#[test]
fn negation() {
    let source = "#vertexShader\n#input r0.xyzw\n#output r12.xyzw\nineg r12.xy r0\nfneg r12.zw r0\n";
    check_run(&["run"], source, "13 -28 13.0 -28.0", "0xfffffff3 0x0000001c 0xc1500000 0x41e00000\n");
}

#[test]
fn vector_products() {
    let source = "#vertexShader\n#input r0.xyzw\n#input r1.xyzw\n#output r12.xyzw\n#output r13.xyzw\n\
                  finit r12 13.f\nfinit r13 13.f\nfdot r12.z r0 r1\nfcross r13 r0 r1\n";
    let expected = "13.0 13.0 70.0 13.0 -4.0 8.0 -4.0 0.0\n";
    check_run(&["run", "--as", "f32"], source, "1.0 2.0 3.0 4.0 5.0 6.0 7.0 8.0", expected);
}

#[test]
fn every_other_op() {
    let shader =
        |code: &str| format!("#vertexShader\n#input r0.xyzw\n#input r1.xyzw\n#output r2.xyzw\n{code}\n");
    let run = |code: &str, form: &str, input: &str, expected: &str| {
        check_run(&["run", "--as", form], &shader(code), input, &format!("{expected}\n"));
    };
    run("imax r2 r0 r1", "i32", "1 -2 3 4 0 5 -9 4", "1 5 3 4");
    run("imin r2 r0 r1", "i32", "1 -2 3 4 0 5 -9 4", "0 -2 -9 4");
    run("imul r2 r0 r1", "i32", "3 -2 65536 4 5 6 65536 -1", "15 -12 0 -4");
    run("idiv r2 r0 r1", "i32", "7 -7 7 -2147483648 2 2 0 -1", "3 -3 0 -2147483648");
    run("isub r2 r0 1", "i32", "7 7 7 7 0 0 0 0", "6 6 6 6");
    run("fmax r2 r0 r1", "f32", "1.0 2.0 -3.0 4.0 2.0 1.0 -4.0 4.0", "2.0 2.0 -3.0 4.0");
    run("fmin r2 r0 r1", "f32", "1.0 2.0 -3.0 4.0 2.0 1.0 -4.0 4.0", "1.0 1.0 -4.0 4.0");
    run("frcp r2 r0", "f32", "1.0 2.0 -4.0 0.0 0 0 0 0", "1.0 0.5 -0.25 inf");
    run("fnorm r2 r0", "f32", "2.0 4.0 4.0 0.0 0 0 0 0", "0.33333334 0.6666667 0.6666667 0.0");
    run("fcross2 r2.xw r0 r1", "f32", "1.0 2.0 0 0 3.0 4.0 0 0", "-2.0 0.0 0.0 -2.0");
    run("swizzle r2 r0.wzyx", "i32", "1 2 3 4 0 0 0 0", "4 3 2 1");
    // Source and destination overlap: the first components are written before the last are read.
    run("mov r2 r0\nswizzle r2 r2.wzyx", "i32", "1 2 3 4 0 0 0 0", "4 3 3 4");
    run("fnorm r2.x r0", "f32", "2.0 4.0 4.0 0.0 0 0 0 0", "0.33333334 0.6666667 0.6666667 0.0");
    run(
        "fneg r2 r0",
        "hex",
        "1 0x80000001 0 0x7f800000 0 0 0 0",
        "0x80000001 0x00000001 0x80000000 0xff800000",
    );
    run(
        "frcp r2 r0",
        "hex",
        "0x00400000 0x7f000000 0x00000001 0 0 0 0 0",
        "0x7f000000 0x00400000 0x7f800000 0x7f800000",
    );
    let tiny = "0x1af1c901 0 0 0 0 0 0 0";
    run("fnorm r2 r0", "hex", tiny, "0x3f813d57 0x00000000 0x00000000 0x00000000");
    run("mov r2 r0\nfcross r2 r2 r1", "f32", "1.0 2.0 3.0 0 5.0 6.0 7.0 0", "-4.0 8.0 -4.0 0.0");
    run("trap\niinit r2 1 2", "i32", "0 0 0 0 0 0 0 0", "1 2 2 2");
}

#[test]
fn uniforms_and_zeroed_registers() {
    let source = "#vertexShader\n#input r0.x\n#output r1.xyzw\n#uniform r2.xy\n#uniform r3.z\nmov r1 r2\n";
    let source = source.replace("r3.z", "r3.x");
    check_run(&["run", "--as", "f32", "--uniform", "1.5,2.5"], &source, "0", "1.5 2.5 0.0 0.0\n");
    check_refused(&["run", "--uniform", "1.5"], &source, "0", 2, "1 values where 2 are wanted");
    let three = ["run", "--uniform", "1,1", "--uniform", "1", "--uniform", "1"];
    check_refused(&three, &source, "0", 2, "3 uniforms given, the shader has 2");
}

#[test]
fn more_threads_than_lanes() {
    let input: String = (0..100).map(|n| format!("{n} 0 0\n")).collect();
    let expected: String = (0..100).map(|n| format!("{} 100 1000 10000\n", n + 100)).collect();
    check_run(&["run", "--as", "i32"], SIMPLE, &input, &expected);
}

#[test]
fn bad_sources_are_refused() {
    check_refused(&["asm"], "#vertexShader\nfrob r0", "", 2, ":2:1: a vertex shader has at least one input");
    check_refused(
        &["asm"],
        &SIMPLE.replace("iadd r4.xy", "iadd r16"),
        "",
        2,
        ":4:6: r16 is read as r1 and 6",
    );
    check_refused(&["asm"], &SIMPLE.replace("r4.xy", "r4.xx"), "", 2, "only once in a mask");
    let long = SIMPLE.to_owned() + &"trap\n".repeat(513);
    check_refused(&["asm"], &long, "", 2, "511 dwords at most");
}

/// Overwritten inputs, as in PicoGpu's own samples (gpu_test.cpp, real_time_gpu_test.cpp).
#[test]
fn overwritten_inputs_are_a_warning_and_strict_refuses() {
    let overwritten = SIMPLE.replace("iadd r4.z ", "iadd r0.z ");
    for command in ["asm", "run"] {
        let said = ":5:1: r0 is an input and is overwritten";
        check_refused(&[command, "--strict"], &overwritten, "1 2 3", 2, said);
        let output = pico(&[command], &overwritten, "1 2 3");
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(stderr.contains("warning") && stderr.contains(said), "{stderr}");
        assert_eq!((output.status.code(), output.stdout.is_empty()), (Some(0), false));
        assert_eq!(pico(&[command, "-q"], &overwritten, "1 2 3").stderr, b"");
    }
}

#[test]
fn comments_may_hold_any_bytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("s.pico");
    std::fs::write(&path, [SIMPLE.as_bytes(), b"// \xff\xfe"].concat()).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_a4emu")).args(["pico", "asm"]).arg(&path).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
}

/// The data after the inputs of a stream's threads (gpu/blocks/shader_array/shader_unit.cpp).
#[test]
fn streams_have_uniforms_and_corners_of_triangles() {
    let answer = |source: &str, rest: &[u32]| {
        let mut stream = assemble(source).unwrap().binary();
        stream[0] |= 2;
        stream.extend(rest);
        let mut answer = Vec::new();
        execute(&stream, &mut Budget::default(), |words| answer.extend_from_slice(words)).unwrap();
        answer
    };
    let vertex = "#vertexShader\n#input r0.x\n#output r1.xyzw\n#uniform r2.xy\n#uniform r3.x\niadd r1 r2 r0\nswizzle r5 r3.xxxx\n\
                  iadd r1.z r1 r5\nswizzle r4 r0.xxxx\niadd r1 r1 r4\n";
    assert_eq!(answer(vertex, &[1 | 1 << 2, 0, 0, 10, 20, 1, 2, 3]), [21, 12, 13, 10, 41, 22, 23, 20]);
    // A pixel in the middle of the first edge: depth and attribute are interpolated by 1/z.
    let fragment = "#fragmentShader\n#input r0.xyzw\n#input r1.x\n#output r2.xyzw\n#uniform r3.x\nswizzle r2 r3.xxxx\n\
                    mov r2.x r1\n";
    let bits = |values: &[f32]| values.iter().map(|value| value.to_bits()).collect::<Vec<_>>();
    let mut rest = vec![1, 0, 0];
    rest.extend(bits(&[2.0, 0.0, 7.0]));
    rest.extend(bits(&[0.0, 0.0, 1.0, 0.0, 4.0, 0.0, 4.0, 1.0, 0.0, 4.0, 1.0, 0.0]));
    assert_eq!(answer(fragment, &rest), bits(&[0.2, 7.0, 7.0, 7.0, 1.6]));
}

#[test]
fn bad_inputs_are_refused() {
    check_refused(&["run"], SIMPLE, "1 2\n", 2, "line 1 of the input: 2 values where 3 are wanted");
    check_refused(&["run"], SIMPLE, "1 2 3\n1 2 x\n", 2, "line 2 of the input: `x` is not a number");
    check_refused(&["run"], SIMPLE, "1 2 9999999999\n", 2, "does not fit 32 bits");
}

#[test]
fn broken_streams_are_refused_at_every_dword() {
    let mut stream = assemble(SIMPLE).unwrap().binary();
    stream[0] |= 2;
    stream.extend([1 | 31 << 2, 0, 0]);
    stream.extend(0..96);
    let whole = stream.len();
    for len in 0..whole {
        let result =
            execute(&stream[..len], &mut Budget::default(), |_| panic!("an execution without its inputs"));
        assert!(matches!(result, Err(StreamError::Short { .. })), "{len}: {result:?}");
    }
    stream.push(0);
    assert_eq!(
        execute(&stream, &mut Budget::default(), |_| {}),
        Err(StreamError::Trailing { at: whole, dwords: 1 })
    );
    assert_eq!(execute(&[1, 0, 0], &mut Budget::default(), |_| {}), Err(StreamError::NoProgram { at: 0 }));
    assert_eq!(
        execute(&[4, 0, 0, 63], &mut Budget::default(), |_| {}),
        Err(StreamError::Slots { at: 0 }).or(Err(StreamError::Instruction { at: 3 }))
    );
}

#[test]
fn the_debugger_stops_at_a_trap() {
    let source = SIMPLE.replace("mov r12 r4", "trap\nmov r12 r4\ntrap");
    let output = pico(&["debug"], &source, "c\nr r4\nc\nr r12\nc\n");
    let out = String::from_utf8_lossy(&output.stdout);
    let lines: Vec<&str> = out.lines().collect();
    assert!(lines[0].contains("(set-up): lduni"), "{out}");
    assert!(lines[1].contains(":7: trap") && lines[1].contains("[lanes 0x00000001]"), "{out}");
    assert!(lines[2].starts_with("r4   00000064") && lines[2].contains("00002710"), "{out}");
    assert!(lines[4].starts_with("r12  00000064"), "{out}");
    assert_eq!(lines.last(), Some(&"ended"));
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn all_lane_counts_give_the_same_answers() {
    let unit = Unit::new(&assemble(SIMPLE).unwrap());
    let inputs: Vec<u32> = (0..99).collect();
    let (whole, cost) = unit.run(&[], &inputs, &mut Budget::default());
    assert_eq!((cost.warps, whole.len()), (2, 33 * 4));
    for threads in 1..33 {
        assert_eq!(unit.run(&[], &inputs[..threads * 3], &mut Budget::default()).0, whole[..threads * 4]);
    }
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The picture of `pico draw` for a scene in captures/.
fn draw(scene: &str) -> Picture {
    draw_scene(&root().join("captures/pico").join(scene).with_extension("toml"))
}

fn draw_scene(scene: &Path) -> Picture {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.png");
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    let status = command.args(["-q", "pico", "draw"]).arg(scene).arg("--png").arg(&out).status();
    assert!(status.unwrap().success(), "{}", scene.display());
    Picture::read(&out)
}

/// The page of a scene has the picture of `pico draw`, and for a pixel what each triangle does there.
#[test]
fn a_page_shows_the_steps_of_pixels_and_vertices() {
    let folder = tempfile::tempdir().unwrap();
    let [page, png] = ["page.html", "scene.png"].map(|name| folder.path().join(name));
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
        command.current_dir(root()).args(["pico", "report", "captures/pico/depth.toml"]).args(arguments);
        command.arg("-o").arg(&page).output().unwrap()
    };
    let output = run(&["--pixel", "128,100", "--pixel", "0,0", "--vertex", "4"]);
    assert!(output.status.success(), "{output:?}");
    let text = std::fs::read_to_string(&page).unwrap();
    let draw = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .args(["pico", "draw"])
        .arg(root().join("captures/pico/depth.toml"))
        .arg("--png")
        .arg(&png)
        .status();
    assert!(draw.unwrap().success());
    let picture = a4emu_inspect::report::pack::base64(&std::fs::read(&png).unwrap());
    assert!(text.contains(&format!("data:image/png;base64,{picture}")));
    // All three triangles cover the pixel; the one behind the others fails.
    let part = |from: &str, to: &str| text.split_once(from).unwrap().1.split(to).next().unwrap();
    let pixel = part("<h3>Pixel 128,100</h3>", "<h3>");
    assert_eq!(pixel.matches("<p>Triangle ").count(), 3, "{pixel}");
    assert!(pixel.contains("is not less than"), "{pixel}");
    // The colours that the tables end with are those of the picture.
    let shown = Picture::read(&png);
    let [r, g, b, _] = shown.pixel([128, 100]) else { panic!("four bytes") };
    assert!(pixel.contains(&format!("becomes [{r}, {g}, {b}, ")), "{pixel}");
    assert!(part("<h3>Pixel 0,0</h3>", "</body>").contains("No triangle of this draw covers it."));
    assert!(text.contains("<h3>Vertices 3 to 5</h3>") && text.contains("r2.x 240.0"), "{text}");
    assert!(text.contains("script-src 'none'") && !text.contains("<script"));
    let outside = run(&["--pixel", "256,0"]);
    assert_eq!(outside.status.code(), Some(2), "{outside:?}");
}

/// Pixels that PicoGpu's simulator failed to draw, by scene: fixtures/pico/README.md.
fn lost_pixels() -> BTreeMap<String, BTreeSet<[usize; 2]>> {
    let text = std::fs::read_to_string(root().join("fixtures/pico/lost.txt")).unwrap();
    let mut lost: BTreeMap<String, BTreeSet<_>> = BTreeMap::new();
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        let [scene, x, y] = line.split(' ').collect::<Vec<_>>().try_into().unwrap();
        lost.entry(scene.into()).or_default().insert([x.parse().unwrap(), y.parse().unwrap()]);
    }
    lost
}

/// The pixels of `scene` that differ from the picture of PicoGpu's simulator.
fn wrong_pixels(scene: &Path, reference: &Path) -> BTreeSet<[usize; 2]> {
    let (ours, theirs) = (draw_scene(scene), Picture::read(reference));
    assert_eq!(ours.size, theirs.size, "{}", scene.display());
    let pixels = (0..ours.size[1]).flat_map(|y| (0..ours.size[0]).map(move |x| [x, y]));
    pixels.filter(|at| ours.pixel(*at) != theirs.pixel(*at)).collect()
}

#[test]
fn scenes_have_the_pixels_of_picogpus_own_simulator() {
    let mut lost = lost_pixels();
    let mut count = 0;
    for folder in ["fixtures/pico", "captures/pico"] {
        for entry in std::fs::read_dir(root().join(folder)).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "toml") {
                continue;
            }
            let name = path.file_stem().unwrap().to_str().unwrap();
            let wrong = wrong_pixels(&path, &root().join("fixtures/pico").join(name).with_extension("png"));
            assert_eq!(wrong, lost.remove(name).unwrap_or_default(), "{name}");
            count += 1;
        }
    }
    assert!(count >= 31 && lost.is_empty(), "{count} scenes; no scene: {lost:?}");
}

/// A shared case, with the one pixel that its run of the simulator failed to draw.
#[test]
fn the_shared_scene_has_the_pixels_of_its_reference() {
    let scene = root().join("../shared/cases/pico-depth.toml");
    if !scene.exists() {
        eprintln!("SKIPPED: {} is not there", scene.display());
        return;
    }
    assert_eq!(wrong_pixels(&scene, &scene.with_extension("reference.png")), BTreeSet::from([[55, 0]]));
}

#[test]
fn a_corner_whose_w_is_0_ends_the_draw() {
    let folder = tempfile::tempdir().unwrap();
    for shader in ["passthrough.vs.pico", "color.fs.pico"] {
        std::fs::copy(root().join("captures/pico").join(shader), folder.path().join(shader)).unwrap();
    }
    let triangle =
        |w: f32| format!("[0, 0, 1, 1, 1, 0, 0], [3, 0, 1, {w}, 1, 0, 0], [0, 3, 1, 1, 1, 0, 0], ");
    let scene = format!(
        "width = 4\nheight = 4\n[[draw]]\nvertex_shader = 'passthrough.vs.pico'\nfragment_shader = 'color.fs.pico'\n\
         vertices = [{}{}]",
        triangle(1.0),
        triangle(-0.0),
    );
    std::fs::write(folder.path().join("s.toml"), scene).unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .current_dir(&folder)
        .args(["pico", "draw", "s.toml", "--png", "s.png"])
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(stderr.contains("s.toml: draw 0, vertex 4: w is 0, at which PicoGpu stops"), "{stderr}");
    assert_eq!(output.status.code(), Some(3));
    let picture = Picture::read(&folder.path().join("s.png"));
    assert_eq!(picture.pixel([0, 0]), [255, 0, 0, 255], "what came before is there");
}

#[test]
fn a_triangle_covers_its_pixels_and_no_others() {
    let picture = draw("triangle");
    assert_eq!(picture.size, [256, 256]);
    let pixel = |x: usize, y: usize| -> [u8; 4] { picture.pixel([x, y]).try_into().unwrap() };
    assert_eq!(pixel(0, 0), [26, 26, 51, 255]);
    assert_eq!(pixel(128, 230), [26, 26, 51, 255]);
    let [r, g, b, a] = pixel(128, 154);
    assert!(r.abs_diff(85) < 4 && g.abs_diff(85) < 4 && b.abs_diff(85) < 4 && a == 255, "{r} {g} {b} {a}");
}

#[test]
fn broken_scenes_are_refused() {
    let draws = |body: &str| {
        let scene = format!("width = 4\nheight = 4\n{body}");
        let output = pico(&["draw", "--png", "/nonexistent/out.png"], &scene, "");
        assert_eq!(output.status.code(), Some(2), "{output:?}");
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(draws("draw = []\nfrob = 1").contains("frob"));
    assert!(
        draws("[[draw]]\nvertex_shader = 'a'\nfragment_shader = 'b'\nvertices = []").contains("cannot open")
    );
    assert!(draws("draw = []").contains("cannot write"));
    let huge = pico(&["draw", "--png", "out.png"], "width = 99999\nheight = 4\ndraw = []", "");
    assert!(String::from_utf8_lossy(&huge.stderr).contains("is no framebuffer"));
}

#[test]
fn threads_that_the_budget_has_no_warps_for_do_not_run() {
    let unit = Unit::new(&assemble(SIMPLE).unwrap());
    let inputs: Vec<u32> = (0..99).collect();
    let mut budget = Budget::new(Work::Warp.price());
    let (outputs, cost) = unit.run(&[], &inputs, &mut budget);
    assert_eq!((cost.warps, outputs.len(), budget.cut()), (1, 32 * 4, Some(Work::Warp)));
    let mut budget = Budget::default();
    let (_, cost) = unit.run(&[], &inputs, &mut budget);
    let instructions = cost.instructions * Work::WarpInstruction.price();
    assert!(instructions > 0);
    assert_eq!(budget.spent(), cost.warps * Work::Warp.price() + instructions);
}
