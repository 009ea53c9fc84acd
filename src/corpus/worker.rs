//! Plays one capture in this process. `corpus run` starts one such process per capture.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::Context;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::Xxh3;

use super::play::Play;
use super::row::{DrawHash, Effort, Found, Frame, Message, Missing, Played, Surface};
use crate::flags::Flags;
use a4emu_gpu::budget::{Budget, Work};
use a4emu_gpu::cp::{Call, Engine, Flow, Observer, Renderer, Tee};
use a4emu_gpu::draw::rb::rendered::{Content, Written};
use a4emu_gpu::fault::{Place, Severity, Trouble};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::{self, Picture, Texel};
use a4emu_gpu::settled::{Running, Synced};
use a4emu_inspect::coverage::Coverage;
use a4emu_inspect::describe::{Draw, Shaders};
use a4emu_rules::Watch;
use a4emu_support::options::{Shared, Threads, open_capture};
use a4emu_support::out_file::{Inputs, OutFile, make_folder};
use a4emu_support::status::Status;
use a4emu_support::terminal;

/// Arguments of `corpus play`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A .rd or .rd.gz file
    pub capture: PathBuf,
    /// What is noted, and the bounds
    #[command(flatten)]
    pub play: Play,
    /// Threads that render
    #[command(flatten)]
    pub threads: Flags<Threads>,
}

/// The answer of the process on stdout.
#[derive(Debug, Serialize, Deserialize)]
pub struct Answer {
    /// The result.
    pub played: Played,
    /// Time of playing in milliseconds.
    pub ms: f64,
    /// Peak memory in bytes, if the system has it.
    pub peak_bytes: Option<u64>,
}

/// Plays a capture and prints the answer.
///
/// # Errors
/// The call fails if the capture cannot be opened, or if the answer cannot be written.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let start = Instant::now();
    let played = args.threads.run(|| play(args, shared))?;
    let answer =
        Answer { played, ms: start.elapsed().as_secs_f64() * 1e3, peak_bytes: super::system::peak_bytes() };
    let mut out = terminal::bytes();
    writeln!(out, "{}", serde_json::to_string(&answer)?)?;
    out.flush()?;
    Ok(Status::Fine)
}

fn play(args: &Args, shared: &Shared) -> anyhow::Result<Played> {
    let options = &args.play;
    let mut playback = options.limits.playback(&args.capture);
    if options.coverage {
        playback.gpu.watch_guesses();
    }
    let mut coverage = options.coverage.then(Coverage::default);
    let mut watch = options.validate.then(Watch::default);
    let mut eye = Eye::new(options.pictures_to.clone(), &shared.inputs)?;
    let mut hashed = Hashed { shaders: Shaders::default(), hashes: Vec::new() };
    let mut tee = Tee(vec![&mut eye]);
    tee.0.extend(coverage.as_mut().map(|coverage| coverage as &mut dyn Observer));
    tee.0.extend(watch.as_mut().map(|watch| watch as &mut dyn Observer));
    let mut renderer = Renderer;
    let engine: &mut dyn Engine = if options.draws { &mut hashed } else { &mut renderer };
    playback.run(open_capture(&args.capture, &playback.gpu.budget, shared)?, engine, &mut tee);
    let gpu = &mut playback.gpu;
    if let Some(watch) = &mut watch {
        watch.finish(gpu);
    }
    let surfaces: Vec<Written> = gpu.pipeline.surfaces.iter().copied().collect();
    let surfaces =
        surfaces.iter().map(|written| eye.surface(gpu.sync(), written)).collect::<anyhow::Result<_>>()?;
    eye.problem.take().map_or(Ok(()), Err)?;
    let guesses = gpu.fidelity.as_ref().filter(|_| options.coverage);
    Ok(Played {
        status: shared.status_of(&gpu.report) as u8,
        submits: gpu.at.submit,
        draws: gpu.at.draws,
        frames: eye.frames,
        surfaces,
        draw_hashes: options.draws.then_some(hashed.hashes),
        faults: said(gpu, |trouble| !is_ours(trouble)),
        unsupported: said(gpu, is_ours),
        missing: missing(gpu),
        findings: watch.as_ref().map(found),
        guesses: guesses.map(|fidelity| fidelity.draws().collect()),
        used: coverage.map(|coverage| coverage.used().met()),
        work: effort(gpu),
    })
}

fn is_ours(trouble: &Trouble) -> bool {
    trouble.severity() == Severity::Unsupported
}

fn said(gpu: &Gpu, of: impl Fn(&Trouble) -> bool) -> Vec<Message> {
    let row = |(what, at, count): &(Trouble, Place, u64)| Message {
        submit: at.submit,
        draw: at.draws,
        address: at.address.get(),
        message: what.to_string(),
        count: *count,
    };
    gpu.report.troubles.iter().filter(|(trouble, ..)| of(trouble)).map(row).collect()
}

fn missing(gpu: &Gpu) -> Missing {
    let lengths = gpu.report.missing.iter().map(|miss| u64::from(miss.len));
    lengths.fold(Missing::default(), |all, len| Missing { ranges: all.ranges + 1, bytes: all.bytes + len })
}

