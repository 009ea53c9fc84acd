//! `a4emu validate` and its kin on the command line: what is said, where, and the exit status.

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

/// A folder with the source and the capture of a frame whose vertex shader reads a result too early.
fn broken() -> (tempfile::TempDir, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let text = fs::read_to_string(root().join("captures/triangle-by-hand.a4")).unwrap();
    let text =
        text.replacen("\n    end", "\n    add.f r9.x, r8.x, c0.x\n    mul.f r9.x, r9.x, c0.x\n    end", 1);
    assert!(text.contains("r9.x"));
    fs::copy(root().join("captures/setup.a4i"), folder.path().join("setup.a4i")).unwrap();
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
    assert_eq!(found[0]["what"], "reads r9.x 0 slots behind `add.f r9.x, r8.x, c0.x` at 2, needs 3");
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
    assert!(all.contains(&"D1".to_owned()) && all.iter().any(|rule| rule.starts_with('R')), "{all:?}");
    assert_eq!(rules(&["--rule", "d"]), (1, vec!["D1".to_owned()]));
    let (_, rest) = rules(&["--no-rule", "D1", "--no-rule", "R"]);
    assert!(!rest.iter().any(|rule| rule == "D1" || rule.starts_with('R')), "{rest:?}");
    assert_eq!(rules(&["--rule", "R"]).0, 0, "W alone is no failure");
    assert_eq!(a4emu(&["validate", &capture, "--rule", "D77"]).0, 2);
}

#[test]
fn what_somebody_has_looked_at_does_not_count() {
    let (folder, _, capture) = broken();
    let file = folder.path().join("known.toml");
    let name = file.to_str().unwrap();
    fs::write(&file, "[[suppress]]\nrule = \"D1\"\nwhat = \"r9.x\"\nreason = \"r9 is not used\"\n").unwrap();
    let (status, out, _) = a4emu(&["validate", "--rule", "D", "--suppress", name, &capture]);
    assert_eq!(status, 0, "{out}");
    assert!(out.contains("suppressed: r9 is not used"), "{out}");
    fs::write(&file, "[[suppress]]\nrule = \"D1\"\n").unwrap();
    assert_eq!(a4emu(&["validate", "--suppress", name, &capture]).0, 2);
}

#[test]
fn asm_and_replay_say_the_same() {
    let (folder, source, capture) = broken();
    let (_, expected, _) = a4emu(&["validate", &capture]);
    let again = folder.path().join("again.rd").to_str().unwrap().to_owned();
    let (status, out, said) = a4emu(&["asm", &source, "--validate", "-o", &again]);
    assert_eq!((status, out.as_str()), (1, ""));
    assert_eq!(said, expected);
    assert_eq!(fs::read(&again).unwrap(), fs::read(&capture).unwrap());
    let (status, out, _) = a4emu(&["replay", "--validate", "--quiet", &capture]);
    assert_eq!((status, out), (1, expected));
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

/// All but one: a barrier in a hull shader is what tess-barrier is about.
#[test]
fn the_sources_of_ours_keep_the_rules() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out.rd").to_str().unwrap().to_owned();
    let mut sources: Vec<_> =
        fs::read_dir(root().join("captures/geometry")).unwrap().map(|entry| entry.unwrap().path()).collect();
    sources.push(root().join("captures/triangle-by-hand.a4"));
    sources.retain(|path| path.extension().is_some_and(|extension| extension == "a4"));
    assert!(sources.len() > 20);
    for source in sources {
        let source = source.to_str().unwrap();
        a4emu(&["asm", source, "--include", "captures", "-o", &out]);
        let (status, said, _) = a4emu(&["validate", "--no-rule", "S15", &out]);
        assert_eq!((status, said.as_str()), (0, ""), "{source}");
    }
}

#[test]
fn explain_prints_a_rule_with_its_source() {
    let (status, out, _) = a4emu(&["explain", "y2"]);
    assert_eq!(status, 0);
    assert!(out.starts_with("Y2 E doc\n") && out.contains("ir3_legalize.c"), "{out}");
    let (_, out, _) = a4emu(&["explain", "--json", "C1"]);
    assert_eq!(lines(&out)[0]["rules"][0]["id"], "C1");
}
