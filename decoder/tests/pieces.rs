//! What a reader of captures gives does not depend on the pieces in which the bytes arrive: of a file, of a pipe,
//! of a socket.

use std::io::{self, Read, Write};

use a4emu_decoder::adreno::capture::{Ahead, Sections};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Gives at most `piece` bytes at a time, and is interrupted before each third.
struct Pieces {
    bytes: io::Cursor<Vec<u8>>,
    piece: usize,
    calls: usize,
}

impl Pieces {
    fn new(bytes: &[u8], piece: usize) -> Self {
        Self { bytes: io::Cursor::new(bytes.to_vec()), piece, calls: 0 }
    }
}

impl Read for Pieces {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        self.calls += 1;
        if self.calls.is_multiple_of(3) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = to.len().min(self.piece);
        self.bytes.read(&mut to[..count])
    }
}

/// The sections and errors of a capture that arrives in pieces of `piece` bytes: as they are read, and as they
/// are read ahead, where runs of padding are left out.
fn read(capture: &[u8], piece: usize) -> [Vec<String>; 2] {
    let sections = Sections::new(Pieces::new(capture, piece)).expect("it can be read");
    let all = sections.map(|item| format!("{item:?}")).collect();
    let ahead = Ahead::new(Pieces::new(capture, piece), || false).expect("it can be read");
    [all, ahead.map(|item| format!("{item:?}")).collect()]
}

/// Fails unless `capture` is the same in pieces of any size.
fn check(what: &str, capture: &[u8]) {
    let whole = read(capture, usize::MAX);
    for piece in [1, 2, 3, 7, 4096] {
        let got = read(capture, piece);
        for (got, whole) in got.iter().zip(&whole) {
            let first = got.iter().zip(whole).find(|(got, whole)| got != whole);
            let short = |text: &String| text.chars().take(300).collect::<String>();
            assert!(
                got == whole,
                "{what} in pieces of {piece}: {:?} of {} and {}",
                first.map(|(got, whole)| [short(got), short(whole)]),
                got.len(),
                whole.len()
            );
        }
    }
}

/// A number from `seed`, below `limit` (splitmix64).
fn below(seed: &mut u64, limit: usize) -> usize {
    *seed = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mixed = (*seed ^ *seed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((mixed ^ mixed >> 31) % limit.max(1) as u64) as usize
}

/// `bytes` with some of them changed, and with white space, zeros, ones or another part of them put in.
fn mutant(mut bytes: Vec<u8>, seed: &mut u64) -> Vec<u8> {
    for _ in 0..below(seed, 4) {
        let at = below(seed, bytes.len());
        let runs: [&[u8]; 6] = [b" ", b"\n", b"\r\n", b"\0", b"\xff", b"z"];
        let run = runs[below(seed, runs.len())].repeat(1 + below(seed, 40));
        match below(seed, 5) {
            0 => bytes[at] = below(seed, 256) as u8,
            1 => drop(bytes.splice(at..at, run)),
            2 => drop(bytes.drain(at..bytes.len().min(at + 1 + below(seed, 40)))),
            3 => bytes.truncate(at.max(1)),
            _ => {
                let from = below(seed, bytes.len());
                let part = bytes[from..bytes.len().min(from + 40)].to_vec();
                drop(bytes.splice(at..at, part));
            }
        }
        if bytes.is_empty() {
            bytes.push(0);
        }
    }
    bytes
}

/// A dump whose contents are longer than the buffer of a reader.
fn dump() -> Vec<u8> {
    let words = |count: usize| "s8W-!z!!!!\"".repeat(count);
    format!(
        "---\nkernel: 6.1\nmodule: msm\nrevision: 420 (4.2.0.0)\nringbuffer:\n  - id: 0\n    iova: 0x1000\n    \
         data: !!ascii85 |\n     {}\n  - id: 1\n    data: !!ascii85 |\n     {}\nbos:\n  - iova: 0x2000\n    \
         size: 65536\n    data: !!ascii85 |\n     {}   \nother: {}\n  x\nregisters:\n  - {{ offset: 0x0840, \
         value: 0x00800005 }}\n",
        words(40),
        words(20),
        words(1800),
        "x".repeat(9000),
    )
    .into_bytes()
}

/// A container with markers, runs of padding, and damage.
fn container() -> Vec<u8> {
    let section =
        |id: u32, bytes: &[u8]| [&id.to_le_bytes(), &(bytes.len() as u32).to_le_bytes(), bytes].concat();
    let damaged = [1u32.to_le_bytes(), u32::MAX.to_le_bytes()].concat();
    [
        section(13, &420u32.to_le_bytes()),
        [0xff; 24].into(),
        section(3, &[1; 12]),
        section(12, &[7; 10_001]),
        vec![0; 10_000],
        section(6, &[2; 8]),
        damaged,
        vec![3; 9_001],
        [0xff; 8].into(),
        section(1, b"after"),
        vec![0; 16],
        section(6, &[2; 12]),
    ]
    .concat()
}

fn packed(members: &[&[u8]]) -> Vec<u8> {
    let member = |bytes: &&[u8]| {
        let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
        packed.write_all(bytes).expect("memory");
        packed.finish().expect("memory")
    };
    members.iter().flat_map(member).collect()
}

#[test]
fn good_captures() {
    let (dump, container) = (dump(), container());
    check("a dump", &dump);
    check("a container", &container);
    check("a packed dump", &packed(&[&dump]));
    check("a packed container", &packed(&[&container[..5000], b"", &container[5000..]]));
}

#[test]
fn mutants() {
    let (dump, container) = (dump(), container());
    let noise: Vec<u8> = (0..40_000).scan(1, |seed, _| Some(below(seed, 256) as u8)).collect();
    let noisy = [&container[..9000], &[12, 0, 0, 0, 64, 156, 0, 0], &noise].concat();
    for seed in 0..50 {
        let state = &mut { seed };
        check(&format!("dump {seed}"), &mutant(dump.clone(), state));
        check(&format!("container {seed}"), &mutant(container.clone(), state));
        check(&format!("packed dump {seed}"), &mutant(packed(&[&dump]), state));
        check(&format!("packed container {seed}"), &mutant(packed(&[&noisy, &container]), state));
    }
}

/// White space is no part of a word, wherever a piece ends.
#[test]
fn white_space_inside_contents() {
    for at in 8_000..8_400 {
        let mut text = dump();
        let start = text.windows(5).rposition(|word| word == b"s8W-!").expect("contents") - 15_000;
        text.insert(start + at, b' ');
        if at % 40 == 0 {
            check("a dump", &text);
        }
        let said = Sections::new(&text[..]).expect("memory").filter_map(Result::err).map(|it| it.to_string());
        let said: Vec<String> = said.collect();
        assert!(said.len() == 1 && said[0].contains("white space"), "{at}: {said:?}");
    }
}
