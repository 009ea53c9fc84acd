//! The `a4emu` command: parses the arguments, runs one command, and returns its exit status.

mod examples;
mod shell;

use std::io::{self, Write};
#[cfg(target_os = "linux")]
use std::sync::Arc;
use std::time::Duration;
use std::{process, thread};

use anstream::adapter::strip_str;
use anstream::{AutoStream, ColorChoice};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{ArgMatches, CommandFactory, FromArgMatches, Parser, Subcommand};

use crate::flags::Flags;
#[cfg(target_os = "linux")]
use crate::run;
use crate::{
    asm, bisect, check, corpus, debug, decode, diff, disasm, explain, export, info, memory, pico, pixel,
    reduce, replay, report, serve, show, validate,
};
use a4emu_gpu::ambient;
use a4emu_shader::jit;
use a4emu_support::options::{Shared, Threads};
use a4emu_support::status::{Status, WithErrors};
use a4emu_support::terminal;
pub use shell::lanes;

/// Most columns of a help text. A narrower terminal has fewer.
const HELP_COLUMNS: usize = 80;

/// An Adreno A4xx in software: decode, replay and diff command streams.
#[derive(Parser)]
#[command(name = "a4emu", version, about, max_term_width = HELP_COLUMNS)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    shared: Flags<Shared>,
}

#[derive(Subcommand)]
enum Command {
    /// Gpu, submits, draws, buffers, memory read but not captured
    #[command(after_help = examples::INFO)]
    Info(info::Args),
    /// Annotate the command stream, run nothing
    #[command(after_help = examples::DECODE)]
    Decode(decode::Args),
    /// Run a capture; render
    #[command(after_help = examples::REPLAY)]
    Replay(Box<replay::Args>),
    /// The commands of a frame, or one draw with all that it runs with, reads and changes
    #[command(after_help = examples::SHOW)]
    Show(show::Args),
    /// Why pixels have their colours: every primitive that covered them, and the result of each
    #[command(after_help = examples::PIXEL)]
    Pixel(pixel::Args),
    /// Memory at any draw: as numbers, vertices or texels, what changed, and what uses it
    #[command(after_help = examples::MEMORY)]
    Memory(memory::Args),
    /// A page that shows a capture: pictures, state, pixel history; one file without any network
    #[command(after_help = examples::REPORT)]
    Report(report::Args),
    /// Serve the page to a browser on this machine, with more details on request
    #[command(after_help = examples::SERVE)]
    Serve(serve::Args),
    /// What changed between two captures, two draws or two state files
    #[command(after_help = examples::DIFF)]
    Diff(diff::Args),
    /// Step through a shader of a draw or dispatch
    #[command(after_help = examples::DEBUG)]
    Debug(debug::Args),
    /// Check a stream against the rules of the chip for programs, packets and state
    #[command(after_help = examples::VALIDATE)]
    Validate(validate::Args),
    /// Replay every fixture and compare with its golden files
    #[command(after_help = examples::CHECK)]
    Check(check::Args),
    /// Many captures, each in a process of its own: run them, compare runs, see what they cover
    #[command(after_help = examples::CORPUS)]
    Corpus(corpus::Args),
    /// Captures as tables of Parquet, for SQL
    #[command(after_help = examples::EXPORT)]
    Export(export::Args),
    /// The smallest capture for which something still holds
    #[command(after_help = examples::REDUCE)]
    Reduce(reduce::Args),
    /// Find where two builds differ on one capture: draw, pixel, instruction and lane
    #[command(after_help = examples::BISECT)]
    Bisect(bisect::Args),
    /// Text to command stream
    #[command(after_help = examples::ASM)]
    Asm(asm::Args),
    /// Command stream to text that `asm` turns back into the same bytes
    #[command(after_help = examples::DISASM)]
    Disasm(disasm::Args),
    /// What a register, an instruction word or a packet means
    #[command(after_help = examples::EXPLAIN)]
    Explain(explain::Args),
    /// The PicoGpu front end
    #[command(after_help = examples::PICO)]
    Pico(pico::Args),
    /// Any OpenGL program on the real driver, with a4emu as the GPU
    #[cfg(target_os = "linux")]
    #[command(after_help = examples::RUN)]
    Run(run::Args),
    /// The script that completes a4emu's arguments in a shell
    #[command(after_help = examples::COMPLETIONS)]
    Completions(shell::Completions),
    /// Manual pages
    #[command(after_help = examples::MAN)]
    Man(shell::Man),
}

