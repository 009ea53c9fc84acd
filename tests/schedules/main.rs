//! Queued copies of tile memory ([`Schedule::Deferred`]), and draws that run in parallel with the command
//! processor ([`Schedule::Stress`]): the schedule does not change results.

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use a4emu::check::open;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_decoder::adreno::packet::Packet;
use a4emu_gpu::budget::Budget;
use a4emu_gpu::cp::{Observer, Renderer, Silent};
use a4emu_gpu::draw::Schedule;
use a4emu_gpu::draw::stats::{Emulated, Stats};
use a4emu_gpu::memory::little_endian;
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Ended;
use a4emu_gpu::settled::Running;
use a4emu_support::folders::Folders;
use rayon::{ThreadPool, ThreadPoolBuilder};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn opened(capture: &Path) -> Sections<Box<dyn Read>> {
    let folders = Folders::around(capture, &[root().join("captures")]);
    open(capture, &folders).unwrap()
}

fn played(capture: &Path, schedule: Schedule) -> Ended {
    observed(capture, schedule, &mut Silent)
}

fn observed(capture: &Path, schedule: Schedule, observer: &mut dyn Observer) -> Ended {
    paid(capture, schedule, Budget::default(), observer)
}

/// Plays a capture with a `budget`, and returns the machine.
fn paid(capture: &Path, schedule: Schedule, budget: Budget, observer: &mut dyn Observer) -> Ended {
    let mut playback = Playback::default();
    playback.gpu.pipeline.schedule = schedule;
    playback.gpu.budget = budget;
    playback.run(opened(capture), &mut Renderer, observer);
    playback.gpu.end()
}

/// Returns what differs between two machines.
fn difference(a: &Ended, b: &Ended) -> Option<String> {
    if a.budget.spent() != b.budget.spent() {
        return Some("work".to_owned());
    }
    a.difference(b)
}

/// The captures of the repository, and the shared ones if they exist.
fn captures() -> Vec<PathBuf> {
    let mut folders = vec![root().join("captures")];
    folders.extend(std::env::var_os("A4EMU_SHARED").map(|shared| PathBuf::from(shared).join("captures")));
    let mut found = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().map(Result::unwrap) {
            match (entry.file_type().unwrap().is_dir(), entry.file_name().to_str().unwrap()) {
                (true, name) => folders.extend((name != "games").then(|| entry.path())),
                (false, name) => {
                    found.extend((name.ends_with(".rd.gz") || name.ends_with(".a4")).then(|| entry.path()))
                }
            }
        }
    }
    found.sort();
    found
}

#[test]
fn captures_come_out_the_same() {
    let captures = captures();
    assert!(captures.len() >= 40, "{} captures", captures.len());
    for capture in captures {
        every_way_of(&capture);
    }
}

/// Frames of several tiles with hundreds of draws each.
#[test]
fn frames_of_games_come_out_the_same() {
    let Some(shared) = std::env::var_os("A4EMU_SHARED") else {
        return eprintln!("SKIPPED: A4EMU_SHARED names no folder with captures of games");
    };
    let games = PathBuf::from(shared).join("captures/games");
    for game in ["etr.rd.gz", "neverball.rd.gz"] {
        every_way_of(&games.join(game));
    }
}

/// Plays `capture` with every schedule, which must give equal results. On many threads the tiles of a frame run in
/// parallel.
fn every_way_of(capture: &Path) {
    static MANY_THREADS: LazyLock<ThreadPool> =
        LazyLock::new(|| ThreadPoolBuilder::new().num_threads(16).build().unwrap());
    let at_once = played(capture, Schedule::InOrder);
    let reference = paid(capture, Schedule::Reference, Budget::fixed(u64::MAX), &mut Silent);
    assert_eq!(reference.difference(&at_once), None, "reference model {}", capture.display());
    let counts = reference.pipeline.stats.of_chip();
    let (at_once_counts, name) = (at_once.pipeline.stats.of_chip(), capture.display());
    assert_eq!(at_once_counts, counts, "the chip's counts, reference model {name}");
    let deferred = MANY_THREADS.install(|| played(capture, Schedule::Deferred));
    let stress = played(capture, Schedule::Stress);
    for (schedule, other) in [("deferred", &deferred), ("stress", &stress)] {
        assert_eq!(difference(&at_once, other), None, "{schedule} {}", capture.display());
        assert_eq!(other.pipeline.stats.of_chip(), counts, "the chip's counts, {schedule} {name}");
    }
}

