//! Text that nests deeply or is very long. Every parser must end within limits of stack, time and address
//! space; each command runs in a process with these limits.

use std::fs;
use std::path::Path;

use crate::bounded::bounded;
use crate::bounded::limits::limited;
use tempfile::TempDir;

/// Number of nested levels: too many for any stack, in files below the size limit.
const DEEP: usize = 200_000;

/// Nested text, for every kind of nesting in TOML.
fn nested_toml() -> [(&'static str, String); 5] {
    [
        ("lists", format!("needs = {}", "[".repeat(DEEP))),
        ("closed lists", format!("needs = {}{}", "[".repeat(DEEP), "]".repeat(DEEP))),
        ("tables", format!("frame = {}1{}", "{a=".repeat(DEEP), "}".repeat(DEEP))),
        ("dotted keys", format!("frame{} = 1", ".a".repeat(DEEP))),
        ("headers", format!("[frame{}]\n", ".a".repeat(DEEP))),
    ]
}

/// Runs the command on the input at `path` (a folder, for fixtures). It must end with `status` and a message
/// that contains `says`.
fn refused(arguments: &[&str], path: &Path, says: &str) {
    let output = limited().arg(env!("CARGO_BIN_EXE_a4emu")).args(arguments).arg(path).output();
    let output = output.expect("there is bash");
    let said = String::from_utf8_lossy(&output.stderr);
    let said: String = said.chars().take(400).collect();
    assert!(
        output.status.code() == Some(2) && said.contains(says),
        "{arguments:?}: {}: {said}",
        output.status
    );
}

#[test]
fn manifests_that_nest() {
    for (name, text) in nested_toml() {
        let folder = TempDir::new().expect("a folder");
        let case = folder.path().join("case");
        fs::create_dir(&case).expect("a folder");
        fs::write(case.join("case.toml"), format!("capture = \"a.rd\"\n{text}")).expect("a file");
        eprintln!("{name}");
        refused(&["check", "--fixtures"], folder.path(), "case.toml");
    }
}

#[test]
fn scenes_that_nest() {
    for (name, text) in nested_toml() {
        let folder = TempDir::new().expect("a folder");
        let (scene, png) = (folder.path().join("scene.toml"), folder.path().join("out.png"));
        fs::write(&scene, format!("width = 4\nheight = 4\n{text}")).expect("a file");
        eprintln!("{name}");
        refused(&["pico", "draw", "--png", &png.display().to_string()], &scene, "scene.toml");
    }
}

/// A PicoGpu source that `line` fills up to the size limit of sources.
fn long_pico(line: &str) -> String {
    format!("#vertexShader\n#input r0.xyzw\n#output r1.xyzw\n{}", line.repeat(15_000_000 / line.len()))
}

#[test]
fn pico_sources_that_go_on() {
    let folder = TempDir::new().expect("a folder");
    let path = folder.path().join("long.pico");
    for (line, says) in [("mov r1 r0\n", "dwords"), ("mov r1 r0 ", "dwords"), ("//\n", "instruction")] {
        fs::write(&path, long_pico(line)).expect("a file");
        refused(&["pico", "asm"], &path, says);
    }
}

/// ir3 shader text with many labels in a row, many flags, and millions of instructions.
#[test]
fn ir3_text_that_goes_on() {
    use a4emu_decoder::adreno::ir3::program::assemble;
    bounded(module_path!(), "ir3_text_that_goes_on", || {
        let labels: String = (0..DEEP).map(|n| format!("a{n}: ")).collect();
        assert_eq!(assemble(&format!("{labels}nop")).map(|words| words.len()), Ok(1));
        assert_eq!(assemble(&format!("{}nop", "(sy)".repeat(DEEP))).map(|words| words.len()), Ok(1));
        assert_eq!(assemble(&"nop\n".repeat(10 * DEEP)).map(|words| words.len()), Ok(10 * DEEP));
        for nested in ["(", "{", "c<a0.x + ", "hr", "-(", "(abs)(neg)"] {
            let error = assemble(&format!("add.f r0.x, {}", nested.repeat(DEEP))).expect_err(nested);
            assert_eq!(error.line, 1);
        }
    });
}

/// Nesting in this project's own sources: levels on one line count like levels on several.
#[test]
fn sources_that_nest() {
    let folder = TempDir::new().expect("a folder");
    let (path, out) = (folder.path().join("deep.a4"), folder.path().join("out.rd"));
    for nested in
        ["repeat 1 {\n", "if 1 { } else if 1 {", "for i in 0..1 { // {\n", "section 1 {", "macro m() {"]
    {
        fs::write(&path, nested.repeat(DEEP)).expect("a file");
        refused(&["asm", "-o", &out.display().to_string()], &path, "deep.a4:");
    }
    for nested in ["(", "-", "~", "1 + ", "(1 + ", "-("] {
        fs::write(&path, format!("const a = {}", nested.repeat(DEEP))).expect("a file");
        refused(&["asm", "-o", &out.display().to_string()], &path, "deep.a4:");
    }
}
