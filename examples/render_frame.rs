//! Renders the frame of a capture to a PNG, through the library.
//!
//!     cargo run --release --example render_frame -- captures/triangle.rd.gz triangle.png

use std::fs::File;
use std::path::PathBuf;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::picture::Picture;
use a4emu_gpu::playback::Playback;
use anyhow::Context;

fn main() -> anyhow::Result<()> {
    let mut args = std::env::args_os().skip(1).map(PathBuf::from);
    let usage = "usage: render_frame CAPTURE PNG";
    let (capture, png) = (args.next().context(usage)?, args.next().context(usage)?);

    let file = File::open(&capture).with_context(|| capture.display().to_string())?;
    let mut playback = Playback::default();
    playback.run(Sections::new(file)?, &mut Renderer, &mut Silent);
    let gpu = playback.gpu.settle();
    let surface = gpu.pipeline.surfaces.last_color().context("no colour surface was rendered")?;
    Picture::of(surface, gpu.memory())?.write(File::create(png)?)
}
