//! Finds which bytes are commands and which are shaders, and names them.

use std::collections::{BTreeMap, BTreeSet};

use super::items::{Dump, Item};
use crate::a4xx::pm4::Pm4;
use crate::a6xx;
use crate::adreno::capture::{Foreign, NamedChip, Section, SectionId};
use crate::adreno::load_state::{StateKind, StateSource};
use crate::adreno::packet::{Packet, Packets};
use crate::generation::{DEFAULT, Framing, Generation};

/// The contents of a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Kind {
    Commands,
    Shader,
}

/// A range of a buffer that holds commands or a shader.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Region {
    /// Offset in the buffer.
    pub(super) start: usize,
    pub(super) bytes: usize,
    pub(super) kind: Kind,
    /// Whether the label of this address and size is defined here.
    pub(super) defines: bool,
}

impl Region {
    pub(super) fn end(&self) -> usize {
        self.start + self.bytes
    }
}

/// Regions of each item, and labels by address and size.
#[derive(Debug)]
pub(super) struct Plan {
    /// The generation as which streams are read. Statements name its registers and packets.
    pub(super) generation: &'static Generation,
    regions: BTreeMap<usize, Vec<Region>>,
    labels: BTreeMap<(u64, u64), String>,
}

impl Default for Plan {
    fn default() -> Self {
        Self { generation: DEFAULT, regions: BTreeMap::new(), labels: BTreeMap::new() }
    }
}

impl Plan {
    /// The regions of item `index`, in order, apart from each other.
    pub(super) fn regions(&self, index: usize) -> &[Region] {
        self.regions.get(&index).map_or(&[], Vec::as_slice)
    }

    /// The label of the region at `address` with so many bytes.
    pub(super) fn label(&self, address: u64, bytes: u64) -> Option<&str> {
        self.labels.get(&(address, bytes)).map(String::as_str)
    }

    /// A label at `address`, and its size in bytes.
    pub(super) fn label_at(&self, address: u64) -> Option<(&str, u64)> {
        let (key, label) = self.labels.range((address, 0)..=(address, u64::MAX)).next()?;
        Some((label, key.1))
    }

    fn add(&mut self, index: usize, dump: &Dump<'_>, found: &BTreeSet<Found>) {
        let mut regions: Vec<Region> = Vec::new();
        let first = Found { item: index, start: 0, bytes: usize::MAX, kind: Kind::Commands };
        for found in found.range(first..).take_while(|found| found.item == index) {
            let behind = regions.last().is_none_or(|last| last.end() <= found.start);
            if !behind {
                continue;
            }
            let key = (dump.address + found.start as u64, found.bytes as u64);
            let defines = !self.labels.contains_key(&key);
            if defines {
                let name = self.name(key, found.kind);
                self.labels.insert(key, name);
            }
            regions.push(Region { start: found.start, bytes: found.bytes, kind: found.kind, defines });
        }
        if !regions.is_empty() {
            self.regions.insert(index, regions);
        }
    }

    fn name(&self, (address, bytes): (u64, u64), kind: Kind) -> String {
        let what = match kind {
            Kind::Commands => "ib",
            Kind::Shader => "shader",
        };
        match self.label_at(address) {
            None => format!("{what}_{address:x}"),
            Some(_) => format!("{what}_{address:x}_{bytes:x}"),
        }
    }
}

/// A region that is not yet placed. The order is by item and offset, with longer regions first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Found {
    item: usize,
    start: usize,
    bytes: usize,
    kind: Kind,
}

impl Ord for Found {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |found: &Self| (found.item, found.start, std::cmp::Reverse(found.bytes), found.kind);
        key(self).cmp(&key(other))
    }
}

impl PartialOrd for Found {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// The buffers of one group of submits.
struct Group<'a> {
    generation: &'static Generation,
    /// Item number and dump, by address.
    buffers: BTreeMap<u64, (usize, Dump<'a>)>,
    found: BTreeSet<Found>,
    /// Number of dwords that may still be examined. It limits the work for calls that overlap.
    fuel: usize,
}

/// Plans the whole file. A capture of a generation that cannot be read has only data, unless `foreign` is
/// [`Foreign::Interpret`].
pub(super) fn plan<'a>(items: impl Iterator<Item = Item<'a>>, foreign: Foreign) -> Plan {
    let mut chip: Option<NamedChip> = None;
    let mut plan = Plan::default();
    let mut group = Group::new(DEFAULT);
    let mut executed = false;
    for (index, item) in items.enumerate() {
        match item {
            Item::Dump(dump) => {
                if std::mem::take(&mut executed) {
                    group.finish(&mut plan);
                    group = Group::new(plan.generation);
                }
                group.fuel += dump.contents.map_or(0, <[u8]>::len);
                // If an address is announced twice, the dump with contents is kept.
                if dump.contents.is_some() || !group.buffers.contains_key(&dump.address) {
                    group.buffers.insert(dump.address, (index, dump));
                }
            }
            Item::Section(id, payload) if chip.is_none() => {
                chip = named_chip(id, payload);
                if let Some(generation) = chip.and_then(Generation::of) {
                    (plan.generation, group.generation) = (generation, generation);
                }
            }
            Item::Submit { address, dwords, .. } => {
                executed = true;
                if foreign == Foreign::PassOver && chip.is_some_and(|chip| Generation::of(chip).is_none()) {
                    continue;
                }
                group.follow(address, u64::from(dwords));
            }
            _ => {}
        }
    }
    group.finish(&mut plan);
    plan
}

