//! Compares two commands, except the bytes they fetch.

use a4emu_gpu::gpu::Chip;
use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::Value;
use similar::DiffOp;

use super::align::Pair;
use super::align::edits;
use super::registers::{self, PassRegisters, is_unused_input};
use super::side::{Command, Side};
use super::{Addresses, Found};
use crate::describe::{self, Constant, Number, ShaderStage};
use a4emu_gpu::fault::Trouble;
use a4emu_gpu::pass::Pass;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

/// One difference between two commands.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Difference {
    /// Name of what differs: a register's field, an instruction, a constant, a vertex, ..
    pub what: String,
    /// Value in the first capture.
    pub old: String,
    /// Value in the second capture.
    pub new: String,
}

impl Difference {
    /// A difference of `what`.
    pub fn new(what: impl Into<String>, old: impl Into<String>, new: impl Into<String>) -> Self {
        Self { what: what.into(), old: old.into(), new: new.into() }
    }
}

/// Contents whose hashes differ, but whose bytes are not compared yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Unread {
    /// The pair of commands that fetch them.
    pub pair: Pair,
    /// Index among the fetched ranges of each command.
    pub index: [usize; 2],
    /// Number of differences before it.
    pub at: usize,
    /// Whether earlier draws rendered the contents, so the capture does not hold them.
    pub is_rendered: bool,
}

/// Maximum number of differences.
const MAX_FOUND: usize = 1 << 17;

/// The comparison of two captures.
#[derive(Debug, Default)]
pub struct Comparison {
    /// The differences, in the order of the commands.
    pub found: Vec<Found>,
    /// The contents that have to be compared.
    pub unread: Vec<Unread>,
    /// Number of commands that both have.
    pub pairs: usize,
    /// Number of commands that were not compared, since there were too many differences.
    left_out: usize,
    /// Known differences by name. A difference is reported only where it begins.
    apart: BTreeMap<String, [String; 2]>,
    /// Known differences of registers, by offset.
    registers: BTreeMap<u32, [Option<u32>; 2]>,
    /// Registers that differ without effect so far.
    pending: BTreeSet<u32>,
}

/// The registers of one capture at the current place of the comparison.
struct Registers<'s> {
    side: &'s Side,
    next: usize,
    values: BTreeMap<u32, u32>,
}

impl<'s> Registers<'s> {
    fn of(side: &'s Side) -> Self {
        Self { side, next: 0, values: BTreeMap::new() }
    }

    /// Moves forward or back to `command`. Returns the registers that changed on the way.
    fn go_to(&mut self, command: usize) -> Vec<u32> {
        if command + 1 < self.next {
            (self.next, self.values) = (0, BTreeMap::new());
        }
        let mut changed = Vec::new();
        for command in &self.side.commands[self.next..=command] {
            changed.extend(command.registers.iter().map(|(offset, _)| *offset));
            self.values.extend(command.registers.iter().copied());
        }
        self.next = command + 1;
        changed
    }
}

impl Comparison {
    /// Compares the commands of all pairs.
    pub fn of(a: &Side, b: &Side, pairs: &[Pair], addresses: Addresses) -> Self {
        let mut comparison = Self::default();
        let table = Chip { id: a.chip }.generation().registers;
        let mut registers = [Registers::of(a), Registers::of(b)];
        for (number, pair) in pairs.iter().enumerate() {
            if comparison.found.len() + comparison.unread.len() >= MAX_FOUND {
                comparison.left_out = pairs.len() - number;
                break;
            }
            let alone = |command: &Command| title(&command.draw);
            match *pair {
                Pair::OnlyA(index) => {
                    comparison.note(*pair, Difference::new("draw", alone(&a.commands[index]), "none"));
                }
                Pair::OnlyB(index) => {
                    comparison.note(*pair, Difference::new("draw", "none", alone(&b.commands[index])));
                }
                Pair::Both(old, new) => {
                    comparison.pairs += 1;
                    let mut changed: BTreeSet<u32> = std::mem::take(&mut comparison.pending);
                    changed.extend(registers[0].go_to(old));
                    changed.extend(registers[1].go_to(new));
                    let (old, new) = (&a.commands[old], &b.commands[new]);
                    let cut = if a.passes == b.passes { cut(old, new) } else { PassRegisters::LeftOut };
                    let inputs = old.draw.vertex_inputs.len().max(new.draw.vertex_inputs.len());
                    let asked = calls(old, new, addresses);
                    asked.into_iter().for_each(|difference| comparison.note(*pair, difference));
                    let values = [&registers[0].values, &registers[1].values];
                    for offset in changed {
                        let values = values.map(|values| values.get(&offset).copied());
                        let found = match values[0] == values[1]
                            || is_unused_input(&table.name(offset).to_string(), inputs)
                        {
                            true => Vec::new(),
                            false => registers::differences(table, offset, values, addresses, cut),
                        };
                        comparison.register(*pair, offset, values, found);
                    }
                    let found = stages(old, new, addresses);
                    found.into_iter().for_each(|difference| comparison.note(*pair, difference));
                    comparison.contents(*pair, old, new);
                }
            }
        }
        comparison
    }

