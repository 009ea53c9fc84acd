//! `replay --edit --save`: the capture renders what the edit renders, and other draws find their state.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use pretty_assertions::assert_eq;

fn a4emu(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .current_dir(crate::captures::root())
        .args(arguments)
        .output()
        .unwrap()
}

fn fine(arguments: &[&str]) -> String {
    let output = a4emu(arguments);
    assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// The pictures of the edits, of the saved capture, and of the capture without edits.
fn pictures(folder: &Path, capture: &str, edits: &[&str]) -> [Vec<u8>; 3] {
    let path = |name: &str| folder.join(name).to_str().unwrap().to_owned();
    let [edited, saved, again, before] = ["edited.png", "saved.rd.gz", "again.png", "before.png"].map(path);
    let edits: Vec<&str> = edits.iter().flat_map(|edit| ["--edit", edit]).collect();
    fine(&[&["replay", capture][..], &edits, &["--png", &edited, "--save", &saved]].concat());
    fine(&["replay", &saved, "--png", &again]);
    fine(&["replay", capture, "--png", &before]);
    [edited, again, before].map(|path| fs::read(path).unwrap())
}

#[test]
fn a_saved_edit_renders_what_the_edit_renders() {
    let folder = tempfile::tempdir().unwrap();
    let white = folder.path().join("white.ir3");
    fs::write(
        &white,
        "mov.u32u32 r0.z, 0x3f800000\n(rpt1)mov.u32u32 r0.w, 0x3f800000\nmov.u32u32 r1.y, 0x3f800000\nend\n",
    )
    .unwrap();
    let program = format!("f1:fs={}", white.display());
    for (capture, edits) in [
        (
            "captures/cube.rd.gz",
            &["f1:GRAS_SU_MODE_CONTROL.CULL_BACK=0", "f1:RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS"][..],
        ),
        ("captures/triangle.rd.gz", &["f0:fs.c0=0.8,0.2,0.1,1.0", "f0:fs.c0.z=1.0"]),
        ("captures/triangle.rd.gz", &[&*program, "f0:fs.c0.z=1.0"]),
        ("captures/many.rd.gz", &["f1:RB_MRT[*].CONTROL.COMPONENT_ENABLE=3"]),
    ] {
        let [edited, again, before] = pictures(folder.path(), capture, edits);
        assert!(edited == again, "{edits:?}");
        assert!(edited != before, "{edits:?} changes nothing");
    }
}

/// All tiles of a pass run the packet, in several command buffers.
#[test]
fn tiles_are_edited_together() {
    let capture = crate::captures::shared("glmark2/build-720p");
    if !capture.exists() {
        return;
    }
    let capture = capture.to_str().unwrap();
    let folder = tempfile::tempdir().unwrap();
    let shown = fine(&["show", capture, "--json"]);
    let shown: serde_json::Value = serde_json::from_str(&shown).unwrap();
    let rows = shown["rows"].as_array().unwrap();
    let tiled = rows.iter().find(|row| {
        row["pass"] == "gmem" && row["runs"].as_u64() > Some(1) && row["count"].as_u64() > Some(3)
    });
    let row = tiled.unwrap_or_else(|| panic!("{shown}"));
    let edit = format!("f{}:RB_MRT[0].CONTROL.COMPONENT_ENABLE=1", row["frame_draw"]);
    let [edited, again, before] = pictures(folder.path(), capture, &[&edit]);
    assert!(edited == again && edited != before);
    let one = format!("{}:RB_MRT[0].CONTROL.COMPONENT_ENABLE=1", row["draw"]);
    let out = folder.path().join("one.rd");
    let refused = a4emu(&["replay", capture, "--edit", &one, "--save", out.to_str().unwrap()]);
    let stderr = String::from_utf8_lossy(&refused.stderr);
    assert!(refused.status.code() == Some(2) && stderr.contains("runs for several tiles"), "{stderr}");
    assert!(!out.exists());
}

#[test]
fn a_saved_capture_is_a_file_as_any_other() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let [capture, plain, packed] = ["cube.rd.gz", "out.rd", "out.rd.gz"].map(path);
    fs::copy(crate::captures::own("cube"), &capture).unwrap();
    let edit = ["replay", &capture, "--edit", "f1:GRAS_SU_MODE_CONTROL.CULL_BACK=0", "--save"];
    fine(&[&edit[..], &[&plain]].concat());
    fine(&[&edit[..], &[&packed]].concat());
    assert_eq!(&fs::read(&packed).unwrap()[..2], [0x1f, 0x8b]);
    assert_eq!(
        fine(&["disasm", &plain]).lines().skip(1).collect::<Vec<_>>(),
        fine(&["disasm", &packed]).lines().skip(1).collect::<Vec<_>>()
    );
    let list = |path: &str| fine(&["replay", path, "--list-draws"]).lines().count();
    assert_eq!(list(&plain), list(&capture));
    let before = fs::read(&capture).unwrap();
    let refused = a4emu(&[&edit[..], &[&capture]].concat());
    assert_eq!(refused.status.code(), Some(2));
    assert!(fs::read(&capture).unwrap() == before, "an input is not written over");
    let value = fine(&["decode", &plain, "--query", "GRAS_SU_MODE_CONTROL.CULL_BACK"]);
    let old = fine(&["decode", &capture, "--query", "GRAS_SU_MODE_CONTROL.CULL_BACK"]);
    let differing = value.lines().zip(old.lines()).filter(|(new, old)| new != old).count();
    assert_eq!(differing, 1, "{value}\n{old}");
}
