//! Compares every register write of the reference captures with the output of Mesa's decoder.
//!
//! `captures/facts/registers.tsv` holds offset, value, name and fields as text. Differences of spelling are
//! normalised: array indices (hexadecimal there, decimal here), numbers (`0x40` and `64`, `1.000000` and
//! `1.0`), the order of fields, and a rest or value of zero. Intended differences are in [`DEVIATIONS`]. (The
//! facts have no VPC_VARYING_* writes: Mesa does not split those words into components.)
use std::collections::BTreeMap;
use std::path::PathBuf;

use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::bits::value::{Show, WordText};
use a4emu_decoder::bits::{FieldRow, Kind};
use pretty_assertions::assert_eq;

/// Registers (up to an array index) whose fields differ on purpose: the fields that Mesa does not have, and
/// the reason for them.
const DEVIATIONS: &[(&str, &[&str], &str)] = &[
    (
        "RB_MODE_CONTROL",
        &["BYPASS"],
        "bits 22 and 23 tell memory from tile targets and must have a name to be read by",
    ),
    (
        "GRAS_CL_CLIP_CNTL",
        &["VP_CLIP_CODE_IGNORE", "VP_XFORM_DISABLE", "PERSP_DIVISION_DISABLE"],
        "bits 19 to 21 carry the A3xx database's names, where drivers use them alike",
    ),
];

/// Registers without a name in Mesa: offset, name here, and source.
const NAMED: &[(u32, &str, &str)] = &[
    (0x2155, "VPC_SO_BUF_CNTL", "six before VPC_SO, as on A5xx; our stream-out reads it"),
    (0x2156, "VPC_SO_OVERRIDE", "behind VPC_SO_BUF_CNTL, as on A5xx; our stream-out reads it"),
    (0x2157, "VPC_SO_CNTL", "before VPC_SO_PROG, as on A5xx; a write begins the program anew"),
    (0x2209, "VFD_INSTANCE_START_OFFSET", "behind VFD_INDEX_OFFSET, as on A5xx; the first instance"),
];

struct Fact {
    offset: u32,
    word: u32,
    name: String,
    fields: String,
}

fn facts() -> Option<Vec<Fact>> {
    let default = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    let shared = std::env::var_os("A4EMU_SHARED").map_or(default, PathBuf::from);
    let path = shared.join("captures/facts/registers.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else {
        eprintln!("SKIPPED: 8,803 facts about registers, no {}", path.display());
        return None;
    };
    Some(text.lines().map(fact).collect())
}

fn fact(line: &str) -> Fact {
    let columns = line.split('\t').collect::<Vec<_>>();
    let [offset, word, name, fields] = columns[..] else { panic!("not a fact: {line}") };
    let hex = |digits| u32::from_str_radix(digits, 16).unwrap();
    Fact { offset: hex(offset), word: hex(word), name: name.into(), fields: fields.into() }
}

/// `NAME[0x4].SUB` with the index in decimal.
fn decimal_index(name: &str) -> String {
    let Some((array, rest)) = name.split_once("[0x") else { return name.into() };
    let (index, sub) = rest.split_once(']').unwrap();
    format!("{array}[{}]{sub}", u32::from_str_radix(index, 16).unwrap())
}

/// Fields by name. The remaining bits, or the value of a plain word, are under "".
fn normal(text: &str) -> BTreeMap<String, String> {
    let inner = text.strip_prefix("{ ").and_then(|rest| rest.strip_suffix(" }")).unwrap_or(text);
    let parts = inner.split(" | ").map(|part| match part.split_once(" = ") {
        Some((name, value)) => (name.to_string(), number(value)),
        None if part.starts_with(|c: char| c.is_ascii_digit() || c == '-') => (String::new(), number(part)),
        None => (part.to_string(), "true".into()),
    });
    parts.filter(|(name, value)| !(name.is_empty() && value == "0.000000")).collect()
}

/// A number in one normal spelling; other text unchanged.
fn number(text: &str) -> String {
    let hex = text.strip_prefix("0x").and_then(|digits| u64::from_str_radix(digits, 16).ok());
    let value = hex.map(|value| value as f64).or_else(|| text.parse().ok());
    value.map_or(text.into(), |value| format!("{value:.6}"))
}

fn deviation(name: &str) -> Option<&'static [&'static str]> {
    let array = name.split('[').next();
    DEVIATIONS.iter().find(|row| array == Some(row.0)).map(|row| row.1)
}

/// The rows without the fields that Mesa does not have. Their bits become part of the rest.
fn without(rows: &'static [FieldRow], ours: &[&str]) -> &'static [FieldRow] {
    rows.iter().filter(|row| !ours.contains(&row.name)).copied().collect::<Vec<_>>().leak()
}

#[test]
fn every_write_has_mesas_name() {
    let Some(facts) = facts() else { return };
    assert_eq!(facts.len(), 8803);
    for fact in facts {
        let ours = NAMED.iter().find(|row| row.0 == fact.offset).map(|row| row.1.to_owned());
        let expected = ours.unwrap_or_else(|| decimal_index(&fact.name));
        assert_eq!(REGISTERS.name(fact.offset).to_string(), expected);
        assert_eq!(REGISTERS.by_name(&fact.name), Some(fact.offset));
    }
}

#[test]
fn every_write_has_mesas_fields() {
    let Some(facts) = facts() else { return };
    for fact in facts {
        let rows = REGISTERS.lookup(fact.offset).unwrap().fields();
        let rows = deviation(&fact.name).map_or(rows, |ours| without(rows, ours));
        let text = WordText { rows, word: fact.word, show: Show::Full }.to_string();
        assert_eq!(normal(&text), normal(&fact.fields), "{} {:#x}", fact.name, fact.word);
    }
}

#[test]
fn every_deviation_is_needed() {
    let Some(facts) = facts() else { return };
    for (name, ours, reason) in DEVIATIONS {
        let seen = facts.iter().filter(|fact| fact.name.split('[').next() == Some(name));
        let differs = seen.filter(|fact| {
            let rows = REGISTERS.lookup(fact.offset).unwrap().fields();
            rows.iter().any(|row| ours.contains(&row.name) && row.raw(fact.word) != 0)
        });
        assert!(differs.count() > 0, "{name} agrees with Mesa, so no need for: {reason}");
    }
}

#[test]
fn every_name_of_ours_is_needed() {
    let Some(facts) = facts() else { return };
    for (offset, name, reason) in NAMED {
        let unnamed = format!("UNKNOWN_{offset:04X}");
        let seen = facts.iter().filter(|fact| fact.offset == *offset);
        assert!(seen.clone().count() > 0, "nobody writes {name}, so nobody compares it: {reason}");
        assert!(seen.into_iter().all(|fact| fact.name == unnamed), "Mesa has a name for {name}: {reason}");
    }
}

/// Mesa prints the name of a flag without a value, and this decoder does too. No field of one bit is a
/// number.
#[test]
fn flags_are_the_fields_of_one_bit() {
    for row in REGISTERS.all().flat_map(|reg| reg.fields()) {
        let flag = matches!(row.kind, Kind::Bool);
        assert!(!flag || row.width() == 1, "{}", row.name);
    }
}
