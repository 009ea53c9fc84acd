//! Each name that `decode` prints is one that `explain` and `--query` take.

use std::collections::BTreeSet;
use std::process::Command;

use a4emu_decoder::bits::{FieldRow, Kind};
use a4emu_decoder::generation::{DEFAULT, Generation};
use a4emu_inspect::explain::{Detail, Question, explained};
use a4emu_inspect::subjects::subjects;
use pretty_assertions::assert_eq;

/// The names of registers (of arrays, the first and the last element), packets, their dwords, words of descriptors,
/// their fields and enumerators. Events are enumerators of CP_EVENT_WRITE.
fn printed_names(generation: &'static Generation) -> BTreeSet<String> {
    let mut all = BTreeSet::new();
    let mut word = |name: String, fields: &[FieldRow]| {
        for row in fields {
            all.extend([format!("{name}.{}", row.name), row.name.to_owned()]);
            if let Kind::Enum(table) = row.kind {
                all.insert(table.name.to_owned());
                all.extend(table.values.iter().map(|(_, name)| (*name).to_owned()));
            }
        }
        all.insert(name);
    };
    for reg in generation.registers.all().filter(|reg| reg.index == 0 || reg.index + 1 == reg.row.len) {
        word(reg.to_string(), reg.fields());
    }
    for row in generation.packets.rows() {
        for index in 0..row.named_dwords() {
            let fields = row.dword(index).map_or(&[][..], |dword| dword.fields);
            word(row.dword_name(index), fields);
            row.names().for_each(|name| word(name.to_owned(), fields));
        }
    }
    for row in generation.descriptor_words() {
        word(row.name.to_owned(), row.fields);
    }
    all
}

#[test]
fn every_printed_name_is_explained_and_queried() {
    for name in [
        "CP_INDIRECT_BUFFER_PFE",
        "CP_REG_TO_MEM.64B",
        "CP_LOAD_STATE4_0",
        "CACHE_FLUSH_TS",
        "FUNC_LESS",
        "ZFUNC",
    ] {
        assert!(printed_names(DEFAULT).contains(name), "{name}");
    }
    for name in
        ["CP_LOAD_STATE6_FRAG_0", "CP_REG_TO_MEM.DEST_HI", "RM6_COMPUTE", "RB_MRT[7].BASE_HI", "TEX_CONST_2"]
    {
        assert!(Generation::numbered(6).is_some_and(|a6xx| printed_names(a6xx).contains(name)), "{name}");
    }
    for generation in Generation::all() {
        let all = printed_names(generation);
        assert!(all.len() > 3500, "{}", all.len());
        let wrong: Vec<String> = all.iter().filter_map(|name| unanswered(generation, name)).collect();
        assert_eq!(wrong, Vec::<String>::new());
    }
}

/// What does not answer for `name`, if something does not.
fn unanswered(generation: &'static Generation, name: &str) -> Option<String> {
    let (isa, detail, what, words) = (generation.isa(), Detail::Fields, name.to_owned(), Vec::new());
    let question = Question { generation, isa, detail, what, words, json: false };
    let text =
        explained(&question).map_or_else(|error| format!("error: {error}"), |explained| explained.text);
    // The field, the enumerator or the word itself, behind what it is a part of.
    let part = name.rsplit('.').next().unwrap_or(name);
    let is_told = !text.starts_with("error: ") && text.to_uppercase().contains(&part.to_uppercase());
    let is_found = subjects(generation, name).is_ok_and(|found| !found.is_empty());
    (!is_told || !is_found).then(|| format!("{name}: explained {is_told}, queried {is_found}"))
}

