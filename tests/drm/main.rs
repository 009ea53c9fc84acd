//! Tests of the virtual device with a client of their own, without Mesa.
//!
//! Each test runs twice. First, in the test runner, it starts this program again with the library preloaded
//! and only that test. The second process is the client.

#![cfg(target_os = "linux")]

mod ambient;
mod buffers;
mod captures;
mod client;
mod cost;
mod ends;
mod frames;
mod hangs;
mod hostile;
mod kgsl;
mod launcher;
mod lives;
mod lost;
mod node;
mod processes;
mod share;
#[path = "../shortest/mod.rs"]
mod shortest;
mod submits;
#[cfg(target_arch = "x86_64")]
mod tracer;

use std::path::PathBuf;
use std::process::{Command, Output};
use std::time::Duration;

/// Variable that is set in the process with the device.
const INSIDE: &str = "A4EMU_TEST_CLIENT";

/// The library, which cargo builds beside the tests because the package depends on it.
fn library() -> PathBuf {
    let tests = std::env::current_exe().expect("a path").parent().expect("a folder").to_path_buf();
    let places = [tests.clone(), tests.join("..")].map(|folder| folder.join("liba4emu_drm.so"));
    places.into_iter().find(|place| place.exists()).expect("liba4emu_drm.so is built with the tests")
}

/// A command that runs `test` of this program alone.
fn only(test: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a path"));
    command.args(["--exact", test, "--nocapture", "--test-threads=1"]).env(INSIDE, "1");
    command
}

/// Runs `test` with the device and the environment `variables`.
fn run(test: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = only(test);
    command.env("LD_PRELOAD", library()).envs(variables.iter().copied());
    command.output().expect("runs")
}

/// Runs `body`, the body of `test`, in a process with the device.
fn with_device(test: &str, body: impl FnOnce()) {
    with_variables(test, &[], body);
}

/// [`with_device`], with environment `variables`.
fn with_variables(test: &str, variables: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let output = run(test, variables);
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
}

/// Calls [`with_variables`] with eight threads, 8 GB of address space and a time `limit`.
fn with_limits(test: &str, limit: Duration, variables: &[(&str, &str)], body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let only = only(test);
    let mut command = Command::new("timeout");
    command.args(["--signal=KILL", &limit.as_secs().to_string()]);
    // The shell sets the limit on address space, because there is no safe function for it here.
    command.args([
        "sh",
        "-c",
        "ulimit -v 8388608 && LD_PRELOAD=$1 && export LD_PRELOAD && shift && exec \"$@\"",
        "sh",
    ]);
    command.arg(library()).arg(only.get_program()).args(only.get_args());
    command.envs(only.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.env("A4EMU_THREADS", "8").envs(variables.iter().copied());
    let output = command.output().expect("runs");
    let text =
        format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success() && text.contains("1 passed"), "{}:\n{text}", output.status);
}
