//! Lists the draws of a capture that have no depth test. An [`Observer`] reads the registers before each
//! draw, and the draws are not rendered.
//!
//!     cargo run --release --example depth_test_off -- captures/blend.rd.gz

use std::fs::File;

use a4emu_decoder::a4xx::regs::rb::RB_DEPTH_CONTROL;
use a4emu_decoder::adreno::capture::Sections;
use a4emu_gpu::cp::{Call, Flow, Observer, Skip};
use a4emu_gpu::playback::Playback;
use a4emu_gpu::settled::Running;
use anyhow::Context;

/// Prints each draw whose depth test is off.
struct DepthTestOff;

impl Observer for DepthTestOff {
    fn call(&mut self, gpu: &mut Running<'_>, call: &Call) -> Flow {
        if let Call::Draw(draw) = call
            && !gpu.regs.get::<RB_DEPTH_CONTROL>().Z_TEST_ENABLE()
        {
            println!("submit {} draw {}: {} vertices", gpu.at.submit, draw.number, draw.count);
        }
        Flow::Continue
    }
}

fn main() -> anyhow::Result<()> {
    let capture = std::env::args_os().nth(1).context("usage: depth_test_off CAPTURE")?;
    Playback::default().run(Sections::new(File::open(capture)?)?, &mut Skip::default(), &mut DepthTestOff);
    Ok(())
}
