//! Complete rows of small captures: each column is as docs/tables.md describes it.

use std::fs::{self, File};
use std::path::Path;

use a4emu_inspect::asm::{Disk, capture_of};
use a4emu_support::folders::Folders;
use libtest_mimic::Trial;
use parquet::file::reader::{FileReader, SerializedFileReader};

use crate::{export, root, tessellated, trial};

/// A buffer that each of two submits of a process calls twice.
const CALLS: &str = "gpu_id 420
cmd \"maker/7: fence=1\\0\"
buffer sub @ 0x1000 {
    CP_NOP(1, 2, 3)
    RB_DEPTH_CONTROL = 0x16
}
buffer main @ 0x2000 {
    RB_DEPTH_CONTROL = 0x12
    call sub
    call sub
}
submit main
submit main
";

/// Rows of table `name`, in the only partition in `tables`.
fn rows(tables: &Path, name: &str) -> Vec<String> {
    let folders = fs::read_dir(tables).unwrap().map(|entry| entry.unwrap().path());
    let partition = folders.filter(|path| path.is_dir()).last().unwrap();
    let file = File::open(partition.join(format!("{name}.parquet"))).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect()
}

/// Exports a capture to a temporary folder.
fn tables(capture: &Path) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    export(folder.path(), &[capture.to_str().unwrap(), "--parquet", ".", "--quiet"]).assert().success();
    folder
}

/// With `--written` the folder has what a dispatch stores, also if it was there without.
fn what_commands_store_is_there_if_it_is_asked_for() {
    let capture = root().join("captures/compute.rd.gz");
    let tables = tables(&capture);
    let folders = || fs::read_dir(tables.path()).unwrap().map(|entry| entry.unwrap().path());
    let has = || folders().any(|folder| folder.join("written.parquet").exists());
    assert!(!has());
    let args = [capture.to_str().unwrap(), "--parquet", ".", "--quiet", "--written"];
    export(tables.path(), &args).assert().success();
    assert!(has());
    let rows = rows(tables.path(), "written");
    for buffer in ["CS buffer 0", "CS buffer 1"] {
        let named = format!("{{frame_draw: 0, what: \"{buffer}\", by: null, address: ");
        let row = rows.iter().find(|row| row.starts_with(&named));
        let row = row.unwrap_or_else(|| panic!("no {buffer} in {rows:?}"));
        assert!(!row.contains("changed: 0,") && !row.contains("after: []"), "{row}");
    }
}

fn calls_are_packets_as_often_as_they_run() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("calls.a4");
    fs::write(&source, CALLS).unwrap();
    let capture = folder.path().join("calls.rd");
    fs::write(&capture, capture_of(&source, &mut Disk::new(Folders::around(&source, &[]))).unwrap()).unwrap();
    let tables = tables(&capture);
    assert_eq!(
        rows(tables.path(), "submits"),
        [
            "{submit: 0, process: \"maker\", address: 8192, dwords: 8, first_draw: 0, first_write: 0}",
            "{submit: 1, process: \"maker\", address: 8192, dwords: 8, first_draw: 0, first_write: 3}",
        ]
    );
    let call = "kind: 3, opcode: 63, name: \"CP_INDIRECT_BUFFER\", dwords: 2, payload: [4096, 6]";
    let nop = "kind: 3, opcode: 16, name: \"CP_NOP\", dwords: 3, payload: [1, 2, 3]";
    let write = "kind: 0, opcode: null, name: null, dwords: 1, payload: []";
    let of_a_submit = [
        (8192, 0, false, write),
        (8200, 0, false, call),
        (4096, 1, false, nop),
        (4112, 1, false, write),
        (8212, 0, false, call),
        (4096, 1, true, nop),
        (4112, 1, true, write),
    ];
    let packets = (0..14).map(|number| {
        let (address, depth, repeated, packet) = of_a_submit[number % 7];
        let submit = number / 7;
        let at = format!("number: {number}, submit: {submit}, draw: 0, address: {address}, depth: {depth}");
        format!("{{{at}, repeated: {repeated}, {packet}}}")
    });
    assert_eq!(rows(tables.path(), "packets"), packets.collect::<Vec<_>>());
    let previous = ["null", "18", "22", "22", "18", "22"];
    let writes = (0..6).map(|number| {
        let (address, value) = [(8192, 18), (4112, 22), (4112, 22)][number % 3];
        let (submit, previous) = (number / 3, previous[number]);
        format!(
            "{{number: {number}, submit: {submit}, draw: 0, frame_draw: null, address: {address}, register: 8449, \
             name: \"RB_DEPTH_CONTROL\", value: {value}, previous: {previous}}}"
        )
    });
    assert_eq!(rows(tables.path(), "registers"), writes.collect::<Vec<_>>());
}

