//! `a4emu validate` and related commands: findings, their places, and the exit status.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Exit status, stdout and stderr.
fn a4emu(args: &[&str]) -> (i32, String, String) {
    let output = Command::cargo_bin("a4emu").unwrap().current_dir(root()).args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

/// A folder with the source and the capture of a broken frame: its vertex shader reads a result too early,
/// and it never writes the alpha test.
fn broken() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join("captures/triangle-by-hand.a4")).unwrap();
    let text =
        text.replacen("\n    end", "\n    add.f r3.x, r2.x, c0.x\n    mul.f r3.x, r3.x, c0.x\n    end", 1);
    assert!(text.contains("r3.x"));
    let setup = fs::read_to_string(root().join("captures/setup.a4i")).unwrap();
    let forgetful = setup.replacen("    RB_ALPHA_CONTROL { 0 }\n", "", 1);
    assert_ne!(forgetful, setup);
    fs::write(folder.path().join("setup.a4i"), forgetful).unwrap();
    let source = folder.path().join("broken.a4");
    fs::write(&source, text).unwrap();
    let (source, capture) =
        (source.to_str().unwrap().to_owned(), folder.path().join("broken.rd").to_str().unwrap().to_owned());
    let (status, _, said) = a4emu(&["asm", &source, "-o", &capture]);
    assert_eq!(status, 0, "{said}");
    (folder, source, capture)
}

#[test]
fn a_finding_says_what_where_and_how_to_mend_it() {
    let (_folder, _, capture) = broken();
    let (status, out, _) = a4emu(&["validate", "--json", "--rule", "D1", &capture]);
    assert_eq!(status, 1);
    let found = lines(&out);
    assert_eq!(found.len(), 1, "{out}");
    assert_eq!(found[0]["what"], "reads r3.x 0 slots behind `add.f r3.x, r2.x, c0.x` at 2, needs 3");
    assert_eq!(found[0]["shader"]["stage"], "VS");
    assert_eq!(found[0]["severity"], "E");
    let (_, text, _) = a4emu(&["validate", "--rule", "D1", &capture]);
    assert!(text.starts_with("D1 E VS ") && text.contains("Mend: put (rptN)nop"), "{text}");
}

#[test]
fn rules_are_chosen_by_id_or_family() {
    let (_folder, _, capture) = broken();
    let rules = |args: &[&str]| {
        let (status, out, _) = a4emu(&[&["validate", "--json", &capture], args].concat());
        let found = lines(&out);
        let rules: Vec<String> =
            found.iter().map(|found| found["rule"].as_str().unwrap().to_owned()).collect();
        (status, rules)
    };
    let (status, all) = rules(&[]);
    assert_eq!(status, 1);
    assert_eq!(all, ["D1", "R1"]);
    assert_eq!(rules(&["--rule", "d"]), (1, vec!["D1".to_owned()]));
    assert_eq!(rules(&["--no-rule", "D1", "--no-rule", "R"]), (0, vec![]));
    assert_eq!(rules(&["--rule", "R"]), (0, vec!["R1".to_owned()]), "W alone is no failure");
    assert_eq!(a4emu(&["validate", &capture, "--rule", "D77"]).0, 2);
}

#[test]
fn suppressed_findings_do_not_count() {
    let (folder, _, capture) = broken();
    let file = folder.path().join("known.toml");
    let name = file.to_str().unwrap();
    fs::write(&file, "[[suppress]]\nrule = \"D1\"\nwhat = \"r3.x\"\nreason = \"r3 is not used\"\n").unwrap();
    let (status, out, _) = a4emu(&["validate", "--rule", "D", "--suppress", name, &capture]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("suppressed: r3 is not used"), "{out}");
    fs::write(&file, "[[suppress]]\nrule = \"D1\"\n").unwrap();
    assert_eq!(a4emu(&["validate", "--suppress", name, &capture]).0, 2);
}

#[test]
fn asm_says_the_same() {
    let (folder, source, capture) = broken();
    let (_, expected, _) = a4emu(&["validate", &capture]);
    let again = folder.path().join("again.rd").to_str().unwrap().to_owned();
    let (status, out, said) = a4emu(&["asm", &source, "--validate", "-o", &again]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert_eq!(said, expected);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&capture).unwrap());
    let (status, _, said) = a4emu(&["asm", &source, "--validate", "--rule", "Y", "-o", &again]);
    assert_eq!((status, said.as_str()), (0, ""));
    let alone = ["asm", "--rule", "D", &source, "-o", &again];
    assert_eq!(a4emu(&alone).0, 2, "{alone:?} without --validate");
}

