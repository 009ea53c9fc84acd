//! Rules for the sources: the dependencies of each crate; in `src/gpu/draw`, that no file reads registers,
//! which hold the machine, and which block may use which.

use std::fs;
use std::path::{Path, PathBuf};

/// The blocks. Each uses only itself and the blocks before it.
const BLOCKS: &[&str] = &["tpl1", "pc", "gras", "vpc", "rb", "sp", "vfd", "vs", "hs", "ds", "gs", "fs", "cs"];

/// Types that travel between blocks. These files use no block.
const WIRES: &[&str] = &["call", "compare", "stage_words", "stop", "topology", "vertices", "work"];

/// A source file of `src/gpu/draw`: its path below that folder, and its text without comments.
struct Source {
    path: String,
    code: String,
}

impl Source {
    /// The block that contains the file, or the file's own name.
    fn block(&self) -> &str {
        self.path.split(['/', '.']).next().expect("split gives something")
    }

    /// The modules directly below `draw` that the file names.
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
    let sources = sources_below("src/gpu/draw");
    assert!(sources.len() > 50, "found {}", sources.len());
    sources
}

/// The sources in a folder of the repository, without tests.
fn sources_below(folder: &str) -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let mut paths = Vec::new();
    collect(&root, &mut paths);
    let source = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a source");
        let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
        let path = path.strip_prefix(&root).expect("below the root").to_string_lossy().into_owned();
        Source { path, code: code.collect::<Vec<_>>().join("\n") }
    };
    let sources: Vec<Source> = paths.into_iter().map(source).collect();
    assert!(!sources.is_empty(), "nothing in {folder}");
    sources
}

/// A generation of the chip is a folder of `src/gpu` that makes the state of the blocks of its registers, enumerations and
/// descriptors. Nothing else in `draw` and in the shaders names one, apart from tests that write descriptors as words.
#[test]
fn blocks_see_no_generation() {
    let is_test = |source: &Source| source.path.contains("/tests/") || source.path == "refusals.rs";
    let shaders = sources_below("src/shader").into_iter().filter(|source| source.path.ends_with(".rs"));
    for source in sources().into_iter().chain(shaders).filter(|source| !is_test(source)) {
        for word in ["decoder::a4xx", "RegFile", "regs.get", "regs.at", "regs.read", "regs.write"] {
            assert!(!source.code.contains(word), "{}: {word}", source.path);
        }
        assert!(
            !code_of(&source).contains("crate::a4xx"),
            "{}: it takes a generation's readers",
            source.path
        );
    }
    let readers = sources_below("src/gpu/a4xx");
    assert!(
        readers.iter().any(|source| source.code.contains("regs.get::<")),
        "the readers are in this folder"
    );
}

/// Stages take and return values. Only the block diagram knows the machine as a whole; snapshots read a `ChipView`.
#[test]
fn the_pipeline_alone_holds_the_machine() {
    let holders: Vec<Source> =
        sources().into_iter().filter(|source| source.code.contains("DrawContext")).collect();
    assert!(!holders.is_empty());
    for source in holders {
        assert_eq!(source.block(), "pipeline", "{}", source.path);
        assert!(!source.code.contains("gpu::Gpu"), "{}: draws know no command processor", source.path);
    }
}

/// The state of the chip is below what changes it.
#[test]
fn the_machine_knows_nothing_below_it() {
    for source in sources_below("src/gpu/machine").into_iter().chain([machine()]) {
        let code = source.code.split("#[cfg(test)]").next().expect("split gives something");
        for below in ["crate::draw", "crate::cp", "crate::gpu", "crate::playback"] {
            assert!(!code.contains(below), "{}: {below}", source.path);
        }
    }
}

fn machine() -> Source {
    let is_it = |source: &Source| source.path == "machine.rs";
    sources_below("src/gpu").into_iter().find(is_it).expect("src/gpu/machine.rs")
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
                (None, _) => !WIRES.contains(&block) || WIRES.contains(&used),
            };
            assert!(allowed, "{} uses draw::{used}", source.path);
        }
    }
}

