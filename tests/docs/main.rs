//! Tests of the documentation: every command in it prints what the page shows, every link has a target, every
//! page is in the book.
//!
//! A code block of the language `console` has commands after `$ ` (`> ` continues one), each with its output
//! below, stdout and stderr as in a terminal. A block of `sh` has only commands, one per line. The commands
//! of a page run in bash one after the other, in a folder with copies of the tree's captures, fixtures and
//! scripts. They end with 0, or with the status of a line `? STATUS` below the command. `...` stands for
//! lines, `[..]` for characters that vary between runs: times, threads, properties of the machine. More words
//! may follow the language:
//!
//! - `needs=mesa,vglrun`: programs that the block needs. Without them the block is skipped, and an ignored
//!   test reports it. `mesa` is a Mesa with the driver, `board` a device with the chip,
//!   `tinygrad` Python's package with `tinymesa`.
//!
//! Blocks of `rust` and `python` count if they have `by=FILE`.
//!
//! - `by=FILE`: the lines are not run here, but occur in FILE; `by=FILE::TEST`: the test of that name runs
//!   similar ones.
//!
//! `DOCS_BLESS=1 cargo test --test docs` writes the output into the pages.

mod blocks;
mod links;
mod sandbox;

use std::fs;
use std::path::Path;

use libtest_mimic::{Arguments, Failed, Trial};

use blocks::Block;
use sandbox::Sandbox;

type Outcome = Result<(), Failed>;
/// A test that covers all pages.
type OfAll = fn(&[&str]) -> Outcome;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn read(page: &str) -> String {
    fs::read_to_string(root().join(page)).unwrap_or_else(|error| panic!("{page}: {error}"))
}

/// Runs the commands of a page, and compares the output, or writes it when blessing.
fn run(page: &str) -> Outcome {
    let mut text = read(page);
    let mut wrong = Vec::new();
    let mut printed = Vec::new();
    let sandbox = Sandbox::new()?;
    for block in blocks::of(&text).iter().filter(|block| block.runs() && sandbox::missing(block).is_empty()) {
        for step in block.steps(&text) {
            let (status, output) = sandbox.run(&step.command)?;
            if status != step.status {
                wrong.push(format!("$ {}\nexits with {status}, not {}: {output}", step.command, step.status));
            }
            let Some(place) = step.output else { continue };
            let expected = &text[place.clone()];
            let output = blocks::with_gaps(&output, expected);
            if output != expected {
                wrong.push(format!("$ {}\n{}", step.command, blocks::difference(expected, &output)));
                printed.push((place, output));
            }
        }
    }
    if std::env::var_os("DOCS_BLESS").is_some() {
        printed.into_iter().rev().for_each(|(place, output)| text.replace_range(place, &output));
        fs::write(root().join(page), text)?;
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("{page}\n{}", wrong.join("\n")).into()) }
}

/// Checks the claims of blocks that are run by other files or tests.
fn elsewhere(page: &str, block: &Block) -> Outcome {
    let Some(by) = &block.by else { return Ok(()) };
    let (file, test) = by.split_once("::").map_or((by.as_str(), None), |(file, test)| (file, Some(test)));
    let other = read(file);
    let lines = match test {
        Some(test) => vec![format!("fn {test}(")],
        None => block.lines(&read(page)),
    };
    match lines.iter().find(|line| !other.contains(line.as_str())) {
        Some(line) => Err(format!("{page}:{}: {file} has no `{line}`", block.line).into()),
        None => Ok(()),
    }
}

/// The tests of a page: one for all commands that can run, and one for each block that cannot.
fn trials(page: &'static str) -> Vec<Trial> {
    let mut trials = vec![Trial::test(format!("commands of {page}"), move || run(page))];
    for block in blocks::of(&read(page)) {
        let missing = sandbox::missing(&block);
        if let Some(by) = &block.by {
            let name = format!("{page}:{}, which is run by {by}", block.line);
            trials.push(Trial::test(name, move || elsewhere(page, &block)));
        } else if !missing.is_empty() {
            let name = format!("{page}:{} (SKIPPED: no {})", block.line, missing.join(", "));
            trials.push(Trial::test(name, || Ok(())).with_ignored_flag(true));
        }
    }
    trials
}

fn main() {
    let pages: Vec<&'static str> = links::pages().into_iter().map(|page| &*page.leak()).collect();
    let with_commands = pages.iter().filter(|page| !blocks::of(&read(page)).is_empty());
    let mut tests: Vec<Trial> = with_commands.flat_map(|page| trials(page)).collect();
    let of_all: [(&str, OfAll); 3] = [
        ("links lead somewhere", links::lead_somewhere),
        ("every page is in the book", links::every_page_is_in_the_book),
        ("commands are where they are run", links::commands_are_where_they_are_run),
    ];
    for (name, test) in of_all {
        let pages = pages.clone();
        tests.push(Trial::test(name, move || test(&pages)));
    }
    libtest_mimic::run(&Arguments::from_args(), tests).exit();
}
