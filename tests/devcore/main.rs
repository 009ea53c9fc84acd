//! Kernel dumps (devcoredump) of an A4xx: the packet at which the GPU stood is named, the submit replays as far
//! as its memory is there, and damaged dumps end well.

mod writer;

use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::playback::Playback;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde_json::Value;
use tempfile::TempDir;

use crate::bounded::bounded;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::DeflateDecoder;

use crate::other_chips::{Ended, run};
use writer::Dump;

/// A dump in a folder of its own.
struct File(TempDir);

impl File {
    fn new(text: &str) -> Self {
        let folder = TempDir::new().unwrap();
        fs::write(folder.path().join("hang.devcore"), text).unwrap();
        Self(folder)
    }

    fn path(&self) -> PathBuf {
        self.0.path().join("hang.devcore")
    }

    fn run(&self, command: &str) -> Ended {
        run(command, &self.path(), self.0.path())
    }
}

/// Checks that `decode` marks the packet called `name` at `address`, once, and that `info` names it.
fn stands_at(file: &File, name: &str, address: u32, registers: &str) {
    let decode = file.run("decode IT");
    let lines: Vec<&str> = decode.stdout.lines().collect();
    let marks: Vec<usize> = (0..lines.len()).filter(|at| lines[*at].contains("<==")).collect();
    let [mark] = marks[..] else { panic!("{} marks\n{}", marks.len(), decode.stderr) };
    let place = format!("{address:08x}  ");
    assert!(lines[mark].starts_with(&place), "{}", lines[mark]);
    let says = format!("<== the GPU stood here ({registers})");
    assert!(lines[mark].ends_with(&says), "{}\nis no\n{says}", lines[mark]);
    let packet = lines[mark + 1];
    assert!(packet.starts_with(&place) && packet.contains(name), "{packet}");
    let info = file.run("info IT");
    let says = format!("stood at         {name}, submit 0 at {address:#010x}\n");
    assert!(info.stdout.contains(&says), "{info}");
    let show = file.run("show IT");
    let says = format!("{name} at {address:#010x} of submit 0 ({registers})\n");
    let line = show.stdout.lines().find(|line| line.starts_with("the GPU stood "));
    assert!(line.is_some_and(|line| format!("{line}\n").ends_with(&says)), "{show}");
    let events = file.run("decode IT --format jsonl").stdout;
    let events: Vec<Value> = events.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let place = events.iter().position(|event| event["kind"] == "hang").expect("an event");
    let [hang, packet] = [&events[place], &events[place + 1]];
    assert_eq!((&hang["address"], &packet["address"]), (&address.into(), &address.into()));
    assert_eq!(packet["name"], name);
    let ib = |number: u32| {
        let ib = &hang[format!("ib{number}")];
        let [base, left] = ["base", "left"].map(|key| ib[key].as_u64().unwrap());
        format!("CP_IB{number}_BASE {base:#010x}, {left} dwords left")
    };
    assert_eq!(format!("{}; {}", ib(2), ib(1)), registers);
}

/// A dump of a submit that hangs in a draw.
pub fn hung() -> String {
    let mut dump = Dump::of("triangle");
    dump.stand_at_draw();
    dump.text()
}

#[test]
fn an_endless_shader_is_found_at_its_draw() {
    let mut dump = Dump::of("triangle");
    // `jump #0`: the first instruction of the fragment shader jumps to itself.
    const FRAGMENT_SHADER: u32 = 0xfff6_0000;
    dump.patch(FRAGMENT_SHADER, 0);
    dump.patch(FRAGMENT_SHADER + 4, 0x0100_0000);
    let draw = dump.stand_at_draw();
    let file = File::new(&dump.text());
    let [call, at] = [dump.call(), dump.draw()];
    let registers = format!(
        "CP_IB2_BASE {:#010x}, {} dwords left; CP_IB1_BASE {:#010x}, {} dwords left",
        call.call[0],
        call.call[1] - at.end,
        dump.ib1[0],
        dump.ib1[1] - call.end
    );
    stands_at(&file, "CP_DRAW_INDX_OFFSET", draw, &registers);
    let replay = file.run("replay IT --max-work 64M");
    assert_ne!(replay.code, Some(0), "{replay}");
    assert!(replay.stderr.contains("shader") || replay.stderr.contains("--max-work"), "{replay}");
}