/// Tiles, each followed by a read of its result in one submit.
const SOURCE: &str = include_str!("late.a4");

/// A tile of 64 rows on the left and one of 32 on the right, in a buffer that ends with the left one.
const NARROW: &str = r"buffer narrow size PITCH * HEIGHT - 128
buffer main {
    use frame(narrow, WIDTH, HEIGHT)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(narrow)
    use tile(32, 0)
    GRAS_SC_WINDOW_SCISSOR_BR { X = 63 | Y = 31 }
    + GRAS_SC_WINDOW_SCISSOR_TL { X = 32 | Y = 0 }
    use clear(0.0, 1.0, 0.0, 1.0, 0)
    use resolve(narrow, PITCH, MSAA_ONE)
}
submit main
";

/// A copy of more columns than the tile has: each row continues in the next one.
const WIDE: &str = r"buffer wide size PITCH * HEIGHT
buffer main {
    use frame(wide, WIDTH, HEIGHT)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use fill(3, 5, 0.0, 255.0, 0.0, 255.0)
    GRAS_SC_WINDOW_SCISSOR_BR { X = 31 | Y = 40 }
    + GRAS_SC_WINDOW_SCISSOR_TL { X = 0 | Y = 32 }
    use clear(0.0, 0.0, 1.0, 1.0, 0)
    use columns(0, 63, 0)
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use resolve(wide, PITCH, MSAA_ONE)
}
submit main
";

/// A copy of more rows than tile memory has.
const TALL: &str = r"buffer tall size PITCH * 320
buffer main {
    use frame(tall, WIDTH, 320)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    RB_MODE_CONTROL { WIDTH = 2016 | HEIGHT = 320 | ENABLE_GMEM }
    GRAS_SC_WINDOW_SCISSOR_BR { X = 63 | Y = 319 }
    + GRAS_SC_WINDOW_SCISSOR_TL { X = 0 | Y = 0 }
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use resolve(tall, PITCH, MSAA_ONE)
}
submit main
";

