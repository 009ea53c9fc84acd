//! Writes the results of a replay: pictures and `summary.json`.

use std::path::Path;

use anyhow::{Context, ensure};
use serde::Serialize;

use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::fault::{Client, Place, Severity, Trouble};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::{Alpha, NoPicture, Picture};
use a4emu_support::out_file::{self, Inputs, OutFile};

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
    address: u64,
    bytes: u32,
    used_by: String,
}

#[derive(Serialize)]
struct ReportRow {
    submit: u32,
    draw: u32,
    frame_draw: u32,
    address: u64,
    message: String,
    count: u64,
}

/// Writes the picture of the last rendered colour surface. An unsupported picture is reported.
///
/// # Errors
/// The call fails if there is no such surface, if no part of it is in the capture, or if the file cannot be
/// written.
pub fn write_last(gpu: &mut Gpu, out: OutFile, alpha: Alpha) -> anyhow::Result<()> {
    let surface = *gpu.pipeline.surfaces.last_color().context("no colour surface was rendered")?;
    let is_missing = Picture::of(&surface, gpu.sync().memory()).err() == Some(NoPicture::Missing);
    ensure!(!is_missing, "no picture: what was rendered last is in no buffer of the capture");
    Pictures::with(alpha).write(gpu, &surface, || Ok(out)).map(drop)
}

/// Writes every surface and `summary.json` into `directory`. A surface without a picture is reported and
/// left out.
///
/// # Errors
/// The call fails if a file cannot be written.
pub fn write_all(gpu: &mut Gpu, directory: &Path, alpha: Alpha, inputs: &Inputs) -> anyhow::Result<()> {
    let written: Vec<Written> = gpu.pipeline.surfaces.iter().copied().collect();
    let (mut surfaces, mut pictures) = (Vec::new(), Pictures::with(alpha));
    for (index, surface) in written.iter().enumerate() {
        let create = |name: &str| OutFile::create(&directory.join(name), inputs);
        surfaces.push(pictures.write_row(gpu, create, (index, surface))?);
    }
    let summary = Summary {
        surfaces,
        missing: gpu
            .report
            .missing
            .iter()
            .map(|m| MissingRow { address: m.address.get(), bytes: m.len, used_by: m.client.to_string() })
            .collect(),
        faults: rows(gpu, |trouble| matches!(trouble, Trouble::Fault(_))),
        unsupported: rows(gpu, |trouble| trouble.severity() == Severity::Unsupported),
        draws: gpu.at.draws,
    };
    let text = serde_json::to_string_pretty(&summary)? + "\n";
    out_file::write(&directory.join("summary.json"), text.as_bytes(), inputs)
}

fn rows(gpu: &Gpu, of: impl Fn(&Trouble) -> bool) -> Vec<ReportRow> {
    let row = |(what, at, count): &(Trouble, Place, u64)| ReportRow {
        submit: at.submit,
        draw: at.draws,
        frame_draw: at.frame_draw,
        address: at.address.get(),
        message: what.to_string(),
        count: *count,
    };
    gpu.report.troubles.iter().filter(|(trouble, ..)| of(trouble)).map(row).collect()
}

/// Writes the pictures of a run, within a budget of their own. So a run that was cut off still shows its
/// pictures.
struct Pictures {
    alpha: Alpha,
    budget: Budget,
}

/// Cost of decoding and encoding a pixel of a picture, in pixels of work.
const PACKED: u64 = 4;

impl Pictures {
    fn with(alpha: Alpha) -> Self {
        Self { alpha, budget: Budget::default() }
    }

    /// Writes the picture of `surface`, number `index`, to the file that `create` makes. Returns its row of
    /// the summary.
    fn write_row(
        &mut self,
        gpu: &mut Gpu,
        create: impl FnOnce(&str) -> anyhow::Result<OutFile>,
        (index, surface): (usize, &Written),
    ) -> anyhow::Result<SurfaceRow> {
        let kind = if surface.content == Content::Color { "color" } else { "depth" };
        let name = format!("{index:03}-{kind}-{:08x}.png", surface.address);
        let written = self.write(gpu, surface, || create(&name))?;
        let format = match surface.content {
            Content::Color => format!("{:?}", surface.format),
            Content::Depth(format) => format!("{format:?}"),
        };
        let Written { submit, draw, address, .. } = *surface;
        let address = address.narrow().unwrap_or(u32::MAX);
        let ([width, height], png) = match written {
            Some(size) => (size, Some(name)),
            None => ([surface.width, surface.height], None),
        };
        Ok(SurfaceRow { submit, draw, address, width, height, format, png })
    }

    /// Writes the picture of `surface` and returns its size. If there is no picture, reports the reason.
    fn write(
        &mut self,
        gpu: &mut Gpu,
        surface: &Written,
        create: impl FnOnce() -> anyhow::Result<OutFile>,
    ) -> anyhow::Result<Option<[u32; 2]>> {
        let Written { address, width, height, .. } = *surface;
        let what = format!("the picture of {width}x{height} pixels at {address:#010x}");
        let picture = match Picture::of(surface, gpu.sync().memory()) {
            Ok(picture) => picture.with_alpha(self.alpha),
            Err(NoPicture::Unsupported) => {
                gpu.unsupported(what);
                return Ok(None);
            }
            Err(NoPicture::Missing) => {
                gpu.report.miss(Client::RenderTarget, address, surface.pitch.saturating_mul(height));
                return Ok(None);
            }
        };
        let size = picture.size();
        if !self.budget.take(Work::Pixel, PACKED * u64::from(size[0]) * u64::from(size[1])) {
            let message = format!("{what} is not written: it and those before it are too many pixels");
            gpu.cut(message);
            return Ok(None);
        }
        let mut out = create()?;
        picture.write(&mut out).with_context(|| format!("cannot write {}", out.path().display()))?;
        out.finish()?;
        Ok(Some(size))
    }
}

#[cfg(test)]
mod tests;