/// The page of a dump opens with the draw at which the GPU stood.
#[test]
fn the_page_opens_where_the_gpu_stood() {
    let page = File::new(&hung()).run("report IT -o - -q").stdout;
    let data = page.split("<script id=\"data\" type=\"application/octet-stream\">").nth(1);
    let data = STANDARD.decode(data.and_then(|rest| rest.split("</script>").next()).expect("data")).unwrap();
    let frame: Value = serde_json::from_reader(DeflateDecoder::new(&data[..])).unwrap();
    let row = frame["stood_at"].as_u64().expect("a row") as usize;
    assert_eq!(frame["first"], frame["stood_at"]);
    let stood = format!("the GPU stood at f{}: ", frame["draws"][row]["id"]);
    assert!(frame["stood"].as_str().unwrap().starts_with(&stood), "{}", frame["stood"]);
}

#[test]
fn a_call_of_nothing_is_found() {
    const NOWHERE: u32 = 0xdead_0000;
    let mut dump = Dump::of("triangle");
    let call = dump.call();
    dump.patch(dump.ib1[0] + 4 * (call.start + 1), NOWHERE);
    dump.stand([dump.ib1[0], dump.ib1[1] - call.end], [NOWHERE, call.call[1]]);
    let file = File::new(&dump.text());
    let registers = format!(
        "CP_IB2_BASE {NOWHERE:#010x}, {} dwords left; CP_IB1_BASE {:#010x}, {} dwords left",
        call.call[1],
        dump.ib1[0],
        dump.ib1[1] - call.end
    );
    stands_at(&file, "CP_INDIRECT_BUFFER", dump.ib1[0] + 4 * call.start, &registers);
    let info = file.run("info IT");
    assert!(info.stdout.contains("  dead0000  ") && info.stdout.contains("draws            2 "), "{info}");
}

#[test]
fn a_missing_vertex_buffer_is_named() {
    const VERTICES: u32 = 0xfff6_3000;
    let mut dump = Dump::of("triangle");
    let draw = dump.stand_at_draw();
    dump.bos.get_mut(&VERTICES).unwrap().1 = None;
    let file = File::new(&dump.text());
    let info = file.run("info IT");
    for line in [
        "gpu              420\nkernel dump\n  kernel: 6.12.0\n",
        "  comm: glxgears\n",
        "fences           41 has ended, 42 is the last\n",
        "RBBM_STATUS 0x80000001\n",
        &format!("stood at         CP_DRAW_INDX_OFFSET, submit 0 at {draw:#010x}\n"),
        "submits          1 (glxgears 1)\n",
        "  fff63000       4096 bytes,         0 captured\n",
    ] {
        assert!(info.stdout.contains(line), "{line}{info}");
    }
    let missing = info.stdout.split_once("missing ").unwrap().1;
    assert!(missing.contains("  fff63000  "), "{info}");
    let replay = file.run("replay IT");
    assert!(replay.stderr.contains("at 0xfff63000 are not in the capture"), "{replay}");
}

/// Without a fault in it the submit replays to the picture of its capture, through all commands.
#[test]
fn a_whole_submit_is_a_capture() {
    let mut dump = Dump::of("triangle");
    let draw = dump.stand_at_draw();
    let file = File::new(&dump.text());
    let fine = crate::captures::own("triangle");
    let recorded = run("replay IT --png FOLDER/recorded.png", &fine, file.0.path());
    let replay = file.run("replay IT --png FOLDER/dump.png");
    assert_eq!([recorded.code, replay.code], [Some(0); 2], "{replay}");
    let [one, other] = ["recorded.png", "dump.png"].map(|name| fs::read(file.0.path().join(name)).unwrap());
    assert_eq!(one, other);
    for command in
        ["show IT", "show IT --draw f1", "validate IT", "pixel IT 128,128", "report IT -o FOLDER/r.html"]
    {
        let ended = file.run(command);
        assert!(ended.code.is_some_and(|code| code < 2), "{command}: {ended}");
    }
    // Text of it, changed or not, is a capture that says the same.
    let text = file.run("disasm IT -o FOLDER/hang.a4");
    assert_eq!(text.code, Some(0), "{text}");
    let made = file.run("asm FOLDER/hang.a4 -o FOLDER/hang.rd");
    assert_eq!(made.code, Some(0), "{made}");
    let again = run("decode IT", &file.0.path().join("hang.rd"), file.0.path());
    let decode = file.run("decode IT");
    assert!(
        again.stdout == decode.stdout && decode.stdout.contains(&format!("{draw:08x}      <==")),
        "{again}"
    );
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(dump.text().as_bytes()).unwrap();
    fs::write(file.path(), packed.finish().unwrap()).unwrap();
    assert_eq!(file.run("decode IT").stdout, decode.stdout, "gzip");
}

