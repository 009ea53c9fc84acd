//! docs/schema.md matches the output of the commands: every key that occurs is documented with its type, and
//! every documented key occurs or is marked optional.

#[path = "schema/json_schema.rs"]
mod json_schema;

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The tables of docs/schema.md: object -> path of a key -> its type.
struct Schema {
    tables: BTreeMap<String, BTreeMap<String, String>>,
    /// The JSON Schema of the page, with validators.
    json: Value,
    validators: BTreeMap<String, jsonschema::Validator>,
    seen: RefCell<BTreeSet<(String, String)>>,
}

impl Schema {
    fn read() -> Self {
        let mut tables: BTreeMap<String, BTreeMap<String, String>> = BTreeMap::new();
        let mut object = String::new();
        for line in fs::read_to_string(root().join("docs/schema.md")).unwrap().lines() {
            if let Some(heading) = line.strip_prefix("### ") {
                object = heading.to_owned();
            } else if let Some((key, rest)) = line.strip_prefix("| `").and_then(|row| row.split_once("` | "))
            {
                let ty = rest.split(" |").next().unwrap().to_owned();
                let fresh = tables.entry(object.clone()).or_default().insert(key.to_owned(), ty).is_none();
                assert!(fresh, "{object} documents {key} twice");
            }
        }
        let json = json_schema::of(&tables);
        let validator = |object: &String| (object.clone(), json_schema::validator(&json, object));
        let validators = tables.keys().map(validator).collect();
        Self { tables, json, validators, seen: RefCell::default() }
    }

    /// Checks a printed value against the tables and the JSON Schema.
    fn holds(&self, object: &str, value: &Value) {
        self.check(object, "", value);
        let errors: Vec<String> =
            self.validators[object].iter_errors(value).map(|error| error.to_string()).collect();
        assert_eq!(errors, Vec::<String>::new(), "{object}: {value}");
    }

    /// The type of the key at `path`. If only keys below it are documented, the type of its parent.
    fn ty(&self, object: &str, path: &str) -> Option<String> {
        let table = self.tables.get(object).unwrap_or_else(|| panic!("no table for {object}"));
        let below = |key: &String| key.strip_prefix(path).is_some_and(|rest| rest.starts_with('.'));
        table.get(path).cloned().or_else(|| table.keys().any(below).then(|| "object".into()))
    }

    /// Keys that an object at `prefix` may have: the keys documented one level below it.
    fn children(&self, object: &str, prefix: &str) -> BTreeSet<String> {
        let below = |key: &String| {
            let rest = key.strip_prefix(prefix)?;
            let first = rest.split('.').next().unwrap();
            Some(first.trim_end_matches("[]").to_owned())
        };
        self.tables[object].keys().filter_map(below).collect()
    }

    /// Checks a printed object, or one inside of it, against the tables.
    fn check(&self, object: &str, prefix: &str, value: &Value) {
        let found = value.as_object().unwrap_or_else(|| panic!("{object}: {prefix} is {value}"));
        for key in self.children(object, prefix) {
            let ty = self.ty(object, &format!("{prefix}{key}")).unwrap();
            assert!(found.contains_key(&key) || ty.contains("optional"), "{object} lacks {prefix}{key}");
        }
        for (key, value) in found {
            let path = format!("{prefix}{key}");
            let ty = self.ty(object, &path).unwrap_or_else(|| panic!("{object}: {path} is not documented"));
            self.seen.borrow_mut().insert((object.to_owned(), path.clone()));
            self.value(object, &path, ty.trim_end_matches(", optional"), value);
        }
    }

