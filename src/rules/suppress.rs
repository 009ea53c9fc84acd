//! Suppressed findings: a file lists them, with the reasons why they do not count.

use anyhow::ensure;
use serde::Deserialize;

use super::finding::Finding;
use super::rules::Id;

/// Maximum size of a suppression file in bytes.
pub const MAX_FILE: u64 = 1 << 20;

/// A suppression file: `[[suppress]]` tables.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suppressions {
    #[serde(default)]
    suppress: Vec<Suppression>,
}

/// One entry of the file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Suppression {
    /// Id of the rule.
    rule: String,
    /// Suppresses only findings whose text contains this.
    what: Option<String>,
    /// Suppresses only findings in the program whose hash begins with this.
    program: Option<String>,
    /// Reason of the suppression.
    reason: String,
}

impl Suppressions {
    /// Parses the text of the file.
    ///
    /// # Errors
    /// The call fails if it is no suppression file, names an unknown rule, or gives no reason.
    pub fn parse(text: &str) -> anyhow::Result<Self> {
        ensure!(text.len() as u64 <= MAX_FILE, "it has more than {MAX_FILE} bytes");
        toml::from_str::<Self>(text)?.checked()
    }

    /// Checks the parsed file.
    ///
    /// # Errors
    /// The call fails if it names an unknown rule, or gives no reason.
    pub fn checked(self) -> anyhow::Result<Self> {
        for entry in &self.suppress {
            ensure!(Id::named(&entry.rule).is_some(), "there is no rule {}", entry.rule);
            ensure!(!entry.reason.trim().is_empty(), "the suppression of {} has no reason", entry.rule);
        }
        Ok(self)
    }

    /// The reason why `finding` does not count, if it is suppressed.
    pub fn reason(&self, finding: &Finding) -> Option<&str> {
        self.suppress.iter().find(|entry| entry.covers(finding)).map(|entry| entry.reason.as_str())
    }
}

impl Suppression {
    fn covers(&self, finding: &Finding) -> bool {
        let broken = &finding.broken;
        let program = broken.instruction.as_ref().map(|at| format!("{:016x}", at.program));
        self.rule.eq_ignore_ascii_case(broken.rule.rule().id)
            && self.what.as_ref().is_none_or(|what| broken.what.contains(what))
            && self
                .program
                .as_ref()
                .is_none_or(|hash| program.is_some_and(|program| program.starts_with(hash)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::finding::{Broken, Where};
    use a4emu_gpu::gpu::{Chip, Gpu};

    fn finding(rule: Id, what: &str) -> Finding {
        let place = Where::of(&Gpu::new(Chip::default()));
        Finding { broken: Broken::new(rule, what), count: 1, place }
    }

    #[test]
    fn an_entry_covers_what_it_names_and_says_why() {
        let text = "[[suppress]]\nrule = \"d1\"\nwhat = \"r0.x\"\nreason = \"measured\"";
        let all = Suppressions::parse(text).unwrap();
        assert_eq!(all.reason(&finding(Id::D1, "reads r0.x 1 slot")), Some("measured"));
        assert_eq!(all.reason(&finding(Id::D1, "reads r1.x 1 slot")), None);
        assert_eq!(all.reason(&finding(Id::D2, "reads r0.x 1 slot")), None);
    }

    #[test]
    fn entries_need_a_rule_that_is_there_and_a_reason() {
        for text in [
            "[[suppress]]\nrule = \"D9\"\nreason = \"x\"",
            "[[suppress]]\nrule = \"D1\"\nreason = \" \"",
            "[[suppress]]\nrule = \"D1\"",
            "[[suppress]]\nrule = \"D1\"\nreason = \"x\"\nfile = \"y\"",
        ] {
            assert!(Suppressions::parse(text).is_err(), "{text}");
        }
    }
}