/// The crates: name, folder, contents. Each depends only on crates before it.
const CRATES: &[(&str, &str, &str)] = &[
    ("a4emu-decoder", "decoder", "what bits mean"),
    ("a4emu-shader", "src/shader", "32 lanes of a shader"),
    ("a4emu-gpu", "src/gpu", "the machine"),
    ("a4emu-rules", "src/rules", "rules of the chip"),
    ("a4emu-process", "src/process", "files of a4emu run"),
    ("a4emu-support", "src/support", "terminal, files, limits"),
    ("a4emu-inspect", "src/inspect", "what a run shows"),
    ("a4emu", ".", "the commands"),
    ("a4emu-drm", "src/drm", "the virtual device"),
    ("a4emu-export", "export", "tables of Parquet"),
    ("a4emu-python", "python", "the Python module"),
];

/// Crates that no other crate may link: tools of the command line.
const LAST: &[&str] = &["a4emu-drm", "a4emu-export", "a4emu-python"];

/// Dependencies that are allowed only in upper crates: the first list above `a4emu-gpu`, the second from
/// `a4emu-support` on, the third in `a4emu`.
const OF_OBSERVERS: &[&str] = &["tempfile", "toml"];
const OF_TERMINALS: &[&str] = &["anstream", "anstyle", "indicatif", "terminal_size", "textwrap"];
const OF_COMMANDS: &[&str] =
    &["clap", "clap_complete", "clap_mangen", "rustyline", "quick-junit", "httparse"];

/// The names of the dependencies in `section` of the manifest in `folder`.
fn dependencies(folder: &str, section: &str) -> Vec<String> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join("Cargo.toml");
    let text = fs::read_to_string(path).expect("a manifest");
    let section = format!("\n[{section}]\n");
    let Some((_, rest)) = text.split_once(&section) else { return Vec::new() };
    let lines = rest.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split([' ', '.', '=']).next());
    names.filter(|name| !name.is_empty() && !name.starts_with('#')).map(str::to_owned).collect()
}

#[test]
fn crates_depend_on_those_before_them() {
    let rank = |name: &str| CRATES.iter().position(|(known, ..)| *known == name);
    for (name, folder, _) in CRATES {
        let all = dependencies(folder, "dependencies");
        assert!(!all.is_empty(), "{folder}");
        for other in all.iter().filter(|other| other.starts_with("a4emu")) {
            assert!(rank(other) < rank(name) && !LAST.contains(&&**other), "{name} depends on {other}");
        }
        let lowest = [(OF_OBSERVERS, "a4emu-rules"), (OF_TERMINALS, "a4emu-support"), (OF_COMMANDS, "a4emu")];
        for (others, lowest) in lowest {
            let used = others.iter().find(|other| all.iter().any(|name| name == *other));
            assert!(used.is_none() || rank(name) >= rank(lowest), "{name} depends on {used:?}");
        }
    }
}

/// The device is in every process of a program: neither it nor a crate that it depends on uses a terminal or the
/// options of commands.
#[test]
fn the_device_links_nothing_of_the_command_line() {
    let folder = |name: &str| CRATES.iter().find(|(known, ..)| *known == name).map(|(_, folder, _)| *folder);
    let mut found = vec!["a4emu-drm".to_owned()];
    let mut next = 0;
    while let Some(folder) = found.get(next).map(|name| folder(name)) {
        for section in ["dependencies", "target.'cfg(target_os = \"linux\")'.dependencies"] {
            let all = folder.map(|folder| dependencies(folder, section)).unwrap_or_default();
            found.extend(all.into_iter().filter(|name| !found.contains(name)).collect::<Vec<_>>());
        }
        next += 1;
    }
    assert!(found.iter().any(|name| name == "a4emu-process"), "{found:?}");
    for name in found {
        let is_upper = ["a4emu-support", "a4emu-inspect", "a4emu"].contains(&&*name);
        let is_tool = OF_TERMINALS.iter().chain(OF_COMMANDS).any(|other| *other == name);
        assert!(!is_upper && !is_tool, "the device links {name}");
    }
}

/// `gpu` and what is below it know no option of a command: messages name those that their caller gave.
#[test]
fn the_machine_names_no_option() {
    for folder in ["src/gpu", "src/shader"] {
        for source in sources_below(folder) {
            let code = source.code.split("mod tests {").next().expect("split gives something");
            for part in code.split('"').skip(1).step_by(2) {
                let option = part.split(|c: char| !c.is_ascii_lowercase() && c != '-').find(|word| {
                    word.strip_prefix("--")
                        .is_some_and(|name| name.starts_with(|c: char| c.is_ascii_lowercase()))
                });
                assert_eq!(option, None, "{folder}/{}: {part}", source.path);
            }
        }
    }
}

