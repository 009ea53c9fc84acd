//! `pico debug`: a shader's first warp under the stepper.
use std::fs::File;
use std::io::{self, BufReader};
use std::path::{Path, PathBuf};

use a4emu_decoder::isa::pico::{LANES, Op, Shader};
use anyhow::Context;

use super::programs::{load, parse_inputs, parse_uniforms};
use super::unit::Unit;
use crate::debug::{Debugger, Line};
use crate::shader::Program;
use crate::status::Status;

/// Arguments of `pico debug`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Shader source
    shader: PathBuf,
    /// A line per thread, as `pico run` reads them (default: one thread of zeros)
    #[arg(long, value_name = "FILE")]
    input: Option<PathBuf>,
    /// Values of the next uniform
    #[arg(long, value_name = "1.0,2.0")]
    uniform: Vec<String>,
    /// Thread to look at
    #[arg(long, default_value_t = 0)]
    lane: usize,
}

/// Steps through the shader; commands come from stdin.
pub fn debug(args: &Args) -> anyhow::Result<Status> {
    let shader = load(&args.shader)?;
    let uniforms = parse_uniforms(&shader, &args.uniform)?;
    let unit = Unit::new(&shader);
    let mut inputs = match &args.input {
        Some(path) => {
            let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
            parse_inputs(BufReader::new(file), unit.input_dwords())?
        }
        None => vec![0; unit.input_dwords()],
    };
    inputs.truncate(LANES * unit.input_dwords());
    let program = Program::pico_stepwise(&shader.instrs(), &shader.uniforms)?;
    let warp = unit.launch(&program, &uniforms, &inputs);
    let lines = lines(&shader, &args.shader);
    Debugger::new(&program, &lines, warp, (), args.lane)
        .interact(io::stdin().lock(), &mut io::stdout().lock())?;
    Ok(Status::Fine)
}

/// Each instruction with the source line that it comes from.
fn lines(shader: &Shader, path: &Path) -> Vec<Line> {
    let name = path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    let line = |(instr, line): &(a4emu_decoder::isa::pico::Instr, usize)| {
        let place = if *line > 0 { format!("{name}:{line}") } else { "(set-up)".into() };
        Line { text: format!("{place}: {instr}"), trap: instr.op == Op::Trap }
    };
    shader.code.iter().map(line).collect()
}