/// The lines of `decode --query` for a stream of packets with `arguments`.
fn queried(arguments: &[&str]) -> Vec<String> {
    let folder = tempfile::TempDir::new().unwrap();
    let (source, capture) = (folder.path().join("a.a4"), folder.path().join("a.rd"));
    let text = "gpu_id 420
        buffer inner { CP_NOP(7) }
        buffer main {
            CP_REG_TO_MEM({ REG = 0x9c | CNT = 2 | 64B }, inner + 64)
            CP_EVENT_WRITE({ EVENT = CACHE_FLUSH })
            CP_SET_DRAW_STATE({ COUNT = 1 | DISABLE | GROUP_ID = 1 }, inner, { COUNT = 2 | DISABLE | GROUP_ID = 2 }, inner)
            CP_INDIRECT_BUFFER_PFE(inner, 2)
            RB_DEPTH_CONTROL { ZFUNC = FUNC_LESS }
            CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX }, 1, 3)
            CP_EVENT_WRITE({ EVENT = CACHE_FLUSH })
            RB_DEPTH_CONTROL { ZFUNC = FUNC_ALWAYS }
            CP_DRAW_INDX_OFFSET({ PRIM_TYPE = DI_PT_TRILIST | SOURCE_SELECT = DI_SRC_SEL_AUTO_INDEX }, 1, 6)
        }
        submit main";
    std::fs::write(&source, text).unwrap();
    let a4emu = || Command::new(env!("CARGO_BIN_EXE_a4emu"));
    let made = a4emu().arg("asm").arg(&source).arg("-o").arg(&capture).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let mut decode = a4emu();
    decode.args(["decode", "--quiet"]).arg(&capture);
    let queries: Vec<&str> = arguments
        .iter()
        .copied()
        .flat_map(|name| match name.starts_with("--") {
            true => vec![name],
            false => vec!["--query", name],
        })
        .collect();
    let output = decode.args(queries).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().map(|line| line.replace("TRILIST bypass: ", "").replace("submit 0 ", "")).collect()
}

#[test]
fn packets_and_enumerators_are_queried() {
    for (arguments, lines) in [
        (&["CP_REG_TO_MEM.64B"][..], &["draw 0 f0 CP_REG_TO_MEM_0 = 4008009c { 64B }"][..]),
        (&["64B"], &["draw 0 f0 CP_REG_TO_MEM_0 = 4008009c { 64B }"]),
        (&["REG_CP_REG_TO_MEM_0_CNT__MASK"], &["draw 0 f0 CP_REG_TO_MEM_0 = 4008009c { CNT = 2 }"]),
        (&["CP_INDIRECT_BUFFER_PFE_1"], &["draw 0 f0 CP_INDIRECT_BUFFER_1 = 00000002 { IB_SIZE = 2 }"]),
        (&["CP_NOP"], &["draw 0 f0 CP_NOP_0 = 00000007 { 0x7 }"]),
        (
            &["CP_SET_DRAW_STATE__0.GROUP_ID"],
            &[
                "draw 0 f0 CP_SET_DRAW_STATE__0 = 01020001 { GROUP_ID = 1 }",
                "draw 0 f0 CP_SET_DRAW_STATE__0 = 02020002 { GROUP_ID = 2 }",
            ],
        ),
        (
            &["CACHE_FLUSH"],
            &[
                "draw 0 f0 CP_EVENT_WRITE_0 = 00000006 { EVENT = CACHE_FLUSH }",
                "draw 1 f1 CP_EVENT_WRITE_0 = 00000006 { EVENT = CACHE_FLUSH }",
            ],
        ),
        (
            &["CACHE_FLUSH", "--query-mode=delta"],
            &["draw 0 f0 CP_EVENT_WRITE_0 = 00000006 { EVENT = CACHE_FLUSH }"],
        ),
        (
            &["CP_EVENT_WRITE", "--query-mode=values"],
            &[
                "CP_EVENT_WRITE_0 = 00000006 { EVENT = CACHE_FLUSH }: 2 runs, f0 (submit 0, run 0) to f1 (submit 0, run 1)",
            ],
        ),
        (&["FUNC_LESS"], &["draw 0 f0 RB_DEPTH_CONTROL = 00000010 { ZFUNC = FUNC_LESS }"]),
        (
            &["FUNC_ALWAYS", "--format=jsonl"],
            &[
                r#"{"kind":"query","submit":0,"draw":1,"frame_draw":1,"reg":8449,"name":"RB_DEPTH_CONTROL","value":112,"fields":{"ZFUNC":"FUNC_ALWAYS"}}"#,
            ],
        ),
        (
            &["CP_DRAW_INDX_OFFSET_2", "--format=jsonl", "--draw=1"],
            &[
                r#"{"kind":"query","submit":0,"draw":1,"frame_draw":1,"name":"CP_DRAW_INDX_OFFSET_2","value":6,"fields":{"NUM_INDICES":6}}"#,
            ],
        ),
    ] {
        assert_eq!(queried(arguments), lines, "{arguments:?}");
    }
}