/// The drawing of the crates. Each crate is in the row above the last one that it depends on, with an arrow
/// to that one.
fn drawing() -> String {
    const BOX: [usize; 2] = [190, 46];
    const STEP: [usize; 2] = [210, 76];
    let mut places: Vec<[usize; 2]> = Vec::new();
    let mut below: Vec<Option<usize>> = Vec::new();
    for (_, folder, _) in CRATES {
        let all = dependencies(folder, "dependencies");
        let last = CRATES.iter().rposition(|(known, ..)| all.iter().any(|name| name == known));
        let row = last.map_or(0, |last| places[last][1] + 1);
        let column = places.iter().filter(|[_, other]| *other == row).count();
        places.push([column, row]);
        below.push(last);
    }
    let rows = places.iter().map(|[_, row]| row + 1).max().expect("crates");
    let columns = places.iter().map(|[column, _]| column + 1).max().expect("crates");
    let corner = |[column, row]: [usize; 2]| [10 + column * STEP[0], 10 + (rows - 1 - row) * STEP[1]];
    let (width, height) = (columns * STEP[0], rows * STEP[1] - 10);
    let mut out = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" font-family=\"sans-serif\">\n\
         <defs><marker id=\"a\" markerWidth=\"8\" markerHeight=\"8\" refX=\"7\" refY=\"3\" orient=\"auto\">\
         <path d=\"M0,0 L7,3 L0,6 z\" fill=\"#555\"/></marker></defs>\n"
    );
    for ((place, last), (name, folder, has)) in places.iter().zip(&below).zip(CRATES) {
        let [x, y] = corner(*place);
        let folder = if *folder == "." { "src" } else { folder };
        out += &format!(
            "<rect x=\"{x}\" y=\"{y}\" width=\"{}\" height=\"{}\" rx=\"4\" fill=\"#eef3fa\" stroke=\"#557\"/>\n\
             <text x=\"{tx}\" y=\"{}\" font-size=\"13\">{name} ({folder}/)</text>\n\
             <text x=\"{tx}\" y=\"{}\" font-size=\"12\" fill=\"#445\">{has}</text>\n",
            BOX[0],
            BOX[1],
            y + 19,
            y + 36,
            tx = x + 8,
        );
        if let Some(last) = last {
            let [to, top] = corner(places[*last]);
            let half = BOX[0] / 2;
            out += &format!(
                "<path d=\"M{},{} L{},{top}\" stroke=\"#555\" marker-end=\"url(#a)\"/>\n",
                x + half,
                y + BOX[1],
                to + half
            );
        }
    }
    out + "</svg>\n"
}

/// `HOUSE_BLESS=1 cargo test --test all house` redraws the picture.
#[test]
fn the_drawing_of_the_crates_is_true() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/pictures/crates.svg");
    let drawn = drawing();
    if std::env::var_os("HOUSE_BLESS").is_some() {
        fs::write(&path, &drawn).expect("the drawing can be written");
    }
    assert!(fs::read_to_string(&path).is_ok_and(|there| there == drawn), "HOUSE_BLESS=1 draws it anew");
}

/// Every folder is a block of the list, and every block of the list has a folder.
#[test]
fn the_folders_are_the_blocks() {
    let sources = sources();
    for block in BLOCKS {
        assert!(sources.iter().any(|source| source.path == format!("{block}/mod.rs")), "{block}");
    }
    for source in sources.iter().filter(|source| source.path.contains('/')) {
        let block = source.block();
        assert!(BLOCKS.contains(&block) || ["pipeline", "queue"].contains(&block), "{}", source.path);
    }
}

/// Sentences of the documentation are short: `scripts/prose` measures them.
#[test]
fn sentences_of_the_documentation_are_short() {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/prose");
    let check = |pages: &[&Path]| {
        std::process::Command::new("python3").arg(&script).arg("--check").args(pages).output()
    };
    let Ok(checked) = check(&[]) else { return eprintln!("SKIPPED: there is no python3") };
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let folder = tempfile::tempdir().expect("a folder");
    let page = folder.path().join("page.md");
    for (text, is_fine) in [
        ("A short sentence is fine. So is `code that has any number of words` in it.".to_owned(), true),
        (format!("```\n{}\n```\nCode is not read at all.", "word ".repeat(60)), true),
        (format!("It goes {}on.", "on and ".repeat(20)), false),
        (
            format!(
                "{}.",
                "Words are many in each of these sentences, and there is no end of them".repeat(2)
            ),
            false,
        ),
    ] {
        fs::write(&page, &text).expect("a page");
        let checked = check(&[&page]).expect("python3");
        assert_eq!(checked.status.success(), is_fine, "{text}: {}", String::from_utf8_lossy(&checked.stdout));
    }
}

