//! Tests that say "it ends": each runs in a process of its own that has so much time and so
//! much address space, so that what hangs or takes too much fails instead of going on.

pub mod limits;

use limits::limited;

/// Tells the process which test it is to run itself.
const HERE: &str = "A4EMU_BOUNDED_TEST";

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