    /// Reports how much was left out.
    pub fn tell(&self, shared: &Shared) -> Status {
        match self.left_out {
            0 => Status::Fine,
            draws => {
                let what = "there are so many differences that the last";
                shared.say(Trouble::Cut(format!("{what} {draws} draws are not compared")))
            }
        }
    }

    /// Adds `difference`, unless it was added before and has not changed since.
    fn note(&mut self, pair: Pair, difference: Difference) {
        let values = [difference.old.clone(), difference.new.clone()];
        let is_draw = difference.what == "draw";
        if is_draw || self.apart.insert(difference.what.clone(), values.clone()) != Some(values) {
            self.found.push(Found { pair, difference });
        }
    }

    /// Adds the differences of a register, unless it held the same two values when last added.
    fn register(&mut self, pair: Pair, offset: u32, values: [Option<u32>; 2], found: Vec<Difference>) {
        if found.is_empty() && values[0] != values[1] {
            self.pending.insert(offset);
        } else if found.is_empty() {
            self.registers.remove(&offset);
        } else if self.registers.insert(offset, values) != Some(values) {
            self.found.extend(found.into_iter().map(|difference| Found { pair, difference }));
        }
    }

    /// Adds the fetched contents whose hashes differ.
    fn contents(&mut self, pair: Pair, a: &Command, b: &Command) {
        for (old, one) in a.fetched.iter().enumerate() {
            let Some(new) = b.fetched.iter().position(|other| other.read.what == one.read.what) else {
                continue;
            };
            let other = &b.fetched[new];
            let key = format!("contents of {}", one.read.what);
            if one.is_rendered || other.is_rendered || one.hash == other.hash {
                self.apart.remove(&key);
                continue;
            }
            let hashes = [one.hash, other.hash].map(|hash| format!("{hash:016x}"));
            if self.apart.insert(key, hashes.clone()) != Some(hashes) {
                let (index, at) = ([old, new], self.found.len());
                self.unread.push(Unread { pair, index, at, is_rendered: false });
            }
        }
    }
}

/// A short description of a command.
pub fn title(draw: &describe::Draw) -> String {
    let pass = draw.pass.map_or("", Pass::name);
    match &draw.command {
        describe::Command::Draw { primitive, count, instances } => {
            let primitive = serde_json::to_value(primitive).unwrap_or_default();
            let primitive = primitive.as_str().map_or_else(|| primitive.to_string(), str::to_owned);
            let instances = if *instances == 1 { String::new() } else { format!(" x {instances}") };
            format!("{pass} {primitive} {count}{instances}")
        }
        describe::Command::Dispatch { groups: [x, y, z], .. } => format!("dispatch {x}x{y}x{z}"),
        describe::Command::Uncounted { name } => format!("{pass} {name}"),
        describe::Command::Blit { name, does } => format!("{name} {does}"),
    }
}

/// Keys of the model that are not compared.
fn skipped(addresses: Addresses) -> &'static [&'static str] {
    match addresses {
        Addresses::Renamed => &["address", "bytes", "base_vertex", "first_instance", "restart"],
        Addresses::Compared => &["bytes", "base_vertex", "first_instance", "restart"],
    }
}

