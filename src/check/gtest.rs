//! The language of GoogleTest, in which runners such as `deqp-runner` (`[[gtest]]`) list, choose and judge tests.
//!
//! All cases are tests of one suite. A filter takes `-` for the beginning of what is not wanted, so in the names of tests it is `_`.

use std::io::{self, Write};

use super::verdict::{Outcome, Verdict};

/// Name of the suite.
const SUITE: &str = "fixtures";

/// Which tests: `a:b*:-c?`, names that are wanted and behind a `-` names that are not, with `*` and `?`.
#[derive(Clone, Debug)]
pub struct Filter {
    wanted: Vec<String>,
    unwanted: Vec<String>,
}

impl Filter {
    /// As `--gtest_filter` says it; anything is a filter.
    pub fn new(text: &str) -> Self {
        let (wanted, unwanted) = text.split_once('-').unwrap_or((text, ""));
        let patterns =
            |text: &str| text.split(':').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        // Without a positive part all are wanted.
        let wanted = if wanted.is_empty() { "*" } else { wanted };
        Self { wanted: patterns(wanted), unwanted: patterns(unwanted) }
    }

    /// Whether the case called `name` is chosen.
    pub fn has(&self, name: &str) -> bool {
        let test = format!("{SUITE}.{}", test_name(name));
        let any =
            |patterns: &[String]| patterns.iter().any(|pattern| matches(pattern.as_bytes(), test.as_bytes()));
        any(&self.wanted) && !any(&self.unwanted)
    }
}

/// The name of the test that a case is.
fn test_name(case: &str) -> String {
    case.replace('-', "_")
}

/// Whether `text` is what `pattern` says; takes time by the product of their lengths at most.
fn matches(pattern: &[u8], text: &[u8]) -> bool {
    let (mut at, mut from) = (0, 0);
    // Behind the last star, and the first byte that it does not stand for.
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

/// The tests, as `--gtest_list_tests` prints them.
///
/// # Errors
/// When `out` cannot be written.
pub fn list<'a>(out: &mut impl Write, names: impl Iterator<Item = &'a str>) -> io::Result<()> {
    writeln!(out, "{SUITE}.")?;
    names.into_iter().try_for_each(|name| writeln!(out, "  {}", test_name(name)))
}

/// What became of the tests. Times are all 0: they are no part of the outcome.
///
/// # Errors
/// When `out` cannot be written.
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