/// A clear and copy that repeat the existing contents, with writes in between.
const AGAIN: &str = r"buffer again size PITCH * HEIGHT
buffer triangle { f32 -1.0, -1.0, 3.0, -1.0, -1.0, 3.0 }
buffer main {
    use frame(again, WIDTH, HEIGHT)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(again)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(again)
    CP_MEM_WRITE(again + 8, 0x12345678)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(again)
    // What is drawn between two clears to the same.
    use tile(0, 0)
    use fill(3, 5, 0.0, 0.0, 255.0, 255.0)
    use leave(again)
    CP_MEM_TO_REG({ REG = 0x578 }, again + 12)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(again)
    // The same by something that is no rectangle, behind the clear.
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use columns(7, 9, 0)
    use attribute(0, triangle, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    load FS.constants { f32 0.0, 1.0, 0.0, 1.0 }
    use draw(DI_PT_TRILIST, 3)
    use leave(again)
    CP_MEM_TO_REG({ REG = 0x579 }, again + 32)
    use tile(0, 0)
    use fill(0, 31, 255.0, 0.0, 0.0, 255.0)
    use leave(again)
}
submit main
";

/// CP_SCRATCH\[0\].
const SCRATCH: u32 = 0x578;

fn written(source: &str, folder: &Path) -> PathBuf {
    let path = folder.join("late.a4");
    fs::write(&path, source.replace("CAPTURES", root().join("captures").to_str().unwrap())).unwrap();
    path
}

/// Plays `source` with every schedule, which must give equal results without reports.
fn every_way(source: &str) -> Ended {
    let folder = tempfile::tempdir().unwrap();
    let path = written(source, folder.path());
    let [at_once, late, ahead] =
        [Schedule::InOrder, Schedule::Deferred, Schedule::Stress].map(|schedule| played(&path, schedule));
    assert_eq!((difference(&at_once, &late), difference(&at_once, &ahead)), (None, None));
    assert_eq!(late.report.troubles.total(), 0);
    late
}

#[test]
fn a_buffer_may_end_with_the_narrower_of_two_tiles() {
    let (macros, _) = SOURCE.split_once("buffer main {").unwrap();
    let late = every_way(&format!("{macros}{NARROW}"));
    let surface = late.pipeline.surfaces.iter().next().unwrap();
    let last = surface.address + 63 * 256 + 31 * 4;
    assert_eq!(little_endian(late.memory().slice(last, 4).unwrap()), 0xff00_00ff);
}

/// Other numbers of threads are tested too.
#[test]
fn copies_that_their_tile_does_not_hold_come_out_the_same() {
    let (macros, _) = SOURCE.split_once("buffer main {").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let played = [(WIDE, 0), (TALL, 1)].map(|(source, troubles)| {
        let path = written(&format!("{macros}{source}"), folder.path());
        let with = |threads| ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let at_once = with(1).install(|| played(&path, Schedule::InOrder));
        for (threads, schedule) in [(5, Schedule::InOrder), (2, Schedule::Deferred), (5, Schedule::Stress)] {
            let other = with(threads).install(|| played(&path, schedule));
            assert_eq!(difference(&at_once, &other), None, "{schedule:?}, {threads} threads: {source}");
        }
        assert_eq!(at_once.report.troubles.total(), troubles, "{source}");
        at_once
    });
    let pixel = |gpu: &Ended, [x, y]: [u64; 2]| {
        let address = gpu.pipeline.surfaces.iter().next().unwrap().address;
        little_endian(gpu.memory().slice(address + y * 256 + x * 4, 4).unwrap())
    };
    let [wide, tall] = &played;
    // The last row of a band is adjacent to the first row of the next.
    assert_eq!(
        [[8, 31], [40, 31], [36, 20]].map(|at| pixel(wide, at)),
        [0xff00_00ff, 0xffff_0000, 0xff00_ff00]
    );
    assert_eq!(pixel(tall, [8, 0]), 0xff00_00ff, "the rows that there are");
}

#[test]
fn reads_see_the_results_of_queued_copies() {
    let late = every_way(SOURCE);
    assert_eq!(late.regs.read(SCRATCH), 0xff00_ff00, "CP_MEM_TO_REG");
    assert_eq!(late.regs.read(SCRATCH + 1), 0x0403_0201, "a packet");
    let surfaces: Vec<_> = late.pipeline.surfaces.iter().collect();
    assert_eq!(surfaces.len(), 11);
    let pixel = |surface: usize, x: u64, y: u64| {
        little_endian(late.memory().slice(surfaces[surface].address + y * 256 + x * 4, 4).unwrap())
    };
    let corners = [[5, 5], [40, 5], [5, 40], [40, 40]].map(|[x, y]| pixel(0, x, y));
    assert_eq!(corners, [0xff00_00ff, 0, 0xff00_00ff, 0xff00_ff00]);
    let read = [3, 5, 6, 7].map(|surface| pixel(surface, 5, 5));
    assert_eq!(
        read,
        [0xffff_0000, 0xffff_ffff, 0xffff_0000, 0xffff_0000],
        "vertices, constants, texels twice"
    );
}

/// Number of draws in [`small_draws`].
const SMALL: u32 = 300;

/// A tile of small draws. Each covers the previous one's pixels except for a column. The vertices of one draw
/// are written directly before it, and after it.
fn small_draws() -> String {
    let triangle = "-1.0, -1.0, 3.0, -1.0, -1.0, 3.0";
    let draws: String = (0..SMALL)
        .map(|draw| {
            let (column, [low, high, ..]) = (draw % 32, draw.to_le_bytes());
            let at = format!("triangles + {}", 24 * draw);
            let write = |x: f32| format!("CP_MEM_WRITE({at}, {:#x})\n", x.to_bits());
            let [before, after] = match draw {
                TWICE => [String::new(), "call twice\ncall twice\n".to_owned()],
                WRITTEN => [write(-1.0), write(9.0)],
                _ => Default::default(),
            };
            format!(
                "{before}use columns({column}, 31, 0)
                use attribute(0, {at}, 24, 8, VFMT4_32_32_FLOAT, 2, r0.x)
                load FS.constants {{ f32 {low} / 255.0, {high} / 255.0, 0.0, 1.0 }}
                use draw(DI_PT_TRILIST, 3)
                {after}"
            )
        })
        .collect();
    let first =
        |draw| if draw == WRITTEN { triangle.replacen("-1.0", "9.0", 1) } else { triangle.to_owned() };
    let triangles: Vec<String> = (0..SMALL).map(first).collect();
    format!(
        "buffer small size PITCH * HEIGHT
        buffer triangles {{ f32 {} }}
        buffer twice {{ use draw(DI_PT_TRILIST, 3) }}
        buffer draws {{ {draws} }}
        buffer main {{
            use frame(small, WIDTH, HEIGHT)
            use tile(0, 0)
            use sampled(vs, fs, r0.x, r0.x, 0)
            use attributes(1, 2)
            call draws
            call draws
            use leave(small)
        }}
        submit main",
        triangles.join(", ")
    )
}

/// The draw that two calls repeat, while it is still queued.
const TWICE: u32 = 20;

/// The draw whose vertices are written by packets.
const WRITTEN: u32 = 295;

#[test]
fn small_draws_that_wait_for_their_primitives_come_out_in_their_order() {
    let (macros, _) = SOURCE.split_once("buffer main {").unwrap();
    let late = every_way(&format!("{macros}{}", small_draws()));
    let address = late.pipeline.surfaces.iter().next().unwrap().address;
    let row = late.memory().slice(address + 5 * 256, 32 * 4).unwrap();
    for (column, pixel) in (0..32).zip(row.as_chunks::<4>().0) {
        let last = (0..SMALL).rev().find(|draw| draw % 32 <= column).unwrap();
        let [low, high, ..] = last.to_le_bytes();
        assert_eq!(*pixel, [low, high, 0, 255], "column {column}");
    }
}

/// Largest number of vertices that queued draws still lacked in the first run, at three vertices per draw.
#[derive(Default)]
struct Behind(u64);

impl Observer for Behind {
    fn packet(&mut self, gpu: &mut Running<'_>, _: &Packet<'_>) {
        let Stats { draws, emulated: Emulated { vertices, .. }, .. } = gpu.pipeline.stats;
        if draws <= u64::from(SMALL) {
            self.0 = self.0.max((3 * draws).saturating_sub(vertices));
        }
    }
}

#[test]
fn many_small_draws_wait_for_their_primitives() {
    let (macros, _) = SOURCE.split_once("buffer main {").unwrap();
    let folder = tempfile::tempdir().unwrap();
    let path = written(&format!("{macros}{}", small_draws()), folder.path());
    let [at_once, late] = [Schedule::InOrder, Schedule::Deferred].map(|schedule| {
        let mut behind = Behind::default();
        observed(&path, schedule, &mut behind);
        behind.0 / 3
    });
    // Repeated draws do not wait, because their primitives are cached.
    assert_eq!((at_once, late), (1, 256));
}

#[test]
fn repeated_clears_and_copies_restore_the_same_pixels() {
    let (macros, _) = SOURCE.split_once("buffer main {").unwrap();
    let late = every_way(&format!("{macros}{AGAIN}"));
    let address = late.pipeline.surfaces.iter().next().unwrap().address;
    let row = late.memory().slice(address, 32 * 4).unwrap();
    assert!(row.as_chunks().0.iter().all(|pixel| *pixel == [255, 0, 0, 255]), "{row:x?}");
    let between = [SCRATCH, SCRATCH + 1].map(|register| late.regs.read(register));
    assert_eq!(between, [0xffff_0000, 0xff00_ff00], "what was drawn in between");
}
