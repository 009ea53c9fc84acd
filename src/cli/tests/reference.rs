//! Compares docs/reference.md with the definitions of the arguments. On Linux only, which has all commands.

use std::fmt::Write;
use std::path::Path;

use clap::{Arg, Command};

use super::command;

const HEAD: &str = "# Arguments of the commands

Made from the definitions of the arguments by `REFERENCE_BLESS=1 cargo test --lib reference`; `a4emu help COMMAND` says the same.
[What the commands do](commands.md) says what they mean.
";

/// Escapes text for a cell of a table. Paragraphs become sentences: the first one has no point in the help of a terminal.
fn cell(text: &str) -> String {
    let line = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut joined = String::new();
    for paragraph in text.split("\n\n").map(line) {
        if !joined.is_empty() {
            joined += if joined.ends_with(['.', ':', '?']) { " " } else { ". " };
        }
        joined += &paragraph;
    }
    joined.replace('|', "\\|").replace('<', "\\<")
}

/// The help of an argument, with its possible values and its default.
fn meaning(arg: &Arg) -> String {
    let help = arg.get_long_help().or(arg.get_help()).map(ToString::to_string).unwrap_or_default();
    let mut text = cell(&help);
    let values = arg.get_possible_values().into_iter().filter(|value| !value.is_hide_set());
    let values: Vec<String> = values
        .map(|value| match value.get_help() {
            Some(help) => format!("`{}`: {}", value.get_name(), cell(&help.to_string())),
            None => format!("`{}`", value.get_name()),
        })
        .collect();
    if arg.get_action().takes_values() && !values.is_empty() {
        write!(text, ". {}", values.join("; ")).unwrap();
    }
    let defaults: Vec<_> = arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    if arg.get_action().takes_values() && !defaults.is_empty() {
        write!(text, " (default: `{}`)", defaults.join(" ")).unwrap();
    }
    text
}

/// Adds a table with a row for each argument; nothing without arguments.
fn table<'a>(page: &mut String, arguments: impl Iterator<Item = &'a Arg>) {
    let mut head = "\n| argument | |\n|---|---|\n";
    for arg in arguments.filter(|arg| !arg.is_hide_set() && arg.get_id() != "help") {
        let short = arg.get_short().map_or(String::new(), |short| format!("-{short}, "));
        let name = format!("{short}{arg}").replace('|', "\\|");
        writeln!(page, "{head}| `{name}` | {} |", meaning(arg)).unwrap();
        head = "";
    }
}

fn section(page: &mut String, command: &mut Command) {
    let name = command.get_bin_name().unwrap_or_default().to_owned();
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    write!(page, "\n## {name}\n\n{about}.\n\n```text\n{}\n```\n", command.render_usage()).unwrap();
    table(page, command.get_arguments().filter(|arg| !arg.is_global_set()));
    if let Some(examples) = command.get_after_help() {
        let examples = examples.to_string();
        let lines = examples.lines().skip(1).map(str::trim).collect::<Vec<_>>();
        write!(page, "\nExamples:\n\n```text\n{}\n```\n", lines.join("\n")).unwrap();
    }
    sections(page, command);
}

/// Adds a section for each visible subcommand.
fn sections(page: &mut String, command: &mut Command) {
    let shown = |inner: &&mut Command| inner.get_name() != "help" && !inner.is_hide_set();
    command.get_subcommands_mut().filter(shown).for_each(|inner| section(page, inner));
}

fn page() -> String {
    let mut command = command();
    command.build();
    let mut page = HEAD.to_owned() + "\n## For all commands\n";
    table(&mut page, command.get_arguments().filter(|arg| arg.is_global_set()));
    sections(&mut page, &mut command);
    page
}

#[test]
fn the_reference_is_what_the_definitions_say() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/reference.md");
    if std::env::var_os("REFERENCE_BLESS").is_some() {
        std::fs::write(&path, page()).unwrap();
    }
    let written = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(written == page(), "docs/reference.md is old: REFERENCE_BLESS=1 cargo test --lib reference");
}