/// The chip that a section names; `None` if it names none.
fn named_chip(id: u32, payload: &[u8]) -> Option<NamedChip> {
    let id = SectionId::from_bits(id);
    if !matches!(id, SectionId::GPU_ID | SectionId::CHIP_ID) {
        return None;
    }
    let section = Section { offset: 0, id, payload: payload.to_vec() };
    section.body().ok().and_then(|body| NamedChip::of(&body))
}

impl<'a> Group<'a> {
    fn new(generation: &'static Generation) -> Self {
        Self { generation, buffers: BTreeMap::new(), found: BTreeSet::new(), fuel: 0 }
    }

    fn finish(&self, plan: &mut Plan) {
        for (index, dump) in self.buffers.values() {
            plan.add(*index, dump, &self.found);
        }
    }

    /// The captured bytes at `address`, and the region they would form.
    fn find(&self, address: u64, bytes: u64, kind: Kind) -> Option<(Found, &'a [u8])> {
        let (_, (item, dump)) = self.buffers.range(..=address).next_back()?;
        let start = usize::try_from(address - dump.address).ok()?;
        let bytes = usize::try_from(bytes).ok().filter(|&bytes| bytes > 0)?;
        let contents = dump.contents?.get(start..start.checked_add(bytes)?)?;
        Some((Found { item: *item, start, bytes, kind }, contents))
    }

    /// Adds a command buffer and all that it reaches.
    fn follow(&mut self, address: u64, dwords: u64) {
        let mut calls = vec![(address, dwords)];
        while let Some((address, dwords)) = calls.pop() {
            let Some((found, bytes)) = self.find(address, dwords * 4, Kind::Commands) else { continue };
            if self.fuel < bytes.len() || !self.found.insert(found) {
                continue;
            }
            self.fuel -= bytes.len();
            let words: Vec<u32> = bytes.as_chunks().0.iter().map(|&word| u32::from_le_bytes(word)).collect();
            for packet in Packets::new(self.generation.framing, &words).map_while(Result::ok) {
                let Packet::Command { opcode, payload, .. } = packet else { continue };
                match self.generation.framing {
                    Framing::Types0To3 => self.reach(Pm4::parse(opcode, payload), &mut calls),
                    Framing::Types4And7 => {
                        self.reach_a6xx(a6xx::pm4::Pm4::parse(opcode, payload), &mut calls)
                    }
                }
            }
        }
    }

    /// Adds the regions that one packet points to.
    fn reach(&mut self, packet: Pm4<'_>, calls: &mut Vec<(u64, u64)>) {
        if let Some(call) = packet.call() {
            calls.push((call.address.get(), call.dwords.into()));
        }
        match packet {
            Pm4::SetDrawState(groups) => {
                calls.extend(groups.groups().map(|group| (group.address.get(), group.control.COUNT().into())))
            }
            Pm4::LoadState4(load) => {
                if let (StateKind::Instructions(_), StateSource::Memory { address }) =
                    (load.kind(), load.source())
                {
                    self.add_shader(address.get(), load.dwords());
                }
            }
            _ => {}
        }
    }

    /// As [`Self::reach`], of a packet of an A6xx.
    fn reach_a6xx(&mut self, packet: a6xx::pm4::Pm4<'_>, calls: &mut Vec<(u64, u64)>) {
        use a6xx::load_state::Source;
        if let Some(call) = packet.call() {
            calls.push((call.address.get(), call.dwords.into()));
        }
        if let a6xx::pm4::Pm4::SetDrawState(groups) = packet {
            calls.extend(groups.groups().map(|group| (group.address.get(), group.control.COUNT().into())));
        }
        let Some(load) = packet.load() else { return };
        if let (StateKind::Instructions(_), Source::Memory { address }) = (load.kind(), load.source()) {
            self.add_shader(address.get(), load.dwords());
        }
    }

    fn add_shader(&mut self, address: u64, dwords: u32) {
        let shader = self.find(address, u64::from(dwords) * 4, Kind::Shader);
        self.found.extend(shader.map(|(found, _)| found));
    }
}
