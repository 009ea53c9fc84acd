//! Compares two states draw by draw.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use a4emu_decoder::adreno::registers::RegisterTable;
use a4emu_decoder::bits::value::{FieldValue, fields, unnamed_bits};

use serde::Serialize;

use super::{LoadRecord, Record, State};

/// One difference at one draw.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Difference {
    /// Number of the draw or dispatch.
    pub draw: u32,
    /// Number of the frame draw, which its runs for all tiles share.
    pub frame_draw: u32,
    /// Submit that holds the draw (in the first state, if it has the draw).
    pub submit: u32,
    /// Name of what differs: a register with its field, shader state, the call.
    pub what: String,
    /// Value in the first state.
    pub old: String,
    /// Value in the second state.
    pub new: String,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { draw, frame_draw, submit, what, old, new } = self;
        write!(f, "draw {draw} f{frame_draw} submit {submit}: {what}: {old} -> {new}")
    }
}

/// The accumulated state after the records so far.
#[derive(Default)]
struct Side {
    registers: BTreeMap<u32, u32>,
    loads: BTreeMap<(String, u32), LoadRecord>,
}

impl Side {
    fn apply(&mut self, record: &Record) {
        self.registers.extend(record.registers.iter().copied());
        let loads = record.loads.iter().map(|load| ((load.kind.clone(), load.first), load.clone()));
        self.loads.extend(loads);
    }
}

/// The differences of `a` and `b`, in order of draws. Each is reported at the draw where it begins, and
/// again only if it changes.
pub fn compare(a: &State, b: &State) -> Vec<Difference> {
    let registers = a.chip.generation().registers;
    let mut pair = Pair {
        registers,
        a: Side::default(),
        b: Side::default(),
        apart: BTreeMap::new(),
        loads_apart: BTreeSet::new(),
        found: Vec::new(),
    };
    if a.chip != b.chip {
        pair.found.push(difference(&Record::default(), "gpu", a.chip.id, b.chip.id));
    }
    let mut others = b.records.iter().peekable();
    for record in &a.records {
        while let Some(extra) = others.next_if(|other| other.number < record.number) {
            pair.found.push(difference(extra, "draw", "none", &extra.call));
        }
        match others.next_if(|other| other.number == record.number) {
            Some(other) => pair.step(record, other),
            None => pair.found.push(difference(record, "draw", &record.call, "none")),
        }
    }
    pair.found.extend(others.map(|extra| difference(extra, "draw", "none", &extra.call)));
    pair.found
}

fn difference(record: &Record, what: &str, old: impl fmt::Display, new: impl fmt::Display) -> Difference {
    Difference {
        draw: record.number,
        frame_draw: record.frame_draw,
        submit: record.submit,
        what: what.to_owned(),
        old: old.to_string(),
        new: new.to_string(),
    }
}

/// A running comparison.
struct Pair {
    registers: &'static RegisterTable,
    a: Side,
    b: Side,
    /// Registers that differ so far, with both values.
    apart: BTreeMap<u32, [Option<u32>; 2]>,
    /// Loads that differ so far.
    loads_apart: BTreeSet<(String, u32)>,
    found: Vec<Difference>,
}

impl Pair {
    fn step(&mut self, a: &Record, b: &Record) {
        let before = self.found.len();
        if a.call != b.call {
            self.found.push(difference(a, "call", &a.call, &b.call));
        }
        self.a.apply(a);
        self.b.apply(b);
        let offsets = a.registers.iter().chain(&b.registers).map(|(offset, _)| *offset);
        for offset in offsets.collect::<BTreeSet<u32>>() {
            self.register(a, offset);
        }
        let keys = a.loads.iter().chain(&b.loads).map(|load| (load.kind.clone(), load.first));
        for key in keys.collect::<BTreeSet<_>>() {
            self.load(a, key);
        }
        let explained = self.found.len() > before || !self.apart.is_empty() || !self.loads_apart.is_empty();
        if a.written != b.written && !explained {
            self.found.push(difference(a, "registers written", a.written, b.written));
        } else if a.hash != b.hash && !explained {
            let [old, new] = [a.hash, b.hash].map(|hash| format!("{hash:016x}"));
            let what = "hash of all state, of which no line says what differs";
            self.found.push(difference(a, what, old, new));
        }
    }

    fn register(&mut self, at: &Record, offset: u32) {
        let values = [&self.a, &self.b].map(|side| side.registers.get(&offset).copied());
        if values[0] == values[1] {
            self.apart.remove(&offset);
        } else if self.apart.insert(offset, values) != Some(values) {
            self.found.extend(register_differences(self.registers, at, offset, values));
        }
    }

    fn load(&mut self, at: &Record, key: (String, u32)) {
        let [old, new] = [&self.a, &self.b].map(|side| side.loads.get(&key));
        if old == new {
            self.loads_apart.remove(&key);
            return;
        }
        let text = |load: Option<&LoadRecord>| {
            load.map_or_else(
                || "none".to_owned(),
                |load| format!("{} dwords {:016x}", load.dwords, load.hash),
            )
        };
        let what = format!("{} {}", key.0, key.1);
        self.found.push(difference(at, &what, text(old), text(new)));
        self.loads_apart.insert(key);
    }
}

/// One difference per differing field, or one for the register if it has no fields.
fn register_differences(
    registers: &'static RegisterTable,
    at: &Record,
    offset: u32,
    values: [Option<u32>; 2],
) -> Vec<Difference> {
    let name = registers.name(offset);
    let [Some(old), Some(new)] = values else {
        let [old, new] =
            values.map(|value| value.map_or_else(|| "not written".to_owned(), |value| format!("{value:#x}")));
        return vec![difference(at, &name.to_string(), old, new)];
    };
    let rows = registers.fields(offset);
    let pairs = fields(rows, old).zip(fields(rows, new));
    let differs = |(old, new): &(FieldValue, FieldValue)| old.raw != new.raw;
    let mut found: Vec<Difference> = pairs
        .filter(differs)
        .map(|(old, new)| difference(at, &format!("{name}.{}", old.row.name), old, new))
        .collect();
    let [old, new] = [old, new].map(|word| unnamed_bits(rows, word));
    if old != new {
        found.push(difference(at, &name.to_string(), format_args!("{old:#x}"), format_args!("{new:#x}")));
    }
    found
}
