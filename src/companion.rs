//! Finds the files that a4emu needs next to its own program: the device library, which `run` preloads, and
//! `a4emu-export`, which `export` starts. They are searched where a build leaves them, and where
//! `scripts/install` and packages install them.
//!
//! `cargo install` installs neither: it installs the programs of one package, and no libraries. For a
//! program that cargo installed, a missing file is built at its first use, from the checkout in cargo's own
//! record, and is kept in `lib/a4emu`. For other programs nothing is built. The library cannot be part of
//! the program: its build would have to run cargo within cargo and compile everything twice (artifact
//! dependencies are not in stable Rust). And glibc refuses to preload a program.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use a4emu_support::out_file::{Inputs, OutFile};
use a4emu_support::terminal;

/// Folder of installed helper files, relative to the folder of the program.
const KEPT: &str = "../lib/a4emu";

/// Cargo's record of its installations, relative to the folder of the program.
const RECORD: &str = "../.crates.toml";

/// A file that a4emu needs next to its program.
#[derive(Clone, Copy, Debug)]
pub struct Companion {
    /// Name of the file.
    pub file: &'static str,
    /// The package that builds it.
    pub package: &'static str,
    /// Environment variable that names another place of the file.
    pub variable: &'static str,
}

impl Companion {
    /// Finds the file. If cargo installed this program, the call may build it for minutes and reports that
    /// on stderr.
    ///
    /// # Errors
    /// The call fails if the file does not exist and cannot be built. The message describes what to do.
    pub fn find(&self) -> anyhow::Result<PathBuf> {
        if let Some(named) = env::var_os(self.variable).filter(|value| !value.is_empty()).map(PathBuf::from) {
            // A file from the variable is never replaced by another.
            return named
                .canonicalize()
                .with_context(|| format!("no {} ({})", named.display(), self.variable));
        }
        let program = env::current_exe().and_then(|program| program.canonicalize());
        self.of(&program.context("where is this program?")?)
    }

    /// Finds the file for `program`.
    fn of(&self, program: &Path) -> anyhow::Result<PathBuf> {
        let beside = program.parent().unwrap_or(Path::new("."));
        let [built, tested, kept] =
            [beside, &beside.join("deps"), &beside.join(KEPT)].map(|folder| folder.join(self.file));
        let source = source(&beside.join(RECORD));
        // An older file was built for a program that cargo has replaced since.
        let counts = kept.exists() && (source.is_none() || !is_older(&kept, program));
        let mut places = [built, tested].into_iter().filter(|place| place.exists());
        match (places.next().or(counts.then(|| kept.clone())), source) {
            (Some(found), _) => Ok(found.canonicalize()?),
            (None, Some(source)) => self.make(&source, program, &kept).with_context(|| self.advice(program)),
            (None, None) => bail!(self.advice(program)),
        }
    }

    fn advice(&self, program: &Path) -> String {
        let Self { file, package, variable } = self;
        format!(
            "{file} is neither beside {} nor in {KEPT} from there: in a checkout, `cargo build --release -p {package}` \
             makes it, and `scripts/install PREFIX` puts all of a4emu where it is found; {variable} names one elsewhere",
            program.display()
        )
    }

    /// Builds the file with cargo from the checkout `source`, and keeps it.
    fn make(&self, source: &Path, program: &Path, kept: &Path) -> anyhow::Result<PathBuf> {
        let from = source.display();
        ensure!(
            source.join("Cargo.toml").exists(),
            "{from}, which cargo installed a4emu from, is not there any more"
        );
        ensure!(is_of_one_owner(source, program), "{from} and a4emu have different owners");
        terminal::say(format_args!(
            "making {} from {from}, once, because `cargo install` does not build it",
            self.file
        ));
        let made = self.built(source)?;
        let folder = kept.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut out = OutFile::create(kept, &Inputs::default())?;
        std::io::copy(&mut fs::File::open(&made)?, &mut out)?;
        out.finish()?;
        fs::set_permissions(kept, fs::metadata(&made)?.permissions())?;
        Ok(kept.canonicalize()?)
    }

    /// Runs cargo. Returns the path of the file from its messages.
    fn built(&self, source: &Path) -> anyhow::Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--locked", "--package", self.package]);
        // A program or library that is about to be started must not be preloaded with another.
        cargo.arg("--message-format=json-render-diagnostics").current_dir(source).env_remove("LD_PRELOAD");
        let child = cargo.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
        let mut child = child.context("cannot start cargo")?;
        let said = BufReader::new(child.stdout.take().context("cargo has no stdout")?);
        let lines = said.lines().map_while(Result::ok);
        let made = lines.filter_map(|line| artifact(&line, self.file)).last();
        let status = child.wait()?;
        ensure!(status.success(), "cargo failed ({status})");
        made.with_context(|| format!("cargo made no {}", self.file))
    }
}

/// The file called `name` in a message of cargo.
fn artifact(message: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from);
    files.find(|file| file.file_name().is_some_and(|found| found == name))
}

/// The checkout from which a4emu was installed, according to cargo's record.
fn source(record: &Path) -> Option<PathBuf> {
    let record: toml::Table = fs::read_to_string(record).ok()?.parse().ok()?;
    let mut packages = record.get("v1")?.as_table()?.keys();
    let url = packages.find_map(|package| {
        package
            .strip_prefix(concat!("a4emu ", env!("CARGO_PKG_VERSION"), " (path+file://"))?
            .strip_suffix(')')
    })?;
    Some(PathBuf::from(percent_decode_str(url).decode_utf8().ok()?.into_owned()))
}

fn is_older(file: &Path, than: &Path) -> bool {
    let time = |path: &Path| fs::metadata(path).and_then(|metadata| metadata.modified()).ok();
    time(file) < time(than)
}

/// Whether `source` and `program` have the same owner. The folder may have been replaced by another user's.
#[cfg(unix)]
fn is_of_one_owner(source: &Path, program: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
    owner(&source.join("Cargo.toml")) == owner(program)
}

/// Owners are unknown here, so this is always true.
#[cfg(not(unix))]
fn is_of_one_owner(_: &Path, _: &Path) -> bool {
    true
}
