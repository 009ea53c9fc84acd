//! The output of `decode` and `info` with their options, on small captures, through the binary.

use assert_cmd::Command;
use pretty_assertions::assert_eq;

/// Sections of a capture, in the 12-byte address form.
fn section(id: u32, payload: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(payload.len() as u32).to_le_bytes(), payload].concat()
}

fn bytes(dwords: &[u32]) -> Vec<u8> {
    dwords.iter().flat_map(|dword| dword.to_le_bytes()).collect()
}

fn buffer(address: u32, dwords: &[u32]) -> Vec<u8> {
    let record = [address, dwords.len() as u32 * 4, 0];
    [section(3, &bytes(&record)), section(12, &bytes(dwords))].concat()
}

fn submit(comm: &str, address: u32, dwords: u32) -> Vec<u8> {
    [section(2, comm.as_bytes()), section(6, &bytes(&[address, dwords, 0]))].concat()
}

fn write(register: u32, value: u32) -> Vec<u32> {
    vec![register, value]
}

fn call(address: u32, dwords: usize) -> Vec<u32> {
    vec![0xc001_3f00, address, dwords as u32]
}

/// A draw of `count` vertices as TRILIST, indices counting up.
fn draw(count: u32) -> Vec<u32> {
    vec![0xc002_3800, 0x84, 1, count]
}

const RENDER_CONTROL: u32 = 0x20a1;
const DEPTH_CONTROL: u32 = 0x2101;

/// Submit 0 runs one buffer for two tiles, with draws 0 to 3. Submit 1 has draw 4.
fn capture() -> Vec<u8> {
    let inner = [write(DEPTH_CONTROL, 2), draw(3), write(DEPTH_CONTROL, 6), draw(6)].concat();
    let tile = |offset| [write(0x2121, offset), call(0x2000, inner.len())].concat();
    let outer = [tile(0), tile(0x100)].concat();
    let last = [write(RENDER_CONTROL, 8), draw(9)].concat();
    [
        section(13, &bytes(&[420])),
        buffer(0x2000, &inner),
        buffer(0x1000, &outer),
        submit("demo/7: fence=1\0", 0x1000, outer.len() as u32),
        buffer(0x1000, &last),
        submit("demo/7: fence=2\0", 0x1000, last.len() as u32),
    ]
    .concat()
}

fn a4emu(args: &[&str], input: Vec<u8>) -> String {
    let mut command = Command::cargo_bin("a4emu").unwrap();
    let output = command.args(args).arg("-").write_stdin(input).assert().success().get_output().clone();
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
    String::from_utf8(output.stdout).unwrap()
}

