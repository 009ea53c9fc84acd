//! `replay --after`: writes the picture after a draw.

use std::path::Path;

use super::Args;
use crate::named::GsDispatch;
use crate::show::write_picture;
use a4emu_gpu::cp::{Call, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_inspect::describe::canvas::{Keep, Snapshot};
use a4emu_inspect::describe::{Capture, Draw, Look, Looking, RUNS, Shaders, find};
use a4emu_inspect::selection::Draws;
use a4emu_support::options::Shared;
use a4emu_support::out_file::OutFile;
use a4emu_support::status::{Status, WithErrors};

/// Writes what the draw `name` renders to, after its last run, to `png`.
///
/// # Errors
/// The call fails if there is no such draw, if it has no target, or if a file cannot be read or written.
pub fn write(args: &Args, name: Draws, png: &Path, shared: &Shared) -> anyhow::Result<Status> {
    shared.inputs.add(&args.capture);
    let out = OutFile::create(png, &shared.inputs)?;
    let capture = Capture::new(&args.capture, shared)?;
    let runs = find(&capture, name, &args.limits, shared)?;
    let mut playback = args.limits.playback_of_many(capture.name(), RUNS);
    if let GsDispatch::One(setting) = args.gs_dispatch {
        playback.gpu.pipeline.gs_dispatch = setting;
    }
    let mut looking = Looking::new(&runs, After::default());
    playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut looking, &mut Silent);
    let written = write_picture(&looking.look.snapshot, (name, None), args.alpha(), out);
    Ok(shared.tell(&args.capture.display().to_string(), &playback.gpu.report).and(written))
}

/// Takes a picture after each run.
#[derive(Default)]
struct After {
    snapshot: Snapshot,
    shaders: Shaders,
}

impl Look for After {
    fn before(&mut self, _: &mut Gpu, _: &Call) {}

    fn after(&mut self, gpu: &mut Gpu, call: &Call) {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        self.snapshot.add(gpu, &draw, Keep::Last);
    }
}
