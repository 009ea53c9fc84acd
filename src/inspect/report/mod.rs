//! `a4emu report`: makes a page that shows a capture.
//!
//! The capture runs once. The engine ([`recorder`]) copies the changes of each run, and an observer
//! ([`packets`]) lists the packets before it. Both, with the table of `show`, become a [`frame::Frame`] and
//! then a page ([`html`]).

pub mod blocks;
pub mod canvases;
mod changed;
mod commands;
pub mod contents;
mod cost_map;
pub mod extras;
mod fit;
pub mod frame;
pub mod html;
pub mod pack;
mod packets;
pub mod pictures;
mod recorder;
mod room;

use std::path::Path;

use crate::describe::{self, Capture, PacketStores, Rows};
use a4emu_gpu::cp::{Silent, Skip, Tee};
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::gpu::Gpu;
use a4emu_gpu::pass::Pass;
use a4emu_rules::Watch;
use a4emu_support::limits::Limits;
use a4emu_support::options::{Shared, accepted, summary_of};
use a4emu_support::progress::{Counted, Shows};
use a4emu_support::status::Status;
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
    let shows = shared.shows();
    let total = (shows == Shows::Yes).then(|| count_of_draws(capture, limits, shared)).transpose()?;
    let mut recorder = Recorder::new(Counted::new("draws", shows).of(total));
    let (mut rows, mut packets) = (Rows::default(), Packets::default());
    let mut stores = PacketStores::new(None);
    let mut watch = Watch::of_run(&mut playback.gpu);
    // The count of draws shows the progress; so the reader shows no bar.
    let sections = capture.sections(&playback.gpu.budget, &Shared { quiet: true, ..shared.clone() })?;
    playback.run(sections, &mut recorder, &mut Tee(vec![&mut rows, &mut packets, &mut stores, &mut watch]));
    let costed = std::mem::take(&mut recorder.costing).finish(&mut playback.gpu);
    watch.finish(&mut playback.gpu);
    let rows = rows.finish(&playback.gpu, &costed.costs, watch.findings);
    if rows.left_out > 0 {
        let what = format!("the page has no room for {} more draws (--max-memory)", rows.left_out);
        playback.gpu.cut(what);
    }
    accepted(path, &playback.gpu.report)?;
    recorder.add_overs();
    let canvases = std::mem::take(&mut recorder.canvases).finish(&mut playback.gpu, &mut recorder.room);
    recorder.add_counts(&rows, &costed.counts);
    recorder.add_stored(&rows, stores);
    let told = shared.tell(&path.display().to_string(), &playback.gpu.report);
    let picture = playback.gpu.pipeline.surfaces.last_color().map(|surface| surface.address.get());
    let mut frame = frame_of(path, rows, canvases, recorder, packets, unrendered(&playback.gpu));
    frame.first = frame.stood_at.unwrap_or_else(|| last_draw_of(&frame, picture));
    frame.missing = summary_of(&playback.gpu.report.missing).unwrap_or_default();
    Ok((frame, told))
}

/// A sentence for the page if some of the run is not rendered, as on an A6xx.
fn unrendered(gpu: &Gpu) -> Option<String> {
    let mut troubles = gpu.report.troubles.iter();
    troubles.find_map(|(trouble, ..)| match trouble {
        Trouble::NotRendered(sentence) => Some(format!("pictures are missing: {sentence}")),
        _ => None,
    })
}

/// How many draws a run has. They are counted by a run that draws nothing.
fn count_of_draws(capture: &Capture, limits: &Limits, shared: &Shared) -> anyhow::Result<u64> {
    let mut playback = limits.playback(capture.name());
    let sections = capture.sections(&playback.gpu.budget, &Shared { quiet: true, ..shared.clone() })?;
    playback.run(sections, &mut Skip::default(), &mut Silent);
    Ok(playback.gpu.at.draws.into())
}

/// The row of the last draw to the colour surface at `address`. A copy is taken only if nothing else draws
/// to it; without such a surface, the last row with a picture.
fn last_draw_of(frame: &Frame, address: Option<u64>) -> usize {
    let is_picture = |draw: &Draw| {
        let canvas = draw.seen.canvas.and_then(|index| frame.canvases.get(index));
        canvas.is_some_and(|it| address.is_some() && it.address == address && it.name.starts_with("color"))
    };
    let last = |is_it: &dyn Fn(&Draw) -> bool| frame.draws.iter().rposition(is_it);
    let canvas = last(&is_picture).and_then(|row| frame.draws[row].seen.canvas);
    let draws = |draw: &Draw| !matches!(draw.row.pass, Some(Pass::Resolve | Pass::Restore));
    let found = canvas.and_then(|canvas| {
        let is_on = |draw: &Draw| draw.seen.canvas == Some(canvas);
        last(&|draw| is_on(draw) && draws(draw)).or_else(|| last(&is_on))
    });
    found.or_else(|| last(&|draw| draw.seen.canvas.is_some())).unwrap_or_default()
}

fn frame_of(
    path: &Path,
    rows: describe::Frame,
    canvases: Vec<frame::Canvas>,
    recorder: Recorder,
    packets: Packets,
    unrendered: Option<String>,
) -> Frame {
    let Recorder { seen, contents, room, .. } = recorder;
    let mut notes: Vec<String> = room.notes().chain(packets.notes()).collect();
    notes.extend(unrendered);
    if rows.left_out > 0 {
        notes.push(format!("{} draws are left out", rows.left_out));
    }
    let further: usize = rows.rows.iter().map(|row| row.more_frame_draws.len()).sum();
    if further > 0 {
        notes.push(format!("{further} frame draws have no row of their own: they are in the row of their packet's first submit"));
    }
    let stood_at = rows
        .stood
        .as_ref()
        .and_then(|stood| rows.rows.iter().rposition(|row| row.frame_draw <= stood.frame_draw));
    let process = packets.process().to_owned();
    let Packets { lines, registers, .. } = packets;
    let draws = rows.rows.into_iter().zip(seen).zip(lines);
    Frame {
        title: path.file_name().unwrap_or_default().to_string_lossy().into_owned(),
        process,
        gpu: rows.gpu,
        version: env!("CARGO_PKG_VERSION"),
        notes,
        left_out: String::new(),
        missing: String::new(),
        stood: rows.stood.as_ref().map(ToString::to_string).unwrap_or_default(),
        stood_at,
        block: blocks::DRAWS,
        first: 0,
        canvases,
        findings: rows.findings,
        draws: draws.map(|((row, seen), packets)| Draw { id: row.frame_draw, row, seen, packets }).collect(),
        shaders: contents.programs,
        textures: contents.textures,
        registers,
        words: frame::words(),
        extras: contents.extras,
    }
}