fn jsonl(args: &[&str]) -> Vec<serde_json::Value> {
    let args = [&["decode", "--format", "jsonl"], args].concat();
    a4emu(&args, capture()).lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn draws(events: &[serde_json::Value]) -> Vec<(u64, u64, u64)> {
    let number = |event: &serde_json::Value, key: &str| event[key].as_u64().unwrap();
    let draws = events.iter().filter(|event| event["kind"] == "draw");
    draws.map(|event| (number(event, "submit"), number(event, "draw"), number(event, "count"))).collect()
}

#[test]
fn events_have_the_documented_form() {
    let lines = a4emu(&["decode", "--format", "jsonl", "--submit", "1"], capture());
    assert_eq!(
        lines,
        concat!(
            r#"{"kind":"submit","submit":1,"comm":"demo","address":4096,"dwords":6}"#,
            "\n",
            r#"{"kind":"reg","submit":1,"address":4096,"reg":8353,"name":"RB_RENDER_CONTROL","value":8,"fields":{}}"#,
            "\n",
            r#"{"kind":"packet","submit":1,"address":4104,"opcode":56,"name":"CP_DRAW_INDX_OFFSET","dwords":[132,1,9],"fields":{"PRIM_TYPE":"DI_PT_TRILIST","SOURCE_SELECT":"DI_SRC_SEL_AUTO_INDEX","VIS_CULL":"IGNORE_VISIBILITY","INDEX_SIZE":"INDEX4_SIZE_8_BIT","PATCH_TYPE":"TESS_QUADS","TESS_MODE":"TESS_NONE","NUM_INSTANCES":1,"NUM_INDICES":9}}"#,
            "\n",
            r#"{"kind":"draw","submit":1,"draw":4,"frame_draw":2,"primitive":"TRILIST","count":9,"instances":1,"pass":"bypass"}"#,
            "\n"
        )
    );
}

#[test]
fn ranges_count_over_the_whole_capture() {
    assert_eq!(draws(&jsonl(&[])), [(0, 0, 3), (0, 1, 6), (0, 2, 3), (0, 3, 6), (1, 4, 9)]);
    assert_eq!(draws(&jsonl(&["--draw", "3..5"])), [(0, 3, 6), (1, 4, 9)]);
    assert_eq!(draws(&jsonl(&["--draw", "..1"])), [(0, 0, 3)]);
    assert_eq!(draws(&jsonl(&["--submit", "1"])), [(1, 4, 9)]);
}

#[test]
fn once_shows_a_tile_loop_the_first_time() {
    let events = jsonl(&["--once"]);
    assert_eq!(draws(&events), [(0, 0, 3), (0, 1, 6), (1, 4, 9)]);
    let offsets = events.iter().filter(|event| event["reg"] == 0x2121).count();
    assert_eq!(offsets, 2, "what the caller writes for each tile stays");
}

#[test]
fn queries_by_name_and_offset() {
    let query = |args: &[&str]| a4emu(&[&["decode", "--color", "never"], args].concat(), capture());
    let written = query(&["--query", "RB_DEPTH_CONTROL", "--query-mode", "written"]);
    assert_eq!(written.lines().count(), 4, "{written}");
    let delta = query(&["--query", "0x2121", "--query-mode", "delta"]);
    let starts: Vec<_> = delta.lines().map(|line| line.split(" TRILIST").next().unwrap()).collect();
    assert_eq!(starts, ["submit 0 draw 0 f0", "submit 0 draw 2 f0"]);
    let values = query(&["--query", "0x2121", "--query-mode", "values"]);
    let counts: Vec<_> = values.lines().map(|line| line.rsplit_once(": ").unwrap().1).collect();
    assert_eq!(
        counts,
        [
            "2 runs, f0 (submit 0, run 0) to f1 (submit 0, run 1)",
            "3 runs, f0 (submit 0, run 2) to f2 (submit 1, run 4)"
        ]
    );
    let all = query(&["--query", "RB_RENDER_CONTROL"]);
    assert_eq!(all.lines().filter(|line| line.ends_with("was never written")).count(), 4, "{all}");
    let json = query(&["--query", "RB_DEPTH_CONTROL", "--format", "jsonl", "--draw", "1"]);
    assert!(json.starts_with(
        r#"{"kind":"query","submit":0,"draw":1,"frame_draw":1,"reg":8449,"name":"RB_DEPTH_CONTROL","value":6,"#
    ));
    assert_eq!(json.lines().count(), 1);
    let mut unknown = Command::cargo_bin("a4emu").unwrap();
    unknown.args(["decode", "--query", "NO_SUCH", "-"]).write_stdin(capture()).assert().code(2);
}

#[test]
fn queries_by_pattern_field_and_listed_offset() {
    let query = |args: &[&str]| a4emu(&[&["decode", "--color", "never"], args].concat(), capture());
    assert_eq!(query(&["--query", "2101"]), query(&["--query", "rb_depth_control"]));
    // Of the registers that match a pattern, only the written ones are printed.
    let all = query(&["--query", "rb_*_control"]);
    assert_eq!(all.lines().filter(|line| line.contains("RB_RENDER_CONTROL = 00000008")).count(), 1, "{all}");
    assert_eq!(all.lines().count(), 6, "{all}");
    let field = query(&["--query", "RB_DEPTH_CONTROL.Z_WRITE_ENABLE", "--query-mode", "delta"]);
    let shown: Vec<_> = field.lines().map(|line| line.rsplit(" = ").next().unwrap()).collect();
    assert_eq!(
        shown,
        ["00000002 { 0 }", "00000006 { Z_WRITE_ENABLE }", "00000002 { 0 }", "00000006 { Z_WRITE_ENABLE }"]
    );
    let json = query(&["--query", "RB_DEPTH_CONTROL.Z_TEST_ENABLE", "--format", "jsonl", "--draw", "1"]);
    assert!(json.contains(r#""value":6,"fields":{"Z_TEST_ENABLE":true}}"#), "{json}");
    for wrong in ["RB_DEPTH_CONTRL", "RB_DEPTH_CONTROL.NO", "nothing*"] {
        let mut command = Command::cargo_bin("a4emu").unwrap();
        let run = command.args(["decode", "--query", wrong, "-"]).write_stdin(capture()).assert().code(2);
        let said = String::from_utf8_lossy(&run.get_output().stderr).into_owned();
        assert_eq!(said.contains("did you mean `RB_DEPTH_CONTROL`"), wrong == "RB_DEPTH_CONTRL", "{said}");
    }
}

/// Packets that load one vec4 of constants and one sampler of the fragment shader.
fn loads() -> Vec<u32> {
    let constants = vec![0xc005_3000, 1 << 22 | 12 << 18 | 3, 1, 0x3f80_0000, 0xc000_0000, 0x7f80_0000, 0];
    let sampler = vec![0xc003_3000, 1 << 22 | 4 << 18, 0, 0x0000_0002, 0x0000_0020];
    [constants.clone(), sampler].concat()
}

#[test]
fn loads_from_packets_are_decoded() {
    let stream = [loads(), draw(3)].concat();
    let input = [
        section(13, &bytes(&[420])),
        buffer(0x1000, &stream),
        submit("demo/7: fence=1\0", 0x1000, stream.len() as u32),
    ]
    .concat();
    let text = a4emu(&["decode", "--format", "jsonl"], input);
    let states: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .filter(|event: &serde_json::Value| event["kind"] == "state")
        .collect();
    let of =
        |what: &str| states.iter().find(|state| state["what"] == what).unwrap_or_else(|| panic!("{text}"));
    let constants = of("constants");
    assert_eq!((&constants["stage"], &constants["first"]), (&"FS".into(), &3.into()));
    assert_eq!(constants["units"][0]["floats"], serde_json::json!([1.0, -2.0, null, 0.0]));
    assert_eq!(constants["missing"], 0);
    let words = &of("samplers")["units"][0]["words"];
    assert_eq!(words["TEX_SAMP_0"]["XY_MAG"], "A4XX_TEX_LINEAR", "{words}");
    assert_eq!(words["TEX_SAMP_1"]["UNNORM_COORDS"], true);
}

#[test]
fn with_several_captures_objects_name_theirs() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a \"b\".rd");
    std::fs::write(&path, capture()).unwrap();
    let name = path.display().to_string();
    let lines = a4emu(&["decode", "--format", "jsonl", &name], capture());
    let events: Vec<serde_json::Value> =
        lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |file: &str| events.iter().filter(|event| event["file"] == file).cloned().collect::<Vec<_>>();
    assert_eq!(of(&name).len() + of("-").len(), events.len(), "{lines}");
    assert_eq!(of(&name).len(), of("-").len());
    assert!(jsonl(&[]).iter().all(|event| event.get("file").is_none()));
    let query = a4emu(&["decode", "--format", "jsonl", "--query", "2101", &name], capture());
    assert!(query.lines().all(|line| line.contains(r#","file":""#)), "{query}");
}

#[test]
fn a_selected_draw_shows_what_it_inherits() {
    let all = a4emu(&["decode"], capture());
    assert!(!all.contains("in effect"), "{all}");
    // Only the first draw sets up the target.
    let mut setup = write(0x20fb, 0xf);
    setup.extend(write(0x20a6, 0x5000));
    let stream = [setup, draw(3), draw(4)].concat();
    let input = || {
        let sections = [
            section(13, &bytes(&[420])),
            buffer(0x1000, &stream),
            submit("demo/7: fence=1\0", 0x1000, stream.len() as u32),
        ];
        sections.concat()
    };
    let text = a4emu(&["decode", "--draw", "1"], input());
    assert!(text.contains("in effect at draw 1 f1:\n    VS: no shader"), "{text}");
    assert!(text.contains("    target 0: at 00005000"), "{text}");
    let frame = a4emu(&["decode", "--draw", "f1"], input());
    assert!(frame.contains("in effect at draw 1 f1:") && !frame.contains("in effect at draw 0"), "{frame}");
}

#[test]
fn the_listing_says_what_changed() {
    let text = a4emu(&["decode", "--submit", "0", "--draw", "1"], capture());
    assert!(text.contains("2101 RB_DEPTH_CONTROL = 00000006 {"), "{text}");
    assert!(text.contains("draw 1 f1: TRILIST, 6 x 1, bypass; 1 registers written, 1 changed"), "{text}");
    assert!(text.contains("    RB_DEPTH_CONTROL = { "), "{text}");
    let summary = a4emu(&["decode", "--format", "summary"], capture());
    assert!(summary.contains("submit 1: 6 dwords at 00001000, demo/7: fence=2"));
    assert!(!summary.contains("CP_DRAW_INDX_OFFSET"), "{summary}");
}

#[test]
fn colour_only_when_asked_for() {
    assert!(!a4emu(&["decode"], capture()).contains('\x1b'));
    assert!(a4emu(&["decode", "--color", "always"], capture()).contains("\x1b[36mRB_DEPTH_CONTROL"));
}

#[test]
fn draw_state_groups_run_in_group_order_before_the_next_draw_only() {
    let groups =
        [vec![0xc003_4300, 5 << 24 | 2, 0x3000, 1 << 24 | 2, 0x4000], write(RENDER_CONTROL, 1)].concat();
    let stream = [groups, draw(3), draw(4)].concat();
    let input = [
        buffer(0x3000, &write(RENDER_CONTROL, 5)),
        buffer(0x4000, &write(RENDER_CONTROL, 4)),
        buffer(0x1000, &stream),
        submit("x", 0x1000, stream.len() as u32),
    ]
    .concat();
    let lines = a4emu(&["decode", "--format", "jsonl"], input);
    let order: Vec<String> = lines
        .lines()
        .map(|line| serde_json::from_str::<serde_json::Value>(line).unwrap())
        .filter_map(|event| match event["kind"].as_str() {
            Some("reg") => Some(format!("write {}", event["value"])),
            Some("draw") => Some(format!("draw {}", event["count"])),
            _ => None,
        })
        .collect();
    assert_eq!(order, ["write 1", "write 4", "write 5", "draw 3", "draw 4"]);
}

#[test]
fn shaders_constants_and_samplers_are_shown_where_they_are_loaded() {
    let end = [0, 0x0300_0000];
    let code: Vec<u32> = [end.to_vec(), vec![0; 30]].concat();
    let head = |block: u32, kind: u32, units: u32, dwords: u32| {
        vec![3 << 30 | (dwords + 1) << 16 | 0x3000, block << 18 | units << 22, kind]
    };
    let stream = [
        [head(0xc, 0, 1, 32), code].concat(),
        [head(0x8, 1, 1, 4), vec![0x3f80_0000, 0, 0, 0xbf80_0000]].concat(),
        [head(0x4, 0, 1, 2), vec![0, 0]].concat(),
    ]
    .concat();
    let input = [buffer(0x1000, &stream), submit("x", 0x1000, stream.len() as u32)].concat();
    let text = a4emu(&["decode"], input.clone());
    assert!(text.contains("0: 03000000_00000000  end"), "{text}");
    assert!(text.contains("c0: 3f800000 00000000 00000000 bf800000  1.0 0.0 0.0 -1.0"), "{text}");
    assert!(text.contains("[0] TEX_SAMP_1"), "{text}");
    let events = a4emu(&["decode", "--format", "jsonl", "--shaders"], input);
    assert!(events.contains(
        r#"{"kind":"instr","submit":0,"stage":"FS","address":4108,"index":0,"hi":50331648,"lo":0,"text":"end"}"#
    ));
}

/// `info`, `show`, `replay` and `--list-draws` count draws and frame draws alike. Here each of two submits runs one
/// buffer of a draw and a dispatch for two tiles, so that the list has one row for two frame draws.
#[test]
fn all_commands_count_draws_alike() {
    let dispatch = vec![0xc003_3300, 0, 1, 1, 1];
    let inner = [write(DEPTH_CONTROL, 2), draw(3), dispatch].concat();
    let outer = [call(0x2000, inner.len()), call(0x2000, inner.len())].concat();
    let run = |fence| submit(&format!("demo/7: fence={fence}\0"), 0x1000, outer.len() as u32);
    let capture =
        [section(13, &bytes(&[420])), buffer(0x2000, &inner), buffer(0x1000, &outer), run(1), run(2)]
            .concat();
    let info = a4emu(&["info", "--quiet"], capture.clone());
    for line in ["draws            8 (bypass 4, compute 4)", "frame draws      4"] {
        assert!(info.contains(line), "{line} is not in {info}");
    }
    let show = a4emu(&["show", "--quiet"], capture.clone());
    assert!(show.starts_with("A420: 2 submits, 8 draws, 4 frame draws;"), "{show}");
    assert!(show.contains("\nf0+f2 ") && show.contains("\nf1+f3 "), "{show}");
    assert!(show.contains("\n2 rows for 4 frame draws: a row has"), "{show}");
    assert_eq!(a4emu(&["replay", "--list-draws", "--quiet"], capture.clone()).lines().count(), 8);
    let output =
        Command::cargo_bin("a4emu").unwrap().args(["replay", "-"]).write_stdin(capture).output().unwrap();
    let account = String::from_utf8(output.stderr).unwrap();
    assert!(account.contains(" 8 draws, 4 frame draws in 2 submits"), "{account}");
}

#[test]
fn info_counts_what_is_there() {
    let info = a4emu(&["info", "--quiet"], capture());
    for line in [
        "gpu              420",
        "submits          2 (demo 2)",
        "draws            5 (bypass 5)",
        "frame draws      3",
        "register writes  7",
    ] {
        assert!(info.contains(line), "{line} is not in {info}");
    }
    let nothing = [section(6, &bytes(&[0x1000, 4, 0]))].concat();
    let mut command = Command::cargo_bin("a4emu").unwrap();
    command.args(["info", "-"]).write_stdin(nothing).assert().code(3);
}