fn dispatch(cli: &Cli) -> anyhow::Result<Status> {
    match &cli.command {
        Command::Info(args) => info::run(args, &cli.shared),
        Command::Decode(args) => Threads::default().run(|| decode::run(args, &cli.shared)),
        Command::Replay(args) => replay::run(args, &cli.shared),
        Command::Show(args) => show::run(args, &cli.shared),
        Command::Pixel(args) => pixel::run(args, &cli.shared),
        Command::Memory(args) => memory::run(args, &cli.shared),
        Command::Report(args) => report::run(args, &cli.shared),
        Command::Serve(args) => serve::run(args, &cli.shared),
        Command::Diff(args) => Threads::default().run(|| diff::run(args, &cli.shared)),
        Command::Debug(args) => Threads::default().run(|| debug::run(args, &cli.shared)),
        Command::Validate(args) => validate::run(args, &cli.shared),
        Command::Check(args) => check::run(args, &cli.shared),
        Command::Corpus(args) => corpus::run(args, &cli.shared),
        Command::Export(_) => export::start(),
        Command::Reduce(args) => reduce::run(args, &cli.shared),
        Command::Bisect(args) => bisect::run(args, &cli.shared),
        Command::Asm(args) => asm::run(args, &cli.shared),
        Command::Disasm(args) => Threads::default().run(|| disasm::run(args, &cli.shared)),
        Command::Explain(args) => explain::run(args, &cli.shared),
        Command::Pico(args) => Threads::default().run(|| pico::run(args, &cli.shared)),
        #[cfg(target_os = "linux")]
        Command::Run(args) => run::run(args, &cli.shared),
        Command::Completions(args) => args.run(command()).map(|()| Status::Fine),
        Command::Man(args) => args.run(command()).map(|()| Status::Fine),
    }
}

/// The definitions of all arguments.
fn command() -> clap::Command {
    Cli::command().version(shell::version()).long_version(shell::long_version())
}

/// Parses the arguments of the process. On wrong use, and for `--help` and `--version`, prints the text and
/// returns the exit status.
fn parse() -> Result<Cli, Status> {
    let parsed = command().try_get_matches().and_then(|matches| {
        let cli = Cli::from_arg_matches(&matches)?;
        enforce_time_limit(&matches);
        Ok(cli)
    });
    parsed.map_err(|error| {
        let coloured = error.render().ansi().to_string();
        if error.use_stderr() {
            let coloured = on_their_lines(coloured) + &instead(&error);
            terminal::say_coloured(&text(&coloured, AutoStream::choice(&io::stderr())));
            return Status::Usage;
        }
        let mut out = terminal::bytes();
        let text = text(&coloured, AutoStream::choice(&io::stdout()));
        Status::Fine.and(out.write_all(text.as_bytes()).and_then(|()| out.flush()))
    })
}

/// Options that are gone, with the command that answers.
const GONE: &[(&str, &str, &str)] = &[
    ("replay", "--after", "`a4emu show CAPTURE --draw DRAW --after FILE` writes the picture"),
    ("replay", "--validate", "`a4emu validate CAPTURE` checks the run"),
];

