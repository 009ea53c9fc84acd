//! `a4emu report`: makes a page that shows a capture.
//!
//! The capture runs once. The engine ([`recorder`]) copies the changes of each run, and an observer
//! ([`packets`]) lists the packets before it. Both, with the table of `show`, become a [`frame::Frame`] and
//! then a page ([`html`]).

pub mod canvases;
mod changed;
mod commands;
mod contents;
mod cost_map;
mod fit;
pub mod frame;
pub mod html;
mod packets;
pub mod pictures;
mod recorder;
mod room;

use std::io::{self, IsTerminal};
use std::path::Path;

use crate::describe::{self, Capture, Rows};
use crate::limits::Limits;
use crate::options::{Shared, accepted};
use crate::progress::{Counted, Shows};
use crate::status::Status;
use crate::validate::Watch;
use a4emu_gpu::cp::Tee;
use frame::{Draw, Frame};
use packets::Packets;
use recorder::Recorder;

/// Collects the data of a page about `capture`. Returns it with the status of the run.
///
/// # Errors
/// The call fails if the capture cannot be opened.
pub fn of_capture(capture: &Capture, limits: &Limits, shared: &Shared) -> anyhow::Result<(Frame, Status)> {
    let path = capture.name();
    let mut playback = limits.playback(path);
    let shows = if !shared.quiet && io::stderr().is_terminal() { Shows::Yes } else { Shows::No };
    let mut recorder = Recorder::new(Counted::new("draws", shows));
    let (mut rows, mut packets) = (Rows::default(), Packets::default());
    let mut watch = Watch::of_run(&mut playback.gpu);
    // The count of draws shows the progress; so the reader shows no bar.
    let sections = capture.sections(&playback.gpu.budget, &Shared { quiet: true, ..shared.clone() })?;
    playback.run(sections, &mut recorder, &mut Tee(vec![&mut rows, &mut packets, &mut watch]));
    let costed = std::mem::take(&mut recorder.costing).finish(&mut playback.gpu);
    watch.finish(&mut playback.gpu);
    let rows = rows.finish(&playback.gpu, &costed.costs, watch.findings);
    if rows.left_out > 0 {
        let what = format!("the page has no room for {} more draws (--max-memory)", rows.left_out);
        playback.gpu.report.cut(what, playback.gpu.at);
    }
    accepted(path, &playback.gpu.report)?;
    let canvases = std::mem::take(&mut recorder.canvases).finish(&mut playback.gpu, &mut recorder.room);
    recorder.add_counts(&rows, &costed.counts);
    let told = shared.tell(&path.display().to_string(), &playback.gpu.report);
    Ok((frame_of(path, rows, canvases, recorder, packets), told))
}

fn frame_of(
    path: &Path,
    rows: describe::Frame,
    canvases: Vec<frame::Canvas>,
    recorder: Recorder,
    packets: Packets,
) -> Frame {
    let Recorder { seen, contents, room, .. } = recorder;
    let mut notes: Vec<String> = room.notes().chain(packets.notes()).collect();
    if rows.left_out > 0 {
        notes.push(format!("{} draws are left out", rows.left_out));
    }
    let process = packets.process().to_owned();
    let Packets { lines, registers, .. } = packets;
    let draws = rows.rows.into_iter().zip(seen).zip(lines);
    Frame {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        process,
        gpu: rows.gpu,
        version: env!("CARGO_PKG_VERSION"),
        notes,
        canvases,
        findings: rows.findings,
        draws: draws.map(|((row, seen), packets)| Draw { id: row.frame_draw, row, seen, packets }).collect(),
        shaders: contents.programs,
        textures: contents.textures,
        registers,
    }
}
