//! `a4emu explain`: explains a name of the chip, an instruction word, packets or a word of the glossary.

use a4emu_decoder::generation::DEFAULT;
use a4emu_inspect::explain::{self, Question};
use a4emu_support::status::Status;

/// Arguments of `explain`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// A register (a name in any case; NAME.FIELD for one field; or an offset: 0x20a4, or 20a4 as listings
    /// print it), a packet (CP_LOAD_STATE4), a dword of one (CP_LOAD_STATE4_0), a word of a descriptor
    /// (TEX_CONST_0), a field (ZFUNC), an enumerator (FUNC_LESS), an operation of a shader (bary.f), as listings
    /// or Mesa's headers name them; in these names * and ? stand for any text and character. The 16 digits of an instruction, `ir3`, `pm4`, a
    /// rule of `validate` such as D1, a guess of docs/guesses.md such as level-of-detail, or a word of
    /// docs/glossary.md such as warp
    #[arg(value_name = "NAME|WORD|ir3|pm4")]
    pub what: String,
    /// The value of the register (decimal; hexadecimal with 0x, or with all eight digits); for `ir3` and
    /// `pm4` the words, in hexadecimal: HI LO, HI_LO or all 16 digits; DWORD..
    #[arg(value_name = "VALUE")]
    pub words: Vec<String>,
    /// One JSON object
    #[arg(long)]
    pub json: bool,
}

/// Runs the subcommand.
///
/// # Errors
/// The call fails if there is nothing of this name, or if a word is no number.
pub fn run(args: &Args) -> anyhow::Result<Status> {
    let Args { what, words, json } = args.clone();
    explain::run(&Question { generation: DEFAULT, what, words, json })
}