/// The line that names the command in place of an option that is gone, if that is the `error`.
fn instead(error: &clap::Error) -> String {
    let Some(ContextValue::String(option)) = error.get(ContextKind::InvalidArg) else { return String::new() };
    let command = std::env::args().nth(1).unwrap_or_default();
    let is_it = |(of, gone, _): &&(&str, &str, &str)| (*of, *gone) == (&*command, &**option);
    let row = GONE.iter().find(is_it).filter(|_| error.kind() == ErrorKind::UnknownArgument);
    row.map_or_else(String::new, |(_, gone, answer)| format!("\n{gone} is gone: {answer}\n"))
}

/// Commands whose `--time-limit` does not limit the whole command. They wait for a user, or start processes
/// and write their results when the time is over.
const TIMED_OTHERWISE: &[&str] = &["serve", "debug", "corpus", "reduce"];

/// Time that a command has after its `--time-limit` to end by itself.
const GRACE: Duration = Duration::from_millis(750);

/// Ends the process if the command still runs [`GRACE`] after its `--time-limit`. A run ends by itself, but
/// opening a pipe or writing a picture does not check the time. Unfinished files do not appear.
fn enforce_time_limit(matches: &ArgMatches) {
    let Some((name, mut arguments)) = matches.subcommand() else { return };
    while let Some((_, inner)) = arguments.subcommand() {
        arguments = inner;
    }
    let limit = arguments.try_get_one::<u32>("time_limit").ok().flatten();
    let Some(limit) = limit.filter(|_| !TIMED_OTHERWISE.contains(&name)) else { return };
    let time = Duration::from_secs((*limit).into()) + GRACE;
    let ends = ambient::spawn("a4emu-time-limit", move || {
        thread::sleep(time);
        terminal::say(
            "--time-limit is over, and the command had not ended: what it was writing is not written",
        );
        process::exit(Status::Unsupported as i32);
    });
    if let Err(error) = ends {
        terminal::say(format_args!("--time-limit ends only what runs, not what waits: {error}"));
    }
}

/// The message, without its colours if `choice` is never.
fn text(coloured: &str, choice: ColorChoice) -> String {
    match choice {
        ColorChoice::Never => strip_str(coloured).to_string(),
        _ => coloured.to_owned(),
    }
}

/// The message with unusual characters of the arguments escaped, since file names may come from strangers.
fn on_their_lines(message: String) -> String {
    let arguments = std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned());
    let odd = arguments.filter(|argument| !argument.chars().all(terminal::is_plain));
    odd.fold(message, |message, odd| message.replace(&odd, &terminal::Shown(&odd).to_string()))
}

/// Runs the command in the arguments of the process.
pub fn main() -> Status {
    ambient::in_own_thread(obey)
}

fn obey() -> Status {
    keep_from_limits();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    let done = dispatch(&cli);
    if let Some(why) = jit::refusal() {
        cli.shared.warn(format_args!("shaders are interpreted: no memory for machine code ({why})"));
    }
    ended(done)
}

/// Runs the command in the program that `a4emu export` starts; `run` makes the tables.
pub fn export(run: impl FnOnce(&export::Args, &Shared) -> anyhow::Result<Status>) -> Status {
    keep_from_limits();
    let cli = match parse() {
        Ok(cli) => cli,
        Err(status) => return status,
    };
    ended(match &cli.command {
        Command::Export(args) => run(args, &cli.shared),
        _ => Err(anyhow::anyhow!("this is what `a4emu export` starts, and does nothing else")),
    })
}

/// Makes a write over `ulimit -f` an error of that write. Otherwise a signal ends the process. Programs that it
/// starts have no handler.
fn keep_from_limits() {
    #[cfg(target_os = "linux")]
    {
        // Without a handler, the process ends as it would have.
        let _handled = signal_hook::flag::register(signal_hook::consts::SIGXFSZ, Arc::default());
    }
}

fn ended(done: anyhow::Result<Status>) -> Status {
    done.unwrap_or_else(|error| Status::Fine.and(Err(error)))
}

#[cfg(test)]
mod tests;