#[test]
fn a_removed_option_names_the_command_that_answers() {
    let (_folder, _, capture) = broken();
    for (option, answer) in
        [("--validate", "a4emu validate CAPTURE"), ("--after=f0", "a4emu show CAPTURE --draw")]
    {
        let (status, _, said) = a4emu(&["replay", &capture, option]);
        assert_eq!(status, 2, "{said}");
        assert!(said.contains("is gone: `") && said.contains(answer), "{said}");
    }
    let (status, _, said) = a4emu(&["decode", &capture, "--validate"]);
    assert!(status == 2 && !said.contains("is gone"), "{said}");
}

/// The frame has the findings of `validate`. Each draw has the findings that it causes, with a fix.
#[test]
fn show_says_which_draw_breaks_which_rule() {
    let (_folder, _, capture) = broken();
    let expected = lines(&a4emu(&["validate", "--json", &capture]).1);
    let frame = &lines(&a4emu(&["show", "--json", &capture]).1)[0];
    assert_eq!(frame["findings"].as_array().unwrap(), &expected);
    let (first, second) = (&frame["rows"][0]["findings"], &frame["rows"][1]["findings"]);
    assert_eq!((first, second), (&serde_json::json!([0, 1]), &serde_json::json!([0, 1])));

    let text = a4emu(&["show", &capture]).1;
    assert!(text.contains("\nfindings\n  f0: D1 E VS ") && text.contains("needs 3 (2 times)"), "{text}");
    let draw = a4emu(&["show", "--draw", "f1", &capture]).1;
    assert!(
        draw.contains("\nfinding      D1 E VS ") && draw.contains("\n  mend       put (rptN)nop"),
        "{draw}"
    );
    let draw = &lines(&a4emu(&["show", "--draw", "f1", "--json", &capture]).1)[0];
    assert_eq!(draw["findings"][0]["rule"], "D1");
    let good = a4emu(&["show", "captures/cube.rd.gz"]).1;
    assert!(!good.contains("findings"), "{good}");
    // A restore that is missing after a draw is not the draw's finding.
    let binned = "tests/validation/binned.rd.gz";
    for draw in ["f2", "f3"] {
        let half = a4emu(&["show", "--draw", draw, binned]).1;
        assert!(half.contains("\npacket ") && !half.contains("\nfinding "), "{half}");
    }
}

#[test]
fn nothing_is_said_of_what_a_driver_recorded() {
    let captures = ["captures/many.rd.gz", "captures/xfb.rd.gz", "captures/compute.rd.gz"];
    for threads in ["1", "3"] {
        let (status, out, said) =
            a4emu(&[&["validate", "--quiet", "--threads", threads][..], &captures].concat());
        assert_eq!((status, out.as_str(), said.as_str()), (0, "", ""));
    }
}

/// All sources but two keep the rules. tess-barrier has a barrier in a hull shader, and tiles has tiles in
/// memory.
#[test]
fn the_sources_of_ours_keep_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.rd").to_str().unwrap().to_owned();
    let folder_of = |name: &str| fs::read_dir(root().join(name)).unwrap().map(|entry| entry.unwrap().path());
    let folders = ["captures/geometry", "captures/samples"];
    let mut sources: Vec<_> = folders.into_iter().flat_map(folder_of).collect();
    sources.push(root().join("captures/triangle-by-hand.a4"));
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "a4"));
    assert!(sources.len() > 26);
    for source in sources {
        let source = source.to_str().unwrap();
        a4emu(&["asm", source, "--include", "captures", "-o", &out]);
        let (status, said, _) = a4emu(&["validate", "--no-rule", "S15", "--no-rule", "T13", &out]);
        assert_eq!((status, said.as_str()), (0, ""), "{source}");
    }
}

