//! Prints a hash of the targets after each draw and dispatch of a capture, through the library: for emulators that
//! compare with a4emu draw by draw.
//!
//!     cargo run --release --example hash_every_draw -- captures/cube.rd.gz

use std::fs::File;
use std::path::Path;

use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Call, Engine, Flow, Renderer, Silent};
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::picture::Texel;
use a4emu_gpu::playback::Playback;
use a4emu_inspect::describe::{Draw, Shaders};
use anyhow::Context;
use xxhash_rust::xxh3::Xxh3;

/// An engine that renders, and hashes what each draw has rendered to.
#[derive(Default)]
pub struct Hashes {
    shaders: Shaders,
    /// Number of the draw, of its frame draw, and the hash.
    pub list: Vec<(u32, u32, u128)>,
}

impl Engine for Hashes {
    fn run(&mut self, gpu: &mut Gpu, call: &Call) -> Flow {
        let draw = Draw::of(gpu.sync(), call, &mut self.shaders);
        let flow = Renderer.run(gpu, call);
        let mut hash = Xxh3::new();
        // Packed stencil is a part of the depth bytes.
        for target in draw.attachments().into_iter().filter(|target| target.texel != Texel::PackedStencil) {
            // The error is that the budget of the run is used up.
            let _complete = target.each_row(gpu, |row| hash.update(row));
        }
        self.list.push((call.number(), call.frame_draw(), hash.digest128()));
        flow
    }
}

/// The hashes of the capture at `path`.
pub fn hashes(path: &Path) -> anyhow::Result<Hashes> {
    let mut hashes = Hashes::default();
    let file = File::open(path).with_context(|| path.display().to_string())?;
    Playback::default().run(Sections::new(file)?, &mut hashes, &mut Silent);
    Ok(hashes)
}

#[allow(dead_code, reason = "the test of this example calls `hashes`")]
fn main() -> anyhow::Result<()> {
    let capture = std::env::args_os().nth(1).context("usage: hash_every_draw CAPTURE")?;
    for (draw, frame_draw, hash) in hashes(Path::new(&capture))?.list {
        println!("draw {draw} f{frame_draw} {hash:032x}");
    }
    Ok(())
}
