//! All commands read a stream in one way: `decode`, `--query`, `--trace`, `replay --state` and, as far as it
//! counts them, `info` give equal sequences of (submit, draw, frame draw, every register).
//!
//! Each sequence is parsed from the output of the real command.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::generation::Generation;
use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_support::folders::Folders;
use libtest_mimic::{Arguments, Failed, Trial};

/// A draw, with a hash of the registers that changed since the previous draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Draw {
    submit: u64,
    number: u64,
    frame_draw: u64,
    changed: u64,
}

/// Collects register writes, draw by draw.
#[derive(Default)]
struct Sequence {
    draws: Vec<Draw>,
    /// Values at the previous draw.
    before: BTreeMap<u64, u64>,
    /// Values written since the previous draw.
    since: BTreeMap<u64, u64>,
    written: BTreeSet<u64>,
    writes: u64,
}

impl Sequence {
    fn write(&mut self, register: u64, value: u64) {
        self.writes += 1;
        self.written.insert(register);
        self.since.insert(register, value);
    }

    fn draw(&mut self, submit: u64, number: u64, frame_draw: u64) {
        let mut hasher = DefaultHasher::new();
        for (register, value) in std::mem::take(&mut self.since) {
            if self.before.insert(register, value) != Some(value) {
                (register, value).hash(&mut hasher);
            }
        }
        self.draws.push(Draw { submit, number, frame_draw, changed: hasher.finish() });
    }
}

/// Calls `line` for each line that the command prints. Returns its stderr.
fn each_line(arguments: &[&str], mut line: impl FnMut(&str)) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    let stderr = tempfile();
    command.args(arguments).stdout(Stdio::piped()).stderr(fs::File::create(&stderr).unwrap());
    let mut child = command.spawn().unwrap();
    for text in BufReader::new(child.stdout.take().unwrap()).split(b'\n') {
        line(std::str::from_utf8(&text.unwrap()).unwrap());
    }
    let status = child.wait().unwrap();
    assert!(status.code().is_some(), "{arguments:?} was killed");
    let said = fs::read_to_string(&stderr).unwrap();
    fs::remove_file(stderr).unwrap();
    said
}

