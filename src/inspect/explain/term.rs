//! Explains a word of the field: an entry of docs/glossary.md.

use std::fmt;

use serde::Serialize;

/// The page. An entry is a heading, `### Name` or `### Name, other name`, and the text below it.
const PAGE: &str = include_str!("../../../docs/glossary.md");

/// An entry.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub struct Term {
    /// Its names, as in the heading.
    term: &'static str,
    /// The text, without the links at its end.
    pub text: String,
    /// The pages and entries that these links lead to.
    see: Vec<String>,
}

impl Term {
    /// The entry of this name, in any case, with spaces or hyphens.
    pub fn named(name: &str) -> Option<Self> {
        let plain = |name: &str| name.to_lowercase().replace('-', " ");
        let (term, text) =
            entries().find(|(term, _)| term.split(", ").any(|part| plain(part) == plain(name)))?;
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let (text, see) = without_links(&text);
        Some(Self { term, text, see })
    }

    /// The names of all entries.
    pub fn names() -> impl Iterator<Item = String> {
        entries().flat_map(|(term, _)| term.split(", ").map(str::to_owned))
    }
}

fn entries() -> impl Iterator<Item = (&'static str, &'static str)> {
    PAGE.split("\n### ").skip(1).filter_map(|entry| entry.split_once('\n'))
}

/// Replaces each link `[words](page)` by its words. Links behind the last sentence are removed; the pages that they
/// lead to are returned, or the words of a link to another entry.
fn without_links(text: &str) -> (String, Vec<String>) {
    let (mut out, mut see) = (String::new(), Vec::new());
    let mut rest = text;
    while let Some((before, words, page, behind)) = link(rest) {
        out += before;
        if out.ends_with(". ") || !see.is_empty() {
            see.push(match page.split('#').next() {
                Some("") | None => words.to_owned(),
                Some(page) => format!("docs/{page}"),
            });
        } else {
            out += words;
        }
        rest = behind;
    }
    out += rest;
    (out.trim_end_matches([',', ' ']).to_owned(), see)
}

/// The first link of `text`: what stands before it, its words, its page, and what stands behind it.
fn link(text: &str) -> Option<(&str, &str, &str, &str)> {
    let (words, behind) = text.split_once("](")?;
    let (before, words) = words.rsplit_once('[')?;
    let (page, behind) = behind.split_once(')')?;
    Some((before, words, page, behind))
}

impl fmt::Display for Term {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { term, text, see } = self;
        writeln!(f, "{term}\n  {text}")?;
        see.iter().try_for_each(|page| writeln!(f, "  see  {page}"))
    }
}