/// Only two modules write to stdout and stderr: the terminal of commands, and messages on stderr. They escape text from inputs, and do not panic if these are
/// closed or full. Other modules may only check whether they are terminals, or pass them to a child process.
#[test]
fn two_modules_write_to_the_terminal() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    ["src", "export/src", "python/src"].iter().for_each(|folder| collect(&root.join(folder), &mut paths));
    let printers =
        ["println!", "print!", "stdout().lock", "stderr().lock", "io::stdout())", "&mut io::std", "dbg!"];
    let asks = ["is_terminal", "AutoStream::choice", "command.stdout(io::stderr())"];
    let mut looked_at = 0;
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let place = path.strip_prefix(root).expect("below the root").to_string_lossy();
        if ["src/support/terminal", "src/process/stderr"].iter().any(|module| place.starts_with(module))
            || place.contains("tests")
        {
            continue;
        }
        looked_at += 1;
        let text = fs::read_to_string(path).expect("a source");
        let code = text.split("\nmod tests").next().expect("split gives something");
        for line in code.lines().filter(|line| !line.trim_start().starts_with("//")) {
            let prints = printers.iter().any(|word| line.contains(word));
            assert!(!prints || asks.iter().any(|word| line.contains(word)), "{place}: {line}");
        }
    }
    assert!(looked_at > 300, "{looked_at}");
}

/// Files are opened through the register of a command's inputs, except for files that are no inputs.
#[test]
fn inputs_are_opened_through_their_register() {
    /// Exceptions, with the files that they read.
    const OTHERS: &[(&str, &str)] = &[
        ("src/bisect/mod.rs", "pictures that it has had made"),
        ("src/companion.rs", "libraries and programs of the installation"),
        ("src/corpus/linux.rs", "what the system says of the process"),
        ("src/corpus/log.rs", "a run's own rows, registered as a whole"),
        ("src/corpus/compare/pictures.rs", "a run's pictures, registered as a whole"),
        ("src/inspect/coverage.rs", "counts, which are written anew"),
        ("src/run/advice.rs", "the name of the system"),
        ("src/run/descendants.rs", "what the system says of processes"),
        ("src/run/driver.rs", "drivers of the installation"),
        ("src/run/program.rs", "how the program that is run begins"),
        ("src/process/ledger.rs", "what its own processes count"),
        ("src/process/owner.rs", "the names of the machine and the container"),
        ("src/process/report.rs", "what its own processes say"),
    ];
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    collect(&root.join("src"), &mut paths);
    collect(&root.join("export/src"), &mut paths);
    let mut met = Vec::new();
    for path in paths.iter().filter(|path| path.extension().is_some_and(|ending| ending == "rs")) {
        let place = path.strip_prefix(root).expect("below the root").to_string_lossy().into_owned();
        if ["src/drm/", "src/support/out_file/"].iter().any(|folder| place.starts_with(folder))
            || place.contains("tests")
        {
            continue;
        }
        let text = fs::read_to_string(path).expect("a source");
        let code = text.split("\nmod tests").next().expect("split gives something");
        if ["File::open(", "fs::read(", "fs::read_to_string("].iter().any(|word| code.contains(word)) {
            assert!(OTHERS.iter().any(|(other, _)| *other == place), "{place} opens files on its own");
            met.push(place);
        }
    }
    for (other, _) in OTHERS {
        assert!(met.iter().any(|place| place == other), "{other} opens none any more");
    }
}

/// `src/gpu/ambient.rs` makes all threads and thread pools, because a new thread inherits the state of the
/// thread that makes it. `src/gpu/parallel.rs` passes that state to the pools of callers.
#[test]
fn threads_are_made_in_one_place() {
    let makers = [
        "thread::spawn",
        "Builder::new().name",
        "ThreadPoolBuilder",
        "rayon::spawn",
        "scope.spawn(",
        "rayon::join",
    ];
    for folder in ["src", "python/src", "export/src"] {
        for source in sources_below(folder) {
            let code = source.code.split("mod testing {").next().expect("split gives something");
            let code = code.split("mod tests {").next().expect("split gives something");
            let may = ["gpu/ambient.rs", "gpu/parallel.rs"].contains(&&*source.path)
                || source.path.contains("tests");
            for maker in makers.iter().filter(|_| !may) {
                assert!(!code.contains(maker), "{folder}/{}: {maker}", source.path);
            }
        }
    }
}

