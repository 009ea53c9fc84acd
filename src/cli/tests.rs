//! Tests of the command line: the help fits the commands.

#[cfg(target_os = "linux")]
mod reference;

use super::*;

#[test]
fn definitions_hold_together() {
    command().debug_assert();
}

/// No line of a help text is longer than a terminal of 80 columns.
#[test]
fn help_fits_the_terminal() {
    fn check(command: &mut clap::Command) {
        for help in [command.render_help(), command.render_long_help()] {
            let text = help.to_string();
            let long = text.lines().find(|line| line.chars().count() > HELP_COLUMNS);
            assert_eq!(long, None, "{}", command.get_name());
        }
        command.get_subcommands_mut().for_each(check);
    }
    let mut command = command();
    command.build();
    check(&mut command);
}

/// Every command has examples, and each of them parses.
#[test]
fn examples_are_accepted() {
    for inner in command().get_subcommands().filter(|inner| inner.get_name() != "help") {
        let name = inner.get_name();
        let help = inner.get_after_help().unwrap_or_else(|| panic!("{name} has no examples")).to_string();
        let lines = help.lines().skip(1).flat_map(|line| line.split('|'));
        let examples: Vec<_> = lines.filter_map(|line| line.trim().strip_prefix("a4emu ")).collect();
        assert!(!examples.is_empty(), "{name} has no examples");
        for example in examples {
            let words = example.split(['<', '>', '#']).next().unwrap_or("").split_whitespace();
            let words = words.map(|word| word.trim_matches('\''));
            let parsed = command().try_get_matches_from(["a4emu"].into_iter().chain(words));
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}