/// Registers outside of contexts are the state at the start; a context's, the ring's are not.
#[test]
fn setup_registers_are_the_state_at_the_start() {
    let mut dump = Dump::of("triangle");
    dump.registers.extend([(0x0cc0, 0x1234), (0x2004, 0x5678), (0x0204, 0x9abc)]);
    let text = dump.text();
    let mut playback = Playback::default();
    let sections = Sections::new(text.as_bytes()).unwrap();
    let before =
        sections.take_while(|section| section.as_ref().is_ok_and(|section| section.id.to_bits() != 6));
    playback.run(before, &mut Renderer, &mut Silent);
    let regs = &playback.gpu.regs;
    assert_eq!([0x0cc0, 0x2004, 0x0204].map(|offset| regs.written(offset)), [Some(0x1234), None, None]);
}

/// All but the broken lines is read.
#[test]
fn broken_lines_have_numbers() {
    let mut dump = Dump::of("triangle");
    dump.stand_at_draw();
    let text = dump.text();
    let rows = [
        ("rptr: ", "rptr: none, or ", "line 14 of the dump: rptr is no number: `none, or "),
        ("last-fence: 42", "last-fence 42", "line 12 of the dump: it is no `key: value`"),
        (
            "revision: 420 (4.2.0.0)",
            "revision: 420 (4.2)",
            "line 7 of the dump: no revision of a chip: `420 (4.2)`",
        ),
        ("!!ascii85 |", "!!binary |", "line 17 of the dump: contents in a form that is not known"),
        ("{ offset: 0x0000, value", "{ value", ": no register: "),
        ("\n    size: 32768", "\n    size: 8", "line 18 of the dump: it has more contents than its size"),
    ];
    for (from, to, says) in rows {
        let broken = text.replacen(from, to, 1);
        assert_ne!(broken, text, "{from}");
        let info = File::new(&broken).run("info IT");
        assert!(info.code == Some(3) && info.stderr.contains(says), "{says}: {}", info.stderr);
        assert!(info.stdout.contains("  fff63000       4096 bytes,      4096 captured\n"), "{info}");
    }
    let cut = File::new(&text[..text.find("iova: 0x00000000fff63000").unwrap()]).run("info IT");
    assert!(cut.stdout.contains("  fff62000       4096 bytes,      4096 captured\n"), "{cut}");
}

/// Reading of a dump without end ends with the work that is allowed, whatever its lines are.
#[test]
fn endless_dumps_are_cut_off() {
    let head = "---\nkernel: x\nrevision: 420 (4.2.0.0)\n";
    let contents = "bos:\n  - iova: 0x1000\n    size: 4294967295\n    data: !!ascii85 |\n";
    let rows = [
        ("", "bos:\n"),
        ("", "  x: 1\n"),
        ("", "bos:\n  - iova: 0x10\n"),
        ("", "other:\n    data: !!ascii85 |\n"),
        ("", "x"),
        ("", "\n"),
        ("", "\r\n"),
        ("", " "),
        ("", "\0"),
        (contents, " "),
        (contents, "z"),
        (contents, "s8W-! "),
        ("ringbuffer:\n  - id: 0\n    size: 4294967295\n    data: !!ascii85 |\n", "\t"),
    ];
    bounded(module_path!(), "endless_dumps_are_cut_off", || {
        for (start, line) in rows {
            let (mut read, endless) = (0, head.bytes().chain(start.bytes()).chain(line.bytes().cycle()));
            let bytes = Bytes(endless.inspect(|_| read += 1));
            let mut playback = Playback::default();
            playback.gpu.budget = Budget::fixed(WORK);
            playback.run(Sections::new(bytes).unwrap(), &mut Renderer, &mut Silent);
            assert!(playback.gpu.budget.cut().is_some(), "{start}{line}");
            assert!(read <= 2 * WORK, "{read} bytes are read for {WORK} units: {start}{line}");
        }
    });
}

