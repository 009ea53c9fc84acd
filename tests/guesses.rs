//! The table of guesses: docs/guesses.md is generated from it, and code that rests on a guess names it.
//!
//! `GUESSES_BLESS=1 cargo test --test all guesses` rewrites the page.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use a4emu_decoder::a4xx::regs::REGISTERS;
use a4emu_decoder::bits::Certainty;
use a4emu_decoder::guesses::Guess;
use assert_cmd::Command;

/// Files about guesses in general.
const MACHINERY: [&str; 4] = ["guesses", "fidelity", "doubt", "explain"];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// The page that the tables give.
fn page() -> String {
    let mut page = String::from(
        "# What rests on guesses\n\n\
         Made from `decoder/src/guesses.rs` and the register tables by `GUESSES_BLESS=1 cargo test --test all guesses`.\n\
         `a4emu replay CAPTURE --fidelity` lists those that a run comes by, and what the results may reach.\n\n\
         | id | | what the emulator does | because | what would settle it | counts when |\n\
         |---|---|---|---|---|---|\n",
    );
    for row in Guess::ALL.iter().map(|guess| guess.row()) {
        let a4emu_decoder::guesses::Row { id, confidence, says, because, settles, counts } = row;
        writeln!(page, "| `{id}` | {confidence} | {says} | {because} | {settles} | {counts} |").unwrap();
    }
    page += "\n## Registers and fields without a public name\n\n\
             Their names and places are inferred; a run counts what is written to them that is not 0.\n\n\
             | offset | register or field | why |\n|---|---|---|\n";
    for row in REGISTERS.rows() {
        let name = [row.name, row.sub].join(if row.sub.is_empty() { "" } else { "." });
        let why = |doc: &str| doc.split_whitespace().collect::<Vec<_>>().join(" ").replace('|', "\\|");
        if row.certainty == Certainty::Inferred {
            writeln!(page, "| {:#06x} | `{name}` | {} |", row.offset, why(row.doc)).unwrap();
            continue;
        }
        for field in row.fields.iter().filter(|field| field.certainty == Certainty::Inferred) {
            writeln!(page, "| {:#06x} | `{name}.{}` | {} |", row.offset, field.name, why(field.doc)).unwrap();
        }
    }
    page
}

#[test]
fn the_page_is_what_the_tables_say() {
    let path = root().join("docs/guesses.md");
    if std::env::var_os("GUESSES_BLESS").is_some() {
        fs::write(&path, page()).unwrap();
    }
    assert!(fs::read_to_string(&path).unwrap_or_default() == page(), "GUESSES_BLESS=1 makes it anew");
}

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
        if entry.is_dir() {
            sources(&entry, found);
        } else if entry.extension().is_some_and(|extension| extension == "rs") {
            found.push(entry);
        }
    }
}

/// The words of a file's comments, in order.
fn comment_words(text: &str) -> Vec<&str> {
    let comments =
        text.lines().filter_map(|line| line.find("//").map(|at| line[at..].trim_start_matches(['/', '!'])));
    comments.flat_map(str::split_whitespace).collect()
}

/// The id after each word "guess" of a comment, or the text there if it is no id.
fn named(text: &str) -> Vec<Result<Guess, String>> {
    let words = comment_words(text);
    let behind =
        words.windows(2).filter(|pair| pair[0].trim_start_matches('(').eq_ignore_ascii_case("guess"));
    behind
        .map(|pair| {
            let id = pair[1].trim_start_matches('`').split('`').next().unwrap_or_default();
            Guess::from_id(id).ok_or_else(|| pair.join(" "))
        })
        .collect()
}

#[test]
fn guesses_in_code_and_in_the_table_match() {
    let mut files = Vec::new();
    ["src", "decoder/src"].iter().for_each(|folder| sources(&root().join(folder), &mut files));
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for file in files {
        let name = file.strip_prefix(root()).unwrap().display().to_string();
        let is_machinery = MACHINERY.iter().any(|word| name.contains(word));
        for guess in named(&fs::read_to_string(&file).unwrap()) {
            match guess {
                Ok(guess) if !is_machinery => drop(seen.insert(guess)),
                Err(text) if !is_machinery => wrong.push(format!("{name}: {text}")),
                _ => {}
            }
        }
    }
    assert_eq!(wrong, Vec::<String>::new(), "a guess without a row of the table");
    let unnamed: Vec<_> = Guess::ALL.iter().filter(|guess| !seen.contains(guess)).collect();
    assert!(unnamed.is_empty(), "no code says that it rests on {unnamed:?}");
}

/// The output of `--fidelity` for a source in `captures`: ids, with draws and reaches.
fn fidelity(source: &str) -> Vec<String> {
    let folder = tempfile::tempdir().unwrap();
    let capture = folder.path().join("capture.rd");
    let mut asm = Command::cargo_bin("a4emu").unwrap();
    let source = root().join("captures").join(source);
    asm.arg("asm")
        .arg(source)
        .arg("--include")
        .arg(root().join("captures"))
        .arg("-o")
        .arg(&capture)
        .assert()
        .success();
    let mut replay = Command::cargo_bin("a4emu").unwrap();
    let output = replay.arg("replay").arg(&capture).arg("--fidelity").output().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    text.lines().filter(|line| line.contains("  (")).map(str::to_owned).collect()
}

#[test]
fn a_run_lists_what_it_comes_by() {
    let lines = fidelity("geometry/gs-many.a4");
    let has = |start: &str| lines.iter().any(|line| line.starts_with(start));
    assert!(has("geometry-kill  (guess; "), "{lines:#?}");
    assert!(has("primitive-inputs  (inferred; ") && has("fill-rule  (guess; "), "{lines:#?}");
    assert!(
        lines.iter().any(|line| line.ends_with("`)") && line.contains("(inferred register; ")),
        "{lines:#?}"
    );
    assert!(!has("tessellator-connects") && !has("stream-out") && !has("nan-compare"), "{lines:#?}");
}
