//! Pictures of the targets after draws of both captures, and of their difference.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::align::Pair;
use super::player::Player;
use super::report::Report;
use super::side::Side;
use crate::describe::canvas::{Attachment, Canvas, Changes, Image, Which};
use crate::describe::{Draw, Shaders, SurfacePlace};
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;
use a4emu_gpu::picture::{Alpha, PixelType};
use a4emu_support::options::Shared;
use a4emu_support::out_file::{OutFile, make_folder};
use a4emu_support::status::Status;

/// Maximum number of draws with pictures.
const MAX_DRAWS: usize = 32;

/// The comparison of two pictures of a target.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Picture {
    /// Name of the draw.
    pub draw: String,
    /// Name of the target.
    pub target: String,
    /// Number of pixels that differ.
    pub pixels: u64,
    /// Peak signal-to-noise ratio in dB; none if no pixel differs.
    pub psnr: Option<f64>,
    /// Greatest difference of a component, from 0 to 1.
    pub largest: f64,
    /// File with the picture of the difference.
    pub file: Option<PathBuf>,
    /// The first pixel that differs, by rows; none if no pixel differs.
    pub first: Option<Pixel>,
    /// The pixel with the greatest difference of a component; of several, the first.
    pub worst: Option<Pixel>,
    /// The smallest rectangle around the pixels that differ: x, y, width and height.
    pub bounds: Option<[u32; 4]>,
    /// The command that explains the worst pixel of the second capture, if its draw has it.
    pub explain: Option<String>,
    /// Reason why there is no comparison.
    pub problem: Option<String>,
}

/// A pixel that differs.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Pixel {
    /// Column and row.
    pub at: [u32; 2],
    /// Its components in the first picture, from 0 to 1.
    pub old: Vec<f64>,
    /// Its components in the second picture, from 0 to 1.
    pub new: Vec<f64>,
}

impl fmt::Display for Pixel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = |values: &[f64]| values.iter().map(|it| format!("{it:.4}")).collect::<Vec<_>>().join(" ");
        let [x, y] = self.at;
        write!(f, "{x},{y}: {} -> {}", text(&self.old), text(&self.new))
    }
}

impl Picture {
    /// Whether the two pictures are equal.
    pub fn is_same(&self) -> bool {
        self.pixels == 0 && self.problem.is_none()
    }
}

impl fmt::Display for Picture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}: ", self.draw, self.target)?;
        match (&self.problem, self.psnr) {
            (Some(problem), _) => f.write_str(problem),
            (None, None) => f.write_str("same picture"),
            (None, Some(psnr)) => {
                let (pixels, largest) = (self.pixels, self.largest);
                write!(f, "{pixels} pixels differ, PSNR {psnr:.2} dB, largest difference {largest:.4}")?;
                self.file.iter().try_for_each(|file| write!(f, ", {}", file.display()))?;
                if let Some([x, y, width, height]) = self.bounds {
                    write!(f, "\n  in {x},{y} {width}x{height}")?;
                }
                self.first.iter().try_for_each(|pixel| write!(f, "\n  first pixel {pixel}"))?;
                self.worst.iter().try_for_each(|pixel| write!(f, "\n  worst pixel {pixel}"))?;
                self.explain.iter().try_for_each(|command| write!(f, "\n  {command}"))
            }
        }
    }
}

/// Maximum size of the targets that are kept per capture, in bytes.
const MAX_KEPT: usize = 1 << 28;

/// Targets after draws, by index of the command and name of the target.
type Canvases = BTreeMap<(usize, String), (Which, Canvas)>;

/// An engine that renders, and copies the targets after the runs of some commands.
struct Painter {
    /// The index of the command, by number of the run.
    wanted: BTreeMap<u32, usize>,
    canvases: Canvases,
    /// Bytes that may still be kept.
    room: usize,
    /// Number of targets without room.
    left_out: usize,
    shaders: Shaders,
}

impl Painter {
    fn new(side: &Side, commands: &BTreeSet<usize>) -> Self {
        let of = |index: usize| side.commands[index].runs.iter().map(move |(run, _)| (*run, index));
        let wanted = commands.iter().flat_map(|index| of(*index)).collect();
        Self { wanted, canvases: BTreeMap::new(), room: MAX_KEPT, left_out: 0, shaders: Shaders::default() }
    }

