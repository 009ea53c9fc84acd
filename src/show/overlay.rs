//! Overlays: colours that show what happened to each pixel, over the dimmed picture.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anyhow::Context;
use serde::Serialize;

use a4emu_gpu::draw::fs::reasons::{COST_UNIT, EDGE, FAILED, KILLED, Plane, WRITTEN};
use a4emu_gpu::picture;
use a4emu_inspect::describe::Touched;
use a4emu_inspect::describe::canvas::Image;
use a4emu_support::out_file::{Inputs, OutFile};

/// The content of an overlay.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum OverlayKind {
    /// Edges of primitives, with hidden ones.
    Wireframe,
    /// Number of fragments that cover each pixel.
    Overdraw,
    /// Fragments that pass or fail the depth and stencil tests.
    Depth,
    /// Fragments that the shader or the alpha test kills.
    Discard,
    /// Cost of the fragment shader.
    Cost,
}

const KINDS: [(&str, OverlayKind); 5] = [
    ("wireframe", OverlayKind::Wireframe),
    ("overdraw", OverlayKind::Overdraw),
    ("depth", OverlayKind::Depth),
    ("discard", OverlayKind::Discard),
    ("cost", OverlayKind::Cost),
];

impl fmt::Display for OverlayKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        KINDS.iter().find(|(_, kind)| kind == self).map_or(Ok(()), |(name, _)| f.write_str(name))
    }
}

/// A requested overlay: `KIND=FILE`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Wanted {
    /// The content of the overlay.
    pub kind: OverlayKind,
    /// The output file.
    pub path: PathBuf,
}

impl FromStr for Wanted {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, path) = text.split_once('=').unwrap_or((text, ""));
        let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == name) else {
            let names = KINDS.map(|(name, _)| name).join(", ");
            return Err(format!("`{name}` is none of {names}"));
        };
        match path {
            "" => Err(format!("it has no file: {name}=FILE")),
            path => Ok(Self { kind: *kind, path: path.into() }),
        }
    }
}

/// The data that has to be recorded for these overlays.
pub fn planes(wanted: &[Wanted]) -> Vec<Plane> {
    let plane = |wanted: &Wanted| match wanted.kind {
        OverlayKind::Wireframe => Some(Plane::Edges),
        OverlayKind::Overdraw => Some(Plane::Fragments),
        OverlayKind::Cost => Some(Plane::Cost),
        OverlayKind::Depth | OverlayKind::Discard => None,
    };
    wanted.iter().filter_map(plane).collect()
}

/// The meaning of an overlay's colours, with totals.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Legend {
    /// The kind of overlay.
    pub overlay: OverlayKind,
    /// The colours of the overlay.
    pub colors: Vec<Swatch>,
    /// Sum over all pixels: fragments or warp instructions. None if pixels are only marked.
    pub sum: Option<f64>,
    /// The first pixel with the largest value.
    pub most_at: Option<[u32; 2]>,
}

/// A colour and its meaning.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Swatch {
    /// The colour as `#rrggbb`.
    pub color: String,
    /// The meaning of the colour; in a scale, the unit.
    pub meaning: &'static str,
    /// The value of a colour in a scale. Values between two colours are interpolated.
    pub value: Option<f64>,
    /// Number of pixels of this colour; none for a scale.
    pub pixels: Option<u64>,
}

type Rgb = [u8; 3];

const WHITE: Rgb = [255; 3];
const GREEN: Rgb = [44, 160, 44];
const RED: Rgb = [214, 39, 40];
const YELLOW: Rgb = [255, 221, 51];

/// A ramp for low to high values: dark blue to yellow. It is also readable in grey.
const RAMP: [Rgb; 5] = [[68, 1, 84], [59, 82, 139], [33, 145, 140], [94, 201, 98], [253, 231, 37]];

/// Remaining brightness of the picture.
const DIMMED: f32 = 0.3;

/// Paints an overlay over `picture`. Returns it with its legend. `touched` has the width of the picture, and
/// at least its height.
pub fn paint(kind: OverlayKind, touched: &Touched, picture: &Image) -> (Image, Legend) {
    let marks = |marks: &[Mark]| marked(kind, &touched.bits, marks);
    let [kept, lost] = [
        WRITTEN,
        match kind {
            OverlayKind::Discard => KILLED,
            _ => FAILED,
        },
    ];
    let one = |bits, color, meaning| Mark { bits, mask: kept | lost, color, meaning };
    let (colors, legend) = match kind {
        OverlayKind::Wireframe => marks(&[Mark { bits: EDGE, mask: EDGE, color: WHITE, meaning: "edge" }]),
        OverlayKind::Depth => {
            marks(&[one(kept, GREEN, "passed"), one(lost, RED, "failed"), one(kept | lost, YELLOW, "both")])
        }
        OverlayKind::Discard => {
            marks(&[one(kept, GREEN, "kept"), one(lost, RED, "killed"), one(kept | lost, YELLOW, "both")])
        }
        OverlayKind::Overdraw => heat(
            kind,
            touched,
            &Scale { unit: "fragments", least: 1.0, values: &|at| f64::from(touched.fragments[at]) },
        ),
        OverlayKind::Cost => {
            let values = |at: usize| touched.cost[at] as f64 / COST_UNIT as f64;
            heat(kind, touched, &Scale { unit: "warp instructions", least: 0.0, values: &values })
        }
    };
    (over(picture, &colors), legend)
}

