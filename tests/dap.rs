//! `debug --dap`, driven by a client library: @vscode/debugadapter-testsupport of the npm registry.
//!
//! The library is installed below target/ if it is missing. Without Node.js or the registry, the test is
//! ignored with a message; under CI it fails.

mod npm;

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::{Arguments, Failed, Trial};

fn session(library: &Path) -> Result<(), Failed> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir()?;
    let script = |name: &str, arguments: &str| {
        let path = folder.path().join(name);
        fs::write(&path, format!("exec '{}' {arguments} -q\n", env!("CARGO_BIN_EXE_a4emu"))).map(|()| path)
    };
    let mut node = Command::new("node");
    node.env("NODE_PATH", library.join("node_modules")).arg(root.join("tests/dap/session.cjs"));
    node.arg(script("debug", "debug --dap")?).arg(script("pico", "pico debug --dap")?);
    node.arg(root.join("captures/triangle.rd.gz")).arg(root.join("captures/pico/rings.fs.pico"));
    let shown = Command::new(env!("CARGO_BIN_EXE_a4emu"))
        .args(["show", "captures/triangle.rd.gz", "--draw", "1", "--json"])
        .current_dir(root)
        .output()?;
    let shown: serde_json::Value = serde_json::from_slice(&shown.stdout)?;
    node.arg(format!("{:#x}", shown["shaders"][0]["address"].as_u64().ok_or("no address")?));
    let output = node.output()?;
    match output.status.success() && output.stdout.ends_with(b"ok\n") {
        true => Ok(()),
        false => Err([output.stdout, output.stderr]
            .map(|text| String::from_utf8_lossy(&text).into_owned())
            .concat()
            .into()),
    }
}

fn main() {
    let ci = std::env::var("CI").is_ok_and(|value| value == "true");
    let trial = match npm::installed("@vscode/debugadapter-testsupport", "1.68.0") {
        Ok(library) => Trial::test("a client library", move || session(&library)),
        Err(why) if ci => Trial::test("a client library", move || Err(why.into())),
        Err(why) => Trial::test(format!("a client library ({why})"), || Ok(())).with_ignored_flag(true),
    };
    libtest_mimic::run(&Arguments::from_args(), vec![trial]).exit();
}