/// The code of a file without its unit tests and comments.
fn code_of(source: &Source) -> &str {
    source.code.split("\nmod tests {").next().expect("split gives something")
}

/// The module of a source below the root of its crate: `["draw", "rb"]` of `draw/rb/mod.rs`; the root has no name.
fn module_of(path: &str) -> Vec<&str> {
    let mut parts: Vec<&str> = path.strip_suffix(".rs").unwrap_or(path).split('/').collect();
    if parts.last().is_some_and(|last| ["mod", "lib", "main"].contains(last)) {
        parts.pop();
    }
    parts
}

/// The paths in `tree`, which stands behind a `use`: `a::{b, c::{d}}` is `a::b` and `a::c::d`.
fn paths_of(tree: &str) -> Vec<String> {
    let tree = tree.trim();
    let Some((before, inside)) = tree.split_once('{') else { return vec![tree.to_owned()] };
    let inside = inside.strip_suffix('}').unwrap_or(inside);
    let (mut parts, mut depth) = (vec![String::new()], 0);
    for letter in inside.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match letter {
            ',' if depth == 0 => parts.push(String::new()),
            letter => parts.last_mut().expect("one is there").push(letter),
        }
    }
    let below = parts.iter().filter(|part| !part.trim().is_empty()).flat_map(|part| paths_of(part));
    below.map(|path| format!("{before}{path}")).collect()
}

/// The modules that `source` imports by `crate::` and `super::`, as indices of `modules`. A folder's own `mod.rs` stands
/// in front of it, so what it takes from its files does not count.
fn imports(source: &Source, modules: &[Vec<&str>]) -> Vec<usize> {
    let here = module_of(&source.path);
    let code = code_of(source);
    let mut paths = Vec::new();
    for statement in code.split("use ").skip(1) {
        let tree: String = statement.split(';').next().unwrap_or_default().split_whitespace().collect();
        paths.extend(paths_of(&tree).into_iter().filter(|path| path.starts_with("super::")));
        paths.extend(paths_of(&tree).into_iter().filter(|path| path.starts_with("crate::")));
    }
    // Paths in the code itself.
    for rest in code.split("crate::").skip(1) {
        let is_path = |letter: char| letter.is_ascii_alphanumeric() || letter == '_' || letter == ':';
        paths.push(format!("crate::{}", rest.split(|c: char| !is_path(c)).next().unwrap_or_default()));
    }
    let mut found = Vec::new();
    for path in &paths {
        let mut base: Vec<&str> = Vec::new();
        let mut parts: Vec<&str> = path.split("::").collect();
        if parts[0] == "super" {
            base.clone_from(&here);
        } else {
            parts.remove(0);
        }
        while parts.first() == Some(&"super") {
            parts.remove(0);
            base.pop();
        }
        base.extend(parts);
        while !base.is_empty() && !modules.contains(&base) {
            base.pop();
        }
        found
            .extend(modules.iter().position(|module| *module == base && *module != here && !base.is_empty()));
    }
    found
}

/// The largest set of files of a crate of which each leads to each other by imports, with the names of its modules.
fn largest_circle(folder: &str, others: &[&str]) -> Vec<String> {
    let is_own = |source: &Source| {
        source.path.ends_with(".rs")
            && !source.path.split('/').any(|part| part == "tests" || part == "tests.rs")
            && !others.iter().any(|other| source.path.starts_with(other))
    };
    let sources: Vec<Source> = sources_below(folder).into_iter().filter(is_own).collect();
    let modules: Vec<Vec<&str>> = sources.iter().map(|source| module_of(&source.path)).collect();
    let edges: Vec<Vec<usize>> = sources.iter().map(|source| imports(source, &modules)).collect();
    let reached: Vec<Vec<bool>> = (0..sources.len())
        .map(|from| {
            let (mut seen, mut open) = (vec![false; sources.len()], edges[from].clone());
            while let Some(next) = open.pop() {
                if !std::mem::replace(&mut seen[next], true) {
                    open.extend(&edges[next]);
                }
            }
            seen
        })
        .collect();
    let circle = |one: usize| -> Vec<usize> {
        (0..sources.len()).filter(|other| reached[one][*other] && reached[*other][one]).collect()
    };
    let largest = (0..sources.len()).map(circle).max_by_key(Vec::len).unwrap_or_default();
    largest.into_iter().map(|index| modules[index].join("::")).collect()
}

