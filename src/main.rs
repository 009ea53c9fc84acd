//! The `a4emu` command.

use std::process::Termination;

fn main() -> impl Termination {
    a4emu::cli::main()
}
