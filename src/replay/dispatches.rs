//! `replay --gs-dispatch compare`: what each way to assign geometry shaders to lanes costs.

use std::io::{self, Write};

use anyhow::ensure;

use super::Args;
use a4emu_gpu::cp::{Renderer, Silent};
use a4emu_gpu::draw::gs::cost::CostRow;
use a4emu_gpu::draw::gs::dispatch::Setting;
use a4emu_inspect::describe::Capture;
use a4emu_support::options::Shared;
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal;

/// Runs the capture with each setting, and prints a table of costs.
///
/// # Errors
/// The call fails if the capture cannot be read or has no geometry shader, or if stdout cannot be written.
pub fn compare(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let capture = Capture::new(&args.capture, shared)?;
    let mut rows = Vec::new();
    let mut status = Status::Fine;
    for setting in Setting::ALL {
        let mut playback = args.limits.playback_of_many(capture.name(), Setting::ALL.len() as u32);
        playback.gpu.pipeline.gs_dispatch = setting;
        playback.run(capture.sections(&playback.gpu.budget, shared)?, &mut Renderer, &mut Silent);
        rows.extend(playback.gpu.pipeline.dispatches.rows().into_iter().map(|row| (setting.name(), row)));
        ensure!(!rows.is_empty(), "the capture has no draw with a geometry shader");
        if setting == Setting::Auto {
            status = shared.tell(&args.capture.display().to_string(), &playback.gpu.report);
        }
    }
    Ok(status.and(put(&rows).map_err(anyhow::Error::from)))
}

fn put(rows: &[(&str, CostRow)]) -> io::Result<()> {
    let mut out = terminal::lines();
    writeln!(
        out,
        "{:15} {:15} {:>5} {:>11} {:>6} {:>7} {:>8} {:>12} {:>6}",
        "setting", "mode", "draws", "invocations", "warps", "lanes", "useful", "instructions", "spills"
    )?;
    for (setting, CostRow { mode, why, cost, started, occupancy }) in rows {
        let [mode, why] = [serde_name(mode), serde_name(why)];
        let [lanes, useful] = [started, occupancy].map(|share| format!("{:.0} %", 100.0 * share));
        writeln!(
            out,
            "{setting:15} {mode:15} {:5} {:11} {:6} {lanes:>7} {useful:>8} {:12} {:6}  ({why})",
            cost.draws, cost.invocations, cost.warps, cost.instructions, cost.spills
        )?;
    }
    writeln!(
        out,
        "lanes: started; useful: with a run of the shader that counts. The pictures are the same."
    )?;
    out.flush()
}

/// The name of a mode or reason, as in JSON.
fn serde_name(value: &impl serde::Serialize) -> String {
    let name = serde_json::to_value(value).ok();
    name.as_ref().and_then(|name| name.as_str()).unwrap_or_default().to_owned()
}
