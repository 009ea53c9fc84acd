//! Runs a test in a process with limits on time and address space, so that a hang or excessive use of memory
//! is a failure.

pub mod limits;

use limits::limited;

/// Variable with the name of the test that the child process runs.
const HERE: &str = "A4EMU_BOUNDED_TEST";

/// Runs `test`, the body of the test `name` in `module` (`module_path!()`), in a child process with the
/// limits.
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
    // Passes the child's output on, so that the seed is printed if the test fails.
    print!("{text}");
}
