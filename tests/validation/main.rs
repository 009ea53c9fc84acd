//! Measures how many broken streams `validate` finds: good captures, with every mutation that
//! docs/hardware/hazards.md lists. `scripts/validation` measures all of them and writes docs/validation.md.

mod mutations;
mod scenes;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use a4emu_decoder::asm::ast::Block;
use a4emu_decoder::asm::{Bounds, FileError, Files, Image, assemble, assemble_block, disassemble, parse};
use a4emu_gpu::budget::Budget;
use a4emu_inspect::asm::Disk;
use a4emu_rules::found_in;
use a4emu_rules::rules::{Id, Severity};
use a4emu_support::folders::Folders;
use flate2::read::MultiGzDecoder;
use mutations::{ALL, Mutation};
use rayon::prelude::*;

/// Files for a source without includes.
struct NoFiles;

impl Files for NoFiles {
    fn resolve(&mut self, _: &str, path: &str) -> String {
        path.to_owned()
    }

    fn text(&mut self, _: &str) -> Result<String, FileError> {
        Err(FileError("no files".to_owned()))
    }

    fn image(&mut self, _: &str) -> Result<Image, FileError> {
        Err(FileError("no files".to_owned()))
    }
}

/// The findings of a capture: rule, severity, and cause.
type Found = BTreeSet<(&'static str, Severity, String)>;

fn found(capture: &[u8]) -> Found {
    let (watch, _) = found_in(capture, Budget::default());
    let of = |finding: &a4emu_rules::Finding| {
        let rule = finding.broken.rule.rule();
        (
            rule.id,
            rule.severity,
            format!("{:?}{}", finding.broken.instruction.as_ref().map(|at| at.index), finding.broken.what),
        )
    };
    watch.findings().map(of).collect()
}

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The captures of a folder, by name.
fn captures(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut all: Vec<PathBuf> = entries.filter(|path| path.to_string_lossy().ends_with(".rd.gz")).collect();
    all.sort();
    all
}

fn unpacked(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    MultiGzDecoder::new(fs::File::open(path).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The results of one mutation.
#[derive(Default)]
struct Tally {
    places: usize,
    mutants: usize,
    caught: usize,
    /// Other rules that fired on mutants that were not caught.
    others: BTreeMap<&'static str, usize>,
}

/// A good capture as statements, with its own findings.
struct Good {
    text: String,
    block: Block,
    found: Found,
}

impl Good {
    fn read(path: &Path) -> Self {
        Self::of(&path.display().to_string(), disassemble(&unpacked(path)).text)
    }

    fn of(name: &str, text: String) -> Self {
        let block = parse(name, &text).unwrap_or_else(|error| panic!("{name}: {error:?}"));
        let capture = assemble(name, &text, &mut NoFiles, Bounds::default());
        let capture = capture.unwrap_or_else(|error| panic!("{name}: {error}"));
        Self { block, found: found(&capture), text }
    }

    /// Assembles a source that may include files of `captures`.
    fn assembled(path: &Path) -> Self {
        let (name, text) = (path.display().to_string(), fs::read_to_string(path).unwrap());
        let mut disk = Disk::new(Folders::new([root().join("captures")]));
        let capture = assemble(&name, &text, &mut disk, Bounds::default());
        Self::of(&name, disassemble(&capture.unwrap_or_else(|error| panic!("{error}"))).text)
    }

    /// A capture of the project by name, or one that only this test has: a frame of nine tiles with a binning
    /// pass, a dispatch with its groups in memory, or inputs that no recorded frame has.
    fn named(name: &str) -> Self {
        let captures = root().join("captures");
        match name {
            "binned" => Self::read(&root().join("tests/validation/binned.rd.gz")),
            "indirect dispatch" => Self::of(name, indirect_dispatch()),
            "inputs" => Self::assembled(&root().join("tests/validation/inputs.a4")),
            "triangle-by-hand" | "samples/msaa-4x" | "samples/rules" | "samples/tiles" => {
                Self::assembled(&captures.join(format!("{name}.a4")))
            }
            _ => Self::read(&captures.join(format!("{name}.rd.gz"))),
        }
    }

    /// The findings that are new after the change at one place.
    fn broken(&self, mutation: &Mutation, place: usize) -> Option<Found> {
        let mut block = self.block.clone();
        mutation.edit.make(&mut block, Some(place));
        let bytes = assemble_block("mutant", &self.text, block, &mut NoFiles, Bounds::default()).ok()?;
        let new = found(&bytes).difference(&self.found).cloned().collect();
        Some(new)
    }

    /// Applies the mutation at up to `most` places, spread evenly over all of them.
    fn measure(&self, mutation: &Mutation, most: usize, tally: &mut Tally) {
        let places = mutation.edit.make(&mut self.block.clone(), None);
        let stride = places.div_ceil(most).max(1);
        tally.places += places;
        for place in (0..places).step_by(stride) {
            let Some(new) = self.broken(mutation, place) else { continue };
            tally.mutants += 1;
            if new.iter().any(|(rule, ..)| mutation.rules.contains(rule)) {
                tally.caught += 1;
            } else {
                new.iter().for_each(|(rule, ..)| *tally.others.entry(rule).or_default() += 1);
            }
        }
    }
}

/// The dispatch of captures/compute.rd.gz with the number of groups in memory, encoded as the driver does.
fn indirect_dispatch() -> String {
    let text = Good::named("compute").text;
    let direct = "CP_EXEC_CS(ZERO = 0, NGROUPS_X = 8, NGROUPS_Y = 8, NGROUPS_Z = 1)";
    let indirect = "CP_EVENT_WRITE({ EVENT = CACHE_FLUSH })
    CP_WAIT_FOR_IDLE
    CP_EXEC_CS_INDIRECT(ZERO = 0, ADDR = 0xfff00000, { LOCALSIZEX = 7 | LOCALSIZEY = 7 })";
    assert!(text.contains(direct));
    let text = text.replacen(direct, indirect, 1);
    text.replacen("buffer b_fff60000", "buffer groups @ 0xfff00000 { u32 8, 8, 1 }\nbuffer b_fff60000", 1)
}

/// Measures all mutations on `goods`, which each thread makes for itself.
fn measure(goods: impl Fn() -> Vec<Good> + Sync, most: usize) -> Vec<Tally> {
    let some = |mutations: &[Mutation]| {
        let goods = goods();
        let tally = |mutation: &Mutation| {
            let mut tally = Tally::default();
            goods.iter().for_each(|good| good.measure(mutation, most, &mut tally));
            tally
        };
        mutations.iter().map(tally).collect::<Vec<_>>()
    };
    // Some mutations have many more places than others.
    ALL.par_chunks(ALL.len().div_ceil(4 * rayon::current_num_threads())).flat_map(some).collect()
}

/// Each mutation has at least one place, and was caught.
#[test]
fn each_mutation_has_a_place() {
    let page = fs::read_to_string(root().join("docs/validation.md")).unwrap();
    let (table, _) = page.split_once("<!-- end -->").expect("the table's end");
    let without: Vec<&str> = table.lines().filter(|line| line.contains("| 0 | 0 | 0 |")).collect();
    assert!(without.is_empty(), "{without:?}");
}

/// Recordings of the real driver have no findings of severity E or W, except for the errors that the page
/// lists.
#[test]
fn good_streams_are_silent() {
    for path in captures(&root().join("captures")) {
        let loud: Vec<_> = found(&unpacked(&path)).into_iter().filter(is_alarm).collect();
        assert!(loud.is_empty(), "{}: {loud:?}", path.display());
    }
}

fn is_alarm((rule, severity, _): &(&'static str, Severity, String)) -> bool {
    *severity != Severity::N && !rule.starts_with('X')
}

/// Captures with features that most captures lack.
const SPECIAL: [&str; 3] = ["binned", "indirect dispatch", "inputs"];

/// A few mutants of each kind; docs/validation.md has the whole table.
#[test]
fn mutants_are_caught() {
    let some = ["blend", "compute", "control", "cube", "depth", "indirect", "mrt", "shadow", "ubo", "xfb"];
    let tallies = measure(|| some.into_iter().chain(SPECIAL).map(Good::named).collect(), 1);
    let table = table(&tallies);
    for (mutation, tally) in ALL.iter().zip(&tallies).filter(|(_, tally)| tally.mutants > 1) {
        let enough = tally.caught > 0 && (tally.caught * 3 >= tally.mutants || tally.mutants < 4);
        assert!(enough, "{}: {} of {}\n{table}", mutation.what, tally.caught, tally.mutants);
    }
    let (mutants, caught) = totals(&tallies);
    assert!(mutants > 250 && caught * 100 >= mutants * 85, "{caught} of {mutants}\n{table}");
}

fn totals(tallies: &[Tally]) -> (usize, usize) {
    (tallies.iter().map(|tally| tally.mutants).sum(), tallies.iter().map(|tally| tally.caught).sum())
}

fn table(tallies: &[Tally]) -> String {
    let mut out = String::from(
        "| rules | mutation | places | mutants | caught | | else fired |\n|---|---|---|---|---|---|---|\n",
    );
    for (mutation, tally) in ALL.iter().zip(tallies) {
        let Tally { places, mutants, caught, others } = tally;
        let share = if *mutants > 0 { format!("{} %", 100 * caught / mutants) } else { "–".to_owned() };
        let others: Vec<String> = others.iter().map(|(rule, count)| format!("{rule} {count}")).collect();
        let (rules, what) = (mutation.rules.join(", "), mutation.what);
        writeln!(
            out,
            "| {rules} | {what} | {places} | {mutants} | {caught} | {share} | {} |",
            others.join(", ")
        )
        .unwrap();
    }
    let (mutants, caught) = totals(tallies);
    writeln!(out, "| | all | | {mutants} | {caught} | {} % | |", 100 * caught / mutants.max(1)).unwrap();
    let of_garbage = |mutation: &Mutation| {
        let id = Id::named(mutation.rules[0]).expect("a rule");
        id.rule().severity == Severity::E
    };
    let (mutants, caught) = ALL
        .iter()
        .zip(tallies)
        .filter(|(mutation, _)| of_garbage(mutation))
        .fold((0, 0), |(mutants, caught), (_, tally)| (mutants + tally.mutants, caught + tally.caught));
    writeln!(out, "| | all of severity E | | {mutants} | {caught} | {} % | |", 100 * caught / mutants.max(1))
        .unwrap();
    out
}

/// Writes the table of docs/validation.md. `scripts/validation` runs it.
#[test]
#[ignore = "takes an hour; scripts/validation runs it"]
fn the_table_of_the_page() {
    let shared = std::env::var_os("A4EMU_SHARED").map_or_else(|| root().join("../shared"), PathBuf::from);
    let mut paths = captures(&root().join("captures"));
    paths.extend(captures(&shared.join("captures/variants")));
    let most = std::env::var("VALIDATION_MUTANTS").ok().and_then(|text| text.parse().ok()).unwrap_or(4);
    let goods = || paths.iter().map(|path| Good::read(path)).chain(SPECIAL.map(Good::named)).collect();
    let table = table(&measure(goods, most));
    let path = root().join("docs/validation.md");
    let page = fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once("<!-- table -->\n").expect("a place for the table");
    let (_, after) = rest.split_once("<!-- end -->").expect("its end");
    fs::write(path, format!("{before}<!-- table -->\n{table}<!-- end -->{after}")).unwrap();
}