/// A colour for pixels whose bits in `mask` are `bits`.
struct Mark {
    mask: u8,
    bits: u8,
    color: Rgb,
    meaning: &'static str,
}

fn marked(overlay: OverlayKind, bits: &[u8], marks: &[Mark]) -> (Vec<Option<Rgb>>, Legend) {
    let of = |bits: &u8| marks.iter().find(|mark| bits & mark.mask == mark.bits);
    let swatch = |mark: &Mark| Swatch {
        color: hex(mark.color),
        meaning: mark.meaning,
        value: None,
        pixels: Some(bits.iter().filter(|bits| *bits & mark.mask == mark.bits).count() as u64),
    };
    let colors = marks.iter().map(swatch).collect();
    (
        bits.iter().map(|bits| Some(of(bits)?.color)).collect(),
        Legend { overlay, colors, sum: None, most_at: None },
    )
}

/// A scale for the values of pixels, from the first colour of the ramp on.
struct Scale<'a> {
    unit: &'static str,
    least: f64,
    values: &'a dyn Fn(usize) -> f64,
}

fn heat(overlay: OverlayKind, touched: &Touched, scale: &Scale<'_>) -> (Vec<Option<Rgb>>, Legend) {
    let values: Vec<f64> = (0..touched.bits.len()).map(scale.values).collect();
    let most = values.iter().copied().fold(scale.least, f64::max);
    let at = values.iter().position(|value| *value > 0.0 && *value == most);
    let width = touched.size[0] as usize;
    let range = most - scale.least;
    let color = |value: &f64| ramp(if range > 0.0 { (value - scale.least) / range } else { 0.0 });
    let stop = |(step, color): (usize, &Rgb)| Swatch {
        color: hex(*color),
        meaning: scale.unit,
        value: Some(scale.least + range * step as f64 / (RAMP.len() - 1) as f64),
        pixels: None,
    };
    let legend = Legend {
        overlay,
        colors: RAMP.iter().enumerate().map(stop).collect(),
        sum: Some(values.iter().sum()),
        most_at: at.map(|at| [at % width, at / width].map(|side| side as u32)),
    };
    (values.iter().map(|value| (*value > 0.0).then(|| color(value))).collect(), legend)
}

/// The colour at `share` of the ramp.
fn ramp(share: f64) -> Rgb {
    let at = share.clamp(0.0, 1.0) * (RAMP.len() - 1) as f64;
    let index = (at as usize).min(RAMP.len() - 2);
    let (low, high) = (RAMP[index], RAMP[index + 1]);
    let between =
        |low: u8, high: u8| f64::from(low) + (f64::from(high) - f64::from(low)) * (at - index as f64);
    std::array::from_fn(|c| between(low[c], high[c]).round() as u8)
}

fn hex([red, green, blue]: Rgb) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Puts the colours over `picture`, which becomes grey and dark.
fn over(picture: &Image, colors: &[Option<Rgb>]) -> Image {
    let grey =
        picture.pixels.chunks_exact(picture.kind.bytes()).map(|pixel| [dimmed(picture.kind, pixel); 3]);
    let pixels = grey.zip(colors).flat_map(|(grey, color)| {
        let [red, green, blue] = color.unwrap_or(grey);
        [red, green, blue, u8::MAX]
    });
    Image { size: picture.size, kind: picture::PixelType::Rgba8, pixels: pixels.collect() }
}

fn dimmed(kind: picture::PixelType, pixel: &[u8]) -> u8 {
    let brightness = match (kind, pixel) {
        (picture::PixelType::Rgba8, &[red, green, blue, _]) => {
            0.299 * f32::from(red) + 0.587 * f32::from(green) + 0.114 * f32::from(blue)
        }
        _ => pixel.first().map_or(0.0, |high| f32::from(*high)),
    };
    (brightness * DIMMED).round() as u8
}

impl fmt::Display for Legend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:9} ", self.overlay.to_string())?;
        if let (Some(sum), Some(Swatch { meaning, .. })) = (self.sum, self.colors.first()) {
            write!(f, " {sum} {meaning}:")?;
        }
        for (index, color) in self.colors.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma} {} ", color.color)?;
            match (color.value, color.pixels) {
                (Some(value), _) => write!(f, "{}", (value * 100.0).round() / 100.0)?,
                (None, Some(pixels)) => write!(f, "{} {pixels}", color.meaning)?,
                (None, None) => f.write_str(color.meaning)?,
            }
        }
        self.most_at.map_or(Ok(()), |[x, y]| write!(f, "; most at {x},{y}"))
    }
}

/// Writes the `wanted` overlays over `picture`. Returns their legends.
///
/// # Errors
/// The call fails if a file cannot be written.
pub fn write(
    wanted: &[Wanted],
    touched: &Touched,
    picture: &Image,
    inputs: &Inputs,
) -> anyhow::Result<Vec<Legend>> {
    let write = |wanted: &Wanted| {
        let (image, legend) = paint(wanted.kind, touched, picture);
        let mut out = OutFile::create(&wanted.path, inputs)?;
        image.write_png(&mut out).with_context(|| format!("cannot write {}", wanted.path.display()))?;
        out.finish()?;
        Ok(legend)
    };
    wanted.iter().map(write).collect()
}
