//! Damaged and hostile input: no command panics, hangs, or allocates memory for a length without data.
//! Readable parts are printed, and stderr has the error and its position. Each test runs in a process with
//! limits on time and address space.

use std::fmt::Write as _;
use std::io::Write as _;
use std::time::Duration;

use crate::bounded::bounded;
use crate::bounded::limits::{limited, limited_to};
use crate::seed::random_cases;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_inspect::decode::{Format, Options, Output, decode};
use a4emu_support::options::Shared;
use a4emu_support::status::Status;
use assert_cmd::Command;
use assert_cmd::assert::Assert;
use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;

/// Wall-clock limit in seconds for a run that hangs. It is large because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(300);

/// Builds a capture by the description of the format.
#[derive(Clone, Default)]
struct Capture(Vec<u8>);

impl Capture {
    fn a420() -> Self {
        Self::default().section(13, &420u32.to_le_bytes())
    }

    fn section(mut self, id: u32, payload: &[u8]) -> Self {
        self.0.extend(id.to_le_bytes());
        self.0.extend((payload.len() as u32).to_le_bytes());
        self.0.extend(payload);
        self
    }

    fn dwords(self, id: u32, dwords: &[u32]) -> Self {
        let bytes: Vec<u8> = dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect();
        self.section(id, &bytes)
    }

    fn buffer(self, address: u32, dwords: &[u32]) -> Self {
        self.dwords(3, &[address, dwords.len() as u32 * 4]).dwords(12, dwords)
    }

    fn submit(self, address: u32, dwords: u32) -> Self {
        self.section(2, b"test/1: fence=1\0").dwords(6, &[address, dwords])
    }

    /// One command buffer at 0x1000, submitted.
    fn stream(dwords: &[u32]) -> Self {
        Self::a420().buffer(0x1000, dwords).submit(0x1000, dwords.len() as u32)
    }
}

/// RB_RENDER_CONTROL = 8.
const WRITE: [u32; 2] = [0x20a1, 8];

fn call(address: u32, dwords: u32) -> [u32; 3] {
    [0xc001_3f00, address, dwords]
}

/// Runs `a4emu decode --format jsonl -` on `input`, within the limits.
fn run(input: &[u8]) -> Assert {
    let mut command = limited();
    command.arg(assert_cmd::cargo::cargo_bin("a4emu")).args(["decode", "--format", "jsonl", "-"]);
    Command::from_std(command).write_stdin(input).timeout(PATIENCE).assert()
}

