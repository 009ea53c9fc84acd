//! Tests that say "it ends": each runs in a process of its own that has so much time and so
//! much address space, so that what hangs or takes too much fails instead of going on.

use std::process::Command;

/// CPU seconds of a test; those of a build without optimisation count less.
pub const SECONDS: u32 = if cfg!(debug_assertions) { 80 } else { 20 };
/// Kilobytes of address space; threads' stacks and arenas count, used or not.
pub const SPACE_KIB: u32 = 2_000_000;

/// Tells the process which test it is to run itself.
const HERE: &str = "A4EMU_BOUNDED_TEST";

/// Has the shell set the limits, and then become the command that is its first argument.
pub fn limited() -> Command {
    limited_to(SPACE_KIB)
}

/// The same with `space` kilobytes of address space.
pub fn limited_to(space: u32) -> Command {
    let limits = format!("ulimit -c 0 -v {space} -t {SECONDS} && exec \"$0\" \"$@\"");
    let mut command = Command::new("bash");
    command.args(["-c", &limits]);
    command
}

/// Runs `test`, which is the body of the test `name` in `module` (`module_path!()`), in a child of this
/// process with the limits.
#[track_caller]
pub fn bounded(module: &str, name: &str, test: impl FnOnce()) {
    let path = format!("{module}::{name}");
    let name = path.split_once("::").map_or(name, |(_, below)| below);
    if std::env::var_os(HERE).is_some_and(|here| here == name) {
        return test();
    }
    let itself = std::env::current_exe().expect("a test is a program");
    let child = limited().arg(itself).args([name, "--exact", "--nocapture"]).env(HERE, name).output();
    let child = child.expect("there is bash");
    let text = [child.stdout, child.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
    assert!(child.status.success() && text.contains("1 passed"), "{}\n{text}", child.status);
    // What a test prints, its seed among it, shows if something else in this process fails.
    print!("{text}");
}