/// Whether the registers for tiles are compared: only if both commands have the same pass and tile.
fn cut(a: &Command, b: &Command) -> PassRegisters {
    match (a.draw.pass, a.draw.tile) == (b.draw.pass, b.draw.tile) {
        true => PassRegisters::Compared,
        false => PassRegisters::LeftOut,
    }
}

/// Differences of the packets.
fn calls(a: &Command, b: &Command, addresses: Addresses) -> Vec<Difference> {
    let mut found = Vec::new();
    if (&a.draw.command, &a.draw.indices) == (&b.draw.command, &b.draw.indices) {
        return found;
    }
    let [old, new] = [a, b].map(|it| serde_json::to_value(&it.draw.command).unwrap_or_default());
    values("", &old, &new, &[], &mut found);
    if let (Some(old), Some(new)) = (&a.draw.indices, &b.draw.indices) {
        let [old, new] = [old, new].map(|it| serde_json::to_value(it).unwrap_or_default());
        values("indices", &old, &new, skipped(addresses), &mut found);
    }
    found
}

/// Differences of the stages: programs, constants, textures, samplers, buffers.
fn stages(a: &Command, b: &Command, addresses: Addresses) -> Vec<Difference> {
    let mut found = Vec::new();
    if a.draw.shaders == b.draw.shaders {
        return found;
    }
    let is_pointer = |constant: &str| {
        let what = format!("memory at {constant}");
        let points = |command: &Command| command.fetched.iter().any(|fetched| fetched.read.what == what);
        addresses == Addresses::Renamed && points(a) && points(b)
    };
    let find = |command: &Command, name: &str| command.draw.shaders.iter().position(|it| it.name() == name);
    let names: BTreeSet<&str> = a.draw.shaders.iter().chain(&b.draw.shaders).map(ShaderStage::name).collect();
    for name in names {
        match (find(a, name), find(b, name)) {
            (Some(old), Some(new)) => {
                let pair = [&a.draw.shaders[old], &b.draw.shaders[new]];
                stage(pair, &is_pointer, addresses, &mut found);
            }
            (Some(_), None) => found.push(Difference::new(name, "there", "none")),
            (None, Some(_)) => found.push(Difference::new(name, "none", "there")),
            (None, None) => {}
        }
    }
    found
}

fn stage(
    [a, b]: [&ShaderStage; 2],
    is_pointer: &dyn Fn(&str) -> bool,
    addresses: Addresses,
    found: &mut Vec<Difference>,
) {
    let name = a.name();
    instructions(name, a, b, found);
    for (old, new) in paired(&a.constants, &b.constants, |it| it.index) {
        if let (Some(old), Some(new)) = (old, new) {
            constants(name, old, new, is_pointer, found);
        }
    }
    let skipped = skipped(addresses);
    let mut slots = |kind: &str, slot: Option<String>, old: Option<Value>, new: Option<Value>| {
        let what = format!("{name} {kind} {}", slot.unwrap_or_default());
        match (old, new) {
            (Some(old), Some(new)) => values(&what, &old, &new, skipped, found),
            (Some(_), None) => found.push(Difference::new(what, "there", "none")),
            (None, _) => found.push(Difference::new(what, "none", "there")),
        }
    };
    let value = |it: Option<&describe::Texture>| it.and_then(|it| serde_json::to_value(it).ok());
    for (old, new) in paired(&a.textures, &b.textures, |it| (it.base, it.slot)) {
        slots("texture", old.or(new).map(|it| it.slot_name()), value(old), value(new));
    }
    let value = |it: Option<&describe::Sampler>| it.and_then(|it| serde_json::to_value(it).ok());
    for (old, new) in paired(&a.samplers, &b.samplers, |it| (it.base, it.slot)) {
        slots("sampler", old.or(new).map(|it| it.slot_name()), value(old), value(new));
    }
    let value = |it: Option<&describe::Buffer>| it.and_then(|it| serde_json::to_value(it).ok());
    for (old, new) in paired(&a.buffers, &b.buffers, |it| (it.kind(), it.base, it.slot)) {
        slots(
            old.or(new).map_or("", |it| it.kind()),
            old.or(new).map(|it| it.slot_name()),
            value(old),
            value(new),
        );
    }
}

