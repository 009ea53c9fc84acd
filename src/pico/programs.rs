//! `pico asm`, `pico run`, `pico exec`: single programs and streams.
use std::io::{self, BufRead, Read, Write};
use std::path::Path;

use a4emu_decoder::isa::pico::{Shader, assemble};
use anyhow::{Context, bail};

use super::cut_status;
use super::unit::{StreamError, Unit, execute};
use super::value::{Form, parse_list};
use a4emu_gpu::budget::{Budget, Work};
use a4emu_support::folders::{read_bytes, read_line};
use a4emu_support::options::Shared;
use a4emu_support::out_file;
use a4emu_support::status::{Failure, Status, WithErrors};
use a4emu_support::terminal;

/// Maximum size of a shader source in bytes.
const MAX_SOURCE: u64 = 1 << 24;
/// Maximum size of a stream of commands in bytes.
const MAX_STREAM: u64 = 1 << 28;

/// Steps of an assembler that a line of a thread takes, and bytes of it that take one more (measured, and rounded).
const STEPS_PER_LINE: u64 = 4;
const BYTES_PER_STEP: u64 = 4;

/// Reads and assembles `path`, which becomes one of `inputs`.
///
/// # Errors
/// The call fails on I/O errors, or with `file:line:column: rule` if the source breaks a rule.
pub fn load(path: &Path, shared: &Shared) -> anyhow::Result<Shader> {
    let file = shared.inputs.open(path).with_context(|| format!("cannot open {}", path.display()))?;
    shader_of(path, file, shared)
}

/// Assembles the source in `file`, whose path is `path`. Faults that PicoGpu's assembler silently accepts
/// are warnings.
///
/// # Errors
/// The call fails like [`load`]; under `--strict` also at the first warning.
pub fn shader_of(path: &Path, file: impl Read, shared: &Shared) -> anyhow::Result<Shader> {
    let source = read_bytes(file, MAX_SOURCE).with_context(|| format!("cannot read {}", path.display()))?;
    // Comments may hold any bytes.
    let assembled = assemble(&String::from_utf8_lossy(&source));
    let refused = match &assembled {
        Ok(shader) if shared.strict => shader.warnings.first(),
        Ok(_) => None,
        Err(error) => Some(error),
    };
    if let Some(error) = refused {
        let message = format!("{}:{error}", path.display());
        return Err(Failure { status: Status::Usage, message }.into());
    }
    let shader = assembled?;
    shader.warnings.iter().for_each(|warning| shared.warn(format_args!("{}:{warning}", path.display())));
    Ok(shader)
}

/// Prints one dword a line, as eight lower-case hex digits.
fn print_words(out: &mut impl Write, words: &[u32]) -> io::Result<()> {
    words.iter().try_for_each(|word| writeln!(out, "{word:08x}"))
}

/// `pico asm`: little-endian bytes to `output`, or text to stdout.
pub fn asm(path: &Path, output: Option<&Path>, shared: &Shared) -> anyhow::Result<Status> {
    let words = load(path, shared)?.binary();
    match output {
        Some(output) => {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            out_file::write(output, &bytes, &shared.inputs)?;
        }
        None => {
            let mut out = terminal::text();
            print_words(&mut out, &words)?;
            out.flush()?;
        }
    }
    Ok(Status::Fine)
}

/// `pico run`: reads a line of stdin per thread and prints a line per thread.
pub fn run(
    path: &Path,
    uniforms: &[String],
    form: Form,
    mut budget: Budget,
    shared: &Shared,
) -> anyhow::Result<Status> {
    let shader = load(path, shared)?;
    let uniforms = parse_uniforms(&shader, uniforms)?;
    let unit = Unit::new(&shader);
    let inputs = parse_inputs(io::stdin().lock(), unit.input_dwords(), &mut budget)?;
    let (outputs, _) = unit.run(&uniforms, &inputs, &mut budget);
    let threads = outputs.chunks(unit.output_dwords());
    Ok(cut_status(&budget, shared).and(print_threads(threads, form)))
}

/// Prints a line for each thread.
fn print_threads<'a>(threads: impl Iterator<Item = &'a [u32]>, form: Form) -> io::Result<()> {
    let mut out = terminal::text();
    for thread in threads {
        let values: Vec<String> = thread.iter().map(|bits| form.show(*bits)).collect();
        writeln!(out, "{}", values.join(" "))?;
    }
    out.flush()
}

/// Parses one `--uniform` per directive, in order. Missing ones are zero.
pub fn parse_uniforms(shader: &Shader, texts: &[String]) -> anyhow::Result<Vec<u32>> {
    if texts.len() > shader.uniforms.len() {
        bail!("{} uniforms given, the shader has {}", texts.len(), shader.uniforms.len());
    }
    let mut values = Vec::new();
    for (n, io) in shader.uniforms.iter().enumerate() {
        match texts.get(n) {
            Some(text) => {
                let list = parse_list(text, |c| c == ',', io.components);
                values.extend(list.with_context(|| format!("uniform {n} (`{text}`)"))?);
            }
            None => values.resize(values.len() + io.components, 0),
        }
    }
    Ok(values)
}

/// Parses the threads of `input`: one line each, without blank lines. Reading ends where `budget` does.
///
/// # Errors
/// The call fails on I/O errors, if a line is too long or no thread, or if there are more than [`MAX_STREAM`]
/// bytes.
pub fn parse_inputs(mut input: impl BufRead, dwords: usize, budget: &mut Budget) -> anyhow::Result<Vec<u32>> {
    let (mut values, mut bytes) = (Vec::new(), 0);
    for n in 1.. {
        let of_line = || format!("line {n} of the input");
        let Some(line) = read_line(&mut input).with_context(of_line)? else { break };
        bytes += line.len() as u64;
        if bytes > MAX_STREAM {
            let message = format!("the input has more than {MAX_STREAM} bytes");
            return Err(Failure { status: Status::Unsupported, message }.into());
        }
        if !budget.take(Work::Assembly, STEPS_PER_LINE + line.len() as u64 / BYTES_PER_STEP) {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let thread = parse_list(&line, char::is_whitespace, dwords);
        values.extend(thread.with_context(of_line)?);
    }
    Ok(values)
}

/// `pico exec`: prints the answers of a stream, one dword a line.
pub fn exec(path: &Path, mut budget: Budget, shared: &Shared) -> anyhow::Result<Status> {
    let bytes = shared.inputs.open(path).map_err(Into::into).and_then(|file| read_bytes(file, MAX_STREAM));
    let bytes = bytes.with_context(|| format!("cannot read {}", path.display()))?;
    let (dwords, rest) = bytes.as_chunks::<4>();
    let words: Vec<u32> = dwords.iter().map(|dword| u32::from_le_bytes(*dword)).collect();
    let mut out = terminal::text();
    let mut written = Ok(());
    let result = execute(&words, &mut budget, |answer| {
        if written.is_ok() {
            written = print_words(&mut out, answer);
        }
    });
    let status = cut_status(&budget, shared).and(written.and_then(|()| out.flush()));
    let damage = match result {
        Err(error) => error.to_string(),
        Ok(()) if rest.is_empty() || budget.cut().is_some() => return Ok(status),
        Ok(()) => StreamError::Trailing { at: words.len(), dwords: 1 }.to_string(),
    };
    let message = format!("{}: {damage}", path.display());
    Ok(status.and(Err(Failure { status: Status::Damaged, message })))
}
