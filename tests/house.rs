//! The house rules of `src/draw`, read from the sources: who reads registers, who holds the machine,
//! and which block may use which.

use std::fs;
use std::path::{Path, PathBuf};

/// The blocks, each of which uses none but itself and those before it.
const BLOCKS: &[&str] = &["tpl1", "pc", "gras", "vpc", "rb", "sp", "vfd", "vs", "hs", "ds", "gs", "fs", "cs"];

/// What travels between blocks. These files use no block.
const WIRES: &[&str] = &["call", "stop", "vertices"];

/// A source of `src/draw`: its path below that, and its text without comments.
struct Source {
    path: String,
    code: String,
}

impl Source {
    /// The block that it belongs to, or its own name.
    fn block(&self) -> &str {
        self.path.split(['/', '.']).next().expect("split gives something")
    }

    /// The modules right below `draw` that it names.
    fn uses(&self) -> Vec<&str> {
        let paths = self.code.split("draw::").skip(1);
        let names = paths.map(|rest| rest.split(|c: char| !c.is_ascii_alphanumeric() && c != '_'));
        names.filter_map(|mut parts| parts.next()).filter(|name| !name.is_empty()).collect()
    }
}

fn collect(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).expect("a folder of the tree") {
        let path = entry.expect("an entry").path();
        match path.is_dir() {
            true => collect(&path, out),
            false => out.push(path),
        }
    }
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/draw");
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let path = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        Source { path, code: code.collect::<Vec<_>>().join("\n") }
    };
    let sources: Vec<Source> = paths.into_iter().map(source).collect();
    assert!(sources.len() > 50, "found {}", sources.len());
    sources
}

/// A block's `state.rs` gives registers their meaning; nobody else under `draw` looks at them.
#[test]
fn registers_are_read_in_state_files_alone() {
    for source in sources().iter().filter(|source| !source.path.ends_with("/state.rs")) {
        for word in ["regs.get", "regs.at", "regs.read", "regs.write", "RegFile"] {
            assert!(!source.code.contains(word), "{}: {word}", source.path);
        }
    }
}

/// Stages take values and give values: only the block diagram changes the machine.
#[test]
fn the_pipeline_alone_holds_the_machine() {
    let holders: Vec<Source> =
        sources().into_iter().filter(|source| source.code.contains("&mut Gpu")).collect();
    assert!(!holders.is_empty());
    for source in holders {
        assert_eq!(source.block(), "pipeline", "{}", source.path);
    }
}

#[test]
fn blocks_use_only_those_before_them() {
    let rank = |name: &str| BLOCKS.iter().position(|block| *block == name);
    for source in sources() {
        let block = source.block();
        let mine = rank(block);
        for used in source.uses().into_iter().filter(|used| *used != block) {
            let allowed = match (mine, rank(used)) {
                (Some(mine), Some(other)) => other < mine,
                (Some(_), None) => WIRES.contains(&used),
                (None, _) => !WIRES.contains(&block),
            };
            assert!(allowed, "{} uses draw::{used}", source.path);
        }
    }
}

/// Every folder is a block of the list, and no block of the list is missing.
#[test]
fn the_folders_are_the_blocks() {
    let sources = sources();
    for block in BLOCKS {
        assert!(sources.iter().any(|source| source.path == format!("{block}/mod.rs")), "{block}");
    }
    for source in sources.iter().filter(|source| source.path.contains('/')) {
        let block = source.block();
        assert!(BLOCKS.contains(&block) || block == "pipeline", "{}", source.path);
    }
}
