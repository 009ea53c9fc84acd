//! The table of all rules: docs/hardware/hazards.md, row by row.

use std::fmt;

use a4emu_decoder::generation::Generation;
use serde::Serialize;

mod program;
mod state;
mod stream;

/// How severe a violation is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub enum Severity {
    /// A note: usually intended by the application.
    N,
    /// A warning: works by luck, or on some chips.
    W,
    /// An error: wrong results, or a hang.
    E,
}

/// How certain the page is about a rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// A comment, an assertion or the kernel documents it.
    Doc,
    /// Inferred: driver or compiler always do it, and a reason can be seen.
    Inf,
    /// Neither documented nor inferred.
    Guess,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self, f)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Doc => "doc",
            Self::Inf => "inf",
            Self::Guess => "guess",
        })
    }
}

/// A rule: a row of the page.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Rule {
    /// Its id, such as `D1`.
    pub id: &'static str,
    /// The generations of the chip for which it holds: 4 for the A4xx.
    #[serde(skip)]
    pub generations: &'static [u32],
    /// How severe a violation is.
    pub severity: Severity,
    /// How certain the rule is.
    pub confidence: Confidence,
    /// The rule as text.
    pub says: &'static str,
    /// How to correct a stream that breaks it.
    pub mend: &'static str,
    /// The source of the rule.
    pub source: &'static str,
    /// A change to a good stream that breaks the rule; empty if the page names none.
    pub mutation: &'static str,
}

impl Rule {
    /// Whether it holds for the chips of `generation`.
    pub fn holds_for(&self, generation: &Generation) -> bool {
        self.generations.contains(&generation.number)
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} {} {}", self.id, self.severity, self.confidence)?;
        writeln!(f, "  {}.", self.says)?;
        writeln!(f, "  mend    {}", self.mend)?;
        writeln!(f, "  source  {}", self.source)?;
        match self.mutation {
            "" => Ok(()),
            mutation => writeln!(f, "  broken  {mutation}"),
        }
    }
}

/// Identifies a rule: its place in [`all`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(u16);

impl Id {
    /// The row of the rule.
    pub fn rule(self) -> &'static Rule {
        let (family, index) = (usize::from(self.0 >> 8), usize::from(self.0 & 0xff));
        &FAMILIES[family][index]
    }

    /// The rule with the id `name`, in any case.
    pub fn named(name: &str) -> Option<Self> {
        all().find(|id| id.rule().id.eq_ignore_ascii_case(name))
    }
}

impl fmt::Debug for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.rule().id)
    }
}

/// The families, in the order of the page.
static FAMILIES: [&[Rule]; 3] = [program::RULES, stream::RULES, state::RULES];

/// Every rule, in the order of the page.
pub fn all() -> impl Iterator<Item = Id> {
    let places = FAMILIES.iter().enumerate();
    places.flat_map(|(family, rules)| (0..rules.len()).map(move |index| Id((family << 8 | index) as u16)))
}

/// Makes a family's rows, and a constant [`Id`] for each.
macro_rules! rules {
    ($family:literal; $($id:ident [$($generation:literal),*] $severity:ident $confidence:ident $says:literal;
        mend $mend:literal; from $source:literal $(, break $mutation:literal)?;)*) => {
        /// The rows of the family.
        pub(super) static RULES: &[super::Rule] = &[$(super::Rule {
            id: stringify!($id),
            generations: &[$($generation),*],
            severity: super::Severity::$severity,
            confidence: super::Confidence::$confidence,
            says: $says,
            mend: $mend,
            source: $source,
            mutation: concat!("" $(, $mutation)?),
        }),*];

        /// The index of each rule of the family.
        #[allow(non_camel_case_types, clippy::upper_case_acronyms)]
        enum Places { $($id),* }

        impl super::Id {
            $(#[doc = $says] pub const $id: Self = Self($family << 8 | Places::$id as u16);)*
        }
    };
}
use rules;

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use a4emu_decoder::a4xx::A4XX;
    use a4emu_decoder::adreno::ir3::Isa;

    use super::*;

    #[test]
    fn ids_are_found_again_and_are_one_each() {
        let ids: Vec<Id> = all().collect();
        let names: BTreeSet<&str> = ids.iter().map(|id| id.rule().id).collect();
        assert_eq!(names.len(), ids.len());
        for id in ids {
            assert_eq!(Id::named(&id.rule().id.to_lowercase()), Some(id));
        }
        assert_eq!(Id::D1.rule().id, "D1");
        assert_eq!(Id::C1.rule().id, "C1");
        assert_eq!(Id::P3.rule().id, "P3");
    }

    #[test]
    fn each_rule_names_generations_that_can_be_read() {
        let mut rules = all().map(Id::rule);
        // Programs of more generations can be read than streams.
        let is_known = |number: &u32| Isa::of_generation(*number).is_some();
        assert!(rules.all(|rule| !rule.generations.is_empty() && rule.generations.iter().all(is_known)));
        let later = Rule { generations: &[6], ..*Id::D1.rule() };
        assert_eq!([later, *Id::D1.rule()].map(|rule| rule.holds_for(&A4XX)), [false, true]);
    }

    /// Each rule has its own row in the page, with the same severity and confidence.
    #[test]
    fn rules_are_those_of_the_page() {
        let page = include_str!("../../docs/hardware/hazards.md");
        for id in all() {
            let rule = id.rule();
            let starts = |line: &&str| {
                let first = line.strip_prefix("| ").and_then(|rest| rest.split(" |").next());
                first.is_some_and(|cell| cell.split([' ', '*']).next() == Some(rule.id))
            };
            let row = page.lines().find(starts);
            if let Some(row) = row {
                let cells: Vec<&str> = row.split('|').map(str::trim).collect();
                let word = cells[1].split(' ').nth(1).map(|word| word.trim_matches('*'));
                let severity = word.filter(|word| ["E", "W", "N"].contains(word));
                assert!(severity.is_none_or(|word| word == rule.severity.to_string()), "{}: {row}", rule.id);
                let sources: Vec<&str> = cells[3].split([',', ' ']).next().unwrap_or("").split('/').collect();
                let graded = sources.iter().any(|word| ["doc", "inf", "guess"].contains(word));
                let confidence = rule.confidence.to_string();
                assert!(!graded || sources.contains(&confidence.as_str()), "{}: {row}", rule.id);
            }
            let named = row.is_some()
                || ["Rule ", "| ", ", "].iter().any(|before| page.contains(&format!("{before}{} ", rule.id)));
            let named = named || page.contains(&format!("| {}:", rule.id));
            assert!(named, "{} is not in the page", rule.id);
        }
    }
}