/// The path of a new, unused file.
fn tempfile() -> PathBuf {
    use std::sync::atomic::{AtomicU32, Ordering};
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("one-stream-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name)
}

/// The number after `"key":`.
fn number(line: &str, key: &str) -> u64 {
    let at = line.find(key).unwrap_or_else(|| panic!("no {key} in {line}")) + key.len();
    let digits = line[at..].bytes().take_while(u8::is_ascii_digit).count();
    line[at..at + digits].parse().unwrap()
}

fn draw_of(line: &str) -> [u64; 3] {
    [r#""submit":"#, r#""draw":"#, r#""frame_draw":"#].map(|key| number(line, key))
}

/// The sequence of `decode --format jsonl`.
fn decoded(capture: &str) -> Sequence {
    let mut all = Sequence::default();
    each_line(&["decode", "--format", "jsonl", capture], |line| {
        if line.starts_with(r#"{"kind":"reg""#) {
            all.write(number(line, r#""reg":"#), number(line, r#""value":"#));
        } else if ["draw", "dispatch", "blit"]
            .iter()
            .any(|kind| line.starts_with(&format!(r#"{{"kind":"{kind}""#)))
        {
            let [submit, draw, frame_draw] = draw_of(line);
            all.draw(submit, draw, frame_draw);
        }
    });
    all
}

/// The sequence of `decode --query` for every register that is written. A register whose value is printed at
/// every draw gives the list of draws.
fn queried(capture: &str, registers: &BTreeSet<u64>) -> Vec<Draw> {
    let mut all = Sequence::default();
    let mut at: Vec<[u64; 3]> = Vec::new();
    each_line(&["decode", "--format", "jsonl", "--query", "0x2000", capture], |line| {
        at.extend((!line.is_empty()).then(|| draw_of(line)));
    });
    let names: Vec<String> = registers.iter().map(|register| format!("{register:#x}")).collect();
    let mut arguments = vec!["decode", "--format", "jsonl", "--query-mode", "delta", capture];
    arguments.extend(names.iter().flat_map(|name| ["--query", name]));
    let mut ahead = at.into_iter().peekable();
    if !names.is_empty() {
        each_line(&arguments, |line| {
            let here = draw_of(line);
            while let Some([submit, draw, frame_draw]) = ahead.next_if(|draw| draw[1] < here[1]) {
                all.draw(submit, draw, frame_draw);
            }
            assert_eq!(ahead.peek(), Some(&here));
            all.write(number(line, r#""reg":"#), number(line, r#""value":"#));
        });
    }
    ahead.for_each(|[submit, draw, frame_draw]| all.draw(submit, draw, frame_draw));
    all.draws
}

fn hex(text: &str) -> u64 {
    u64::from_str_radix(text.strip_prefix("0x").unwrap(), 16).unwrap()
}

/// The registers of the generation whose chip `info` names.
fn registers(capture: &str) -> &'static RegisterTable {
    let mut generation = None;
    each_line(&["info", capture], |line| {
        let gpu = line.strip_prefix("gpu ").and_then(|gpu| gpu.trim().parse::<u32>().ok());
        generation = generation.or(gpu.and_then(|gpu| Generation::numbered(gpu / 100)));
    });
    generation.unwrap().registers
}

/// The sequence of `replay --trace`.
fn traced(capture: &str) -> Vec<Draw> {
    let registers = registers(capture);
    let mut all = Sequence::default();
    let mut submit = 0;
    let mut offsets: HashMap<String, u64> = HashMap::new();
    each_line(&["replay", "--trace", capture], |line| {
        let words: Vec<&str> = line.split_whitespace().take(4).collect();
        match words[..] {
            ["submit", index, ..] if !line.starts_with(' ') => submit = index.parse().unwrap(),
            ["draw", draw, frame_draw, _] if line.starts_with("  draw") => {
                all.draw(submit, draw.parse().unwrap(), frame_draw[1..].parse().unwrap());
            }
            [name, _, "->", value] if line.starts_with("    ") => {
                let offset =
                    offsets.entry(name.to_owned()).or_insert_with(|| registers.by_name(name).unwrap().into());
                all.write(*offset, hex(value));
            }
            _ => {}
        }
    });
    all.draws
}

/// The sequence of `replay --state`.
fn replayed(capture: &str) -> Vec<Draw> {
    let mut all = Sequence::default();
    let mut next: Option<[u64; 3]> = None;
    let end = |all: &mut Sequence, next: &mut Option<[u64; 3]>| {
        if let Some([draw, frame_draw, submit]) = next.take() {
            all.draw(submit, draw, frame_draw);
        }
    };
    each_line(&["replay", "--state", "-", capture], |line| {
        let words: Vec<&str> = line.split_whitespace().take(6).collect();
        match words[..] {
            ["draw", .., "end"] => end(&mut all, &mut next),
            ["draw", draw, frame_draw, "submit", submit, _] => {
                end(&mut all, &mut next);
                next = Some([draw, &frame_draw[1..], submit].map(|text| text.parse().unwrap()));
            }
            [offset, _, value, ..] if offset.starts_with("0x") && next.is_some() => {
                all.write(hex(offset), hex(value));
            }
            _ => {}
        }
    });
    all.draws
}

/// The counts of `info`: draws (with dispatches and blits), frame draws, register writes.
fn counted(capture: &str) -> [u64; 3] {
    let mut counts = BTreeMap::new();
    each_line(&["info", capture], |line| {
        let name = line.get(..17).unwrap_or_default().trim_end().to_owned();
        let value = line.get(17..).and_then(|rest| rest.split_whitespace().next()?.parse::<u64>().ok());
        counts.extend(value.map(|value| (name, value)));
    });
    [counts["draws"], counts["frame draws"], counts["register writes"]]
}

fn same(what: &str, found: &[Draw], expected: &[Draw]) -> Result<(), Failed> {
    let differing = found.iter().zip(expected).find(|(found, expected)| found != expected);
    match differing {
        Some((found, expected)) => Err(format!("{what} has {found:?}, decode {expected:?}").into()),
        None if found.len() != expected.len() => {
            Err(format!("{what} has {} draws, decode {}", found.len(), expected.len()).into())
        }
        None => Ok(()),
    }
}

/// Compares the results of all commands. Returns the draws.
fn compare(capture: &str) -> Result<Vec<Draw>, Failed> {
    let Sequence { draws, written, writes, .. } = decoded(capture);
    same("--query", &queried(capture, &written), &draws)?;
    same("--trace", &traced(capture), &draws)?;
    same("replay", &replayed(capture), &draws)?;
    let frame_draws = draws.iter().map(|draw| draw.frame_draw + 1).max().unwrap_or(0);
    let expected = [draws.len() as u64, frame_draws, writes];
    match counted(capture) {
        found if found == expected => Ok(draws),
        found => Err(format!("info counts {found:?}, decode {expected:?}").into()),
    }
}

/// Type-0 packet.
fn write(register: u32, value: u32) -> Vec<u32> {
    vec![register, value]
}

/// Type-3 packet.
fn packet(opcode: u32, payload: &[u32]) -> Vec<u32> {
    [&[0xc000_0000 | (payload.len() as u32 - 1) << 16 | opcode << 8], payload].concat()
}

fn draw(count: u32) -> Vec<u32> {
    packet(0x38, &[0x84, 1, count])
}

fn call(address: u32, words: &[u32]) -> Vec<u32> {
    packet(0x3f, &[address, words.len() as u32])
}

const MAIN: u32 = 0x1000_0000;
const DATA: u32 = 0x2000_0000;
const INNER: u32 = 0x3000_0000;
/// CP_SCRATCH_REG5.
const SCRATCH: u32 = 0x57d;

/// A stream with buffers that it calls, and its expected pairs (draw, frame draw).
struct ByHand {
    name: &'static str,
    stream: Vec<Vec<u32>>,
    buffers: Vec<(u32, Vec<u32>)>,
    draws: &'static [(u64, u64)],
}

fn by_hand() -> Vec<ByHand> {
    let tile = [write(SCRATCH, 1), draw(3), write(SCRATCH, 2), draw(6)].concat();
    let chain = |n: u32| INNER + n * 0x100;
    let link = |n: u32| {
        if n == 7 { [write(SCRATCH, 9), draw(3)].concat() } else { packet(0x3f, &[chain(n + 1), 6]) }
    };
    let mut padded: Vec<(u32, Vec<u32>)> = (0..8).map(|n| (chain(n), link(n))).collect();
    padded.iter_mut().for_each(|(_, words)| words.resize(6, 0x8000_0000));
    let predicate = |test: u32| packet(0x4e, &[5 << 4 | test << 8, DATA]);
    let group = write(SCRATCH, 7);
    vec![
        ByHand {
            name: "a loop over tiles",
            stream: vec![write(0x2121, 0), call(INNER, &tile), write(0x2121, 8), call(INNER, &tile), draw(2)],
            buffers: vec![(INNER, tile)],
            draws: &[(0, 0), (1, 1), (2, 0), (3, 1), (4, 2)],
        },
        ByHand {
            name: "a buffer that calls itself",
            stream: vec![draw(3), packet(0x3f, &[MAIN, 8]), write(SCRATCH, 4), draw(3)],
            buffers: vec![],
            draws: &[(0, 0), (1, 1)],
        },
        ByHand {
            name: "a chain eight deep",
            stream: vec![packet(0x3f, &[chain(0), 6]), draw(3)],
            buffers: padded,
            draws: &[(0, 0), (1, 1)],
        },
        ByHand {
            name: "draws of unknown count",
            stream: vec![packet(0x24, &[0x84, 1]), write(SCRATCH, 3), packet(0x34, &[0]), draw(3)],
            buffers: vec![],
            draws: &[(0, 0), (1, 1), (2, 2)],
        },
        ByHand {
            name: "draws that a predicate leaves out",
            stream: vec![
                packet(0x19, &[1]),
                predicate(1),
                draw(1),
                write(SCRATCH, 5),
                predicate(0),
                draw(2),
                packet(0x19, &[0]),
                draw(3),
            ],
            buffers: vec![(DATA, vec![0, 0])],
            draws: &[(0, 0), (1, 1)],
        },
        ByHand {
            name: "registers from memory, scratch, sums and masks",
            stream: vec![
                packet(0x42, &[SCRATCH | 2 << 19, DATA]),
                draw(1),
                packet(0x21, &[SCRATCH, 0xff, 0x100]),
                packet(0x4a, &[SCRATCH]),
                packet(0x4d, &[SCRATCH + 3]),
                draw(2),
                packet(0x2d, &[1 << 31 | 4 << 16 | 0xf7, SCRATCH, 2]),
                packet(0x3d, &[DATA, 77]),
                packet(0x42, &[SCRATCH, DATA]),
                packet(0x45, &[3, SCRATCH, 77, 0xff, SCRATCH + 1, 5]),
                draw(3),
            ],
            buffers: vec![(DATA, vec![0x1234_5678, 42])],
            draws: &[(0, 0), (1, 1), (2, 2)],
        },
        ByHand {
            name: "conditions",
            stream: vec![
                packet(0x44, &[DATA, DATA + 4, 5, 6]),
                write(SCRATCH, 1),
                draw(1),
                packet(0x44, &[DATA, DATA + 4, 4, 6]),
                write(SCRATCH, 2),
                draw(2),
                packet(0x47, &[2 << 28 | SCRATCH, SCRATCH + 1, 6]),
                write(SCRATCH, 3),
                draw(3),
                draw(4),
            ],
            buffers: vec![(DATA, vec![1, 4])],
            draws: &[(0, 0), (1, 1)],
        },
        ByHand {
            name: "state groups and indirect parameters",
            stream: vec![
                packet(0x43, &[5 << 24 | 2, INNER]),
                packet(0x28, &[0x84, DATA]),
                write(SCRATCH, 1),
                packet(0x41, &[0, DATA, 0]),
            ],
            buffers: vec![(INNER, group), (DATA, vec![3, 1, 0, 0])],
            draws: &[(0, 0), (1, 1)],
        },
    ]
}

fn section(id: u32, words: &[u32]) -> Vec<u8> {
    [&[id, words.len() as u32 * 4], words].concat().iter().flat_map(|word| word.to_le_bytes()).collect()
}

impl ByHand {
    fn capture(&self) -> Vec<u8> {
        let stream = self.stream.concat();
        let length = stream.len() as u32;
        let mut capture = section(13, &[420]);
        for (address, words) in self.buffers.iter().cloned().chain([(MAIN, stream)]) {
            capture.extend(section(3, &[address, words.len() as u32 * 4]));
            capture.extend(section(12, &words));
        }
        capture.extend(section(6, &[MAIN, length]));
        capture
    }

    fn check(&self) -> Result<(), Failed> {
        let draws = compare_bytes(&self.capture())?;
        let numbers: Vec<(u64, u64)> = draws.iter().map(|draw| (draw.number, draw.frame_draw)).collect();
        match numbers == self.draws {
            true => Ok(()),
            false => Err(format!("{numbers:?}").into()),
        }
    }
}

fn compare_bytes(capture: &[u8]) -> Result<Vec<Draw>, Failed> {
    let path = tempfile();
    fs::write(&path, capture).unwrap();
    let compared = compare(path.to_str().unwrap());
    fs::remove_file(path).unwrap();
    compared
}

/// A packet that reads memory which a skipped draw could have written: the command reports the dependency.
fn dependencies_on_skipped_draws_are_reported() -> Result<(), Failed> {
    let stream = vec![
        // RB_MRT[0].BASE, then a bypass draw, then a read of its target.
        write(0x20a6, DATA),
        draw(3),
        packet(0x42, &[SCRATCH, DATA]),
        packet(0x44, &[DATA, DATA, 5, 2]),
        write(SCRATCH, 1),
        packet(0x28, &[0x84, DATA]),
    ];
    let by_hand = ByHand { name: "", stream, buffers: vec![(DATA, vec![1, 2, 3, 4])], draws: &[] };
    let path = tempfile();
    fs::write(&path, by_hand.capture()).unwrap();
    let said = each_line(&["decode", path.to_str().unwrap()], |_| {});
    let rendered = each_line(&["info", path.to_str().unwrap()], |_| {});
    fs::remove_file(path).unwrap();
    for what in
        ["the value of CP_MEM_TO_REG", "the condition of CP_COND_EXEC", "the parameters of an indirect"]
    {
        if !said.contains(what) || !said.contains("skipped draws may have written") {
            return Err(format!("{what} is not in {said}").into());
        }
    }
    match rendered.contains("skipped draws") {
        true => Err("info runs the draws".into()),
        false => Ok(()),
    }
}

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
}

/// The files below `folder` whose names end in `end`.
fn files(folder: &Path, end: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).into_iter().flatten().map(|entry| entry.unwrap().path()) {
        if path.is_dir() {
            found.extend(files(&path, end));
        } else if path.to_string_lossy().ends_with(end) {
            found.push(path);
        }
    }
    found.sort();
    found
}

fn shared() -> Vec<PathBuf> {
    let folder = std::env::var_os("A4EMU_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let found = files(&folder.join("captures"), ".rd.gz");
    if found.is_empty() {
        eprintln!("SKIPPED: no captures in {}; set A4EMU_SHARED", folder.display());
    }
    found
}

fn main() {
    let name = |path: &Path| path.file_name().unwrap().to_string_lossy().into_owned();
    let captured = shared().into_iter().chain(files(&root().join("captures"), ".rd.gz"));
    let mut trials: Vec<Trial> = captured
        .map(|path| Trial::test(name(&path), move || compare(path.to_str().unwrap()).map(drop)))
        .collect();
    // Sources that others include give no capture of their own.
    let sources = files(&root().join("captures"), ".a4").into_iter();
    let sources: Vec<_> = sources
        .filter_map(|path| {
            let mut disk = Disk::new(Folders::around(&path, &[root().join("captures")]));
            Some((name(&path), capture_of(&path, &mut disk).ok()?))
        })
        .collect();
    assert!(sources.len() > 20, "{} sources", sources.len());
    trials.extend(
        sources
            .into_iter()
            .map(|(name, capture)| Trial::test(name, move || compare_bytes(&capture).map(drop))),
    );
    trials.extend(by_hand().into_iter().map(|case| Trial::test(case.name, move || case.check())));
    trials.push(Trial::test(
        "dependencies on skipped draws are reported",
        dependencies_on_skipped_draws_are_reported,
    ));
    libtest_mimic::run(&Arguments::from_args(), trials).exit();
}