/// Pairs the items of two lists that have the same number.
fn paired<'t, T, N: Ord>(
    a: &'t [T],
    b: &'t [T],
    number: impl Fn(&T) -> N,
) -> Vec<(Option<&'t T>, Option<&'t T>)> {
    let numbers: BTreeSet<N> = a.iter().chain(b).map(&number).collect();
    let find = |list: &'t [T], wanted: &N| list.iter().find(|it| number(it) == *wanted);
    numbers.iter().map(|wanted| (find(a, wanted), find(b, wanted))).collect()
}

/// Instructions that only one program has. Replaced instructions are shown side by side.
fn instructions(stage: &str, a: &ShaderStage, b: &ShaderStage, found: &mut Vec<Difference>) {
    let (Some(old), Some(new)) = (&a.shader, &b.shader) else {
        if a.shader.is_some() != b.shader.is_some() {
            let [old, new] = [a, b].map(|it| if it.shader.is_some() { "there" } else { "missing" });
            found.push(Difference::new(format!("{stage} program"), old, new));
        }
        return;
    };
    if old.words == new.words {
        return;
    }
    let [old, new] = [old, new].map(|shader| shader.lines().collect::<Vec<String>>());
    for op in edits(&old, &new) {
        if matches!(op, DiffOp::Equal { .. }) {
            continue;
        }
        let (old_range, new_range) = (op.old_range(), op.new_range());
        for offset in 0..old_range.len().max(new_range.len()) {
            let at = |range: &std::ops::Range<usize>, lines: &[String]| {
                let index = range.start + offset;
                if range.contains(&index) { lines[index].clone() } else { "none".into() }
            };
            let number = if offset < old_range.len() { old_range.start } else { new_range.start } + offset;
            let what = format!("{stage} instruction {number}");
            found.push(Difference::new(what, at(&old_range, &old), at(&new_range, &new)));
        }
    }
}

/// Compares components that both programs name. A pointer is compared by the memory at it.
fn constants(
    stage: &str,
    a: &Constant,
    b: &Constant,
    is_pointer: &dyn Fn(&str) -> bool,
    found: &mut Vec<Difference>,
) {
    for (at, component) in "xyzw".chars().enumerate() {
        let is_named = a.components.contains(component) && b.components.contains(component);
        let (old, new) = (a.bits[at], b.bits[at]);
        let name = format!("{stage} c{}.{component}", a.index);
        if is_named && old != new && !is_pointer(&name) {
            // Without instructions that say so, both are taken for the same.
            let taken = a.numbers[at].or(b.numbers[at]).unwrap_or_else(|| Number::guess([old, new]));
            found.push(Difference::new(name, taken.text_with_bits(old), taken.text_with_bits(new)));
        }
    }
}

/// Compares values of the model at equal keys, except those in `skipped`.
fn values(what: &str, a: &Value, b: &Value, skipped: &[&str], found: &mut Vec<Difference>) {
    match (a, b) {
        (Value::Object(old), Value::Object(new)) => {
            let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
            for key in keys.into_iter().filter(|key| !skipped.contains(&key.as_str())) {
                let null = Value::Null;
                let [old, new] = [old, new].map(|map| map.get(key).unwrap_or(&null));
                let what = if what.is_empty() { key.clone() } else { format!("{what} {key}") };
                values(&what, old, new, skipped, found);
            }
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            let pairs = old.iter().zip(new).enumerate();
            pairs.for_each(|(at, (old, new))| values(&format!("{what} {at}"), old, new, skipped, found));
        }
        _ if a == b => {}
        (Value::Null, Value::Object(_)) => found.push(Difference::new(what, "none", "there")),
        (Value::Object(_), Value::Null) => found.push(Difference::new(what, "there", "none")),
        _ => {
            let text = |value: &Value| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            found.push(Difference::new(what, text(a), text(b)));
        }
    }
}
