//! Captures with changed words, rendered: nothing panics or hangs, whatever state, shader,
//! descriptor, index or vertex comes out of it.
//!
//! The changes are the same on every run. `A4EMU_CHANGES=N` makes N of them for each
//! capture instead of a few, `A4EMU_FIRST=K` begins at the K-th.

use std::io::Read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use a4emu::asm::{Disk, capture_of};
use a4emu::folders::Folders;
use a4emu::output::Renderer;
use a4emu::output::picture::Picture;
use a4emu::playback::Playback;
use a4emu_decoder::capture::Sections;

/// Changed captures that are made of each source.
const CHANGES: u64 = 8;

/// Small captures that between them reach every stage.
const SOURCES: [&str; 14] = [
    "blend.rd.gz",
    "clip.rd.gz",
    "compute.rd.gz",
    "gather.rd.gz",
    "image.rd.gz",
    "indirect.rd.gz",
    "lines.rd.gz",
    "mrt.rd.gz",
    "points.rd.gz",
    "shadow.rd.gz",
    "xfb.rd.gz",
    "geometry/gs-explode.a4",
    "geometry/tess-gs.a4",
    "geometry/tess-isolines.a4",
];

/// xorshift64*: the same numbers everywhere.
struct Random(u64);

impl Random {
    fn new(seed: u64) -> Self {
        Self((seed + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d) >> 16
    }

    fn below(&mut self, limit: usize) -> usize {
        self.next() as usize % limit
    }
}

fn source(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name);
    if name.ends_with(".a4") {
        let folders = Folders::new([Path::new(env!("CARGO_MANIFEST_DIR")).join("captures")]);
        return capture_of(&path, &mut Disk::new(folders)).unwrap();
    }
    let mut bytes = Vec::new();
    flate2::read::MultiGzDecoder::new(std::fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Offsets of words that are not zero: what somebody meant.
fn words(bytes: &[u8]) -> Vec<usize> {
    (0..bytes.len() / 4).map(|i| 4 * i).filter(|at| bytes[*at..*at + 4] != [0; 4]).collect()
}

fn changed(bytes: &[u8], words: &[usize], random: &mut Random) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for _ in 0..1 + random.below(6) {
        let at = words[random.below(words.len())];
        let old = u32::from_le_bytes(std::array::from_fn(|i| bytes[at + i]));
        let new = match random.below(6) {
            0 => random.next() as u32,
            1 => u32::MAX >> random.below(32),
            2 => old.wrapping_add(1),
            3 => old << 16,
            _ => old ^ 1 << random.below(32),
        };
        bytes[at..at + 4].copy_from_slice(&new.to_le_bytes());
    }
    bytes
}

fn render(bytes: &[u8]) {
    let Ok(sections) = Sections::new(bytes) else { return };
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer::default());
    if let Some(surface) = playback.gpu.pipeline.surfaces.last_color() {
        let _ = Picture::of(surface, &playback.gpu.mem).map(|picture| picture.pixels());
    }
}

fn number(variable: &str) -> Option<u64> {
    std::env::var(variable).ok()?.parse().ok()
}

#[test]
fn changed_captures_render_to_their_end() {
    let first = number("A4EMU_FIRST").unwrap_or(0);
    let count = number("A4EMU_CHANGES").unwrap_or(CHANGES);
    let mut panicked = Vec::new();
    for name in SOURCES {
        let bytes = source(name);
        let words = words(&bytes);
        for change in first..first + count {
            let changed = changed(&bytes, &words, &mut Random::new(change));
            if catch_unwind(AssertUnwindSafe(|| render(&changed))).is_err() {
                panicked.push(format!("{name} {change}"));
            }
        }
    }
    assert!(panicked.is_empty(), "source and change: {panicked:?}");
}
