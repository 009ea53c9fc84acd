//! `scripts/install` and `cargo install` install all files, and the installed program finds them.
#![cfg(target_os = "linux")]

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, SystemTime};

use pretty_assertions::assert_eq;
use pulldown_cmark::{Event, Tag};
use tempfile::TempDir;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Links or copies a file of this build into another folder.
fn take(from: &Path, to: &Path) {
    fs::create_dir_all(to.parent().unwrap()).unwrap();
    fs::hard_link(from, to).or_else(|_| fs::copy(from, to).map(drop)).unwrap();
}

/// A folder with the files of a release build.
fn built() -> TempDir {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    take(Path::new(env!("CARGO_BIN_EXE_a4emu")), &folder.path().join("a4emu"));
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_path_buf();
    take(&deps.join("liba4emu_drm.so"), &folder.path().join("liba4emu_drm.so"));
    // The real program may not be built, and its behaviour is not tested here.
    script(&folder.path().join("a4emu-export"), "echo \"tables of $*\"");
    folder
}

fn script(path: &Path, lines: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, format!("#!/bin/sh\n{lines}\n")).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Paths of the files in and below `folder`, sorted.
fn files(folder: &Path) -> Vec<String> {
    let kinds = ["(", "-type", "f", "-o", "-type", "l", ")", "-printf", "%P\\n"];
    let find = Command::new("find").arg(folder).args(kinds).output().unwrap();
    let mut all: Vec<String> = text(&find.stdout).lines().map(str::to_owned).collect();
    all.sort();
    all
}

fn install(arguments: &[&str], destination: &Path) -> Output {
    let mut command = Command::new(root().join("scripts/install"));
    command.args(arguments).env("DESTDIR", destination).output().unwrap()
}

fn run(program: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(program);
    for variable in ["A4EMU_LIBRARY", "A4EMU_EXPORT", "LD_PRELOAD"] {
        command.env_remove(variable);
    }
    command.args(arguments).output().unwrap()
}

/// Arguments that print the libraries with which `a4emu run` preloads a program.
const PRELOADED: [&str; 6] = ["run", "--quiet", "--", "sh", "-c", "echo $LD_PRELOAD"];

#[test]
fn all_is_installed_found_and_taken_away() {
    let (built, to) = (built(), tempfile::tempdir().unwrap());
    let arguments = ["--built", built.path().to_str().unwrap(), "/opt/a4emu"];
    let installed = install(&arguments, to.path());
    assert!(installed.status.success(), "{}", text(&installed.stderr));
    let prefix = to.path().join("opt/a4emu");
    let all = files(to.path());
    let manifest = fs::read_to_string(prefix.join("share/a4emu/manifest")).unwrap();
    assert_eq!(all, manifest.lines().map(|line| format!("opt/a4emu/{line}")).collect::<Vec<_>>());
    for file in [
        "bin/a4emu",
        "lib/a4emu/a4emu-export",
        "lib/a4emu/liba4emu_drm.so",
        "share/bash-completion/completions/a4emu",
        "share/doc/a4emu/LICENSE",
        "share/fish/vendor_completions.d/a4emu.fish",
        "share/man/man1/a4emu-replay.1.gz",
        "share/zsh/site-functions/_a4emu",
    ] {
        assert!(all.contains(&format!("opt/a4emu/{file}")), "{file}: {all:?}");
        assert!(
            file == "lib/a4emu/a4emu-export" || fs::metadata(prefix.join(file)).unwrap().len() > 500,
            "{file}"
        );
    }
    let shim = prefix.join("lib/a4emu/libfreedreno_drm_shim.so");
    assert_eq!(fs::read_link(shim).unwrap(), Path::new("liba4emu_drm.so"));
    // The installation works after it is moved.
    let moved = to.path().join("moved");
    fs::rename(&prefix, &moved).unwrap();
    let a4emu = moved.join("bin/a4emu");
    let library = moved.join("lib/a4emu/liba4emu_drm.so").canonicalize().unwrap();
    let preloaded = run(&a4emu, &PRELOADED);
    assert_eq!(text(&preloaded.stdout), format!("{}\n", library.display()), "{}", text(&preloaded.stderr));
    let tables = run(&a4emu, &["export", "x.rd", "--parquet", "tables"]);
    assert_eq!(text(&tables.stdout), "tables of export x.rd --parquet tables\n");
    fs::rename(&moved, &prefix).unwrap();
    fs::write(prefix.join("bin/other"), "").unwrap();
    assert!(install(&["--uninstall", "/opt/a4emu"], to.path()).status.success());
    assert_eq!(files(to.path()), ["opt/a4emu/bin/other"], "what is not ours stays");
    assert_eq!(fs::read_dir(&prefix).unwrap().count(), 1, "no empty folders");
    assert_eq!(install(&["--uninstall", "/opt/a4emu"], to.path()).status.code(), Some(2));
}

