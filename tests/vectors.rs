//! Without AVX, captures of the tree give equal bytes. They are played on an emulated processor without it.
#![cfg(all(target_arch = "x86_64", target_os = "linux"))]

use std::path::Path;
use std::process::{Command, Output};

/// Captures with many loops over lanes: blending, depth, filters, integers, varyings, compute.
const CAPTURES: [&str; 8] = ["blend", "compute", "cube", "depth", "intmath", "math", "mipmap", "mrt"];

/// `a4emu` on a processor of 2008, emulated by qemu.
fn old(arguments: &[&str]) -> Command {
    let mut command = Command::new("qemu-x86_64");
    command.args(["-cpu", "Nehalem", env!("CARGO_BIN_EXE_a4emu")]).args(arguments);
    command
}

fn fine(command: &mut Command) -> Output {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

#[test]
fn the_same_bytes_come_out() {
    if Command::new("qemu-x86_64").arg("--version").output().is_err() {
        eprintln!("SKIPPED: there is no qemu-x86_64 (Debian: qemu-user) to leave AVX out");
        return;
    }
    let version = String::from_utf8(fine(&mut old(&["--version"])).stdout).unwrap();
    assert!(version.contains("loops over lanes: SSE2"), "{version}");
    assert!(version.contains("shaders compiled for: nothing"), "{version}");
    for name in CAPTURES {
        let capture = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("captures/{name}.rd.gz"));
        let arguments = ["replay", capture.to_str().unwrap(), "--state", "-", "--quiet"];
        let here = fine(Command::new(env!("CARGO_BIN_EXE_a4emu")).args(arguments)).stdout;
        assert!(here.len() > 1000 && here == fine(&mut old(&arguments)).stdout, "{name}");
    }
}
