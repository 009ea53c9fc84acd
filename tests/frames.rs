//! Compares every shared capture, and every scene of `captures/geometry`, with the pictures of two reference
//! rasterisers.
//!
//! `tests/frames.txt` has the current distance of each frame from `NAME.png`: `exact`, or the greatest
//! difference of a channel and the number of pixels that differ. A frame that differs from its row fails,
//! also if it got better. `FRAMES_BLESS=1 cargo test --test frames [FILTER]` rewrites the rows of the frames
//! that it ran; review the change.
//!
//! A frame is right if its PSNR (RGB) is at least 40 dB, or at most 3 dB below that of `NAME.softpipe.png`. A
//! wrong frame has a cause in its row. The cause is written by hand, not by FRAMES_BLESS, and is removed when
//! the frame is right.
//!
//! A frame that is drawn through tile memory, with and without binning, and straight to memory must be equal
//! to the bit.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use a4emu::check::open;
use a4emu_gpu::budget::Work;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::picture::{Picture, PixelType};
use a4emu_gpu::playback::Playback;
use a4emu_support::folders::Folders;
use libtest_mimic::{Arguments, Failed, Trial};

/// Folders of captures that have pictures.
const FOLDERS: [&str; 4] = ["scenes", "variants", "glmark2", "piglit"];

/// Folder of pictures whose command streams are sources in this project, because they cannot be recorded.
const SOURCES: &str = "geometry";

/// Captures of one frame that take different paths through the chip: with and without tiles, and with and
/// without the binning pass.
const SAME: [[&str; 2]; 2] =
    [["scenes/cube", "variants/cube-sysmem"], ["variants/cube-1600x900", "variants/cube-1600x900-nobin"]];

/// PSNR in dB that is enough, independent of the other rasteriser.
const ENOUGH: f64 = 40.0;

/// How many dB a frame may be below the other rasteriser.
const MARGIN: f64 = 3.0;

/// Path of the table, from the root of the package.
const TABLE: &str = "tests/frames.txt";

/// A capture's work must fit so many times into the default budget.
const SPARE: u64 = 20;

/// Folders of captures without a picture, whose work must fit too.
const WITHOUT_PICTURES: [&str; 2] = ["games", "hardware"];

/// First lines of the table.
const HEADING: &str = "\
# What every frame has of its reference picture today (tests/frames.rs): `exact`, or the greatest
# difference of a channel and the number of pixels that differ, or `none` where there is no such
# picture. Then, of frames that are known to be wrong, the cause.
";

/// The rows of the frames that have run.
type Seen = Arc<Mutex<BTreeMap<String, Row>>>;

fn main() {
    let arguments = Arguments::from_args();
    let Some(root) = shared() else {
        eprintln!("tests/frames: SKIPPED EVERYTHING: no ../shared/captures and no $A4EMU_SHARED");
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        std::process::exit(is_ci.into());
    };
    let table = table();
    let recorded = FOLDERS.iter().flat_map(|folder| captures(&root, folder));
    let scenes: Vec<_> = recorded.chain(sources(&root)).collect();
    let names: BTreeSet<_> = scenes.iter().map(|scene| scene.name.clone()).collect();
    let blessed = std::env::var_os("FRAMES_BLESS").map(|_| Seen::default());
    let trials = scenes.into_iter().map(|scene| {
        let (row, blessed) = (table.get(&scene.name).cloned(), blessed.clone());
        Trial::test(scene.name.clone(), move || check(&scene, row, blessed))
    });
    let same = SAME.iter().filter(|pair| pair.iter().all(|name| with(&root.join(name), ".rd.gz").is_file()));
    let same = same.map(|pair| {
        let paths = pair.map(|name| root.join(name));
        Trial::test(format!("{} and {} to the bit", pair[0], pair[1]), move || same_frame(&paths))
    });
    let others = WITHOUT_PICTURES.iter().flat_map(|folder| recordings(&root, folder));
    let others = others.map(|path| {
        let name = path.strip_prefix(&root).unwrap_or(&path).display().to_string();
        Trial::test(format!("{name} has work to spare"), move || Ok(replay(&path).map(drop)?))
    });
    let orphans: Vec<_> = table.keys().filter(|name| !names.contains(*name)).cloned().collect();
    let whole = Trial::test(format!("{TABLE} has no other rows"), move || match orphans[..] {
        [] => Ok(()),
        _ => Err(format!("no such frames: {orphans:?}").into()),
    });
    let result = libtest_mimic::run(&arguments, trials.chain(same).chain(others).chain([whole]).collect());
    if let Some(seen) = blessed {
        bless(table, &names, &seen.lock().expect("no trial panics with the lock"));
    }
    result.exit();
}

