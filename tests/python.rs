//! The Python module: runs `python/tests` in an environment of its own, with the command and the module that
//! cargo has built. Without a Python with `venv`, or without PyPI, the test is skipped with a message.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Packages for the tests. Ray, Dask and a notebook's kernel are not included: `python/README.md` describes
/// their tests.
const PACKAGES: [&str; 3] = ["numpy>=1.23", "pytest", "mypy"];

/// Seconds without data after which a download fails.
const PATIENCE: &str = "30";

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn skipped(why: &str) {
    eprintln!("SKIPPED: python/tests: {why}");
}

fn run(command: &mut Command) -> Option<Output> {
    let output = command.stdin(Stdio::null()).output().ok()?;
    if !output.status.success() {
        eprintln!("{}", String::from_utf8_lossy(&output.stderr));
    }
    output.status.success().then_some(output)
}

/// Makes a Python environment in `folder`, with the packages.
fn environment(folder: &Path) -> Result<PathBuf, &'static str> {
    run(Command::new("python3").args(["-m", "venv"]).arg(folder)).ok_or("no python3 with venv")?;
    let python = folder.join("bin/python");
    let install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--timeout", PATIENCE];
    let installed = run(Command::new(&python).args(install).args(PACKAGES));
    installed.map(|_| python).ok_or("pip cannot install what they need")
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
    let folder = tempfile::tempdir().expect("a folder");
    let python = match environment(&folder.path().join("venv")) {
        Ok(python) => python,
        Err(why) => return skipped(why),
    };
    let packages = folder.path().join("packages");
    package(&packages).expect("the module can be copied");
    let mut pytest = Command::new(python);
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
        .env("PYTHONPATH", packages)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    let output = pytest.current_dir(root()).stdin(Stdio::null()).output().expect("python runs");
    let said = String::from_utf8_lossy(&output.stdout);
    eprintln!("{}", said.lines().filter(|line| line.contains("SKIPPED")).collect::<Vec<_>>().join("\n"));
    assert!(output.status.success(), "{said}\n{}", String::from_utf8_lossy(&output.stderr));
}
