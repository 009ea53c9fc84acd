//! `a4emu reduce` and `a4emu bisect`.

use super::*;

/// `a4emu` with these arguments, in a folder.
fn a4emu(folder: &Path, args: &[&str]) -> Output {
    Command::cargo_bin("a4emu").unwrap().current_dir(folder).args(args).output().unwrap()
}

/// Assembles a source of the tree with one change.
pub fn assembled(folder: &Path, name: &str, change: [&str; 2]) {
    let tree = Path::new(env!("CARGO_MANIFEST_DIR")).join("captures");
    let source = fs::read_to_string(tree.join("triangle-by-hand.a4")).unwrap();
    assert!(source.contains(change[0]));
    fs::copy(tree.join("setup.a4i"), folder.join("setup.a4i")).unwrap();
    fs::write(folder.join("changed.a4"), source.replacen(change[0], change[1], 1)).unwrap();
    let output = a4emu(folder, &["asm", "changed.a4", "-o", name]);
    assert!(output.status.success(), "{}", text(&output.stderr));
}

#[test]
fn reduce_removes_statements_that_the_condition_does_not_need() {
    let corpus = Corpus::new();
    let program = assert_cmd::cargo::cargo_bin("a4emu");
    let draws = format!("{} decode {{}} | grep -q CP_DRAW_INDX", program.display());
    let from = capture("triangle");
    let from = from.to_str().unwrap();
    let output = a4emu(corpus.0.path(), &["reduce", from, "-o", "small.a4", "--while", &draws]);
    assert!(output.status.success(), "{}", text(&output.stderr));
    let said = text(&output.stderr);
    assert!(
        said.contains("left are 1 draws, 1 submits, 2 packets, 2 sections, 0 pieces of data, 0 instr"),
        "{said}"
    );
    let source = fs::read_to_string(corpus.path("small.a4")).unwrap();
    assert_eq!(source.matches("CP_DRAW_INDX").count(), 1, "{source}");
    assert!(a4emu(corpus.0.path(), &["asm", "small.a4", "-o", "small.rd"]).status.success());
}

#[test]
fn reduce_refuses_conditions_that_the_capture_does_not_meet() {
    let corpus = Corpus::new();
    let from = capture("triangle");
    let from = from.to_str().unwrap();
    for (args, why) in [
        (&["--while", "test -d {}"][..], "it does not hold for the capture itself: `test -d {}` fails"),
        (&["--while-faults", "no such fault"], "no fault says `no such fault`"),
        (&["--while", "true"], "the command has no {}"),
        (&["--while-differs", "nowhere"], "there is no nowhere"),
        (&[], "required"),
    ] {
        let output = a4emu(corpus.0.path(), &[&["reduce", from, "-o", "x.rd"], args].concat());
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(text(&output.stderr).contains(why), "{args:?}: {}", text(&output.stderr));
        assert!(!corpus.path("x.rd").exists());
    }
}

/// The other build reads another constant, so that one instruction differs between the builds.
#[cfg(unix)]
#[test]
fn the_instruction_that_differs_is_named() {
    let corpus = Corpus::new();
    let folder = corpus.0.path();
    let color = "f32 0.2, 0.2, 0.25, 1.0";
    assembled(folder, "one.rd", [color, color]);
    assembled(folder, "other.rd", [color, "f32 0.2, 0.7, 0.25, 1.0"]);
    let program = assert_cmd::cargo::cargo_bin("a4emu");
    let same = a4emu(folder, &["bisect", program.to_str().unwrap(), program.to_str().unwrap(), "one.rd"]);
    assert_eq!((same.status.code(), text(&same.stdout).as_str()), (Some(0), "same\n"));
    let other = corpus.path("other.rd");
    let wrapper = corpus.wrapper(&format!(
        "n=$#; i=0; for a; do i=$((i+1)); [ $i -eq 1 ] && set --; [ $i -lt $n ] && set -- \"$@\" \"$a\"; done; \
         set -- \"$@\" {}",
        other.display()
    ));
    let output = a4emu(folder, &["bisect", program.to_str().unwrap(), &wrapper, "one.rd"]);
    assert_eq!(output.status.code(), Some(1), "{}", text(&output.stderr));
    let said = text(&output.stdout);
    assert!(said.starts_with("draw 0 (f0), packet at 0x"), "{said}");
    assert!(said.contains("lane 0: instruction 0  (rpt3)mov.f32f32 r0.x, (r)c0.x\n"), "{said}");
}