/// The register that a0.x selects is known only at run time. Only the run finds a read that is too near to
/// its write, or too early.
#[test]
fn registers_that_a0_chooses_are_placed_by_the_run() {
    let good = fs::read_to_string(root().join("captures/triangle-by-hand.a4")).unwrap();
    let line = "    mov.f32f32 r0.w, (1.0)\n";
    assert!(good.contains(line), "{good}");
    let said = |lines: &str| {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (folder.path().join("chosen.a4"), folder.path().join("chosen.rd"));
        fs::copy(root().join("captures/setup.a4i"), folder.path().join("setup.a4i")).unwrap();
        fs::write(&source, good.replacen(line, lines, 1)).unwrap();
        let (source, out) = (source.to_str().unwrap(), out.to_str().unwrap());
        let (status, _, error) = a4emu(&["asm", source, "-o", out]);
        assert_eq!(status, 0, "{error}");
        let rules = ["--rule", "D", "--rule", "Y", "--json"];
        let skipped = a4emu(&[&["validate", "--no-render", out], &rules[..]].concat()).1;
        assert_eq!(skipped, "", "a stream says nothing of it");
        lines_of(&a4emu(&[&["validate", out], &rules[..]].concat()).1)
    };
    // a0.x selects r2.y: 1 after r2.x.
    let choose = "    mov.f32f32 r2.z, (1.0)\n    mov.s16s16 hr0.x, 1\n    (rpt2)nop\n    mova a0.x, hr0.x\n    (rpt5)nop\n";
    let near = |nop: &str| {
        format!("{choose}    mov.f32f32 r2.y, (1.0)\n{nop}    (ul)mov.f32f32 r0.w, r<a0.x + 8>\n")
    };
    let found = said(&near("    (rpt1)nop\n"));
    assert_eq!(found, ["D1 reads r2.y 2 slots behind `mov.f32f32 r2.y, (1.000000)`"]);
    assert_eq!(said(&near("    (rpt2)nop\n")), [""; 0]);
    let late =
        |flag: &str| format!("{choose}    rcp r2.y, r2.z\n    {flag}(ul)mov.f32f32 r0.w, r<a0.x + 8>\n");
    assert_eq!(said(&late("")), ["Y1 reads r2.y, result of `rcp r2.y, r2.z`"]);
    assert_eq!(said(&late("(ss)")), [""; 0]);
    // The write is through a0.x, the read by name.
    let stored =
        |nop: &str| format!("{choose}    (ul)mov.f32f32 r<a0.x + 8>, r2.z\n{nop}    mov.f32f32 r0.w, r2.y\n");
    assert_eq!(
        said(&stored("    (rpt1)nop\n")),
        ["D1 reads r2.y 2 slots behind `(ul)mov.f32f32 r<a0.x + 8>, r2.z`"]
    );
    assert_eq!(said(&stored("    (rpt2)nop\n")), [""; 0]);
}

/// A tile of 512 by 384 pixels of 4 bytes takes 768 KiB.
const TILE: &str = r#"include "setup.a4i"
gpu_id CHIP
const SIZE = 512
buffer target size SIZE * SIZE * 4
buffer corners { f32 -1.0, 1.0, 1.0, -1.0 }
buffer vs size 128 { shader {
    mov.f32f32 r0.z, (0.0)
    mov.f32f32 r0.w, (1.0)
    end
} }
buffer fs size 512 { shader {
    (rpt3)mov.f32f32 r0.x, (1.0)
    end
} }
buffer main {
    use frame(target, SIZE, 384)
    RB_MODE_CONTROL { WIDTH = 512 | HEIGHT = 384 | ENABLE_GMEM }
    RB_MRT[0].BASE = 0
    use program(vs, fs, r0.x, r0.x)
    use attribute(0, corners, 16, 8, VFMT4_32_32_FLOAT, 2, r0.x)
    use attributes(1, 2)
    use draw(DI_PT_RECTLIST, 2)
}
submit main
"#;

#[test]
fn tile_memory_is_the_chips() {
    for (chip, end) in [("405", Some("0x40000")), ("418", Some("0x80000")), ("420", None), ("430", None)] {
        let folder = tempfile::tempdir().unwrap();
        let (source, out) = (folder.path().join("tile.a4"), folder.path().join("tile.rd"));
        fs::copy(root().join("captures/setup.a4i"), folder.path().join("setup.a4i")).unwrap();
        fs::write(&source, TILE.replace("CHIP", chip)).unwrap();
        let (source, out) = (source.to_str().unwrap(), out.to_str().unwrap());
        assert_eq!(a4emu(&["asm", source, "-o", out]).0, 0);
        let said = a4emu(&["validate", out, "--rule", "T3", "--rule", "S25"]).1;
        match end {
            Some(end) => {
                let what = format!("colour 0 ends at 0xc0000, tile memory at {end}");
                assert!(said.contains(&what) && !said.contains("S25"), "{chip}: {said}");
            }
            // The fragment shader's buffer is longer than its program, which is allowed.
            None => assert_eq!(said, "", "{chip}"),
        }
    }
}

/// Rule and first words of each finding.
fn lines_of(json: &str) -> Vec<String> {
    let line = |finding: &Value| {
        let what = finding["what"].as_str().unwrap().split(" at ").next().unwrap().to_owned();
        format!("{} {what}", finding["rule"].as_str().unwrap())
    };
    lines(json).iter().map(line).collect()
}

#[test]
fn explain_prints_a_guess_with_what_would_settle_it() {
    let (status, out, _) = a4emu(&["explain", "Fill-Rule"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("fill-rule guess\n") && out.contains("\n  settles  "), "{out}");
    assert_eq!(a4emu(&["explain", "fill-rules"]).0, 2);
    assert_eq!(a4emu(&["explain", "fill-rule", "1"]).0, 2, "a guess has no value");
}

#[test]
fn explain_prints_a_rule_with_its_source() {
    let (status, out, _) = a4emu(&["explain", "y2"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("Y2 E doc\n") && out.contains("ir3_legalize.c"), "{out}");
    let (_, out, _) = a4emu(&["explain", "--json", "C1"]);
    assert_eq!(lines(&out)[0]["rules"][0]["id"], "C1");
}