    /// Reserves room for the picture of `attachment`, if there is any.
    fn has_room(&mut self, attachment: &Attachment) -> bool {
        let [width, height] = attachment.size.map(|side| side as usize);
        let left =
            self.room.checked_sub(width.saturating_mul(height).saturating_mul(attachment.texel.bytes()));
        self.left_out += usize::from(left.is_none());
        self.room = left.unwrap_or(self.room);
        left.is_some()
    }
}

impl Engine for Painter {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let Some(index) = self.wanted.remove(&call.number()) else { return Renderer.run(gpu, call) };
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let flow = Renderer.run(gpu, call);
        for attachment in draw.attachments() {
            let key = (index, attachment.which.to_string());
            if !self.canvases.contains_key(&key)
                && self.has_room(&attachment)
                && let Ok(canvas) = Canvas::new(&attachment)
            {
                self.canvases.insert(key.clone(), (attachment.which, canvas));
            }
            if let Some((_, canvas)) = self.canvases.get_mut(&key) {
                // If the budget ends, the rest of the picture is unchanged; the run reports the cut.
                let _ = canvas.copy(gpu, &attachment);
            }
        }
        if self.wanted.is_empty() { Flow::Stop } else { flow }
    }
}

/// The pairs with pictures: those that differ, and the last pair of draws.
fn chosen(report: &Report<'_>, sides: [&Side; 2], pairs: &[Pair]) -> Vec<(Pair, [usize; 2])> {
    let is_drawn = |pair: &Pair| match *pair {
        Pair::Both(a, b) => [(0, a), (1, b)].iter().all(|(side, index): &(usize, usize)| {
            matches!(sides[*side].commands[*index].draw.pass, Some(Pass::Gmem | Pass::Bypass | Pass::Resolve))
        }),
        Pair::OnlyA(_) | Pair::OnlyB(_) => false,
    };
    let mut all: Vec<Pair> = report.differing().filter(is_drawn).collect();
    all.dedup();
    all.truncate(MAX_DRAWS - 1);
    let last = pairs.iter().rev().find(|pair| is_drawn(pair));
    all.extend(last.filter(|last| !all.contains(last)));
    let places = |pair: Pair| match pair {
        Pair::Both(a, b) => Some((pair, [a, b])),
        Pair::OnlyA(_) | Pair::OnlyB(_) => None,
    };
    all.into_iter().filter_map(places).collect()
}

/// Renders both captures, and compares the targets after the draws that differ and after the last draw.
///
/// # Errors
/// The call fails if a capture can no longer be opened, or if the folder cannot be made.
pub fn add(
    report: &mut Report<'_>,
    players: &mut [Player; 2],
    sides: [&Side; 2],
    pairs: &[Pair],
    folder: &Path,
    shared: &Shared,
) -> anyhow::Result<Status> {
    make_folder(folder)?;
    let chosen = chosen(report, sides, pairs);
    if chosen.is_empty() {
        return Ok(Status::Fine);
    }
    let mut canvases = Vec::new();
    let mut status = Status::Fine;
    for (side, player) in players.iter_mut().enumerate() {
        let commands: BTreeSet<usize> = chosen.iter().map(|(_, places)| places[side]).collect();
        let mut painter = Painter::new(sides[side], &commands);
        let mut gpu = player.run(&mut painter, &mut Silent, shared)?;
        if painter.left_out > 0 {
            gpu.cut(format!("there is no room for {} pictures of targets", painter.left_out));
        }
        if gpu.report.troubles.first_cut().is_some() {
            status = status.worse(shared.tell(&player.capture().name().display().to_string(), &gpu.report));
        }
        canvases.push(painter.canvases);
    }
    let mut pictures = Vec::new();
    for (pair, [a, b]) in chosen {
        let of_a = canvases[0].range((a, String::new())..(a + 1, String::new()));
        for ((_, target), (which, old)) in of_a {
            let Some((_, new)) = canvases[1].get(&(b, target.clone())) else { continue };
            let (old, new) = (old.image(Alpha::Kept), new.image(Alpha::Kept));
            let name = report.name(pair);
            let mut picture = compare(&name, target, &old, &new);
            if picture.pixels > 0 {
                let file = format!("{}-{}.png", name.replace(" ~ ", "-"), target.replace(' ', ""));
                let file = folder.join(file);
                let mut out = OutFile::create(&file, &shared.inputs)?;
                difference(&old, &new).write_png(&mut out)?;
                out.finish()?;
                picture.file = Some(file);
                picture.explain = explained(&picture, (which, b), players[1].capture().name(), sides[1]);
            }
            pictures.push(picture);
        }
    }
    report.set_pictures(pictures);
    Ok(status)
}

