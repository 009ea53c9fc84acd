//! Files that `decode --dump-shaders` and `check --artifacts` write.

use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

use serde_json::Value;

fn a4emu(arguments: &[&str]) -> (String, Option<i32>) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_a4emu"));
    let output = command.current_dir(crate::captures::root()).args(arguments).output().unwrap();
    (String::from_utf8_lossy(&output.stdout).into_owned(), output.status.code())
}

/// The files have the words and the text of each program that `show` lists, once.
#[test]
fn each_program_is_a_file_with_its_hash() {
    let folder = tempfile::tempdir().unwrap();
    let shaders = folder.path().join("shaders");
    let capture = "captures/cube.rd.gz";
    assert_eq!(a4emu(&["decode", capture, "--dump-shaders", shaders.to_str().unwrap()]).1, Some(0));
    let frame: Value = serde_json::from_str(&a4emu(&["show", capture, "--json"]).0).unwrap();
    let mut expected = BTreeSet::new();
    for row in frame["rows"].as_array().unwrap() {
        let draw = format!("f{}", row["frame_draw"]);
        let shown: Value =
            serde_json::from_str(&a4emu(&["show", capture, "--draw", &draw, "--json"]).0).unwrap();
        for shader in shown["shaders"].as_array().unwrap() {
            let stage = shader["stage"].as_str().unwrap().to_lowercase();
            let name = format!("{}.{stage}", shader["hash"].as_str().unwrap());
            let words = fs::read(shaders.join(format!("{name}.bin"))).unwrap();
            let lines = shader["instructions"].as_array().unwrap();
            assert_eq!(words.len(), 8 * lines.len(), "{name}");
            let text = fs::read_to_string(shaders.join(format!("{name}.txt"))).unwrap();
            assert!(
                lines.iter().all(|line| text.contains(line.as_str().unwrap().split(' ').next().unwrap())),
                "{text}"
            );
            expected.extend([format!("{name}.bin"), format!("{name}.txt")]);
        }
    }
    let names =
        fs::read_dir(&shaders).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.collect::<BTreeSet<_>>(), expected);
    assert!(expected.len() >= 8);
    let one = folder.path().join("one");
    a4emu(&["decode", capture, "--draw", "f1", "--dump-shaders", one.to_str().unwrap()]);
    assert_eq!(fs::read_dir(one).unwrap().count(), 4, "a vertex and a fragment shader");
}

/// A case with another picture has both and their difference, and JUnit names them.
#[test]
fn a_case_that_differs_leaves_pictures() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let case = folder.path().join("cases/triangle");
    fs::create_dir_all(&case).unwrap();
    fs::copy(crate::captures::own("triangle"), case.join("triangle.rd.gz")).unwrap();
    fs::write(case.join("case.toml"), "capture = \"triangle.rd.gz\"\nneeds = [\"render\"]\n").unwrap();
    let [cases, artifacts, junit] = [path("cases"), path("artifacts"), path("report.xml")];
    let check = ["check", "--fixtures", &cases, "--artifacts", &artifacts, "--junit", &junit];
    assert_eq!(a4emu(&["check", "--fixtures", &cases, "--bless"]).1, Some(0));
    assert_eq!(a4emu(&check).1, Some(0));
    assert!(!folder.path().join("artifacts").exists(), "nothing differs");
    let edit = ["--edit", "f0:fs.c0=1.0,0.0,0.0,1.0", "--png"];
    let golden = case.join("frame.png");
    a4emu(&[&["replay", "captures/triangle.rd.gz"][..], &edit, &[golden.to_str().unwrap()]].concat());
    assert_eq!(a4emu(&check).1, Some(1));
    let picture =
        |name: &str| crate::picture::Picture::read(&folder.path().join("artifacts/triangle").join(name));
    let [actual, expected, difference] = ["actual.png", "expected.png", "difference.png"].map(picture);
    let (mut white, mut count) = (0, 0);
    for ((actual, expected), difference) in actual.pixels().zip(expected.pixels()).zip(difference.pixels()) {
        assert_eq!(difference[0] == 255, actual != expected);
        white += usize::from(difference[0] == 255);
        count += 1;
    }
    assert!(white > 1000 && white < count);
    let xml = fs::read_to_string(&junit).unwrap();
    assert!(xml.contains("[[ATTACHMENT|") && xml.contains("artifacts/triangle/actual.png]]"), "{xml}");
    let time =
        xml.split("<testcase ").nth(1).unwrap().split("time=\"").nth(1).unwrap().split('"').next().unwrap();
    assert!(time.parse::<f64>().unwrap() > 0.0, "{time}");
}