/// The targets of the links of a page, without anchors and addresses.
fn links(text: &str) -> Vec<String> {
    let events = pulldown_cmark::Parser::new_ext(text, pulldown_cmark::Options::ENABLE_TABLES);
    let targets = events.filter_map(|event| match event {
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => Some(dest_url.to_string()),
        _ => None,
    });
    let local = targets.filter(|link| !link.contains("://"));
    local.map(|link| link.split('#').next().unwrap_or_default().to_owned()).collect()
}

/// Follows the links of all pages in `folder`, which must be there. Returns how many there are.
fn follow(folder: &Path) -> usize {
    let pages: Vec<String> = files(folder).into_iter().filter(|file| file.ends_with(".md")).collect();
    let mut all = 0;
    for page in &pages {
        let page = folder.join(page);
        for link in links(&fs::read_to_string(&page).unwrap()) {
            assert!(page.parent().unwrap().join(&link).exists(), "{}: {link}", page.display());
            all += 1;
        }
    }
    assert!(pages.len() > 30, "{pages:?}");
    all
}

/// Runs the first commands of docs/installation.md of a package, in the folder of its pages.
fn first_commands(pages: &Path, bin: &Path) {
    let page = fs::read_to_string(pages.join("docs/installation.md")).unwrap();
    let commands = page.split("Try it there:\n\n```sh\n").nth(1).and_then(|rest| rest.split("```").next());
    let commands: Vec<&str> = commands.expect("the first commands").lines().collect();
    assert!(commands.len() > 1, "{commands:?}");
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap());
    for command in commands {
        let done =
            Command::new("sh").args(["-c", command]).current_dir(pages).env("PATH", &path).output().unwrap();
        assert!(done.status.success(), "{command}: {}", text(&done.stderr));
    }
    assert!(["triangle.png", "frame.html"].iter().all(|file| pages.join(file).exists()));
}

/// The archive of scripts/release, unpacked: no link is broken, at its top and in its folder of pages, and the first
/// commands run.
#[test]
fn a_package_has_whole_pages_and_captures_to_try() {
    let built = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    // A small program is packed quickly.
    script(&built.path().join("a4emu"), &format!("exec {} \"$@\"", env!("CARGO_BIN_EXE_a4emu")));
    let target = tempfile::tempdir().unwrap();
    let arguments = ["--built", built.path().to_str().unwrap()];
    let mut release = Command::new(root().join("scripts/release"));
    let released = release.args(arguments).env("CARGO_TARGET_DIR", target.path()).output().unwrap();
    assert!(released.status.success(), "{}", text(&released.stderr));
    let dist = target.path().join("dist");
    let archive = files(&dist).into_iter().find(|file| file.ends_with(".tar.gz")).expect("an archive");
    let tar = Command::new("tar").arg("-xzf").arg(dist.join(&archive)).arg("-C").arg(target.path()).status();
    assert!(tar.unwrap().success());
    let top = target.path().join(archive.strip_suffix(".tar.gz").unwrap());
    let pages = top.join("share/doc/a4emu");
    assert!(follow(&pages) > 250);
    for page in ["README.md", "CONTRIBUTING.md"] {
        let text = fs::read_to_string(top.join(page)).unwrap();
        links(&text).iter().for_each(|link| assert!(top.join(link).exists(), "{page}: {link}"));
    }
    let captures = files(&pages.join("captures"));
    assert!(captures.iter().filter(|file| file.ends_with(".rd.gz")).count() >= 2, "{captures:?}");
    first_commands(&pages, &top.join("bin"));
}

#[test]
fn missing_parts_are_reported_with_instructions() {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let a4emu = folder.path().join("bin/a4emu");
    take(Path::new(env!("CARGO_BIN_EXE_a4emu")), &a4emu);
    let said = run(&a4emu, &PRELOADED);
    assert_eq!(said.status.code(), Some(2));
    for word in ["liba4emu_drm.so", "cargo build --release -p a4emu-drm", "scripts/install", "A4EMU_LIBRARY"]
    {
        assert!(text(&said.stderr).contains(word), "{word}: {}", text(&said.stderr));
    }
    let said = run(&a4emu, &["export", "x.rd", "--parquet", "tables"]);
    assert_eq!(said.status.code(), Some(2));
    assert!(text(&said.stderr).contains("-p a4emu-export"), "{}", text(&said.stderr));
    // The library that the environment names is used without a fallback.
    take(&built().path().join("liba4emu_drm.so"), &folder.path().join("lib/a4emu/liba4emu_drm.so"));
    assert!(run(&a4emu, &PRELOADED).status.success());
    let other = Command::new(&a4emu).args(PRELOADED).env("A4EMU_LIBRARY", "/nowhere.so").output().unwrap();
    assert_eq!(other.status.code(), Some(2), "{}", text(&other.stdout));
}