/// Expects an exit status such as 3, and an error message that contains all of `says`.
fn expect(input: &[u8], status: i32, says: &[&str]) -> String {
    let assert = run(input).code(status);
    let output = assert.get_output();
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    for part in says {
        assert!(stderr.contains(part), "{part:?} is not in {stderr:?}");
    }
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_good_capture_is_fine() {
    let stdout = expect(&Capture::stream(&WRITE).0, 0, &[]);
    assert!(
        stdout.contains(r#""kind":"reg","submit":0,"address":4096,"reg":8353,"name":"RB_RENDER_CONTROL""#)
    );
}

#[test]
fn no_file_and_directories_are_usage() {
    for (path, says) in
        [("/nowhere/at/all.rd", "cannot open /nowhere/at/all.rd"), ("/", "cannot open /: it is a folder")]
    {
        let assert = Command::cargo_bin("a4emu").unwrap().args(["decode", path]).assert().code(2);
        let stderr = String::from_utf8_lossy(&assert.get_output().stderr).into_owned();
        assert!(stderr.contains(says), "{stderr}");
    }
}

#[test]
fn an_empty_file_is_no_capture() {
    expect(&[], 3, &["empty file, not a capture"]);
}

#[test]
fn text_is_no_capture() {
    expect(b"#include <stdio.h>\nint main(void) { return 0; }\n", 3, &["not a capture: it is text"]);
}

#[test]
fn truncated_gzip_shows_what_it_held() {
    let good = Capture::stream(&WRITE);
    let noise: Vec<u32> = (0..4096u32).map(|i| i.wrapping_mul(0x9e37_79b9)).collect();
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(&good.buffer(0x8000, &noise).0).unwrap();
    let packed = encoder.finish().unwrap();
    let stdout = expect(&packed[..packed.len() - 100], 3, &["compressed data is damaged after offset"]);
    assert!(stdout.contains("RB_RENDER_CONTROL"));
}

#[test]
fn several_gzip_members_are_one_capture() {
    let good = Capture::stream(&WRITE).0;
    let mut packed = Vec::new();
    for part in good.chunks(11) {
        let mut encoder = GzEncoder::new(&mut packed, Compression::fast());
        encoder.write_all(part).unwrap();
        encoder.finish().unwrap();
    }
    assert!(expect(&packed, 0, &[]).contains("RB_RENDER_CONTROL"));
}

/// Decodes in this process. Returns the status and the output.
fn decode_here(input: &[u8], format: Format) -> (Status, String) {
    let options = Options { format, shaders: true, ..Options::default() };
    let mut out = Vec::new();
    let sections = Sections::new(input).unwrap();
    let status =
        decode(sections, "x", &options, &Shared::default(), Output::new(Box::new(&mut out))).unwrap();
    (status, String::from_utf8(out).unwrap())
}

/// A capture of every kind of section, with calls, loads and a draw.
fn small() -> Capture {
    let load = [0xc003_3000, 4 << 18 | 1 << 22, 0, 0x1111, 0x2222];
    let draw = [0xc002_3800, 0x84, 1, 3];
    let inner: Vec<u32> = WRITE.into_iter().chain(load).chain(draw).collect();
    let outer: Vec<u32> =
        call(0x2000, inner.len() as u32).into_iter().chain([0x8000_0000]).chain(WRITE).collect();
    Capture::a420()
        .dwords(14, &[0x0402_0000, 0])
        .section(1, b"a test\0\0")
        .section(99, b"unknown")
        .buffer(0x2000, &inner)
        .dwords(3, &[0x9000, 0x100])
        .buffer(0x1000, &outer)
        .submit(0x1000, outer.len() as u32)
}

#[test]
fn cut_at_every_byte_the_rest_is_shown() {
    bounded(module_path!(), "cut_at_every_byte_the_rest_is_shown", cut_at_every_byte);
}

fn cut_at_every_byte() {
    let whole = small().0;
    let boundaries: Vec<usize> = {
        let mut sections = Sections::new(&whole[..]).unwrap();
        let mut at = vec![];
        while sections.next().is_some() {
            at.push(sections.offset() as usize);
        }
        at
    };
    let (_, full) = decode_here(&whole, Format::Jsonl);
    for end in 0..whole.len() {
        for format in [Format::Jsonl, Format::Text, Format::Summary] {
            let (status, shown) = decode_here(&whole[..end], format);
            let expected = if boundaries.contains(&end) { Status::Fine } else { Status::Damaged };
            assert_eq!(status, expected, "cut at {end}");
            if format == Format::Jsonl {
                let good: String = shown.lines().filter(|line| !line.contains(r#""kind":"error""#)).fold(
                    String::new(),
                    |mut good, line| {
                        writeln!(good, "{line}").unwrap();
                        good
                    },
                );
                assert!(full.starts_with(&good), "cut at {end} shows what is not there");
            }
        }
    }
}

/// Random bytes are changed: decoding ends, and the events match the sections that were read.
#[test]
fn changed_bytes_are_answered() {
    bounded(module_path!(), "changed_bytes_are_answered", || {
        let changes = proptest::collection::vec((0usize..400, any::<u8>()), 1..6);
        proptest!(random_cases(1000), |(changes in changes)| {
            let mut input = small().0;
            let len = input.len();
            changes.iter().for_each(|&(at, byte)| input[at % len] = byte);
            for format in [Format::Jsonl, Format::Text, Format::Summary] {
                let (_, shown) = decode_here(&input, format);
                prop_assert!(shown.is_empty() || shown.ends_with('\n'));
            }
        });
    });
}

#[test]
fn a_length_of_two_gigabytes_allocates_only_what_is_there() {
    let mut input = Capture::stream(&WRITE).0;
    let at = input.len();
    input.extend([12u32.to_le_bytes(), 0x7fff_fff0u32.to_le_bytes()].concat());
    input.extend([0; 100]);
    let offset = format!("offset {at:#x} (0x64 of 0x7ffffff0 bytes)");
    assert!(expect(&input, 3, &[&offset]).contains("RB_RENDER_CONTROL"));
    let mut huge = 12u32.to_le_bytes().to_vec();
    huge.extend(0x7fff_fff0u32.to_le_bytes());
    expect(&huge, 3, &["offset 0x0", "0x7ffffff0"]);
}

/// A section header with an allowed length and no payload. If the limits do not fit the length, the existing
/// sections are printed.
#[test]
fn a_length_that_may_be_allocates_only_what_is_there() {
    let mut input = Capture::stream(&WRITE).0;
    input.extend([12u32.to_le_bytes(), 0x0fff_fff0u32.to_le_bytes()].concat());
    input.extend([0; 100]);
    let mut command = limited_to(310_000);
    command.arg(assert_cmd::cargo::cargo_bin("a4emu")).args(["decode", "--format", "jsonl", "-"]);
    let assert = Command::from_std(command).write_stdin(input).timeout(PATIENCE).assert().code(3);
    assert!(String::from_utf8_lossy(&assert.get_output().stdout).contains("RB_RENDER_CONTROL"));
}

#[test]
fn after_a_corrupt_size_reading_goes_on_at_the_next_marker() {
    let mut input = Capture::a420().0;
    input.extend([12u32.to_le_bytes(), 0x8000_0000u32.to_le_bytes()].concat());
    input.extend([0xaa; 37]);
    input.extend([0xff; 8]);
    input.extend(Capture::stream(&WRITE).0);
    assert!(expect(&input, 3, &["offset 0xc", "corrupt size 0x80000000"]).contains("RB_RENDER_CONTROL"));
}

#[test]
fn a_buffer_that_calls_itself_is_entered_once() {
    let stream: Vec<u32> = WRITE.into_iter().chain(call(0x1000, 5)).collect();
    let stdout = expect(&Capture::stream(&stream).0, 3, &["0x00001008", "calls itself"]);
    assert_eq!(stdout.matches(r#""kind":"reg""#).count(), 1);
}

#[test]
fn a_call_into_nothing_is_passed() {
    let stream: Vec<u32> = call(0xdead_0000, 7).into_iter().chain(WRITE).collect();
    let stdout = expect(&Capture::stream(&stream).0, 3, &["7 dwords at 0xdead0000 is in no buffer"]);
    assert!(stdout.contains("RB_RENDER_CONTROL") && stdout.contains(r#""kind":"error""#));
}

#[test]
fn a_submit_into_nothing_and_one_past_its_buffer() {
    expect(&Capture::a420().submit(0x5000, 4).0, 3, &["4 dwords at 0x00005000 is in no buffer"]);
    let capture = Capture::a420().buffer(0x1000, &WRITE).submit(0x1000, 100);
    assert!(expect(&capture.0, 3, &["has 100 dwords, 2 of them captured"]).contains("RB_RENDER_CONTROL"));
}

#[test]
fn a_stream_runs_on_into_the_buffer_behind_it() {
    let capture = Capture::a420().buffer(0x1008, &[8, 0x20a1]).buffer(0x1010, &[9]).buffer(0x1004, &[0x20a1]);
    let stdout = expect(&capture.submit(0x1004, 4).0, 0, &[]);
    assert_eq!(stdout.matches("RB_RENDER_CONTROL").count(), 2);
}

/// Buffers 0x1000, 0x2000, ... where each calls the next `times` times.
fn tower(levels: u32, times: usize) -> Capture {
    let mut capture = Capture::a420();
    for level in 1..=levels {
        let next = (level + 1) * 0x10000;
        let stream = call(next, (times * 3) as u32).repeat(times);
        capture = capture.buffer(level * 0x10000, &stream);
    }
    capture.buffer((levels + 1) * 0x10000, &WRITE.repeat(times * 3 / 2)).submit(0x10000, times as u32 * 3)
}

#[test]
fn depth_bombs_end() {
    expect(&tower(300, 1).0, 3, &["nested more than 8 deep"]);
}

#[test]
fn fan_out_bombs_end() {
    expect(&tower(7, 40).0, 4, &["--max-work"]);
}

#[test]
fn a_register_count_past_the_end() {
    let stream: Vec<u32> = WRITE.into_iter().chain([0x3fff_20a0, 1]).collect();
    let stdout = expect(&Capture::stream(&stream).0, 3, &["0x3fff20a0 at dword 0x2", "0x00001000"]);
    assert_eq!(stdout.matches(r#""kind":"reg""#).count(), 1);
}

#[test]
fn unknown_opcodes_are_kept_and_passed() {
    let stream: Vec<u32> = [0xc001_7f00, 0x1234, 0x5678].into_iter().chain(WRITE).collect();
    let stdout = expect(&Capture::stream(&stream).0, 4, &["opcode 0x7f is not supported", "0x00001000"]);
    assert!(stdout.contains(r#""name":"UNKNOWN_7F","dwords":[4660,22136]"#));
    assert!(stdout.contains("RB_RENDER_CONTROL"));
}

#[test]
fn a_packet_shorter_than_its_layout() {
    let stream: Vec<u32> = [0xc000_3800, 4].into_iter().chain(WRITE).collect();
    expect(&Capture::stream(&stream).0, 3, &["CP_DRAW_INDX_OFFSET with 1 dwords is too short"]);
}

#[test]
fn other_generations_are_not_supported() {
    let capture =
        Capture::default().section(13, &530u32.to_le_bytes()).buffer(0x1000, &WRITE).submit(0x1000, 2);
    assert!(
        !expect(&capture.0, 4, &["recorded on an Adreno 530 (GPU_ID 530)", "cffdump"])
            .contains("RB_RENDER_CONTROL")
    );
    let forced = Command::cargo_bin("a4emu")
        .unwrap()
        .args(["decode", "--force", "-"])
        .write_stdin(capture.0)
        .unwrap_err();
    let forced = forced.as_output().unwrap();
    assert!(String::from_utf8_lossy(&forced.stdout).contains("RB_RENDER_CONTROL"));
    assert!(String::from_utf8_lossy(&forced.stderr).contains(
        "a capture of an Adreno 530 (GPU_ID 530) as one of an A4xx (--force) is not supported yet"
    ));
    expect(&Capture::stream(&[0x7010_0001, 0]).0, 4, &["A5xx or later"]);
}

#[test]
fn contents_of_nothing_are_a_warning() {
    let capture = Capture::stream(&WRITE).dwords(12, &[1]);
    expect(&capture.0, 0, &["belong to no address"]);
    let mut strict = Command::cargo_bin("a4emu").unwrap();
    strict.args(["decode", "--strict", "-"]).write_stdin(capture.0).assert().code(3);
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let many = WRITE.repeat(20_000);
    let path = std::env::temp_dir().join(format!("a4emu-pipe-{}.rd", std::process::id()));
    std::fs::write(&path, Capture::stream(&many).0).unwrap();
    let binary = assert_cmd::cargo::cargo_bin("a4emu");
    let mut child = std::process::Command::new(binary)
        .arg("decode")
        .arg(&path)
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(0), &b""[..]));
}

/// Counts the bytes that are read.
struct Counted<'a, R>(R, &'a std::cell::Cell<u64>);

impl<R: std::io::Read> std::io::Read for Counted<'_, R> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        let count = self.0.read(to)?;
        self.1.set(self.1.get() + count as u64);
        Ok(count)
    }
}

/// `bytes` again and again, without end.
fn endless(bytes: Vec<u8>) -> impl std::io::Read {
    struct Endless(Vec<u8>, usize);
    impl std::io::Read for Endless {
        fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
            let count = std::io::Read::read(&mut &self.0[self.1..], to)?;
            self.1 = (self.1 + count) % self.0.len();
            Ok(count)
        }
    }
    Endless(bytes, 0)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(bytes).expect("memory");
    packed.finish().expect("memory")
}

/// Bytes that make no section, or sections that hold nothing, are charged: reading ends with the work that is
/// allowed.
#[test]
fn reading_is_charged() {
    bounded(module_path!(), "reading_is_charged", || {
        const WORK: u64 = 1 << 22;
        let header = |id: u32, size: u32| [id.to_le_bytes(), size.to_le_bytes()].concat();
        let rows: [(&str, Vec<u8>, Vec<u8>); 7] = [
            ("padding", header(13, 0), vec![0; 4096]),
            ("markers", header(13, 0), vec![0xff; 4096]),
            ("empty sections", header(13, 0), header(1, 0)),
            ("too large sections", header(13, 0), header(1, 0x7fff_ffff)),
            ("damage", [header(13, 0), header(1, u32::MAX)].concat(), vec![7; 4096]),
            ("empty members", gzip(b""), gzip(b"")),
            ("packed padding", gzip(&[]), gzip(&[0; 1 << 20])),
        ];
        for (what, start, part) in rows {
            let read = std::cell::Cell::new(0);
            let bytes = std::io::Read::chain(std::io::Cursor::new(start), endless(part));
            let mut playback = a4emu_gpu::playback::Playback::default();
            playback.gpu.budget = a4emu_gpu::budget::Budget::fixed(WORK);
            let sections = Sections::new(Counted(bytes, &read)).expect("it can be read");
            playback.run(sections, &mut a4emu_gpu::cp::Renderer, &mut a4emu_gpu::cp::Silent);
            assert!(read.get() <= 2 * WORK, "{what}: {} bytes are read for {WORK} units", read.get());
        }
    });
}

/// Commands whose text comes from a file or stdin, with text without end: a line has a limit, and so has the
/// work.
#[test]
#[cfg(target_os = "linux")]
fn text_without_end_is_refused() {
    let folder = tempfile::tempdir().expect("a folder");
    let sparse = folder.path().join("sparse");
    std::fs::File::create(&sparse).and_then(|file| file.set_len(10 << 30)).expect("a sparse file");
    let sparse = sparse.to_str().expect("a name in UTF-8");
    let own = |name: &str| concat!(env!("CARGO_MANIFEST_DIR"), "/captures/").to_owned() + name;
    let (shader, capture) = (own("pico/lit.vs.pico"), own("triangle.rd.gz"));
    let rows: [(&[&str], &str, &str); 9] = [
        (&["pico", "debug", &shader, "--input", sparse], "/dev/null", "a line has more than 65536 bytes"),
        (
            &["pico", "debug", &shader, "--input", "/dev/zero"],
            "/dev/null",
            "a line has more than 65536 bytes",
        ),
        (&["pico", "debug", &shader], "/dev/zero", "a line has more than 65536 bytes"),
        (&["pico", "debug", &shader], sparse, "a line has more than 65536 bytes"),
        (&["pico", "run", &shader], "/dev/zero", "a line has more than 65536 bytes"),
        (&["pico", "run", &shader], sparse, "a line has more than 65536 bytes"),
        (&["pico", "run", &shader, "--max-work", "1M"], "yes ''", "--max-work"),
        (
            &["debug", &capture, "--draw", "f0", "--stage", "vs"],
            "/dev/zero",
            "a line has more than 65536 bytes",
        ),
        (&["debug", &capture, "--draw", "f0", "--stage", "vs", "--max-work", "1G"], "yes h", "--max-work"),
    ];
    for (arguments, input, says) in rows {
        let mut command = limited();
        let script = match input.starts_with('/') {
            true => r#"exec "$0" "$@" < "$INPUT""#,
            false => r#"eval "$INPUT" | "$0" "$@""#,
        };
        command.args(["bash", "-c", script]).arg(assert_cmd::cargo::cargo_bin("a4emu")).args(arguments);
        command.env("INPUT", input).stdout(std::process::Stdio::null());
        let output = Command::from_std(command).timeout(PATIENCE).output().expect("bash");
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(4), "{arguments:?}: {said}");
        assert!(said.contains(says), "{arguments:?}: {said}");
    }
}

/// A name is compared with those of the database, whatever its length.
#[test]
fn a_long_name_is_not_known() {
    let long = "RB_DEPTH_CONTROL".repeat(4000);
    let rows: [&[&str]; 4] = [
        &["explain", &long],
        &["explain", "*"],
        &["decode", "--query", &long, "-"],
        &["explain", &long, "0"],
    ];
    for arguments in rows {
        let arguments =
            arguments.iter().map(|text| if *text == "*" { "*?".repeat(30_000) } else { (*text).into() });
        let mut command = limited();
        command.arg(assert_cmd::cargo::cargo_bin("a4emu")).args(arguments);
        let assert =
            Command::from_std(command).write_stdin(&Capture::a420().0[..]).timeout(PATIENCE).assert();
        assert.code(2);
    }
}