fn same_frame(paths: &[PathBuf; 2]) -> Result<(), Failed> {
    let (_, size) = read_png(&with(&paths[0], ".png"))?;
    let [a, b] = paths.each_ref().map(|path| render(&with(path, ".rd.gz"), size));
    let (a, b) = (a?, b?);
    match a.iter().zip(&b).position(|(a, b)| a != b) {
        None if a.len() == b.len() => Ok(()),
        at => Err(format!("different at byte {at:?}").into()),
    }
}

/// The folder of the shared captures.
fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let root = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from);
    Some(root.join("captures")).filter(|captures| captures.is_dir())
}

/// A capture and its reference pictures.
struct Scene {
    name: String,
    /// Path of the capture, or of its source.
    capture: PathBuf,
    /// Path of the pictures, without suffix.
    pictures: PathBuf,
}

/// The captures of a folder that have a picture.
fn captures(root: &Path, folder: &str) -> Vec<Scene> {
    let scene = |stem: &str| {
        let pictures = root.join(folder).join(stem);
        Scene { name: format!("{folder}/{stem}"), capture: with(&pictures, ".rd.gz"), pictures }
    };
    let mut out: Vec<_> = stems(&root.join(folder), ".rd.gz").iter().map(|stem| scene(stem)).collect();
    out.retain(|scene| with(&scene.pictures, ".png").is_file());
    out
}

/// The captures of a folder.
fn recordings(root: &Path, folder: &str) -> Vec<PathBuf> {
    let folder = root.join(folder);
    stems(&folder, ".rd.gz").iter().map(|stem| with(&folder.join(stem), ".rd.gz")).collect()
}

/// The sources for which there are pictures, whether or not the sources exist.
fn sources(root: &Path) -> Vec<Scene> {
    let scene = |stem: &str| {
        let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("captures/{SOURCES}/{stem}.a4"));
        Scene { name: format!("{SOURCES}/{stem}"), capture, pictures: root.join(SOURCES).join(stem) }
    };
    stems(&root.join(SOURCES), ".png").iter().map(|stem| scene(stem)).collect()
}

/// The file names of a folder that end in `suffix`, without it, sorted.
fn stems(folder: &Path, suffix: &str) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let mut out: Vec<_> = names.filter_map(|name| Some(name.strip_suffix(suffix)?.to_owned())).collect();
    out.sort();
    out
}

fn with(path: &Path, suffix: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(suffix);
    PathBuf::from(name)
}

/// The distance of a frame from its reference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Distance {
    Exact,
    Off {
        /// The greatest difference of a channel, out of 255.
        greatest: u8,
        /// Number of pixels that differ.
        pixels: usize,
    },
    /// The replay gives no picture of the reference's size.
    NoPicture,
}

impl Distance {
    fn between(a: &[u8], b: &[u8]) -> Self {
        let distance = |(a, b): (&[u8], &[u8])| a.iter().zip(b).map(|(a, b)| a.abs_diff(*b)).max();
        let distances = a.chunks(3).zip(b.chunks(3)).filter_map(distance).filter(|distance| *distance > 0);
        match distances.fold((0, 0), |(greatest, pixels), d| (d.max(greatest), pixels + 1)) {
            (0, _) => Self::Exact,
            (greatest, pixels) => Self::Off { greatest, pixels },
        }
    }

    fn parse(words: &[&str]) -> Option<Self> {
        match words {
            ["exact"] => Some(Self::Exact),
            ["none"] => Some(Self::NoPicture),
            [greatest, pixels] => {
                Some(Self::Off { greatest: greatest.parse().ok()?, pixels: pixels.parse().ok()? })
            }
            _ => None,
        }
    }
}

impl fmt::Display for Distance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact => f.write_str("exact"),
            Self::Off { greatest, pixels } => write!(f, "{greatest} {pixels}"),
            Self::NoPicture => f.write_str("none"),
        }
    }
}

/// The row of a frame in the table.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Row {
    distance: Distance,
    /// Why the frame is wrong; only for a known error.
    cause: Option<String>,
}

impl Row {
    /// `NAME exact`, `NAME 1 512` or `NAME 255 512: CAUSE`.
    fn parse(line: &str) -> Option<(String, Self)> {
        let (figures, cause) = match line.split_once(": ") {
            Some((figures, cause)) => (figures, Some(cause.to_owned())),
            None => (line, None),
        };
        let (name, distance) = figures.split_once(' ')?;
        let distance = Distance::parse(&distance.split(' ').collect::<Vec<_>>())?;
        Some((name.to_owned(), Self { distance, cause }))
    }
}

/// The rows of the table, by the frames' names.
fn table() -> BTreeMap<String, Row> {
    let lines = include_str!("frames.txt").lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| Row::parse(line).unwrap_or_else(|| panic!("{TABLE}: {line}"))).collect()
}

