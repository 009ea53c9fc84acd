//! Every shared capture, and every scene of `captures/geometry`, against the pictures of two
//! reference rasterisers.
//!
//! A frame is right when its PSNR (RGB) against `NAME.png` is at least 40 dB, or at most
//! 3 dB below what `NAME.softpipe.png` has. `tests/known_misses.txt` names the frames that
//! are not, with the cause; such a frame must fail.
//!
//! The same frame drawn through tile memory, with and without binning, and straight to
//! memory must come out the same to the bit.
//!
//! `FRAMES_REPORT=1` prints the figure of every frame.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufReader;
use std::path::{Path, PathBuf};

use a4emu::check::open;
use a4emu::cp::{Renderer, Silent};
use a4emu::folders::Folders;
use a4emu::output::picture::{Kind, Picture};
use a4emu::playback::Playback;
use libtest_mimic::{Arguments, Failed, Trial};

/// Folders of captures that have pictures.
const FOLDERS: [&str; 4] = ["scenes", "variants", "glmark2", "piglit"];

/// Folder of pictures whose command streams are ours: nobody can record them.
const SOURCES: &str = "geometry";

/// Captures of one frame by different ways through the chip: tiles and none, with the
/// binning pass and without.
const SAME: [[&str; 2]; 2] =
    [["scenes/cube", "variants/cube-sysmem"], ["variants/cube-1600x900", "variants/cube-1600x900-nobin"]];

/// Enough, whatever the other rasteriser says.
const ENOUGH: f64 = 40.0;

/// How much further from the reference than the other rasteriser a frame may be.
const MARGIN: f64 = 3.0;

fn main() {
    let arguments = Arguments::from_args();
    let Some(root) = shared() else {
        eprintln!("tests/frames: SKIPPED EVERYTHING: no ../shared/captures and no $A4EMU_SHARED");
        let is_ci = std::env::var_os("CI").is_some_and(|ci| ci == "true");
        std::process::exit(is_ci.into());
    };
    let misses = known_misses();
    let recorded = FOLDERS.iter().flat_map(|folder| captures(&root, folder));
    let trials = recorded.chain(sources(&root)).map(|scene| {
        let miss = misses.get(&scene.name).cloned();
        Trial::test(scene.name.clone(), move || check(&scene, miss.as_deref()))
    });
    let same = SAME.iter().filter(|pair| pair.iter().all(|name| with(&root.join(name), ".rd.gz").is_file()));
    let same = same.map(|pair| {
        let paths = pair.map(|name| root.join(name));
        Trial::test(format!("{} and {} to the bit", pair[0], pair[1]), move || same_frame(&paths))
    });
    libtest_mimic::run(&arguments, trials.chain(same).collect()).exit();
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

/// The shared captures.
fn shared() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared");
    let root = std::env::var_os("A4EMU_SHARED").map_or(beside, PathBuf::from);
    Some(root.join("captures")).filter(|captures| captures.is_dir())
}

/// A capture and what it has to look like.
struct Scene {
    name: String,
    /// The capture, or its source.
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

/// The sources that the pictures want, whether they are there or not.
fn sources(root: &Path) -> Vec<Scene> {
    let scene = |stem: &str| {
        let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("captures/{SOURCES}/{stem}.a4"));
        Scene { name: format!("{SOURCES}/{stem}"), capture, pictures: root.join(SOURCES).join(stem) }
    };
    stems(&root.join(SOURCES), ".png").iter().map(|stem| scene(stem)).collect()
}

/// What stands before `suffix` in the names of a folder, sorted.
fn stems(folder: &Path, suffix: &str) -> Vec<String> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
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

/// Name and cause of the frames that are known to be wrong.
fn known_misses() -> BTreeMap<String, String> {
    let rows = include_str!("known_misses.txt").lines().filter(|line| !line.starts_with('#'));
    rows.filter_map(|line| line.split_once(' ')).map(|(name, cause)| (name.into(), cause.into())).collect()
}

fn check(scene: &Scene, miss: Option<&str>) -> Result<(), Failed> {
    match (frame(scene), miss) {
        (Ok(()), Some(cause)) => Err(format!("passes now; take it off the list ({cause})").into()),
        (Err(_), Some(_)) => Ok(()),
        (result, None) => result,
    }
}

fn frame(scene: &Scene) -> Result<(), Failed> {
    let (want, size) = read_png(&with(&scene.pictures, ".png"))?;
    let got = render(&scene.capture, size)?;
    let own = psnr(&got, &want);
    let other = read_png(&with(&scene.pictures, ".softpipe.png")).ok().map(|(other, _)| psnr(&other, &want));
    if std::env::var_os("FRAMES_REPORT").is_some() {
        println!("{} {own:.2} {}", scene.name, other.map_or(String::new(), |o| format!("{o:.2}")));
    }
    let enough = other.map_or(ENOUGH, |other| ENOUGH.min(other - MARGIN));
    match own >= enough {
        true => Ok(()),
        false => Err(format!("{own:.2} dB, and {enough:.2} are needed").into()),
    }
}

/// RGB bytes of the last colour surface.
fn render(path: &Path, size: (u32, u32)) -> Result<Vec<u8>, Failed> {
    let ours = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let sections = open(path, &Folders::around(path, &[ours])).map_err(|error| format!("{error:#}"))?;
    let mut playback = Playback::default();
    playback.run(sections, &mut Renderer, &mut Silent);
    let gpu = &playback.gpu;
    let surface = gpu.pipeline.surfaces.last_color().ok_or("nothing was rendered")?;
    if (surface.width, surface.height) != size {
        return Err(format!("{}x{}, and {size:?} is wanted", surface.width, surface.height).into());
    }
    match Picture::of(surface, &gpu.mem) {
        Ok(picture) if picture.kind() == Kind::Rgba8 => {
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
