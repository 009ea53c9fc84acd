//! Compares what selected draws of both captures store to memory, apart from their targets.

use std::collections::{BTreeMap, BTreeSet};

use super::align::Pair;
use super::compare::{Comparison, Difference};
use super::player::Player;
use super::side::{Side, Tiles};
use super::{Addresses, Found};
use crate::describe::{Number, PacketStores, Storing, Word, Written, WrittenBy};
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

/// Renders both captures, and adds to `comparison` what both commands of a pair stored differently.
///
/// # Errors
/// The call fails if a capture can no longer be opened.
pub fn compare(
    comparison: &mut Comparison,
    pairs: &[Pair],
    players: &mut [Player; 2],
    sides: [&Side; 2],
    (tiles, addresses): (Tiles, Addresses),
    shared: &Shared,
) -> anyhow::Result<Status> {
    // Runs for several tiles store as one command.
    if tiles == Tiles::Apart && pairs.len() != 1 {
        return Ok(Status::Fine);
    }
    let mut status = Status::Fine;
    let mut stored = Vec::new();
    for (at, (player, side)) in players.iter_mut().zip(sides).enumerate() {
        let places = pairs.iter().filter_map(|pair| if at == 0 { pair.a() } else { pair.b() });
        let runs: BTreeSet<u32> =
            places.flat_map(|place| side.commands[place].runs.iter().map(|(run, _)| *run)).collect();
        if runs.is_empty() {
            return Ok(Status::Fine);
        }
        let (mut engine, mut packets) = (Storing::new(Some(runs)), PacketStores::new(None));
        let mut gpu = player.run(&mut engine, &mut packets, shared)?;
        let all: Vec<WrittenBy> = pairs
            .iter()
            .map(|pair| {
                let place = if at == 0 { pair.a() } else { pair.b() };
                let runs = place.map_or(&[][..], |place| &side.commands[place].runs);
                engine.take(runs.iter().map(|(_, frame)| *frame), &mut packets)
            })
            .collect();
        let left_out: u64 = all.iter().map(|written| written.left_out).sum();
        if left_out > 0 {
            gpu.cut(format!("there is no room for {left_out} more ranges that were stored"));
        }
        if gpu.report.troubles.first_cut().is_some() {
            status = status.worse(shared.tell(&player.capture().name().display().to_string(), &gpu.report));
        }
        stored.push(all);
    }
    for (pair, (old, new)) in pairs.iter().zip(stored[0].iter().zip(&stored[1])) {
        if let Pair::Both(..) = pair {
            let found = differences(&old.all, &new.all, addresses);
            comparison.found.extend(found.into_iter().map(|difference| Found { pair: *pair, difference }));
        }
    }
    let order: BTreeMap<_, usize> = pairs.iter().map(|pair| (pair.a(), pair.b())).zip(0..).collect();
    comparison.found.sort_by_key(|found| order.get(&(found.pair.a(), found.pair.b())).copied());
    Ok(status)
}

/// The differences of ranges with equal names. Of several with one name, the first belong together, and so on.
fn differences(old: &[Written], new: &[Written], addresses: Addresses) -> Vec<Difference> {
    let mut found = Vec::new();
    let (old, new) = (numbered(old), numbered(new));
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        match (old.get(name), new.get(name)) {
            (Some(old), Some(new)) => range(name, [old, new], addresses, &mut found),
            (old, new) => {
                let text = |it: Option<&&Written>| it.map_or("none".to_owned(), |it| size(it));
                found.push(Difference::new(name, text(old), text(new)));
            }
        }
    }
    found
}

/// The ranges by name, with a number behind all but the first of one name.
fn numbered(all: &[Written]) -> BTreeMap<String, &Written> {
    let mut counts: BTreeMap<String, u32> = BTreeMap::new();
    let name = |written: &Written| {
        let by = written.by.as_ref().map_or(String::new(), |by| format!(" by {by}"));
        format!("stored to {}{by}", written.what)
    };
    let numbered = all.iter().map(|written| {
        let name = name(written);
        let count = counts.entry(name.clone()).or_default();
        *count += 1;
        (if *count == 1 { name } else { format!("{name} ({count})") }, written)
    });
    numbered.collect()
}

fn size(written: &Written) -> String {
    format!("{} bytes", written.bytes)
}

/// The differences of two ranges: place, size, and values. A dword is named by its offset in bytes.
fn range(name: &str, [old, new]: [&Written; 2], addresses: Addresses, found: &mut Vec<Difference>) {
    if addresses == Addresses::Compared && old.address != new.address {
        found.push(Difference::new(
            format!("{name} address"),
            old.address.to_string(),
            new.address.to_string(),
        ));
    }
    if old.bytes != new.bytes {
        found.push(Difference::new(name, size(old), size(new)));
    }
    let before = found.len();
    let offset = |word: &Word, of: &Written| word.address.0.wrapping_sub(of.address.0 & !3);
    let later: BTreeMap<u64, &Word> = new.words.iter().map(|word| (offset(word, new), word)).collect();
    for word in &old.words {
        let at = offset(word, old);
        let Some(other) = later.get(&at).filter(|other| other.after != word.after) else { continue };
        let number = Number::guess([word.after, other.after].into_iter().flatten().collect::<Vec<u32>>());
        let text = |bits: Option<u32>| bits.map_or("unknown".to_owned(), |bits| number.text_with_bits(bits));
        found.push(Difference::new(format!("{name} +{at:#x}"), text(word.after), text(other.after)));
    }
    if found.len() == before && old.hash != new.hash {
        let text = |it: &Written| format!("{:016x}", it.hash);
        found.push(Difference::new(format!("{name} hash"), text(old), text(new)));
    }
    if old.changed != new.changed {
        let text = |it: &Written| format!("{} bytes", it.changed);
        found.push(Difference::new(format!("{name} changed"), text(old), text(new)));
    }
}
