//! `a4emu-export`, which `a4emu export` starts: what captures hold, as tables of Parquet (docs/tables.md).
//!
//! A [`watch`] sees a capture played with its draws left out and makes [`rows`] of it; a [`table`] keeps some of them,
//! column by column ([`mod@column`]), and writes them as a row group; [`partition`] has the files of one capture appear together.

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
