//! What a replay leaves behind: pictures, `summary.json`, times.

use std::fs;
use std::path::Path;
use std::time::Instant;

use anyhow::Context;
use serde::Serialize;

use crate::budget::Budget;
use crate::cp::{Cp, Renderer, Silent};
use crate::draw::pipeline::StageTimes;
use crate::draw::surfaces::{Content, Picture, Written};
use crate::fault::{Place, Trouble};
use crate::gpu::Gpu;
use crate::replay::Submit;

/// What `--loop` prints.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct LoopTimes {
    runs: u32,
    ms: Spread,
    /// Warp instructions of one run.
    instructions: u64,
    /// Samples that passed, of one run.
    pixels: u64,
    /// Milliseconds by stage, of one run on average.
    stages: StageTimes,
}

/// Milliseconds.
#[derive(Clone, Copy, Debug, Serialize)]
struct Spread {
    min: f64,
    median: f64,
    max: f64,
}

/// Runs `submits` again `runs` times and times it. Nothing is kept from run to run that a
/// new frame would not find as well.
pub fn repeat(gpu: &mut Gpu, submits: &[Submit], runs: u32) -> LoopTimes {
    let mut times = Vec::with_capacity(runs as usize);
    let before = gpu.pipeline.stats;
    let at = gpu.at;
    // Each run may do what all of the capture did.
    let budget = Budget::new(gpu.budget.spent());
    for _ in 0..runs {
        gpu.at = at;
        gpu.budget = budget.clone();
        gpu.pipeline.reuse.clear();
        let start = Instant::now();
        for submit in submits {
            Cp::new(gpu, &mut Renderer, &mut Silent).submit(submit.address, submit.dwords);
        }
        times.push(start.elapsed().as_secs_f64() * 1e3);
    }
    times.sort_by(f64::total_cmp);
    let runs = runs.max(1);
    LoopTimes {
        runs,
        ms: Spread {
            min: times.first().copied().unwrap_or(0.0),
            median: times.get(times.len() / 2).copied().unwrap_or(0.0),
            max: times.last().copied().unwrap_or(0.0),
        },
        instructions: (gpu.pipeline.stats.instructions - before.instructions) / u64::from(runs),
        pixels: (gpu.pipeline.stats.pixels - before.pixels) / u64::from(runs),
        stages: gpu.pipeline.stats.ms.since(&before.ms, runs),
    }
}

#[derive(Serialize)]
struct Summary {
    surfaces: Vec<SurfaceRow>,
    missing: Vec<MissingRow>,
    faults: Vec<ReportRow>,
    unsupported: Vec<ReportRow>,
    draws: u32,
}

#[derive(Serialize)]
struct SurfaceRow {
    submit: u32,
    draw: u32,
    address: u32,
    width: u32,
    height: u32,
    format: String,
    png: Option<String>,
}

#[derive(Serialize)]
struct MissingRow {
    address: u32,
    bytes: u32,
    used_by: String,
}

#[derive(Serialize)]
struct ReportRow {
    submit: u32,
    draw: u32,
    frame_draw: u32,
    address: u32,
    message: String,
    count: u64,
}

/// Writes the picture of the colour surface that was rendered last.
///
/// # Errors
/// When there is none, or the file cannot be written.
pub fn write_last(gpu: &Gpu, path: &Path) -> anyhow::Result<()> {
    let surface = gpu.pipeline.surfaces.last_color().context("no colour surface was rendered")?;
    let picture = surface.picture(&gpu.mem).context("no picture can be made of the surface's format")?;
    write_png(path, [surface.width, surface.height], &picture)
}

/// Writes every surface and `summary.json` into `directory`.
///
/// # Errors
/// When a file cannot be written.
pub fn write_all(gpu: &Gpu, directory: &Path) -> anyhow::Result<()> {
    fs::create_dir_all(directory).with_context(|| format!("cannot create {}", directory.display()))?;
    let mut surfaces = Vec::new();
    for (index, surface) in gpu.pipeline.surfaces.iter().enumerate() {
        surfaces.push(write_surface(gpu, directory, index, surface)?);
    }
    let summary = Summary {
        surfaces,
        missing: gpu
            .report
            .missing
            .iter()
            .map(|m| MissingRow { address: m.address, bytes: m.len, used_by: m.client.to_string() })
            .collect(),
        faults: rows(gpu, |trouble| matches!(trouble, Trouble::Fault(_))),
        unsupported: rows(gpu, |trouble| matches!(trouble, Trouble::Unsupported(_) | Trouble::Cut(_))),
        draws: gpu.at.draws,
    };
    let path = directory.join("summary.json");
    let text = serde_json::to_string_pretty(&summary)? + "\n";
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

fn rows(gpu: &Gpu, of: impl Fn(&Trouble) -> bool) -> Vec<ReportRow> {
    let row = |(what, at, count): &(Trouble, Place, u64)| ReportRow {
        submit: at.submit,
        draw: at.draws,
        frame_draw: at.frame_draw,
        address: at.address,
        message: what.to_string(),
        count: *count,
    };
    gpu.report.troubles.iter().filter(|(trouble, ..)| of(trouble)).map(row).collect()
}

fn write_surface(gpu: &Gpu, directory: &Path, index: usize, surface: &Written) -> anyhow::Result<SurfaceRow> {
    let kind = if surface.content == Content::Color { "color" } else { "depth" };
    let name = format!("{index:03}-{kind}-{:08x}.png", surface.address);
    let png = match surface.picture(&gpu.mem) {
        Some(picture) => {
            write_png(&directory.join(&name), [surface.width, surface.height], &picture)?;
            Some(name)
        }
        None => None,
    };
    let format = match surface.content {
        Content::Color => format!("{:?}", surface.format),
        Content::Depth(format) => format!("{format:?}"),
    };
    let Written { submit, draw, address, width, height, .. } = *surface;
    Ok(SurfaceRow { submit, draw, address, width, height, format, png })
}

/// Writes a picture of `width` and `height` as PNG.
///
/// # Errors
/// I/O, or a picture of another size.
pub fn write_png(path: &Path, [width, height]: [u32; 2], picture: &Picture) -> anyhow::Result<()> {
    let file = fs::File::create(path).with_context(|| format!("cannot create {}", path.display()))?;
    let mut encoder = png::Encoder::new(std::io::BufWriter::new(file), width, height);
    let bytes = match picture {
        Picture::Rgba8(bytes) => {
            encoder.set_color(png::ColorType::Rgba);
            encoder.set_depth(png::BitDepth::Eight);
            bytes.clone()
        }
        Picture::Grey16(values) => {
            encoder.set_color(png::ColorType::Grayscale);
            encoder.set_depth(png::BitDepth::Sixteen);
            values.iter().flat_map(|value| value.to_be_bytes()).collect()
        }
    };
    let mut writer = encoder.write_header().with_context(|| path.display().to_string())?;
    writer.write_image_data(&bytes).with_context(|| path.display().to_string())?;
    writer.finish().with_context(|| path.display().to_string())
}
