//! `a4emu-export`, which `a4emu export` starts: writes the contents of captures as Parquet tables
//! (docs/tables.md).
//!
//! A [`watch`] observes a capture that is played without its draws, and makes [`rows`] of it. A [`table`]
//! holds rows column by column ([`mod@column`]), and writes them as a row group. A [`partition`] makes all
//! files of a capture appear at once.

mod column;
mod database;
mod partition;
mod rows;
mod run;
mod table;
mod watch;

use std::process::Termination;

fn main() -> impl Termination {
    a4emu::cli::export(run::run)
}