fn effort(gpu: &Gpu) -> Effort {
    let stats = gpu.pipeline.stats;
    Effort {
        units: gpu.budget.spent(),
        warps: stats.warps,
        instructions: stats.instructions,
        primitives: stats.primitives,
        pixels: stats.pixels,
    }
}

/// The broken rules, each once, in the order in which they were found.
fn found(watch: &Watch) -> Vec<Found> {
    let mut all: Vec<Found> = Vec::new();
    for finding in watch.findings() {
        let rule = finding.broken.rule.rule().id;
        match all.iter_mut().find(|found| found.rule == rule) {
            Some(found) => {
                found.findings += 1;
                found.count += finding.count;
            }
            None => all.push(Found {
                rule: rule.to_owned(),
                findings: 1,
                count: finding.count,
                draw: finding.place.draw,
            }),
        }
    }
    all
}

/// Cost of decoding and hashing a pixel of a picture, in pixels of work.
const DECODED: u64 = 4;

/// An observer that hashes and keeps rendered pictures.
struct Eye {
    frames: Vec<Frame>,
    /// Folder of the pictures, if they are kept.
    folder: Option<PathBuf>,
    inputs: Inputs,
    /// Budget of all pictures together. It is separate from the run's, so that a run that is cut off still
    /// shows its pictures.
    budget: Budget,
    problem: Option<anyhow::Error>,
}

impl Eye {
    fn new(folder: Option<PathBuf>, inputs: &Inputs) -> anyhow::Result<Self> {
        folder.as_deref().map_or(Ok(()), make_folder)?;
        Ok(Self {
            frames: Vec::new(),
            folder,
            inputs: inputs.clone(),
            budget: Budget::default(),
            problem: None,
        })
    }

    /// Size and hash of the picture of `written`, if there is one.
    fn picture(&mut self, gpu: Synced<'_>, written: &Written) -> anyhow::Result<Option<([u32; 2], String)>> {
        let Ok(picture) = Picture::of(written, gpu.memory()) else { return Ok(None) };
        let size @ [width, height] = picture.size();
        if !self.budget.take(Work::Pixel, DECODED * u64::from(width) * u64::from(height)) {
            return Ok(None);
        }
        let hash = picture.hash();
        if let Some(folder) = &self.folder {
            keep(&folder.join(format!("{hash}.png")), &picture, &self.inputs)?;
        }
        Ok(Some((size, hash)))
    }

    fn surface(&mut self, gpu: Synced<'_>, written: &Written) -> anyhow::Result<Surface> {
        let picture = self.picture(gpu, written)?;
        let Written { submit, draw, address, width, height, .. } = *written;
        let format = match written.content {
            Content::Color => format!("{:?}", written.format),
            Content::Depth(format) => format!("{format:?}"),
        };
        let ([width, height], hash) =
            picture.map_or(([width, height], None), |(size, hash)| (size, Some(hash)));
        let address = address.narrow().unwrap_or(u32::MAX);
        Ok(Surface { submit, draw, address, width, height, format, hash })
    }

    fn frame(&mut self, gpu: Synced<'_>) -> anyhow::Result<()> {
        let submit = gpu.at.submit;
        let Some(frame) = picture::frame(&gpu.pipeline.surfaces, submit) else { return Ok(()) };
        if let Some(([width, height], hash)) = self.picture(gpu, frame)? {
            self.frames.push(Frame { submit, width, height, hash });
        }
        Ok(())
    }
}

/// Writes a picture, unless its file exists: its name is its hash.
fn keep(path: &Path, picture: &Picture<'_>, inputs: &Inputs) -> anyhow::Result<()> {
    if path.exists() {
        return Ok(());
    }
    let mut out = OutFile::create(path, inputs)?;
    picture.write(&mut out).with_context(|| format!("cannot write {}", path.display()))?;
    out.finish()
}

/// A hash as hexadecimal text.
pub fn hex(hash: &Xxh3) -> String {
    format!("{:032x}", hash.digest128())
}

impl Observer for Eye {
    fn submitted(&mut self, gpu: &mut Running<'_>) -> Flow {
        match self.frame(gpu.sync()) {
            Ok(()) => Flow::Continue,
            Err(problem) => {
                self.problem = Some(problem);
                Flow::Stop
            }
        }
    }
}

/// An engine that renders, and hashes the targets after each run of a draw.
struct Hashed {
    shaders: Shaders,
    hashes: Vec<DrawHash>,
}

impl Engine for Hashed {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let address = gpu.at.address.get();
        let flow = Renderer.run(gpu, call);
        let mut hash = Xxh3::new();
        // Packed stencil is part of the depth bytes.
        let attachments = draw.attachments().into_iter();
        for attachment in attachments.filter(|attachment| attachment.texel != Texel::PackedStencil) {
            // If the budget is used up, the attachment is not hashed completely.
            let _paid = attachment.each_row(gpu, |row| hash.update(row));
        }
        let (draw, frame_draw) = (call.number(), call.frame_draw());
        self.hashes.push(DrawHash { draw, frame_draw, address, hash: hex(&hash) });
        flow
    }
}