/// The command that explains the worst pixel of a colour target of command `index`, if its surface in memory is known:
/// the target, or what tile memory is copied to by the next resolve from its place.
fn explained(
    picture: &Picture,
    (which, index): (&Which, usize),
    capture: &Path,
    side: &Side,
) -> Option<String> {
    let Which::Color(number) = which else { return None };
    let [x, y] = picture.worst.as_ref()?.at;
    let draw = &side.commands[index].draw;
    let target = draw.targets.iter().find(|target| target.index == *number);
    let resolved = |from: u32| {
        let resolves = side.commands[index..].iter().filter_map(|command| command.draw.resolve.as_ref());
        resolves.filter(|it| it.content == "color" && it.gmem == from).map(|it| it.address).next()
    };
    let surface = match (&draw.resolve, target.map(|target| target.place)) {
        (Some(resolve), _) => resolve.address,
        (None, Some(SurfacePlace::Address(address))) => address,
        (None, Some(SurfacePlace::Gmem(from))) => resolved(from)?,
        (None, None) => return None,
    };
    Some(format!("a4emu pixel {} {x},{y} --surface {surface}", capture.display()))
}

/// The components of a pixel, from 0 to 1.
fn components(kind: PixelType, pixel: &[u8]) -> Vec<f64> {
    let value = |bytes: &[u8]| match bytes {
        [high, low] => f64::from(u16::from_be_bytes([*high, *low])) / 65535.0,
        [byte] => f64::from(*byte) / 255.0,
        _ => 0.0,
    };
    pixel.chunks_exact(if kind == PixelType::Grey16 { 2 } else { 1 }).map(value).collect()
}

fn compare(draw: &str, target: &str, old: &Image, new: &Image) -> Picture {
    let (draw, target) = (draw.to_owned(), target.to_owned());
    let (psnr, file, first, worst, bounds, explain, problem) = Default::default();
    let none =
        Picture { draw, target, pixels: 0, psnr, largest: 0.0, file, first, worst, bounds, explain, problem };
    if (old.size, old.kind) != (new.size, new.kind) {
        let problem =
            format!("{:?} {:?} and {:?} {:?} do not compare", old.size, old.kind, new.size, new.kind);
        return Picture { problem: Some(problem), ..none };
    }
    let (mut squares, mut largest) = (0.0, 0f64);
    let (mut changes, mut first, mut worst) = (Changes::default(), None, None);
    let size = old.kind.bytes();
    let count = old.pixels.len() / if old.kind == PixelType::Grey16 { 2 } else { 1 };
    let pixels = old.pixels.chunks(size).zip(new.pixels.chunks(size));
    for (index, (one, other)) in pixels.enumerate() {
        if one == other {
            continue;
        }
        let [one, other] = [one, other].map(|bytes| components(old.kind, bytes));
        let apart = one.iter().zip(&other).map(|(one, other)| (one - other).abs());
        let most = apart.clone().fold(0.0, f64::max);
        squares += apart.map(|apart| apart * apart).sum::<f64>();
        let width = old.size[0].max(1) as usize;
        let at = [(index % width) as u32, (index / width) as u32];
        changes.add(at[0], at[1]);
        let pixel = Pixel { at, old: one, new: other };
        if most > largest {
            (largest, worst) = (most, Some(pixel.clone()));
        }
        first.get_or_insert(pixel);
    }
    let Changes { pixels, bounds } = changes;
    let psnr = (pixels > 0).then(|| -10.0 * (squares / count.max(1) as f64).log10());
    Picture { pixels, psnr, largest, first, worst, bounds, ..none }
}

/// A picture of the difference: opaque, amplified, and black where nothing differs.
fn difference(old: &Image, new: &Image) -> Image {
    let mut pixels: Vec<u8> = old.pixels.iter().zip(&new.pixels).map(|(a, b)| seen(a.abs_diff(*b))).collect();
    if old.kind == PixelType::Rgba8 {
        pixels.chunks_exact_mut(4).for_each(|pixel| {
            let alpha = pixel[3];
            pixel[..3].iter_mut().for_each(|it| *it = (*it).max(alpha));
            pixel[3] = 255;
        });
    }
    Image { size: old.size, kind: old.kind, pixels }
}

/// Amplifies a difference so that small ones are visible.
fn seen(apart: u8) -> u8 {
    if apart == 0 { 0 } else { apart.saturating_mul(4).saturating_add(32) }
}
