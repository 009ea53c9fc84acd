//! What a4emu is beside its own program: the device's library, which `run` preloads, and `a4emu-export`, which `export`
//! starts. They are looked for where a build leaves them, and where `scripts/install` and packages put them.
//!
//! `cargo install` leaves both out: it installs the programs of one package, and no libraries. What is missing there is
//! made when it is first asked for, by cargo, from the checkout that cargo's own record beside the program names, and kept
//! in `lib/a4emu`; nothing is ever built for a program that came otherwise. To have the library in the program, its
//! build would have to run cargo within cargo and compile everything twice, for everybody (artifact dependencies, which
//! would not, are not in stable Rust), and glibc refuses to preload a program.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use percent_encoding::percent_decode_str;
use serde_json::Value;

use a4emu_inspect::out_file::{Inputs, OutFile};
use a4emu_inspect::terminal;

/// Where installations keep what is not for people to start, from the folder of the program.
const KEPT: &str = "../lib/a4emu";

/// Cargo's record of what it has installed, from there.
const RECORD: &str = "../.crates.toml";

/// A file that belongs to a4emu.
#[derive(Clone, Copy, Debug)]
pub struct Companion {
    /// Its name.
    pub file: &'static str,
    /// The package that makes it.
    pub package: &'static str,
    /// The variable that names one which lies elsewhere.
    pub variable: &'static str,
}

impl Companion {
    /// Where it is. May take minutes, which stderr says, where cargo has installed this program.
    ///
    /// # Errors
    /// It is not there, and cannot be made; the message says what to do.
    pub fn find(&self) -> anyhow::Result<PathBuf> {
        if let Some(named) = env::var_os(self.variable).filter(|value| !value.is_empty()).map(PathBuf::from) {
            // One that was asked for is never replaced by another.
            return named
                .canonicalize()
                .with_context(|| format!("no {} ({})", named.display(), self.variable));
        }
        let program = env::current_exe().and_then(|program| program.canonicalize());
        self.of(&program.context("where is this program?")?)
    }

    /// That of `program`.
    fn of(&self, program: &Path) -> anyhow::Result<PathBuf> {
        let beside = program.parent().unwrap_or(Path::new("."));
        let [built, tested, kept] =
            [beside, &beside.join("deps"), &beside.join(KEPT)].map(|folder| folder.join(self.file));
        let source = source(&beside.join(RECORD));
        // One that is older was made for what cargo has replaced since.
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

    /// Has cargo make it from the checkout `source`, and keeps it.
    fn make(&self, source: &Path, program: &Path, kept: &Path) -> anyhow::Result<PathBuf> {
        let from = source.display();
        ensure!(
            source.join("Cargo.toml").exists(),
            "{from}, which cargo installed a4emu from, is not there any more"
        );
        ensure!(is_of_one_owner(source, program), "{from} does not belong to whom a4emu belongs to");
        terminal::say(format_args!("making {} from {from}, once: `cargo install` leaves it out", self.file));
        let made = self.built(source)?;
        let folder = kept.parent().unwrap_or(Path::new("."));
        fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
        let mut out = OutFile::create(kept, &Inputs::default())?;
        std::io::copy(&mut fs::File::open(&made)?, &mut out)?;
        out.finish()?;
        fs::set_permissions(kept, fs::metadata(&made)?.permissions())?;
        Ok(kept.canonicalize()?)
    }

    /// Runs cargo, and takes the place from what it says.
    fn built(&self, source: &Path) -> anyhow::Result<PathBuf> {
        let mut cargo = Command::new("cargo");
        cargo.args(["build", "--release", "--locked", "--package", self.package]);
        // A program or library that is about to be started is not to be preloaded with another.
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

/// The file called `name` that a message of cargo names.
fn artifact(message: &str, name: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(message).ok()?;
    let mut files = message["filenames"].as_array()?.iter().filter_map(Value::as_str).map(PathBuf::from);
    files.find(|file| file.file_name().is_some_and(|found| found == name))
}

/// The checkout that cargo's record says a4emu was installed from.
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

/// Whether nobody else's code would be built: the folder may be gone, and its name taken by another.
#[cfg(unix)]
fn is_of_one_owner(source: &Path, program: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::metadata(path).map(|metadata| metadata.uid()).ok();
    owner(&source.join("Cargo.toml")) == owner(program)
}

/// Nobody says.
#[cfg(not(unix))]
fn is_of_one_owner(_: &Path, _: &Path) -> bool {
    true
}
