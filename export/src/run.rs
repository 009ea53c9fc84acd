//! The command: exports captures, a few in parallel, each to its partition.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use a4emu::corpus::{Entry, HASHED, captures, content};
use a4emu::export::Args;
use a4emu_gpu::budget::{BASE, Budget, Work};
use a4emu_gpu::cp::{Engine, Skip, Tee};
use a4emu_gpu::fault::Report;
use a4emu_inspect::decode;
use a4emu_inspect::describe::{PacketStores, Storing};
use a4emu_support::options::{Shared, open_capture};
use a4emu_support::out_file::{Inputs, make_folder};
use a4emu_support::progress::rated;
use a4emu_support::status::{Failure, Status, WithErrors};
use a4emu_support::terminal;
use anyhow::{Context, ensure};
use rayon::prelude::*;

use crate::database;
use crate::partition::Partition;
use crate::rows::{Capture, OF_A_CAPTURE, OF_RENDERED};
use crate::table::Tables;
use crate::watch::{Watch, put_finding, put_stored};

/// Writes the tables of all captures that have no partition in the folder.
///
/// # Errors
/// Wrong use, or I/O.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let tables = &args.parquet;
    let mut entries = entries(&args.captures, &shared.inputs)?;
    entries = args.sharding.shard(shared)?.of(entries, |entry| &entry.name, |entry| entry.bytes as f64);
    make_folder(tables)?;
    database::write(tables, &shared.inputs)?;
    args.threads.run(|| all(&entries, args, shared))
}

fn all(entries: &[Entry], args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let known = |entry: &Entry| {
        let budget = args.limits.work.budget(BASE);
        known(entry, budget, &shared.inputs).with_context(|| entry.name.clone())
    };
    let known = entries.par_iter().map(known);
    let mut status = Status::Fine;
    let mut partitions = BTreeMap::new();
    for (entry, content) in entries.iter().zip(known.collect::<Vec<_>>()) {
        match content {
            // If several captures have equal bytes, the first one's name is used.
            Ok(content) => drop(partitions.entry(content).or_insert(entry)),
            Err(error) => status = status.and(Err(error)),
        }
    }
    let all = partitions.len();
    let partition =
        |(content, entry): (String, _)| (Partition::new(&args.parquet, &content, &shared.inputs), entry);
    let mut partitions: Vec<(Partition, &Entry)> = partitions.into_iter().map(partition).collect();
    let lacks = |partition: &Partition| args.written && !partition.has(OF_RENDERED);
    partitions.retain(|(partition, _)| args.replace || !partition.is_there() || lacks(partition));
    let bar = rated(partitions.len() as u64, shared);
    let one = |(partition, entry): &(Partition, &Entry)| {
        let report = partition.make(|folder| play(entry, args, shared, folder));
        bar.inc(1);
        match report {
            Ok(report) => shared.tell(&entry.name, &report),
            Err(error) => Status::Fine.and(Err(error.context(entry.name.clone()))),
        }
    };
    let status = status.worse(partitions.par_iter().map(one).reduce(Status::default, Status::worse));
    bar.finish_and_clear();
    if !shared.quiet {
        let (taken, there) = (partitions.len(), all - partitions.len());
        terminal::say(format_args!("{taken} captures taken, {there} already there"));
    }
    Ok(status)
}

fn entries(paths: &[PathBuf], inputs: &Inputs) -> anyhow::Result<Vec<Entry>> {
    let mut entries = Vec::new();
    for path in paths {
        match path.is_dir() {
            true => entries.extend(captures(path, None, inputs)?),
            false => entries.push(Entry::at(path)),
        }
    }
    Ok(entries)
}

/// The hash of the capture's bytes, which identifies it, if `budget` allows to read them.
fn known(entry: &Entry, mut budget: Budget, inputs: &Inputs) -> anyhow::Result<String> {
    ensure!(entry.path != Path::new("-"), "a capture is known by the bytes of its file, and stdin is none");
    let content = content(&entry.path, inputs, &mut || !budget.take(Work::Copy16, HASHED as u64 / 16))?;
    let message = budget.refusal().unwrap_or_default();
    Ok(content.ok_or(Failure { status: Status::Unsupported, message })?)
}

/// Plays the capture, with its draws only if what they store is asked for, and writes the tables to `folder`.
fn play(entry: &Entry, args: &Args, shared: &Shared, folder: &Path) -> anyhow::Result<Report> {
    let mut playback = args.limits.playback_of(&entry.path, decode::BASE);
    let mut all = OF_A_CAPTURE.to_vec();
    all.extend_from_slice(if args.written { OF_RENDERED } else { &[] });
    let mut watch = Watch::new(Tables::create(folder, &all, &shared.inputs)?);
    let mut rules = a4emu_rules::Watch::default();
    let sections = open_capture(&entry.path, &playback.gpu.budget, shared)?;
    let (mut storing, mut packets) = (Storing::default(), PacketStores::new(None));
    let (mut skip, mut observers) = (Skip::default(), Tee(vec![&mut rules, &mut watch]));
    let engine: &mut dyn Engine = match args.written {
        true => {
            observers.0.push(&mut packets);
            &mut storing
        }
        false => &mut skip,
    };
    playback.run(sections, engine, &mut observers);
    let gpu = &mut playback.gpu;
    rules.finish(gpu);
    let (stored, left_out) = storing.finish(packets);
    if left_out > 0 {
        gpu.cut(format!("there is no room for {left_out} more ranges that were stored"));
    }
    let (packets, writes) = (watch.packets, watch.writes());
    let mut tables = watch.finish()?;
    for (frame_draw, all) in &stored {
        all.iter().try_for_each(|written| put_stored(&mut tables, *frame_draw, written))?;
    }
    let mut findings = 0;
    for finding in rules.findings() {
        put_finding(&mut tables, finding)?;
        findings += 1;
    }
    tables.put(Capture {
        name: &entry.name,
        bytes: entry.bytes,
        gpu: gpu.chip.id,
        submits: gpu.at.submit,
        draws: gpu.at.draws,
        frame_draws: gpu.cp.frame_draws.count(),
        packets,
        writes,
        findings,
        status: shared.status_of(&gpu.report) as u32,
        version: env!("CARGO_PKG_VERSION"),
        generation: gpu.chip.generation().number,
    })?;
    tables.finish()?;
    Ok(playback.gpu.machine.report)
}