/// A dump with white space inside of its contents is the same as a file and through a pipe.
#[test]
fn a_pipe_is_read_as_a_file_is() {
    let words = |count: usize| "s8W-!z!!!!\"".repeat(count);
    let text = format!(
        "---\nkernel: x\nrevision: 420 (4.2.0.0)\nbos:\n  - iova: 0x1000\n    size: 1048576\n    \
         data: !!ascii85 |\n{}!! !!{}   \n",
        words(730),
        words(20)
    );
    let file = File::new(&text);
    let of_file = file.run("info IT");
    assert!(of_file.code == Some(3) && of_file.stderr.contains("white space"), "{of_file}");
    for piece in [1000, 8187, 8192, 65536] {
        let path = file.path().display().to_string();
        let script =
            format!("dd if='{path}' bs={piece} 2>/dev/null | '{}' info -", env!("CARGO_BIN_EXE_a4emu"));
        let of_pipe = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
        assert_eq!(
            (of_pipe.status.code(), String::from_utf8_lossy(&of_pipe.stdout).as_ref()),
            (of_file.code, &*of_file.stdout)
        );
    }
}

/// A reader of the bytes of an iterator.
struct Bytes<I>(I);

impl<I: Iterator<Item = u8>> Read for Bytes<I> {
    fn read(&mut self, to: &mut [u8]) -> std::io::Result<usize> {
        Ok(to.iter_mut().zip(&mut self.0).map(|(place, byte)| *place = byte).count())
    }
}

/// Mutants of dumps in an ordinary run; `A4EMU_MUTANTS=N` makes N.
const MUTANTS: u64 = 300;
/// Work of a mutant, in units.
const WORK: u64 = 1 << 22;

/// A number from `seed`, below `limit`.
fn below(seed: &mut u64, limit: usize) -> usize {
    // splitmix64
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ *seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) % limit.max(1) as u64) as usize
}

/// The dump with some of its lines changed.
fn mutant(text: &str, seed: &mut u64) -> Vec<u8> {
    const NUMBERS: [&str; 7] =
        ["0", "4294967295", "18446744073709551616", "0xffffffffffffffff", "-1", "268435456", "zz"];
    let mut lines: Vec<Vec<u8>> = text.split('\n').map(|line| line.as_bytes().to_vec()).collect();
    for _ in 0..=below(seed, 4) {
        // Most lines are registers.
        let count = if below(seed, 4) > 0 { lines.len().min(80) } else { lines.len() };
        let at = below(seed, count);
        let length = lines[at].len();
        match below(seed, 7) {
            0 => drop(lines.remove(at)),
            1 => {
                let line = lines[at].clone();
                lines.insert(below(seed, count), line);
            }
            2 if length > 0 => lines[at][below(seed, length)] = below(seed, 256) as u8,
            3 => lines[at].truncate(below(seed, length)),
            4 => {
                let end = lines[at].iter().position(|byte| *byte == b':').map_or(0, |colon| colon + 1);
                lines[at].truncate(end);
                lines[at].extend(format!(" {}", NUMBERS[below(seed, NUMBERS.len())]).bytes());
            }
            5 => lines.truncate(at + 1),
            _ => {
                let other = below(seed, count);
                lines.swap(at, other);
            }
        }
        if lines.is_empty() {
            lines.push(Vec::new());
        }
    }
    lines.join(&b'\n')
}

#[test]
fn mutants_end_within_their_limits() {
    bounded(module_path!(), "mutants_end_within_their_limits", || {
        let number = |variable: &str| std::env::var(variable).ok()?.parse().ok();
        let (first, count) = (number("A4EMU_SEED").unwrap_or(0), number("A4EMU_MUTANTS").unwrap_or(MUTANTS));
        let mut dump = Dump::of("triangle");
        dump.stand_at_draw();
        // Large targets only take time.
        dump.bos.retain(|_, (size, _)| *size <= 1 << 14);
        let text = dump.text();
        println!("A4EMU_SEED={first}: {count} mutants of a dump of {} bytes", text.len());
        for seed in first..first + count {
            let bytes = mutant(&text, &mut seed.clone());
            let mut playback = Playback::default();
            playback.gpu.budget = Budget::fixed(WORK);
            let Ok(sections) = Sections::new(&bytes[..]) else { continue };
            playback.run(sections, &mut Renderer, &mut Silent);
            assert!(playback.gpu.budget.spent() <= 2 * WORK, "A4EMU_SEED={seed}");
        }
    });
}