fn a_dispatch_and_a_texture_have_all_their_columns() {
    let compute = tables(&root().join("captures/compute.rd.gz"));
    let dispatches = rows(compute.path(), "draws");
    let expected = "{submit: 0, draw: 0, frame_draw: 0, address: 4294312220, kind: \"dispatch\", pass: null, \
        primitive: null, tess_mode: null, count: null, instances: null, groups: [8, 8, 1], writes: 96, vs: null, \
        hs: null, ds: null, gs: null, fs: null, cs: \"649e9ef5295c896d\"}";
    assert_eq!(dispatches[0], expected);
    let submits = rows(compute.path(), "submits");
    assert!(submits[1].contains("first_draw: 1, first_write: "), "{submits:?}");
    let mipmap = tables(&root().join("captures/mipmap.rd.gz"));
    let expected = "{submit: 1, draw: 2, frame_draw: 2, stage: \"FS\", slot: 0, samplers: [0], address: 4294160384, \
        bytes: 89860, kind: \"2D\", format: \"TFMT4_8_8_8_8_UNORM\", width: 128, height: 128, depth: 1, levels: 8, \
        pitch: 512, layer_bytes: 0, tiling: \"linear\", srgb: false, swap: \"WZYX\", swizzle: \"xyzw\", \
        unsupported: null}";
    assert_eq!(rows(mipmap.path(), "textures")[1], expected);
    let passes = rows(mipmap.path(), "draws");
    for (draw, pass) in ["bypass", "gmem", "gmem", "resolve", "resolve"].iter().enumerate() {
        assert!(passes[draw].contains(&format!("pass: \"{pass}\", primitive: ")), "{}", passes[draw]);
        assert!(passes[draw].contains("tess_mode: null, count: "), "it is no patch: {}", passes[draw]);
    }
    let (programs, first) = (rows(mipmap.path(), "shaders"), "stage: \"FS\", draw: 2, instructions: ");
    assert!(programs.iter().any(|row| row.contains(first) && row.contains("bary.f r0.z")), "{programs:?}");
}

fn a_finding_says_where_it_is() {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("barrier.rd");
    tessellated("tess-barrier", &capture);
    let found = rows(tables(&capture).path(), "findings");
    let expected = "{rule: \"S15\", severity: \"W\", confidence: \"doc\", what: \"bar in a hull shader may dead-lock\", \
        count: 1, submit: 0, draw: 1, frame_draw: 1, address: 268739744, pass: \"bypass\", stage: \"HS\", \
        hash: \"22b8e31ac2d59313\", instruction: 24, text: \"(ss)bar.g\"}";
    assert!(found.contains(&expected.to_owned()), "{found:?}");
}

/// Registers and packets have the names of the chip, and addresses have more than 32 bits.
fn an_a6xx_has_its_own_names() {
    let folder = tempfile::tempdir().unwrap();
    let (source, capture) = (root().join("captures/a6xx-stream.a4"), folder.path().join("stream.rd"));
    fs::write(&capture, capture_of(&source, &mut Disk::new(Folders::around(&source, &[]))).unwrap()).unwrap();
    let tables = folder.path().join("tables");
    let args = [capture.to_str().unwrap(), "--parquet", "tables", "--quiet"];
    export(folder.path(), &args).assert().success();
    let has = |table: &str, part: &str| {
        let rows = rows(&tables, table);
        assert!(rows.iter().any(|row| row.contains(part)), "no {part} in {rows:#?}");
    };
    has("captures", "gpu: 630, submits: 1, draws: 4, frame_draws: 4,");
    has("captures", "generation: 6}");
    has("submits", "address: 4295294976, dwords: 134,");
    has(
        "registers",
        "address: 4295172096, register: 34914, name: \"RB_BLEND_BLUE_F32\", value: 1061158912, previous: null}",
    );
    has("registers", "name: \"RB_MRT[0].BASE_HI\", value: 1, previous: null}");
    has("packets", "kind: 4, opcode: null, name: null, dwords: 3, payload: []}");
    has("packets", "kind: 7, opcode: 101, name: \"CP_SET_MARKER\", dwords: 1, payload: [1]}");
    has("draws", "frame_draw: 2, address: 4295295484, kind: \"dispatch\"");
    has("draws", "frame_draw: 3, address: 4295295504, kind: \"blit\"");
    let database = |name: &str| {
        let file = File::open(tables.join(format!("{name}.parquet"))).unwrap();
        let reader = SerializedFileReader::new(file).unwrap();
        reader.get_row_iter(None).unwrap().map(|row| row.unwrap().to_string()).collect::<Vec<_>>()
    };
    let fields = database("fields");
    for (name, generation) in [("RB_DEPTH_CONTROL", 4), ("RB_DEPTH_CNTL", 6)] {
        let of = |row: &&String| row.contains(&format!("name: \"{name}\", field: \"ZFUNC\""));
        let found: Vec<&String> = fields.iter().filter(of).collect();
        let [row] = found[..] else { panic!("{found:?}") };
        assert!(row.ends_with(&format!("generation: {generation}}}")), "{row}");
    }
    assert!(database("enumerators").iter().any(|row| row.ends_with("generation: 6}")));
}

/// All tests of this file.
pub fn trials() -> Vec<Trial> {
    let all: [(&str, fn()); 5] = [
        ("an A6xx has its own names", an_a6xx_has_its_own_names),
        ("what commands store is there if it is asked for", what_commands_store_is_there_if_it_is_asked_for),
        ("calls are packets as often as they run", calls_are_packets_as_often_as_they_run),
        ("a dispatch and a texture have all their columns", a_dispatch_and_a_texture_have_all_their_columns),
        ("a finding says where it is", a_finding_says_where_it_is),
    ];
    all.into_iter().map(trial).collect()
}