/// Writes the table with the rows in `seen`. Rows of frames that did not run are kept.
fn bless(mut rows: BTreeMap<String, Row>, names: &BTreeSet<String>, seen: &BTreeMap<String, Row>) {
    rows.extend(seen.iter().map(|(name, row)| (name.clone(), row.clone())));
    rows.retain(|name, _| names.contains(name));
    let line = |(name, Row { distance, cause }): (String, Row)| match cause {
        Some(cause) => format!("{name} {distance}: {cause}\n"),
        None => format!("{name} {distance}\n"),
    };
    let text = rows.into_iter().map(line).fold(HEADING.to_owned(), |text, line| text + &line);
    fs::write(Path::new(env!("CARGO_MANIFEST_DIR")).join(TABLE), text).expect("the table can be written");
}

/// Compares the frame with its reference and its row. With `blessed`, the row is replaced.
fn check(scene: &Scene, row: Option<Row>, blessed: Option<Seen>) -> Result<(), Failed> {
    let (distance, right) = frame(scene)?;
    let cause = row.as_ref().and_then(|row| row.cause.clone());
    match (&right, &cause) {
        (Ok(()), Some(cause)) => return Err(format!("right now; take its cause away ({cause})").into()),
        (Err(why), None) => return Err(format!("{why}; this is {distance}").into()),
        _ => {}
    }
    let now = Row { distance, cause };
    match (row, blessed) {
        (_, Some(seen)) => {
            seen.lock().expect("no trial panics with the lock").insert(scene.name.clone(), now);
            Ok(())
        }
        (Some(row), None) if row == now => Ok(()),
        (Some(row), None) => Err(format!("{distance}, and {TABLE} has {}", row.distance).into()),
        (None, None) => Err(format!("{distance}, and {TABLE} has no row of it").into()),
    }
}

/// The distance of the frame from its reference, and whether it is right.
fn frame(scene: &Scene) -> Result<(Distance, Result<(), String>), Failed> {
    let (want, size) = read_png(&with(&scene.pictures, ".png"))?;
    let got = match render(&scene.capture, size) {
        Ok(got) => got,
        Err(error) => return Ok((Distance::NoPicture, Err(error))),
    };
    let own = psnr(&got, &want);
    let other = read_png(&with(&scene.pictures, ".softpipe.png")).ok().map(|(other, _)| psnr(&other, &want));
    let enough = other.map_or(ENOUGH, |other| ENOUGH.min(other - MARGIN));
    let right = match own >= enough {
        true => Ok(()),
        false => Err(format!("{own:.2} dB, and {enough:.2} are needed")),
    };
    Ok((Distance::between(&got, &want), right))
}

/// Runs a capture whose work must fit [`SPARE`] times into the budget.
fn replay(path: &Path) -> Result<Playback, String> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let sections = open(path, &Folders::around(path, &[ours])).map_err(|error| format!("{error:#}"))?;
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    let budget = &playback.gpu.budget;
    let (spent, left) = (budget.spent(), budget.share(Work::Copy16, 1));
    println!(
        "{}: {spent} units of work, {} times that were allowed",
        path.display(),
        (spent + left) / spent.max(1)
    );
    match spent.saturating_mul(SPARE) <= spent + left {
        true => Ok(playback),
        false => Err(format!("takes {spent} units of work and has only {left} more")),
    }
}

/// RGB bytes of the last colour surface.
fn render(path: &Path, size: (u32, u32)) -> Result<Vec<u8>, String> {
    let gpu = replay(path)?.gpu.end();
    let surface = gpu.pipeline.surfaces.last_color().ok_or("nothing was rendered")?;
    if (surface.width, surface.height) != size {
        return Err(format!("{}x{}, and {size:?} is wanted", surface.width, surface.height));
    }
    match Picture::of(surface, gpu.memory()) {
        Ok(picture) if picture.kind() == PixelType::Rgba8 => {
            Ok(picture.pixels().chunks_exact(4).flat_map(|p| [p[0], p[1], p[2]]).collect())
        }
        _ => Err("no picture can be made of the surface".into()),
    }
}

/// RGB bytes and size of a PNG of 8 bits a channel.
fn read_png(path: &Path) -> Result<(Vec<u8>, (u32, u32)), Failed> {
    let file = File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    let mut decoder = png::Decoder::new(BufReader::new(file));
    decoder.set_transformations(png::Transformations::EXPAND);
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("too large")?];
    let info = reader.next_frame(&mut bytes)?;
    let channels = info.color_type.samples();
    let rgb = bytes.chunks_exact(channels).flat_map(|p| match channels {
        1 | 2 => [p[0]; 3],
        _ => [p[0], p[1], p[2]],
    });
    Ok((rgb.collect(), (info.width, info.height)))
}

/// Peak signal to noise ratio in dB; 99 for equal pictures.
fn psnr(a: &[u8], b: &[u8]) -> f64 {
    if a.len() != b.len() {
        return 0.0;
    }
    let square = |(a, b): (&u8, &u8)| (f64::from(*a) - f64::from(*b)).powi(2);
    let mean = a.iter().zip(b).map(square).sum::<f64>() / a.len().max(1) as f64;
    if mean == 0.0 { 99.0 } else { 10.0 * (255.0 * 255.0 / mean).log10() }
}
