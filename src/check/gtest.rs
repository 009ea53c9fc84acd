//! Lists, selects and reports cases like GoogleTest, for runners such as `deqp-runner` (`[[gtest]]`).
//!
//! All cases are tests of one suite. In a filter, `-` begins the excluded names, so `-` in the name of a
//! case becomes `_`.

use std::io::{self, Write};

use super::verdict::{Outcome, Verdict};

/// Name of the suite.
const SUITE: &str = "fixtures";

/// A filter for tests: `a:b*:-c?`. Wanted names come first, and excluded names after `-`; with `*` and `?`.
#[derive(Clone, Debug)]
pub struct Filter {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Filter {
    /// Parses the value of `--gtest_filter`. Any text is a filter.
    pub fn new(text: &str) -> Self {
        let (wanted, unwanted) = text.split_once('-').unwrap_or((text, ""));
        let patterns =
            |text: &str| text.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        // Without a positive part, all tests are wanted.
        let wanted = if wanted.is_empty() { "*" } else { wanted };
        Self { wanted: patterns(wanted), unwanted: patterns(unwanted) }
    }

    /// Whether the case called `name` is selected.
    pub fn has(&self, name: &str) -> bool {
        let test = format!("{SUITE}.{}", test_name(name));
        let any =
            |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern.as_bytes(), test.as_bytes()));
        any(&self.wanted) && !any(&self.unwanted)
    }
}

/// The name of the test for a case.
fn test_name(case: &str) -> String {
    case.replace('-', "_")
}

/// Whether `text` matches `pattern`. Takes time proportional at most to the product of their lengths.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // The place after the last star, and the first byte that the star does not match.
    let mut star: Option<(usize, usize)> = None;
    while from < text.len() {
        match pattern.get(at) {
            Some(b'*') => {
                at += 1;
                star = Some((at, from));
            }
            Some(byte) if *byte == b'?' || *byte == text[from] => (at, from) = (at + 1, from + 1),
            _ => {
                let Some((behind, first)) = star else { return false };
                star = Some((behind, first + 1));
                (at, from) = (behind, first + 1);
            }
        }
    }
    pattern[at..].iter().all(|byte| *byte == b'*')
}

/// Lists the tests like `--gtest_list_tests`.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn list<'a>(out: &mut impl Write, names: impl Iterator<Item = &'a str>) -> io::Result<()> {
    writeln!(out, "{SUITE}.")?;
    names.into_iter().try_for_each(|name| writeln!(out, "  {}", test_name(name)))
}

/// Writes the results of the tests. All times are 0, since they are no part of the outcome.
///
/// # Errors
/// The call fails if `out` cannot be written.
pub fn results(out: &mut impl Write, outcomes: &[Outcome]) -> io::Result<()> {
    writeln!(out, "[==========] Running {} tests from 1 test suite.", outcomes.len())?;
    for outcome in outcomes {
        let test = format!("{SUITE}.{}", test_name(&outcome.name));
        writeln!(out, "[ RUN      ] {test}")?;
        outcome.reasons().try_for_each(|reason| writeln!(out, "{reason}"))?;
        let word = match outcome.result {
            Verdict::Same => "[       OK ]",
            Verdict::KnownFailure => "[  SKIPPED ]",
            Verdict::Differs | Verdict::UnexpectedPass | Verdict::Broken => "[  FAILED  ]",
        };
        writeln!(out, "{word} {test} (0 ms)")?;
    }
    let passed = outcomes.iter().filter(|outcome| outcome.result == Verdict::Same).count();
    writeln!(out, "[==========] {} tests ran.\n[  PASSED  ] {passed} tests.", outcomes.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_choose_as_googletest_does() {
        let has = |filter: &str, name: &str| Filter::new(filter).has(name);
        for filter in
            ["*", "", "fixtures.cube", "fixtures.*", "fixtures.c??e", "x:fixtures.cube", "*ub*:y", "-*z*"]
        {
            assert!(has(filter, "cube"), "{filter}");
        }
        for filter in ["cube", "fixtures.cub", "fixtures.cube?", "x", "*-fixtures.cube", "*-*u*", "-*.c*"] {
            assert!(!has(filter, "cube"), "{filter}");
        }
        assert!(has("fixtures.gs_many:fixtures.x", "gs-many") && !has("fixtures.gs-many", "gs-many"));
    }

    #[test]
    fn many_stars_take_no_time() {
        assert!(!matches("*a".repeat(200).as_bytes(), "a".repeat(150).as_bytes()));
    }
}