/// Files that import each other in a circle can only be understood together. The numbers of crates other than the
/// device and the shaders are those that were found; they must not grow.
#[test]
fn few_files_import_each_other_in_a_circle() {
    const MOST: &[(&str, usize)] = &[
        ("decoder/src", 2),
        ("src/shader", 3),
        ("src/gpu", 5),
        ("src/rules", 0),
        ("src/process", 0),
        ("src/support", 2),
        ("src/inspect", 5),
        ("src", 2),
        ("src/drm/src", 3),
        ("export/src", 0),
        ("python/src", 0),
    ];
    let crates: Vec<String> = CRATES
        .iter()
        .filter_map(|(_, folder, _)| Some(format!("{}/", folder.strip_prefix("src/")?)))
        .collect();
    let crates: Vec<&str> = crates.iter().map(String::as_str).collect();
    for (folder, most) in MOST {
        let circle = largest_circle(folder, if *folder == "src" { &crates } else { &[] });
        assert!(circle.len() <= *most, "{folder}: {} files: {}", circle.len(), circle.join(", "));
    }
}

/// A call with `true` or `false` says nothing of what it asks for: a parameter with two values is an enumeration, or
/// there are two functions.
#[test]
fn public_functions_take_no_bool() {
    /// Exceptions, with the reasons.
    const OTHERS: &[(&str, &str)] = &[
        ("src/rules/state/mod.rs: unless", "the condition itself, as in `assert!`"),
        ("src/shader/lower/operands.rs: of", "a bit of an instruction word"),
        ("decoder/src/adreno/ir3/line.rs: flag", "a bit of an instruction word"),
        ("decoder/src/adreno/ir3/display.rs: half_reg", "a bit of an instruction word"),
        ("decoder/src/adreno/ir3/multisrc.rs: decode", "bits of an instruction word"),
        ("decoder/src/asm/emit/stream.rs: command", "a bit of a packet's header"),
        ("decoder/src/adreno/capture/devcore/entries.rs: ring_line", "whether a line is an entry"),
        ("decoder/src/adreno/capture/devcore/entries.rs: bo_line", "whether a line is an entry"),
        ("python/src/text.rs: diff", "Python's keyword arguments"),
    ];
    let mut met = Vec::new();
    for folder in ["src", "decoder/src", "export/src", "python/src"] {
        let is_code = |source: &Source| source.path.ends_with(".rs") && !source.path.contains("tests");
        for source in sources_below(folder).into_iter().filter(is_code) {
            let code = code_of(&source);
            for (at, _) in code.match_indices("fn ") {
                let line = code[..at].rsplit('\n').next().unwrap_or_default().trim_start();
                if !line.starts_with("pub") {
                    continue;
                }
                let signature = code[at + 3..].split(['{', ';']).next().unwrap_or_default();
                let name = signature.split(['(', '<']).next().unwrap_or_default();
                let arguments = signature.split("->").next().unwrap_or_default();
                if arguments.contains(": bool") || arguments.contains(": &mut bool") {
                    let row = format!("{folder}/{}: {name}", source.path);
                    assert!(OTHERS.iter().any(|(other, _)| *other == row), "{row} takes a bool");
                    met.push(row);
                }
            }
        }
    }
    for (other, _) in OTHERS {
        assert!(met.iter().any(|row| row == other), "{other} takes none any more");
    }
}

/// An error is a type, or `anyhow` where it is only shown. What clap parses says a `String`, as clap asks for.
#[test]
fn few_errors_are_plain_text() {
    let mut found = Vec::new();
    for folder in ["src", "decoder/src", "export/src", "python/src"] {
        let is_code = |source: &Source| source.path.ends_with(".rs") && !source.path.contains("tests");
        for source in sources_below(folder).into_iter().filter(is_code) {
            for line in code_of(&source).lines().filter(|line| line.contains(", String>")) {
                let is_parser = line.contains("(text: &str)") || line.contains("fn from_str(");
                if line.contains("Result<") && !is_parser {
                    found.push(format!("{folder}/{}: {}", source.path, line.trim()));
                }
            }
        }
    }
    assert!(found.len() < 10, "{found:#?}");
}
