//! The Python module: runs `python/tests` with packages of their own, and with the command and the module that
//! cargo has built. Without a Python with pip, or without PyPI, the test is skipped with a message.

#[path = "pip/mod.rs"]
mod pip;

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

/// Packages for the tests. Ray, Dask and a notebook's kernel are not included: `python/README.md` describes
/// their tests.
const PACKAGES: [&str; 3] = ["numpy>=1.23", "pytest", "mypy"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// Makes the installed form of the module: `python/a4emu` with the library that cargo has built.
fn package(folder: &Path) -> std::io::Result<()> {
    let package = folder.join("a4emu");
    fs::create_dir_all(&package)?;
    for entry in fs::read_dir(root().join("python/a4emu"))? {
        let path = entry?.path();
        let is_source = path.extension().is_none_or(|kind| kind != "so") && path.is_file();
        if let Some(name) = path.file_name().filter(|_| is_source) {
            fs::copy(&path, package.join(name))?;
        }
    }
    let tests = std::env::current_exe()?;
    let beside = tests.parent().expect("a folder");
    let module = [beside, &beside.join("..")].map(|folder| folder.join("liba4emu_native.so"));
    let module = module.into_iter().find(|path| path.exists()).expect("the module is built with the tests");
    fs::copy(module, package.join("_native.abi3.so")).map(drop)
}

#[test]
#[cfg_attr(not(target_os = "linux"), ignore = "the module has another name there")]
fn python_module_agrees_with_the_command_line() {
    let packages = match pip::installed(&PACKAGES) {
        Ok(packages) => packages,
        Err(why) => return eprintln!("SKIPPED: python/tests: {why}"),
    };
    let module = tempfile::tempdir().expect("a folder");
    package(module.path()).expect("the module can be copied");
    let path = std::env::join_paths([module.path(), &packages]).expect("names without colons");
    let mut pytest = Command::new("python3");
    pytest.args([
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-rs",
        "-m",
        "not ray and not notebook",
        "python/tests",
    ]);
    pytest
        .env("A4EMU", env!("CARGO_BIN_EXE_a4emu"))
        .env("PYTHONPATH", path)
        // Packages of the machine are not asked.
        .env("PYTHONNOUSERSITE", "1")
        .env("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = pytest.current_dir(root()).stdin(Stdio::null()).output().expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{}", said.lines().filter(|line| line.contains("SKIPPED")).collect::<Vec<_>>().join("\n"));
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
