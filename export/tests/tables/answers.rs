//! The ten questions, answered from the lists of a [`Walk`] and compared with DuckDB's answers.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use a4emu_decoder::a4xx::regs::rb::RB_DEPTH_CONTROL;
use libtest_mimic::Failed;
use serde_json::{Value, json};

use crate::walk::Walk;
use crate::{captures, duckdb, export, root, tessellated};

/// Groups the values of `items` by key, in the order of the keys.
fn grouped<K: Ord, V>(items: impl IntoIterator<Item = (K, V)>) -> BTreeMap<K, Vec<V>> {
    let mut groups = BTreeMap::<K, Vec<V>>::new();
    items.into_iter().for_each(|(key, value)| groups.entry(key).or_default().push(value));
    groups
}

fn different<T: Ord>(items: impl IntoIterator<Item = T>) -> usize {
    items.into_iter().collect::<BTreeSet<T>>().len()
}

fn tess_modes(walk: &Walk) -> Vec<Value> {
    let on = walk.tessellated.iter().filter(|(_, address)| *address != 0);
    // Null comes last.
    let modes = grouped(on.map(|(mode, _)| ((mode.is_none(), mode), ())));
    modes.into_iter().map(|((_, mode), draws)| json!([mode, draws.len()])).collect()
}

fn high_bits(walk: &Walk) -> Vec<Value> {
    let set = walk.writes.iter().filter(|write| write.value > 0x00ff_ffff);
    set.map(|write| &write.name).collect::<BTreeSet<_>>().into_iter().map(|name| json!([name])).collect()
}

fn ops_of_one_stage(walk: &Walk) -> Vec<Value> {
    let ops = grouped(walk.ops.iter().map(|(op, stage)| (op, *stage))).into_iter();
    let ops = ops.filter(|(_, stages)| different(stages) == 1);
    ops.map(|(op, stages)| json!([op, stages[0], stages.len()])).collect()
}

fn depth_functions(walk: &Walk) -> Vec<Value> {
    let writes = walk.writes.iter().filter(|write| write.name == "RB_DEPTH_CONTROL");
    let function = |value| format!("{:?}", RB_DEPTH_CONTROL(value).ZFUNC());
    let functions = grouped(writes.map(|write| (function(write.value), write.command))).into_iter();
    functions
        .map(|(name, commands)| json!([name, commands.len(), different(commands.iter().flatten())]))
        .collect()
}

fn always_the_same(walk: &Walk) -> Vec<Value> {
    let registers = grouped(walk.writes.iter().map(|write| (&write.name, write))).into_iter();
    let same = registers.filter(|(_, writes)| {
        writes.len() > 1
            && writes.iter().any(|write| write.previous.is_some())
            && writes.iter().all(|write| write.value == writes[0].value)
    });
    same.map(|(name, writes)| json!([name, writes.len()])).collect()
}

fn unnamed(walk: &Walk) -> Vec<Value> {
    let writes = walk.writes.iter().filter(|write| write.name.starts_with("UNKNOWN"));
    let registers = grouped(writes.map(|write| (&write.name, write.value))).into_iter();
    registers
        .map(|(name, values)| json!([name, different(&values), values.iter().min(), values.iter().max()]))
        .collect()
}

fn opcodes(walk: &Walk) -> Vec<Value> {
    let packets =
        walk.packets.iter().map(|(opcode, name, capture, dwords)| (*opcode, (name, capture, dwords)));
    let row = |(opcode, runs): (u8, Vec<(_, _, _)>)| {
        let longest = runs.iter().map(|(_, _, dwords)| *dwords).max();
        json!([
            opcode,
            runs[0].0,
            runs.len(),
            different(runs.iter().map(|(_, capture, _)| *capture)),
            longest
        ])
    };
    grouped(packets).into_iter().map(row).collect()
}

fn longest_shaders(walk: &Walk) -> Vec<Value> {
    let draws = grouped(walk.drawn.iter().map(|hash| (hash, ())));
    let mut shaders: Vec<_> = walk.instructions.iter().collect();
    shaders.sort_by_key(|(hash, instructions)| (Reverse(**instructions), *hash));
    let row = |(hash, instructions)| json!([hash, instructions, draws[hash].len()]);
    shaders.into_iter().take(10).map(row).collect()
}

fn formats(walk: &Walk) -> Vec<Value> {
    let seen = walk.textures.iter().map(|seen| ((&seen.format, seen.tiling), (seen.width, seen.draw)));
    let row = |((format, tiling), seen): ((_, _), Vec<(u32, _)>)| {
        let widest = seen.iter().map(|(width, _)| width).max();
        json!([format, tiling, widest, different(seen.iter().map(|(_, draw)| draw))])
    };
    grouped(seen).into_iter().map(row).collect()
}

fn rules(walk: &Walk) -> Vec<Value> {
    let found =
        walk.findings.iter().map(|(severity, rule, count, capture)| ((severity, rule), (count, capture)));
    let row = |((severity, rule), found): (_, Vec<(&u64, &usize)>)| {
        let times: u64 = found.iter().map(|(count, _)| *count).sum();
        json!([severity, rule, times, different(found.iter().map(|(_, capture)| capture))])
    };
    grouped(found).into_iter().map(row).collect()
}

/// The answers, in the order of the page.
const ANSWERS: [fn(&Walk) -> Vec<Value>; 10] = [
    tess_modes,
    high_bits,
    ops_of_one_stage,
    depth_functions,
    always_the_same,
    unnamed,
    opcodes,
    longest_shaders,
    formats,
    rules,
];

/// The captures for the questions: those of the tree, the shared ones, and some that are broken or
/// tessellated.
fn corpus(folder: &Path) -> Vec<PathBuf> {
    let shared =
        std::env::var_os("A4EMU_SHARED").map_or(root().join("../shared"), PathBuf::from).join("captures");
    if !shared.exists() {
        eprintln!("skipped: {} is not there", shared.display());
    }
    for name in ["tess-gs", "tess-tri-even", "tess-quad-odd"] {
        tessellated(name, &folder.join(format!("{name}.rd")));
    }
    [root().join("captures"), shared, folder.to_owned()].iter().flat_map(|folder| captures(folder)).collect()
}

/// Exports the captures, and compares the answers of DuckDB and of the walk.
pub fn compare(library: &Path) -> Result<(), Failed> {
    let folder = tempfile::tempdir()?;
    let mut paths = corpus(folder.path());
    let list: Vec<_> = paths.iter().map(|path| path.canonicalize().unwrap().display().to_string()).collect();
    let args: Vec<&str> = list.iter().map(String::as_str).chain(["--parquet", "tables", "--quiet"]).collect();
    export(folder.path(), &args).assert().try_success()?;
    // Captures with equal bytes count once.
    let mut known = BTreeSet::new();
    paths.retain(|path| known.insert(fs::read(path).unwrap()));
    let mut walk = Walk::default();
    paths.iter().for_each(|path| walk.through(path));
    let answers = duckdb::answers(library, folder.path())?;
    assert_eq!(answers.len(), ANSWERS.len());
    for (number, (said, plain)) in answers.iter().zip(ANSWERS).enumerate() {
        let plain = plain(&walk);
        assert!(!plain.is_empty(), "question {} has no answer", number + 1);
        assert_eq!(*said, Value::Array(plain), "question {}", number + 1);
    }
    Ok(())
}