    fn value(&self, object: &str, path: &str, ty: &str, value: &Value) {
        // In the type of a list, "or" applies to the list's elements.
        let types = if ty.starts_with("array of ") { vec![ty] } else { ty.split(" or ").collect() };
        let fits = types.into_iter().any(|ty| match (ty, value) {
            ("integer", Value::Number(number)) => number.is_u64() || number.is_i64(),
            ("boolean", Value::Bool(_))
            | ("null", Value::Null)
            | ("number", Value::Number(_))
            | ("string", Value::String(_)) => true,
            ("float", Value::Number(_) | Value::Null) => true,
            ("map" | "object", Value::Object(_)) => true,
            (list, Value::Array(items)) => {
                let Some(of) = list.strip_prefix("array of ") else { return false };
                items.iter().for_each(|item| self.value(object, &format!("{path}[]"), of, item));
                true
            }
            _ => false,
        });
        assert!(fits, "{object}: {path} is {value}, not {ty}");
        if ty.split(" or ").any(|ty| ty == "object") && value.is_object() {
            self.check(object, &format!("{path}."), value);
        }
    }

    /// Every key that is documented without "optional" has occurred.
    fn all_seen(&self) {
        let seen = self.seen.borrow();
        for (object, table) in &self.tables {
            for (path, ty) in table {
                let known = seen.contains(&(object.clone(), path.clone())) || ty.contains("optional");
                assert!(known, "{object}: no output has {path}");
            }
        }
    }
}

