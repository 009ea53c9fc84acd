//! `--jit`: compiled and interpreted shaders give equal bytes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use rayon::prelude::*;
use serde_json::Value;

fn a4emu() -> Command {
    Command::new(env!("CARGO_BIN_EXE_a4emu"))
}

fn own(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("captures").join(name)
}

/// Captures in `folder` and below it.
fn captures(folder: &Path, out: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            captures(&path, out);
        } else if path.to_string_lossy().ends_with(".rd.gz") {
            out.push(path);
        }
    }
}

/// The output of a replay, and the files that it writes.
fn replayed(capture: &Path, jit: &str) -> (Output, BTreeMap<String, Vec<u8>>) {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("out");
    let mut command = a4emu();
    command.arg("replay").arg(capture).args(["-q", "--jit", jit, "--out"]).arg(&out);
    let output = command.arg("--state").arg(folder.path().join("state")).output().unwrap();
    let files = fs::read_dir(&out).into_iter().flatten().flatten().map(|entry| entry.path());
    let read =
        |path: PathBuf| (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap());
    let mut files: BTreeMap<String, Vec<u8>> = files.map(read).collect();
    files.insert("state".to_owned(), fs::read(folder.path().join("state")).unwrap_or_default());
    (output, files)
}

/// All captures of the repository and all shared ones, but only every fifth of piglit's.
#[test]
fn captures_render_the_same() {
    let (mut all, mut shared) = (Vec::new(), Vec::new());
    captures(&own(""), &mut all);
    if let Some(folder) = std::env::var_os("A4EMU_SHARED").map(PathBuf::from) {
        captures(&folder.join("captures"), &mut shared);
    } else {
        eprintln!("SKIPPED in part: A4EMU_SHARED is not set");
    }
    shared.sort();
    let (piglit, others): (Vec<_>, Vec<_>) =
        shared.into_iter().partition(|path| path.to_string_lossy().contains("/piglit/"));
    all.extend(others);
    all.extend(piglit.into_iter().step_by(5));
    let differ = |capture: &&PathBuf| {
        let interpreted = replayed(capture, "off");
        ["on", "avx2"].iter().any(|jit| replayed(capture, jit) != interpreted)
    };
    let different: Vec<&PathBuf> = all.par_iter().filter(differ).collect();
    assert!(different.is_empty(), "{different:?}");
    assert!(all.len() >= 5, "{all:?}");
}

fn stats(jit: &str) -> Value {
    let output =
        a4emu().args(["replay", "-q", "--stats", "--jit", jit]).arg(own("cube.rd.gz")).output().unwrap();
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn stats_say_how_much_was_compiled() {
    let of = |jit| {
        let stats = stats(jit);
        ["instructions", "compiled"].map(|key| stats["emulated"][key].as_u64().unwrap())
    };
    let ([all, none], [same, most]) = (of("off"), of("on"));
    assert_eq!((all, none), (same, 0));
    if is_supported() {
        assert!(most > all / 2 && most <= all, "{most} of {all}");
    }
}

/// Whether the compiler supports this computer.
fn is_supported() -> bool {
    cfg!(all(target_arch = "x86_64", target_os = "linux")) && avx2()
}

#[cfg(target_arch = "x86_64")]
fn avx2() -> bool {
    is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma")
}

#[cfg(target_arch = "x86_64")]
fn avx512() -> bool {
    is_x86_feature_detected!("avx512f")
        && is_x86_feature_detected!("avx512bw")
        && is_x86_feature_detected!("avx512dq")
        && is_x86_feature_detected!("avx512vl")
}

#[cfg(not(target_arch = "x86_64"))]
fn avx2() -> bool {
    false
}

#[cfg(not(target_arch = "x86_64"))]
fn avx512() -> bool {
    false
}

#[test]
fn the_code_can_be_looked_at() {
    if !is_supported() {
        return eprintln!("SKIPPED: no compiler for this computer");
    }
    let folder = tempfile::tempdir().unwrap();
    let run = |jit: &str, capture: &str, to: &Path| {
        let output =
            a4emu().args(["replay", "-q", "--jit", jit]).arg(own(capture)).arg("--dump-jit").arg(to).output();
        assert!(output.unwrap().status.success());
        let files =
            fs::read_dir(to).unwrap().flatten().map(|entry| fs::read_to_string(entry.path()).unwrap());
        files.collect::<Vec<String>>()
    };
    assert_eq!(run("off", "cube.rd.gz", &folder.path().join("none")), Vec::<String>::new());
    let texts = run("on", "cube.rd.gz", &folder.path().join("all"));
    let has = |texts: &[String], word: &str| texts.iter().any(|text| text.contains(word));
    for word in ["mad.f32 ", "vmulps ", " bary.f ", "; registers that are read later"] {
        assert!(has(&texts, word), "{word}: {texts:?}");
    }
    // The code reads textures itself. Registers of AVX-512 are named zmm, those of AVX2 ymm.
    for (jit, is_wide) in [("on", avx512()), ("avx2", false)] {
        let texts = run(jit, "wrap.rd.gz", &folder.path().join(format!("textures-{jit}")));
        let first = "; with requests for texels:\n; 0: linear, s clamped, t clamped, x byte 0, ";
        for word in [first, " sam ", "vpgather"] {
            assert!(has(&texts, word), "{word}: {texts:?}");
        }
        assert_eq!(has(&texts, "zmm"), is_wide, "{jit}: {texts:?}");
    }
}

/// If memory cannot be writable and then executable, all shaders are interpreted, with one warning.
#[cfg(target_os = "linux")]
#[test]
fn without_executable_memory_all_is_interpreted() {
    const PR_SET_MDWE: libc::c_int = 65;
    const REFUSE_EXEC_GAIN: libc::c_ulong = 1;
    if !is_supported() {
        return eprintln!("SKIPPED: no compiler for this computer");
    }
    let mut command = a4emu();
    command.args(["replay", "--stats", "--jit", "on"]).arg(own("cube.rd.gz"));
    // SAFETY: prctl is safe to call between fork and exec.
    unsafe {
        command.pre_exec(|| match libc::prctl(PR_SET_MDWE, REFUSE_EXEC_GAIN, 0, 0, 0) {
            0 => Ok(()),
            _ => Err(std::io::Error::last_os_error()),
        });
    }
    let Ok(output) = command.output() else { return eprintln!("SKIPPED: this kernel cannot refuse it") };
    let (said, stats) =
        (String::from_utf8(output.stderr).unwrap(), serde_json::from_slice::<Value>(&output.stdout));
    assert!(output.status.success());
    assert_eq!(said.matches("shaders are interpreted").count(), 1, "{said}");
    assert_eq!(stats.unwrap()["emulated"]["compiled"], 0);
}