/// The root of a `cargo install`, its checkout, and a fake cargo that makes the requested files.
struct Installed {
    folder: TempDir,
    a4emu: PathBuf,
}

impl Installed {
    fn new() -> Self {
        let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let (path, a4emu) = (folder.path().to_owned(), folder.path().join("cargo/bin/a4emu"));
        take(Path::new(env!("CARGO_BIN_EXE_a4emu")), &a4emu);
        fs::create_dir_all(path.join("a checkout")).unwrap();
        fs::write(path.join("a checkout/Cargo.toml"), "").unwrap();
        let record = format!(
            "[v1]\n\"other 1.0.0 (registry+https://example)\" = [\"other\"]\n\
             \"a4emu {} (path+file://{}/a%20checkout)\" = [\"a4emu\"]\n",
            env!("CARGO_PKG_VERSION"),
            path.display()
        );
        fs::write(path.join("cargo/.crates.toml"), record).unwrap();
        fs::copy(built().path().join("liba4emu_drm.so"), path.join("made.so")).unwrap();
        script(
            &path.join("bin/cargo"),
            &format!(
                "echo \"$PWD: $*\" >>{0}/asked\n[ ! -e {0}/broken ] || exit 101\nmkdir -p {0}/out\n\
                 cp {0}/made.so {0}/out/liba4emu_drm.so\n\
                 echo '{{\"reason\":\"compiler-artifact\",\"filenames\":[\"{0}/out/x.rlib\",\"{0}/out/liba4emu_drm.so\"]}}'\n\
                 echo '{{\"reason\":\"build-finished\",\"success\":true}}'",
                path.display()
            ),
        );
        Self { folder, a4emu }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn run(&self) -> Output {
        let path = format!("{}:{}", self.path("bin").display(), std::env::var("PATH").unwrap());
        let mut command = Command::new(&self.a4emu);
        command.env("PATH", path).env_remove("A4EMU_LIBRARY").env_remove("LD_PRELOAD");
        command.args(PRELOADED).output().unwrap()
    }

    /// The arguments of each call of the fake cargo so far.
    fn asked(&self) -> Vec<String> {
        fs::read_to_string(self.path("asked")).unwrap_or_default().lines().map(str::to_owned).collect()
    }
}

#[test]
fn library_missing_after_cargo_install_is_built_once() {
    let installed = Installed::new();
    let library = installed.path("cargo/lib/a4emu/liba4emu_drm.so");
    let first = installed.run();
    assert_eq!(text(&first.stdout).trim(), library.display().to_string(), "{}", text(&first.stderr));
    assert!(text(&first.stderr).contains("a4emu: making liba4emu_drm.so from "), "{}", text(&first.stderr));
    let checkout = installed.path("a checkout");
    let expected = format!(
        "{}: build --release --locked --package a4emu-drm --message-format=json-render-diagnostics",
        checkout.display()
    );
    assert_eq!(installed.asked(), [expected.as_str()]);
    let again = installed.run();
    assert_eq!((text(&again.stderr).as_str(), installed.asked().len()), ("", 1));
    // A program that is newer than its library builds the library again.
    let before = SystemTime::now() - Duration::from_secs(1 << 20);
    fs::File::options().write(true).open(&library).unwrap().set_modified(before).unwrap();
    assert!(installed.run().status.success());
    assert_eq!(installed.asked().len(), 2);
    assert!(fs::metadata(&library).unwrap().modified().unwrap() > before);
}

#[test]
fn failed_builds_of_the_library_are_reported() {
    let installed = Installed::new();
    fs::write(installed.path("broken"), "").unwrap();
    let said = installed.run();
    assert_eq!(said.status.code(), Some(2));
    assert!(text(&said.stderr).contains("cargo failed (exit status: 101)"), "{}", text(&said.stderr));
    assert!(text(&said.stderr).contains("scripts/install PREFIX"), "{}", text(&said.stderr));
    fs::remove_dir_all(installed.path("a checkout")).unwrap();
    let said = installed.run();
    assert_eq!(said.status.code(), Some(2));
    assert!(text(&said.stderr).contains("is not there any more"), "{}", text(&said.stderr));
    assert_eq!(installed.asked().len(), 1, "nothing is built of what is not there");
    assert!(!installed.path("cargo/lib/a4emu/liba4emu_drm.so").exists());
}
