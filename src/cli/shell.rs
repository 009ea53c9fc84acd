//! Shell completions, manual pages and `--version`, made from the definitions of the arguments.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::Context;
use clap::Command;
use clap_complete::Shell;

use a4emu_shader::jit;
use a4emu_support::out_file::{self, Inputs};
use a4emu_support::terminal;

/// The text of `-V` after the name: the version and, for a release, the commit.
pub fn version() -> String {
    let commit = option_env!("A4EMU_COMMIT").map_or(String::new(), |commit| format!(" ({commit})"));
    env!("CARGO_PKG_VERSION").to_owned() + &commit
}

/// The text of `--version`: also the source and the target of the build.
pub fn long_version() -> String {
    let commit = match (option_env!("A4EMU_COMMIT"), cfg!(debug_assertions)) {
        (Some(commit), _) => commit,
        (None, true) => "not noted in a debug build",
        (None, false) => "none: built without git, and A4EMU_COMMIT named none",
    };
    let (target, lanes) = (env!("A4EMU_TARGET"), lanes());
    let compiled = jit::target().unwrap_or("nothing: they are interpreted");
    let version = version();
    format!(
        "{version}\ncommit: {commit}\ntarget: {target}\nloops over lanes: {lanes}\nshaders compiled for: {compiled}"
    )
}

/// The instruction sets for which loops over lanes, pixels and vertices are compiled, and the one that this
/// machine uses.
pub fn lanes() -> &'static str {
    #[cfg(target_arch = "x86_64")]
    {
        let wide = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl");
        match (wide, is_x86_feature_detected!("avx2")) {
            (true, _) => "AVX-512 (of AVX-512, AVX2 and SSE2)",
            (false, true) => "AVX2 (of AVX-512, AVX2 and SSE2)",
            (false, false) => "SSE2 (of AVX-512, AVX2 and SSE2)",
        }
    }
    #[cfg(not(target_arch = "x86_64"))]
    "what the target has"
}

/// Arguments of `completions`.
#[derive(clap::Args, Clone, Debug)]
pub struct Completions {
    /// The shell
    pub shell: Shell,
}

impl Completions {
    /// Prints the script on stdout.
    ///
    /// # Errors
    /// The call fails if stdout cannot be written.
    pub fn run(&self, mut command: Command) -> anyhow::Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut command, "a4emu", &mut script);
        put(&script)
    }
}

fn put(bytes: &[u8]) -> anyhow::Result<()> {
    let mut out = terminal::bytes();
    out.write_all(bytes)?;
    Ok(out.flush()?)
}

/// Arguments of `man`.
#[derive(clap::Args, Clone, Debug)]
pub struct Man {
    /// Write a page for each command into this folder (default: that of a4emu itself, to stdout)
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

impl Man {
    /// Writes the pages.
    ///
    /// # Errors
    /// The call fails if a file or stdout cannot be written.
    pub fn run(&self, mut command: Command) -> anyhow::Result<()> {
        command.build();
        match self.output.as_deref().filter(|folder| *folder != Path::new("-")) {
            None => {
                let mut page = Vec::new();
                clap_mangen::Man::new(command).render(&mut page)?;
                put(&page)
            }
            Some(folder) => {
                fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
                pages(&command, "a4emu", folder)
            }
        }
    }
}

/// Writes the page `name` of `command`, and the pages of its subcommands, into `folder`.
fn pages(command: &Command, name: &str, folder: &Path) -> anyhow::Result<()> {
    let page = command.clone().name(name.to_owned());
    let mut text = Vec::new();
    clap_mangen::Man::new(page).render(&mut text)?;
    out_file::write(&folder.join(format!("{name}.1")), &text, &Inputs::default())?;
    let inner = command.get_subcommands().filter(|inner| inner.get_name() != "help");
    for inner in inner {
        pages(inner, &format!("{name}-{}", inner.get_name()), folder)?;
    }
    Ok(())
}