/// The stdout of `a4emu`, for any exit status.
fn a4emu(args: &[&str]) -> String {
    let output = Command::cargo_bin("a4emu").unwrap().current_dir(root()).args(args).output().unwrap();
    String::from_utf8(output.stdout).unwrap()
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn section(id: u32, payload: &[u32]) -> Vec<u8> {
    bytes(&[&[id, payload.len() as u32 * 4], payload].concat())
}

/// A submit that calls a missing buffer and has an unknown packet.
fn damaged(folder: &Path) -> PathBuf {
    let stream = [0xc001_3f00, 0x9000, 4, 0xc000_7e00, 0];
    let address = 0x1000;
    let sections = [
        section(13, &[420]),
        section(3, &[address, stream.len() as u32 * 4, 0]),
        section(12, &stream),
        section(6, &[address, stream.len() as u32, 0]),
    ];
    let path = folder.join("damaged.rd");
    fs::write(&path, sections.concat()).unwrap();
    path
}

/// Assembles `captures/geometry/NAME.a4`.
fn assembled(folder: &Path, name: &str) -> String {
    let capture = folder.join(format!("{name}.rd")).to_str().unwrap().to_owned();
    a4emu(&["asm", &format!("captures/geometry/{name}.a4"), "--include", "captures", "-o", &capture]);
    capture
}

fn check_lines(schema: &Schema, args: &[&str]) {
    let text = a4emu(&[&["decode", "--format", "jsonl"], args].concat());
    assert!(!text.is_empty(), "{args:?} prints nothing");
    for line in text.lines() {
        let value = json(line);
        schema.holds(&format!("jsonl {}", value["kind"].as_str().unwrap()), &value);
    }
}

fn check_jsonl(schema: &Schema, damaged: &str) {
    for capture in ["captures/blend.rd.gz", "captures/compute.rd.gz"] {
        check_lines(schema, &[capture, "--shaders"]);
        let names = ["RB_DEPTH_CONTROL", "VPC_SO[0].NCOMP", "CP_LOAD_STATE4_1"].map(|name| ["--query", name]);
        let query = [&[capture][..], names.as_flattened()].concat();
        check_lines(schema, &query);
        check_lines(schema, &[&query[..], &["--query-mode", "values"]].concat());
    }
    check_lines(schema, &[damaged]);
    let hung = Path::new(damaged).with_file_name("hung.devcore");
    fs::write(&hung, crate::devcore::hung()).unwrap();
    check_lines(schema, &[hung.to_str().unwrap()]);
    schema.holds("show --json", &json(&a4emu(&["show", hung.to_str().unwrap(), "--json"])));
    check_lines(schema, &["captures/triangle.rd.gz", damaged]);
}

fn check_explain(schema: &Schema) {
    for (object, args) in [
        ("explain REGISTER --json", &["RB_DEPTH_CONTROL", "0x76"][..]),
        ("explain PATTERN --json", &["RB_MRT*"]),
        ("explain PATTERN --json", &["*"]),
        ("explain ir3 --json", &["ir3", "a0c01f04_00000005"]),
        ("explain ir3 --json", &["0xa0c01f0400000005"]),
        ("explain PACKET --json", &["cp_load_state4"]),
        ("explain PACKET --json", &["CP_INDIRECT_BUFFER_PFE"]),
        ("explain WORD --json", &["CP_LOAD_STATE4_0", "0x340000"]),
        ("explain PATTERN --json", &["STATE_TYPE"]),
        ("explain ENUMERATOR --json", &["FUNC_LESS"]),
        ("explain MNEMONIC --json", &["bary.f"]),
        ("explain MNEMONIC --json", &["fadd"]),
        ("explain pico WORD.. --json", &["pico", "21", "3c09e", "ffffffff"]),
        ("explain ADDRESS --json", &["0xfff5f020", "--capture", "captures/cube.rd.gz"]),
        ("explain RULE --json", &["d1"]),
        ("explain GUESS --json", &["fill-rule"]),
        ("explain TERM --json", &["warp"]),
        ("explain pm4 --json", &["pm4", "c0023800", "84", "1", "3", "2101", "6"]),
    ] {
        schema.holds(object, &json(&a4emu(&[&["explain", "--json"], args].concat())));
    }
}

/// A finding in a program, and one in packets.
fn check_validate(schema: &Schema, folder: &Path) {
    let source = folder.join("broken.a4");
    let text = "gpu_id 420\nbuffer main {\n CP_LOAD_STATE4({ NUM_UNIT = 2 | STATE_BLOCK = SB4_FS_SHADER }, { STATE_TYPE = ST4_CONSTANTS }, 0)\n}\nsubmit main\n";
    fs::write(&source, text).unwrap();
    let capture = folder.join("broken.rd").to_str().unwrap().to_owned();
    a4emu(&["asm", source.to_str().unwrap(), "-o", &capture]);
    let hull = assembled(folder, "tess-barrier");
    for args in [&[capture.as_str()][..], &["--no-render", hull.as_str(), capture.as_str()]] {
        let text = a4emu(&[&["validate", "--json"], args].concat());
        assert!(!text.is_empty(), "{args:?} says nothing");
        text.lines().for_each(|line| schema.holds("validate --json", &json(line)));
    }
}

/// The output of `pixel` with every verdict, and for a copy.
fn check_pixel(schema: &Schema, folder: &Path) {
    let verdicts = folder.join("verdicts.rd").to_str().unwrap().to_owned();
    a4emu(&["asm", "captures/verdicts.a4", "-o", &verdicts]);
    for capture in [verdicts.as_str(), "captures/many.rd.gz"] {
        schema.holds("pixel --json", &json(&a4emu(&["pixel", capture, "10,10", "--json"])));
    }
}

/// Memory with changes, missing bytes and users.
fn check_memory(schema: &Schema) {
    let memory =
        |args: &[&str]| schema.holds("memory --json", &json(&a4emu(&[&["memory", "--json"], args].concat())));
    memory(&["captures/compute.rd.gz", "buffer CS 0", "--draw", "f0", "--changed", "f0", "--who"]);
    memory(&["captures/cube.rd.gz", "VFD_FETCH[0]", "--draw", "f1", "--before"]);
    memory(&["captures/cube.rd.gz", "0x1000"]);
}

fn check_replay(schema: &Schema, folder: &Path, damaged: &str) {
    let (points, patches) = (assembled(folder, "gs-instanced"), assembled(folder, "tess-quad-odd"));
    for capture in ["captures/blend.rd.gz", &points, &patches] {
        schema.holds("replay --stats", &json(&a4emu(&["replay", capture, "--stats"])));
        schema.holds("replay --stats", &json(&a4emu(&["replay", capture, "--stats", "--fidelity"])));
        schema.holds("replay --coverage", &json(&a4emu(&["replay", capture, "--coverage", "-"])));
        schema.holds("replay --loop", &json(&a4emu(&["replay", capture, "--loop", "1"])));
    }
    schema.holds("replay --timeline", &json(&a4emu(&["replay", "captures/cube.rd.gz", "--timeline", "-"])));
    for capture in ["captures/cube.rd.gz", damaged] {
        let out = folder.join("out");
        a4emu(&["replay", capture, "--out", out.to_str().unwrap()]);
        schema.holds("summary.json", &json(&fs::read_to_string(out.join("summary.json")).unwrap()));
    }
}

fn check_show(schema: &Schema, folder: &Path, damaged: &str) {
    let drawn: Vec<String> = ["blend", "stencil", "shadow", "image", "cubemap", "compute", "fbo", "cube"]
        .map(|name| format!("captures/{name}.rd.gz"))
        .into_iter()
        .chain([assembled(folder, "tess-gs"), damaged.to_owned()])
        .collect();
    for capture in &drawn {
        let frame = json(&a4emu(&["show", capture, "--json"]));
        schema.holds("show --json", &frame);
        for row in frame["rows"].as_array().unwrap() {
            let draw = format!("f{}", row["frame_draw"]);
            let shown = a4emu(&["show", capture, "--draw", &draw, "--json", "--registers"]);
            schema.holds("show --draw", &json(&shown));
        }
    }
    let overlays = ["cost", "depth"].map(|kind| format!("{kind}={}", folder.join(kind).display()));
    let overlays = ["--overlay", &overlays[0], "--overlay", &overlays[1]];
    let a6xx = folder.join("a6xx-draw.rd").to_str().unwrap().to_owned();
    a4emu(&["asm", "captures/a6xx-draw.a4", "-o", &a6xx]);
    let blits = folder.join("blits.a4");
    fs::write(&blits, crate::a6xx::BLITS).unwrap();
    let of_blits = folder.join("blits.rd").to_str().unwrap().to_owned();
    a4emu(&["asm", blits.to_str().unwrap(), "-o", &of_blits]);
    check_lines(schema, &[&of_blits]);
    schema.holds("show --json", &json(&a4emu(&["show", &of_blits, "--json"])));
    for draw in ["f0", "f1", "f2"] {
        schema.holds("show --draw", &json(&a4emu(&["show", &of_blits, "--draw", draw, "--json"])));
    }
    schema.holds("show --json", &json(&a4emu(&["show", &a6xx, "--json"])));
    for draw in ["f0", "f1", "f2"] {
        schema.holds("show --draw", &json(&a4emu(&["show", &a6xx, "--draw", draw, "--json"])));
    }
    let drawn = ["show", "captures/blend.rd.gz", "--json"];
    schema.holds("show --json", &json(&a4emu(&[&drawn[..], &overlays].concat())));
    schema.holds("show --draw", &json(&a4emu(&[&drawn[..], &["--draw", "f1"], &overlays].concat())));
    let passed_on = assembled(folder, "gs-passthrough");
    let runs = ["show", &passed_on, "--draw", "f1", "--json", "--runs-of", "0"];
    schema.holds("show --draw", &json(&a4emu(&runs)));
}

/// `check` on a fixture with another golden state.
fn check_fixture(schema: &Schema, folder: &Path) {
    let case = folder.join("cases/triangle");
    fs::create_dir_all(&case).unwrap();
    fs::copy(root().join("captures/triangle.rd.gz"), case.join("triangle.rd.gz")).unwrap();
    fs::write(case.join("case.toml"), "capture = \"triangle.rd.gz\"\nneeds = [\"replay\"]\n").unwrap();
    let cases = folder.join("cases").to_str().unwrap().to_owned();
    a4emu(&["check", "--fixtures", &cases, "--bless"]);
    let golden = fs::read_to_string(case.join("state.txt")).unwrap();
    fs::write(case.join("state.txt"), golden.replacen("0x0003ffe0", "0x0003ffc0", 1)).unwrap();
    let artifacts = folder.join("artifacts").to_str().unwrap().to_owned();
    let checked = ["check", "--fixtures", &cases, "--json", "--artifacts", &artifacts];
    schema.holds("check --json", &json(&a4emu(&checked)));
}

/// `diff` of captures with an added draw, a packet as the first cause, and pictures.
fn check_diff(schema: &Schema, folder: &Path) {
    let pictures = folder.join("pictures");
    let cube = "captures/cube.rd.gz";
    let of = |args: &[&str]| json(&a4emu(&[&["diff", "--json"], args].concat()));
    let pair = [cube, "captures/torus.rd.gz", "--images", pictures.to_str().unwrap()];
    schema.holds("diff --json", &of(&pair));
    schema.holds("diff --json", &of(&["--first", cube, "captures/torus.rd.gz"]));
    schema.holds("diff --json", &of(&["captures/cube.rd.gz:0", "captures/cube.rd.gz:1"]));
}

#[cfg(target_os = "linux")]
fn check_run(schema: &Schema) {
    use a4emu_process::summary::{Note, Summary};
    let note = || vec![Note { what: "something".into(), first: "submit 0".into(), count: 2 }];
    let mut summary = Summary { process: "demo/7".into(), ..Summary::default() };
    (summary.faults, summary.unsupported) = (note(), note());
    (summary.cuts, summary.outside) = (note(), note());
    summary.trouble = Some("nothing to write to".into());
    schema.holds("run --stats", &serde_json::to_value(&summary).unwrap());
}

/// A corpus with a damaged capture, and a capture that differs in the second run.
fn check_corpus(schema: &Schema, folder: &Path, damaged: &str) {
    let corpus = folder.join("corpus");
    fs::create_dir(&corpus).unwrap();
    fs::copy(damaged, corpus.join("damaged.rd")).unwrap();
    fs::write(corpus.join("text.rd"), "no capture").unwrap();
    let run = |name: &str, of: &str, work: &str| {
        fs::copy(root().join(of), corpus.join("a.rd.gz")).unwrap();
        let to = folder.join(name).to_str().unwrap().to_owned();
        let corpus = corpus.to_str().unwrap();
        let noted = ["--draws", "--coverage", "--validate", "--max-work", work];
        a4emu(&[&["corpus", "run", corpus, "-o", &to], &noted[..]].concat());
        let log = fs::read_to_string(Path::new(&to).join("log.jsonl")).unwrap();
        log.lines().for_each(|line| schema.holds("corpus row", &json(line)));
        to
    };
    let [one, other] =
        [run("one", "captures/attribs.rd.gz", "16G"), run("other", "captures/blend.rd.gz", "100K")];
    let compared = a4emu(&["corpus", "compare", &one, &other, "--json"]);
    assert!(!compared.is_empty());
    compared.lines().for_each(|line| schema.holds("corpus compare --json", &json(line)));
    for args in [&["--unused"][..], &["--against", &other]] {
        let report = a4emu(&[&["corpus", "coverage", &one, "--json"], args].concat());
        schema.holds("corpus coverage --json", &json(&report));
    }
}

#[test]
fn outputs_are_as_documented() {
    let schema = Schema::read();
    let folder = tempfile::tempdir().unwrap();
    let damaged = damaged(folder.path());
    let damaged = damaged.to_str().unwrap();
    check_jsonl(&schema, damaged);
    check_explain(&schema);
    check_memory(&schema);
    check_pixel(&schema, folder.path());
    check_validate(&schema, folder.path());
    check_replay(&schema, folder.path(), damaged);
    check_show(&schema, folder.path(), damaged);
    check_fixture(&schema, folder.path());
    check_diff(&schema, folder.path());
    check_corpus(&schema, folder.path(), damaged);
    #[cfg(target_os = "linux")]
    check_run(&schema);
    schema.all_seen();
}

/// docs/schema.json is docs/schema.md as JSON Schema. `SCHEMA_BLESS=1` writes it.
#[test]
fn the_json_schema_is_that_of_the_page() {
    let path = root().join("docs/schema.json");
    let text = serde_json::to_string_pretty(&Schema::read().json).unwrap() + "\n";
    if std::env::var_os("SCHEMA_BLESS").is_some() {
        fs::write(&path, &text).unwrap();
    }
    let written = fs::read_to_string(&path).unwrap_or_default();
    assert!(written == text, "docs/schema.json is old: SCHEMA_BLESS=1 cargo test --test all schema");
    assert!(jsonschema::meta::is_valid(&json(&text)), "it is no JSON Schema");
}
