//! The tests that need only a test function: one program, which is linked once.
//!
//! `cargo test --test all NAME::` runs the tests of one file.

mod bounded;
mod captures;
mod picture;
#[path = "../decoder/tests/seed/mod.rs"]
mod seed;
mod shortest;

#[path = "a6xx.rs"]
mod a6xx;
#[path = "a6xx_compute.rs"]
mod a6xx_compute;
#[path = "a6xx_state.rs"]
mod a6xx_state;
#[path = "asm.rs"]
mod asm;
#[path = "bad_input.rs"]
mod bad_input;
#[path = "citations.rs"]
mod citations;
#[path = "corpus/main.rs"]
mod corpus;
#[path = "coverage.rs"]
mod coverage;
#[path = "database.rs"]
mod database;
#[path = "debug.rs"]
mod debug;
#[path = "decode_cli.rs"]
mod decode_cli;
#[path = "deep_input.rs"]
mod deep_input;
#[path = "devcore/main.rs"]
mod devcore;
#[path = "diff.rs"]
mod diff;
#[path = "dumped.rs"]
mod dumped;
#[path = "examples.rs"]
mod examples;
#[path = "export.rs"]
mod export;
#[path = "files.rs"]
mod files;
#[path = "fuzz_files.rs"]
mod fuzz_files;
#[path = "geometry/main.rs"]
mod geometry;
#[path = "guesses.rs"]
mod guesses;
#[path = "history.rs"]
mod history;
#[path = "house.rs"]
mod house;
#[path = "install.rs"]
mod install;
#[path = "jit.rs"]
mod jit;
#[path = "memory.rs"]
mod memory;
#[path = "mistakes.rs"]
mod mistakes;
#[path = "names.rs"]
mod names;
#[path = "other_chips.rs"]
mod other_chips;
#[path = "overlays.rs"]
mod overlays;
#[path = "pico.rs"]
mod pico;
#[path = "python.rs"]
mod python;
#[path = "replay/main.rs"]
mod replay;
#[path = "samples.rs"]
mod samples;
#[path = "saved.rs"]
mod saved;
#[path = "schedules/main.rs"]
mod schedules;
#[path = "schema.rs"]
mod schema;
#[path = "serve.rs"]
mod serve;
#[path = "shell.rs"]
mod shell;
#[path = "show.rs"]
mod show;
#[path = "status.rs"]
mod status;
#[cfg(target_os = "linux")]
#[path = "terminal.rs"]
mod terminal;
#[path = "texels.rs"]
mod texels;
#[path = "validate.rs"]
mod validate;
#[path = "validation/main.rs"]
mod validation;
#[path = "vectors.rs"]
mod vectors;
