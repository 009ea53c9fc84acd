//! `replay --debug`.

use assert_cmd::Command;

/// stdout and exit status of a session with draw 1 of the triangle.
fn session(arguments: &[&str], commands: &str) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    command.current_dir(env!("CARGO_MANIFEST_DIR")).args(["replay", "captures/triangle.rd.gz"]);
    let output = command.args(arguments).write_stdin(commands).output().unwrap();
    (String::from_utf8(output.stdout).unwrap(), output.status.code())
}

/// The four values of a line that shows a register.
fn register(line: &str) -> [f32; 4] {
    let words: Vec<&str> = line.split_whitespace().collect();
    std::array::from_fn(|i| f32::from_bits(u32::from_str_radix(words[1 + 2 * i], 16).unwrap()))
}

/// The pixel of the frame that is held to be right.
fn golden_pixel(x: usize, y: usize) -> [u8; 4] {
    let frame = concat!(env!("CARGO_MANIFEST_DIR"), "/fixtures/triangle/frame.png");
    let file = std::io::BufReader::new(std::fs::File::open(frame).unwrap());
    let mut reader = png::Decoder::new(file).read_info().unwrap();
    let mut bytes = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut bytes).unwrap();
    let at = y * info.line_size + 4 * x;
    std::array::from_fn(|c| bytes[at + c])
}

#[test]
fn a_fragment_ends_with_the_colour_of_its_pixel() {
    for (pixel, [x, y]) in [("100,100", [100, 100]), ("131,90", [131, 90])] {
        let (out, status) =
            session(&["--draw", "1", "--debug", "fs", "--pixel", pixel], "s 4\nr r0\nr r1\nc\n");
        let lines: Vec<&str> = out.lines().collect();
        assert!(lines[0].starts_with("   0  bary.f r0.z, 0, r0.x   [lanes 0x"), "{out}");
        let (r0, r1) = (register(lines[2]), register(lines[3]));
        let color = [r0[2], r0[3], r1[0], r1[1]].map(|c| (c * 255.0).round() as u8);
        assert_eq!(color, golden_pixel(x, y), "{out}");
        assert_eq!((lines[4], status), ("ended", Some(0)));
    }
}

#[test]
fn vertices_begin_with_their_attributes() {
    let (out, status) = session(&["--draw", "1", "--debug", "vs", "--lane", "1"], "r r0\nl 2\nr r0\nq\n");
    let lines: Vec<&str> = out.lines().collect();
    assert_eq!(lines[0], "   0  mov.u32u32 r0.z, 0   [lanes 0x00000007]");
    assert_eq!(register(lines[1])[..2], [0.8, -0.7], "vertex 1, as in captures/scenes.c");
    assert_eq!(register(lines[3])[..2], [0.0, 0.9], "vertex 2");
    assert_eq!(status, Some(0));
}

#[test]
fn what_is_not_there_is_refused() {
    let wrong: [&[&str]; 7] = [
        &["--debug", "fs"],
        &["--debug", "fs", "--draw", "99"],
        &["--debug", "fs", "--draw", "1", "--pixel", "0,0"],
        &["--debug", "fs", "--draw", "1", "--warp", "100000"],
        &["--debug", "vs", "--draw", "1", "--warp", "1"],
        &["--debug", "vs", "--draw", "1", "--pixel", "1,1"],
        &["--debug", "vs", "--draw", "1", "--lane", "32"],
    ];
    for arguments in wrong {
        assert_eq!(session(arguments, ""), (String::new(), Some(2)), "{arguments:?}");
    }
}
