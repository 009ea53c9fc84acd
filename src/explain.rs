//! `a4emu explain`: explains a name of the chip, an instruction word, packets, a word of the glossary, or an address
//! of a capture.

use std::path::PathBuf;

use a4emu_decoder::adreno::capture::NamedChip;
use a4emu_decoder::adreno::ir3::Isa;
use a4emu_decoder::generation::{DEFAULT, Generation};
use a4emu_inspect::describe::Capture;
use a4emu_inspect::explain::{self, Detail, Question};
use a4emu_support::options::Shared;
use a4emu_support::status::{Failure, Status};

/// Arguments of `explain`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A register (a name in any case; NAME.FIELD for one field; or an offset: 0x20a4, or 20a4 as listings
    /// print it), a packet (CP_LOAD_STATE4), a dword of one (CP_LOAD_STATE4_0), a word of a descriptor
    /// (TEX_CONST_0), a field (ZFUNC), an enumerator (FUNC_LESS), an operation of a shader (bary.f), an instruction of PicoGpu (fadd), as listings
    /// or Mesa's headers name them; in these names * and ? stand for any text and character. The 16 digits of an instruction, `ir3`, `pm4`, `pico`, a
    /// rule of `validate` such as D1, a guess of docs/guesses.md such as level-of-detail, or a word of
    /// docs/glossary.md such as warp
    #[arg(value_name = "NAME|WORD|ir3|pm4|pico")]
    pub what: String,
    /// The value of the register (decimal; hexadecimal with 0x, or with all eight digits); for `ir3` and
    /// `pm4` the words, in hexadecimal: HI LO, HI_LO or all 16 digits; DWORD.. (for `pico` too). `ir3 -` reads words
    /// from stdin, one a line, and prints each with its text
    #[arg(value_name = "VALUE")]
    pub words: Vec<String>,
    /// The number of the chip: its generation's names and instructions (default: 420). Several instructions behind
    /// it are listed, a line each
    #[arg(long, value_name = "NUMBER")]
    pub gpu: Option<u32>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
    /// NAME is an address of this capture (0xfff5f020): which buffer holds it, which registers name the buffer, and
    /// which draws use what lies there
    #[arg(long, value_name = "FILE", conflicts_with = "words")]
    pub capture: Option<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if there is nothing of this name, or if a word is no number.
pub fn run(args: &Args, shared: &Shared) -> anyhow::Result<Status> {
    let Args { what, words, gpu, json, capture } = args.clone();
    let (generation, isa) = match gpu {
        Some(number) => of_chip(number, &what)?,
        None => (DEFAULT, DEFAULT.isa()),
    };
    let detail = if gpu.is_some() { Detail::Lines } else { Detail::Fields };
    let question = Question { generation, isa, detail, what, words, json };
    match capture {
        Some(path) => explain::run_address(&question, &Capture::new(&path, shared)?, shared),
        None => explain::run(&question),
    }
}

/// The tables and the instruction set of the chip with this number. Of some generations the instructions alone are
/// known, which suffices for `ir3`.
fn of_chip(number: u32, what: &str) -> Result<(&'static Generation, Isa), Failure> {
    let digit = NamedChip::GpuId(number).generation().unwrap_or(0);
    let generation = Generation::of(NamedChip::GpuId(number));
    match (generation, Isa::of_generation(digit)) {
        (Some(generation), Some(isa)) => Ok((generation, isa)),
        (None, Some(isa)) if what == "ir3" => Ok((DEFAULT, isa)),
        _ => Err(Failure {
            status: Status::Usage,
            message: format!("--gpu {number}: a4emu knows no chip of this generation"),
        }),
    }
}
