//! `pico debug`: steps through the first warp of a shader.
use std::io::BufReader;
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::{Instr, LANES, Op, Shader};
use anyhow::Context;
use serde::Deserialize;

use super::cut_status;
use super::programs::{load, parse_inputs, parse_uniforms};
use super::unit::{Unit, body_of};
use crate::debug::below::Lane;
use crate::debug::session::{Line, Session};
use crate::debug::subject::{Subject, lane_names};
use crate::debug::{dap, on_terminal};
use crate::flags::Flags;
use a4emu_gpu::budget::{BASE, Budget};
use a4emu_shader::Program;
use a4emu_support::limits::WorkLimits;
use a4emu_support::options::Shared;
use a4emu_support::status::Status;

/// Arguments of `pico debug`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Shader source
    #[arg(required_unless_present = "dap")]
    shader: Option<PathBuf>,
    #[command(flatten)]
    threads: ThreadArgs,
    /// Speak the Debug Adapter Protocol over stdin and stdout; what is to be debugged may come with its
    /// launch request instead (shader, input, uniform, lane)
    #[arg(long)]
    dap: bool,
    #[command(flatten)]
    limits: Flags<WorkLimits>,
}

/// What the shader runs with.
#[derive(clap::Args, Clone, Debug, Default, Deserialize)]
#[serde(default)]
struct ThreadArgs {
    /// A line per thread, as `pico run` reads them (default: one thread of zeros)
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Values of the next uniform
    #[arg(long, value_name = "1.0,2.0")]
    uniform: Vec<String>,
    /// Thread to look at
    #[arg(long, default_value_t)]
    lane: Lane,
}

/// Launch arguments of `pico debug --dap`.
#[derive(Deserialize)]
struct LaunchArguments {
    shader: Option<PathBuf>,
    #[serde(flatten)]
    threads: ThreadArgs,
}

/// Steps through the shader.
pub fn debug(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    if args.dap {
        return dap::serve(|arguments, begin| {
            let given = LaunchArguments::deserialize(arguments).context("launch arguments")?;
            let shader = given.shader.or(args.shader.clone()).context("which shader?")?;
            with_session(&shader, &given.threads, args.limits.budget(BASE), shared, begin)
        });
    }
    let shader = args.shader.as_ref().context("which shader?")?;
    let budget = args.limits.budget(BASE);
    with_session(shader, &args.threads, budget, shared, &mut |session, subject| on_terminal(session, subject))
}

/// Passes the shader's first warp to `work`.
fn with_session(
    path: &Path,
    args: &ThreadArgs,
    mut budget: Budget,
    shared: &Shared,
    work: dap::Begin<'_>,
) -> anyhow::Result<Status> {
    let shader = load(path, shared)?;
    let uniforms = parse_uniforms(&shader, &args.uniform)?;
    let unit = Unit::new(&shader);
    let mut inputs = match &args.input {
        Some(path) => {
            let file = shared.inputs.open(path).with_context(|| format!("cannot read {}", path.display()))?;
            parse_inputs(BufReader::new(file), unit.input_dwords(), &mut budget)?
        }
        None => vec![0; unit.input_dwords()],
    };
    inputs.truncate(LANES * unit.input_dwords());
    let (code, interface) = body_of(&shader);
    let program = Program::pico_stepwise(&code, &interface)?;
    let warp = unit.launch(&program, &uniforms, &[], &inputs);
    let subject = subject(&shader, path, args.lane.get(), lane_names(&warp, None, None));
    if budget.cut().is_some() {
        return Ok(cut_status(&budget, shared));
    }
    work(Session::new(&program, &subject.lines, warp, &mut ()).within(budget), &subject)?;
    Ok(Status::Fine)
}

/// The shader's instructions, each with its source line.
fn subject(shader: &Shader, path: &Path, lane: usize, lanes: Vec<String>) -> Subject {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let line = |(instr, line): &(Instr, usize)| {
        let place = if *line > 0 { format!("{name}:{line}") } else { "(set-up)".into() };
        let source = u32::try_from(*line).ok().filter(|line| *line > 0);
        Line { text: format!("{place}: {instr}"), trap: instr.op == Op::Trap, source }
    };
    let lines = shader.body().iter().map(line).collect();
    let file = Some(std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf()));
    Subject { name, file, lines, lane, lanes }
}
